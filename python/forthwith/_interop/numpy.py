"""Conversion to NumPy: numbers with fixed dimensions, and otherwise objects."""

from __future__ import annotations

import json
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from math import prod

import numpy as np

from forthwith._interop import exact
from forthwith._interop.base import Library

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from forthwith import _forthwith
    from forthwith._interop.base import Arrays

    Node = dict[str, Any]
    Buffers = dict[str, NDArray[Any]]
    Result = NDArray[Any]


class NumPyLibrary(Library):
    """Converts to NumPy arrays; types that NumPy lacks become objects."""

    def column(self, name: str, array: _forthwith.Array, start: int) -> Any:
        """Returns a NumPy array."""
        return convert(array, self._logical)

    def group(self, arrays: Arrays, start: int, stop: int) -> Any:
        """Returns a dict of NumPy arrays."""
        return {label: convert(array, self._logical) for label, array in arrays}

    def of_columns(self, columns: dict[str, Any], start: int, stop: int) -> Any:
        """Returns a dict of NumPy arrays."""
        return columns

    def concatenated(self, parts: list[Any]) -> Any:
        """Concatenates arrays; the result is masked if any of them is."""
        _check(parts, None)
        is_masked = any(hasattr(part, "mask") for part in parts)
        concatenate: Any = np.ma.concatenate if is_masked else np.concatenate
        return concatenate(parts)


def _check(parts: list[Any], label: str | None) -> None:
    """Raises an error for integers that lose precision. Arrays of objects are not converted."""
    dtypes = [part.dtype for part in parts]
    for name in dtypes[0].names or ():
        if all(name in (dtype.names or ()) for dtype in dtypes):
            _check([part[name] for part in parts], name)
    exact.check(np, label, [dtype.base for dtype in dtypes], lambda part: np.ma.compressed(parts[part]))


def convert(array: _forthwith.Array, logical: bool = True) -> Result:
    """Converts an array.

    Lists become an object array of arrays, text of ``str``, byte strings of ``bytes``; records become a
    structured array, masked if numeric fields are nullable; nullable values become a masked array of numbers,
    dates and times with ``NaT``, or objects with ``None``. Dates and times are ``datetime64`` and
    ``timedelta64``, and decimals ``decimal.Decimal`` objects, unless ``logical`` is false.
    """
    numbers = array.numbers()
    if numbers is not None:
        return np.asarray(numbers)
    if logical:
        array = array.logical(decimals=False)
    buffers = {key: np.asarray(buffer) for key, buffer in array.buffers() if not _is_idle(key, buffer)}
    form = json.loads(array.form)
    return _node(form if logical else _unmeant(form), buffers, len(array))


def _is_idle(key: str, buffer: _forthwith.Buffer) -> bool:
    """Whether a buffer is an index without missing rows, which is not needed."""
    return key.endswith("-index") and buffer.counts_up


def _node(form: Node, buffers: Buffers, length: int) -> Result:
    scale = _scale(form)
    if scale is not None:
        return decimals(_stored(form, buffers, length), scale)
    return _stored(form, buffers, length)


def _unmeant(form: Any) -> Any:
    """Returns a Form without logical types."""
    if isinstance(form, list):
        return [_unmeant(item) for item in form]
    if not isinstance(form, dict):
        return form
    return {key: _unmeant(value) for key, value in form.items() if key != "logical"}


def _scale(form: Node) -> int | None:
    """Returns the number of decimal places, or ``None`` for types other than decimals."""
    meaning = form.get("parameters", {}).get("logical")
    if not isinstance(meaning, str) or not meaning.startswith("decimal["):
        return None
    return int(meaning.rstrip("]").rpartition(",")[2])


def decimals(stored: Result, scale: int) -> Result:
    """Converts unscaled integers, or their bytes, to exact decimals."""
    # Of any length: the default context rounds to 28 digits, and conversion to text is limited to 4300.
    exact = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
    out = np.empty(stored.shape, dtype=object)
    for at, item in enumerate(stored.ravel().tolist()):
        whole = int.from_bytes(item, "big", signed=True) if isinstance(item, bytes) else item
        out.flat[at] = Decimal(whole).scaleb(-scale, exact)
    return out


