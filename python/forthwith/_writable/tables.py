"""Recognition and conversion of tables, and of columns given by their types."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache

from forthwith import _forthwith
from forthwith._errors import RequestError, RequestTypeError, UnsupportedError
from forthwith._given import given, is_arrow, packed
from forthwith._objects import Object
from forthwith._packages import package

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


def is_table(value: Any) -> bool:
    """Whether a value has named columns: a dict of arrays, a data frame, Arrow data, an array of records."""
    if isinstance(value, Mapping):
        return "_typename" not in value and not isinstance(value, Object)
    if hasattr(value, "__arrow_c_stream__") or type(value).__module__.startswith("awkward."):
        return True
    return getattr(getattr(value, "dtype", None), "names", None) is not None or _is_frame(value)


def _is_frame(value: Any) -> bool:
    return type(value).__name__ == "DataFrame" and hasattr(value, "columns")


def by_name(columns: Any) -> Any:
    """Returns columns by name for the type of an Awkward Array of records, or for an Arrow schema."""
    if hasattr(columns, "empty_table"):
        return columns.empty_table()
    if not type(columns).__module__.startswith("awkward.types"):
        return columns
    record = columns.content if type(columns).__name__ == "ArrayType" else columns
    if type(record).__name__ != "RecordType" or record.is_tuple:
        raise RequestTypeError(f"a table needs the type of records with names, and this is {str(record)!r}")
    return dict(zip(record.fields, record.contents, strict=True))


def says_types(columns: Any) -> bool:
    """Whether columns are given by their types, without values."""
    return isinstance(columns, Mapping) and bool(columns) and all(_is_type(kind) for kind in columns.values())


def _is_type(kind: Any) -> bool:
    import numpy as np

    is_pair = isinstance(kind, tuple) and len(kind) == 2 and _is_type(kind[0]) and not isinstance(kind[1], str)
    is_awkward = type(kind).__module__.startswith("awkward.types")
    return isinstance(kind, (str, type, np.dtype)) or is_pair or is_awkward


def types_of(columns: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the types to which values are converted: NumPy's for numbers, otherwise Awkward Array's."""
    import numpy as np

    found: dict[str, Any] = {}
    for name, kind in columns.items():
        dtype = _dtype(np, kind)
        if dtype is not None and dtype.kind in "biuf" and dtype.subdtype is None:
            found[name] = dtype.newbyteorder("=")
        elif not isinstance(kind, np.dtype):
            found[name] = _form(package("awkward"), name, kind).type
    return found


