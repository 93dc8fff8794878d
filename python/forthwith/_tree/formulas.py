"""Texts that are the name of no branch, and no expression either: which of both mistakes is said."""

from __future__ import annotations

import re

from forthwith._errors import RequestError, RequestKeyError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from forthwith._errors import KeyInFileError

# What is said of a name that may be in a friend.
_ABSENT = re.compile(r'no branch named "(.*)"')
_FRIEND = "it may be in the friend"

# Paths with all that is usual in them, of which spaces are part of some names.
_NAME = re.compile(r"[\w./:;@#$ ]*")
_PATTERN = re.compile(r"[\w./:;@#$*?]*")
# Words of Python between spaces, and division, which names do not have.
_WORD = re.compile(r" (?:if|else|in|is|and|or|not) |^not | / |/ *\d")

# Spellings of Python that expressions do not have, and what they have instead.
_CHOICE = re.compile(r"\bif\b.*\belse\b")


def mistaken(name: str, place: str, error: KeyInFileError, problem: RequestError) -> KeyInFileError:
    """The error for a text of which there is no branch.

    Args:
        name: The text.
        place: The file and the tree.
        error: The error as a name.
        problem: The error as an expression.
    """
    if _is_name(name) or _PATTERN.fullmatch(name):
        if any(c in name for c in "*?/"):
            where = problem.message
            error.add_note(f"names are exact here: for patterns, use filter_name={name!r}; as an expression: {where}")
        return error
    near = f"\n  no branch has this name; did you mean {', '.join(error.near)}?" if error.near else ""
    made = RequestKeyError(f"{hinted(problem).message}{near}\n  in {place}", file=error.file, object=error.object)
    made.key, made.near = name, error.near
    if "*" in name or "?" in name:
        made.add_note(f"for patterns of names, use filter_name={name!r}")
    return made


def hinted(problem: RequestError, similar: Callable[[str], Sequence[str]] | None = None) -> RequestError:
    """The error of an expression, with what to write instead where the text is Python that expressions do not have.

    Args:
        problem: The error.
        similar: Gives names that are like one which may be in a friend that cannot be read.
    """
    # The text stands in a line of the error, above the one that points at the place.
    lines = problem.message.split("\n")
    if similar is not None and (found := _ABSENT.fullmatch(lines[0])) and len(lines) > 1 and _FRIEND in lines[1]:
        near = similar(found[1])
        lines[0] += f"; did you mean {', '.join(near)}?" if near else ""
        # The friend's error says of which file it is, too.
        places = [line for line in lines if line.startswith("  in ")]
        kept = [line for line in lines if line not in places[:-1] or not _is_within(line, places[-1])]
        problem.message = "\n".join([*(line for line in kept if line != places[-1]), places[-1]] if places else kept)
        problem.args = (problem.message,)
        return problem
    pointed = [at for at, line in enumerate(lines) if line.strip() and not line.strip(" ^")]
    hint = _hint(lines[pointed[0] - 1]) if pointed and pointed[0] else None
    if hint is not None and ("expected" in lines[0] or "no meaning" in lines[0]):
        lines.insert(pointed[0] + 1, f"  {hint}")
        problem.message = "\n".join(lines)
        problem.args = (problem.message,)
    return problem


def _is_within(line: str, place: str) -> bool:
    """Whether a line names no more than the place of an error does."""
    return line == place or place.endswith(f":{line.removeprefix('  in ')}")


def _is_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None and _WORD.search(text) is None


def _hint(text: str) -> str | None:
    if _CHOICE.search(text):
        return "where(condition, x, y) chooses between two values"
    return None