def _stored(form: Node, buffers: Buffers, length: int) -> Result:
    key = form.get("form_key")
    match form["class"]:
        case "NumpyArray":
            shape = tuple(form["inner_shape"])
            return buffers[f"{key}-data"][: length * prod(shape)].reshape(length, *shape)
        case "RegularArray":
            size = form["size"]
            content = _node(form["content"], buffers, length * size)
            return content.reshape(length, size, *content.shape[1:])
        case "ListOffsetArray":
            return _lists(form, buffers, buffers[f"{key}-offsets"][: length + 1].tolist())
        case "RecordArray":
            return _records(form, buffers, length)
        case "IndexedOptionArray":
            index = buffers.get(f"{key}-index")
            if index is None:
                return _complete(_node(form["content"], buffers, length))
            return _options(form, buffers, index[:length])
        case "IndexedArray":
            index = buffers[f"{key}-index"][:length]
            return _node(form["content"], buffers, int(index.max(initial=-1)) + 1)[index]
        case "UnionArray":
            index = buffers.get(f"{key}-index")
            index = np.arange(length) if index is None else index[:length]
            return _union(form, buffers, buffers[f"{key}-tags"][:length], index)
        case "EmptyArray":
            return np.empty(0)
    raise NotImplementedError(f"a Form of class {form['class']}")


def _lists(form: Node, buffers: Buffers, offsets: list[int]) -> Result:
    out = np.empty(len(offsets) - 1, dtype=object)
    kind = form["parameters"].get("__array__")
    items = _node(form["content"], buffers, offsets[-1])
    if kind in ("string", "bytestring"):
        data = items.tobytes()
        for i in range(len(out)):
            item = data[offsets[i] : offsets[i + 1]]
            out[i] = item.decode(errors="surrogateescape") if kind == "string" else item
    else:
        for i in range(len(out)):
            out[i] = items[offsets[i] : offsets[i + 1]]
    return out


def _records(form: Node, buffers: Buffers, length: int) -> Result:
    contents = [_node(content, buffers, length) for content in form["contents"]]
    names = form["fields"] or [str(slot) for slot in range(len(contents))]
    types = [(name, content.dtype, content.shape[1:]) for name, content in zip(names, contents, strict=True)]
    out: Result = np.empty(length, dtype=types)
    if any(isinstance(content, np.ma.MaskedArray) for content in contents):
        # As in `ak.to_numpy`: assignment to a field of an array without a mask would drop the field's mask.
        out = np.ma.MaskedArray(out, mask=np.zeros(length, np.ma.make_mask_descr(out.dtype)))
    for name, content in zip(names, contents, strict=True):
        out[name] = content
    return out


def _complete(content: Result) -> Result:
    """Converts nullable values of which none is missing."""
    if content.ndim == 1 and content.dtype.kind in "biuf":
        return np.ma.MaskedArray(content, mask=np.zeros(len(content), bool))
    if content.ndim == 1 and content.dtype.kind in "mM":
        return content
    out = np.empty(len(content), dtype=object)
    for at, item in enumerate(content):
        out[at] = item
    return out


def _options(form: Node, buffers: Buffers, index: Result) -> Result:
    content = _node(form["content"], buffers, int(index.max(initial=-1)) + 1)
    if content.ndim == 1 and content.dtype.kind in "biuf":
        if len(content) == 0:
            content = np.zeros(1, content.dtype)
        return np.ma.MaskedArray(content[np.maximum(index, 0)], mask=index < 0)
    if content.ndim == 1 and content.dtype.kind in "mM":
        return np.append(content, np.array("NaT", content.dtype))[index]
    out = np.empty(len(index), dtype=object)
    for i, at in enumerate(index.tolist()):
        if at >= 0:
            out[i] = content[at]
    return out


def _union(form: Node, buffers: Buffers, tags: Result, index: Result) -> Result:
    out = np.empty(len(tags), dtype=object)
    for tag, alternative in enumerate(form["contents"]):
        rows = np.flatnonzero(tags == tag)
        content = _node(alternative, buffers, int(index[rows].max(initial=-1)) + 1)
        for row, at in zip(rows.tolist(), index[rows].tolist(), strict=True):
            item = content[at]
            out[row] = None if item is np.ma.masked else item
    return out
