"""User-defined formats: a program with the type of its outputs, registered by name."""

from __future__ import annotations

import io
import reprlib

from forthwith import _forthwith
from forthwith._entries import whole
from forthwith._errors import DamagedFileError, RequestError, RequestTypeError
from forthwith._forthwith import safe_text
from forthwith.builders.typed import described
from forthwith.forth import ForthMachine32, ForthMachine64

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any, BinaryIO, TypeAlias

    Recognise: TypeAlias = bytes | str | Callable[[bytes, str], bool]
    ListBlocks: TypeAlias = Callable[[BinaryIO], Iterable[tuple[int, int, int]]]

# Maximum of file sizes and numbers of entries: signed 64-bit integers.
_MOST = (1 << 63) - 1
# Maximum number of blocks in excess of the size of the file.
_EMPTY_BLOCKS = 4096


def register_format(
    name: str,
    program: str | ForthMachine64,
    type: Any,
    *,
    recognise: Recognise | Sequence[Recognise],
    header: int | None = None,
    blocks: int | tuple[int, int] | ListBlocks | None = None,
    replace: bool = False,
) -> None:
    r"""Registers a user-defined format, whose files `open` reads as those of other formats.

    >>> import forthwith
    >>> forthwith.register_format(
    ...     "pulses",
    ...     '''
    ...     input data  output channel uint16  output charge float32
    ...     begin data end invert while  data H-> channel  data f-> charge  repeat
    ...     ''',
    ...     "{channel: uint16, charge: float32}",
    ...     recognise=b"PULS",
    ... )
    >>> import io, struct
    >>> tree = forthwith.open(io.BytesIO(b"PULS" + struct.pack("<HfHf", 3, 0.5, 7, 1.5)))
    >>> tree.arrays().to_list()
    [{'channel': 3, 'charge': 0.5}, {'channel': 7, 'charge': 1.5}]
    >>> forthwith.unregister_format("pulses")

    The format is known to this process and processes forked from it. Open files are not affected by its
    replacement or removal.

    Args:
        name: The name of the format in errors, and in `File.format`.
        program: AwkwardForth, as text or a machine. It has one input, ``data``: the bytes of a block, all of
            which it has to read. It is run for each block by 64-bit machines, with empty outputs and offsets
            from 0.
        type: The type of an entry: text such as ``"{x: float64, hits: var * {id: int32}}"``, an ``ak.types``
            object, or a Form. The outputs of the program are its buffers, as in `ForthMachine64.array`. The
            fields of a record are the columns, each of shape ``(num_entries,)`` or ``(num_entries, ...)``;
            any other type is one column, ``value``. Complex numbers, half floats, dates and durations raise
            `UnsupportedError`.
        recognise: The files of the format, one of these or a list of them:

            * ``b"PULS"``: magic bytes at the beginning of files;
            * ``".pulses"``: a file extension, ignoring case. With magic bytes, these decide, also for files
              with other names;
            * a function of the first bytes (at most 4096) and the name, which returns ``True`` or ``False``.
              It is called after magic bytes and extensions.

            A file with the extension has this format, even if a built-in format would recognise its bytes;
            otherwise built-in formats have precedence. Among registered formats, the last one has precedence.
        header: Number of bytes before the data, unless ``blocks`` is a function. By default, the magic bytes.
        blocks: The division of files. Threads decode blocks in parallel, and a range of entries is read from
            its blocks only:

            * ``None``: not divided. The program reads all data, and its outputs determine the number of
              entries: it is run to count them, and again by each call that reads entries;
            * ``12``: all entries have 12 bytes, and are read in blocks of about 1 MB;
            * ``(65536, 4096)``: blocks of 65536 bytes with 4096 entries. The last block may be shorter if all
              entries have the same size;
            * a function of a binary file, called when a file is opened, which returns or yields ``(start,
              stop, entries)`` of each block, in bytes from the beginning of the file. The file cannot be used
              later.

            With blocks, the number of entries is on the stack of the program when it begins.
        replace: Whether to replace a registered format of this name, and to permit file extensions of
            built-in formats (``".parquet"``).

    Raises:
        RequestError: The outputs of the program do not match the type; a format of this name exists;
            ``recognise`` or ``blocks`` is invalid.
        ForthCompileError: The program does not compile.
        UnsupportedError: Tables do not support the type.
    """
    if isinstance(program, ForthMachine32):
        raise RequestTypeError("formats are read by machines of 64 bits; this program is in a ForthMachine32")
    if not isinstance(program, ForthMachine64):
        if not isinstance(program, str):
            raise RequestTypeError(f"a program is text or a ForthMachine64, not {_kind(program)}")
        program = ForthMachine64(program)  # which says best what does not compile
    _check_name(name)
    if header is not None and not _is_count(header):
        raise RequestTypeError(f"header is a number of bytes, not {_shown(header)}")
    magic, endings, function = _recognisers(recognise)
    _forthwith.register_format(
        name,
        program.source,
        described(type),
        magic,
        endings,
        recognised=function and _Recogniser(name, function),
        header=header,
        replace=replace,
        **_divided(name, blocks),
    )


