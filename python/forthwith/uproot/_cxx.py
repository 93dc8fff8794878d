"""C++ types by their names: which container, of what."""

from __future__ import annotations

from typing import Any

import numpy as np

from forthwith.uproot import _containers as c
from forthwith.uproot._model import unversioned

_NUMBERS = {
    "bool": "?", "Bool_t": "?",
    "char": "i1", "Char_t": "i1", "signed char": "i1", "int8_t": "i1",
    "unsigned char": "u1", "UChar_t": "u1", "uint8_t": "u1", "std::byte": "u1",
    "short": ">i2", "Short_t": ">i2", "int16_t": ">i2", "unsigned short": ">u2", "UShort_t": ">u2", "uint16_t": ">u2",
    "int": ">i4", "Int_t": ">i4", "int32_t": ">i4", "unsigned int": ">u4", "unsigned": ">u4", "UInt_t": ">u4",
    "uint32_t": ">u4", "long": ">i8", "Long_t": ">i8", "Long64_t": ">i8", "long long": ">i8", "int64_t": ">i8",
    "unsigned long": ">u8", "ULong_t": ">u8", "ULong64_t": ">u8", "unsigned long long": ">u8", "uint64_t": ">u8",
    "float": ">f4", "Float_t": ">f4", "double": ">f8", "Double_t": ">f8",
}  # fmt: skip
_LISTS = {"vector": c.AsVector, "list": c.AsList, "RVec": c.AsRVec, "deque": c.AsVector, "forward_list": c.AsList}
_SETS = ("set", "multiset", "unordered_set", "unordered_multiset")
_MAPS = ("map", "multimap", "unordered_map", "unordered_multimap")
_TEXTS = ("string", "TString", "char*", "const char*")


def split(typename: str) -> tuple[str, list[str]]:
    """The name of a template and its arguments, allocators and comparisons left out."""
    text = bare(typename)
    at = text.find("<")
    if at < 0 or not text.endswith(">"):
        return text, []
    depth, begin, parts = 0, at + 1, []
    for position in range(at + 1, len(text) - 1):
        character = text[position]
        depth += (character == "<") - (character == ">")
        if character == "," and depth == 0:
            parts.append(text[begin:position])
            begin = position + 1
    parts.append(text[begin:-1])
    wanted = [part.strip() for part in parts]
    return text[:at], [
        part for part in wanted if bare(part).partition("<")[0] not in ("allocator", "less", "hash", "equal_to")
    ]


def bare(typename: str) -> str:
    """A name without ``const`` and the namespaces of the library."""
    text = typename.strip().removeprefix("const ").strip().replace(" ::", "::").replace(":: ", "::").replace(" *", "*")
    for prefix in ("std::", "ROOT::VecOps::", "ROOT::"):
        text = text.removeprefix(prefix)
    return text


def kind(typename: str) -> str:
    """``"list"``, ``"set"``, ``"map"``, ``"bitset"``, ``"text"``, ``"number"`` or ``"class"``."""
    name, arguments = split(typename)
    if arguments:
        if name in _LISTS:
            return "list"
        if name in _SETS:
            return "set"
        if name in _MAPS:
            return "map"
        if name == "bitset":
            return "bitset"
        return "class"
    if name in _TEXTS:
        return "text"
    return "number" if name in _NUMBERS else "class"


def content(typename: str, header: bool = False) -> Any:
    """A type as a dtype or a container of interpretations."""
    name, arguments = split(typename)
    what = kind(typename)
    if what == "number":
        return np.dtype(_NUMBERS[name])
    if what == "text":
        count = "4" if name.endswith("*") else "1-5"
        return c.AsString(header, count, typename=typename if name != "string" else None)
    if what == "list":
        return _LISTS[name](header, content(arguments[0]))
    if what == "set":
        return c.AsSet(header, content(arguments[0]))
    if what == "map":
        return c.AsMap(header, content(arguments[0], header), content(arguments[1], header))
    if what == "bitset":
        return c.AsBitSet(header, np.dtype("?"), int(arguments[0]))
    if typename.strip().endswith("*"):
        return c.AsPointer(content(typename.strip()[:-1]))
    return unversioned(typename.strip().removeprefix("const ").strip())
