"""Some branches and entries of a tree, for whoever takes Arrow data."""

from __future__ import annotations

from forthwith._entries import step_size as _step_size
from forthwith._tree import read, walk
from forthwith._tree.options import ReadOptions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from forthwith._interop.base import How, LibraryName
    from forthwith._tree.options import Progress
    from forthwith._tree.read import Columns
    from forthwith._tree.tree import Tree


class Selection:
    """Some branches and entries of a tree, not read yet.

    pyarrow, polars, DuckDB, pandas and others take it as a table, through the Arrow C data interface. Each of them may read
    it as often as it likes; each time the file is read anew, one step at a time.
    """

    def __init__(
        self, tree: Tree, columns: Columns, start: int, stop: int | None, step_size: int | str, threads: int | None
    ) -> None:
        self._tree = tree
        self._columns = columns
        self._start = start
        self._stop = stop
        self._step_size = step_size
        self._threads = threads
        _step_size(step_size)  # an impossible one is said at once

    @property
    def tree(self) -> Tree:
        """The tree."""
        return self._tree

    @property
    def num_entries(self) -> int:
        """Number of entries selected. In an Avro file that is known when all their blocks were looked for."""
        start, stop = self._range()
        return stop - start

    def keys(self) -> list[str]:
        """The names of the branches selected."""
        return [label for label, _ in self._columns]

    def arrays(
        self,
        *,
        library: LibraryName = "ak",
        how: How = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Any:
        """Reads all of it, as ``tree.arrays`` does."""
        options = ReadOptions(library=library, how=how, threads=threads or self._threads, progress=progress)
        return walk.arrays(self._tree, self._columns, *self._range(), options)

    def _range(self) -> tuple[int, int]:
        return read.entries_of(self._tree, self._start, self._stop)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """A stream of record batches, each read when it is pulled. A wish for other types is not fulfilled."""
        del requested_schema
        steps = read.walk(self._tree, self._columns, self._start, self._stop, self._step_size)
        labels = [label for label, _ in self._columns]
        return self._tree._core.stream(labels, [at for _, at in self._columns], steps, self._threads)

    def __arrow_c_schema__(self) -> object:
        """The Arrow types, for which no data are read."""
        return self._tree._core.schema([label for label, _ in self._columns], [at for _, at in self._columns])

    def __repr__(self) -> str:
        stop = "the end" if self._stop is None else self._stop
        return f"<Selection of {len(self._columns)} branches, entries {self._start} to {stop}, of {self._tree!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        made_of = (self._tree, self._columns, self._start, self._stop, self._step_size, self._threads)
        return Selection, made_of
