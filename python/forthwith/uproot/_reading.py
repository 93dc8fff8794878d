"""Reading columns: many at once, groups of branches, and the same bytes as another dtype."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from forthwith._packages import package
from forthwith.uproot._cache import key_of
from forthwith.uproot._custom import AsBinary, CustomInterpretation
from forthwith.uproot._custom import array as custom_array
from forthwith.uproot._library import Awkward, Library, NumPy
from forthwith.uproot._reinterpret import reinterpreted
from forthwith.uproot._wanted import Wanted, check


def columns(
    tree: Any, wanted: list[Wanted], start: int, stop: int, library: Library, owner: Any = None, cache: Any = None
) -> dict[str, Any]:
    """The columns by their names; those that a mapping has for their owner are not read."""
    if cache is not None:
        return _kept(tree, wanted, start, stop, library, owner, cache)
    ours = tree.forthwith
    fields = indexes(wanted)
    arrays = []
    if fields:
        plan = ours._core.plan(fields, start, stop)
        tree.file.source.num_requested_bytes += plan.stored_bytes
        arrays = ours._core.read(plan)
    return named(wanted, dict(zip(fields, arrays, strict=True)), (start, stop), library)


def steps(
    tree: Any, wanted: list[Wanted], start: int, stop: int, step: int, library: Library
) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """As `columns`, so many entries at a time: with the first entry of each step, and the one after its last.

    Steps that are smaller than baskets are read together, so that no basket is decompressed for each of them.
    """
    ours = tree.forthwith
    fields = indexes(wanted)
    if not fields:
        for first in range(start, stop, step):
            last = min(first + step, stop)
            yield first, last, named(wanted, {}, (first, last), library)
        return
    reader = ours._core.batches(fields, start, stop, step)
    stored = stored_bytes(tree, fields)
    while (found := reader.read()) is not None:
        first, last, arrays, _ = found
        count_request(tree, stored, first, last)
        yield first, last, named(wanted, dict(zip(fields, arrays, strict=True)), (first, last), library)


def stored_bytes(tree: Any, fields: list[int]) -> float:
    """Stored bytes of some branches in an entry, on average."""
    ours = tree.forthwith
    return float(sum(ours._describe(field).stored_bytes for field in fields) / max(1, ours.num_entries))


def count_request(tree: Any, stored: float, first: int, last: int) -> None:
    """Adds bytes of some entries, about `stored` each, to the requested bytes of the file."""
    tree.file.source.num_requested_bytes += round(stored * last) - round(stored * first)


def indexes(wanted: list[Wanted]) -> list[int]:
    """The branches that are read."""
    return list(dict.fromkeys(index for one in wanted for index in _needed(one.branch)))


def named(wanted: list[Wanted], by_index: dict[int, Any], span: tuple[int, int], library: Library) -> dict[str, Any]:
    """The columns by their names, of arrays of branches by the positions of these."""
    out: dict[str, Any] = {}
    for one in wanted:
        if one.label not in out:
            out[one.label] = _column(one, by_index, span, library)
    return out


def _kept(
    tree: Any, wanted: list[Wanted], start: int, stop: int, library: Library, owner: Any, cache: Any
) -> dict[str, Any]:
    """The columns, from a mapping as far as it has them; the others are put there."""
    keys = {one.label: key_of(owner, one, start, stop, library) for one in wanted}
    out = {label: None if key is None else cache.get(key) for label, key in keys.items()}
    missing = [one for one in wanted if out[one.label] is None]
    for label, column in columns(tree, missing, start, stop, library).items():
        out[label], key = column, keys[label]
        if key is not None:
            cache[key] = column
    return out


def is_plain(branch: Any) -> bool:
    """Whether a column of a branch, or of all in it, is made of the arrays alone."""
    if branch._is_group:
        return all(is_plain(one) for one in branch.branches if _has_any(one))
    return not isinstance(branch.interpretation, CustomInterpretation | AsBinary)


def _needed(branch: Any) -> list[int]:
    if not branch._is_group:
        check(branch)
        return [branch._index]
    return [index for one in branch.branches if _has_any(one) for index in _needed(one)]


def _has_any(branch: Any) -> bool:
    """Whether something of a branch can be read."""
    return any(map(_has_any, branch.branches)) if branch._is_group else branch._is_readable


def _column(one: Wanted, by_index: dict[int, Any], span: tuple[int, int], library: Library) -> Any:
    branch, given = one.branch, one.interpretation
    start = span[0]
    if branch._is_group:
        if isinstance(library, NumPy):
            return _group(branch, by_index, span, library)
        return library.of_awkward(_group(branch, by_index, span, Awkward()), one.label, start)
    array = by_index[branch._index]
    own = branch.interpretation if given is None else given
    if isinstance(own, CustomInterpretation | AsBinary):
        return custom_array(branch, own, *span, library)
    if given is None or given == branch.interpretation:
        return library.one(array, branch, start)
    return library.of_awkward(reinterpreted(array, branch, given), one.label, start)


def _group(branch: Any, by_index: dict[int, Any], span: tuple[int, int], library: Library) -> Any:
    """The branches in a branch: a record of them, or a dict of NumPy arrays."""
    parts = {}
    for one in branch.branches:
        if _has_any(one):
            parts[one.name] = _column(Wanted(one.name, one), by_index, span, library)
    if isinstance(library, NumPy):
        return parts
    ak = package("awkward")
    layouts = [part.layout for part in parts.values()]
    length = len(layouts[0]) if layouts else 0
    return ak.Array(ak.contents.RecordArray(layouts, list(parts), length=length))


def documented(column: Any, branch: Any, wish: Any) -> Any:
    """An Awkward Array with the title of its branch as documentation, or with other parameters."""
    ak = package("awkward")
    parameters = dict(wish) if isinstance(wish, dict) else {"__doc__": branch.title}
    found = {
        name: getattr(branch, value, value) if isinstance(value, str) else value for name, value in parameters.items()
    }
    for name, value in found.items():
        column = ak.with_parameter(column, name, value)
    return column
