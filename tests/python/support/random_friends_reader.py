"""Trees with friends that C++ ROOT wrote, read by forthwith: each entry beside the one of the friend that ROOT reads.

``python tests/python/support/random_friends_reader.py FOLDER`` compares the cases that ``tests/generate/random_friends.py``
wrote there.
"""

import json
import os
import pathlib
import random
import sys

import forthwith


def compare(folder):
    """Compares one case: whole, in ranges, in steps, cut, and computed with."""
    case = json.loads((folder / "case.json").read_text())
    chance = random.Random(case["seed"])
    wanted = [None if entry < 0 else entry for entry in case["entries"]]
    name = f"{case['friend']}.y"
    files = [str(folder / file) for file in case["files"]]
    friends = None if case["given"] is None else {case["friend"]: forthwith.open(str(folder / case["given"]))}
    opened = forthwith.open(files[0] if len(files) == 1 else files)
    place = f"case {case['seed']}"

    def read(names, **options):
        return opened.arrays(names, friends=friends, **options)

    assert read([name])[name].tolist() == wanted, place
    assert read(["y"])["y"].tolist() == wanted, f"{place}, without the friend's name"
    start, stop = sorted(chance.randint(0, len(wanted)) for _ in range(2))
    part = read(["x", name], entry_start=start, entry_stop=stop)
    assert part[name].tolist() == wanted[start:stop], place
    limit = chance.randint(0, max(1, case["rows"]))
    kept = [y for y in wanted if y is not None and y < limit]
    assert read([name], cut=f"{name} < {limit}")[name].tolist() == kept, place
    double = read([f"2 * {name}"], aliases={"d": f"{name} + 1"}, cut="d > 1")
    assert double.tolist() == [{f"2 * {name}": 2 * y} for y in wanted if y], place
    entries = sorted(chance.sample(range(len(wanted)), len(wanted) // 2))
    assert read([name], entries=entries)[name].tolist() == [wanted[at] for at in entries], place
    steps = opened.iterate([name], friends=friends, step_size=chance.choice([1, 7, 100]), cut=None)
    assert [y for step in steps for y in step[name].tolist()] == wanted, place


def campaign(folder):
    """Compares all cases of a folder, and answers how many there are, and in how many entries of friends are missing."""
    cases = sorted(path.parent for path in pathlib.Path(folder).glob("*/case.json"))
    missing = 0
    for case in cases:
        compare(case)
        missing += -1 in json.loads((case / "case.json").read_text())["entries"]
    return len(cases), missing


if __name__ == "__main__":
    print(*campaign(os.path.abspath(sys.argv[1])))
