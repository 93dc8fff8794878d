"""Processes that are killed while they create, update, extend and merge: C++ ROOT finds all that was there before, or no file.

``FORTHWITH_KILLS`` says how many are killed (8 if nothing is said), ``FORTHWITH_SEED`` when.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from root_judge import HEAD, ROOT_PYTHON

import forthwith

KILLS = int(os.environ.get("FORTHWITH_KILLS", "8"))
SEED = int(os.environ.get("FORTHWITH_SEED", "1"))
ENTRIES = 1000

# What each process does without end, to files with numbers behind their names. It says when it begins a file.
WORK = {
    "create": """
def work(name):
    with forthwith.create(name, compression=codec) as file:
        tree = file.mktree("t", {"x": "f8", "j": "var * int32"})
        for _ in range(steps):
            tree.extend({"x": numbers, "j": lists})
        file["d/h"] = np.histogram(numbers)
""",
    "replace": """
def work(name):
    with forthwith.recreate(name, compression=codec) as file:
        file["t"] = {"x": numbers, "j": lists}
        file["d/h"] = np.histogram(numbers)
""",
    "update": """
def work(name):
    with forthwith.update(name) as file:
        file["more/h"] = np.histogram(numbers)
        file["more/note"] = "a note"
        file["u"] = {"x": numbers}
        del file["gone"]
""",
    "extend": """
def work(name):
    with forthwith.update(name) as file:
        for _ in range(steps):
            file["t"].extend({"x": numbers, "j": lists})
""",
    "branches": """
def work(name):
    with forthwith.update(name) as file:
        file["t"].add_branches({"more": np.arange(file["t"].num_entries)})
""",
    "ntuple": """
def work(name):
    with forthwith.update(name) as file:
        for _ in range(steps):
            file["n"].extend({"x": numbers})
""",
    "merge": """
def work(name):
    forthwith.merge([source] * 5, name, compression=codec or "default")
""",
}
HEADER = """
import itertools, sys
import awkward as ak, numpy as np
import forthwith
folder, source, codec, steps = sys.argv[1:]
codec, steps = codec or None, int(steps)
numbers = np.arange(1000.0)
lists = ak.unflatten(np.arange(2000, dtype=np.int32), 2)
"""
LOOP = """
for number in itertools.count():
    name = f"{folder}/{number}.root"
    if sys.argv[1].endswith("old") and number == OLD:
        break
    print(number, flush=True)
    work(name)
"""
# Files that are there before, for those that change files.
OLD = 40
JUDGE = """
import os
found = {}
ROOT.gErrorIgnoreLevel = ROOT.kWarning
def text(tree):
    return [tree.GetEntries(), sum(entry.x for entry in tree)]
for path in json.loads(sys.stdin.read()):
    file = ROOT.TFile.Open(path)
    if not file or file.IsZombie() or file.TestBit(ROOT.TFile.kRecovered):
        found[path] = "no sound file"
        continue
    told = {key.GetName(): None for key in file.GetListOfKeys()}
    told["t"] = text(file.Get("t")) if "t" in told else None
    if told["t"] and file.Get("t").GetBranch("more"):
        told["t"].append(sum(entry.more for entry in file.Get("t")))
    if "n" in told:
        told["n"] = ROOT.RDataFrame("n", path).Sum("x").GetValue()
    for name in ("u",):
        if name in told:
            told[name] = text(file.Get(name))
    told["h"] = file.Get("d/h").GetEntries() if file.Get("d/h") else None
    if "more" in told:
        told["more"] = [key.GetName() for key in file.Get("more").GetListOfKeys()]
    found[path] = told
    file.Close()
