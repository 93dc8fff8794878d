"""Objects of a ROOT file: instances of any class, with members by name.

An object is read together with all objects that it points to. Pointers to the same object are the same Python
object, also in cycles.
"""

from __future__ import annotations

import reprlib
import threading
from collections.abc import Mapping, Sequence

from forthwith._entries import whole
from forthwith._errors import KeyInFileError, RequestIndexError, RequestTypeError, UnsupportedError, place_text
from forthwith._guard import guarded
from forthwith._show import html_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from forthwith import _forthwith
    from forthwith._file import File

# Classes with a Python class of their own: module and name. They also apply to derived classes, nearest base
# first.
_SPECIAL = {
    "TAxis": ("hist.axis", "Axis"),
    "TH1": ("hist.histograms", "Histogram"),
    "TProfile": ("hist.histograms", "Profile"),
    "TProfile2D": ("hist.histograms", "Profile"),
    "TProfile3D": ("hist.histograms", "Profile"),
    "TH2Poly": ("hist.polygons", "PolygonHistogram"),
    "TEfficiency": ("hist.efficiency", "Efficiency"),
    "THn": ("hist.dimensions", "DenseHistogram"),
    "THnSparse": ("hist.dimensions", "SparseHistogram"),
    "TGraph": ("hist.graphs", "Graph"),
    "TGraph2D": ("hist.graphs", "Graph2D"),
    "TMultiGraph": ("hist.graphs", "MultiGraph"),
    "TMatrixT": ("hist.matrices", "Matrix"),
    "TMatrixTSym": ("hist.matrices", "Matrix"),
    "TVectorT": ("hist.matrices", "Matrix"),
    "TMap": ("_collections", "ObjectMap"),
    "TObjString": ("_objects", "Holder"),
    "TDatime": ("_collections", "Datime"),
    "TParameter": ("_objects", "Holder"),
}


# Maximum depth of nested values, below Python's recursion limit.
_MOST_LEVELS = 120


class Elsewhere:
    """A pointer to a position outside the objects of the record."""

    def __init__(self, position: int) -> None:
        self.position = position

    def __repr__(self) -> str:
        return f"<pointer to byte {self.position}>"


class Unread(bytes):
    """A member that could not be decoded: its bytes as stored."""

    def __repr__(self) -> str:
        return f"<{len(self)} bytes that were not understood>"


class Record:
    """All objects read from one key."""

    def __init__(self, file: File, path: str, core: _forthwith.Objects) -> None:
        self.file = file
        self.path = path
        self.core = core
        self._made: dict[int, Any] = {}
        self._inside = threading.local()

    def object(self, number: int) -> Any:
        """Returns the object with this number; strings and arrays as Python and NumPy values."""
        if number in self._made:
            return self._made[number]
        kind = self.core.kind(number)
        made = self._value(number) if kind == "value" else _class(self.core, number, kind)(self, number)
        # Another thread may have been faster: all threads get the same object for a number.
        return self._made.setdefault(number, made)

    def reduce(self, what: Object) -> tuple[Any, ...]:
        """Returns the arguments to pickle an object of this record: unpickling reads it again."""
        return _again, (self.file, self.path, what._number, what._window)

    def _value(self, number: int) -> Any:
        # A value is built together with all values in it, so a value that contains itself is an error.
        inside: set[int] = self._inside.__dict__.setdefault("numbers", set())
        if number in inside or len(inside) >= _MOST_LEVELS:
            name = self.core.classname(number)
            raise UnsupportedError(
                f"a {name} is in itself, or very deep in others\n  in {place_text(self.file.file_path, self.path)}",
                file=self.file.file_path,
                object=self.path,
            )
        inside.add(number)
        try:
            return self.core.inner(number, self)
        finally:
            inside.remove(number)

    @staticmethod
    def array(data: bytes, typestr: str, shape: Sequence[int] | None) -> Any:
        """Returns the data as a NumPy array in native byte order."""
        import numpy as np

        items = np.frombuffer(data, dtype=typestr)
        items = items.astype(items.dtype.newbyteorder("="))
        return items if shape is None else items.reshape(shape)

    @staticmethod
    def elsewhere(position: int) -> Elsewhere:
        return Elsewhere(position)

    @staticmethod
    def unread(data: bytes) -> Unread:
        return Unread(data)


