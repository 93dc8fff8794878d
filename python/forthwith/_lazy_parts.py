"""Parts of files that query engines read: some entries of a tree, or a step of a chain of small files."""

from __future__ import annotations

import os

from forthwith._errors import RequestError, place_text
from forthwith._stores import scheme
from forthwith._tree.alike import ChainSteps
from forthwith._tree.chain import Chain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, Protocol

    from forthwith._tree.common import Common, PlainColumns
    from forthwith._tree.options import ReadOptions
    from forthwith._tree.tree import Tree

    class Part(Protocol):
        """Some entries of one file."""

        @property
        def length(self) -> int:
            """The number of entries."""

        @property
        def place(self) -> tuple[str, str, str]:
            """The place as errors say it, the file, and the table in it."""

        def read(self, names: list[str], first: int = 0, last: int | None = None) -> Any:
            """Some columns, of all entries or from one to before another, counted in the part."""

        def read_some(self, names: list[str], count: int, places: Callable[[], Any]) -> Any:
            """Chosen entries, of which this is the number; ``None`` if all of them are to be read."""


# Bytes of files of which a step is the whole file: threads and columns that are read later save less than they cost.
_SMALL = 2_000_000


class TreePart:
    """Some entries of a tree."""

    def __init__(self, lazy: Any, tree: Tree, start: int, stop: int) -> None:
        self._lazy, self._tree = lazy, tree
        self._start, self._stop = start, stop

    @property
    def length(self) -> int:
        """The number of entries."""
        return self._stop - self._start

    @property
    def place(self) -> tuple[str, str, str]:
        """The place as errors say it, the file, and the tree in it."""
        return self._tree._place(), self._tree.file.file_path, self._tree.path

    def read(self, names: list[str], first: int = 0, last: int | None = None) -> Any:
        """Some columns, of all entries or from one to before another."""
        stop = self._stop if last is None else self._start + last
        return self._lazy.read(self._tree, names, self._start + first, stop)

    def read_some(self, names: list[str], count: int, places: Callable[[], Any]) -> Any:
        """As `Lazy.read_some`."""
        return self._lazy.read_some(self._tree, names, self._start, self._stop, count, places)


class SmallFiles:
    """The files of a chain, which are opened and read by the chain: a tree is opened of one file of each schema.

    Args:
        chain: The files.
        columns: Makes a request of columns, and of the columns that files must have.
        names: The columns that are read of each step at once.
        needed: All columns that files must have.
        read: How they are read.
        size: Entries of a step, or memory.
        most: The entries that are wanted, the first ones.
    """

    def __init__(
        self,
        chain: Chain,
        columns: Callable[[list[str], list[str]], Common | PlainColumns],
        names: list[str],
        needed: list[str],
        read: ReadOptions,
        size: int | str,
        most: int | None,
    ) -> None:
        self.names, self._columns, self._read = names, columns, read
        self.walk = ChainSteps(chain, columns(names, needed), read, size, (0, most))
        self._beside: dict[tuple[str, ...], tuple[Tree, Any]] = {}

    def parts(self) -> Iterator[ChainPart]:
        """A part for each step. The one before must not be read any more."""
        for step in self.walk.steps():
            yield ChainPart(self, step)

    def beside(self, names: list[str], start: int, stop: int) -> Any:
        """Other columns of the file of the last step."""
        source = self.walk.source
        known = self._beside.get(tuple(names))
        if known is None or known[0] is not source:
            known = self._beside[tuple(names)] = source, self._columns(names, names).of(source, 0)
        return self.walk.beside(known[1], start, stop, self._read.into())


class ChainPart:
    """A step of a chain."""

    def __init__(self, files: SmallFiles, step: Any) -> None:
        self._files, self._step = files, step

    @property
    def length(self) -> int:
        """The number of entries."""
        return int(self._step.stop - self._step.start)

    @property
    def place(self) -> tuple[str, str, str]:
        """The place as errors say it, the file, and the table in it."""
        return place_text(self._step.path, self._step.table), self._step.path, self._step.table

    def read(self, names: list[str], first: int = 0, last: int | None = None) -> Any:
        """Some columns, of all entries or from one to before another."""
        if names == self._files.names and first == 0 and last is None:
            return self._step.made
        start = self._step.start
        return self._files.beside(names, start + first, self._step.stop if last is None else start + last)

    def read_some(self, names: list[str], count: int, places: Callable[[], Any]) -> Any:
        """``None``: files are small."""
        del names, count, places


def are_small(chain: Chain) -> bool:
    """Whether these are several small files on this machine, which the chain opens by their names."""
    parts = chain._parts_by_name() if len(chain) > 1 else None
    return parts is not None and all(_is_small(path) for path, *_ in parts)


def _is_small(path: str) -> bool:
    try:
        return scheme(path) is None and os.stat(path).st_size <= _SMALL
    except (OSError, ValueError):
        return False


def check(part: Part, found: Callable[[str], str], expected: dict[str, str], hint: str) -> None:
    """Refuses columns of other types than those of the first file, which engines would take for them.

    Args:
        part: The part.
        found: The type that a column has in it.
        expected: The types in the first file.
        hint: What to do about it.
    """
    for name, kind in expected.items():
        try:
            here = found(name)
        except KeyError:
            place, file, path = part.place
            raise RequestError(
                f"{place} lacks {name!r}, which it had when the files were looked at", file=file, object=path
            ) from None
        if here != kind:
            place, file, path = part.place
            raise RequestError(
                f"{name!r} is {here} in {place}, but {kind} in the first file{hint}", file=file, object=f"{path}/{name}"
            )
