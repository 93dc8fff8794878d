"""The house: which modules of the package import which, and how long files are."""

import ast
import dataclasses
import pathlib

import pytest
from conftest import SOURCES

import forthwith
from forthwith import _keywords
from forthwith._tree.options import ReadOptions

ROOT = pathlib.Path(forthwith.__file__).parent

# Imports within functions of modules of the package itself, which need a reason: what takes long to import, or needs a package
# that may not be there, is imported when it is wanted. Circles are no reason.
LATER = {
    "forthwith._streamers": "dataclasses cost as much as the package, and few ask for streamer infos",
    "forthwith._collections": "objects are not in every file, and import operator and collections",
    "forthwith._objects": "objects are not in every file, and import operator, threading and collections",
    "forthwith._writable.histograms": "imports NumPy, which not every object that is written needs",
    "forthwith._tree.options": "dataclasses take longer to import than the package",
    "forthwith._tree.selection": "imports forthwith._tree.options",
    "forthwith._tree.virtual": "imports threading, and few calls read columns later",
}


def imports(path):
    """Modules of the package that a file imports: at once, within functions, and for types alone."""
    at_once, later = set(), set()

    def visit(node, within):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and getattr(child.test, "id", None) == "TYPE_CHECKING":
                continue
            found = within or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            if isinstance(child, ast.ImportFrom) and (child.level or (child.module or "").startswith("forthwith")):
                assert not child.level, f"{path}: relative imports hide where things are"
                for alias in child.names:
                    inner = f"{child.module}.{alias.name}"
                    (later if within else at_once).add(inner if module(inner) else child.module)
            elif isinstance(child, ast.Import):
                (later if within else at_once).update(a.name for a in child.names if a.name.startswith("forthwith"))
            visit(child, found)

    visit(ast.parse(path.read_text()), False)
    return at_once, later


def module(name):
    path = ROOT.parent.joinpath(*name.split("."))
    return name == "forthwith._forthwith" or path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


def name_of(path):
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_imports_within_functions_have_a_reason():
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        for name in imports(path)[1] - {"forthwith._forthwith"}:
            found.setdefault(name, []).append(str(path.relative_to(ROOT)))
    assert {name: places for name, places in found.items() if name not in LATER} == {}
    assert set(LATER) <= set(found), "a reason that is no longer needed"


def test_modules_import_each_other_in_no_circle():
    graph = {name_of(path): imports(path)[0] | imports(path)[1] for path in ROOT.rglob("*.py")}
    graph.pop("forthwith")  # the package itself imports all of them
    open_, done = [], set()

    def visit(name):
        assert name not in open_, " -> ".join([*open_[open_.index(name) :], name])
        if name in done or name not in graph:
            return
        open_.append(name)
        for other in sorted(graph[name]):
            visit(other)
        open_.pop()
        done.add(name)

    for name in sorted(graph):
        visit(name)


def test_chains_and_selections_pass_all_options_of_reading_on():
    fields = {field.name for field in dataclasses.fields(ReadOptions)}
    # A chain counts the entries of the files before by itself.
    assert set(_keywords.READ) == fields - {"offset"}


# Lines of the longest file that has no reason to be longer. A file has one subject; where it has two, they part here.
LONGEST = 600

# Longer files, each with its bound and the reason why it is in one piece. Bounds go down, and the list gets shorter.
LONG = {
    "crates/forth/src/interpret/flat/run.rs": (730, "one loop: its arms share registers that are local to it"),
    "crates/forth/src/interpret/flat/code.rs": (630, "a table of instructions"),
    "python/forthwith/_types.py": (730, "a table of overloads"),
}


@pytest.mark.skipif(not (SOURCES / "ARCHITECTURE.md").is_file(), reason="the sources are not here")
def test_files_have_few_lines():
    lines = {}
    for folder in [*SOURCES.glob("crates/*/src"), SOURCES / "python"]:
        for path in [*folder.rglob("*.rs"), *folder.rglob("*.py")]:
            name = path.relative_to(SOURCES).as_posix()
            if "/." not in name and "/target/" not in name and path.name != "tests.rs":
                lines[name] = len(path.read_text(encoding="utf-8").splitlines())
    assert len(lines) > 500, "the sources were not found"
    too_long = {name: count for name, count in lines.items() if count > LONG.get(name, (LONGEST, ""))[0]}
    assert not too_long, "a file with more than one subject? Look for a seam"
    assert all(lines.get(name, 0) > LONGEST for name in LONG), "an exception that is no longer needed"
