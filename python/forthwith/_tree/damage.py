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
from forthwith._packages import package
from forthwith._tree.query import Query
from forthwith._tree.read import together
from forthwith._warn import warn as say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    from forthwith._interop.base import Library
    from forthwith._tree.options import ReadOptions
    from forthwith._tree.read import Columns
    from forthwith._tree.tree import Tree

    Part: TypeAlias = tuple[int, int, "Any | None"]
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


def arrays(tree: Tree, columns: Columns, start: int, stop: int, options: ReadOptions) -> tuple[Any, list[Loss]]:
    """The entries that can be read, and what was lost. With ``"null"``, lost entries are missing values of their column."""
    if options.errors == "null":
        if options.library not in ("ak", "awkward") or options.how is not None:
            raise RequestError(
                "errors='null' always gives an Awkward Array of records: library= and how= cannot be chosen"
            )
        if isinstance(columns, Query):
            raise RequestError("errors='null' cannot be combined with cut=, entries= or expressions: use errors='skip'")
        return _with_missing(tree, columns, start, stop, options)
    into = options.into()
    parts, lost = _around(tree, columns, start, stop, options, into)
    whole = [part for _, _, part in parts if part is not None]
    return into.join(whole or [together(tree, columns, start, start, options, into)]), lost


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


def _around(
    tree: Tree, columns: Columns, start: int, stop: int, options: ReadOptions, into: Library
) -> tuple[list[Part], list[Loss]]:
    """The entries piece by piece, in order; a piece that was lost is ``None``."""
    parts: list[Part] = []
    lost: list[Loss] = []
    fields = columns.core.fields if isinstance(columns, Query) else [at for _, at in columns]
    salvage = tree._core.salvage(fields, start, stop)
    while (entries := salvage.next_range()) is not None:
        begin, end = entries
        try:
            parts.append((begin, end, together(tree, columns, begin, end, options, into)))
        except (DamagedFileError, UnsupportedError) as error:
            _about_entries(error)
            if isinstance(columns, Query) and not salvage.is_of_table(error.file, error.object):
                raise
            found = salvage.lose(begin, end, object=error.object, block=error.block, entry=error.entry)
            if found is not None:
                lost.append(Loss(*found, error))
                parts.append((*found, None))
    parts.sort(key=lambda part: part[:2])
    lost.sort(key=lambda loss: loss.start)
    return parts, lost


def _with_missing(tree: Tree, columns: Columns, start: int, stop: int, options: ReadOptions) -> tuple[Any, list[Loss]]:
    """All entries. Each column is read by itself if they cannot be read together, so that none is lost for another."""
    ak, into = package("awkward"), options.into()
    try:
        return together(tree, columns, start, stop, options, into), []
    except (DamagedFileError, UnsupportedError) as error:
        _about_entries(error)
    layouts, lost = [], []
    for label, at in columns:
        parts, losses = _around(tree, [(label, at)], start, stop, options, into)
        layouts.append(_column(tree, (label, at), (start, stop), parts, options, into))
        lost += losses
    lost.sort(key=lambda loss: loss.start)
    labels = [label for label, _ in columns]
    return ak.Array(ak.contents.RecordArray(layouts, labels, length=stop - start)), lost


def _column(
    tree: Tree,
    column: tuple[str, int],
    entries: tuple[int, int],
    parts: list[Part],
    options: ReadOptions,
    into: Library,
) -> Any:
    """The layout of a column of which pieces are missing: an option of the type it has, even if nothing is left."""
    ak, np = package("awkward"), package("numpy")
    start, stop = entries
    whole = [part for _, _, part in parts if part is not None]
    records = into.join(whole or [together(tree, [column], start, start, options, into)])
    content = ak.to_layout(records[column[0]])
    missing = [(first - start, last - start) for first, last, part in parts if part is None]
    if not missing:
        return content
    lost = np.zeros(stop - start, dtype=bool)
    for first, last in missing:
        lost[first:last] = True
    index = np.where(lost, -1, np.cumsum(~lost) - 1).astype(np.int64)
    return ak.contents.IndexedOptionArray.simplified(ak.index.Index64(index), content)


def _about_entries(error: DamagedFileError | UnsupportedError) -> None:
    """Passes on what is not supported unless it is something that single entries have."""
    if isinstance(error, UnsupportedError) and error.entry is None:
        raise error


def warn(tree: Tree, lost: list[Loss]) -> None:
    """Says that something was lost."""
    entries, end = 0, 0
    for loss in sorted(lost, key=lambda loss: loss.start):
        # Those that several branches have lost count once.
        entries += max(0, loss.stop - max(end, loss.start))
        end = max(end, loss.stop)
    first = lost[0].error.message
    many, pieces = "entry" if entries == 1 else "entries", "piece" if len(lost) == 1 else "pieces"
    # A format with one table in a file has no name for it.
    table = safe_text(tree.path) or "the table"
    text = f"{entries} {many} of {table} could not be read, in {len(lost)} {pieces}; the first: {first}"
    say(DataLossWarning(text, lost))


def lose_file(name: str, offset: int, error: ForthwithError, options: ReadOptions) -> None:
    """Says that a file of several was left out, before which there are so many entries. How many it has is not known."""
    loss = Loss(offset, offset, error)
    if options.lost is not None:
        options.lost.append(loss)
    text = f"{name} could not be read and was left out: {error.message}"
    say(DataLossWarning(text, [loss]))
