"""The page that says what tests which part of ROOT's format names tests that there are."""

import re

import pytest
from conftest import SOURCES

PAGE = (SOURCES / "tests" / "root-checklist.md").read_text()
ROWS = [line.split(" | ") for line in PAGE.splitlines() if re.match(r"\| [A-Z]\d+ \|", line)]


def place(name):
    """File of a short name, and the test in it."""
    path, _, test = name.partition("::")
    first, _, rest = path.partition("/")
    match first:
        case "files" | "trees":
            crate = "root" if first == "files" else "ttree"
            return SOURCES / "crates" / crate / "tests" / f"{path}.rs", test
        case "src":
            return SOURCES / "crates/root" / f"{path}.rs", test
        case "io":
            return SOURCES / "crates/io/src" / f"{rest}.rs", test
        case "py":
            name = f"test_{rest}.py"
            return next(SOURCES.glob(f"tests/python/*/{name}"), SOURCES / "tests/python" / name), test
        case "data":
            return SOURCES / "tests/data" / rest, ""
    raise ValueError(name)


def test_every_row_is_there_once():
    names = [row[0].strip("| ") for row in ROWS]
    assert names == [f"{kind}{i + 1}" for kind, n in (("F", 14), ("C", 5), ("O", 18), ("T", 17)) for i in range(n)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0].strip("| "))
def test_the_tests_of_a_row_exist(row):
    named = re.findall(r"`((?:files|trees|src|io|py|data)/[^`]*)`", row[-1])
    assert named or "not written" in row[-1]
    for name in named:
        path, test = place(name)
        assert path.exists(), name
        if test:
            word = "def" if path.suffix == ".py" else "fn"
            assert re.search(rf"^\s*{word} {test}\(", path.read_text(), re.MULTILINE), name
        elif path.suffix == ".root" and not path.name.endswith("-branch.root"):
            assert path.with_name(path.name + ".golden.json").exists(), name
