"""The same bytes as other numbers: what an interpretation that names a dtype asks for."""

from __future__ import annotations

from typing import Any

import numpy as np

from forthwith._errors import place_text
from forthwith._packages import package
from forthwith.uproot import _interpretation as i
from forthwith.uproot._dtypes import native, split_dtype


def reinterpreted(array: Any, branch: Any, given: i.Interpretation) -> Any:
    """The numbers that another dtype makes of the bytes of a branch, as an Awkward Array.

    Raises:
        ValueError: The dtype has not as many bytes, or one of the two is no dtype.
    """
    ak = package("awkward")
    known = branch.interpretation
    values = ak.Array(array.logical().layout())
    if isinstance(known, i.AsDtype) and isinstance(given, i.AsDtype):
        numbers = _numbers(np.asarray(values), known, given, branch)
        if isinstance(given, i.AsDtypeInPlace):
            return _filled(given.to_fill, numbers)
        return ak.Array(numbers)
    if isinstance(known, i.AsJagged) and isinstance(given, i.AsJagged):
        stored, wanted = known.content, given.content
        if isinstance(stored, i.AsDtype) and isinstance(wanted, i.AsDtype):
            layout = values.layout.to_ListOffsetArray64(True)
            flat = np.asarray(ak.Array(layout.content[: layout.offsets[-1]]))
            content = ak.contents.NumpyArray(_numbers(flat, stored, wanted, branch))
            return ak.Array(ak.contents.ListOffsetArray(layout.offsets, content))
    raise ValueError(
        f"{branch.name!r} is read as {known!r}, and cannot be as {given!r}: only numbers are read as other numbers\n"
        f"  in {place_text(branch.file.file_path, branch.object_path)}"
    )


def _numbers(values: Any, stored: i.AsDtype, wanted: i.AsDtype, branch: Any) -> Any:
    if stored.itemsize != wanted.itemsize:
        raise ValueError(
            f"{branch.name!r} has {stored.itemsize} bytes for {stored!r}, and {wanted!r} has {wanted.itemsize}\n"
            f"  in {place_text(branch.file.file_path, branch.object_path)}"
        )
    inner, shape = split_dtype(wanted.from_dtype)
    target = native(split_dtype(wanted.to_dtype)[0])
    if stored.from_dtype.names is not None or len(values) == 0:
        raw = np.ascontiguousarray(values.astype(stored.from_dtype))
    else:
        raw = np.ascontiguousarray(values.astype(split_dtype(stored.from_dtype)[0]))
    return raw.reshape(-1).view(inner).reshape(len(values), *shape).astype(target)


def _filled(place: Any, numbers: Any) -> Any:
    place.reshape(-1)[: numbers.size] = numbers.reshape(-1)
    return place[: len(numbers)]
