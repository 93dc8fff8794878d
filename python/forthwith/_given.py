"""Conversion of arrays for writers."""

from __future__ import annotations

import json
import reprlib
from collections.abc import Iterator
from datetime import date, time, timedelta
from decimal import Decimal
from uuid import UUID

from forthwith import _forthwith, _rows
from forthwith._errors import ForthwithError, RequestError, RequestTypeError, UnsupportedError
from forthwith._packages import package
from forthwith._tree.protocols import NotAnArray

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


# Types of values that are not columns.
_SCALARS = (str, bytes, bytearray, bool, int, float, complex, Decimal, date, time, timedelta, UUID)


def given(array: Any) -> _forthwith.Given:
    """Converts columns of any type that converts to Awkward Array.

    Args:
        array: An Awkward Array; a dict of arrays, which become the fields of records; Arrow data (anything with
            ``__arrow_c_stream__`` or ``__arrow_array__``); a pandas DataFrame; NumPy arrays; lists.
    """
    if array is None or isinstance(array, (str, bytes, bytearray, bool, int, float, complex)):
        raise RequestTypeError(
            f"columns are needed, and this is a single value: {type(array).__name__} {reprlib.repr(array)}"
        )
    if type(array).__name__ == "LazyFrame":
        raise RequestTypeError("a LazyFrame has no values before they are computed: write what its collect() gives")
    if isinstance(array, Iterator) and not is_arrow(array):
        array = list(array)
    if isinstance(array, (list, tuple)):
        array = _together(array) if array and all(map(is_table, array)) else _rows.found(array)
    elif isinstance(array, dict):
        for name, value in array.items():
            if value is None or isinstance(value, _SCALARS):
                raise RequestTypeError(
                    f"column {name!r} cannot be written: it is a single value, {reprlib.repr(value)}, "
                    "and a dict holds columns; a row is given in a list, [row]"
                )
        array = {
            name: _rows.column(name, column) if isinstance(column, (list, tuple)) else column
            for name, column in ((name, _listed(column)) for name, column in array.items())
        }
    taken = _from_arrow(array)
    if taken is None:
        taken = _from_numbers(package("numpy"), array)
    if taken is not None:
        return taken
    ak, np = package("awkward"), package("numpy")
    layout = packed(ak.to_layout(_awkward(ak, np, array)))
    if isinstance(layout, ak.record.Record):
        raise RequestTypeError("a single record cannot be written; an array of one record can")
    form, length, buffers = ak.to_buffers(layout, byteorder="<" if _little(np) else ">")
    held: dict[str, object] = {
        key: memoryview(np.ascontiguousarray(buffer).reshape(-1).view(np.uint8))
        for key, buffer in buffers.items()
        if buffer.size
    }
    held.update({key: b"" for key, buffer in buffers.items() if not buffer.size})
    return _forthwith.Given(form.to_json(), length, held)


def batches(array: Any) -> _forthwith.GivenBatches | None:
    """Returns the batches of an Arrow table or data frame; None for other arrays."""
    if not is_table(array) or type(array).__name__ == "LazyFrame" or (stream := _stream(array)) is None:
        return None
    return _forthwith.GivenBatches(stream)


def _listed(column: Any) -> Any:
    """Returns a column, as a list if it is a NumPy array of Python scalars."""
    is_of_objects = type(column).__module__ == "numpy" and column.dtype == object and column.ndim == 1
    if not is_of_objects or not all(value is None or isinstance(value, _SCALARS) for value in column):
        return column
    return column.tolist()


def is_table(array: Any) -> bool:
    """Whether an array is an Arrow table or data frame, with named columns and Arrow types."""
    return is_arrow(array) and (hasattr(array, "columns") or hasattr(array, "column_names"))


def _together(tables: Any) -> Any:
    """Concatenates tables."""
    pa = package("pyarrow")
    try:
        return pa.concat_tables([pa.table(table) for table in tables])
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise RequestTypeError(f"tables of different columns: {_rows.first_line(error)}") from None