def _divided(name: str, blocks: Any) -> dict[str, Any]:
    """Returns the division of files for the compiled part."""
    if blocks is None:
        return {}
    if callable(blocks):
        return {"listed": _Lister(name, blocks)}
    if _is_count(blocks) and blocks > 0:
        return {"entry_bytes": blocks}
    if isinstance(blocks, tuple) and len(blocks) == 2 and all(map(_is_count, blocks)):
        return {"blocks": blocks}
    raise RequestTypeError(
        f"blocks is the bytes of an entry, a pair of bytes and entries, or a function, not {_shown(blocks)}"
    )


def unregister_format(name: str) -> None:
    """Unregisters a format of `register_format`.

    Open files are not affected.

    Raises:
        RequestError: No format of that name is registered.
    """
    if not _forthwith.unregister_format(name):
        known = ", ".join(_forthwith.registered_formats())
        raise RequestError(f"no format {name!r} is registered{f' (there are: {known})' if known else ''}")


def _check_name(name: Any) -> None:
    if not isinstance(name, str):
        raise RequestTypeError(f"the name of a format is text, not {_kind(name)}")


def _recognisers(given: Any) -> tuple[bytes, list[str], Callable[[bytes, str], bool] | None]:
    """Returns magic bytes, file extensions, and a function."""
    every = list(given) if isinstance(given, (list, tuple, set, frozenset)) else [given]
    endings = [one for one in every if isinstance(one, str)]
    magics = [bytes(one) for one in every if isinstance(one, (bytes, bytearray))]
    functions = [one for one in every if callable(one)]
    for one in every:
        if not (isinstance(one, (str, bytes, bytearray)) or callable(one)):
            raise RequestTypeError(f"recognise takes magic bytes, endings of names and functions, not {_shown(one)}")
    for ending in endings:
        if not ending.startswith("."):
            raise RequestError(
                f"{ending!r} is no ending of names, which is a dot and a word: '.evt' (magic bytes are bytes)"
            )
    if len(magics) > 1 or len(functions) > 1 or b"" in magics:
        raise RequestError("recognise takes one text of magic bytes, which is not empty, and one function")
    return magics[0] if magics else b"", endings, functions[0] if functions else None


class _Recogniser:
    """Calls a user-defined function that recognises files."""

    def __init__(self, name: str, function: Callable[[bytes, str], Any]) -> None:
        self._name = name
        self._function = function

    def __call__(self, head: bytes, file: str) -> bool:
        try:
            answer: Any = self._function(head, file)
        except Exception as error:
            raise RequestError(
                f"the format {self._name}: recognise raised {_told(error)}\n  in {file}", file=file
            ) from error
        # NumPy has its own booleans.
        if type(answer) is bool or type(answer).__name__ in ("bool", "bool_"):
            return bool(answer)
        raise RequestError(
            f"the format {self._name}: recognise answered {_kind(answer)} instead of True or False\n  in {file}",
            file=file,
        )


