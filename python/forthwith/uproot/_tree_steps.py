"""Trees of several files, read some entries at a time: one crossing for each step, and one look at a tree of each schema."""

from __future__ import annotations

from collections.abc import Iterator
from operator import index
from typing import Any

from forthwith import _forthwith
from forthwith._entries import memory_size
from forthwith._errors import ForthwithError, KeyInFileError
from forthwith._stores import flat
from forthwith.uproot._alike import named_parts
from forthwith.uproot._branches import Report
from forthwith.uproot._common_columns import Columns, columns_of
from forthwith.uproot._given_files import closing, tree_of
from forthwith.uproot._library import Library
from forthwith.uproot._ntuple_fields import HasFields
from forthwith.uproot._reading import count_request

# The step size of calls that do not name one.
_STEP = "100 MB"
# Steps of more entries are not counted by the chain.
_MOST = (1 << 64) - 1
# The last entry that a bound may name.
_MOST_ENTRIES = (1 << 63) - 1
# Arguments that say which entries are read, and how many at a time. Those of a range count the entries of each tree.
_STEPS = frozenset(("step_size", "entry_start", "entry_stop"))


class StepReport(Report):
    """The place of a step, whose tree is opened when it is asked for."""

    def __init__(self, read: ReadFile, tree_entry_start: int, tree_entry_stop: int, global_offset: int = 0) -> None:
        self._read, self._start, self._stop, self._offset = read, tree_entry_start, tree_entry_stop, global_offset

    @property
    def source(self) -> Any:
        """The tree that is read."""
        return self._read.tree

    @property
    def tree(self) -> Any:
        """The tree."""
        return self._read.tree

    @property
    def file(self) -> Any:
        """The file."""
        return self._read.tree.file

    @property
    def file_path(self) -> str:
        """The path of the file."""
        return self._read.path

    def to_global(self, global_offset: int) -> Report:
        """The place, behind a number of entries of other files."""
        return StepReport(self._read, self._start, self._stop, global_offset)

    def __repr__(self) -> str:
        return f"<Report start={self.start} stop={self.stop} source={self.source!r}>"


class ReadFile:
    """A file whose steps are read by the columns of another one.

    Attributes:
        number: Its number among all files.
        path: Its path.
    """

    def __init__(
        self, number: int, path: str, columns: Columns, given: tuple[Any, Any], opening: dict[str, Any]
    ) -> None:
        self.number, self.path = number, path
        self._columns, self._given, self._opening = columns, given, opening
        self._tree: Any = None
        self._stored = 0.0
        self._first = self._last = 0

    @property
    def tree(self) -> Any:
        """The tree, which is opened when it is asked for."""
        if self._tree is None:
            self._tree = tree_of(*self._given, False, self._opening)
            self._stored = self._columns.stored_bytes(self._tree)
            self._count(self._first, self._last)
        return self._tree

    def reach(self, first: int, last: int) -> None:
        """Counts a step."""
        if self._tree is not None:
            self._count(first, last)
        elif not self._last:
            self._first = first
        self._last = last

    def _count(self, first: int, last: int) -> None:
        count_request(self._tree, self._stored, first, last)

    def close(self) -> None:
        """Closes the tree, if it was opened."""
        if self._tree is not None:
            self._tree.close()


class Schema:
    """The columns of trees of one schema, and the tree in which they were chosen."""

    def __init__(self, number: int, tree: Any, columns: Columns) -> None:
        self.number, self.tree, self.columns = number, tree, columns
        self._stored = columns.stored_bytes(tree)

    def report(self, first: int, last: int) -> Report:
        """The place of a step of this tree."""
        count_request(self.tree, self._stored, first, last)
        return Report(self.tree, first, last)


