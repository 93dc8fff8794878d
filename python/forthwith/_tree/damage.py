"""Reading around damage, with reports of losses."""

from __future__ import annotations

from forthwith._errors import (
    DamagedFileError,
    ForthwithError,
    MissingFileError,
    RequestError,
    SourceError,
    UnsupportedError,
)
from forthwith._forthwith import safe_text
from forthwith._tree.query import Query
from forthwith._tree.read import selection_of
from forthwith._warn import warn as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    from forthwith._tree.options import ReadOptions
    from forthwith._tree.read import Columns
    from forthwith._tree.tree import Tree

    # Preceding number of entries, number of the block, byte offset, and reason.
    Gap: TypeAlias = tuple[int, int, int, str]


CANNOT_OPEN = (MissingFileError, SourceError, DamagedFileError, UnsupportedError)
"""Errors for which ``errors="skip"`` skips one of several files."""


class DataLossWarning(UserWarning):
    """Entries could not be read, and were skipped or replaced by missing values.

    Attributes:
        lost: A `Loss` for each range of entries.
    """

    __module__ = "forthwith"

    def __init__(self, message: str, lost: list[Loss]) -> None:
        super().__init__(message)
        self.lost = lost


class Loss:
    """A range of entries that could not be read.

    Attributes:
        start: The first entry.
        stop: The entry after the last.
        error: The exception, which names branch, basket and place.
    """

    def __init__(self, start: int, stop: int, error: ForthwithError) -> None:
        self.start = start
        self.stop = stop
        self.error = error

    @property
    def branch(self) -> str | None:
        """The branch that could not be read."""
        return self.error.object

    @property
    def block(self) -> int | None:
        """Number of the basket."""
        return self.error.block

    def __repr__(self) -> str:
        first = self.error.message.partition("\n")[0]
        return f"<Loss of entries {self.start} to {self.stop}: {first}>"


def check(columns: Columns, options: ReadOptions) -> None:
    """Raises an error for ``errors="null"`` if the result cannot have missing values.

    Raises:
        RequestError: ``errors="null"`` with another result than an Awkward Array of records, or with computed columns.
    """
    if options.errors != "null":
        return
    if options.library not in ("ak", "awkward") or options.how is not None:
        raise RequestError("errors='null' always gives an Awkward Array of records: library= and how= cannot be chosen")
    if isinstance(columns, Query):
        raise RequestError("errors='null' cannot be combined with cut=, entries= or expressions: use errors='skip'")


def arrays(tree: Tree, columns: Columns, start: int, stop: int, options: ReadOptions) -> tuple[Any, list[Loss]]:
    """Reads the readable entries; returns them and the losses. ``"null"`` makes lost entries missing."""
    check(columns, options)
    core, into, offset = selection_of(tree, columns), options.into(), options.offset
    read, kept, lost = core.read_around(
        start, stop, options.errors == "null", into.takes_bits, options.threads, options.tick
    )
    into.about(tree, columns, offset)
    labels = [label for label, _ in columns]
    if kept is None:
        made = into.together(labels, read, start + offset, stop + offset)
    else:
        made = into.chosen(labels, read, kept, offset)
    return made, [Loss(*one) for one in lost]


def array(tree: Tree, column: Columns, start: int, stop: int, options: ReadOptions) -> tuple[Any, list[Loss]]:
    """Reads the readable entries of one column; returns its array and the losses."""
    if options.errors == "null":
        found, lost = arrays(tree, column, start, stop, options)
        return found[column[0][0]], lost
    (found,), lost = arrays(tree, column, start, stop, options.putting(list))
    return found, lost


def sound(tree: Tree, options: ReadOptions, offset: int = 0) -> Tree:
    """Returns the tree without undecodable parts of its file, such as a truncated end.

    These losses, with an unknown number of entries, are reported by a warning or appended to
    ``options.lost``.

    Args:
        tree: The tree.
        options: With ``errors="raise"``, the tree is returned unchanged.
        offset: Number of entries before those of the tree.

    Raises:
        DamagedFileError: No part of the tree can be read.
    """
    if options.errors == "raise":
        return tree
    around, gaps = around_gaps(tree)
    lost = []
    for entry, block, byte, what in gaps:
        error = DamagedFileError(what, file=tree.file.file_path, object=tree.path, block=block, byte=byte)
        lost.append(Loss(offset + entry, offset + entry, error))
    if options.lost is not None:
        options.lost.extend(lost)
    elif lost:
        blocks = "a block" if len(lost) == 1 else f"{len(lost)} blocks"
        text = f"{blocks} of {tree.file.file_path} could not be read and left out, with an unknown number of entries"
        say(DataLossWarning(f"{text}; the first: {lost[0].error.message}", lost))
    return around


def around_gaps(tree: Tree) -> tuple[Tree, list[Gap]]:
    """Returns the tree without undecodable parts of its file, and these parts, without a warning."""
    core, gaps = tree._core.sound()
    return (tree._like(core), gaps) if gaps else (tree, [])


def entries_around(opened: Callable[[int], Tree], files: int, options: ReadOptions) -> int:
    """Returns the number of readable entries of several files, skipping files that cannot be opened."""
    total = 0
    for at in range(files):
        try:
            tree = opened(at)
        except CANNOT_OPEN:
            if options.errors != "skip":
                raise
            continue
        with tree:
            total += around_gaps(tree)[0].num_entries
    return total


def tell(table: str, lost: list[Loss], options: ReadOptions) -> None:
    """Appends the losses of a table to ``options.lost``, or warns of them."""
    if options.lost is not None:
        options.lost.extend(lost)
    elif lost:
        warn(table, lost)


def warn(path: str, lost: list[Loss]) -> None:
    """Issues a warning about losses."""
    entries, end = 0, 0
    for loss in sorted(lost, key=lambda loss: loss.start):
        # Entries that are lost in several branches count once.
        entries += max(0, loss.stop - max(end, loss.start))
        end = max(end, loss.stop)
    first = lost[0].error.message
    many, pieces = "entry" if entries == 1 else "entries", "piece" if len(lost) == 1 else "pieces"
    # The table of a single-table file has no path.
    table = safe_text(path) or "the table"
    text = f"{entries} {many} of {table} could not be read, in {len(lost)} {pieces}; the first: {first}"
    say(DataLossWarning(text, lost))


def lose_file(name: str, offset: int, error: ForthwithError, options: ReadOptions) -> None:
    """Reports that one of several files was skipped, after ``offset`` entries of others."""
    loss = Loss(offset, offset, error)
    if options.lost is not None:
        options.lost.append(loss)
    text = f"{name} could not be read and was left out: {error.message}"
    say(DataLossWarning(text, [loss]))
