"""Tables that are being written, with uproot's attributes and conversions of values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self
from weakref import ProxyType, proxy

from forthwith._errors import RequestTypeError
from forthwith._packages import package
from forthwith._writable import file as ours
from forthwith.uproot._in_file import InFile
from forthwith.uproot._records import default_field_name, flattened, named_columns


class _Table(InFile, ours.WritableTable):
    """What trees and ntuples have in common."""

    def __init__(self, held: ours.WritableTable, file: Any) -> None:
        super().__init__(file, held._path, held._entries, held._types, held._kind, held._cycle)
        self._held = held

    @classmethod
    def of(cls, held: ours.WritableTable) -> Self:
        """A table of a file, which keeps the file open. The file's own one does not: it would keep itself open."""
        found: Any = held._file
        # What a proxy gives as its file is the file itself.
        file = found.file
        weak: Any = found if isinstance(found, ProxyType) else proxy(file)
        held._file = weak
        return cls(held, file)

    def _check(self) -> None:
        if not self._file.closed and self._file._tables.get(self._path) is self._held:
            return
        super()._check()

    @property
    def path(self) -> tuple[str, ...]:  # type: ignore[override]
        """The names of the directories that it is in, and its own."""
        return tuple(self._path.split("/"))

    @property
    def object_path(self) -> str:
        """The path in the file, between slashes."""
        return f"/{self._path}/"

    def __exit__(self, *exception: object) -> None:
        self._file.__exit__(*exception)

    def extend(self, data: Any) -> None:
        """Appends entries: a dict of arrays, an Awkward Array of records, a data frame, Arrow data.

        Numbers become those of the columns' types where that changes no value: whole floating-point numbers are taken for
        integers, and 0 and 1 for truth values.

        Raises:
            RequestTypeError: Numbers that a column's type cannot hold (also a ``TypeError``).
        """
        columns = self._as_columns(data)
        if isinstance(columns, Mapping):
            columns = {name: exact(str(name), column, self._types.get(name)) for name, column in columns.items()}
        super().extend(columns)
        self._held._entries = self._entries

    def _as_columns(self, data: Any) -> Any:
        return named_columns(data)


class WritableTree(_Table):
    """A tree that is being written: what `mktree` gives."""

    def _as_columns(self, data: Any) -> Any:
        columns = named_columns(data)
        file: Any = self._file
        name_of = file._field_names.get(self._path, default_field_name)
        return flattened(columns, name_of, self._types) if isinstance(columns, Mapping) else columns

    def __repr__(self) -> str:
        return f"<WritableTree {self.object_path!r} of {self._file.file_path}>"


class WritableNTuple(_Table, ours.WritableNTuple):
    """An RNTuple that is being written: what `mkrntuple` gives."""

    def __repr__(self) -> str:
        return f"<WritableNTuple {self.object_path!r} of {self._file.file_path}>"


def exact(name: str, value: Any, kind: Any) -> Any:
    """Values with the numbers of a type, where integers or truth values are wanted and all numbers are such.

    Raises:
        RequestTypeError: A number is none.
    """
    np = package("numpy")
    dtype = _numbers(np, kind)
    if dtype is None or dtype.kind not in "biu":
        return value
    if isinstance(value, (list, tuple)):
        try:
            array = np.asarray(value)
        except ValueError:
            # Lists of several lengths.
            return value
        return _cast(np, name, array, dtype) if array.dtype.kind in "biuf" else value
    if isinstance(value, np.ndarray):
        is_masked = isinstance(value, np.ma.MaskedArray)
        return value if is_masked or value.dtype.kind not in "biuf" else _cast(np, name, value, dtype)
    if not type(value).__module__.startswith("awkward.highlevel"):
        return value

    def numbers(layout: Any, **_: Any) -> Any:
        if not layout.is_numpy or layout.data.dtype.kind not in "biuf" or "__array__" in layout.parameters:
            return None
        return layout.copy(data=_cast(np, name, layout.data, dtype))

    ak = package("awkward")
    # Values that no entry has may be anything.
    return ak.transform(numbers, ak.to_packed(value))


def _numbers(np: Any, kind: Any) -> Any:
    """The numbers in lists and options of a type; ``None`` if it has others."""
    ak = package("awkward")
    while isinstance(kind, (ak.types.ListType, ak.types.RegularType, ak.types.OptionType)):
        if "__array__" in kind.parameters:
            return None
        kind = kind.content
    if isinstance(kind, ak.types.NumpyType):
        return np.dtype(kind.primitive)
    return kind if isinstance(kind, np.dtype) else None


def _cast(np: Any, name: str, numbers: Any, dtype: Any) -> Any:
    """Numbers of a type of integers or truth values. Integers of other sizes are left to whoever writes them."""
    if numbers.dtype == dtype or (numbers.dtype.kind in "biu" and dtype.kind in "iu"):
        return numbers
    if dtype.kind == "b":
        fits = (numbers == 0) | (numbers == 1)
    else:
        bits = dtype.itemsize * 8 - (dtype.kind == "i")
        # Comparisons with powers of two are exact, and nothing compares to what is not a number.
        fits = (numbers < 2.0**bits) & (numbers >= (-(2.0**bits) if dtype.kind == "i" else 0.0))
        fits &= numbers == np.floor(numbers)
    if not fits.all():
        raise RequestTypeError(f"column {name!r} is {dtype}, which cannot hold {numbers[~fits].flat[0]}")
    return numbers.astype(dtype)
