"""Trees as polars lazy frames: only the columns, entries and files that a query needs are read."""

from __future__ import annotations

from importlib import import_module

from forthwith._lazy import Lazy, are_few
from forthwith._packages import package
from forthwith._predicates import as_cut

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from forthwith._lazy_parts import Part
    from forthwith._tree.read import Names


def scan(
    files: Any, names: Names = None, *, step_size: int | str | None = None, threads: int | None = None, **options: Any
) -> Any:
    """Returns a ``polars.LazyFrame`` of one or more tables, which are read when it is collected.

    A query reads only the columns that it uses. The columns of a predicate are read first, and the others
    only for steps in which an entry passes; row groups excluded by their statistics are not read. ``head``
    reads no more entries than it returns.

    Args:
        files: Files as in `concatenate`, or an open `Tree` or `Chain`.
        names: The columns, as in `Tree.arrays`.
        step_size: The number of entries per step, or the memory of all columns of the query. Defaults to 100
            MB, or 20 MB for local files, of which several threads each read a step.
        threads: The number of threads, as in `Tree.arrays`.
        options: ``missing`` as in `Chain`; others as in ``open``.

    Raises:
        MissingPackageError: polars is not installed.
        KeyInFileError: A branch does not exist.
        RequestError: A column has another type than in the first file; raised when that file is read.
    """
    pl = package("polars")
    lazy = Lazy(files, library="pl", step_size=step_size, threads=threads, options=options)
    # The types are known without reading entries.
    schema = lazy.empty(names).schema
    everything = list(schema)
    numbers = _Numbers(pl)

    def source(columns: list[str] | None, predicate: Any, rows: int | None, _: int | None) -> Iterator[Any]:
        wanted = everything if columns is None else [name for name in everything if name in columns]
        needed = [] if predicate is None else [name for name in everything if name in predicate.meta.root_names()]
        cut = None if predicate is None else as_cut(predicate, schema)

        def step(part: Part) -> Any:
            return _step(pl, lazy, part, wanted, needed, predicate, schema, numbers)

        yield from lazy.parts(needed or wanted, list(dict.fromkeys(wanted + needed)), cut, rows, step)

    plugins = import_module("polars.io.plugins")
    return plugins.register_io_source(source, schema=schema, is_pure=True)


def _step(
    pl: Any,
    lazy: Lazy,
    part: Part,
    wanted: list[str],
    needed: list[str],
    predicate: Any,
    schema: Mapping[str, Any],
    numbers: _Numbers,
) -> Any:
    def checked(frame: Any, names: list[str]) -> Any:
        lazy.check(part, lambda name: str(frame.schema[name]), {name: str(schema[name]) for name in names})
        return frame

    if predicate is None:
        everything = checked(part.read(wanted), wanted) if wanted else pl.DataFrame(height=part.length)
        return everything.select(wanted)
    if not needed:
        return checked(part.read(wanted), wanted).filter(predicate).select(wanted)
    looked = checked(part.read(needed), needed)
    passed = looked.select(predicate).to_series()
    passed = passed.fill_null(False) if passed.null_count() else passed
    count = int(passed.sum())
    if not count:
        return pl.DataFrame(schema={name: schema[name] for name in wanted})
    few = more = places = None
    first, last = 0, part.length
    rest = [name for name in wanted if name not in needed]
    if are_few(count, part.length):
        places = numbers.up_to(part.length).filter(passed)
    if rest:
        few = part.read_some(rest, count, lambda: package("numpy").asarray(places))
    if rest and few is None:
        # Read only from the first to the last entry that passes.
        first, last = int(passed.arg_max()), _behind_last(passed) if places is None else int(places[-1]) + 1
        more = checked(part.read(rest, first, last), rest)

    def kept(columns: Any, first: int, last: int) -> dict[str, Any]:
        passing = passed[first:last] if last - first < len(passed) else passed
        here = places - first if first and places is not None else places
        # polars filters lists one by one, which is slower than gathering a few.
        return {
            one.name: one[here] if here is not None and one.dtype == pl.List else one.filter(passing) for one in columns
        }

    # Filter series, not frames: a query over a small frame costs as much as opening a file.
    found = kept([one for one in looked.get_columns() if one.name in wanted], 0, part.length)
    if few is not None:
        found.update({one.name: one for one in checked(few, rest).get_columns()})
    elif more is not None:
        found.update(kept(more.get_columns(), first, last))
    return pl.DataFrame([found[name] for name in wanted]) if wanted else pl.DataFrame(height=count)


class _Numbers:
    """Entry numbers within steps, cached since creating them takes as long as filtering.

    The numbers of long steps are not cached, and the cache is not pickled.
    """

    _MOST = 1 << 22

    def __init__(self, pl: Any) -> None:
        self._pl = pl
        self._all = pl.Series(dtype=pl.get_index_type())

    def up_to(self, count: int) -> Any:
        """Returns a Series of the first ``count`` numbers."""
        known = self._all
        if len(known) < count:
            known = self._pl.int_range(count, dtype=self._pl.get_index_type(), eager=True)
            if count <= self._MOST:
                self._all = known
        return known.head(count)

    def __reduce__(self) -> Any:
        return _Numbers, (self._pl,)


def _behind_last(passed: Any) -> int:
    """Returns the position after the last entry that passes; at least one must pass."""
    first, last = 0, len(passed)
    while last - first > 1:
        middle = (first + last) // 2
        if passed.slice(middle, last - middle).any():
            first = middle
        else:
            last = middle
    return last