def _from_numbers(np: Any, array: Any) -> _forthwith.Given | None:
    """Converts a dict of NumPy arrays directly, as the general conversion dominates short steps."""
    if not isinstance(array, dict) or not array:
        return None
    length = None
    for name, column in array.items():
        if type(name) is not str or type(column) is not np.ndarray or column.ndim != 1:
            return None
        dtype = column.dtype
        if dtype.str[1:] not in NUMBERS or not dtype.isnative or length not in (None, len(column)):
            return None
        length = len(column)
    rest: dict[str, object] = {"inner_shape": [], "parameters": {}}
    contents = [
        {"class": "NumpyArray", "primitive": column.dtype.name, "form_key": f"node{at}", **rest}
        for at, column in enumerate(array.values(), 1)
    ]
    form = {"class": "RecordArray", "fields": list(array), "contents": contents, "parameters": {}, "form_key": "node0"}
    held = {
        f"node{at}-data": memoryview(np.ascontiguousarray(column).view(np.uint8)) if column.size else b""
        for at, column in enumerate(array.values(), 1)
    }
    return _forthwith.Given(json.dumps(form), length or 0, held)


# #: Types of numbers that Awkward Array and NumPy share.
NUMBERS = frozenset(("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"))


def packed(layout: Any) -> Any:
    """Returns a layout without unreachable items; the layout itself if it has none.

    ``ak.to_packed`` copies the offsets of all lists, and the items of sliced ones.
    """
    np = package("numpy")
    kind = type(layout).__name__
    if kind == "EmptyArray" or (kind == "NumpyArray" and _is_whole(np, layout.data)):
        return layout
    if kind == "RecordArray":
        contents = [_packed_part(one, 0, layout.length) for one in layout.contents]
        is_same = all(one is other for one, other in zip(contents, layout.contents, strict=True))
        return layout if is_same else layout.copy(contents=contents)
    if kind == "RegularArray":
        content = _packed_part(layout.content, 0, layout.size * layout.length)
        return layout if content is layout.content else layout.copy(content=content)
    if kind == "ListOffsetArray":
        offsets = layout.offsets.data
        if _is_whole(np, offsets) and offsets.dtype == "i8" and 0 <= offsets[0] <= offsets[-1] <= layout.content.length:
            content = _packed_part(layout.content, int(offsets[0]), int(offsets[-1]))
            if offsets[0] == 0:
                return layout if content is layout.content else layout.copy(content=content)
            return layout.copy(offsets=type(layout.offsets)(offsets - offsets[0]), content=content)
    return package("awkward").to_packed(layout, highlevel=False)


def _packed_part(layout: Any, first: int, last: int) -> Any:
    """Returns a range of entries of a layout, packed."""
    return packed(layout if (first, last) == (0, layout.length) else layout[first:last])


def _is_whole(np: Any, data: Any) -> bool:
    return isinstance(data, np.ndarray) and bool(data.flags.c_contiguous)


def is_arrow(array: Any) -> bool:
    """Whether an array has Arrow types."""
    kinds = ("__arrow_c_stream__", "__arrow_c_array__", "__arrow_array__")
    # Awkward Arrays export to Arrow, but are converted directly.
    return not type(array).__module__.startswith("awkward.") and any(hasattr(array, kind) for kind in kinds)


