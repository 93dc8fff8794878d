#!/usr/bin/env python3
"""Compares forthwith's machines with awkward's on random programs.

    tests/machine_equality.py [--programs N] [--seed N] [--jobs N] [--tiers N ...] [--report FILE]

Each program is run by awkward's machine, by ours in tier 0 (which also compares the counters) and by ours as it chooses,
with both widths in turn; bytecode and decompiled text are compared as well. A program is `forth_programs.Program(seed, bits)`, so that
every difference can be looked at again: --show SEED BITS prints it.

Programs are run in processes of their own, in batches: should one kill its process, the report names it.
"""

import argparse
import contextlib
import ctypes
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).parent / "python" / "support"))

import awkward.forth  # noqa: E402
import forth_programs  # noqa: E402

import forthwith.forth  # noqa: E402

OURS = {32: forthwith.forth.ForthMachine32, 64: forthwith.forth.ForthMachine64}
THEIRS = {32: awkward.forth.ForthMachine32, 64: awkward.forth.ForthMachine64}
LIBC = ctypes.CDLL(None)
TIERS = [0, 1, 2, None]


def _tiers(wanted=None):
    """Those that there are, or that are wanted of them."""
    tiers = []
    for tier in TIERS if wanted is None else (*wanted, None):
        with contextlib.suppress(ValueError):
            OURS[64]("1", tier=tier)
            tiers.append(tier)
    return tiers


class Spool:
    """The C library's standard output goes to a file meanwhile."""

    def __enter__(self):
        LIBC.fflush(None)
        self.file = tempfile.TemporaryFile()
        self.saved = os.dup(1)
        os.dup2(self.file.fileno(), 1)
        return self

    def __exit__(self, *exception):
        LIBC.fflush(None)
        os.dup2(self.saved, 1)
        os.close(self.saved)
        self.file.seek(0)
        self.text = self.file.read().decode("utf-8", "replace")
        self.file.close()


def compare(seed, bits, tiers, tally):
    """Nothing, or what differs."""
    program = forth_programs.Program(seed, bits)
    make = THEIRS[bits]
    theirs = make(program.source)
    ours = OURS[bits](program.source)
    if not program.cases:
        for name in ("bytecodes", "bytecodes_offsets", "decompiled"):
            if getattr(theirs, name) != getattr(ours, name):
                return name, getattr(theirs, name), getattr(ours, name)
    if theirs.dictionary != ours.dictionary:
        return "dictionary", theirs.dictionary, ours.dictionary
    printed = None
    if program.prints:
        with Spool() as spool:
            expected = list(forth_programs.drive(make, program, counted=True))
        printed = spool.text
    else:
        expected = list(forth_programs.drive(make, program, counted=True))
    tally["programs"] += 1
    tally["stops"] += len(expected)
    error = expected[-1][1]
    if isinstance(error, str):
        tally["errors"][error] = tally["errors"].get(error, 0) + 1
    for tier in tiers:
        counted = tier == 0

        def our(source, tier=tier, **limits):
            return OURS[bits](source, tier=tier, **limits)

        with contextlib.redirect_stdout(io.StringIO()) as stream:
            found = list(forth_programs.drive(our, program, counted=counted))
        tally["runs"] += 1
        if printed is not None and printed != stream.getvalue():
            return f"printed, tier {tier}", printed, stream.getvalue()
        for number, (one, other) in enumerate(zip(expected, found, strict=False)):
            if one[:2] != other[:2]:
                return f"tier {tier}, stop {number}", one, other
            for name in other[2] or ():
                # What stands after a structure that could not begin is not told apart from its operands by awkward's.
                if name == "position" and one[1] in ("stack underflow", "recursion depth exceeded"):
                    continue
                if one[2][name] != other[2][name]:
                    return f"tier {tier}, stop {number} ({one[:2]}), {name}", one[2][name], other[2][name]
        if len(expected) != len(found):
            return f"tier {tier}, stops", len(expected), len(found)
    # Stepping never ends a `do` loop in awkward's machine.
    if not program.loops and not program.prints and not program.exits and not program.cases:
        one, other = (list(forth_programs.step(machine[bits], program)) for machine in (THEIRS, OURS))
        tally["stepped"] += 1
        if one != other:
            at = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), -1)
            return f"step {at}", one[at], other[at]
    return None


