"""Several files: `iterate`, `concatenate` and `num_entries`, as uproot has them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from glob import glob
from typing import Any

from forthwith import _stores
from forthwith._errors import ForthwithError, KeyInFileError
from forthwith.uproot import _options
from forthwith.uproot._alike import AlikeTrees
from forthwith.uproot._branches import HasBranches, entry_range
from forthwith.uproot._file import ReadOnlyDirectory
from forthwith.uproot._library import Library, library_of
from forthwith.uproot._ntuple_fields import HasFields
from forthwith.uproot._open import open_at, split, whole
from forthwith.uproot._options import with_own_options

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


def _files(files: Any, options: dict[str, Any] | None = None) -> list[tuple[Any, Any]]:
    """Files and the object in each."""
    found = files_with_steps(files, options or {})
    if any(steps is not None for *_, steps in found):
        raise TypeError("steps of files are for uproot.dask only")
    return [(path, inner) for path, inner, _ in found]


def _given(files: Any, options: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    if _is_table(files):
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


def _is_table(what: Any) -> bool:
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


def _tree(path: Any, inner: Any, allow_missing: bool, options: dict[str, Any]) -> Any:
    """The tree of a file, or ``None`` if it may be missing and is."""
    if _is_table(path):
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
            if not _is_table(tree):
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
    options, opening = _options.apart("iterate", options)
    library = library_of(library)
    offset = 0
    lacking: KeyInFileError | None = None
    for path, inner in _files(files, opening):
        tree = _tree(path, inner, allow_missing, opening)
        if tree is None:
            continue
        with _closing(tree, path):
            steps = tree.iterate(expressions, cut, report=True, library=library, **_for(tree, options))
            try:
                for found, place in steps:
                    moved = _moved(found, offset)
                    yield (moved, place.to_global(offset)) if report else moved
            except KeyInFileError as error:
                if allow_missing:
                    continue
                # A tree without entries has nothing to lack, unless no other tree has entries either.
                if tree.num_entries:
                    raise
                lacking = lacking or error
            offset += tree.num_entries
    if lacking is not None and not offset:
        raise lacking


def _for(tree: Any, options: dict[str, Any]) -> dict[str, Any]:
    """The arguments that a tree or an ntuple has."""
    return {name: value for name, value in options.items() if name != "filter_field" or isinstance(tree, HasFields)}


def _moved(found: Any, offset: int) -> Any:
    """Moves the index of pandas, which counts the entries of all files."""
    if offset and type(found).__module__.startswith("pandas"):
        found.index = (
            type(found.index)(found.index.start + offset, found.index.stop + offset)
            if hasattr(found.index, "start")
            else found.index + offset
        )
    elif isinstance(found, tuple | list):
        # A column that was asked for twice is one object.
        moved = {key: _moved(one, offset) for key, one in {id(one): one for one in found}.items()}
        return type(found)(moved[id(one)] for one in found)
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
    options, opening = _options.apart("concatenate", options)
    library = library_of(library)
    given = _files(files, opening)
    if (alike := AlikeTrees.of(given, opening)) is not None:
        found = _at_once(alike, given[0], expressions, cut, (entry_start, entry_stop), library, options, opening)
        if found is not None:
            return found
    start, stop = 0, sys.maxsize
    if entry_start is not None or entry_stop is not None:
        entries = [_entries(path, inner, allow_missing, opening) for path, inner in given]
        start, stop = entry_range(sum(entries), entry_start, entry_stop)
    parts: list[Any] = []
    instead = _Instead()
    offset = 0
    for path, inner in given:
        tree = _tree(path, inner, allow_missing, opening)
        if tree is None:
            continue
        with _closing(tree, path):
            length = tree.num_entries
            span = min(length, max(0, start - offset)), min(length, max(0, stop - offset))

            def read(tree: Any = tree, span: tuple[int, int] = span) -> Any:
                first, last = span
                reading = {"entry_start": first, "entry_stop": last, "library": library, **_for(tree, options)}
                return tree.arrays(expressions, cut, **reading)

            if span[0] == span[1]:
                instead.offer(tree, read)
            else:
                try:
                    parts.append(_moved(read(), offset))
                except KeyInFileError:
                    if not allow_missing:
                        raise
            # The entries of files that lack a branch count, too.
            offset += length
    if not parts:
        return instead.take(library.group({}, [], options.get("how"), 0, 0), allow_missing)
    return parts[0] if len(parts) == 1 else library.concatenate(parts)


def _at_once(
    alike: AlikeTrees,
    first: tuple[Any, Any],
    expressions: Any,
    cut: str | None,
    bounds: tuple[Any, Any],
    library: Library,
    options: dict[str, Any],
    opening: dict[str, Any],
) -> Any | None:
    """The branches of all files, if these are alike; ``None`` if they are read one after the other."""
    try:
        tree = _tree(*first, False, opening)
    except (ForthwithError, OSError, LookupError, TypeError, ValueError):
        return None
    with _closing(tree, first[0]):
        return alike.arrays(tree, expressions, cut, bounds, library, options)


class _Instead:
    """What there is instead of arrays where no tree has entries: the first empty arrays, or the first error."""

    def __init__(self) -> None:
        self._arrays: Any = None
        self._error: KeyInFileError | None = None

    def offer(self, tree: Any, read: Callable[[], Any]) -> None:
        """Reads no entries of a tree; those of a tree with branches are what there is."""
        if self._arrays is None:
            try:
                arrays = read()
            except KeyInFileError as error:
                self._error = self._error or error
            else:
                self._arrays = arrays if len(tree) else None

    def take(self, nothing: Any, allow_missing: bool) -> Any:
        """The arrays; `nothing` if there are none.

        Raises:
            KeyInFileError: No tree has the branches, unless they may be missing.
        """
        if self._arrays is None and self._error is not None and not allow_missing:
            raise self._error
        return nothing if self._arrays is None else self._arrays


@contextmanager
def _closing(tree: Any, path: Any) -> Iterator[None]:
    """Closes a tree afterwards, unless it was given as an opened one."""
    try:
        yield
    finally:
        if tree is not path:
            tree.close()


def _entries(path: Any, inner: Any, allow_missing: bool, opening: dict[str, Any]) -> int:
    """The number of entries of the tree of a file; 0 of one that may be missing and is."""
    tree = _tree(path, inner, allow_missing, opening)
    if tree is None:
        return 0
    with _closing(tree, path):
        return int(tree.num_entries)


def num_entries(paths: Any, **options: Any) -> Iterator[tuple[str, str, int]]:
    """The number of entries of each file: path, tree and number."""
    _options.refuse("num_entries", options)
    for path, inner in _files(paths, options):
        tree = _tree(path, inner, False, options)
        with _closing(tree, path):
            yield tree.file_path, inner if inner is not None else tree.name, tree.num_entries
