"""Files as calls are given them: paths, patterns, opened trees, and the tree in each."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from glob import glob
from typing import Any

from forthwith import _stores
from forthwith.uproot import _options
from forthwith.uproot._branches import HasBranches
from forthwith.uproot._file import ReadOnlyDirectory
from forthwith.uproot._ntuple_fields import HasFields
from forthwith.uproot._open import open_at, split, whole
from forthwith.uproot._options import with_own_options

# Classes of trees.
_TREES = ("TTree", "TNtuple", "TNtupleD", "ROOT::RNTuple", "ROOT::Experimental::RNTuple")


def files_with_steps(files: Any, options: dict[str, Any]) -> list[tuple[Any, Any, Any]]:
    """Files, the object in each, and the steps that are given with it, if any; an opened tree comes alone.

    Args:
        files: As in `iterate`; an object may be a dict of its ``object_path`` and of ``steps``.
        options: Those of the stores of patterns, among others.
    """
    found = []
    for path, given in _given(files, options):
        with_steps = given if isinstance(given, Mapping) else {"object_path": given}
        inner = with_steps.get("object_path")
        if not isinstance(inner, str | None):
            raise TypeError(f"the object in {path!r} is a name or None, not {inner!r}")
        found.append((path, inner, with_steps.get("steps")))
    if not found:
        raise FileNotFoundError(f"no file matches {files!r}")
    return found


def files_of(files: Any, options: dict[str, Any] | None = None) -> list[tuple[Any, Any]]:
    """Files and the object in each."""
    found = files_with_steps(files, options or {})
    if any(steps is not None for *_, steps in found):
        raise TypeError("steps of files are for uproot.dask only")
    return [(path, inner) for path, inner, _ in found]


def _given(files: Any, options: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    if is_table(files):
        yield files, None
    elif isinstance(files, str):
        # Patterns of one text may match a file twice, which is one file.
        pairs = [split(one) for one in _braces(files)]
        yield from dict.fromkeys((match, inner) for path, inner in pairs for match in _matches(path, options))
    elif hasattr(files, "storage_options"):
        yield files, None
    elif isinstance(files, os.PathLike):
        yield from ((match, None) for match in _matches(whole(files), options))
    elif hasattr(files, "read"):
        yield files, None
    elif hasattr(files, "items"):
        for path, inner in files.items():
            for match in [path] if hasattr(path, "storage_options") else _matches(whole(path), options):
                yield match, inner
    elif hasattr(files, "__iter__"):
        for one in files:
            yield from _given(one, options)
    else:
        raise TypeError(f"files are paths, {{path: tree}}, opened trees, or a list of these, not {files!r}")


def is_table(what: Any) -> bool:
    """Whether it is a tree or an ntuple, or a part of one."""
    return isinstance(what, HasBranches | HasFields)


def _braces(text: str) -> list[str]:
    """The texts that ``{a,b}`` in one stands for."""
    begin, end = text.find("{"), text.find("}")
    if begin < 0 or end < begin or os.path.exists(text):
        return [text]
    return [one for part in text[begin + 1 : end].split(",") for one in _braces(text[:begin] + part + text[end + 1 :])]


def _matches(path: Any, options: dict[str, Any]) -> list[Any]:
    if not isinstance(path, str) or os.path.exists(path):
        return [path]
    if _stores.is_pattern(path):
        return _stores.expand(path, _options.store_options(path, options))
    if "://" in path or not any(c in path for c in "*?["):
        return [path]
    return sorted(glob(path, recursive=True))


def tree_of(path: Any, inner: Any, allow_missing: bool, options: dict[str, Any]) -> Any:
    """The tree of a file, or ``None`` if it may be missing and is."""
    if is_table(path):
        return path
    path, options = with_own_options(path, options)
    found = open_at(path, None, options)
    try:
        if not isinstance(found, ReadOnlyDirectory):
            return found
        if inner:
            if allow_missing and inner not in found:
                found.close()
                return None
            tree = found[inner]
            if not is_table(tree):
                raise ValueError(f"{inner!r} in {found.file_path} is not a tree, but {tree!r}")
            return tree
        names = list(dict.fromkeys(found.keys(cycle=False, filter_classname=list(_TREES))))
        if len(names) != 1:
            if allow_missing and not names:
                found.close()
                return None
            raise ValueError(
                f"{found.file_path} has {len(names)} trees ({', '.join(names[:10])}): say which, as in "
                f"{found.file_path + ':tree'!r}"
            )
        return found[names[0]]
    except BaseException:
        found.close()
        raise


@contextmanager
def closing(tree: Any, path: Any) -> Iterator[None]:
    """Closes a tree afterwards, unless it was given as an opened one."""
    try:
        yield
    finally:
        if tree is not path:
            tree.close()
