"""Merging and partial copying of ROOT files, without decoding data that can be copied as stored."""

from __future__ import annotations

from contextlib import nullcontext
from os import fspath

from forthwith import _forthwith, _keywords
from forthwith._entries import whole
from forthwith._errors import RequestError
from forthwith._filters import predicate
from forthwith._open import open as open_file
from forthwith._paths import expand
from forthwith._progress import Bar
from forthwith._stores import flat, scheme
from forthwith._tree.query import numbers_of
from forthwith._writable.compression import setting

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping
    from typing import Any

    from forthwith._filters import Filter, Predicate
    from forthwith._writable.compression import Compression

_MERGE = ("filter_name", "filter_object", "entries", "compression", "common", "threads", "progress", "storage_options")
# Upper bound of entry numbers.
_MOST = (1 << 63) - 1


def merge(
    files: Any,
    path: str | os.PathLike[str],
    *,
    filter_name: Filter = None,
    filter_object: Filter = None,
    entries: Any = None,
    compression: Compression | str | int | None = "default",
    common: bool = False,
    threads: int | None = None,
    progress: bool | Callable[[int, int], object] = False,
    storage_options: Mapping[str, Any] | None = None,
    **unknown: Any,
) -> dict[str, int]:
    """Merges the objects of one or more ROOT files into a new file.

    Trees with the same path are concatenated. Their baskets are copied as stored, whatever classes their
    branches hold; only baskets, and clusters of RNTuples, that are selected in part are decoded. Histograms,
    graphs, collections and parameters with the same path are merged by ROOT's rules; other objects with the
    same path that differ are all kept, as cycles in the order of the files. The file gets its name when it is
    complete.

    Args:
        files: A path, a pattern, or a list of them.
        path: The path of the new file. As in `recreate`, an existing file of this name is replaced, unless it
            is one of the inputs; a name with the extension of another format is an error.
        filter_name: The branches to copy from all trees, and the fields from all RNTuples: names, paths,
            globs, regular expressions or functions, as in `Tree.arrays`. Counters of arrays and other
            required branches are added. A tree without a matching branch is an error; exclude it with
            ``filter_object``.
        filter_object: The objects to copy, selected by path in the same way.
        entries: The entries to copy from each table, numbered over all files: a ``slice`` without a step,
            which may end after the last entry; a mask as long as each table; or numbers of existing entries,
            in ascending order.
        compression: The compression of all data. By default, baskets keep their compression.
        common: Whether to omit branches that not all trees have, and trees without branches, instead of
            raising an error.
        threads: The number of threads that compress.
        progress: Whether to show a progress bar, or a function that is called with the bytes processed and
            the total.
        storage_options: The options of object stores, as in ``open``: for all URLs among ``files``, and for
            ``path`` if it is a URL.
        unknown: Other arguments, which are an error.

    Returns:
        The number of entries of each tree, by path.

    Raises:
        RequestError: The name has the extension of another format, the trees store their branches
            differently, or the histograms have different bins (also a ``ValueError``).
        UnsupportedError: An object cannot be merged, or a branch cannot be copied in part.
        SourceError: A file cannot be read or written (also an ``OSError``).

    >>> import forthwith
    >>> forthwith.merge("part-*.root", "all.root")  # doctest: +SKIP
    {'Events': 200000}
    >>> forthwith.merge("all.root", "muons.root", filter_name="Muon_*", entries=slice(1000))  # doctest: +SKIP
    {'Events': 1000}
    """
    _keywords.refuse("merge", unknown, _MERGE)
    inputs = [_text(file, inner) for file, inner in expand(files, storage_options)]
    if not inputs:
        raise RequestError("no files to merge")
    if storage_options is not None and all(scheme(name) is None for name in (*inputs, fspath(path))):
        raise RequestError("storage_options are for URLs, and all files are paths")
    chosen = setting(compression, None)
    wanted = predicate(filter_object, "filter_object"), predicate(filter_name, "filter_name")
    objects, branches = _names(inputs, *wanted, storage_options)
    ranges, exist, mask = (None, False, None) if entries is None else _ranges(entries)
    with _bar(progress) as told:
        merged = _forthwith.root_merge(
            inputs,
            fspath(path),
            chosen,
            common,
            objects,
            branches,
            ranges,
            exist,
            mask,
            threads,
            told,
            flat(storage_options),
        )
    return dict(merged)


