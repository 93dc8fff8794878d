"""Errors for text that is neither a branch name nor a valid expression: choice of the more likely mistake."""

from __future__ import annotations

import re

from forthwith._errors import RequestError, RequestKeyError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forthwith._errors import KeyInFileError

# Paths of usual characters, including spaces, which some names have.
_NAME = re.compile(r"[\w./:;@#$ ]*")
_PATTERN = re.compile(r"[\w./:;@#$*?]*")
# Python keywords between spaces, and division, which do not occur in names.
_WORD = re.compile(r" (?:if|else|in|is|and|or|not) |^not | / |/ *\d")


def mistaken(name: str, place: str, error: KeyInFileError, problem: RequestError) -> KeyInFileError:
    """Returns the error for text that matches no branch.

    Args:
        name: The text.
        place: The location: file and tree.
        error: The error if the text is a name.
        problem: The error if the text is an expression.
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
