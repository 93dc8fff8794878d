"""The few private functions of uproot's that coffea calls."""

from __future__ import annotations

from typing import Any

from forthwith.uproot._many import _files
from forthwith.uproot._open import split
from forthwith.uproot._options import _Unset, no_filter, unset

__all__ = [
    "_Unset",
    "file_object_path_split",
    "no_filter",
    "recursively_fix_awkward_form_of_iter",
    "regularize_files",
    "unset",
]


def recursively_fix_awkward_form_of_iter(awkward: Any, interpretation: Any, form: Any) -> Any:
    """The Form itself: every branch is read as its Form says."""
    return form


def file_object_path_split(urlpath: str) -> tuple[str, str | None]:
    """The path of a file, and of the object in it if one is named."""
    return split(urlpath)


def regularize_files(files: Any, steps_allowed: bool = False, **options: Any) -> list[tuple[Any, ...]]:
    """Files and the objects meant in them; with ``steps_allowed`` also the entries, where a mapping says them.

    Args:
        files: Paths (with patterns), ``{path: tree}``, or a list of these; with steps ``{path: {"object_path": …,
            "steps": …}}``.
        steps_allowed: Whether steps are meant.
        options: Those of the stores of patterns, among others.
    """
    if not steps_allowed:
        return _files(files, options)
    out: list[tuple[Any, ...]] = []
    given = files.items() if hasattr(files, "items") else [(one, None) for one in _files(files, options)]
    for path, what in given:
        if isinstance(what, dict):
            out += [(match, what.get("object_path"), what.get("steps")) for match, _ in _files({path: None}, options)]
        elif what is None and isinstance(path, tuple):
            out.append((*path, None))
        else:
            out += [(match, inner, None) for match, inner in _files({path: what}, options)]
    return out
