"""NumPy arrays as uproot has them: objects where NumPy has no type, made of forthwith's columns."""

from __future__ import annotations

import json
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from forthwith._interop.numpy import _node as node
from forthwith.uproot import _containers as c
from forthwith.uproot import _cxx
from forthwith.uproot._detached import DetachedFile
from forthwith.uproot._model import class_of


def convert(array: Any, typename: str, file: Any, has_leaves: bool = False) -> Any:
    """An array of forthwith's, which a branch of this C++ type was read as.

    Args:
        array: The array.
        typename: The type.
        file: The file, which describes classes, in uproot's words.
        has_leaves: Whether the branch has several leaves, which are fields of one dtype.
    """
    buffers = {key: np.asarray(buffer) for key, buffer in array.buffers()}
    form = json.loads(array.form)
    if has_leaves:
        return _structured(form, buffers, len(array))
    return _top(form, buffers, len(array), typename, _Types(file))


class _Types:
    """The types of the members of classes, as the file says them."""

    def __init__(self, file: Any) -> None:
        self._file = file.forthwith
        self.detached = DetachedFile(file)
        self._known: dict[str, dict[str, str]] = {}

    def of(self, classname: str) -> dict[str, str]:
        """The types of all members of a class and its bases."""
        if classname not in self._known:
            self._known[classname] = {}
            versions = self._file.streamers.get(classname) if self._file.format == "ROOT" else None
            found: dict[str, str] = {}
            for info in [versions[max(versions)]] if versions else []:
                for member in info.members:
                    found.update(self.of(member.name) if member.is_base else {member.name: member.typename})
            self._known[classname] = found
        return self._known[classname]

    def version(self, classname: str) -> int | None:
        versions = self._file.streamers.get(classname) if self._file.format == "ROOT" else None
        return max(versions) if versions else None


def _top(form: Any, buffers: Any, length: int, typename: str, types: _Types) -> Any:
    numbers = form["class"] == "ListOffsetArray" and form["content"]["class"] in ("NumpyArray", "RegularArray")
    if numbers and not form["parameters"].get("__array__") and _cxx.kind(typename) == "list":
        # As a column, lists of numbers are arrays; inside of other things they are vectors.
        return _lists(form, buffers, length, "", types)
    if form["class"] == "IndexedOptionArray" and form["content"]["class"] == "NumpyArray":
        index = buffers[f"{form['form_key']}-index"][:length]
        values = _node(form["content"], buffers, int(index.max(initial=-1)) + 1, typename, types)
        # Row 0 stands for what is missing, if there is one.
        values = values[index.clip(0)] if len(values) else np.zeros((length, *values.shape[1:]), values.dtype)
        missing = (index < 0).reshape(length, *(1 for _ in values.shape[1:]))
        return np.ma.MaskedArray(values, np.broadcast_to(missing, values.shape))
    return _node(form, buffers, length, typename, types)


def _structured(form: Any, buffers: Any, length: int) -> Any:
    """The leaves of one branch."""
    return node(form, buffers, length)


def _objects(items: list[Any]) -> Any:
    out = np.empty(len(items), dtype=object)
    for at, one in enumerate(items):
        out[at] = one
    return out


def _node(form: Any, buffers: Any, length: int, typename: str, types: _Types) -> Any:
    key = form.get("form_key")
    match form["class"]:
        case "NumpyArray":
            shape = tuple(form["inner_shape"])
            return buffers[f"{key}-data"][: length * prod(shape)].reshape(length, *shape)
        case "RegularArray":
            size = form["size"]
            content = _node(form["content"], buffers, length * size, typename.partition("[")[0], types)
            found = content.reshape(length, size, *content.shape[1:])
            return _objects([c.STLBitSet(one) for one in found]) if _cxx.kind(typename) == "bitset" else found
        case "ListOffsetArray":
            return _lists(form, buffers, length, typename, types)
        case "RecordArray":
            return _records(form, buffers, length, typename, types)
        case "IndexedOptionArray":
            index = buffers[f"{key}-index"][:length]
            content = _node(form["content"], buffers, int(index.max(initial=-1)) + 1, typename.rstrip("* "), types)
            return _objects([content[at] if at >= 0 else None for at in index.tolist()])
        case "IndexedArray":
            index = buffers[f"{key}-index"][:length]
            return _node(form["content"], buffers, int(index.max(initial=-1)) + 1, typename, types)[index]
        case "UnionArray":
            tags, index = buffers[f"{key}-tags"][:length], buffers[f"{key}-index"][:length]
            parts = [
                _node(one, buffers, int(index[tags == tag].max(initial=-1)) + 1, "", types)
                for tag, one in enumerate(form["contents"])
            ]
            return _objects([parts[tag][at] for tag, at in zip(tags.tolist(), index.tolist(), strict=True)])
        case "EmptyArray":
            return np.empty(0)
    raise NotImplementedError(f"a Form of class {form['class']}")


def _lists(form: Any, buffers: Any, length: int, typename: str, types: _Types) -> Any:
    offsets = buffers[f"{form['form_key']}-offsets"][: length + 1].tolist()
    text = form["parameters"].get("__array__")
    name, arguments = _cxx.split(typename)
    kind = _cxx.kind(typename) if typename else "class"
    if text in ("string", "bytestring"):
        data = _node(form["content"], buffers, offsets[-1], "", types).tobytes()
        items = [data[begin:end] for begin, end in pairwise(offsets)]
        return _objects([one.decode(errors="surrogateescape") for one in items] if text == "string" else items)
    if kind == "map":
        return _maps(form, buffers, offsets, arguments, types)
    inner = arguments[0] if kind in ("list", "set") else typename.partition("[")[0]
    content = _node(form["content"], buffers, offsets[-1], inner, types)
    pieces = [content[begin:end] for begin, end in pairwise(offsets)]
    made: Any = {"list": c.STLList if name == "list" else c.STLVector, "set": c.STLSet, "bitset": c.STLBitSet}.get(kind)
    return _objects(pieces if made is None else [made(one) for one in pieces])


def _maps(form: Any, buffers: Any, offsets: list[int], arguments: list[str], types: _Types) -> Any:
    keys, values = (
        _node(one, buffers, offsets[-1], name, types)
        for one, name in zip(form["content"]["contents"], arguments, strict=False)
    )
    bounds = pairwise(offsets)
    return _objects([c.STLMap(keys[begin:end], values[begin:end]) for begin, end in bounds])


def _records(form: Any, buffers: Any, length: int, typename: str, types: _Types) -> Any:
    name = typename.strip().removeprefix("const ").rstrip("* ")
    names = form["fields"] or [str(slot) for slot in range(len(form["contents"]))]
    known = types.of(name)
    if not known and name.startswith(("pair<", "std::pair<")):
        known = dict(zip(("first", "second"), _cxx.split(name)[1], strict=False))
    columns = {
        field: _node(one, buffers, length, known.get(field, ""), types)
        for field, one in zip(names, form["contents"], strict=True)
    }
    if form["fields"] is None:
        return _objects([tuple(columns[field][at] for field in names) for at in range(length)])
    model = class_of(name or "record", types.version(name))
    return _objects([model(columns, at, types.detached) for at in range(length)])