print(json.dumps(found))
"""
TOTAL = float(np.arange(ENTRIES).sum())


def write(path):
    """What a file has before it is changed."""
    with forthwith.recreate(path) as file:
        file["t"] = {"x": np.arange(float(ENTRIES)), "j": [[1, 2]] * ENTRIES}
        file["d/h"] = np.histogram(np.arange(float(ENTRIES)))
        file["gone"] = "an object that is taken away"
        file.mkrntuple("n", {"x": np.arange(float(ENTRIES))})


def judged(paths):
    """What C++ ROOT finds, with one process for all files; nothing may stand on its other output."""
    command = [ROOT_PYTHON, "-c", HEAD + "import ROOT\nROOT.gROOT.SetBatch(True)\n" + JUDGE]
    text = json.dumps([str(path) for path in paths])
    done = subprocess.run(command, check=False, input=text, capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    return json.loads(done.stdout)


def run_and_kill(work, folder, source, chance):
    """Starts a process and kills it at some moment. Answers the number of the last file that it began."""
    steps, codec = chance.choice([1, 3, 20]), chance.choice(["", "zstd", "lzma"])
    script = HEADER + WORK[work] + LOOP.replace("OLD", str(OLD))
    command = [sys.executable, "-W", "ignore", "-c", script, str(folder), str(source), codec, str(steps)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "0\n"
        time.sleep(chance.choice([0.0, 0.01, 0.1, 0.3]) * chance.random())
        process.send_signal(signal.SIGKILL)
        said = process.stdout.read().split()
    # Not an error that ended it.
    assert process.returncode in (-signal.SIGKILL, 0)
    return steps, max([0, *map(int, said)])


def is_as_it_was(told, more=()):
    return told["t"] == [ENTRIES, TOTAL] and told["n"] == TOTAL and told["h"] == ENTRIES and set(told) >= {"d", *more}


def fault(work, told, steps, is_last):
    """What is wrong with a file that a process left, which ended before its time if it is the last."""
    if told == "no sound file":
        return told
    whole = steps * ENTRIES
    states = {
        "create": [lambda: told["t"] == [whole, steps * TOTAL] and told["h"] == ENTRIES],
        "replace": [lambda: told["t"] == [ENTRIES, TOTAL] and told["h"] == ENTRIES and "gone" not in told],
        "merge": [lambda: told["t"] == [5 * ENTRIES, 5 * TOTAL] and told["h"] == 5 * ENTRIES],
        "update": [
            lambda: (
                is_as_it_was(told, ["more", "u"])
                and told["u"] == [ENTRIES, TOTAL]
                and told["more"] == ["h", "note"]
                and "gone" not in told
            )
        ],
        "extend": [lambda: told["t"] == [ENTRIES + whole, (1 + steps) * TOTAL] and told["n"] == TOTAL],
        "branches": [lambda: told["t"] == [ENTRIES, TOTAL, TOTAL] and told["n"] == TOTAL],
        "ntuple": [lambda: told["n"] == (1 + steps) * TOTAL and told["t"] == [ENTRIES, TOTAL]],
    }[work]
    if is_last and work not in ("create", "merge"):
        # Directories get their new lists one after the other.
        states.append(lambda: is_as_it_was(told))
    return None if any(state() for state in states) else str(told)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.skipif(not os.path.exists(ROOT_PYTHON), reason="no C++ ROOT")
def test_killed_processes_leave_what_was_there(tmp_path):
    chance = random.Random(SEED)
    source = tmp_path / "source.root"
    write(source)
    runs = {}
    for number in range(KILLS):
        work = list(WORK)[number % len(WORK)]
        changes = work not in ("create", "merge")
        folder = tmp_path / f"{number}{'-old' if changes else ''}"
        folder.mkdir()
        if changes:
            for file in range(OLD):
                (folder / f"{file}.root").write_bytes(source.read_bytes())
        steps, last = run_and_kill(work, folder, source, chance)
        paths = sorted(folder.glob("*.root"))
        # Those that were not begun are as they were: one of them is looked at.
        kept = [path for path in paths if int(path.stem) <= last or int(path.stem) == OLD - 1]
        assert not changes or len(paths) == OLD
        runs.update({str(path): (work, steps, int(path.stem), last) for path in kept})
    found = judged(runs)
    faults = {}
    for path, told in found.items():
        work, steps, number, last = runs[path]
        if number > last:
            wrong = None if told != "no sound file" and is_as_it_was(told) else str(told)
        else:
            wrong = fault(work, told, steps, number == last)
        if wrong:
            faults[path] = (work, steps, number, last, wrong)
    assert not faults
    print(f"{KILLS} processes killed, {len(found)} files")
