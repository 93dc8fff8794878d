"""Steps over the files of a chain, with one call for each step and one tree for each schema."""

from __future__ import annotations

from contextlib import nullcontext

from forthwith import _forthwith
from forthwith._entries import step_size
from forthwith._errors import ForthwithError
from forthwith._stores import flat
from forthwith._tree import damage
from forthwith._tree.query import COMPUTED, NOTHING, Query
from forthwith._tree.read import selection_of, together
from forthwith._tree.walk import Report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, TypeAlias

    from forthwith._interop.base import Library
    from forthwith._paths import Constants
    from forthwith._tree.chain import Chain
    from forthwith._tree.common import Common, PlainColumns
    from forthwith._tree.damage import Loss
    from forthwith._tree.options import ReadOptions
    from forthwith._tree.read import Columns
    from forthwith._tree.tree import Tree

    # #: Path of each file, path of the table in it, and Hive partition columns.
    Parts: TypeAlias = list[tuple[str, str, Constants]]
    # #: The first entry, and the one after the last, or ``None`` for the end.
    Bounds: TypeAlias = tuple[int, int | None]


class ChainReport(Report):
    """The place of a step, in its file and in the chain."""

    def __init__(self, report: Report, offset: int) -> None:
        super().__init__(report.tree, report.start, report.stop)
        self.lost = report.lost
        self._offset = offset

    @property
    def global_entry_start(self) -> int:
        """First entry, counted over all files."""
        return self.start + self._offset

    @property
    def global_entry_stop(self) -> int:
        """Entry after the last, counted over all files."""
        return self.stop + self._offset


class FileReport(ChainReport):
    """The report of a step whose tree is opened on demand."""

    def __init__(self, file: StepFile, start: int, stop: int, offset: int, lost: list[Loss]) -> None:
        self.tree_entry_start = start
        self.tree_entry_stop = stop
        self.lost = lost
        self._file = file
        self._offset = offset

    @property
    def tree(self) -> Tree:
        """The tree, opened on first access."""
        return self._file.tree

    @property
    def file_path(self) -> str:
        """Path of the file."""
        return self._file.path


class StepFile:
    """A file whose steps are being read."""

    def __init__(self, chain: Chain, at: int, path: str) -> None:
        self.at = at
        self.path = path
        self._chain = chain
        self._tree: Tree | None = None

    @property
    def tree(self) -> Tree:
        """The tree of the file, opened on first access."""
        if self._tree is None:
            self._tree = self._chain._open(self.at)
        return self._tree


class ChainStep:
    """The result and the place of a step.

    Attributes:
        made: The converted arrays.
        at: Number of the file.
        path: Path of the file.
        table: Path of the table in the file.
        start: The first entry, relative to the file.
        stop: The entry after the last.
        offset: Number of entries in preceding files.
        lost: The losses.
        tree: The tree, if it was opened for this file only.
    """

    __slots__ = ("at", "lost", "made", "offset", "path", "start", "stop", "table", "tree")

    def __init__(
        self,
        made: Any,
        file: tuple[int, str, str],
        entries: tuple[int, int, int],
        lost: list[Loss],
        tree: Tree | None,
    ) -> None:
        self.made = made
        self.at, self.path, self.table = file
        self.start, self.stop, self.offset = entries
        self.lost = lost
        self.tree = tree


