"""Common methods of builders."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any


class Commands:
    """Conversions of the complete entries, and context managers for lists, tuples and records."""

    _nested: type[Nested]
    snapshot: Any
    begin_list: Any
    end_list: Any
    begin_tuple: Any
    end_tuple: Any
    begin_record: Any
    end_record: Any

    def to_list(self) -> Any:
        """Returns the complete entries as Python objects."""
        return self.snapshot().to_list()

    tolist = to_list

    def to_numpy(self, allow_missing: bool = True) -> Any:
        """Returns the complete entries as a NumPy array, if possible."""
        return self.snapshot().to_numpy(allow_missing=allow_missing)

    def show(self, *args: Any, **kwargs: Any) -> Any:
        """Prints the complete entries, with the options of ``ak.Array.show``."""
        return self.snapshot().show(*args, **kwargs)

    def list(self) -> Nested:
        """Returns a context manager that begins and ends a list."""
        return self._nested(self, "list", self.begin_list, self.end_list)

    def tuple(self, numfields: int) -> Nested:
        """Returns a context manager that begins and ends a tuple."""
        return self._nested(self, "tuple", lambda: self.begin_tuple(numfields), self.end_tuple)

    def record(self, name: str | None = None) -> Nested:
        """Returns a context manager that begins and ends a record."""
        return self._nested(self, "record", lambda: self.begin_record(name), self.end_record)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Returns the complete entries for NumPy."""
        return self.snapshot().__array__(dtype=dtype, copy=copy)


class Nested:
    """A context manager that begins and ends a list, tuple or record."""

    def __init__(self, builder: Any, name: str, begin: Any, end: Any) -> None:
        self._builder = builder
        self._name = name
        self._begin = begin
        self._end = end

    def __enter__(self) -> None:
        self._begin()

    def __exit__(
        self, type: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._end()

    def __repr__(self) -> str:
        return abbreviated(f"<ArrayBuilder.{self._name} type=", self._builder.typestr)


def abbreviated(before: str, typestr: str) -> str:
    """Returns the repr of a builder, with its shortened type."""
    text = repr(typestr)
    most = 80 - len(before) - len(">")
    if len(text) > most:
        text = text[: most - 4] + "..." + text[-1]
    return f"{before}{text}>"
