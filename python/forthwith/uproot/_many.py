"""Several files: `iterate`, `concatenate` and `num_entries`, as uproot has them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from forthwith._errors import ForthwithError, KeyInFileError
from forthwith._forthwith import redact
from forthwith.uproot import _options
from forthwith.uproot._alike import AlikeTrees
from forthwith.uproot._branches import entry_range
from forthwith.uproot._given_files import closing, files_of, tree_of
from forthwith.uproot._library import Library, library_of
from forthwith.uproot._ntuple_fields import HasFields
from forthwith.uproot._tree_steps import TreeSteps

# Files whose entries are counted together.
_TOGETHER = 32


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
    given = files_of(files, opening)
    walk = TreeSteps(given, expressions, cut, library, allow_missing, options, opening)
    for found, place, offset in walk.steps():
        moved = _moved(found, offset)
        yield (moved, place.to_global(offset)) if report else moved


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
    given = files_of(files, opening)
    if (alike := AlikeTrees.of(given, opening)) is not None:
        bounds = entry_start, entry_stop
        found = _at_once(alike, given[0], expressions, cut, bounds, library, options, opening)
        if found is None:
            opened = partial(_opened, given, opening)
            found = alike.runs(opened, expressions, cut, bounds, library, options)
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
        tree = tree_of(path, inner, allow_missing, opening)
        if tree is None:
            continue
        with closing(tree, path):
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
        tree = tree_of(*first, False, opening)
    except (ForthwithError, OSError, LookupError, TypeError, ValueError):
        return None
    with closing(tree, first[0]):
        return alike.arrays(tree, expressions, cut, bounds, library, options)


def _opened(given: list[tuple[Any, Any]], opening: dict[str, Any], at: int) -> Any:
    return tree_of(*given[at], False, opening)


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


def _entries(path: Any, inner: Any, allow_missing: bool, opening: dict[str, Any]) -> int:
    """The number of entries of the tree of a file; 0 of one that may be missing and is."""
    tree = tree_of(path, inner, allow_missing, opening)
    if tree is None:
        return 0
    with closing(tree, path):
        return int(tree.num_entries)


def num_entries(paths: Any, **options: Any) -> Iterator[tuple[str, str, int]]:
    """The number of entries of each file: path, tree and number."""
    _options.refuse("num_entries", options)
    given = files_of(paths, options)
    for first in range(0, len(given), _TOGETHER):
        some = given[first : first + _TOGETHER]
        alike = AlikeTrees.of(some, options)
        lengths = None if alike is None else alike.lengths
        if lengths is not None:
            for (path, inner), length in zip(some, lengths, strict=True):
                yield redact(path) if "://" in path else path, inner, length
            continue
        for path, inner in some:
            tree = tree_of(path, inner, False, options)
            with closing(tree, path):
                yield tree.file_path, inner if inner is not None else tree.name, tree.num_entries
