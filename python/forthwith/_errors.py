"""Exceptions of the package.

Every exception is a `ForthwithError`, and also an instance of the matching built-in exception, so that
handlers of `KeyError` or `OSError` apply. Attributes have the place of the error, as far as it is known.
"""

from __future__ import annotations

from forthwith import _forthwith

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def place_text(file: str, path: str = "") -> str:
    """Returns a file and an object in it for errors, on one line. Some tables have no path."""
    return _forthwith.safe_text(f"{file}:{path}" if path else file)


class ForthwithError(Exception):
    """Base of all errors of this package.

    Attributes:
        message: The text, which ``str`` returns as well.
        file: Path or URL of the file.
        object: Path within the file, such as ``dir/tree/branch``.
        block: Number of the basket, counted from 0.
        entry: Number of the entry, counted from 0.
        byte: Byte offset in the file, or in the decompressed basket if ``block`` is set.
        member: Path of the member within the entry, such as ``hits[].energy``.
    """

    def __init__(
        self,
        message: str = "",
        *,
        file: str | None = None,
        object: str | None = None,
        block: int | None = None,
        entry: int | None = None,
        byte: int | None = None,
        member: str | None = None,
    ) -> None:
        # Names from the user may contain credentials, and errors are logged. Names in the file may contain
        # escape sequences, and errors are printed on terminals.
        message = _forthwith.safe_lines(_forthwith.redact(message))
        super().__init__(message)
        self.message = message
        self.file = None if file is None else _forthwith.redact(file)
        self.object = object
        self.block = block
        self.entry = entry
        self.byte = byte
        self.member = member

    def __reduce__(self) -> tuple[object, ...]:
        # OSError would drop attributes that are not arguments.
        state = dict(self.__dict__)
        if isinstance(self, OSError):
            state.update(errno=self.errno, filename=self.filename)
        return type(self), (self.message,), state

    def __str__(self) -> str:
        # KeyError would return the repr, and OSError include the number.
        return self.message


class RecoveryWarning(UserWarning):
    """Reports the result of opening a file with ``recover=True``."""


class KeyInFileError(ForthwithError, KeyError):
    """A file, directory, tree or branch has no item of this name.

    Attributes:
        key: The requested name.
        near: The most similar names, best first.
    """

    key: str | None = None
    near: Sequence[str] = ()


class UnsupportedError(ForthwithError, NotImplementedError):
    """A valid file that this version cannot read. The message names the type or feature."""


class DamagedFileError(ForthwithError, ValueError):
    """The bytes are inconsistent or violate their format."""


class RequestError(ForthwithError, ValueError):
    """A request is invalid for this file."""


class RequestTypeError(RequestError, TypeError):
    """An argument has an unsupported type."""


class RequestKeyError(RequestError, KeyInFileError):
    """A text is neither the name of a branch nor a valid expression."""


class RequestIndexError(RequestError, IndexError):
    """A bin, item or axis is out of range."""


class SourceError(ForthwithError, OSError):
    """Bytes could not be read or written. The exception of a Python file object is the ``__cause__``."""


class MissingFileError(SourceError, FileNotFoundError):
    """The file does not exist."""


class DeniedFileError(SourceError, PermissionError):
    """A file, folder or object of a store may not be accessed."""


class ClosedFileError(SourceError, ValueError):
    """The file was closed."""


class OutOfMemoryError(ForthwithError, MemoryError):
    """Memory could not be allocated, or data exceed the ``memory`` limit of ``open``."""


class Cancelled(ForthwithError):
    """The operation was cancelled by the caller."""


class InternalError(ForthwithError, RuntimeError):
    """A defect of forthwith, rather than of the file."""


class ForthCompileError(ForthwithError, ValueError):
    """A text is not a valid AwkwardForth program.

    Attributes:
        line: Line of the source, from 1.
        column: Column in that line, from 1.
    """

    def __init__(self, message: str = "", line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


class ForthRunError(ForthwithError, ValueError):
    """An AwkwardForth program stopped with an error, or cannot continue.

    Attributes:
        name: Name of the error in the language, such as ``read beyond``.
        line: Line of the failing instruction in the source, from 1, if known.
        column: Its column, from 1.
        bytecode: Its position in the bytecode.
        instruction: The instruction itself.
        word: The enclosing user-defined word; ``None`` in the main program.
    """

    def __init__(
        self, message: str = "", name: str = "", place: tuple[int, int, int, str, str | None] | None = None
    ) -> None:
        if place is not None:
            line, column, _, instruction, word = place
            where = "" if word is None else f" in {word}"
            message += f"\n  at {instruction!r}{where}, line {line} col {column}"
        super().__init__(message)
        self.name = name
        self.line: int | None = place and place[0]
        self.column: int | None = place and place[1]
        self.bytecode: int | None = place and place[2]
        self.instruction: str | None = place and place[3]
        self.word: str | None = place and place[4]


class MissingPackageError(ForthwithError, ImportError):
    """A required optional package is not installed."""


class BuilderError(ForthwithError, ValueError):
    """A builder refuses a value or command and keeps its state. ``member`` is the place in the data."""


class BuilderTypeError(BuilderError, TypeError):
    """A value has another type than expected at its place in the data."""


class IntegerRangeError(BuilderError, OverflowError, RuntimeError):
    """An integer exceeds its column; also a ``RuntimeError``, as in Awkward Array."""


# Exceptions are printed and pickled by the public names.
for _found in list(globals().values()):
    if isinstance(_found, type) and issubclass(_found, (ForthwithError, UserWarning)):
        _found.__module__ = "forthwith.forth" if _found in (ForthCompileError, ForthRunError) else "forthwith"
del _found
