"""What is written as a table, and columns by their types."""

from __future__ import annotations

from collections.abc import Mapping

from forthwith import _forthwith
from forthwith._errors import RequestTypeError
from forthwith._given import given
from forthwith._objects import Object
from forthwith._packages import package

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def is_table(value: Any) -> bool:
    """Whether a value is columns with names: a dict of arrays, a data frame, Arrow data, an array of records."""
    if isinstance(value, Mapping):
        return "_typename" not in value and not isinstance(value, Object)
    if hasattr(value, "__arrow_c_stream__") or type(value).__module__.startswith("awkward."):
        return True
    return getattr(getattr(value, "dtype", None), "names", None) is not None or _is_frame(value)


def _is_frame(value: Any) -> bool:
    return type(value).__name__ == "DataFrame" and hasattr(value, "columns")


def says_types(columns: Any) -> bool:
    """Whether columns are given by their types, without values."""
    return isinstance(columns, Mapping) and bool(columns) and all(_is_type(kind) for kind in columns.values())


def _is_type(kind: Any) -> bool:
    import numpy as np

    is_pair = isinstance(kind, tuple) and len(kind) == 2 and _is_type(kind[0]) and not isinstance(kind[1], str)
    is_awkward = type(kind).__module__.startswith("awkward.types")
    return isinstance(kind, (str, type, np.dtype)) or is_pair or is_awkward


def numbers(columns: Mapping[str, Any]) -> dict[str, Any]:
    """The NumPy types of the columns that are spelled so."""
    import numpy as np

    found = {}
    for name, kind in columns.items():
        try:
            dtype = np.dtype(kind)
        except (TypeError, ValueError):
            continue
        if dtype.kind in "biuf" and dtype.subdtype is None:
            found[name] = dtype.newbyteorder("=")
    return found


def taken(columns: Any, types: Mapping[str, Any]) -> _forthwith.Given:
    """Columns as they are written: of a data frame without marks of missing values, and lists of numbers of a type."""
    import numpy as np

    if _is_frame(columns) and type(columns).__module__.startswith("pandas"):
        plain = {str(name): _of_series(columns[name]) for name in columns.columns}
        columns = {name: values if values.dtype.kind != "O" else values.tolist() for name, values in plain.items()}
    if isinstance(columns, Mapping) and types:
        columns = {
            name: _as_numbers(np, name, value, types[name]) if name in types else value
            for name, value in columns.items()
        }
    return given(columns)


def _of_series(series: Any) -> Any:
    """The values of a column of pandas, masked where they are missing and their type has no mark for that."""
    import numpy as np

    dtype = getattr(series.dtype, "numpy_dtype", None)
    if dtype is None or not series.isna().any():
        return series.to_numpy()
    return np.ma.array(series.to_numpy(dtype, na_value=0), mask=series.isna().to_numpy())


def _as_numbers(np: Any, name: str, value: Any, dtype: Any) -> Any:
    """Numbers as those of a type, if all of them are numbers of it; real ones may lose digits, not their size."""
    if _has_missing(np, value):
        # Whoever writes has a word for it, or refuses it.
        return value
    numbers = np.asarray(value)
    if numbers.ndim == 0:
        raise RequestTypeError(f"column {name!r} is one value, where a value for each entry is needed: {value!r}")
    if numbers.dtype == dtype:
        return numbers
    if numbers.dtype.kind == "O" and any(one is None for one in numbers.flat):
        return value
    if numbers.size == 0 and numbers.dtype.kind in "biufO":
        # An empty list is one of float64 for NumPy.
        return numbers.astype(dtype)
    if numbers.dtype.kind in "biu" and dtype.kind in "iu":
        limits, least, most = np.iinfo(dtype), int(numbers.min()), int(numbers.max())
        if least < limits.min or most > limits.max:
            wrong = least if least < limits.min else most
            raise RequestTypeError(f"column {name!r} is {dtype}, which has no number {wrong}")
        return numbers.astype(dtype)
    try:
        with np.errstate(over="raise"):
            return numbers.astype(dtype, casting="same_kind")
    except FloatingPointError as error:
        raise RequestTypeError(f"column {name!r} is {dtype}, and has numbers that are too large for it") from error
    except TypeError as error:
        raise RequestTypeError(f"column {name!r} is {dtype}, and what was given is {numbers.dtype}") from error


def _has_missing(np: Any, value: Any) -> bool:
    if hasattr(value, "isna"):  # pandas
        return str(value.dtype)[:1].isupper() and bool(value.isna().any())
    count = getattr(value, "null_count", 0)  # Arrow, and polars, whose is a method
    return bool(np.ma.is_masked(value)) or bool(count() if callable(count) else count)


def empty(columns: Mapping[str, Any]) -> _forthwith.Given:
    """Columns of these types, without entries."""
    ak = package("awkward")
    return given(
        {name: ak.Array(_form(ak, name, kind).length_zero_array(highlevel=False)) for name, kind in columns.items()}
    )


def _form(ak: Any, name: str, kind: Any) -> Any:
    import numpy as np

    if isinstance(kind, ak.types.Type):
        # Not by its spelling, which some types do not have.
        return ak.forms.from_type(kind)
    try:
        dtype = np.dtype(kind)
    except (TypeError, ValueError):
        dtype = None
    if dtype is not None and dtype.base.kind in "biufmM":
        return ak.forms.from_dtype(dtype.newbyteorder("="))
    try:
        return ak.forms.from_type(ak.types.from_datashape(str(kind), highlevel=False))
    except Exception as error:
        raise RequestTypeError(f"column {name!r} has no type that NumPy or datashape knows: {kind!r}") from error
