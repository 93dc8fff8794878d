"""Reading of several branches, at once or in steps, with or without reading around damage."""

from __future__ import annotations

from forthwith._errors import DamagedFileError
from forthwith._tree import damage
from forthwith._tree.read import together

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, TypeAlias

    from forthwith import _forthwith
    from forthwith._tree.damage import Loss
    from forthwith._tree.options import ReadOptions
    from forthwith._tree.read import Columns
    from forthwith._tree.tree import Tree

    # #: A tree, its columns, and the reader of the steps.
    Walked: TypeAlias = tuple[Tree, Columns, _forthwith.BatchReader]


def arrays(tree: Tree, columns: Columns, start: int, stop: int, options: ReadOptions) -> Any:
    """Reads some branches and converts them."""
    if options.errors == "raise":
        return together(tree, columns, start, stop, options, options.into())
    found, losses = damage.arrays(tree, columns, start, stop, options)
    damage.tell(tree.path, losses, options)
    return found


def array(tree: Tree, column: Columns, start: int, stop: int, options: ReadOptions) -> Any:
    """Reads one branch and converts it."""
    if options.errors == "raise":
        (found,) = together(tree, column, start, stop, options, options.into_list())
        return found
    found, losses = damage.array(tree, column, start, stop, options)
    damage.tell(tree.path, losses, options)
    return found


def iterate(
    tree: Tree,
    columns: Columns,
    walk: _forthwith.BatchReader,
    options: ReadOptions,
    report: bool,
    around: Callable[[int | None], Walked] | None = None,
) -> Iterator[Any]:
    """Returns an iterator over steps.

    Args:
        tree: The tree.
        columns: Its columns.
        walk: The reader of the steps.
        options: The options of the read.
        report: Whether to yield each step with a `Report`.
        around: Function that returns tree, columns and steps from an entry on, without undecodable parts of
            the file.
    """
    if options.errors == "raise":
        into = options.into()
        return _straight(tree, columns, walk, options, into, report)
    return _around(tree, columns, walk, options, report, around)


def _straight(
    tree: Tree, columns: Columns, walk: _forthwith.BatchReader, options: ReadOptions, into: Any, report: bool
) -> Iterator[Any]:
    labels = [label for label, _ in columns]
    into.about(tree, columns, options.offset)
    first: int | None = None
    with options.one_bar():
        while (step := walk.read(options.threads, options.tick)) is not None:
            start, stop, read, kept = step
            first = start if first is None else first
            if options.bar is not None:
                options.bar.reached((stop - first) / max(1, tree._core.likely_entries() - first))
            if kept is None:
                found = into.together(labels, read, start + options.offset, stop + options.offset)
            else:
                found = into.chosen(labels, read, kept, options.offset)
            yield (found, Report(tree, start, stop)) if report else found


def _around(
    tree: Tree,
    columns: Columns,
    walk: _forthwith.BatchReader,
    options: ReadOptions,
    report: bool,
    around: Callable[[int | None], Walked] | None,
) -> Iterator[Any]:
    stop: int | None = None
    while True:
        try:
            step = walk.skip()
        except DamagedFileError:
            # Steps are read before all blocks are located: damage of the file may be found only here.
            if around is None:
                raise
            whole = tree
            tree, columns, walk = around(stop)
            if tree is whole:
                raise
            continue
        if step is None:
            return
        start, stop = step
        found, lost = damage.arrays(tree, columns, start, stop, options)
        if lost and not report:
            damage.warn(tree.path, lost)
        yield (found, Report(tree, start, stop, lost)) if report else found


class Report:
    """The place of a step of ``iterate``.

    Attributes:
        tree_entry_start: First entry, relative to the tree.
        tree_entry_stop: Entry after the last, relative to the tree.
        lost: The losses, if ``errors`` was set.
    """

    def __init__(self, tree: Tree, start: int, stop: int, lost: list[Loss] | None = None) -> None:
        self._tree = tree
        self.tree_entry_start = start
        self.tree_entry_stop = stop
        self.lost: list[Loss] = lost or []

    @property
    def tree(self) -> Tree:
        """The tree."""
        return self._tree

    @property
    def file_path(self) -> str:
        """Path of the file."""
        return self.tree.file.file_path

    @property
    def tree_path(self) -> str:
        """Path of the tree within the file."""
        return self.tree.path

    @property
    def start(self) -> int:
        """First entry."""
        return self.tree_entry_start

    @property
    def stop(self) -> int:
        """Entry after the last."""
        return self.tree_entry_stop

    # For a single file, entries of the tree are numbered as those of all files.
    @property
    def global_entry_start(self) -> int:
        """First entry, counted over all files."""
        return self.start

    @property
    def global_entry_stop(self) -> int:
        """Entry after the last, counted over all files."""
        return self.stop

    def __repr__(self) -> str:
        return f"<Report {self.tree._place()}, entries {self.start} to {self.stop}>"