def _from_arrow(array: Any) -> _forthwith.Given | None:
    """Converts Arrow data, or a dict with Arrow columns, directly, with their types."""
    if isinstance(array, dict):
        if not any(is_arrow(column) for column in array.values()):
            return None
        columns = {str(name): _column(str(name), column) for name, column in array.items()}
        if len({len(column) for column in columns.values()}) > 1:
            sizes = ", ".join(f"{name}: {len(column)}" for name, column in columns.items())
            raise RequestError(f"columns of different lengths ({sizes})")
        return _forthwith.Given.from_fields(list(columns), list(columns.values()))
    if not is_arrow(array):
        return None
    if (stream := _stream(array)) is not None:
        return _forthwith.Given.from_arrow(stream)
    if isinstance(array, NotAnArray) and hasattr(array, "_to_be_written"):
        array = array._to_be_written()
    if _is_polars(array):
        array = _of_polars(array)
    is_pandas = _is_pandas(array)
    pa = package("pyarrow")
    if (name := getattr(array, "name", None)) and isinstance(name, str) and type(array).__name__ == "Series":
        return _forthwith.Given.from_arrow(
            pa.table({name: pa.array(array) if is_pandas else _of_stream(pa, array)}).__arrow_c_stream__()
        )
    if not hasattr(array, "__arrow_c_stream__"):
        array = pa.array(array)
        if isinstance(array, pa.StructArray) and array.null_count == 0:
            array = pa.RecordBatch.from_struct_array(array)
    elif not isinstance(array, (pa.Table, pa.RecordBatch, pa.RecordBatchReader)):
        array = _of_stream(pa, array)
    if isinstance(array, (pa.Array, pa.ChunkedArray)):
        # Streams have columns, but this array is not a column of a table.
        table = pa.table({"value": array})
        return _forthwith.Given.from_arrow(table.__arrow_c_stream__()).only()
    return _forthwith.Given.from_arrow(array.__arrow_c_stream__())


def _stream(array: Any) -> object | None:
    """Returns a capsule of the stream of a table or data frame; None for other Arrow data."""
    if isinstance(array, NotAnArray) and hasattr(array, "_to_be_written"):
        array = array._to_be_written()
    if _is_polars(array):
        array = _of_polars(array)
    if not hasattr(array, "columns"):
        return None
    if _is_pandas(array):
        array = _of_frame(package("pyarrow"), array)
    return array.__arrow_c_stream__() if hasattr(array, "__arrow_c_stream__") else None


def _is_pandas(array: Any) -> bool:
    return type(array).__module__.partition(".")[0] == "pandas"


def _of_frame(pa: Any, frame: Any) -> Any:
    """Converts a pandas frame to a table, with the metadata by which pandas restores it."""
    table = _with_categories(pa, pa.Table.from_pandas(frame))
    if not frame.attrs:
        return table
    try:
        attrs = json.dumps(frame.attrs)
    except (TypeError, ValueError) as error:
        raise RequestTypeError(f"the attrs of the data frame are not what JSON has: {error}") from None
    return table.replace_schema_metadata({**table.schema.metadata, "PANDAS_ATTRS": attrs})


def _with_categories(pa: Any, table: Any) -> Any:
    """Adds the categories of ordered text to the pandas metadata, as files only have occurring values."""
    ordered = {
        field.name: table[field.name].chunk(0).dictionary.to_pylist()
        for field in table.schema
        if pa.types.is_dictionary(field.type) and field.type.ordered and table[field.name].num_chunks == 1
    }
    texts = {name: found for name, found in ordered.items() if all(isinstance(text, str) for text in found)}
    if not texts:
        return table
    said = json.loads(table.schema.metadata[b"pandas"])
    for column in said["columns"]:
        if column["field_name"] in texts:
            column["metadata"]["categories"] = texts[column["field_name"]]
    return table.replace_schema_metadata({**table.schema.metadata, "pandas": json.dumps(said)})


def _column(name: str, column: Any) -> _forthwith.Given:
    """Converts a column of a dict. Errors have its name."""
    if isinstance(column, NotAnArray) and column._is_column:
        # As a stream, it would be a table of one column.
        column = package("pyarrow").array(column)
    if _is_polars(column) and hasattr(column, "rename"):
        column = column.rename(name)
    if is_arrow(column):
        whole = given(column)
        is_series = type(column).__name__ == "Series" and getattr(column, "name", None)
        return (whole.only() or whole) if is_series else whole
    taken = given({name: column}).only()
    if taken is None:
        raise RequestTypeError(f"there is no column {name!r}")
    return taken


