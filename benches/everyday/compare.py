"""Everyday tasks with tables, by forthwith and by pyarrow, polars, DuckDB, pandas and fastavro: time and equality.

``python benches/everyday/compare.py [RESULTS] [--only TEXT] [--rounds N] [--threads 1 2]`` writes the files into memory
(``/dev/shm``) or a temporary folder, runs the tasks in a process for each number of threads, and prints the tables. With
RESULTS, a folder, they are kept there as ``README.md`` and ``raw.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time

# A task is repeated at least this often, and until this time is used up.
ROUNDS, SECONDS = 5, 1.0


def measured(ways: dict, rounds: int) -> dict[str, list[float]]:
    """Seconds of each way, which take turns."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    began = time.perf_counter()
    done = 0
    while done < rounds or (time.perf_counter() - began < SECONDS and done < 200):
        for name, way in ways.items():
            start = time.perf_counter()
            result = way()
            times[name].append(time.perf_counter() - start)
            del result
        done += 1
    return times


def worker(folder: str, threads: int, only: str, rounds: int) -> None:
    """Runs the tasks with a number of threads; prints a line of JSON for each."""
    os.environ["POLARS_MAX_THREADS"] = os.environ["OMP_NUM_THREADS"] = str(threads)
    if hasattr(os, "sched_setaffinity"):  # Parquet files are written by as many threads as there are processors
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-threads:])
    import numpy as np
    import tasks

    for name, task in tasks.all_tasks(folder, threads):
        if only not in name:
            continue
        results = {way: tasks.comparable(task.ways[way]()) for way in task.ways}
        ours = results["forthwith"]
        for way, result in results.items():
            if not tasks.equal(ours, result):
                raise SystemExit(f"{name}: {way} has other values than forthwith")
        times = measured(task.ways, rounds)
        size = max(tasks.size(ours), 1)
        source = np.ones(size, np.uint8)
        copies = measured({"memcpy": source.copy}, 3)["memcpy"]
        line = {"task": name, "threads": threads, "bytes": size, "memcpy": min(copies), "seconds": times}
        print(json.dumps(line), flush=True)


def table(lines: list[dict]) -> str:
    """The tables in Markdown: milliseconds, and how many times as fast as the best peer forthwith is."""
    parts = []
    for threads in dict.fromkeys(line["threads"] for line in lines):
        parts.append(f"## {threads} thread{'s' if threads > 1 else ''}\n")
        parts.append("| task | forthwith ms | best peer ms | ratio | memcpy ms | others ms |")
        parts.append("| --- | ---: | ---: | ---: | ---: | --- |")
        for line in lines:
            if line["threads"] != threads:
                continue
            best = {name: min(times) * 1e3 for name, times in line["seconds"].items()}
            ours = best.pop("forthwith")
            first, *others = sorted(best, key=lambda name: best[name])
            parts.append(
                f"| {line['task']} | {ours:.3g} | {best[first]:.3g} {first} | {best[first] / ours:.2f} | "
                f"{line['memcpy'] * 1e3:.3g} | {', '.join(f'{name} {best[name]:.3g}' for name in others)} |"
            )
        parts.append("")
    return "\n".join(parts)


def machine() -> dict[str, str]:
    """What the figures were measured with."""
    from importlib.metadata import version

    names = ("forthwith", "pyarrow", "polars", "duckdb", "pandas", "fastavro", "numpy")
    return {"python": platform.python_version(), **{name: version(name) for name in names}}


def main() -> None:
    """Writes the files, runs the tasks and prints the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("results", nargs="?")
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        worker(given.worker, given.threads[0], given.only, given.rounds)
        return
    import data

    folder = tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    lines: list[dict] = []
    try:
        data.write_all(folder)
        for threads in given.threads:
            command = [sys.executable, __file__, "--worker", folder, "--only", given.only]
            command += ["--rounds", str(given.rounds), "--threads", str(threads)]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
                for line in running.stdout or ():
                    lines.append(json.loads(line))
                    print(table(lines[-1:]).splitlines()[4], file=sys.stderr, flush=True)
            if running.returncode:
                raise SystemExit(running.returncode)
    finally:
        shutil.rmtree(folder)
    text = table(lines)
    print(text)
    if given.results:
        os.makedirs(given.results, exist_ok=True)
        with open(os.path.join(given.results, "raw.json"), "w", encoding="utf-8") as file:
            json.dump({"machine": machine(), "tasks": lines}, file, indent=1)
        with open(os.path.join(given.results, "README.md"), "w", encoding="utf-8") as file:
            file.write(f"# Everyday tables\n\n{', '.join(f'{k} {v}' for k, v in machine().items())}.\n\n{text}")


if __name__ == "__main__":
    main()
