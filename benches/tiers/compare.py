"""What machine code is worth over the interpreter of register code, on whole reads.

    python benches/tiers/compare.py [--schema FILE=SCHEMA] FILE[:TABLE] ...

Each file is read whole by processes of their own with `FORTHWITH_TIER=1`, with `FORTHWITH_TIER=2`, and by what the reader chooses.
Printed are the milliseconds of processor time of the first read, which compiles what it needs, and of the best of those
that follow. One thread.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time

TIERS = {"interpreted": "1", "compiled": "2", "chosen": None}


def worker(name: str, schema: str | None, rounds: int) -> None:
    import forthwith

    options = {"schema": schema} if schema else {}
    path, _, table = name.rpartition(":") if ":" in name else (name, "", "")

    def read() -> float:
        start = time.process_time()
        file = forthwith.open(path, threads=1, **options)
        (file[table] if table else file).arrays()
        return time.process_time() - start

    import awkward as ak  # what importing costs is not measured

    ak.Array([1])
    times = [read() for _ in range(rounds)]
    print(json.dumps(times))


def measured(name: str, schema: str | None, rounds: int, processes: int) -> dict[str, tuple[float, float]]:
    found: dict[str, list[list[float]]] = {way: [] for way in TIERS}
    for _ in range(processes):
        for way, tier in TIERS.items():
            environment = {key: value for key, value in os.environ.items() if key != "FORTHWITH_TIER"}
            if tier:
                environment["FORTHWITH_TIER"] = tier
            command = [sys.executable, __file__, "--worker", "--rounds", str(rounds), name]
            command += ["--schema", f"{name}={schema}"] if schema else []
            found[way].append(json.loads(subprocess.run(command, env=environment, check=True, capture_output=True).stdout))
    return {way: (min(run[0] for run in runs), min(min(run[1:]) for run in runs)) for way, runs in found.items()}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="+")
    parser.add_argument("--schema", action="append", default=[])
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--processes", type=int, default=3)
    parser.add_argument("--worker", action="store_true")
    asked = parser.parse_args()
    schemas = dict(pair.rsplit("=", 1) for pair in asked.schema)
    if asked.worker:
        worker(asked.files[0], schemas.get(asked.files[0]), asked.rounds)
        sys.exit()
    print("| file | first, interpreted ms | first, compiled | first, chosen | again, interpreted | again, compiled | again, chosen |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name in asked.files:
        of = measured(name, schemas.get(name), asked.rounds, asked.processes)
        cells = [f"{1e3 * of[way][at]:.1f}" for at in (0, 1) for way in TIERS]
        print(f"| {os.path.basename(name)} | " + " | ".join(cells) + " |", flush=True)