class _Lister:
    """Calls a user-defined function that lists the blocks of a file."""

    def __init__(self, name: str, function: Callable[[BinaryIO], Any]) -> None:
        self._name = name
        self._function = function

    def __call__(self, stored: _forthwith.Stored) -> list[tuple[int, int, int]]:
        raw = _File(stored)
        found: list[tuple[int, int, int]] = []
        most = stored.size() + _EMPTY_BLOCKS
        file = io.BufferedReader(raw)
        try:
            given: Any = self._function(file)
            if given is None or isinstance(given, (str, bytes)) or not hasattr(given, "__iter__"):
                raise self._refused(stored, f"answered {_kind(given)} instead of blocks")
            for block in given:
                found.append(self._checked(stored, len(found), block))
                if len(found) > most:
                    raise self._refused(stored, f"gives more than {most} blocks, of a file of {stored.size()} bytes")
        except _Refused as error:
            raise RequestError(error.message, file=error.file, block=error.block) from None
        except Exception as error:
            raise self._raised(stored, error) from error
        finally:
            file.close()
        return found

    def _checked(self, stored: _forthwith.Stored, number: int, block: Any) -> tuple[int, int, int]:
        try:
            start, stop, entries = block
        except (TypeError, ValueError):
            raise self._refused(stored, f"gives {_shown(block)} instead of (start, stop, entries)", number) from None
        if not all(map(_is_count, (start, stop, entries))):
            what = f"gives {_shown(block)}, which are not three numbers from 0 on: start, stop, entries"
            raise self._refused(stored, what, number)
        return int(start), int(stop), int(entries)

    def _refused(self, stored: _forthwith.Stored, what: str, block: int | None = None) -> RequestError:
        where = stored.uri if block is None else f"{stored.uri}, block {block}"
        return _Refused(f"the format {self._name}: blocks {what}\n  in {where}", file=stored.uri, block=block)

    def _raised(self, stored: _forthwith.Stored, error: Exception) -> DamagedFileError:
        return DamagedFileError(
            f"the format {self._name}: blocks raised {_told(error)}\n  in {stored.uri}", file=stored.uri
        )


class _Refused(RequestError):
    """The result of a function is invalid."""


class _File(io.RawIOBase):
    """A binary file for the function that lists blocks."""

    def __init__(self, stored: _forthwith.Stored) -> None:
        self._stored: _forthwith.Stored | None = stored
        self._at = 0

    @property
    def name(self) -> str:
        """Path or URL of the file."""
        return self._open().uri

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at}.get(whence)
        at = (self._open().size() if base is None else base) + offset
        if at < 0:
            raise ValueError(f"negative seek position {at}")
        self._at = at
        return at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any, /) -> int:
        with memoryview(buffer).cast("B") as into:
            data = self._open().read(min(self._at, _MOST), len(into))
            into[: len(data)] = data
        self._at += len(data)
        return len(data)

    def close(self) -> None:
        self._stored = None
        super().close()

    def _open(self) -> _forthwith.Stored:
        if self._stored is None:
            raise ValueError("the file was only there while its blocks were listed")
        return self._stored


def _is_count(given: Any) -> bool:
    """Whether a value is a non-negative integer of at most 63 bits, of Python or NumPy."""
    number = None if isinstance(given, bool) else whole(given)
    return number is not None and 0 <= number <= _MOST


def _told(error: Exception) -> str:
    kind = type(error)
    name = (
        kind.__qualname__ if kind.__module__ in ("builtins", "forthwith") else f"{kind.__module__}.{kind.__qualname__}"
    )
    text = str(error)
    return f"{name}: {text}" if text else name


def _shown(given: Any) -> str:
    """Returns a shortened ``repr``, which raises no error."""
    return safe_text(reprlib.repr(given))


def _kind(given: Any) -> str:
    return "None" if given is None else f"{type(given).__name__} {_shown(given)}"
