"""Check for integers that lose precision when arrays of several types are concatenated."""

from __future__ import annotations

from contextlib import contextmanager

from forthwith._errors import RequestError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

# All integers up to this one are exact in float64.
_ALL = 2**53


class Rounded(RequestError):
    """An integer that a float cannot represent.

    Attributes:
        number: The integer.
        column: The name of its column, if known.
        part: The position of its array.
    """

    number = 0
    column: str | None = None
    part = 0

    @classmethod
    def of(cls, number: int, column: str | None, part: int) -> Rounded:
        """Returns the error for an integer."""
        what = "a column" if column is None else f"column {column}"
        error = cls(f"{what} has {number}, which is no float64, the type of all files together")
        error.number, error.column, error.part = number, column, part
        return error


@contextmanager
def named(label: str) -> Iterator[None]:
    """Adds the name of a column to errors without one."""
    try:
        yield
    except Rounded as error:
        raise Rounded.of(error.number, error.column or label, error.part) from None


def unlike(error: Exception) -> RequestError:
    """Returns the error for columns whose types a library does not concatenate."""
    return RequestError(
        f"the files have columns of different types: {error}\n"
        '  missing="null" reads numbers in the type that has those of all files'
    )


def mixed(np: Any, dtypes: Iterable[Any]) -> bool:
    """Whether arrays of these types become floats that cannot represent all of their integers."""
    kinds = {dtype for dtype in dtypes if dtype.kind in "iuf"}
    return (
        len(kinds) > 1
        and any(dtype.kind in "iu" and dtype.itemsize == 8 for dtype in kinds)
        and np.result_type(*kinds).kind == "f"
    )


def check(np: Any, label: str | None, dtypes: list[Any], numbers: Callable[[int], Any]) -> None:
    """Raises an error for integers that the common floating-point type cannot represent.

    Args:
        np: NumPy.
        label: The name of the column, if any.
        dtypes: The dtype of each part.
        numbers: Function that returns the numbers of a part, flattened and without missing values.

    Raises:
        Rounded: An integer cannot be represented.
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
