"""Objects read by forthwith, uproot and C++ ROOT into the same columns.

    python benches/objects/read.py [--entries N] [--rounds N] [--peers PYTHON] [--only BRANCH,…] [--out FOLDER]

The file is made by C++ ROOT in a temporary folder, without compression: what is compared is the decoding of objects. Each
reader is a process of its own, and they take turns at each branch: C++ ROOT with `GetEntry` alone, C++ ROOT with `GetEntry` and
the columns filled (`shapes.C`), uproot, forthwith with one thread and with two, all of them with a file just opened and memory
just had from the system (forthwith with `pool=0`); then C++ ROOT and forthwith *again*, into the memory of the last time, and
forthwith with the *next* file, just opened by the same process, and that once more as *users* do who ask for nothing, with a
thread for each processor. Milliseconds are the processor's but where they are of the wall. A first round is not counted.
The MD5 sums of all columns have to be the same whoever made them, or the run stops. Medians go to a table, all times to
`times.json`, both in FOLDER, by default `benches/results/<date>-objects`.

This Python needs forthwith, awkward and numpy; that of `--peers` (or $FORTHWITH_PEERS_PYTHON), by default the same, uproot and
what `tests/generate/README.md` says.
"""

import argparse
import datetime
import hashlib
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SHAPES = {
    "event": "a class whole: 37 members, vectors of vectors, strings, structs, `TClonesArray`",
    "hits": "`vector<struct>`, member by member",
    "points": "`vector<struct>` of three doubles",
    "split": "`TClonesArray` divided into branches",
    "whole": "`TClonesArray` kept whole",
    "map": "`map<string, vector<struct>>`",
    "point": "a class of three doubles",
    "plain": "a class of two numbers, a string and a vector",
    "rows": "`vector<vector<float>>`",
    "words": "`vector<string>`",
    "table": "`map<string, vector<float>>`",
}
READERS = [
    "root",
    "root columns",
    "root again",
    "uproot",
    "forthwith",
    "forthwith 2",
    "forthwith next",
    "forthwith again",
    "forthwith users",
]


def memory(key):
    """Kilobytes of this process by a key of its status."""
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key):
            return int(line.split()[1])
    return 0


def measured(read):
    """The result of a call, with its milliseconds of processor and of wall, and megabytes at its peak above those before."""
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    before = memory("VmRSS")
    cpu, wall = time.process_time(), time.perf_counter()
    result = read()
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return result, {"cpu": 1000 * cpu, "wall": 1000 * wall, "peak": (memory("VmHWM") - before) / 1024}


def buffers(layout):
    """The columns of an array: of a list its offsets and then its items, of a record its fields."""
    import awkward as ak
    import numpy as np

    if layout.is_list:
        if layout.is_regular:
            yield from buffers(layout.content)
            return
        layout = layout.to_ListOffsetArray64(True)
        offsets = np.asarray(layout.offsets)
        yield offsets
        yield from buffers(layout.content[: offsets[-1]])
    elif layout.is_record:
        for content in layout.contents:
            yield from buffers(content[: layout.length])
    elif layout.is_numpy:
        data = np.asarray(layout.data)
        yield data.astype(data.dtype.newbyteorder("="), copy=False)
    elif layout.is_indexed or layout.is_option:
        yield from buffers(ak.to_packed(layout.project()))
    else:
        raise SystemExit(f"no columns of {type(layout).__name__}")


def sums(arrays):
    """MD5 of each column; those of several arrays that are lists in common have the offsets once."""
    found = []
    for array in arrays:
        for buffer in buffers(array.layout):
            found.append(hashlib.md5(memoryview(buffer).cast("B") if buffer.size else b"").hexdigest())
    return found


def shapes():
    """C++ ROOT with `shapes.C`, compiled in this folder."""
    sys.path.insert(0, str(ROOT / "tests" / "generate"))
    import make
    import ROOT as root

    make.load(".", "classes")
    make.here = str(HERE)
    make.load(".", "shapes")
    return root