def _is_polars(array: Any) -> bool:
    return type(array).__module__.startswith("polars.") and hasattr(array, "__arrow_c_stream__")


# Types of polars that Arrow does not support.
_ONLY_POLARS = frozenset(("Int128", "UInt128", "Object"))


def _of_polars(array: Any) -> Any:
    """Returns a DataFrame or Series without the buffers that polars adds to null columns."""
    columns = array.schema.items() if hasattr(array, "schema") else [(array.name, array.dtype)]
    types = [found for name, dtype in columns for found in _polars_types(str(name), dtype)]
    for name, dtype in types:
        if str(dtype) in _ONLY_POLARS:
            raise UnsupportedError(f"column {name!r}, of polars' type {dtype}, which Arrow does not have: cast it")
    if not any(str(dtype) == "Null" for _, dtype in types):
        return array
    return _of_stream(package("pyarrow"), array)


def _polars_types(name: str, dtype: Any) -> Iterator[tuple[str, Any]]:
    """Iterates over a polars type and its nested types, with the path of names of fields."""
    yield name, dtype
    for field in getattr(dtype, "fields", ()):
        yield from _polars_types(f"{name}.{field.name}", field.dtype)
    if getattr(dtype, "inner", None) is not None:
        yield from _polars_types(name, dtype.inner)


def _of_stream(pa: Any, array: Any) -> Any:
    """Returns the table of a stream, or its only column."""
    if isinstance(array, pa.ChunkedArray):
        return array
    try:
        return pa.table(array)
    except (TypeError, ValueError, pa.ArrowException):
        return pa.chunked_array(array)


def _little(np: Any) -> bool:
    return bool(np.dtype("=i2").str[0] == "<")


def _awkward(ak: Any, np: Any, array: Any) -> Any:
    if isinstance(array, ak.Array):
        return array
    if isinstance(array, dict):
        if not array:
            raise RequestError("no columns to write")
        layouts = [_layout(ak, np, str(name), column) for name, column in array.items()]
        lengths = {len(layout) for layout in layouts}
        if len(lengths) > 1:
            sizes = ", ".join(f"{name}: {len(layout)}" for name, layout in zip(array, layouts, strict=True))
            raise RequestError(f"columns of different lengths ({sizes})")
        return ak.Array(ak.contents.RecordArray(layouts, list(array)))
    if isinstance(array, np.ndarray) and array.dtype.names:
        return _awkward(ak, np, {name: array[name] for name in array.dtype.names})
    if isinstance(array, np.ndarray) and array.dtype.hasobject:
        return _of_objects(ak, np, array)
    if isinstance(array, np.ndarray) and not array.dtype.isnative:
        # Awkward Array only supports native byte order.
        return ak.Array(array.astype(array.dtype.newbyteorder("=")))
    return ak.Array(array)


def _layout(ak: Any, np: Any, name: str, column: Any) -> Any:
    """Converts a column of a dict. Errors have its name."""
    try:
        return ak.to_layout(_awkward(ak, np, column))
    except ForthwithError:
        raise
    except (TypeError, ValueError) as error:
        why = str(error).strip().partition("\n")[0]
        raise RequestTypeError(f"column {name!r} cannot be written: {why}") from error


def _of_objects(ak: Any, np: Any, array: Any) -> Any:
    """Converts an array of Python objects; nested NumPy arrays keep their dtype."""
    if array.ndim == 1 and len(array) and all(isinstance(one, np.ndarray) and one.ndim == 1 for one in array):
        return ak.unflatten(_awkward(ak, np, np.concatenate(array)), [len(one) for one in array])
    return ak.Array(array.tolist())