def _class(core: _forthwith.Objects, number: int, kind: str) -> type[Object]:
    name = core.classname(number)
    if kind == "members":
        bases = sorted(core.bases(number), key=lambda base: base[4])
        for candidate in [name, *(base[0] for base in bases)]:
            special = _SPECIAL.get(candidate.partition("<")[0])
            if special is not None:
                return _found(*special)
    if kind == "items":
        return _found("_collections", "ObjectMap" if name == "TMap" else "Collection")
    return Object


def _found(module: str, name: str) -> type[Object]:
    from importlib import import_module

    found: type[Object] = getattr(import_module(f"forthwith.{module}"), name)
    return found


def register_class(
    name: str, members: Mapping[str, str] | Sequence[tuple[str, str]] | None, framed: bool = True
) -> None:
    """Registers the layout of a class that files do not describe, or that has a custom streamer.

    The layout applies to all versions of the class in files opened afterwards, and overrides the streamer
    info of the files.

    Args:
        name: The name of the class.
        members: The members after the byte count and the version that ROOT writes before an object: names,
            and C++ types such as ``"int"``, ``"double[3]"``, ``"TString"``, ``"vector<float>"``,
            ``"Double32_t [0,10,16]"``, ``"Hit"``, ``"TObject*"``, or ``"base"`` for the name of a base class.
            Other members are described in AwkwardForth: ``"uint32: data I-> stack"`` is a number of that type
            that the program leaves on the stack, ``": 4 data skip"`` skips bytes; such members are only read
            as columns. ``None`` removes the registration.
        framed: Whether a byte count and a version precede an object. A class with a custom streamer may have
            neither.

    Raises:
        RequestError: A type is invalid.
    """
    from forthwith import _forthwith

    pairs = None if members is None else list(members.items() if isinstance(members, Mapping) else members)
    _forthwith.register_class(name, pairs, framed)


def item(what: Any, at: Any) -> int:
    """Returns the index of an item; negative numbers count from the end.

    Raises:
        RequestIndexError: The index is out of range.
        RequestTypeError: ``at`` is not an integer.
    """
    number, count = whole(at), len(what)
    if number is None:
        raise RequestTypeError(f"items of {what!r} are found by number or name, not by {at!r}")
    if not -count <= number < count:
        raise RequestIndexError(f"no item {number} in {what!r}: there are {count}")
    return number % count


def open_object(file: File, path: str) -> Any:
    """Reads the object of a key."""
    return Record(file, path, file._core.object(path)).object(0)


