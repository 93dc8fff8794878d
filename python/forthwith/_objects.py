"""Objects of a ROOT file: any class, as trees of values.

An object is read with everything it points to. Pointers to the same object are the same Python object, also where
they lead in a circle.
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

# Classes that are more than a tree of members: module and name. Bases count, too, the nearest first.
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


# Plain values are made within each other: no deeper than Python goes.
_MOST_LEVELS = 120


class Elsewhere:
    """A pointer to something that is not an object of the same record, or was not read as one."""

    def __init__(self, position: int) -> None:
        self.position = position

    def __repr__(self) -> str:
        return f"<pointer to byte {self.position}>"


class Unread(bytes):
    """A member that could not be understood: its bytes as they are stored."""

    def __repr__(self) -> str:
        return f"<{len(self)} bytes that were not understood>"


class Record:
    """Everything that was read with one key."""

    def __init__(self, file: File, path: str, core: _forthwith.Objects) -> None:
        self.file = file
        self.path = path
        self.core = core
        self._made: dict[int, Any] = {}
        self._inside = threading.local()

    def object(self, number: int) -> Any:
        """The object of this number; strings and arrays as what they hold."""
        if number in self._made:
            return self._made[number]
        kind = self.core.kind(number)
        made = self._value(number) if kind == "value" else _class(self.core, number, kind)(self, number)
        # Another thread may have been faster; there is one object for each number all the same.
        return self._made.setdefault(number, made)

    def reduce(self, what: Object) -> tuple[Any, ...]:
        """How an object of this record is pickled: it is read again."""
        return _again, (self.file, self.path, what._number, what._window)

    def _value(self, number: int) -> Any:
        # A value is made with all that is in it, so none can be in itself, whatever a file says.
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
        """Numbers as NumPy has them."""
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
    """Says how a class is stored, for files that do not describe it, and for classes with streamers of their own.

    It holds for files that are opened from now on, for all versions of the class, and goes before what files say themselves.

    Args:
        name: The class.
        members: What stands behind the byte count and the version that ROOT writes before an object: names, and C++ types
            such as ``"int"``, ``"double[3]"``, ``"TString"``, ``"vector<float>"``, ``"Double32_t [0,10,16]"``, ``"Hit"``,
            ``"TObject*"``, or ``"base"`` behind the name of a base. What is none of these is told in AwkwardForth:
            ``"uint32: data I-> stack"`` is a number of that type that the words leave on the stack, ``": 4 data skip"`` are
            bytes that are stepped over; such members are read in columns only. ``None`` takes back what was said before.
        framed: Whether a byte count and a version stand before an object. A class with a streamer of its own may have
            neither.

    Raises:
        RequestError: A type is none.
    """
    from forthwith import _forthwith

    pairs = None if members is None else list(members.items() if isinstance(members, Mapping) else members)
    _forthwith.register_class(name, pairs, framed)


def item(what: Any, at: Any) -> int:
    """The place of one of the items of an object, where negative numbers count from the end.

    Raises:
        RequestIndexError: There is none.
        RequestTypeError: It is no number.
    """
    number, count = whole(at), len(what)
    if number is None:
        raise RequestTypeError(f"items of {what!r} are found by number or name, not by {at!r}")
    if not -count <= number < count:
        raise RequestIndexError(f"no item {number} in {what!r}: there are {count}")
    return number % count


def open_object(file: File, path: str) -> Any:
    """The object of a key."""
    return Record(file, path, file._core.object(path)).object(0)


@guarded
class Object:
    """An object: its class, and its members by name.

    Members of bases are members. They are had as ``object.member("fX")``, ``object["fX"]`` or ``object.fX``; numbers, text,
    containers and arrays as Python and NumPy have them, objects as `Object`, null pointers as ``None``.
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
        """The file this is from."""
        return self._record.file

    @property
    def object_path(self) -> str:
        """Path of the key this was read with."""
        return self._record.path

    @property
    def classname(self) -> str:
        """The C++ class."""
        return self._window[0] if self._window else self._record.core.classname(self._number)

    @property
    def class_version(self) -> int:
        """Its version in the file; 0 if it has none."""
        return self._window[1] if self._window else self._record.core.version(self._number)

    @property
    def is_opaque(self) -> bool:
        """Whether the members are unknown, as the file does not describe the class, or not as it is stored."""
        return self._record.core.kind(self._number) == "opaque"

    @property
    def raw(self) -> bytes:
        """The object as it is stored."""
        return self._record.core.raw(self._number)

    @property
    def name(self) -> str:
        """``fName``, or an empty string."""
        return str(self.member("fName", ""))

    @property
    def title(self) -> str:
        """``fTitle``, or an empty string."""
        return str(self.member("fTitle", ""))

    def _slots(self) -> list[str]:
        if self._names is None:
            self._names = self._record.core.names(self._number)
        return self._names

    def _range(self) -> range:
        return range(self._window[2], self._window[3]) if self._window else range(len(self._slots()))

    def _slot(self, name: str) -> int | None:
        names = self._slots()
        # Where a base has a member of the same name, the derived class's.
        found = next((slot for slot in reversed(self._range()) if names[slot] == name), None)
        return self._labels().get(name) if found is None and "::" in name else found

    def _value(self, slot: int) -> Any:
        if slot not in self._values:
            self._values.setdefault(slot, self._record.core.value(self._number, slot, self._record))
        return self._values[slot]

    def has_member(self, name: str) -> bool:
        """Whether the class or a base has a member of that name."""
        return self._slot(name) is not None

    def member(self, name: str, *default: Any) -> Any:
        """The member's value; the default, if one is given and there is no such member.

        Raises:
            KeyInFileError: There is no such member; the message shows similar ones.
            UnsupportedError: The file does not say how the class is stored.
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
        """The members whose values are of one Python type."""
        return {name: value for name, value in self.all_members.items() if isinstance(value, kind)}

    @property
    def member_names(self) -> list[str]:
        """Names of all members, those of bases first; ``Base::x`` is one of a base that has the same name as another."""
        return list(self._labels())

    @property
    def all_members(self) -> dict[str, Any]:
        """All members by their `member_names`."""
        return {label: self._value(slot) for label, slot in self._labels().items()}

    @property
    def members(self) -> dict[str, Any]:
        """The members of the class itself, without those of its bases."""
        return {name: self._value(slot) for name, slot in self._own().items()}

    def _own(self) -> dict[str, int]:
        """Names and slots of the members of the class itself."""
        inherited = {slot for base in self._bases() for slot in range(base[2], base[3])}
        names = self._slots()
        return {names[slot]: slot for slot in self._range() if slot not in inherited}

    def _labels(self) -> dict[str, int]:
        """Names by which each member is found, and slots."""
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
        """The object as each class it inherits from, directly or not."""
        return [Object(self._record, self._number, base[:4]) for base in self._bases()]

    def base(self, *classnames: str) -> list[Object]:
        """The bases of these classes."""
        return [base for base in self.bases if base.classname in classnames]

    def tojson(self) -> dict[str, Any]:
        """The object as plain dicts, lists, numbers and text, which ``json.dump`` writes.

        The class is under ``_typename``. An object that is met again is ``{"$ref": n}``, where n counts the objects
        in their order.

        Raises:
            UnsupportedError: Pointers lead through more than 120 objects to one that was not met before. Those of the whole
                record, ``file[key].tojson()``, are met in their order.
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
        """What it consists of, as JSON names it."""
        return {"unread": self.raw.hex()} if self.is_opaque else self.all_members

    def _shown(self) -> Iterable[tuple[str, Any]]:
        """The names that a notebook lists."""
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
    """An object that is there for one value: ``TObjString``, ``TParameter``."""

    __slots__ = ()

    @property
    def value(self) -> Any:
        """The value."""
        return self.member("fString" if self.has_member("fString") else "fVal")

    def __str__(self) -> str:
        return str(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __bool__(self) -> bool:
        # There is an object, whatever its value.
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
    """Values as JSON has them."""

    def __init__(self) -> None:
        # By record, too: computed objects are each in one of their own.
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
