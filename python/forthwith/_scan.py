"""Trees as lazy frames of polars: only columns, entries and files that a query needs are read."""

from __future__ import annotations

from importlib import import_module

from forthwith._entries import step_size as step_size_of
from forthwith._errors import RequestError
from forthwith._packages import package
from forthwith._predicates import as_cut
from forthwith._tree.chain import Chain
from forthwith._tree.tree import Tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from typing import Any

    from forthwith._tree.read import Names


def scan(
    files: Any, names: Names = None, *, step_size: int | str = "100 MB", threads: int | None = None, **options: Any
) -> Any:
    """A ``polars.LazyFrame`` of a table or of several, which reads when it is collected.

    A query reads the columns that it uses and no others. Columns of a filter are read first, and the rest only of steps in
    which an entry passes; row groups in which none can by their statistics are not read at all. ``head`` reads no more
    entries than it gives.

    Args:
        files: As in `concatenate`; an open `Tree` or `Chain`.
        names: As in `Tree.arrays`.
        step_size: The entries, or the memory of all columns of the query, that are read at a time.
        threads: As in `Tree.arrays`.
        options: As in ``open``.

    Raises:
        MissingPackageError: polars is not installed.
        KeyInFileError: There is no branch of a name.
    """
    pl = package("polars")
    entries, memory = step_size_of(step_size)
    chain = files if isinstance(files, Tree | Chain) else Chain(files, **options)
    trees = _trees(chain)
    # No entry is read for the types.
    schema = next(trees).arrays(names, entry_stop=0, library="pl").schema
    trees.close()
    everything = list(schema)

    def source(columns: list[str] | None, predicate: Any, rows: int | None, _: int | None) -> Iterator[Any]:
        wanted = everything if columns is None else [name for name in everything if name in columns]
        needed = [] if predicate is None else [name for name in everything if name in predicate.meta.root_names()]
        cut = None if predicate is None else as_cut(predicate, schema)
        left = rows
        for tree in _trees(chain):
            for start, stop in _steps(tree, list(dict.fromkeys(wanted + needed)), left, entries, memory):
                for begin, end in _promising(tree, cut, start, stop):
                    yield _step(pl, tree, wanted, needed, predicate, begin, end, threads)
                left = None if left is None else left - (stop - start)
            if left is not None and left <= 0:
                return

    plugins = import_module("polars.io.plugins")
    return plugins.register_io_source(source, schema=schema, is_pure=True)


def _trees(chain: Tree | Chain) -> Generator[Tree, None, None]:
    if isinstance(chain, Tree):
        yield chain
    else:
        yield from chain


def _steps(
    tree: Tree, names: list[str], left: int | None, entries: int | None, memory: int | None
) -> Iterator[tuple[int, int]]:
    stop = tree.num_entries if left is None else min(left, tree._core.entries_up_to(left))
    if stop <= 0:
        return
    fields = [tree._find(name) for name in names]
    yield from tree._core.steps(fields, 0, stop, entries, None if entries else memory)


def _promising(tree: Tree, cut: str | None, start: int, stop: int) -> list[tuple[int, int]]:
    """The parts of a step in which a cut may hold by the file's statistics."""
    if cut is None:
        return [(start, stop)]
    try:
        selection = tree._core.select([], [], cut, None)
    except RequestError:
        # A column of another type here, or a number that it cannot be: polars says what that means.
        return [(start, stop)]
    return selection.promising(start, stop)


def _step(
    pl: Any,
    tree: Tree,
    wanted: list[str],
    needed: list[str],
    predicate: Any,
    start: int,
    stop: int,
    threads: int | None,
) -> Any:
    def read(names: list[str]) -> Any:
        some: Any = tree
        return some.arrays(names, entry_start=start, entry_stop=stop, library="pl", threads=threads)

    if predicate is None:
        return read(wanted).select(wanted) if wanted else pl.DataFrame(height=stop - start)
    if not needed:
        return read(wanted).filter(predicate).select(wanted)
    looked = read(needed)
    passed = looked.select(predicate).to_series()
    if not passed.any():
        return tree.arrays(wanted, entry_stop=0, library="pl").select(wanted)
    rest = [name for name in wanted if name not in needed]
    frame = looked.hstack(read(rest).get_columns()) if rest else looked
    return frame.filter(passed).select(wanted)
