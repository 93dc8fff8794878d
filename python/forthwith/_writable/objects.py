"""Conversion of Python objects to ROOT objects, and copies of objects of other files."""

from __future__ import annotations

import io
import numbers
from collections.abc import Mapping
from dataclasses import dataclass

from forthwith import _forthwith
from forthwith._errors import RequestTypeError, UnsupportedError
from forthwith._open import open as open_file
from forthwith._writable.pyroot import file_with, is_pyroot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from forthwith._objects import Object

    Members = dict[str, Any]

# Members of a new graph.
_GRAPH = {
    "fFunctions": {"_typename": "TList", "items": []},
    "fHistogram": None,
    "fMinimum": -1111.0,
    "fMaximum": -1111.0,
}


@dataclass
class Made:
    """An object given by its members, with its class under ``_typename``."""

    title: str
    members: Members


@dataclass
class Copied:
    """An object of a file to copy, and the title of its key."""

    what: Object
    title: str

    def write(self, core: _forthwith.RootWriter, directory: str, name: str) -> None:
        """Copies the stored bytes, or converts the members if internal pointers would change."""
        what = self.what
        try:
            core.copy(directory, name, self.title, what._record.core, what.file._core)
        except UnsupportedError:
            core.describe(what.file._core)
            try:
                core.object(directory, name, self.title, _completed(what.tojson()))
                return
            except UnsupportedError:
                pass
            raise


def writable(value: Any, name: str) -> Made | Copied:
    """Converts a value to the object that is written under a name."""
    from forthwith._objects import Object

    if isinstance(value, Object):
        is_whole = _is_read(value) and value._number == 0 and not value._window
        return Copied(value, value.title) if is_whole else _of_object(value)
    if is_pyroot(value):
        return _of_pyroot(value, name)
    if isinstance(value, str):
        return Made("Collectable string class", _completed({"_typename": "TObjString", "fString": str(value)}))
    if _is_number(value):
        return Made("", _completed(_parameter(value, name)))
    if isinstance(value, Mapping) and "_typename" in value:
        # ROOT's own JSON has another key for the name of a collection.
        named = {} if "name" in value and "fName" not in value else {"fName": name}
        members = _completed({**named, **value})
        return Made(str(members.get("fTitle", "")), members)
    if isinstance(value, (list, tuple)) and value and all(_is_object(item) for item in value):
        return Made("Doubly linked list", {"_typename": "TList", "items": [_inner(item) for item in value]})
    from forthwith._writable.histograms import histogram_of

    histogram = histogram_of(value, name)
    if histogram is not None:
        return Made(str(histogram["fTitle"]), _completed(histogram))
    raise RequestTypeError(
        f"an object of type {type(value).__name__} cannot be written to a ROOT file: tables (a dict of columns, a data "
        "frame, an Awkward Array of records), histograms (boost_histogram, hist, numpy.histogram), texts, numbers, objects "
        "of files and of PyROOT, lists of those, and dicts of members with '_typename' can"
    )


def _is_read(what: Object) -> bool:
    """Whether the object was read from a file, rather than computed."""
    core: object = what._record.core
    return isinstance(core, _forthwith.Objects)


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) or type(value).__name__ == "bool_"


def _is_object(value: Any) -> bool:
    from forthwith._objects import Object

    return isinstance(value, (str, Object)) or is_pyroot(value) or (isinstance(value, Mapping) and "_typename" in value)


def _parameter(value: Any, name: str) -> Members:
    if isinstance(value, bool) or type(value).__name__ in ("bool", "bool_"):
        kind, value = "bool", bool(value)
    elif isinstance(value, numbers.Integral):
        kind, value = "Long64_t", int(value)
    else:
        kind, value = "double", float(value)
    return {"_typename": f"TParameter<{kind}>", "fName": name, "fVal": value}


def _of_object(what: Object) -> Made:
    members = _plain(what, 0)
    return Made(what.title, members)


def _of_pyroot(value: Any, name: str) -> Copied:
    """Converts an object of PyROOT by writing it with ROOT."""
    from forthwith._objects import Object, Record

    # Internal pointers are relative to the start of the key, so a name of the same length leaves them valid.
    stand_in = "x" * max(len(name.encode()), 1)
    file: Any = open_file(io.BytesIO(file_with(value, stand_in)))
    record = Record(file, stand_in, file._core.object(stand_in))
    return Copied(Object(record, 0), file._core.find(stand_in).title)


def _inner(value: Any) -> Members:
    """Converts an item of a list."""
    made = writable(value, "")
    return _of_object(made.what).members if isinstance(made, Copied) else made.members


def _plain(what: Object, depth: int) -> Members:
    """Returns the members of an object of a file or of a computed one."""
    from forthwith._collections import Collection, ObjectMap

    if depth > _DEEPEST:
        raise UnsupportedError(f"an object with others in it, more than {_DEEPEST} deep, is not written")
    members: Members = {"_typename": what.classname}
    if isinstance(what, (Collection, ObjectMap)):
        members["fName"] = what.name
        if isinstance(what, ObjectMap):
            members["items"] = [[_item(key, depth), _item(value, depth)] for key, value in what.items()]
        else:
            members["items"] = [_item(item, depth) for item in what]
        return _completed(members)
    computed = not _is_read(what)
    for name, value in what.all_members.items():
        # Fits are not valid for a computed histogram.
        members[name] = _GRAPH["fFunctions"] if name == "fFunctions" and computed else _value(value, depth)
    return _completed(members)


def _value(value: Any, depth: int) -> Any:
    from forthwith._objects import Object

    if isinstance(value, Object):
        return _plain(value, depth + 1)
    return _simple(value)


def _item(value: Any, depth: int) -> Any:
    """Converts an item of a collection."""
    return writable(value, "").members if isinstance(value, str) else _value(value, depth)  # type: ignore[union-attr]


def _completed(members: Mapping[str, Any]) -> Members:
    """Adds default members, and converts the values for the compiled part."""
    completed = {name: _simple(value) for name, value in members.items()}
    kind = str(members["_typename"])
    if kind.startswith("TGraph") and not kind.startswith("TGraph2D"):
        points = {"fNpoints": len(members["fX"])} if members.get("fX") is not None else {}
        completed = {**_GRAPH, **points, **completed}
    return completed


class _Numbers(tuple[str, bytes]):
    """Numbers of an array for the compiled part: their type (``"i8"``, ``"f8"``) and their bytes."""

    __slots__ = ()


def _simple(value: Any) -> Any:
    """Converts a value for the compiled part: arrays become 64-bit numbers."""
    if value is None or isinstance(value, (bool, str, _Numbers)):
        return value
    if isinstance(value, Mapping):
        return _completed(value) if "_typename" in value else {str(k): _simple(v) for k, v in value.items()}
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    if isinstance(value, (list, tuple)) and not _are_alike(value):
        return [_simple(item) for item in value]
    import numpy as np

    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise RequestTypeError(f"a value of type {type(value).__name__} is not a member of an object that is written")
    if array.dtype == np.uint64 and array.size and int(array.max()) > _MOST:
        return array.ravel().tolist()
    kind = "f8" if array.dtype.kind == "f" else "i8"
    return _Numbers((kind, np.ascontiguousarray(array, dtype=kind).tobytes()))


def _are_alike(values: list[Any] | tuple[Any, ...]) -> bool:
    """Whether NumPy converts all these numbers to an array without change."""
    kinds = {type(value) for value in values}
    return kinds == {float} or (kinds == {int} and min(values) >= -_MOST and max(values) <= _MOST)


_MOST = (1 << 63) - 1
_DEEPEST = 50
