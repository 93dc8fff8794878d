"""Whole numbers that would become floats where arrays of several types are put together."""

from __future__ import annotations

from contextlib import contextmanager

from forthwith._errors import RequestError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

# A float64 has all whole numbers up to here.
_ALL = 2**53


class Rounded(RequestError):
    """A whole number that is no float.

    Attributes:
        number: The number.
        column: The column that has it, if it has a name.
        part: The position of the array that has it.
    """

    number = 0
    column: str | None = None
    part = 0

    @classmethod
    def of(cls, number: int, column: str | None, part: int) -> Rounded:
        """The error of a number."""
        what = "a column" if column is None else f"column {column}"
        error = cls(f"{what} has {number}, which is no float64, the type of all files together")
        error.number, error.column, error.part = number, column, part
        return error


@contextmanager
def named(label: str) -> Iterator[None]:
    """Says of which column a number is that an error without a name is about."""
    try:
        yield
    except Rounded as error:
        raise Rounded.of(error.number, error.column or label, error.part) from None


def unlike(error: Exception) -> RequestError:
    """The error of a library that does not put columns of several types together."""
    return RequestError(
        f"the files have columns of different types: {error}\n"
        '  missing="null" reads numbers in the type that has those of all files'
    )


def mixed(np: Any, dtypes: Iterable[Any]) -> bool:
    """Whether arrays of these types become floats of which none may be some whole numbers of them."""
    kinds = {dtype for dtype in dtypes if dtype.kind in "iuf"}
    return (
        len(kinds) > 1
        and any(dtype.kind in "iu" and dtype.itemsize == 8 for dtype in kinds)
        and np.result_type(*kinds).kind == "f"
    )


def check(np: Any, label: str | None, dtypes: list[Any], numbers: Callable[[int], Any]) -> None:
    """Refuses whole numbers that are no floats, if parts of a column become floats together.

    Args:
        np: NumPy.
        label: The name of the column, if it has one.
        dtypes: The type of each part.
        numbers: The numbers of a part, in one dimension, without what is missing.

    Raises:
        Rounded: A number would become another one.
    """
    if not mixed(np, dtypes):
        return
    for part, dtype in enumerate(dtypes):
        if dtype.kind not in "iu" or dtype.itemsize != 8:
            continue
        values = numbers(part)
        large = values > _ALL
        if dtype.kind == "i":
            large |= values < -_ALL
        for number in values[large].tolist():
            if int(float(number)) != number:
                raise Rounded.of(number, label, part)