class ChainSteps:
    """Reads the files of a chain in steps.

    One tree is opened for each schema, to resolve its columns; other files are read without a tree. Files
    that cannot be opened by name, or that are read with friends, need a tree each.

    Args:
        chain: The files.
        common: The columns.
        read: The options of the read.
        size: Number of entries or memory of a step; ``None`` for one step per file.
        bounds: The range of entries, counted over all files.
    """

    def __init__(
        self,
        chain: Chain,
        common: Common | PlainColumns,
        read: ReadOptions,
        size: int | str | None,
        bounds: Bounds,
    ) -> None:
        self._chain = chain
        self._common = common
        self._read = read
        self._bounds = bounds
        self._into = read.into()
        parts = chain._parts_by_name()
        self._by_name = parts is not None and common.is_of_all and common.chooses_by_schema
        choice = common.choice
        entries, memory = (None, None) if size is None else step_size(size)
        self._reader = _forthwith.ChainReader(
            parts or [("", "", []) for _ in range(len(chain))],
            list(choice.aliases.items()),
            choice.cut,
            choice.entries.tobytes() if self._by_name and choice.entries is not None else None,
            *bounds,
            entries=entries,
            bytes=memory,
            bits=self._into.takes_bits,
            errors=read.errors,
            options=chain._settings.view,
            store=flat(chain._settings.options["storage_options"]),
        )
        # Open trees: one for each schema, and that of a file that is read on its own.
        self._schemas: dict[int, tuple[Tree, Columns]] = {}
        self._begun: tuple[Tree, Columns] | None = None
        # Number of the schema that the converter is set up for.
        self._shown: int | None = None
        # Whether a file has entries to read, and the numbers of skipped files.
        self._found = False
        self._left_out: set[int] = set()
        self._first = 0
        # The tree whose columns the last step has.
        self._source: Tree | None = None

    @property
    def source(self) -> Tree:
        """Tree whose columns the last step has, which is that of its file or of another file with the same schema."""
        assert self._source is not None
        return self._source

    def beside(self, columns: Columns, start: int, stop: int, into: Library) -> Any:
        """Reads other columns of some entries of the last step's file, by their positions in `source`."""
        fields, united = request(columns)
        arrays = self._reader.read_beside(fields, united, start, stop, bits=into.takes_bits, threads=self._read.threads)
        into.about(self.source, columns)
        return into.together([label for label, _ in columns], arrays, start, stop)

    def steps(self) -> Iterator[ChainStep]:
        """Iterates over the steps."""
        # With an end, the number of required files is unknown, and none is opened ahead.
        opens_ahead = not self._by_name and self._bounds[1] is None
        at = -1
        try:
            with self._chain._ahead() if opens_ahead else nullcontext() as ahead:
                opened = self._chain._open if ahead is None else ahead.tree
                while (item := self._reader.read(self._read.threads, self._read.tick)) is not None:
                    before, (at, offset, step) = at, item
                    if at != before:
                        self._close_begun(step)
                    if step is None:
                        self._look_at(opened, at, offset)
                    else:
                        yield self._made(at, at != before, offset, step)
        finally:
            self.close()

    def close(self) -> None:
        """Closes all open trees."""
        self._close_begun(None)
        for tree, _ in self._schemas.values():
            tree.file.close()
        self._schemas.clear()

    def _close_begun(self, step: Any) -> None:
        if self._begun is not None and (step is None or step[0] is not None):
            self._begun[0].file.close()
            self._begun = None

    def _look_at(self, opened: Any, at: int, offset: int) -> None:
        """Opens a file and passes its columns to the reader, or skips it."""
        read = self._read
        try:
            tree = opened(at)
        except damage.CANNOT_OPEN as error:
            if at == len(self._chain) - 1 and len(self._left_out) == at:
                raise
            self._leave_out(at, offset, error)
            self._reader.skip(0)
            return
        whole, stays_open = tree, False
        try:
            tree = damage.sound(whole, read, offset)
            _, stop, some = entries_in(tree, offset, *self._bounds)
            if some:
                self._found = True
                self._begin(tree, offset, tree is whole)
                stays_open = True
                if read.bar is not None:
                    read.bar.part(at, len(self._chain))
            else:
                self._reader.skip(tree.num_entries if stop is None else tree._core.entries_up_to(stop))
        finally:
            if not stays_open:
                whole.file.close()

    def _leave_out(self, at: int, offset: int, error: ForthwithError) -> None:
        """Reports that a file cannot be opened.

        Raises:
            ForthwithError: Files may not be skipped.
        """
        if self._read.errors != "skip":
            raise error
        if at not in self._left_out:
            damage.lose_file(self._chain.files[at], offset, error, self._read)
            self._left_out.add(at)

    def _begin(self, tree: Tree, offset: int, is_whole: bool) -> None:
        columns = self._common.of(tree, offset)
        damage.check(columns, self._read)
        self._into.about(tree, columns, offset)
        if not self._by_name or not is_whole or self._into.depends_on_file:
            self._reader.begin(selection_of(tree, columns))
            self._begun, self._shown = (tree, columns), None
            return
        fields, united = request(columns)
        self._shown, forgotten = self._reader.begin_like(tree._core, fields, united)
        self._schemas[self._shown] = tree, columns
        for number in forgotten:
            self._schemas.pop(number)[0].file.close()

    def _made(self, at: int, is_first: bool, offset: int, step: Any) -> ChainStep:
        schema, path, table, start, stop, arrays, kept, lost = step
        into, bar = self._into, self._read.bar
        tree, columns = self._begun if schema is None and self._begun is not None else self._schemas[schema]
        self._source = tree
        if schema is not None and schema != self._shown:
            into.about(tree, columns, offset)
            self._shown = schema
        if bar is not None:
            if is_first:
                bar.part(at, len(self._chain))
                self._first = start
            bar.reached((stop - self._first) / max(1, self._reader.likely_entries() - self._first))
        labels = [label for label, _ in columns]
        if kept is None:
            made = into.together(labels, arrays, start + offset, stop + offset)
        else:
            made = into.chosen(labels, arrays, kept, offset)
        losses = [damage.Loss(*one) for one in lost]
        return ChainStep(made, (at, path, table), (start, stop, offset), losses, tree if schema is None else None)

    def first_columns(self) -> None:
        """Resolves the columns in the first tree that can be opened, if no file has entries to read.

        Raises:
            ForthwithError: No tree can be opened, or it lacks columns.
        """
        with self._first_tree() as tree:
            damage.check(self._common.of(tree, 0), self._read)

    def nothing(self) -> Any:
        """Returns an empty result, with the types of the first tree that can be opened."""
        with self._first_tree() as whole:
            tree, _ = damage.around_gaps(whole) if self._read.errors != "raise" else (whole, None)
            columns, end = self._common.of(tree, 0), tree.num_entries
            damage.check(columns, self._read)
            return together(tree, columns, end, end, self._read, self._into)

    def _first_tree(self) -> Tree:
        last = len(self._chain) - 1
        for at in range(last):
            try:
                return self._chain._open(at)
            except damage.CANNOT_OPEN as error:
                self._leave_out(at, 0, error)
        return self._chain._open(last)

    @property
    def has_found(self) -> bool:
        """Whether a file with entries to read was found."""
        return self._found


