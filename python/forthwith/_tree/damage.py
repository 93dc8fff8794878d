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

MOST = 32
"""Entries of one block that are left out one by one; if more of them are damaged, so is the block."""


# More entries than there can be, for which all blocks are looked for.
_ALL = 2**64 - 1


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
    try:
        tree._core.entries_up_to(_ALL)
        return tree, []
    except DamagedFileError:
        found = tree._core.around_damage()
        if found is None:
            raise
    core, gaps = found
    return tree._like(core), gaps


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
    waiting = [(start, stop)]
    failures: dict[tuple[str | None, int | None], int] = {}
    while waiting:
        begin, end = waiting.pop()
        try:
            parts.append((begin, end, together(tree, columns, begin, end, options, into)))
        except (DamagedFileError, UnsupportedError) as error:
            _about_entries(error)
            _about_this(tree, columns, error)
            block = _lost(tree, columns, begin, end, error)
            place = error.object, error.block
            failures[place] = failures.get(place, 0) + 1
            first, last = block
            if error.entry is not None and first <= error.entry < last and failures[place] <= MOST:
                first, last = error.entry, error.entry + 1
            elif (middle := _middle(tree, columns, first, last, error)) is not None:
                # Blocks that are read together, of which not all need be damaged. Each may have as many damaged entries.
                failures.pop(place)
                pieces = [(last, end), (middle, last), (first, middle), (begin, first)]
                waiting += [piece for piece in pieces if piece[0] < piece[1]]
                continue
            elif error.block is None:
                # Of the next block, too, the error will not say which it is.
                failures.pop(place)
            lost.append(Loss(first, last, error))
            parts.append((first, last, None))
            # The rest of the block by itself, so that what is beside it is read once.
            pieces = [(block[1], end), (last, block[1]), (block[0], first), (begin, block[0])]
            waiting += [piece for piece in pieces if piece[0] < piece[1]]
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


def _about_this(tree: Tree, columns: Columns, error: DamagedFileError | UnsupportedError) -> None:
    """Passes on what is wrong in a friend, whose entries are others."""
    if not isinstance(columns, Query) or error.object is None:
        return
    place = error.object
    if error.file != tree._file._core.uri or (place != tree.path and not place.startswith(f"{tree.path}/")):
        raise error


def _lost(
    tree: Tree, columns: Columns, begin: int, end: int, error: DamagedFileError | UnsupportedError
) -> tuple[int, int]:
    """The entries of the block that the error is about, or all of them if it does not say."""
    if error.block is None:
        return begin, end
    fields, named = _fields(tree, columns, error)
    plan = tree._core.plan(fields, begin, end)
    found = [block.entries for block in plan.blocks() if block.block == error.block]
    # Blocks of several branches can have one number: the error's branch tells them apart.
    if named:
        own = tree._core.plan(named[:1], begin, end)
        found = [block.entries for block in own.blocks() if block.block == error.block] or found
    ranges = [(max(begin, first), min(end, last)) for first, last in found]
    ranges = [(first, last) for first, last in ranges if first < last]
    if not ranges:
        return begin, end
    return min(first for first, _ in ranges), max(last for _, last in ranges)


def _fields(tree: Tree, columns: Columns, error: DamagedFileError | UnsupportedError) -> tuple[list[int], list[int]]:
    """The fields that are read, and those of them that the error names."""
    fields = columns.core.fields if isinstance(columns, Query) else [at for _, at in columns]
    above = f"{tree.path}/" if tree.path else ""
    return fields, [at for at in fields if error.object == f"{above}{tree._fields[at].path}"]


def _middle(
    tree: Tree, columns: Columns, first: int, last: int, error: DamagedFileError | UnsupportedError
) -> int | None:
    """The entry at which the middle one of several blocks begins. All columns have the same ones if none is named."""
    fields, named = _fields(tree, columns, error)
    if not named and (error.object or "") != tree.path:
        return None
    try:
        begins = tree._core.boundaries((named or fields)[:1], first, last)[1:-1]
    except DamagedFileError:
        return None  # what says where blocks begin is damaged itself
    return begins[len(begins) // 2] if begins else None


def warn(tree: Tree, lost: list[Loss]) -> None:
    """Says that something was lost."""
    entries, end = 0, 0
    for loss in sorted(lost, key=lambda loss: loss.start):
        # Those that several branches have lost count once.
        entries += max(0, loss.stop - max(end, loss.start))
        end = max(end, loss.stop)
    first = lost[0].error.message
    many, pieces = "entry" if entries == 1 else "entries", "piece" if len(lost) == 1 else "pieces"
    text = f"{entries} {many} of {safe_text(tree.path)} could not be read, in {len(lost)} {pieces}; the first: {first}"
    say(DataLossWarning(text, lost))


def lose_file(name: str, offset: int, error: ForthwithError, options: ReadOptions) -> None:
    """Says that a file of several was left out, before which there are so many entries. How many it has is not known."""
    loss = Loss(offset, offset, error)
    if options.lost is not None:
        options.lost.append(loss)
    text = f"{name} could not be read and was left out: {error.message}"
    say(DataLossWarning(text, [loss]))
