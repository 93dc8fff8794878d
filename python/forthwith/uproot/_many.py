"""Several files: `iterate`, `concatenate` and `num_entries`, as uproot has them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from glob import glob
from typing import Any

from forthwith import _paths
from forthwith._errors import KeyInFileError
from forthwith.uproot import _options
from forthwith.uproot._branches import HasBranches, entry_range
from forthwith.uproot._file import ReadOnlyDirectory
from forthwith.uproot._library import library_of
from forthwith.uproot._ntuple_fields import HasFields
from forthwith.uproot._open import open_at

_TREES = ("TTree", "TNtuple", "TNtupleD", "ROOT::RNTuple", "ROOT::Experimental::RNTuple")


def _files(files: Any) -> list[tuple[Any, Any]]:
    """Files and what is meant in each; an opened tree comes alone."""
    found = list(_given(files))
    if not found:
        raise FileNotFoundError(f"no file is meant by {files!r}")
    return found


def _given(files: Any) -> Iterator[tuple[Any, Any]]:
    if _is_table(files):
        yield files, None
    elif isinstance(files, str):
        # Patterns of one text may fit a file twice, which is one file.
        pairs = [_paths.split_path(one) for one in _braces(files)]
        yield from dict.fromkeys((match, inner) for path, inner in pairs for match in _matches(path))
    elif isinstance(files, os.PathLike):
        yield from ((match, None) for match in _matches(_paths.whole(files)))
    elif hasattr(files, "read"):
        yield files, None
    elif hasattr(files, "items"):
        for path, inner in files.items():
            for match in _matches(_paths.whole(path)):
                yield match, inner
    elif hasattr(files, "__iter__"):
        for one in files:
            yield from _given(one)
    else:
        raise TypeError(f"files are paths, {{path: tree}}, opened trees, or a list of these, not {files!r}")


def _is_table(what: Any) -> bool:
    return isinstance(what, HasBranches | HasFields)


def _braces(text: str) -> list[str]:
    """The texts that ``{a,b}`` in one stands for."""
    begin, end = text.find("{"), text.find("}")
    if begin < 0 or end < begin or os.path.exists(text):
        return [text]
    return [one for part in text[begin + 1 : end].split(",") for one in _braces(text[:begin] + part + text[end + 1 :])]


def _matches(path: Any) -> list[Any]:
    if not isinstance(path, str) or "://" in path or not any(c in path for c in "*?[") or os.path.exists(path):
        return [path]
    return sorted(glob(path, recursive=True))


def _tree(path: Any, inner: Any, allow_missing: bool, options: dict[str, Any]) -> Any:
    """The tree that is meant, or ``None`` if it may be missing and is."""
    if _is_table(path):
        return path
    found = open_at(path, None, options)
    try:
        if not isinstance(found, ReadOnlyDirectory):
            return found
        if inner is not None:
            if allow_missing and inner not in found:
                found.close()
                return None
            tree = found[inner]
            if not _is_table(tree):
                raise ValueError(f"{inner!r} in {found.file_path} is no tree, but {tree!r}")
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


def iterate(
    files: Any,
    expressions: Any = None,
    cut: str | None = None,
    *,
    report: bool = False,
    library: Any = "ak",
    allow_missing: bool = False,
    **options: Any,
) -> Iterator[Any]:
    """Reads the trees of several files, some entries at a time.

    Args:
        files: Paths (with patterns), ``{path: tree}``, opened trees, or a list of these.
        expressions: As in ``TTree.arrays``.
        cut: As in ``TTree.arrays``.
        report: Whether each step comes with a report of its place.
        library: As in ``TTree.arrays``.
        allow_missing: Whether files without the tree or the branches are passed over.
        options: As in ``TTree.iterate`` and ``open``.
    """
    opening = {name: options.pop(name) for name in list(options) if name in _options.NO_EFFECT}
    library = library_of(library)
    offset = 0
    for path, inner in _files(files):
        tree = _tree(path, inner, allow_missing, opening)
        if tree is None:
            continue
        with tree:
            steps = tree.iterate(expressions, cut, report=True, library=library, **_for(tree, options))
            try:
                for found, place in steps:
                    moved = _moved(found, offset)
                    yield (moved, place.to_global(offset)) if report else moved
            except KeyInFileError:
                if not allow_missing:
                    raise
                continue
            offset += tree.num_entries


def _for(tree: Any, options: dict[str, Any]) -> dict[str, Any]:
    """The filters that a tree or an ntuple has."""
    absent = "filter_field" if not hasattr(tree, "fields") else "filter_branch"
    return {name: value for name, value in options.items() if name != absent}


def _moved(found: Any, offset: int) -> Any:
    """Moves the index of pandas, which counts the entries of all files."""
    if offset and type(found).__module__.startswith("pandas"):
        found.index = (
            type(found.index)(found.index.start + offset, found.index.stop + offset)
            if hasattr(found.index, "start")
            else found.index + offset
        )
    elif isinstance(found, tuple | list):
        return type(found)(_moved(one, offset) for one in found)
    elif isinstance(found, dict):
        return {name: _moved(one, offset) for name, one in found.items()}
    return found


def concatenate(
    files: Any,
    expressions: Any = None,
    cut: str | None = None,
    *,
    entry_start: int | None = None,
    entry_stop: int | None = None,
    library: Any = "ak",
    allow_missing: bool = False,
    **options: Any,
) -> Any:
    """Reads the trees of several files into one.

    Args:
        files: As in `iterate`.
        expressions: As in ``TTree.arrays``.
        cut: As in ``TTree.arrays``.
        entry_start: The first entry, counted in all files.
        entry_stop: The entry after the last.
        library: As in ``TTree.arrays``.
        allow_missing: As in `iterate`.
        options: As in ``TTree.arrays`` and ``open``.
    """
    opening = {name: options.pop(name) for name in list(options) if name in _options.NO_EFFECT}
    library = library_of(library)
    given = [(path, inner) for path, inner in _files(files)]
    bounded = entry_start is not None or entry_stop is not None
    lengths: list[int] = []
    if bounded:
        for path, inner in given:
            tree = _tree(path, inner, allow_missing, opening)
            lengths.append(0 if tree is None else tree.num_entries)
            if tree is not None and tree is not path:
                tree.close()
    start, stop = entry_range(sum(lengths), entry_start, entry_stop) if bounded else (None, None)
    parts: list[Any] = []
    offset = 0
    for at, (path, inner) in enumerate(given):
        if (
            start is not None
            and stop is not None
            and bounded
            and ((offset + lengths[at] <= start or offset >= stop) and not (at == len(given) - 1 and not parts))
        ):
            offset += lengths[at]
            continue
        tree = _tree(path, inner, allow_missing, opening)
        if tree is None:
            continue
        with tree:
            length = tree.num_entries
            span: dict[str, Any] = {}
            if start is not None and stop is not None:
                span = {
                    "entry_start": min(length, max(0, start - offset)),
                    "entry_stop": min(length, max(0, stop - offset)),
                }
            try:
                found = tree.arrays(expressions, cut, library=library, **span, **_for(tree, options))
            except KeyInFileError:
                if not allow_missing:
                    raise
                # The entries count, as they did for the first and the last one.
                offset += length
                continue
            parts.append(_moved(found, offset))
            offset += length
    if not parts:
        return library.group({}, [], options.get("how"), 0, 0)
    return parts[0] if len(parts) == 1 else library.concatenate(parts)


def num_entries(paths: Any, **options: Any) -> Iterator[tuple[str, str, int]]:
    """The number of entries of each file: path, tree and number."""
    _options.refuse("num_entries", options)
    for path, inner in _files(paths):
        tree = _tree(path, inner, False, options)
        with tree:
            yield tree.file_path, inner if inner is not None else tree.name, tree.num_entries