class TreeSteps:
    """Reads the trees of several files step after step.

    A tree is opened of one file of each schema, to choose its columns. Trees that were opened by the caller, file objects, and
    calls whose result depends on more than the types of columns take a tree for each file.

    Args:
        given: Paths or opened trees, and the object in each.
        expressions: As in ``TTree.iterate``.
        cut: As in ``TTree.iterate``.
        library: What arrays become.
        allow_missing: Whether files without the tree or the branches are passed over.
        options: As in ``TTree.iterate``.
        opening: As in ``open``.
    """

    def __init__(
        self,
        given: list[tuple[Any, Any]],
        expressions: Any,
        cut: Any,
        library: Library,
        allow_missing: bool,
        options: dict[str, Any],
        opening: dict[str, Any],
    ) -> None:
        self._given, self._opening, self._allow_missing = given, opening, allow_missing
        self._request = expressions, cut
        self._library, self._options = library, options
        self._entries, self._memory = _step_size(options.get("step_size", _STEP))
        self._bounds = _bounds(options.get("entry_start"), options.get("entry_stop"))
        self._parts, settings = named_parts(given, opening)
        self._reader = _forthwith.ChainReader(
            self._parts,
            [],
            entries=self._entries,
            returns_empty=True,
            file_entries=self._bounds,
            options=settings.view,
            store=flat(settings.options["storage_options"]),
        )
        self._schemas: dict[int, Schema] = {}
        self._file: ReadFile | None = None
        self._lacking: KeyInFileError | None = None

    def steps(self) -> Iterator[tuple[Any, Report, int]]:
        """The result of each step, its place in its file, and the entries of the files before.

        Raises:
            KeyInFileError: No tree has entries, and one lacks a branch.
        """
        try:
            while (item := self._reader.read()) is not None:
                number, offset, step = item
                if step is None:
                    yield from self._look_at(number, offset)
                else:
                    yield *self._made(number, step), offset
        finally:
            self._close()
        if self._lacking is not None and not self._reader.entries_before():
            raise self._lacking

    def _look_at(self, number: int, offset: int) -> Iterator[tuple[Any, Report, int]]:
        """Opens a file and says how it is read, or reads it by its tree."""
        path, inner = self._given[number]
        tree = tree_of(path, inner, self._allow_missing, self._opening)
        if tree is None:
            self._reader.skip(0)
        elif not self._begin(number, tree):
            with closing(tree, path):
                for found, place in self._steps_of(tree):
                    yield found, place, offset

    def _begin(self, number: int, tree: Any) -> bool:
        """Reads a file, and those behind it of the same schema, by columns of its tree. False if that does not say all."""
        if not self._parts[number][0] or self._bounds is None or (self._entries is None and self._memory is None):
            return False
        options = {name: value for name, value in self._options.items() if name not in _STEPS}
        try:
            columns = columns_of(tree, *self._request, self._library, options, joins=False)
            if columns is None:
                return False
            schema = Schema(number, tree, columns)
            id, forgotten = self._reader.begin_like(
                tree.forthwith._core,
                columns.fields,
                [],
                expressions=(columns.aliases, columns.cut),
                payload=None if self._memory is None else (self._memory, columns.payload()),
                has_type_names=True,
            )
        except (ForthwithError, LookupError, TypeError, ValueError):
            return False
        self._schemas[id] = schema
        for old in forgotten:
            self._schemas.pop(old).tree.close()
        return True

    def _steps_of(self, tree: Any) -> Iterator[tuple[Any, Report]]:
        """The steps of a tree, whose errors are raised as they are."""
        options = dict(self._options)
        if not isinstance(tree, HasFields):
            options.pop("filter_field", None)
        try:
            yield from tree.iterate(*self._request, report=True, library=self._library, **options)
        except KeyInFileError as error:
            if self._allow_missing:
                self._reader.skip(0)
                return
            # A tree without entries has nothing to lack, unless no other tree has entries either.
            if tree.num_entries:
                raise
            self._lacking = self._lacking or error
        self._reader.skip(tree.num_entries)

    def _made(self, number: int, step: Any) -> tuple[Any, Report]:
        id, path, _, first, last, arrays, kept, _ = step
        schema = self._schemas[id]
        found = schema.columns.made(first, last, arrays, kept)
        if number == schema.number:
            return found, schema.report(first, last)
        if self._file is None or self._file.number != number:
            self._close_file()
            self._file = ReadFile(number, path, schema.columns, self._given[number], self._opening)
        self._file.reach(first, last)
        return found, StepReport(self._file, first, last)

    def _close_file(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _close(self) -> None:
        self._close_file()
        for schema in self._schemas.values():
            schema.tree.close()
        self._schemas.clear()


def _bounds(start: Any, stop: Any) -> tuple[int | None, int | None] | None:
    """The entries of each file; ``None`` of invalid bounds, which trees refuse."""
    try:
        given = [None if bound is None else index(bound) for bound in (start, stop)]
    except TypeError:
        return None
    # No file has more entries.
    first, last = (None if bound is None else max(-_MOST_ENTRIES, min(bound, _MOST_ENTRIES)) for bound in given)
    return first, last


def _step_size(size: Any) -> tuple[int | None, int | None]:
    """The entries of a step, or its decompressed bytes; neither of an invalid size, which trees refuse."""
    if isinstance(size, int):
        return (size, None) if 0 < size <= _MOST else (None, None)
    try:
        memory = memory_size(size, "memory_size")
    except (TypeError, ValueError):
        return None, None
    return None, memory if memory <= _MOST else None
