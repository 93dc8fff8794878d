"""The errors, in Python's own terms.

Every exception is a `ForthwithError`, and also the built-in exception that fits: code that catches `KeyError`
or `OSError` keeps working. The attributes say where it happened, as far as it is known.
"""

from __future__ import annotations

from forthwith import _forthwith

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def place_text(file: str, path: str = "") -> str:
    """A file and an object in it as errors name them: on one line, whatever the names are. Some tables have no path."""
    return _forthwith.safe_text(f"{file}:{path}" if path else file)


class ForthwithError(Exception):
    """Base of all errors of this package.

    Attributes:
        message: The text, which is also what ``str`` gives.
        file: Path or URL of the file.
        object: Path within the file, such as ``dir/tree/branch``.
        block: Number of the basket.
        entry: Number of the entry.
        byte: Position in the file, or in the decompressed basket where ``block`` is known.
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
        # What a user gave may have credentials in it, and errors are logged. A name in the file may have escape sequences in
        # it, and errors are printed on terminals.
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
        # OSError would forget what is not among its arguments.
        state = dict(self.__dict__)
        if isinstance(self, OSError):
            state.update(errno=self.errno, filename=self.filename)
        return type(self), (self.message,), state

    def __str__(self) -> str:
        # KeyError would print the repr, OSError its number.
        return self.message


class RecoveryWarning(UserWarning):
    """A file was opened with ``recover=True``: what was found."""


class KeyInFileError(ForthwithError, KeyError):
    """Nothing of that name in a file, directory, tree or branch.

    Attributes:
        key: The name asked for.
        near: The most similar names there are, best first.
    """

    key: str | None = None
    near: Sequence[str] = ()


class UnsupportedError(ForthwithError, NotImplementedError):
    """Well-formed, but this version cannot read it. The message names the type or feature."""


class DamagedFileError(ForthwithError, ValueError):
    """The bytes contradict themselves or their format."""


class RequestError(ForthwithError, ValueError):
    """A request makes no sense for this file."""


class RequestTypeError(RequestError, TypeError):
    """An argument of a type that is not taken there."""


class RequestKeyError(RequestError, KeyInFileError):
    """A text that is the name of no branch, and no expression either, though it looks like one."""


class RequestIndexError(RequestError, IndexError):
    """A bin, an item or an axis that is not there."""


class SourceError(ForthwithError, OSError):
    """Bytes could not be read or written. An exception of a Python file object is the ``__cause__``."""


class MissingFileError(SourceError, FileNotFoundError):
    """There is no such file."""


class DeniedFileError(SourceError, PermissionError):
    """A file, folder or object of a store may not be read or written."""


class ClosedFileError(SourceError, ValueError):
    """The file was closed before."""


class OutOfMemoryError(ForthwithError, MemoryError):
    """Memory could not be allocated, or the data need more than the limit given to ``open``."""


class Cancelled(ForthwithError):
    """The operation was cancelled by the caller."""


class InternalError(ForthwithError, RuntimeError):
    """A defect of forthwith, not of the file."""


class ForthCompileError(ForthwithError, ValueError):
    """A text that is not an AwkwardForth program.

    Attributes:
        line: Line of the source, from 1.
        column: Column of that line, from 1.
    """

    def __init__(self, message: str = "", line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


class ForthRunError(ForthwithError, ValueError):
    """An AwkwardForth program stopped, or could not go on.

    Attributes:
        name: The error as the language calls it: ``read beyond``.
        line: Line of the failing instruction in the source, from 1, if there is one.
        column: Its column, from 1.
        bytecode: Its position in ``bytecodes``.
        instruction: The instruction itself.
        word: The user word it stands in; ``None`` in the main program.
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
    """An optional package is needed for what was asked."""


class BuilderError(ForthwithError, ValueError):
    """A value or command that a builder refuses; what it has already stays as it is. ``member`` is the place in the data."""


class BuilderTypeError(BuilderError, TypeError):
    """A value of another type than its place in the data has."""


class IntegerRangeError(BuilderError, OverflowError, RuntimeError):
    """An integer that does not fit in its column; a ``RuntimeError`` too, as Awkward Array has it."""


# They are printed and pickled by the names that users import them by.
for _found in list(globals().values()):
    if isinstance(_found, type) and issubclass(_found, (ForthwithError, UserWarning)):
        _found.__module__ = "forthwith.forth" if _found in (ForthCompileError, ForthRunError) else "forthwith"
del _found
