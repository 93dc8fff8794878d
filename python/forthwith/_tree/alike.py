"""Files with the branches of the first one, read as one: one crossing for all of them, or one for each step."""

from __future__ import annotations

from forthwith import _forthwith
from forthwith._entries import step_size
from forthwith._errors import ForthwithError
from forthwith._stores import flat
from forthwith._tree.query import COMPUTED, NOTHING, Query
from forthwith._tree.walk import Report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Any, TypeAlias

    from forthwith._interop.base import Library
    from forthwith._paths import Constants
    from forthwith._tree.chain import Chain
    from forthwith._tree.common import Common
    from forthwith._tree.options import ReadOptions
    from forthwith._tree.read import Columns
    from forthwith._tree.tree import Tree

    #: The path of each file, the table in it, and the columns that its folders say.
    Parts: TypeAlias = list[tuple[str, str, Constants]]
    #: The first entry, and the one after the last if that is not the last of all.
    Bounds: TypeAlias = tuple[int, int | None]


class ChainReport(Report):
    """Where a step lies, in its file and in all of them together."""

    def __init__(self, report: Report, offset: int) -> None:
        super().__init__(report.tree, report.start, report.stop)
        self.lost = report.lost
        self._offset = offset

    @property
    def global_entry_start(self) -> int:
        """First entry, counted in all files."""
        return self.start + self._offset

    @property
    def global_entry_stop(self) -> int:
        """Entry after the last, counted in all files."""
        return self.stop + self._offset


class FileReport(ChainReport):
    """The report of a step whose file has no tree until one is asked for."""

    def __init__(self, file: StepFile, start: int, stop: int, offset: int) -> None:
        self.tree_entry_start = start
        self.tree_entry_stop = stop
        self.lost = []
        self._file = file
        self._offset = offset

    @property
    def tree(self) -> Tree:
        """The tree, which is opened when it is asked for."""
        return self._file.tree

    @property
    def file_path(self) -> str:
        """Path of the file."""
        return self._file.path


class StepFile:
    """A file whose steps are read."""

    def __init__(self, chain: Chain, at: int, path: str) -> None:
        self.at = at
        self.path = path
        self._chain = chain
        self._tree: Tree | None = None

    @property
    def tree(self) -> Tree:
        """The tree of the file."""
        if self._tree is None:
            self._tree = self._chain._open(self.at)
        return self._tree


def columns_of(common: Common, first: Tree) -> Columns:
    """The columns of the first tree that those of all trees are compared with; none if it does not tell them."""
    try:
        return common.anew().of(first, 0)
    except ForthwithError:
        return []  # of a file without entries, which is not read, or of each of them


def request(columns: Columns) -> tuple[list[tuple[str, int | None]], list[tuple[str, str]], str | None]:
    """Labels and positions of columns, where they are not computed; aliases and their expressions; the cut."""
    choice = columns.choice if isinstance(columns, Query) else NOTHING
    fields = [(label, None if at == COMPUTED else at) for label, at in columns]
    return fields, list(choice.aliases.items()), choice.cut


def entries_in(tree: Tree, offset: int, start: int, stop: int | None) -> tuple[int, int | None, bool]:
    """The part of a range in a tree with this many entries before it: its bounds there, and whether it has entries."""
    before = max(0, start - offset)
    behind = None if stop is None else max(0, stop - offset)
    return before, behind, tree._core.entries_up_to(before + 1) > before and (behind is None or behind > before)


def steps(
    chain: Chain,
    parts: Parts,
    common: Common,
    read: ReadOptions,
    size: int | str,
    bounds: Bounds,
    report: bool,
) -> Generator[Any, None, bool]:
    """Steps over all files, with a tree only for the first one and for those with other branches.

    Returns:
        Whether there was a step. Without one, the trees themselves say why.
    """
    into = read.into()
    file: StepFile | None = None
    # The first file with the columns of the first tree that has entries, and whether one without them was read.
    alike: int | None = None
    is_compared = is_other = False

    def compare(at: int) -> None:
        with chain._open(at) as tree:
            common.of(tree, 0)

    with chain._open(0) as first:
        columns = columns_of(common, first)
        reader = _reader(chain, parts, first, columns, into, size, bounds) if columns else None
        if reader is None:
            return False
        labels = [label for label, _ in columns]
        while (step := reader.read(read.threads, read.tick)) is not None:
            at, path, offset, start, stop, arrays, kept = step
            alike = at if alike is None and path is not None else alike
            if alike is not None and not is_compared and (is_other or path is None):
                compare(alike)
                is_compared = True
            if path is None or arrays is None:
                with chain._open(at) as tree:
                    begin, end, some = entries_in(tree, offset, *bounds)
                    if some:
                        is_other = True
                        yield from chain._steps_of(common, tree, (begin, end, offset), read, size, report)
                    reader.skip_other(tree.num_entries if end is None else tree._core.entries_up_to(end))
                continue
            if kept is None:
                made = into.together(labels, arrays, start + offset, stop + offset)
            else:
                made = into.chosen(labels, arrays, kept, offset)
            if not report:
                yield made
                continue
            if file is None or file.at != at:
                file = StepFile(chain, at, path)
            yield made, FileReport(file, start, stop, offset)
    return is_other or alike is not None


def _reader(
    chain: Chain, parts: Parts, first: Tree, columns: Columns, into: Library, size: int | str, bounds: Bounds
) -> _forthwith.ChainReader | None:
    into.about(first, columns)
    if into.depends_on_file:
        return None
    fields, aliases, cut = request(columns)
    entries, memory = step_size(size)
    return _forthwith.ChainReader(
        first._core,
        fields,
        parts,
        aliases,
        cut,
        *bounds,
        entries=entries,
        bytes=memory,
        bits=into.takes_bits,
        options=chain._settings.view,
        store=flat(chain._settings.options["storage_options"]),
    )