def new_tally():
    """Nothing yet."""
    return {"programs": 0, "runs": 0, "stepped": 0, "stops": 0, "errors": {}, "differences": []}


def batch(seeds, tiers, marker=None):
    """Compares some programs."""
    warnings.simplefilter("ignore", SyntaxWarning)
    tally = new_tally()
    for seed in seeds:
        for bits in (32, 64):
            if marker:
                os.pwrite(marker, f"{seed:20} {bits}\n".encode(), 0)
            difference = compare(seed, bits, tiers, tally)
            if difference:
                tally["differences"].append([seed, bits, *map(str, difference)])
    return tally


def main():
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--batch", type=int, default=2500)
    parser.add_argument("--report", type=pathlib.Path)
    parser.add_argument("--tiers", nargs="*", type=int, help="those to compare, and always the tier ours chooses")
    parser.add_argument("--show", nargs=2, type=int, metavar=("SEED", "BITS"))
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.show:
        program = forth_programs.Program(*arguments.show)
        print(program.source, program.limits, program.inputs, sep="\n")
        print(compare(*arguments.show, _tiers(arguments.tiers), new_tally()))
        return 0
    if arguments.child:
        first, last, path = arguments.child
        with open(path, "r+b") as file:
            tally = batch(range(int(first), int(last)), _tiers(arguments.tiers), file.fileno())
        pathlib.Path(path).write_text(json.dumps(tally))
        return 0
    return run(arguments)


def run(arguments):
    """All programs, in processes."""
    began = time.time()
    total = new_tally()
    total["deaths"] = []
    starts = iter(range(arguments.seed, arguments.seed + (arguments.programs + 1) // 2, arguments.batch))
    end = arguments.seed + (arguments.programs + 1) // 2
    running = {}
    folder = pathlib.Path(tempfile.mkdtemp())
    while True:
        while len(running) < arguments.jobs and (first := next(starts, None)) is not None:
            path = folder / str(first)
            path.write_bytes(b"")
            last = min(first + arguments.batch, end)
            command = [sys.executable, __file__, "--child", str(first), str(last), str(path)]
            if arguments.tiers is not None:
                command += ["--tiers", *map(str, arguments.tiers)]
            running[first] = (subprocess.Popen(command), path, time.time())
        if not running:
            break
        time.sleep(0.05)
        for first, (child, path, started) in list(running.items()):
            if child.poll() is None and time.time() - started < 1200:
                continue
            del running[first]
            if child.returncode is None:
                child.kill()
                child.wait()
            if child.returncode == 0:
                tally = json.loads(path.read_text())
                for name in ("programs", "runs", "stepped", "stops"):
                    total[name] += tally[name]
                for name, count in tally["errors"].items():
                    total["errors"][name] = total["errors"].get(name, 0) + count
                for difference in tally["differences"]:
                    total["differences"].append(difference)
                    print(*difference, sep="\n  ", flush=True)
            else:
                total["deaths"].append([child.returncode, path.read_text()])
                print("died:", total["deaths"][-1], flush=True)
            path.unlink()
    folder.rmdir()
    total["seconds"] = round(time.time() - began)
    total["command"] = " ".join(["tests/machine_equality.py", *sys.argv[1:]])
    total["tiers"] = [str(tier) for tier in _tiers(arguments.tiers)]
    total["awkward"] = awkward.__version__
    total["forthwith"] = forthwith.__version__
    text = json.dumps(total, indent=1)
    print(text)
    if arguments.report:
        arguments.report.write_text(text + "\n")
    return 1 if total["differences"] or total["deaths"] else 0


if __name__ == "__main__":
    sys.exit(main())