def steps(
    chain: Chain, common: Common, read: ReadOptions, size: int | str, bounds: Bounds, report: bool
) -> Iterator[Any]:
    """Iterates over the steps, as `Chain.iterate` returns them."""
    walk = ChainSteps(chain, common, read, size, bounds)
    file: StepFile | None = None
    with read.one_bar():
        for step in walk.steps():
            if not report:
                if step.lost:
                    damage.warn(step.table, step.lost)
                yield step.made
                continue
            if step.tree is not None:
                tree_report = Report(step.tree, step.start, step.stop, step.lost)
                yield step.made, ChainReport(tree_report, step.offset)
                continue
            if file is None or file.at != step.at:
                file = StepFile(chain, step.at, step.path)
            yield step.made, FileReport(file, step.start, step.stop, step.offset, step.lost)
        if not walk.has_found:
            walk.first_columns()


def columns_of(common: Common, first: Tree) -> Columns:
    """Returns the columns of the first tree; none if they cannot be resolved."""
    try:
        return common.anew().of(first, 0)
    except ForthwithError:
        return []  # of a file without entries, which is not read, or of each of them


def request(columns: Columns) -> tuple[list[tuple[str, int | None]], list[Any]]:
    """Returns labels and positions of columns (``None`` if computed), and columns with a common type."""
    united = columns.united if isinstance(columns, Query) else []
    return [(label, None if at == COMPUTED else at) for label, at in columns], united


def choice_of(columns: Columns) -> tuple[list[tuple[str, str]], str | None]:
    """Returns aliases with their expressions, and the filter."""
    choice = columns.choice if isinstance(columns, Query) else NOTHING
    return list(choice.aliases.items()), choice.cut


def entries_in(tree: Tree, offset: int, start: int, stop: int | None) -> tuple[int, int | None, bool]:
    """Returns the part of a range within a tree after ``offset`` entries, and whether it has entries."""
    before = max(0, start - offset)
    behind = None if stop is None else max(0, stop - offset)
    return before, behind, tree._core.entries_up_to(before + 1) > before and (behind is None or behind > before)
