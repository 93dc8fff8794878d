"""Branches and keys of random classes, which C++ ROOT writes and reads, to the bit.

The files are made anew by C++ ROOT, with its compiler: by the interpreter that ``FORTHWITH_ROOT_PYTHON`` names, or else by
``.venv-root/bin/python``.
"""

import json
import subprocess
import sys

import pytest
from conftest import TESTS
from random_reader import UNSAID, compare
from root_judge import ROOT_PYTHON, need_root


def in_order(told):
    """What was told as JSON, with what is in no order, as in an ``unordered_map``, in one."""

    def sort(found):
        return sorted(found["~"], key=json.dumps) if found.keys() == {"~"} else found

    return json.loads(told, object_hook=sort) if told.startswith("{") else told


def is_twice(told, read):
    """Whether what was told as JSON are the entries of another twice."""
    if not told.startswith("["):
        return False
    both, once = (json.dumps(in_order(f'{{"all": {of}}}')["all"]) for of in (told, read))
    return json.loads(both) == json.loads(once) * 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", [300])
def test_random_classes_are_what_root_reads(seed, tmp_path):
    need_root()
    writer = [sys.executable, str(TESTS / "python" / "support" / "random_dicts.py")]
    command = [ROOT_PYTHON, str(TESTS / "generate" / "random_classes.py"), str(tmp_path), str(seed), "6", "5", *writer]
    ran = subprocess.run(
        command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )
    assert ran.returncode == 0, ran.stdout[-2000:]
    found = list(compare(tmp_path, f"random-{seed}"))
    wrong = [
        (entry["file"], path, entry["type"], problem)
        for entry, path, problem in found
        if problem and not problem.startswith("ROOT: ") and not any(words in problem for words in UNSAID)
    ]
    assert wrong == []
    assert sum(problem is None for _, _, problem in found) > 40
    # The keys were written once more, from what they are as dicts.
    keys = [entry for entry in json.loads((tmp_path / f"random-{seed}.values.json").read_text()) if "again" in entry]
    unlike = [entry for entry in keys if in_order(entry["again"]) != in_order(entry["read"])]
    assert [(entry["file"], entry["name"], entry["again"]) for entry in unlike] == []
    assert len(keys) > 3
    # Branches were extended by their own entries.
    values = json.loads((tmp_path / f"random-{seed}.values.json").read_text())
    extended = [entry for entry in values if "twice" in entry]
    unlike = [entry for entry in extended if not is_twice(entry["twice"], entry["read"])]
    assert [(entry["file"], entry["name"], entry["type"], entry["twice"]) for entry in unlike] == []
    assert len(extended) > 8
