"""The few private functions of uproot's that coffea calls."""

from __future__ import annotations

import os
from typing import Any

from forthwith.uproot._dask_parts import step_pairs
from forthwith.uproot._given_files import files_of, files_with_steps
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


def file_object_path_split(urlpath: Any) -> tuple[str, str | None]:
    """The path of a file, and of the object in it if one is named."""
    return split(os.fspath(urlpath))


def regularize_files(files: Any, steps_allowed: bool = False, **options: Any) -> list[tuple[Any, ...]]:
    """Files and the objects in them, and steps where a mapping has them.

    Args:
        files: Paths (with patterns), ``{path: tree}``, or a list of these; with steps ``{path: {"object_path": …,
            "steps": …}}``.
        steps_allowed: Whether steps may be given.
        options: Those of the stores of patterns, among others.
    """
    if not steps_allowed:
        return list(files_of(files, options))
    found = files_with_steps(files, options)
    return [(path, inner) if steps is None else (path, inner, step_pairs(path, steps)) for path, inner, steps in found]
