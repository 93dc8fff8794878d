"""The language of comments: four habits that make them hard to read are counted for each crate, with bounds that only fall.

CONTRIBUTING's section on language says what to write instead. `FORTHWITH_UPDATE=1` lowers the bounds to what is found.
"""

import json
import os
import pathlib
import re

import pytest
from conftest import SOURCES

BOUNDS = pathlib.Path(__file__).with_name("language.json")

# The habits, by what is found in a line of a comment.
HABITS = {
    # "What waits in the buffers", "those that there are": the noun is missing.
    "clause for a noun": re.compile(
        r"\b[Ww]hat (?:is|was|are|were|has|had|waits|stands|lies|there|it|they)\b|\bthat there (?:is|are)\b|"
        r"\b(?:[Tt]hose|[Oo]ne|[Nn]one) (?:that|of which|for which|by which)\b|\b[Oo]f which nothing\b"
    ),
    # "is no number" for "is not a number".
    "is no": re.compile(r"\b(?:is|are|was|were) no\b(?! longer)"),
    # "The same for lists": of what?
    "the same": re.compile(r"^(?:The|That of the) same\b|^As (?:above|before|it)\b"),
    # Everyday words in the place of terms.
    "word for a term": re.compile(
        r"\b(?:[Ss]o many|[Nn]obody|[Ww]hoever|have room|has room|no room|is meant|are meant|of use|"
        r"waits? (?:in|for) (?:a|the|its) buffer|held back|taken back|odd one)\b"
    ),
}


def comments(path):
    """The lines of comments and docstrings of a source file."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".rs":
        for line in text.splitlines():
            found = re.match(r"\s*//[/!]?\s?(.*)", line)
            if found:
                yield found[1]
        return
    for line in text.splitlines():
        found = re.match(r"\s*#\s?(.*)", line)
        if found:
            yield found[1]
    for docstring in re.findall(r'"""(.*?)"""', text, re.DOTALL):
        yield from (line.strip() for line in docstring.splitlines())


def counts():
    """How often each habit is found, by crate."""
    rooms = {path.parent.name: path for path in SOURCES.glob("crates/*/src")}
    rooms |= {"python/src": SOURCES / "python/src", "python/forthwith": SOURCES / "python/forthwith"}
    found = {}
    for room, folder in sorted(rooms.items()):
        lines = [line for path in sorted(folder.rglob("*")) if path.suffix in (".rs", ".py") for line in comments(path)]
        found[room] = {name: sum(1 for line in lines if habit.search(line)) for name, habit in HABITS.items()}
    return found


@pytest.mark.skipif(not (SOURCES / "ARCHITECTURE.md").is_file(), reason="the sources are not here")
def test_habits_of_language_become_fewer():
    found, bounds = counts(), json.loads(BOUNDS.read_text()) if BOUNDS.is_file() else {}
    assert len(found) > 20, "the sources were not found"
    if os.environ.get("FORTHWITH_UPDATE"):
        lowered = {
            room: {name: min(count, bounds.get(room, {}).get(name, count)) for name, count in habits.items()}
            for room, habits in found.items()
        }
        BOUNDS.write_text(json.dumps(lowered, indent=1) + "\n")
        bounds = lowered
    # A crate without a bound has none of these habits.
    more = {
        f"{room}: {name}": f"{count}, not {bounds.get(room, {}).get(name, 0)}"
        for room, habits in found.items()
        for name, count in habits.items()
        if count > bounds.get(room, {}).get(name, 0)
    }
    assert not more, "comments to be written in the terms of the field: see Language in CONTRIBUTING.md"


@pytest.mark.parametrize(
    ("line", "habit"),
    [
        ("Takes what waits in the buffers.", "clause for a noun"),
        ("What is no number is behind the last.", "is no"),
        ("The same for lists.", "the same"),
        ("As many as there are, so many bytes.", "word for a term"),
    ],
)
def test_habits_are_found(line, habit):
    assert HABITS[habit].search(line)


def test_usual_sentences_are_none():
    for line in ("Returns the buffered entries.", "The branch is no longer needed.", "Adds arrays of the same type."):
        assert not any(habit.search(line) for habit in HABITS.values()), line
