"""The interpretation of a branch, from its type and what forthwith reads it as."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any

import numpy as np

from forthwith.uproot import _custom, _cxx
from forthwith.uproot import _interpretation as i
from forthwith.uproot._containers import AsArray
from forthwith.uproot._dtypes import native, split_dtype
from forthwith.uproot._model import versioned

_COUNTER = re.compile(r"\[[A-Za-z_][^\]]*\]")
_PACKED = {"Double32_t": i.AsDouble32, "Float16_t": i.AsFloat16}
_RANGE = re.compile(r"\[([^\[\]]*,[^\[\]]*)\]\s*$")


def interpretation_of(branch: Any, context: Any = None, simplify: bool = True) -> i.Interpretation:
    """What a branch is read as: its ``interpretation``."""
    found: i.Interpretation = branch.interpretation
    return found


class BranchType:
    """What branches of one type have in common."""

    __slots__ = ("_interpretations", "form", "header", "packed", "typename")

    def __init__(self, of: Any) -> None:
        self.typename = _COUNTER.sub("[]", of.typename)
        self.form: str | None = of.form
        self.header: int = of.header or 0
        # The class of the interpretation of packed numbers, whose range is in the title of each branch.
        self.packed: Any = _PACKED.get(self.typename.partition("[")[0].strip())
        self._interpretations: dict[str, i.Interpretation | None] = {}

    def interpretation(self, title: str) -> i.Interpretation | None:
        """What such branches are read as, unless it depends on the file. ``title`` has the range of packed numbers."""
        if title in self._interpretations:
            return self._interpretations[title]
        form = _parsed(self.form)
        packed = _packed(form, self.packed, title) if self.packed else None
        found = packed or _plain(form, self.typename, self.header)
        if found is not None:
            found.form = self.form
        self._interpretations[title] = found
        return found


def identify(branch: Any) -> i.Interpretation:
    """What a branch is read as."""
    own = _custom.matching(branch) if _custom._registered else None
    if own is not None:
        return own
    if branch._is_group:
        return i.AsGrouped(branch, {one.name: one.interpretation for one in branch.branches})
    kind = branch._tree._type(branch._index)
    if kind.form is None:
        description = branch.forthwith._description
        unknown = i.UnknownInterpretation(
            description.problem or description.typename, branch.file.file_path, branch.object_path
        )
        unknown.branch = branch
        return unknown
    found = kind.interpretation(branch._range_title if kind.packed else "")
    return _of_objects(branch, kind) if found is None else found


@lru_cache(1024)
def _parsed(form: str) -> Any:
    """A Form as what JSON is made of, to be looked at only: many branches share it."""
    return json.loads(form)


def _dtype(form: Any) -> np.dtype[Any] | None:
    """The big-endian dtype of numbers, of arrays of one shape, or of a record of these."""
    if form["class"] == "NumpyArray" and "date" not in form["primitive"]:
        inner = np.dtype(form["primitive"]).newbyteorder(">")
        return np.dtype((inner, tuple(form["inner_shape"]))) if form["inner_shape"] else inner
    if form["class"] == "RegularArray" and not form["parameters"].get("__array__"):
        inside = _dtype(form["content"])
        if inside is None:
            return None
        dtype, shape = split_dtype(inside)
        return np.dtype((dtype, (form["size"], *shape)))
    return None


def _plain(form: Any, typename: str, header: int) -> i.Interpretation | None:
    kind = _cxx.kind(typename)
    dtype = _dtype(form)
    if dtype is not None:
        return i.AsDtype(dtype)
    # Several leaves are one record.
    if form["class"] == "RecordArray" and form["fields"] and typename.startswith("struct {"):
        inside = [_dtype(one) for one in form["contents"]]
        if all(one is not None for one in inside):
            return i.AsDtype(np.dtype(list(zip(form["fields"], inside, strict=True))))
    if form["class"] == "ListOffsetArray":
        if form["parameters"].get("__array__") == "string":
            return i.AsStrings(typename=typename)
        inside_of = _dtype(form["content"])
        if inside_of is not None and (kind in ("list", "number", "class") or "[" in typename):
            before = 10 if kind == "list" else header
            return i.AsJagged(i.AsDtype(inside_of), before, typename if before else None)
    return None


def _of_objects(branch: Any, kind: BranchType) -> i.Interpretation:
    typename, form = kind.typename, _parsed(kind.form)
    if form["class"] != "RecordArray" or _cxx.kind(typename) != "class":
        return i.AsObjects(_cxx.content(typename, header=True), branch)
    members = _strided(form)
    if members is None:
        return i.AsObjects(versioned(typename, branch.file), branch)
    return i.AsStridedObjects(versioned(typename, branch.file), branch, native(np.dtype(members)))


def _strided(form: Any, path: str = "") -> list[tuple[str, np.dtype[Any]]] | None:
    """The members of objects by their paths, with their dtypes; ``None`` if not all are numbers."""
    if form["class"] != "RecordArray":
        dtype = _dtype(form)
        return None if dtype is None else [(path, dtype)]
    found: list[tuple[str, np.dtype[Any]]] = []
    for name, one in zip(form["fields"], form["contents"], strict=True):
        members = _strided(one, f"{path}/{name}" if path else name)
        if members is None:
            return None
        found += members
    return found


def _packed(form: Any, cls: Any, title: str) -> i.Interpretation | None:
    """``Double32_t`` and ``Float16_t``, whose range is in the title of their streamer element or leaf."""
    jagged = form["class"] == "ListOffsetArray"
    dtype = _dtype(form["content"] if jagged else form)
    if dtype is None:
        return None
    said = _RANGE.search(title)
    low, high, bits = 0.0, 0.0, 32
    if said is not None:
        try:
            numbers = [part.strip() for part in said.group(1).split(",")]
            low, high = _number(numbers[0]), _number(numbers[1])
            bits = int(numbers[2]) if len(numbers) > 2 else 32
        except ValueError:
            return None
    elif cls is i.AsDouble32:
        # Without a range it is stored as a float.
        plain: i.Interpretation = i.AsDtype(
            np.dtype((">f4", split_dtype(dtype)[1])), np.dtype(("f8", split_dtype(dtype)[1]))
        )
        return i.AsJagged(plain) if jagged else plain
    else:
        bits = 12
    found: i.Interpretation = cls(low, high, bits, split_dtype(dtype)[1])
    return i.AsJagged(found) if jagged else found


def _number(text: str) -> float:
    import math

    parts = re.sub(r"(?i)two", "2*", text.replace(" ", "")).replace("2*pi", "twopi").lower()
    known = {
        "pi": math.pi,
        "twopi": 2 * math.pi,
        "-pi": -math.pi,
        "-twopi": -2 * math.pi,
        "pi/2": math.pi / 2,
        "-pi/2": -math.pi / 2,
    }
    return known[parts] if parts in known else float(text)


UnknownInterpretation = i.UnknownInterpretation
_registered: dict[str, Any] = {}


def parse_typename(typename: str, file: Any = None, **options: Any) -> Any:
    """A C++ type as a dtype or a container of interpretations."""
    pointee = typename.strip().removesuffix("*")
    if pointee != typename.strip() and _cxx.kind(pointee) == "number" and _cxx.kind(typename) != "text":
        # Numbers behind a pointer are an array, whose length another member says.
        return AsArray(False, True, _cxx.content(pointee))
    return _cxx.content(typename, header="<" in typename)
