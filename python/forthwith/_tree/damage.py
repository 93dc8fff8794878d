"""Reading around damage: what can be read, and what was lost."""

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

    # The entry before which it is, its block, where it begins, and what is wrong.
    Gap: TypeAlias = tuple[int, int, int, str]


CANNOT_OPEN = (MissingFileError, SourceError, DamagedFileError, UnsupportedError)
"""Errors for which one of several files may be left out."""


class DataLossWarning(UserWarning):
    """Entries could not be read and were left out, or replaced by nothing.

    Attributes:
        lost: A `Loss` for each range of entries.
    """

    __module__ = "forthwith"

    def __init__(self, message: str, lost: list[Loss]) -> None:
        super().__init__(message)
        self.lost = lost


class Loss:
    """Entries that could not be read.

    Attributes:
        start: The first of them.
        stop: The one after the last.
        error: Why: the exception, which names branch, basket and place.
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
        """The basket."""
        return self.error.block

    def __repr__(self) -> str:
        first = self.error.message.partition("\n")[0]
        return f"<Loss of entries {self.start} to {self.stop}: {first}>"


def check(columns: Columns, options: ReadOptions) -> None:
    """Refuses missing values for requests that cannot have them.

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
    """The entries that can be read, and what was lost. With ``"null"``, lost entries are missing values of their column."""
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
    """The same of one column, which is not put into anything."""
    if options.errors == "null":
        found, lost = arrays(tree, column, start, stop, options)
        return found[column[0][0]], lost
    (found,), lost = arrays(tree, column, start, stop, options.putting(list))
    return found, lost


def sound(tree: Tree, options: ReadOptions, offset: int = 0) -> Tree:
    """The tree without parts of its file in which nothing can be told apart, such as an end that is cut off.

    What is lost with them is said, or put into ``options.lost``: how many entries that are is not known.

    Args:
        tree: The tree.
        options: With ``errors="raise"``, the tree is what it is.
        offset: The entries before those of the tree.

    Raises:
        DamagedFileError: Nothing of the tree can be read.
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
    """The tree without parts of its file in which nothing can be told apart, and these; nothing is said of them."""
    core, gaps = tree._core.sound()
    return (tree._like(core), gaps) if gaps else (tree, [])


def entries_around(opened: Callable[[int], Tree], files: int, options: ReadOptions) -> int:
    """The entries of several files that are read around damage: those of files that can be opened, without gaps."""
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
    """Adds the losses of a table to ``options.lost``, or warns of them."""
    if options.lost is not None:
        options.lost.extend(lost)
    elif lost:
        warn(table, lost)


def warn(path: str, lost: list[Loss]) -> None:
    """Says that something was lost."""
    entries, end = 0, 0
    for loss in sorted(lost, key=lambda loss: loss.start):
        # Those that several branches have lost count once.
        entries += max(0, loss.stop - max(end, loss.start))
        end = max(end, loss.stop)
    first = lost[0].error.message
    many, pieces = "entry" if entries == 1 else "entries", "piece" if len(lost) == 1 else "pieces"
    # A format with one table in a file has no name for it.
    table = safe_text(path) or "the table"
    text = f"{entries} {many} of {table} could not be read, in {len(lost)} {pieces}; the first: {first}"
    say(DataLossWarning(text, lost))


def lose_file(name: str, offset: int, error: ForthwithError, options: ReadOptions) -> None:
    """Says that a file of several was left out, before which there are so many entries. How many it has is not known."""
    loss = Loss(offset, offset, error)
    if options.lost is not None:
        options.lost.append(loss)
    text = f"{name} could not be read and was left out: {error.message}"
    say(DataLossWarning(text, [loss]))