@guarded
class Object:
    """An object: its class, and its members by name.

    Members of bases are included. A member is accessed as ``object.member("fX")``, ``object["fX"]`` or
    ``object.fX``. Numbers, text, containers and arrays are Python and NumPy values, objects are `Object`,
    null pointers ``None``.
    """

    __slots__ = ("_names", "_number", "_record", "_values", "_window")

    def __init__(self, record: Record, number: int, window: tuple[str, int, int, int] | None = None) -> None:
        self._record = record
        self._number = number
        self._window = window  # class, version, first and last slot: the view of a base
        self._names: list[str] | None = None
        self._values: dict[int, Any] = {}

    @property
    def file(self) -> File:
        """The file from which the object was read."""
        return self._record.file

    @property
    def object_path(self) -> str:
        """Path of the key from which the object was read."""
        return self._record.path

    @property
    def classname(self) -> str:
        """Name of the C++ class."""
        return self._window[0] if self._window else self._record.core.classname(self._number)

    @property
    def class_version(self) -> int:
        """Version of the class in the file; 0 if it has none."""
        return self._window[1] if self._window else self._record.core.version(self._number)

    @property
    def is_opaque(self) -> bool:
        """Whether the members are unknown, since the layout is missing or wrong in the file."""
        return self._record.core.kind(self._number) == "opaque"

    @property
    def raw(self) -> bytes:
        """The bytes of the object as stored."""
        return self._record.core.raw(self._number)

    @property
    def name(self) -> str:
        """Value of ``fName``, or an empty string."""
        return str(self.member("fName", ""))

    @property
    def title(self) -> str:
        """Value of ``fTitle``, or an empty string."""
        return str(self.member("fTitle", ""))

    def _slots(self) -> list[str]:
        if self._names is None:
            self._names = self._record.core.names(self._number)
        return self._names

    def _range(self) -> range:
        return range(self._window[2], self._window[3]) if self._window else range(len(self._slots()))

    def _slot(self, name: str) -> int | None:
        names = self._slots()
        # A member of the derived class hides one of the same name in a base.
        found = next((slot for slot in reversed(self._range()) if names[slot] == name), None)
        return self._labels().get(name) if found is None and "::" in name else found

    def _value(self, slot: int) -> Any:
        if slot not in self._values:
            self._values.setdefault(slot, self._record.core.value(self._number, slot, self._record))
        return self._values[slot]

    def has_member(self, name: str) -> bool:
        """Whether the class or a base has a member with that name."""
        return self._slot(name) is not None

    def member(self, name: str, *default: Any) -> Any:
        """Returns the value of a member; the default, if given, when there is no such member.

        Raises:
            KeyInFileError: There is no such member; the message suggests similar names.
            UnsupportedError: The file does not describe the layout of the class.
        """
        slot = self._slot(name)
        if slot is not None:
            return self._value(slot)
        if default:
            return default[0]
        where = f"  in {place_text(self.file.file_path, self.object_path)}"
        if self.is_opaque:
            why = self._record.core.fault(self._number) or "the file does not describe it"
            raise UnsupportedError(
                f"class {self.classname} version {self.class_version} cannot be read: {why}\n{where}",
                file=self.file.file_path,
                object=self.object_path,
            )
        from difflib import get_close_matches

        near = get_close_matches(name, self.member_names)
        hint = f"; there is {', '.join(near)}" if near else ""
        error = KeyInFileError(
            f"no member {name!r} in class {self.classname}{hint}\n{where}",
            file=self.file.file_path,
            object=self.object_path,
        )
        error.key, error.near = name, near
        raise error

    def members_of_type(self, kind: type) -> dict[str, Any]:
        """Returns the members whose values are instances of a Python type."""
        return {name: value for name, value in self.all_members.items() if isinstance(value, kind)}

    @property
    def member_names(self) -> list[str]:
        """Names of all members, those of bases first; ``Base::x`` where a name is ambiguous."""
        return list(self._labels())

    @property
    def all_members(self) -> dict[str, Any]:
        """Values of all members, by `member_names`."""
        return {label: self._value(slot) for label, slot in self._labels().items()}

    @property
    def members(self) -> dict[str, Any]:
        """Values of the members of the class itself, without its bases."""
        return {name: self._value(slot) for name, slot in self._own().items()}

    def _own(self) -> dict[str, int]:
        """Returns the slots of the members of the class itself, by name."""
        inherited = {slot for base in self._bases() for slot in range(base[2], base[3])}
        names = self._slots()
        return {names[slot]: slot for slot in self._range() if slot not in inherited}

    def _labels(self) -> dict[str, int]:
        """Returns the slots of all members, by unique name."""
        names, slots = self._slots(), self._range()
        labels = {names[slot]: slot for slot in slots}
        if len(labels) < len(slots):
            found = self._record.core.labels(self._number, slots.start, slots.stop)
            labels = dict(zip(found or [names[slot] for slot in slots], slots, strict=True))
        return labels

    def _bases(self) -> list[tuple[str, int, int, int, int]]:
        found = self._record.core.bases(self._number)
        if self._window is None:
            return found
        begin, end = self._window[2], self._window[3]
        inside = [base for base in found if begin <= base[2] and base[3] <= end and base[0] != self._window[0]]
        return [base for base in inside if base[3] > base[2]]

    @property
    def bases(self) -> list[Object]:
        """The object viewed as each of its direct and indirect base classes."""
        return [Object(self._record, self._number, base[:4]) for base in self._bases()]

    def base(self, *classnames: str) -> list[Object]:
        """Returns the bases of the given classes."""
        return [base for base in self.bases if base.classname in classnames]

    def tojson(self) -> dict[str, Any]:
        """Converts the object to plain dicts, lists, numbers and text, as ``json.dump`` accepts them.

        The class is stored as ``_typename``. A repeated object is ``{"$ref": n}``, where n is the number of
        the object in order of first occurrence.

        Raises:
            UnsupportedError: A chain of pointers leads through more than 120 objects that did not occur
                before. ``file[key].tojson()`` visits the objects of the whole record in order.
        """
        return _Plain().object(self)

    def __getitem__(self, name: str) -> Any:
        if not isinstance(name, str):
            raise RequestTypeError(f"members of {self!r} are found by name, not by {name!r}")
        return self.member(name)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.has_member(name)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__"):
            slot = self._slot(name)
            if slot is not None:
                return self._value(slot)
        raise AttributeError(f"{type(self).__name__!r} object of class {self.classname} has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *(name for name in self.member_names if name.isidentifier())})

    def _ipython_key_completions_(self) -> list[str]:
        return self.member_names

    def _repr_html_(self) -> str:
        return html_table(
            repr(self), ("member", "value"), [(name, reprlib.repr(value)) for name, value in self._shown()]
        )

    def _plain(self) -> Mapping[str, Any]:
        """Returns the content for conversion to JSON."""
        return {"unread": self.raw.hex()} if self.is_opaque else self.all_members

    def _shown(self) -> Iterable[tuple[str, Any]]:
        """Returns the rows of the notebook representation."""
        return () if self.is_opaque else self.all_members.items()

    def __repr__(self) -> str:
        name = self.member("fName", None)
        called = f" {name!r}" if isinstance(name, str) and name else ""
        version = f" (version {self.class_version})" if self.class_version > 0 else ""
        return f"<{self.classname}{called}{version}{', not understood' if self.is_opaque else ''}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return self._record.reduce(self)


def _again(file: File, path: str, number: int, window: tuple[str, int, int, int] | None) -> Any:
    record = Record(file, path, file._core.object(path))
    return record.object(number) if window is None else Object(record, number, window)


@guarded
class Holder(Object):
    """An object with a single value: ``TObjString``, ``TParameter``."""

    __slots__ = ()

    @property
    def value(self) -> Any:
        """The value of the object."""
        return self.member("fString" if self.has_member("fString") else "fVal")

    def __str__(self) -> str:
        return str(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __bool__(self) -> bool:
        # An existing object is true, whatever its value.
        return True

    def __eq__(self, other: object) -> bool:
        mine = self.value
        if self is other or not isinstance(mine, str | int | float):
            return self is other
        return bool(mine == (other.value if isinstance(other, Holder) else other))

    def __hash__(self) -> int:
        mine = self.value
        return hash(mine) if isinstance(mine, str | int | float) else object.__hash__(self)

    def __repr__(self) -> str:
        return f"<{self.classname} {self.value!r}>"


class _Plain:
    """Conversion of objects to JSON values."""

    def __init__(self) -> None:
        # Keyed by record too: each computed object has a record of its own.
        self._seen: dict[tuple[int, int], int] = {}
        self._level = 0

    def object(self, what: Object) -> dict[str, Any]:
        self._level += 1
        try:
            if self._level > _MOST_LEVELS:
                raise UnsupportedError(
                    f"{what!r} is within {_MOST_LEVELS} others\n  in {place_text(what.file.file_path, what.object_path)}",
                    file=what.file.file_path,
                    object=what.object_path,
                )
            return self._members(what)
        finally:
            self._level -= 1

    def _members(self, what: Object) -> dict[str, Any]:
        key = id(what._record), what._number
        if what._window is None:
            if key in self._seen:
                return {"$ref": self._seen[key]}
            self._seen[key] = len(self._seen)
        plain: dict[str, Any] = {"_typename": what.classname}
        for name, value in what._plain().items():
            plain[name] = self.value(value)
        return plain

    def value(self, value: Any) -> Any:
        if isinstance(value, Object):
            return self.object(value)
        if isinstance(value, Unread):
            return {"unread": value.hex()}
        if isinstance(value, Elsewhere):
            return {"elsewhere": value.position}
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        if isinstance(value, dict):
            if all(isinstance(key, str) for key in value):
                return {key: self.value(item) for key, item in value.items()}
            return [[self.value(key), self.value(item)] for key, item in value.items()]
        return value.tolist() if hasattr(value, "tolist") else value
