"""The meaning of an array, as one byte stream: the form in which golden values are compared.

Two readers may lay the same column out in different buffers. The stream depends on the values only, so its
SHA-256 is enough to keep in a file next to the data. A stream is a header line, its data, and then the
streams of what is nested in it; numbers are little-endian, counts and lengths 64 bits wide:

    Z                nothing here; also stands for everything below an empty node
    P <code> <n>     n numbers of type code (b1 i1 .. u8 f4 f8, M8[us]); every NaN is the same NaN
    S <n> / B <n>    n texts or byte strings: their lengths, then all bytes
    L <n>            n lists, of fixed length or not: their lengths, then the stream of all items
    O <n>            n values that may be absent: a byte 1 or 0 for each, then the stream of those present
    R <n> <k>        n records of k fields: for each field, by name, a line F "name" and its stream
    T <n> <k>        n tuples of k slots: the stream of each slot
    V <n>            n values of one of several types: for each a byte with the number of its type, then for each type, by what
                     it is called, the stream of those of it; where any may be absent, O comes first

``python canonical.py`` checks this module itself.
"""

import hashlib
import json

import awkward as ak
import numpy as np


def digest(array):
    """SHA-256 of the canonical stream, in hexadecimal."""
    sha = hashlib.sha256()
    for piece in stream(array):
        sha.update(piece)
    return sha.hexdigest()


def stream(array):
    """The canonical stream, piece by piece."""
    return _node(ak.to_layout(array, primitive_policy="promote").to_packed())


def type_of(array):
    """The type of the elements: ``var * {"x": float32, "y": ?string}``; fields are sorted by name."""
    return _type(ak.to_layout(array, primitive_policy="promote"))


def _node(layout):
    n = layout.length
    if n == 0:
        yield b"Z\n"
    elif layout.is_option:
        present = np.asarray(layout.mask_as_bool(valid_when=True))[:n].astype(bool)
        content = layout.project()
        while content.is_option:  # an option of an option is one option
            inner = np.asarray(content.mask_as_bool(valid_when=True))[: content.length].astype(bool)
            present[present] = inner
            content = content.project()
        yield b"O %d\n" % n
        yield present.view(np.uint8).tobytes()
        yield from _node(content.to_packed())
    elif layout.is_indexed:
        yield from _node(layout.project().to_packed())
    elif layout.is_numpy:
        yield from _numbers(layout)
    elif layout.is_list:
        yield from _lists(layout)
    elif layout.is_union:
        yield from _union(layout)
    elif layout.is_record and layout.is_tuple:
        yield b"T %d %d\n" % (n, len(layout.contents))
        for content in layout.contents:
            yield from _node(content[:n])
    elif layout.is_record:
        yield b"R %d %d\n" % (n, len(layout.fields))
        for name in sorted(layout.fields):
            yield b"F %s\n" % json.dumps(name).encode()
            yield from _node(layout.content(name)[:n])
    else:
        raise TypeError(f"no canonical form for {type(layout).__name__}")


def _numbers(layout):
    if layout.data.ndim != 1:
        yield from _node(layout.to_RegularArray())
        return
    data = np.asarray(layout.data)
    data = np.ascontiguousarray(data, dtype=data.dtype.newbyteorder("<"))
    kind = data.dtype.kind
    if kind == "b":
        data = data.view(np.uint8) != 0
    elif kind == "f":
        data = np.where(np.isnan(data), np.array(np.nan, data.dtype), data)
    elif kind not in "iuM":
        raise TypeError(f"no canonical form for {data.dtype}")
    unit = f"[{np.datetime_data(data.dtype)[0]}]" if kind == "M" else ""
    yield b"P %s%d%s %d\n" % (kind.encode(), data.dtype.itemsize, unit.encode(), len(data))
    yield data.tobytes()


def _union(layout):
    tags, index = np.asarray(layout.tags.data), np.asarray(layout.index.data)[: layout.length]
    present = np.ones(layout.length, bool)
    alternatives = []
    for tag, content in enumerate(layout.contents):
        here = np.flatnonzero(tags == tag)
        values = content[index[here]].to_packed()
        if values.is_option:
            there = np.asarray(values.mask_as_bool(valid_when=True)).astype(bool)
            present[here] = there
            here, values = here[there], values.project()
        alternatives.append((_type(values), here, values))
    if any(content.is_option for content in layout.contents):
        yield b"O %d\n" % layout.length
        yield present.view(np.uint8).tobytes()
        if not present.any():
            yield b"Z\n"
            return
    alternatives.sort(key=lambda alternative: alternative[0])
    numbers = np.zeros(layout.length, np.uint8)
    for number, (_, here, _) in enumerate(alternatives):
        numbers[here] = number
    yield b"V %d\n" % present.sum()
    yield numbers[present].tobytes()
    for _, _, values in alternatives:
        yield from _node(values.to_packed())


