"""NumPy's dtypes as interpretations name them."""

from __future__ import annotations

from typing import Any

import numpy as np

_NAMES = {
    "?": "bool", "i1": "int8_t", "i2": "int16_t", "i4": "int32_t", "i8": "int64_t",
    "u1": "uint8_t", "u2": "uint16_t", "u4": "uint32_t", "u8": "uint64_t", "f2": "half", "f4": "float", "f8": "double",
}  # fmt: skip


def split_dtype(dtype: Any) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """The dtype of an item and its shape."""
    shape: tuple[int, ...] = ()
    while dtype.subdtype is not None:
        dtype, inner = dtype.subdtype
        shape += inner
    return dtype, shape


def _kind(dtype: np.dtype[Any]) -> str:
    return "?" if dtype.kind == "b" else f"{dtype.kind}{dtype.itemsize}"


def dtype_key(dtype: np.dtype[Any]) -> str:
    """A dtype as a text for keys, such as ``Bi4()``."""
    inner, shape = split_dtype(dtype)
    dims = ",".join(map(str, shape))
    if inner.names is not None:
        fields = ",".join(f"{name!r}:{dtype_key(inner[name])}" for name in inner.names)
        return f"[{fields}]({dims})"
    order = "B" if inner.str.startswith(">") else "L"
    return f"{order}{_kind(inner)}({dims})"


def dtype_name(dtype: np.dtype[Any]) -> str:
    """A dtype as a C++ type."""
    inner, shape = split_dtype(dtype)
    if inner.names is not None:
        fields = "; ".join(f"{dtype_name(inner[name])} {name}" for name in inner.names)
        return f"struct {{{fields};}}"
    return _NAMES.get(_kind(inner), str(inner)) + "".join(f"[{size}]" for size in shape)


def native(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """A dtype in the machine's byte order."""
    found: np.dtype[Any] = dtype.newbyteorder("=")
    return found
