"""Parts of files for query engines: ranges of a tree, or steps over a chain of small files."""

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
        """A range of entries of one file."""

        @property
        def length(self) -> int:
            """Number of entries."""

        @property
        def place(self) -> tuple[str, str, str]:
            """Location for error messages, path of the file, and path of the table in it."""

        def read(self, names: list[str], first: int = 0, last: int | None = None) -> Any:
            """Reads columns of the entries ``first`` to ``last`` of the part; of all by default."""

        def read_some(self, names: list[str], count: int, places: Callable[[], Any]) -> Any:
            """Reads columns of ``count`` selected entries; ``None`` if all entries should be read."""


# Maximum size in bytes of a file that is read in one step: below it, threads and late materialisation cost
# more than they save.
_SMALL = 2_000_000


class TreePart:
    """A range of entries of a tree."""

    def __init__(self, lazy: Any, tree: Tree, start: int, stop: int) -> None:
        self._lazy, self._tree = lazy, tree
        self._start, self._stop = start, stop

    @property
    def length(self) -> int:
        """Number of entries."""
        return self._stop - self._start

    @property
    def place(self) -> tuple[str, str, str]:
        """Location for error messages, path of the file, and path of the tree in it."""
        return self._tree._place(), self._tree.file.file_path, self._tree.path

    def read(self, names: list[str], first: int = 0, last: int | None = None) -> Any:
        """Reads columns of the entries from ``first`` up to ``last``; of all by default."""
        stop = self._stop if last is None else self._start + last
        return self._lazy.read(self._tree, names, self._start + first, stop)

    def read_some(self, names: list[str], count: int, places: Callable[[], Any]) -> Any:
        """Reads selected entries, as `Lazy.read_some` does."""
        return self._lazy.read_some(self._tree, names, self._start, self._stop, count, places)


class SmallFiles:
    """Small files of a chain, which the chain opens and reads itself; one tree is opened per distinct schema.

    Args:
        chain: The chain of the files.
        columns: Makes the request from the columns to read and the columns that each file must have.
        names: The columns to read in each step.
        needed: All columns that each file must have.
        read: The read options.
        size: The size of a step, in entries or as memory.
        most: The maximum number of entries to read, from the first one.
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
        """Yields a part for each step. It is invalid as soon as the next one is requested."""
        for step in self.walk.steps():
            yield ChainPart(self, step)

    def beside(self, names: list[str], start: int, stop: int) -> Any:
        """Reads further columns of the file of the current step."""
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
        """Number of entries."""
        return int(self._step.stop - self._step.start)

    @property
    def place(self) -> tuple[str, str, str]:
        """Location for error messages, path of the file, and path of the table in it."""
        return place_text(self._step.path, self._step.table), self._step.path, self._step.table

    def read(self, names: list[str], first: int = 0, last: int | None = None) -> Any:
        """Reads columns of the entries from ``first`` up to ``last``; of all by default."""
        if names == self._files.names and first == 0 and last is None:
            return self._step.made
        start = self._step.start
        return self._files.beside(names, start + first, self._step.stop if last is None else start + last)

    def read_some(self, names: list[str], count: int, places: Callable[[], Any]) -> Any:
        """Returns ``None``, since reading a small file entirely is cheaper than selecting entries."""
        del names, count, places


def are_small(chain: Chain) -> bool:
    """Whether the chain consists of several small local files that it can open by name."""
    parts = chain._parts_by_name() if len(chain) > 1 else None
    return parts is not None and all(_is_small(path) for path, *_ in parts)


def _is_small(path: str) -> bool:
    try:
        return scheme(path) is None and os.stat(path).st_size <= _SMALL
    except (OSError, ValueError):
        return False


def check(part: Part, found: Callable[[str], str], expected: dict[str, str], hint: str) -> None:
    """Raises an error if a column has another type than in the first file, whose types the engine assumes.

    Args:
        part: The part to check.
        found: Returns the type of a column in the part.
        expected: The types of the columns in the first file.
        hint: Advice to append to the error message.
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
