"""Some branches and entries of a tree, for whoever takes Arrow data."""

from __future__ import annotations

from forthwith import _read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from forthwith._branches import How, Library, Progress
    from forthwith._read import Columns
    from forthwith._tree import Tree


class Selection:
    """Some branches and entries of a tree, not read yet.

    pyarrow, polars, DuckDB, pandas and others take it as a table, through the Arrow C data interface. Each of them may read
    it as often as it likes; each time the file is read anew, one step at a time.
    """

    def __init__(
        self, tree: Tree, columns: Columns, start: int, stop: int, step_size: int | str, threads: int | None
    ) -> None:
        self._tree = tree
        self._columns = columns
        self._start = start
        self._stop = stop
        self._step_size = step_size
        self._threads = threads
        self._steps()  # an impossible step size is said at once

    @property
    def tree(self) -> Tree:
        """The tree."""
        return self._tree

    @property
    def num_entries(self) -> int:
        """Number of entries selected."""
        return self._stop - self._start

    def keys(self) -> list[str]:
        """The names of the branches selected."""
        return [label for label, _ in self._columns]

    def arrays(
        self,
        *,
        library: Library = "ak",
        how: How = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Any:
        """Reads all of it, as ``tree.arrays`` does."""
        into = _read.target(library, how)
        return into.read(self._tree, self._columns, self._start, self._stop, threads or self._threads, progress)

    def _steps(self) -> list[tuple[int, int]]:
        return _read.steps(self._tree, self._columns, self._start, self._stop, self._step_size)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """A stream of record batches, each read when it is pulled. A wish for other types is not fulfilled."""
        del requested_schema
        labels = [label for label, _ in self._columns]
        fields = [at for _, at in self._columns]
        return self._tree._core.stream(labels, fields, self._steps(), self._threads)

    def __arrow_c_schema__(self) -> object:
        """The Arrow types, for which no data are read."""
        return self._tree._core.schema([label for label, _ in self._columns], [at for _, at in self._columns])

    def __repr__(self) -> str:
        return f"<Selection of {len(self._columns)} branches, entries {self._start} to {self._stop}, of {self._tree!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        made_of = (self._tree, self._columns, self._start, self._stop, self._step_size, self._threads)
        return Selection, made_of