def work(reader, path):
    """A reader's process: reads the branches named on its standard input, one a line, and says what it took."""
    root = shapes() if reader == "root" else None
    kept = None, None
    for line in sys.stdin:
        how, branch, threads = line.split()
        if reader == "root":
            result, took = measured(lambda: str(root.readShape(branch, ["objects", "columns", "again"].index(how))))  # noqa: B023
            cpu, wall, *found = result.split()
            # The sums are not part of it.
            took |= {"cpu": float(cpu), "wall": float(wall)}
        elif reader == "uproot":
            import uproot

            with uproot.open(f"{path}:tree") as tree:
                try:
                    every = tree[branch].branches or [tree[branch]]
                    result, took = measured(lambda: [b.array() for b in every])  # noqa: B023
                    found = sums(result)
                except Exception as error:
                    found, took = [], {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
        else:
            import forthwith

            if how != "again" or kept[0] != branch:
                kept = branch, forthwith.open(f"{path}:tree", pool=0 if how == "columns" else None)
            tree = kept[1]
            every = [b for b in tree[branch].values(recursive=True) if b.has_data] or [tree[branch]]
            result, took = measured(lambda: [b.array(threads=int(threads)) for b in every])  # noqa: B023
            found = sums(result)
            every = tree = None
        result = None
        print(json.dumps(took | {"sums": found}), flush=True)


class Worker:
    """A reader in a process of its own."""

    def __init__(self, python, reader, path):
        command = [python, __file__, "--work", reader, "--out", str(path)]
        # Threads that wait for linear algebra count as work.
        quiet = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            command, cwd=path.parent, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=quiet
        )

    def read(self, how, branch, threads=1):
        """One pass."""
        self.process.stdin.write(f"{how} {branch} {threads}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("a reader has ended")
        return json.loads(line)


def agree(branch, took):
    """Stops where the columns of two readers differ."""
    mine = took["forthwith"]["sums"]
    if any(took[reader]["sums"] != mine for reader in READERS if reader.startswith("forthwith ")):
        raise SystemExit(f"{branch}: forthwith gives other columns with two threads, in the next file, or again")
    theirs, other = took["root columns"]["sums"], took["uproot"].get("sums")
    if took["root again"]["sums"] != theirs:
        raise SystemExit(f"{branch}: C++ ROOT has other columns again")
    if branch == "split":
        # The arrays have the offsets each: once is enough, since the branches are of the same lengths.
        mine, theirs, other = (sorted(set(one or [])) for one in (mine, theirs, other))
    if theirs != mine:
        raise SystemExit(f"{branch}: C++ ROOT has other columns\n{theirs}\n{mine}")
    if other and other != mine:
        raise SystemExit(f"{branch}: uproot has other columns\n{other}\n{mine}")


def table(results):
    """The medians, as text."""
    lines = [
        "| branch | `GetEntry` | into columns | again | uproot | forthwith | next | again | faster than columns | again "
        "| than uproot | wall: 1 thread | 2 threads | users | faster than columns | than uproot "
        "| peak MB: ROOT | uproot | forthwith |",
        "|---|" + "---:|" * 18,
    ]
    for branch, rounds in results.items():
        middle = {}
        for reader in READERS:
            for what in ("cpu", "wall", "peak"):
                values = [one[reader][what] for one in rounds if what in one[reader]]
                middle[reader, what] = statistics.median(values) if values else None

        # Paired: what stands beside each other in time is compared.
        def over(a, b, what="cpu"):
            ratios = [one[a][what] / one[b][what] for one in rounds if what in one[a]]  # noqa: B023
            return statistics.median(ratios) if ratios else None

        show = lambda value, form="{:.1f}": form.format(value) if value is not None else "-"  # noqa: E731
        cells = [
            f"{branch}: {SHAPES[branch]}",
            *(show(middle[reader, "cpu"]) for reader in READERS if reader not in ("forthwith 2", "forthwith users")),
            show(over("root columns", "forthwith")),
            show(over("root again", "forthwith again")),
            show(over("uproot", "forthwith")),
            *(show(middle[reader, "wall"]) for reader in ("forthwith", "forthwith 2", "forthwith users")),
            show(over("root columns", "forthwith users", "wall")),
            show(over("uproot", "forthwith users", "wall")),
            *(show(middle[reader, "peak"], "{:.0f}") for reader in ("root columns", "uproot", "forthwith")),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main():
    """Makes the file, reads it, and writes down what that took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, default=300_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--peers", default=os.environ.get("FORTHWITH_PEERS_PYTHON", sys.executable))
    parser.add_argument("--only", default=",".join(SHAPES))
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--folder", type=pathlib.Path, help="where shapes.root is, or is to be made and kept")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work == "make":
        shapes().shapes(options.entries)
    elif options.work:
        work(options.work, options.out)
    else:
        compare(options)


def compare(options):
    """Lets the readers take turns."""
    folder = options.out or ROOT / "benches" / "results" / f"{datetime.date.today()}-objects"
    with tempfile.TemporaryDirectory() as temporary:
        path = (options.folder or pathlib.Path(temporary)).resolve() / "shapes.root"
        if not path.exists():
            subprocess.run(
                [options.peers, __file__, "--work", "make", "--entries", str(options.entries)],
                cwd=path.parent,
                check=True,
            )
        workers = {
            "root": Worker(options.peers, "root", path),
            "uproot": Worker(options.peers, "uproot", path),
            "forthwith": Worker(sys.executable, "forthwith", path),
        }
        results = {}
        for branch in options.only.split(","):
            for number in range(options.rounds + 1):
                took = {
                    "root": workers["root"].read("objects", branch),
                    "root columns": workers["root"].read("columns", branch),
                    "root again": workers["root"].read("again", branch),
                    "uproot": workers["uproot"].read("columns", branch),
                    "forthwith": workers["forthwith"].read("columns", branch),
                    "forthwith 2": workers["forthwith"].read("columns", branch, 2),
                    "forthwith next": workers["forthwith"].read("next", branch),
                    "forthwith again": workers["forthwith"].read("again", branch),
                    "forthwith users": workers["forthwith"].read("next", branch, os.cpu_count()),
                }
                agree(branch, took)
                if number > 0:
                    results.setdefault(branch, []).append(took)
            print(table({branch: results[branch]}).splitlines()[-1], flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    about = {
        "entries": options.entries,
        "rounds": options.rounds,
        "machine": platform.processor() or platform.machine(),
    }
    for took in (one for rounds in results.values() for each in rounds for one in each.values()):
        took.pop("sums", None)
    (folder / "times.json").write_text(json.dumps({"about": about, "times": results}, indent=1) + "\n")
    (folder / "table.md").write_text(table(results))
    print(f"in {folder}")


if __name__ == "__main__":
    main()