def spelled_types(columns: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Returns `types_of` for types as text, without those that Awkward Array cannot parse."""
    found: dict[str, Any] = {}
    for name, spelled in columns:
        with suppress(RequestTypeError):
            found.update(types_of({name: spelled}))
    return found


def _dtype(np: Any, kind: Any) -> Any:
    try:
        return np.dtype(kind)
    except (TypeError, ValueError, SyntaxError):
        return None


def taken(columns: Any, types: Mapping[str, Any], is_new: bool = False) -> _forthwith.Given:
    """Converts columns for the compiled part, with missing values of data frames masked.

    Args:
        columns: The columns.
        types: Types of the existing table.
        is_new: Whether the columns begin a table, which includes the index of a data frame.
    """
    import numpy as np

    columns = _with_index(columns, types, is_new)
    if isinstance(columns, Iterator) and not is_arrow(columns):
        columns = list(columns)
    if types and isinstance(columns, (list, tuple)) and all(isinstance(row, Mapping) for row in columns):
        # Converts rows to columns, whose numbers are then converted to the types.
        names = dict.fromkeys(name for row in columns for name in row) if columns else types
        columns = {name: [row.get(name) for row in columns] for name in names}
    if isinstance(columns, Mapping) or _is_frame(columns):
        # Columns 1 and "1" would be one, and for duplicate names pandas returns both at once.
        names = Counter(map(str, columns if isinstance(columns, Mapping) else columns.columns))
        if again := [name for name, count in names.items() if count > 1]:
            raise RequestError(f"several columns have the name {again[0]!r}")
    if _is_frame(columns) and type(columns).__module__.startswith("pandas"):
        plain = {str(name): _of_series(columns[name]) for name in columns.columns}
        columns = {name: values if values.dtype.kind != "O" else values.tolist() for name, values in plain.items()}
    if types and type(columns).__module__.startswith("awkward.") and getattr(columns, "fields", None):
        columns = {name: columns[name] for name in columns.fields}
    if isinstance(columns, Mapping) and types:
        columns = {name: _as_type(np, name, value, types.get(name)) for name, value in columns.items()}
    return given(columns)


def _with_index(columns: Any, types: Mapping[str, Any], is_new: bool) -> Any:
    """Returns a pandas frame with its index as columns, named as by ``reset_index``.

    Named levels always become columns. Unnamed levels become columns of a new table unless they are the
    default index, and columns of an existing table if it has a column of that name.
    """
    if not _is_frame(columns) or not type(columns).__module__.startswith("pandas"):
        return columns
    names = list(columns.index.names)
    unnamed = not _counts_rows(columns.index) if is_new else "index" in types or "level_0" in types
    levels = [at for at, name in enumerate(names) if name is not None or unnamed]
    try:
        return columns.reset_index(level=levels) if levels else columns
    except ValueError as error:
        raise RequestError(f"the index of a data frame as a column: {error}") from None


def _counts_rows(index: Any) -> bool:
    """Whether a pandas index is the default one."""
    return type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)


def _as_type(np: Any, name: str, value: Any, kind: Any) -> Any:
    """Converts values to the declared type of a column, unless they are Arrow data with types."""
    if isinstance(kind, np.dtype):
        return _as_numbers(np, name, value, kind)
    if kind is None or is_arrow(value):
        return value
    ak = package("awkward")
    try:
        layout = packed(ak.to_layout(ak.Array(value)))
    except (TypeError, ValueError):
        # Awkward Array has no types for dates, decimals and others.
        return value
    return ak.Array(_nested(ak, np, name, layout, kind))


def _nested(ak: Any, np: Any, name: str, layout: Any, kind: Any) -> Any:
    """Returns a packed layout with numbers converted to a type of the same nesting."""
    if isinstance(kind, ak.types.OptionType):
        kind = kind.content
    if layout.is_option:
        return layout.copy(content=_nested(ak, np, name, layout.content, kind))
    if layout.is_union:
        return layout.copy(contents=[_nested(ak, np, name, content, kind) for content in layout.contents])
    if isinstance(kind, ak.types.UnionType):
        # Uses the record type with these fields if it is unique; the alternative is selected elsewhere.
        plain = [one.content if isinstance(one, ak.types.OptionType) else one for one in kind.contents]
        records = [one for one in plain if isinstance(one, ak.types.RecordType) and not one.is_tuple]
        is_named = layout.is_record and not layout.is_tuple
        alike = [one for one in records if is_named and set(one.fields) == set(layout.fields)]
        return _nested(ak, np, name, layout, alike[0]) if len(set(map(str, alike))) == 1 else layout
    if layout.is_numpy and layout.purelist_depth > 1 and isinstance(kind, (ak.types.ListType, ak.types.RegularType)):
        layout = layout.to_RegularArray()
    if layout.is_regular and isinstance(kind, ak.types.ListType):
        layout = layout.to_ListOffsetArray64(True)
    if layout.is_list and isinstance(kind, (ak.types.ListType, ak.types.RegularType)):
        size = getattr(kind, "size", None)
        if size and not layout.is_regular and bool((np.diff(np.asarray(layout.offsets)) == size).all()):
            layout = layout.to_RegularArray()
        return layout.copy(content=_nested(ak, np, name, layout.content, kind.content))
    if layout.is_record and isinstance(kind, ak.types.RecordType) and layout.is_tuple == kind.is_tuple:
        names = range(len(kind.contents)) if kind.is_tuple else kind.fields
        if set(layout.fields) != {str(one) for one in names}:
            return layout
        contents = [_nested(ak, np, f"{name}.{one}", layout.content(one), kind.content(one)) for one in names]
        return layout.copy(contents=contents, fields=None if kind.is_tuple else list(names))
    if not layout.is_numpy or "__array__" in layout.parameters:
        return layout
    while isinstance(kind, ak.types.RegularType):
        kind = kind.content
    if isinstance(kind, ak.types.NumpyType) and layout.data.dtype.kind in "biuf":
        return layout.copy(data=_converted(np, name, layout.data, np.dtype(kind.primitive)))
    return layout


def _of_series(series: Any) -> Any:
    """Returns the values of a pandas column, masked where missing unless the type has its own marker."""
    import numpy as np

    dtype = getattr(series.dtype, "numpy_dtype", None)
    if not series.isna().any():
        return series.to_numpy()
    if dtype is None:
        from pandas.api.types import infer_dtype

        # For text columns, pandas marks missing values by NaN.
        is_text = infer_dtype(series, skipna=True) == "string"
        return series.astype(object).where(series.notna(), None).to_numpy() if is_text else series.to_numpy()
    return np.ma.array(series.to_numpy(dtype, na_value=0), mask=series.isna().to_numpy())


def _as_numbers(np: Any, name: str, value: Any, dtype: Any) -> Any:
    """Converts numbers to a dtype, if it can represent them; floats may be rounded."""
    if _has_missing(np, value):
        # The writer replaces or refuses missing values.
        return value
    try:
        numbers = np.asarray(value)
    except ValueError as error:
        if type(value).__module__.startswith("awkward."):
            # The writer refuses lists and missing values, with their types.
            return value
        what = "lists of several lengths, or no numbers"
        raise RequestTypeError(f"column {name!r} is {dtype}, but the given values are {what}") from error
    if numbers.ndim == 0:
        raise RequestTypeError(f"column {name!r} is one value, where a value for each entry is needed: {value!r}")
    if numbers.dtype.kind == "O" and any(one is None for one in numbers.flat):
        return value
    return _converted(np, name, numbers, dtype)


def _converted(np: Any, name: str, numbers: Any, dtype: Any) -> Any:
    if numbers.dtype == dtype or dtype.kind not in "biuf":
        return numbers
    if numbers.size == 0 and numbers.dtype.kind in "biufO":
        # NumPy converts an empty list to float64.
        return numbers.astype(dtype)
    if numbers.dtype.kind in "biu" and dtype.kind in "iu":
        limits, least, most = np.iinfo(dtype), int(numbers.min()), int(numbers.max())
        if least < limits.min or most > limits.max:
            wrong = least if least < limits.min else most
            raise RequestTypeError(f"column {name!r} is {dtype}, which cannot hold {wrong}")
        return numbers.astype(dtype)
    try:
        with np.errstate(over="raise"):
            return numbers.astype(dtype, casting="same_kind")
    except FloatingPointError as error:
        raise RequestTypeError(f"column {name!r} is {dtype}, but numbers are too large for it") from error
    except TypeError as error:
        raise RequestTypeError(f"column {name!r} is {dtype}, but the given values are {numbers.dtype}") from error


def refuse_times(times: Iterable[tuple[str, str]], file: str, path: str) -> None:
    """Raises an error for columns of dates and times, which trees store as integers only.

    Raises:
        UnsupportedError: A column has times; the message has its name and type.
    """
    for name, kind in times:
        what = (
            "mktree(name, columns, times_as_integers=True) writes whole numbers, with their unit in the branch's title"
        )
        raise UnsupportedError(f"{kind} in a tree (column {name!r}): {what}\n  in {file}:{path}")


def _has_missing(np: Any, value: Any) -> bool:
    if hasattr(value, "isna"):  # pandas
        return str(value.dtype)[:1].isupper() and bool(value.isna().any())
    count = getattr(value, "null_count", 0)  # Arrow, and polars, whose is a method
    return bool(np.ma.is_masked(value)) or bool(count() if callable(count) else count)


def empty(columns: Mapping[str, Any]) -> _forthwith.Given:
    """Returns columns of these types without entries."""
    ak = package("awkward")
    return given(
        {name: ak.Array(_form(ak, name, kind).length_zero_array(highlevel=False)) for name, kind in columns.items()}
    )


def _form(ak: Any, name: str, kind: Any) -> Any:
    import numpy as np

    if isinstance(kind, ak.types.ArrayType):
        # The length of an array type is the number of entries, not of items.
        kind = kind.content
    if isinstance(kind, ak.types.Type):
        # Converted directly, because some types have no text form.
        return ak.forms.from_type(kind)
    if kind in (str, bytes):
        kind = "string" if kind is str else "bytes"
    dtype = _dtype(np, kind)
    if dtype is not None and dtype.base.kind in "biufmM":
        return ak.forms.from_dtype(dtype.newbyteorder("="))
    try:
        return ak.forms.from_type(_parsed(str(kind)))
    except Exception as error:
        known = "NumPy knows 'f4', and datashape 'float32', 'var * float32' and 'string'; a text is written under its own name"
        raise RequestTypeError(
            f"column {name!r} has no type that NumPy or datashape knows: {kind!r}; {known}"
        ) from error


@cache
def _parsed(text: str) -> Any:
    """Parses a type, cached because that takes milliseconds."""
    return package("awkward").types.from_datashape(text, highlevel=False)
