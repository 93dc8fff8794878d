"""Texts that are the name of no branch, and no expression either: which of both mistakes is said."""

from __future__ import annotations

import re

from forthwith._errors import RequestError, RequestKeyError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forthwith._errors import KeyInFileError

# Paths with all that is usual in them, of which spaces are part of some names.
_NAME = re.compile(r"[\w./:;@#$ ]*")
_PATTERN = re.compile(r"[\w./:;@#$*?]*")
# Words of Python between spaces, and division, which names do not have.
_WORD = re.compile(r" (?:if|else|in|is|and|or|not) |^not | / |/ *\d")


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
    made = RequestKeyError(f"{problem.message}{near}\n  in {place}", file=error.file, object=error.object)
    made.key, made.near = name, error.near
    if "*" in name or "?" in name:
        made.add_note(f"for patterns of names, use filter_name={name!r}")
    return made


def _is_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None and _WORD.search(text) is None
