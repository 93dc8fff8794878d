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
        plain = {str(name): columns[name].to_numpy() for name in columns.columns}
        columns = {name: values if values.dtype.kind != "O" else values.tolist() for name, values in plain.items()}
    if isinstance(columns, Mapping) and types:
        columns = {
            name: np.asarray(value).astype(types[name], casting="same_kind") if name in types else value
            for name, value in columns.items()
        }
    return given(columns)


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