def _lists(layout):
    layout = layout.to_ListOffsetArray64(True)
    offsets = np.asarray(layout.offsets.data)
    content = layout.content[: offsets[-1]]
    kind = {"string": b"S", "bytestring": b"B"}.get(layout.parameter("__array__"))
    yield b"%s %d\n" % (kind or b"L", layout.length)
    yield np.diff(offsets).astype("<u8").tobytes()
    if kind is None:
        yield from _node(content)
    else:
        yield np.asarray(content.data).tobytes()


def _type(layout):
    if layout.is_unknown:
        return "unknown"
    if layout.is_option:
        return "?" + _type(layout.content).removeprefix("?")
    if layout.is_indexed:
        return _type(layout.content)
    if layout.is_numpy:
        dims = "".join(f"{d} * " for d in layout.data.shape[1:])
        return dims + layout.data.dtype.name
    if layout.is_list:
        kind = {"string": "string", "bytestring": "bytes"}.get(layout.parameter("__array__"))
        return kind or f"{layout.size if layout.is_regular else 'var'} * {_type(layout.content)}"
    if layout.is_union:
        kinds = [_type(content) for content in layout.contents]
        optional = "?" * any(kind.startswith("?") for kind in kinds)
        return f"{optional}union[{', '.join(sorted(kind.removeprefix('?') for kind in kinds))}]"
    if layout.is_record:
        if layout.is_tuple:
            return "(" + ", ".join(_type(c) for c in layout.contents) + ")"
        return "{" + ", ".join(f"{json.dumps(f)}: {_type(layout.content(f))}" for f in sorted(layout.fields)) + "}"
    raise TypeError(f"no type for {type(layout).__name__}")


def _check():
    def text(array):
        return b"".join(stream(array))

    def same(a, b):
        assert text(a) == text(b), (text(a), text(b))

    def differ(a, b):
        assert digest(a) != digest(b)

    one = b"\x01" + bytes(7)
    assert text(np.array([7, 8], "i2")) == b"P i2 2\n\x07\x00\x08\x00"
    assert text([[5], []]) == b"L 2\n" + one + bytes(8) + b"P i8 1\n\x05" + bytes(7)
    assert text([[], []]) == b"L 2\n" + bytes(16) + b"Z\n"
    assert text(["a"]) == b"S 1\n" + one + b"a" and text([b"a"]) == b"B 1\n" + one + b"a"
    assert text(ak.Array([True, None])) == b"O 2\n\x01\x00P b1 1\n\x01"
    assert text(ak.Array([{"b": 1, "a": "x"}])) == b'R 1 2\nF "a"\nS 1\n' + one + b'xF "b"\nP i8 1\n' + one
    assert text(ak.Array([(1, "x")])) == b"T 1 2\nP i8 1\n" + one + b"S 1\n" + one + b"x"
    mixed = ak.Array([1, "x", 2])
    assert text(mixed) == b"V 3\n\x00\x01\x00P i8 2\n" + one + b"\x02" + bytes(7) + b"S 1\n" + one + b"x"
    assert text(ak.Array([1, None, "x"])) == b"O 3\n\x01\x00\x01V 2\n\x00\x01P i8 1\n" + one + b"S 1\n" + one + b"x"
    assert type_of(ak.Array([1, None, "x"])) == "?union[int64, string]"
    nested = ak.Array([[[1, 2], []], [], [[3]]])
    same(nested, ak.concatenate([ak.Array([[[9, 9]]]), nested])[1:])
    same(nested[::-1], ak.Array([[[3]], [], [[1, 2], []]]))
    same(np.arange(12).reshape(2, 3, 2), ak.Array(np.arange(12).reshape(2, 3, 2).tolist()))
    same(ak.Array([1, None, 3]), ak.Array(ak.to_layout(ak.Array([1, None, 3])).to_BitMaskedArray(True, True)))
    same(ak.Array([1, 2]), ak.Array(ak.to_layout(ak.Array([1, 2])))[ak.Array([0, 1])])
    same(np.array([np.nan]), np.array([-np.nan]))
    differ(np.array([0.0]), np.array([-0.0]))
    differ(np.array([0], "i4"), np.array([0], "u4"))
    differ([[1], [2, 3]], [[1, 2], [3]])
    assert type_of(np.zeros((2, 3, 4), "f4")) == "3 * 4 * float32"
    assert type_of(ak.Array([[{"y": "s", "x": None}], [{"y": "t", "x": 1.5}]])) == 'var * {"x": ?float64, "y": string}'
    assert type_of(ak.Array([(True, b"x")])) == "(bool, bytes)"


if __name__ == "__main__":
    _check()
    print("canonical.py: all checks passed")
