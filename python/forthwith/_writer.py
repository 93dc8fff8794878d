"""The part that the writers of all formats share: where to, array by array, and a name only when complete."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator

from forthwith import _forthwith
from forthwith._errors import RequestError, RequestTypeError, UnsupportedError
from forthwith._given import batches as _batches
from forthwith._given import given as _given
from forthwith._given import is_arrow, is_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType
    from typing import Any, Protocol, Self, TypeAlias

    #: What takes rows of Python values as they are, because it knows the type of each.
    Rows: TypeAlias = Callable[[Sequence[Any]], None]

    class Schema(Protocol):
        """The columns of a file that were given beforehand."""

        def given(self, array: Any) -> _forthwith.Given:
            """An array with these columns."""

        def empty(self) -> _forthwith.Given:
            """The columns without entries."""

    class Writable(Protocol):
        """A file object: anything that takes bytes and says how many it took."""

        def write(self, data: bytes, /) -> int:
            """Takes all or the first of them, and returns how many."""

    class Core(Protocol):
        """A writer of the compiled package, of whatever format."""

        def write(self, array: _forthwith.Given) -> None:
            """Appends an array."""

        def finish(self) -> tuple[int, int] | None:
            """Completes the file: its entries and bytes. None if nothing says what its columns are."""

        def bytes(self) -> bytes | None:
            """The whole file, if it was made in memory."""

        def abandon(self) -> None:
            """Removes what is there of it."""


# Rows of an iterator that are written at a time.
_MOST_ROWS = 1 << 14


class Unfinished:
    """A file that is being written, which has its name when a ``with`` block ends and not before."""

    _core: Any
    _target: Writable | None
    _name: str
    _process: int

    def close(self) -> None:
        """Writes the end of the file and gives it its name, in place of an older file of that name."""
        core, self._core = self._core, None
        if core is None:
            return
        self._finish(core)
        if self._target is not None and (data := core.bytes()) is not None:
            _forthwith.give_all(self._target, self._name, data)
            _cut_off(self._target)

    def abandon(self) -> None:
        """Leaves nothing behind. In a process that was forked meanwhile, what is there belongs to the other one."""
        core, self._core = self._core, None
        if core is not None and os.getpid() == self._process:
            core.abandon()

    def _finish(self, core: Any) -> None:
        core.finish()

    def __del__(self) -> None:
        warn_unclosed(self._name, self._core, self._process)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon()


class Writer(Unfinished):
    """A file being written, array by array: what `writer` gives. Used with ``with``."""

    def __init__(
        self,
        core: Core,
        target: Writable | None,
        name: str,
        nothing: str,
        *,
        rows: Rows | None = None,
        schema: Schema | None = None,
        in_batches: _forthwith.TableWriter | None = None,
    ) -> None:
        self._core: Core | None = core
        self._target = target
        self._name = name
        self._nothing = nothing
        self._rows = rows
        self._schema = schema
        # The core, if it takes batches of Arrow.
        self._in_batches = in_batches
        self._process = os.getpid()
        self._entries = 0

    def write(self, array: Any) -> None:
        """Appends an array, of the same fields as the first, or of those of the schema.

        Args:
            array: An Awkward Array or anything that one can be made of: a dict of columns, Arrow data, lists of dicts.
        """
        if self._core is None:
            raise ValueError("the writer has been closed")
        if isinstance(array, (list, tuple)) and array and is_table(array[0]):
            array = iter(array)
        if isinstance(array, Iterator) and not is_arrow(array):
            self._write_each(array)
            return
        if self._rows is not None and isinstance(array, (list, tuple)):
            self._rows(array)
            self._entries += len(array)
            return
        if self._write_batches(array, is_last=False):
            return
        given = _given(array) if self._schema is None else self._schema.given(array)
        self._core.write(given)
        self._entries += len(given)

    def _write_last(self, array: Any) -> None:
        """Appends an array behind which nothing is written: its memory can be used until the file is complete."""
        if not self._write_batches(array, is_last=True):
            self.write(array)

    def _write_batches(self, array: Any, *, is_last: bool) -> bool:
        """Appends a table without a copy, if the format can and no schema has to be applied; returns whether it did."""
        if self._core is None or self._in_batches is None or self._schema is not None:
            return False
        if (batches := _batches(array)) is None:
            return False
        self._in_batches.write_batches(batches, is_last)
        self._entries += len(batches)
        return True

    def _write_each(self, items: Iterator[Any]) -> None:
        """Appends tables one after the other, or rows: as many at a time as are worth it where a schema says their types."""
        has_types = self._rows is not None or self._schema is not None
        rows: list[Any] = []
        for item in items:
            if is_table(item):
                self.write(item)
                continue
            rows.append(item)
            if has_types and len(rows) >= _MOST_ROWS:
                self.write(rows)
                rows = []
        if rows:
            self.write(rows)

    @property
    def entries(self) -> int:
        """Entries written so far."""
        return self._entries

    def _finish(self, core: Core) -> None:
        if self._schema is not None and self._entries == 0:
            core.write(self._schema.empty())
        if core.finish() is None:
            raise ValueError(self._nothing)


def warn_unclosed(name: str, core: object, process: int) -> None:
    """Says that a writer was dropped with what it was given: no file appears without `close`."""
    if core is not None and os.getpid() == process:
        message = f"{name} was never closed, so that nothing is written: use it in a with block, or call close()"
        warnings.warn(message, RuntimeWarning, stacklevel=3)


def place(path: str | os.PathLike[str] | Writable, *, appends: bool = False) -> tuple[Writable | None, str]:
    """The file object that gets the bytes, if it is one, and the name that errors call the file by.

    Args:
        path: A path or a file object.
        appends: Whether the format has files that can be appended to. Otherwise a file object has to stand at its beginning.

    Raises:
        RequestError: The file object stands elsewhere, so that the file would not begin where readers look for it.
    """
    if isinstance(path, (str, os.PathLike)):
        return None, os.fspath(path)
    if not callable(getattr(path, "write", None)):
        raise RequestTypeError(f"a file is written to a path or to an object with write, not to {path!r}")
    name = str(getattr(path, "name", None) or repr(path))
    if _takes_text(path):
        raise RequestTypeError(f"{name} takes text, and a file is written as bytes: open it with mode 'wb'")
    if not appends and (at := position(path)):
        raise RequestError(
            f"{name} stands at byte {at}, where a file of this format cannot begin: "
            "open it with mode 'wb', or write to an io.BytesIO of its own"
        )
    return path, name


def uncompressed(name: str) -> None:
    """Refuses the name of a file of text that readers would take for a compressed one.

    Raises:
        UnsupportedError: Its ending is that of a codec.
    """
    ending = os.path.splitext(name)[1].lower()
    if ending in (".gz", ".zst", ".zstd", ".xz", ".bz2"):
        raise UnsupportedError(
            f"{name}: compressed files of text are not written; write to a file object such as gzip.open(path, 'wb')"
        )


def words(metadata: Mapping[str, bytes | str] | None) -> list[tuple[str, bytes]]:
    """Metadata by their names, as bytes."""
    given = {} if metadata is None else metadata
    return [(key, value.encode() if isinstance(value, str) else bytes(value)) for key, value in given.items()]


def position(file: Any) -> int:
    """The byte at which a file object will write: 0 for one without positions, and for the standard streams.

    A file that is opened for appending writes at its end, wherever it stands.
    """
    if str(getattr(file, "name", "")).startswith("<std"):
        return 0
    try:
        if not file.seekable():
            return 0
        if isinstance(mode := getattr(file, "mode", None), str) and "a" in mode:
            file.seek(0, 2)
        return int(file.tell())
    except (AttributeError, OSError, TypeError, ValueError):
        return 0


def _cut_off(file: Any) -> None:
    """Removes what an object that was written from its beginning had there before, behind the new bytes."""
    if str(getattr(file, "name", "")).startswith("<std"):
        return
    try:
        if file.seekable() and (at := file.tell()) < file.seek(0, 2):
            file.seek(at)
            file.truncate()
    except (AttributeError, OSError, TypeError, ValueError):
        return


def _takes_text(file: object) -> bool:
    import io

    return isinstance(file, io.TextIOBase) or isinstance(getattr(file, "encoding", None), str)
