"""The house in Rust: which crate imports which, against the rule in ARCHITECTURE.md."""

import pathlib
import re
import tomllib

import pytest
from conftest import SOURCES
from rust_modules import Crate

pytestmark = pytest.mark.skipif(not (SOURCES / "ARCHITECTURE.md").is_file(), reason="the sources are not here")


def rule():
    """The crates that each crate may import by the dependency rule: those to its left, within its own braces or around them."""
    line = re.search(r"Dependency rule:\s+`([^`]+)`", (SOURCES / "ARCHITECTURE.md").read_text()).group(1)
    words = re.findall(r"\w+|[{},←]", line)

    def chain(left):
        """A chain of crates and groups, each of which may import what stands before it."""
        found = {}
        while True:
            before = left | set(found)
            if words[0] == "{":
                while words.pop(0) in "{,":
                    found |= chain(before)
            else:
                found[words.pop(0)] = before
            if not words or words[0] != "←":
                return found
            words.pop(0)

    found = chain(set())
    assert not words, f"the rule is not understood from {words[0]} on"
    return found


def manifests():
    """The manifest of each crate by its name."""
    paths = {path.parent.name: path for path in SOURCES.glob("crates/*/Cargo.toml")} | {
        "python": SOURCES / "python/Cargo.toml"
    }
    return {name: tomllib.loads(path.read_text()) for name, path in paths.items()}


def imported(manifest):
    """Our crates that a manifest asks for: for the crate, its tests or its build, on any system."""
    tables = [manifest, *manifest.get("target", {}).values()]
    kinds = ("dependencies", "dev-dependencies", "build-dependencies")
    names = {name for table in tables for kind in kinds for name in table.get(kind, {})}
    ours = {name for name in names if name == "forthwith" or name.startswith("forthwith-")}
    return {name.removeprefix("forthwith-") for name in ours}


def test_crates_import_to_their_left():
    allowed = rule()
    assert set(manifests()) == set(allowed)
    for name, manifest in manifests().items():
        wrong = imported(manifest) - allowed[name]
        assert not wrong, f"{name} imports {', '.join(sorted(wrong))}, to its right or beside it"


def test_the_rule_is_read_with_its_braces():
    allowed = rule()
    assert allowed["ttree"] - allowed["root"] == {"root"}, "beside engine, avro and parquet"
    assert not allowed["dtype"]
    assert {"engine", "root", "ttree"} < allowed["forthwith"] < allowed["cli"] < allowed["python"]


def test_crates_are_members_and_described():
    members = tomllib.loads((SOURCES / "Cargo.toml").read_text())["workspace"]["members"]
    assert {pathlib.Path(member).name for member in members} == set(rule())
    table = (SOURCES / "ARCHITECTURE.md").read_text().partition("## Where things are")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| `crates/(\w+)`", table, re.MULTILINE)) == set(rule()) - {"python"}


def test_outer_crates_are_listed_with_those_that_use_them():
    """The table of dependencies names each crate that is not ours, and the crates of ours that use it."""
    table = (
        (SOURCES / "ARCHITECTURE.md").read_text().partition("## Dependencies, and why each")[2].partition("\n## ")[0]
    )
    users = {}
    for outer, by in re.findall(r"^\| (`[^|]+`) \| ([^|]+) \|", table, re.MULTILINE):
        for name in re.findall(r"`([\w-]+)`", outer):
            users[name] = by
    for name, manifest in manifests().items():
        if name == "python":
            continue
        tables = [manifest, *manifest.get("target", {}).values()]
        for outer in {outer for table in tables for outer in table.get("dependencies", {})}:
            if not outer.startswith("forthwith"):
                by = users.get(outer)
                assert by is not None, f"{outer}, which {name} uses, is not in the table"
                assert name in re.findall(r"\w+", by) or "all" in by, f"{outer} is used by {name}, too"


def test_rooms_of_the_package_are_described():
    text = (SOURCES / "ARCHITECTURE.md").read_text()
    rooms = {path.parent.name for path in (SOURCES / "python/forthwith").glob("*/__init__.py")}
    assert {room for room in rooms if f"`{room}/`" not in text} == set()


def test_files_that_the_walks_name_exist():
    """Each path in CONTRIBUTING.md is a file or folder: from the root, or below the folder of a path before it."""
    known = [path.relative_to(SOURCES).as_posix() for path in SOURCES.glob("crates/**/*")]
    for folder in ("python", "tests", "docs", "fuzz", "scripts"):
        known += [path.relative_to(SOURCES).as_posix() for path in (SOURCES / folder).rglob("*")]
    named = re.findall(
        r"`([\w./-]*\w\.(?:rs|py|pyi|md|toml)|[\w.-]+/[\w./-]*)`", (SOURCES / "CONTRIBUTING.md").read_text()
    )
    assert len(named) > 60, "the pattern finds the paths no longer"
    ends = {"/" + path for path in known} | {"/" + path.name for path in SOURCES.iterdir()}
    missing = [name for name in named if not any(end.endswith("/" + name.rstrip("/")) for end in ends)]
    assert missing == []


# Groups of modules that use each other, in each crate: there may be fewer, and then fewer here.
CIRCLES = {"forthwith": 1, "root": 2, "ttree": 1}


def test_modules_of_crates_use_each_other_in_few_circles():
    found = {
        path.name: Crate(path).circles() for path in sorted((SOURCES / "crates").iterdir()) if (path / "src").is_dir()
    }
    counted = {name: len(circles) for name, circles in found.items() if circles}
    more = {name: found[name] for name, count in counted.items() if count > CIRCLES.get(name, 0)}
    assert not more, "modules use each other that did not"
    assert counted == CIRCLES, "there are fewer circles now: count them here"
