"""Base of the writers of all formats: destination, incremental writing, and rename on completion."""

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

    # Objects that accept rows of Python values, since they know all types.
    Rows: TypeAlias = Callable[[Sequence[Any]], None]

    class Schema(Protocol):
        """The declared columns of a file."""

        def given(self, array: Any) -> _forthwith.Given:
            """Converts an array to these columns."""

        def empty(self) -> _forthwith.Given:
            """Returns the columns with no entries."""

    class Writable(Protocol):
        """A file object: any object whose ``write`` accepts bytes and returns how many were written."""

        def write(self, data: bytes, /) -> int:
            """Writes some or all of the bytes, and returns the number written."""

    class Core(Protocol):
        """A writer of the extension module, for any format."""

        def write(self, array: _forthwith.Given) -> None:
            """Appends an array."""

        def finish(self) -> tuple[int, int] | None:
            """Completes the file, and returns its entries and bytes; ``None`` if the columns are unknown."""

        def bytes(self) -> bytes | None:
            """Returns the content of a file written in memory."""

        def abandon(self) -> None:
            """Removes the incomplete file."""


# Number of rows of an iterator to write at a time.
_MOST_ROWS = 1 << 14


class Unfinished:
    """A file being written, which gets its name only at the end of the ``with`` block."""

    _core: Any
    _target: Writable | None
    _name: str
    _process: int

    def close(self) -> None:
        """Completes the file and renames it, replacing an existing file of that name."""
        core, self._core = self._core, None
        if core is None:
            return
        self._finish(core)
        if self._target is not None and (data := core.bytes()) is not None:
            _forthwith.give_all(self._target, self._name, data)
            _cut_off(self._target)

    def abandon(self) -> None:
        """Removes the incomplete file. In a forked process it is kept, since it belongs to the parent."""
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
    """A writer that appends arrays to a file, as returned by `writer`. Used with ``with``."""

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
        # The core, if it accepts batches of Arrow data.
        self._in_batches = in_batches
        self._process = os.getpid()
        self._entries = 0

    def write(self, array: Any) -> None:
        """Appends an array with the same fields as the first one, or those of the schema.

        Args:
            array: An Awkward Array or convertible data: a dict of columns, Arrow data, or a list of dicts.
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
        """Appends the last array, whose memory may be used until the file is complete."""
        if not self._write_batches(array, is_last=True):
            self.write(array)

    def _write_batches(self, array: Any, *, is_last: bool) -> bool:
        """Appends a table without a copy; returns whether the format and the schema permit it."""
        if self._core is None or self._in_batches is None or self._schema is not None:
            return False
        if (batches := _batches(array)) is None:
            return False
        self._in_batches.write_batches(batches, is_last)
        self._entries += len(batches)
        return True

    def _write_each(self, items: Iterator[Any]) -> None:
        """Appends tables one by one, or rows in batches if a schema declares their types."""
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
        """Number of entries written so far."""
        return self._entries

    def _finish(self, core: Core) -> None:
        if self._schema is not None and self._entries == 0:
            core.write(self._schema.empty())
        if core.finish() is None:
            raise ValueError(self._nothing)


def warn_unclosed(name: str, core: object, process: int) -> None:
    """Warns that a writer was dropped without `close`, so that no file was created."""
    if core is not None and os.getpid() == process:
        message = f"{name} was never closed, so that nothing is written: use it in a with block, or call close()"
        warnings.warn(message, RuntimeWarning, stacklevel=3)


def place(path: str | os.PathLike[str] | Writable, *, appends: bool = False) -> tuple[Writable | None, str]:
    """Returns the file object to write to, if any, and the name of the file for error messages.

    Args:
        path: The path or file object.
        appends: Whether files of the format can be appended to. Otherwise a file object must be at position
            0.

    Raises:
        RequestError: The file object is at another position, so that readers would not find the start of the
            file.
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
    """Raises an error if the name of a text file implies compression.

    Raises:
        UnsupportedError: The extension is that of a codec.
    """
    ending = os.path.splitext(name)[1].lower()
    if ending in (".gz", ".zst", ".zstd", ".xz", ".bz2"):
        raise UnsupportedError(
            f"{name}: compressed files of text are not written; write to a file object such as gzip.open(path, 'wb')"
        )


def words(metadata: Mapping[str, bytes | str] | None) -> list[tuple[str, bytes]]:
    """Returns metadata as pairs of names and bytes."""
    given = {} if metadata is None else metadata
    return [(key, value.encode() if isinstance(value, str) else bytes(value)) for key, value in given.items()]


def position(file: Any) -> int:
    """Returns the offset at which a file object writes; 0 if it has no position or is a standard stream.

    A file opened for appending writes at its end, whatever its position.
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
    """Truncates a file object after the new content, if it was overwritten from its start."""
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
