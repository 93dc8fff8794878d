"""Event loops, side by side: forthwith's rows, C++ ROOT and groot over the same files, sums compared.

    python benches/rows/compare.py FOLDER ROOT [--entries N] [--rounds N]

ROOT is the command `root` of C++ ROOT; Go builds groot if it is there. Builds the example `rows` as packages are built,
makes the files in FOLDER (in memory: `/dev/shm/rows`) unless they are there, runs each loop some times in a process of its
own, the processes in turns, and writes `benches/results/<date>-rows/README.md` after each round. groot writes only where its
memory is there: it takes 1.6 kB for each event, 16 GB for 10^7 of them.
"""

from __future__ import annotations

import argparse
import datetime
import os
import pathlib
import shutil
import subprocess
import tempfile

HERE = pathlib.Path(__file__).parent
TOP = HERE.parents[1]

ONE, MUONS = "one.root", "muons.root"
# The task, its file, and for each program the name of its loop. groot is left out of writing with zstd: it takes minutes.
TASKS = [
    ("sum of one float, raw", ONE, {"rows": "raw", "by hand": "hand", "TTreeReader": "sum", "groot": "sum"}),
    ("sum of one float, decoded", ONE, {"rows": "sum", "by hand": "hand", "TTreeReader": "sum", "groot": "sum"}),
    (
        "dimuon masses, 20 branches, zstd",
        MUONS,
        {"rows": "dimuon", "TTreeReader": "dimuon", "groot": "dimuon", "limit": "unzip"},
    ),
    ("the same by all threads", MUONS, {"rows": "fold", "RDataFrame": "threads", "limit": "unzip"}),
    ("write the same events", MUONS, {"rows": "write", "TTree::Fill": "write", "groot": "write", "limit": "put"}),
    ("write them with zstd", MUONS, {"rows": "write-zstd", "TTree::Fill": "write-zstd", "limit": "zip"}),
]
# The required ratio of each program's time to that of the rows.
WANTED = {
    "sum of one float, raw": {"TTreeReader": 8.3, "by hand": 0.9},
    "sum of one float, decoded": {"TTreeReader": 8.3, "by hand": 0.8},
    "dimuon masses, 20 branches, zstd": {"TTreeReader": 5, "groot": 4},
    "the same by all threads": {"RDataFrame": 2},
    "write the same events": {"TTree::Fill": 4, "groot": 3},
    "write them with zstd": {"TTree::Fill": 4},
}
REPETITIONS = 3
# The entries up to which groot's memory for writing stays below 4 GB.
GROOT_WRITES = 20_000_000


def run(command: list[str], where: pathlib.Path = TOP) -> str:
    done = subprocess.run(command, cwd=where, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{command}: {done.stderr[-2000:]}")
    return done.stdout


def build_rows() -> str:
    run("cargo build --release --locked -p forthwith --example rows --no-default-features --features root,derive".split())
    return str(TOP / "target/release/examples/rows")


def build_groot(folder: pathlib.Path) -> str | None:
    if not shutil.which("go"):
        return None
    shutil.copytree(HERE / "groot", folder, dirs_exist_ok=True)
    for name in ("go.mod", "go.sum"):
        shutil.copy(TOP / "tests/readers/groot" / name, folder)
    run(["go", "build", "-mod=mod", "-o", "groot", "."], folder)
    return str(folder / "groot")


def timed(printed: str) -> tuple[list[float], set[str]]:
    """The milliseconds of the repetitions, and their sums to six digits."""
    lines = [line.split() for line in printed.splitlines() if " ms " in line]
    return [float(line[-3]) for line in lines], {f"{float(line[-1]):.5e}" for line in lines}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("root")
    parser.add_argument("--entries", type=int, default=100_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    rows = build_rows()
    if not (given.folder / MUONS).exists():
        run([rows, "make", str(given.folder), str(given.entries)])
    best: dict[tuple[str, str], float] = {}
    with tempfile.TemporaryDirectory() as folder:
        macros = pathlib.Path(folder)
        shutil.copy(HERE / "loops.C", macros)
        groot = build_groot(macros / "groot")
        for done in range(1, given.rounds + 1):
            for task, file, ways in TASKS:
                path, sums = str(given.folder / file), {}
                for who, way in ways.items():
                    if who in ("rows", "by hand", "limit"):
                        printed = run([rows, way, path, str(REPETITIONS)])
                    elif who == "groot":
                        if groot is None or (way == "write" and given.entries > GROOT_WRITES):
                            continue
                        printed = run([groot, way, path, str(REPETITIONS)])
                    else:
                        call = f'loops.C+O("{way}", "{path}", {REPETITIONS})'
                        printed = run([given.root, "-l", "-b", "-q", call], macros)
                    took, found = timed(printed)
                    if who != "limit":
                        sums[who] = found
                    best[task, who] = min(took + [best.get((task, who), float("inf"))])
                if len(set.union(*sums.values())) != 1:
                    raise SystemExit(f"{task}: the sums differ: {sums}")
                print(task, {who: round(best[task, who], 1) for who in ways if (task, who) in best}, flush=True)
            report(given, done, best)


def report(given: argparse.Namespace, rounds: int, best: dict[tuple[str, str], float]) -> None:
    threads = len(os.sched_getaffinity(0))
    lines = [
        "# Event loops",
        "",
        f"`benches/rows/compare.py`, {given.entries:.0e} floats and a tenth as many events, files in memory, {threads} processors.",
        f"The best of {rounds * REPETITIONS} repetitions in {rounds} processes; sums and numbers of events are equal.",
        "",
        "The limit is what this machine allows with all its threads: decompressing the file's baskets, writing as many bytes to a",
        "file, or compressing them. Where it forbids what is wanted, 0.9 of it is wanted.",
        "",
        "| task | who | ms | times as long as rows | wanted |",
        "| --- | --- | ---: | ---: | ---: |",
    ]
    for task, _, ways in TASKS:
        for who in (who for who in ways if (task, who) in best):
            ratio = best[task, who] / best[task, "rows"]
            wanted = WANTED[task].get(who, "")
            lines.append(f"| {task} | {who} | {best[task, who]:.1f} | {ratio:.2f} | {wanted} |")
    text = "\n".join(lines) + "\n"
    print(text)
    out = HERE.parent / "results" / f"{datetime.date.today():%Y-%m-%d}-rows"
    out.mkdir(parents=True, exist_ok=True)
    (out / "README.md").write_text(text)


if __name__ == "__main__":
    main()
