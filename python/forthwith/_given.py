"""Arrays to be written: from whatever they are to what the compiled part takes."""

from __future__ import annotations

from forthwith import _forthwith
from forthwith._libraries import package

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def given(array: Any) -> _forthwith.Given:
    """Columns of anything Awkward Array can be made of.

    Args:
        array: An Awkward Array; a dict of arrays, which become the fields of records; Arrow data (anything with
            ``__arrow_c_stream__`` or ``__arrow_array__``); a pandas DataFrame; NumPy arrays; lists.
    """
    ak, np = package("awkward"), package("numpy")
    layout = ak.to_packed(_awkward(ak, np, array), highlevel=False)
    if isinstance(layout, ak.record.Record):
        raise TypeError("one record alone cannot be written; an array of one can")
    form, length, buffers = ak.to_buffers(layout, byteorder="<" if _little(np) else ">")
    held: dict[str, object] = {
        key: memoryview(np.ascontiguousarray(buffer).reshape(-1).view(np.uint8))
        for key, buffer in buffers.items()
        if buffer.size
    }
    held.update({key: b"" for key, buffer in buffers.items() if not buffer.size})
    return _forthwith.Given(form.to_json(), length, held)


def _little(np: Any) -> bool:
    return bool(np.dtype("=i2").str[0] == "<")


def _awkward(ak: Any, np: Any, array: Any) -> Any:
    if isinstance(array, ak.Array):
        return array
    if isinstance(array, dict):
        if not array:
            raise ValueError("no columns to write")
        layouts = [ak.to_layout(_awkward(ak, np, column)) for column in array.values()]
        lengths = {len(layout) for layout in layouts}
        if len(lengths) > 1:
            sizes = ", ".join(f"{name}: {len(layout)}" for name, layout in zip(array, layouts, strict=True))
            raise ValueError(f"columns of different lengths ({sizes})")
        return ak.Array(ak.contents.RecordArray(layouts, list(array)))
    if isinstance(array, np.ndarray) and array.dtype.names:
        return _awkward(ak, np, {name: array[name] for name in array.dtype.names})
    if hasattr(array, "__arrow_c_stream__") or hasattr(array, "__arrow_array__") or hasattr(array, "__arrow_c_array__"):
        pa = package("pyarrow")
        if not hasattr(array, "schema") or not isinstance(array, (pa.Table, pa.RecordBatch)):
            array = pa.table(array) if hasattr(array, "__arrow_c_stream__") else pa.array(array)
        return ak.from_arrow(array)
    return ak.Array(array)