def _text(file: Any, inner: str | None) -> str:
    if inner is not None:
        raise RequestError(f"{file}:{inner} is an object of a file: filter_object says which are wanted")
    return str(fspath(file))


def _names(
    inputs: list[str],
    objects: Predicate | None,
    branches: Predicate | None,
    store: Mapping[str, Any] | None,
) -> tuple[set[str] | None, set[str] | None]:
    """Returns the paths of the selected objects and branches over all files; ``None`` for no filter."""
    if objects is None and branches is None:
        return None, None
    paths: set[str] = set()
    names: set[str] = set()
    trees: dict[str, set[str]] = {}
    for uri in inputs:
        file: Any = open_file(uri, storage_options=store if scheme(uri) else None)
        with file:
            found = {key.split(";")[0]: kind for key, kind in file.classnames().items()}
            for key, kind in found.items():
                if objects is not None and not objects(key):
                    continue
                paths.add(key)
                if branches is not None and kind in ("TTree", "TNtuple", "TNtupleD", "ROOT::RNTuple"):
                    tree: Any = file[key]
                    known = {branch.path: branch.name for branch in tree.values()}
                    names.update(path for path, name in known.items() if branches(path) or branches(name))
                    if kind != "ROOT::RNTuple" and known:
                        trees.setdefault(key, set()).update(known)
    _check_trees(trees, names)
    return paths if objects is not None else None, names if branches is not None else None


def _check_trees(trees: dict[str, set[str]], names: set[str]) -> None:
    """Raises an error if no branch of a tree is selected."""
    without = [key for key, known in trees.items() if known.isdisjoint(names)]
    if without and not names:
        few = ", ".join(list(trees[without[0]])[:3])
        raise RequestError(
            f"no branch of any tree passes filter_name, which is for names and paths within trees: {without[0]!r} has {few}"
        )
    if without:
        others = [key for key in trees if key not in without]
        instead = f"filter_object={others if len(others) > 1 else others[0]!r}" if others else "filter_object="
        raise RequestError(
            f"no branch of the tree {without[0]!r} passes filter_name, which is for the branches of all trees: "
            f"{instead} says which objects are written"
        )


def _ranges(entries: Any) -> tuple[list[tuple[int, int]], bool, int | None]:
    """Returns disjoint, ascending ranges, whether all entries must exist, and the length of the mask."""
    if isinstance(entries, slice | range):
        return _bounds(entries), isinstance(entries, range), None
    import numpy as np

    given, length = numbers_of(entries)
    numbers = np.frombuffer(given, np.uint64)
    if numbers.size == 0:
        return [], True, length
    falls = np.flatnonzero(numbers[1:] <= numbers[:-1])
    if falls.size:
        before, after = numbers[falls[0]], numbers[falls[0] + 1]
        raise RequestError(f"entries must be in ascending order: {before} comes before {after}")
    if int(numbers[-1]) >= _MOST:
        raise RequestError(f"there is no entry {numbers[-1]}")
    cuts = np.flatnonzero(np.diff(numbers) > 1) + 1
    firsts = numbers[np.concatenate(([0], cuts))]
    lasts = numbers[np.concatenate((cuts - 1, [numbers.size - 1]))]
    return [(int(first), int(last) + 1) for first, last in zip(firsts, lasts, strict=True)], True, length


def _bounds(entries: slice | range) -> list[tuple[int, int]]:
    """Returns the bounds of a slice or range; no bounds if it is empty."""
    bounds = (entries.start, entries.stop, entries.step)
    start, stop, step = (None if bound is None else whole(bound) for bound in bounds)
    known = all(bound is None or number is not None for bound, number in zip(bounds, (start, stop, step), strict=True))
    start, stop = start or 0, _MOST if stop is None else stop
    if not known or step not in (None, 1) or start < 0 or stop < 0:
        raise RequestError(f"entries must be a range counted from the first entry, with steps of one, not {entries!r}")
    start, stop = min(start, _MOST), min(stop, _MOST)
    return [(start, stop)] if start < stop else []


def _bar(progress: bool | Callable[[int, int], object]) -> Any:
    if progress is True:
        bar = Bar()
        return nullcontext(lambda done, total: bar(done, total, done, total))
    return nullcontext(None if progress is False else progress)
