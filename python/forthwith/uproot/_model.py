"""Objects with uproot's ways to look at them: one Python class for each C++ class and version."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np

from forthwith._collections import Collection
from forthwith._errors import KeyInFileError
from forthwith._objects import Holder, Object
from forthwith.uproot import _behaviors
from forthwith.uproot._containers import STLMap, STLVector
from forthwith.uproot._detached import DetachedFile
from forthwith.uproot._interpretation import AsStridedObjects

_UPROOT_NAMES = {"fUniqueID": "@fUniqueID", "fBits": "@fBits"}
_OUR_NAMES = {theirs: ours for ours, theirs in _UPROOT_NAMES.items()}
_classes: dict[str, type[Model]] = {}
# Objects that are held, by the record and the place in it that they are read from.
_wrapped: WeakKeyDictionary[Any, WeakValueDictionary[Any, Any]] = WeakKeyDictionary()
_NOT_PLAIN = re.compile(r"[^a-zA-Z0-9]+")


def classname_encode(classname: str, version: int | None = None, unknown: bool = False) -> str:
    """The name of the Python class of a C++ class."""
    prefix = "Unknown_" if unknown else "Model_"
    raw = _NOT_PLAIN.sub(lambda one: f"_{one.group().encode().hex()}_", classname)
    return f"{prefix}{raw}" if version is None else f"{prefix}{raw}_v{version}"


def classname_decode(encoded: str) -> tuple[str, int | None]:
    """The C++ class and the version of the name of a Python class."""
    for prefix in ("Unknown_", "Model_"):
        if encoded.startswith(prefix):
            raw = encoded[len(prefix) :]
            break
    else:
        raise ValueError(f"{encoded!r} names no class of a C++ class")
    # An underscore of the class itself is written as a group, ``_5f_``, and so begins no version.
    found = re.fullmatch(r"((?:[^_]|_(?:[0-9a-f][0-9a-f])+_)*)(?:_v([0-9]+))?", raw)
    if found is None:
        raise ValueError(f"{encoded!r} names no class of a C++ class")
    raw, version = found.group(1), None if found.group(2) is None else int(found.group(2))
    return re.sub(r"_((?:[0-9a-f][0-9a-f])+)_", lambda one: bytes.fromhex(one.group(1)).decode(), raw), version


class Model:
    """An object of a C++ class, with its members."""

    classname: str = ""
    class_version: int | None = None
    _parent: Any = None

    @classmethod
    def strided_interpretation(cls, file: Any, header: bool = False, **options: Any) -> AsStridedObjects:
        """What branches of the class are read as whose objects all take as many bytes."""
        return AsStridedObjects(cls)

    @property
    def encoded_classname(self) -> str:
        """The name of the Python class."""
        return type(self).__name__

    @property
    def instance_version(self) -> int | None:
        """The version of its class."""
        return self.class_version

    @property
    def class_streamer(self) -> Any:
        """The streamer info of its class in the file; ``None`` if the file has none."""
        file = getattr(self, "_file", None)
        return None if file is None else file.streamer_named(self.classname, self.class_version or "max")

    @property
    def base_names_versions(self) -> list[tuple[str, int | None]]:
        """The classes that it inherits from directly, by the file."""
        streamer = self.class_streamer
        elements = [] if streamer is None else streamer.elements
        return [(one.name, one.base_version) for one in elements if one.typename == "BASE"]

    def to_pyroot(self, name: str | None = None) -> Any:
        """The object as one of PyROOT, by `to_pyroot`."""
        from importlib import import_module

        return import_module("forthwith.uproot._pyroot").to_pyroot(self, name)

    @property
    def parent(self) -> Any:
        """The object or directory this was read in."""
        return self._parent

    @property
    def concrete(self) -> Any:
        """The object itself."""
        return self

    def _names(self) -> list[str]:
        """The names of all members, those of bases first."""
        raise NotImplementedError

    def _get(self, name: str) -> Any:
        raise NotImplementedError

    def _base_names(self) -> list[str]:
        """The classes this inherits from, the nearest first."""
        return []

    def has_member(self, name: str, all: bool = True) -> bool:
        """Whether there is a member of that name; with ``all``, also in bases."""
        return name in (self.all_member_names if all else self.member_names)

    def member(self, name: str, all: bool = True, none_if_missing: bool = False) -> Any:
        """A member.

        Raises:
            KeyInFileError: There is none, unless ``none_if_missing``.
        """
        if self.has_member(name, all):
            return self._get(name)
        if none_if_missing:
            return None
        from difflib import get_close_matches

        near = get_close_matches(name, self._names())
        error = KeyInFileError(
            f"no member {name!r} in class {self.classname}" + (f"; there is {', '.join(near)}" if near else "")
        )
        error.key, error.near = name, near
        raise error

    @property
    def member_names(self) -> list[str]:
        """The names of the members of the class itself."""
        return self._names()

    @property
    def all_member_names(self) -> list[str]:
        """The names of all members, those of bases first."""
        return self._names()

    @property
    def members(self) -> dict[str, Any]:
        """The members of the class itself."""
        return {name: self._get(name) for name in self.member_names}

    @property
    def all_members(self) -> dict[str, Any]:
        """All members, those of bases first."""
        return {name: self._get(name) for name in self._names()}

    def is_instance(self, *cls: Any) -> bool:
        """Whether this is of one of these classes (names, or classes of Python), or inherits from one."""
        names = {self.classname, *self._base_names()}
        return any(one in names if isinstance(one, str) else isinstance(self, one) for one in cls)

    def tojson(self) -> dict[str, Any]:
        """The members as plain dicts, lists, numbers and text."""
        return {"_typename": self.classname, **{name: _json(value) for name, value in self.all_members.items()}}

    def __repr__(self) -> str:
        version = f" (version {self.class_version})" if self.class_version is not None else ""
        return f"<{self.classname}{version} at 0x{id(self):012x}>"


def _json(value: Any) -> Any:
    if isinstance(value, Model):
        return value.tojson()
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, list | tuple):
        return [_json(one) for one in value]
    if isinstance(value, dict):
        return {str(name): _json(one) for name, one in value.items()}
    return value


class UnknownClass(Model):
    """An object of a class that the file does not describe."""


class Row(Model):
    """One object of a branch: a row of the columns of its members."""

    def __init__(self, columns: dict[str, Any], at: int, file: DetachedFile | None = None) -> None:
        self._columns = columns
        self._at = at
        self._detached = file

    @property
    def file(self) -> DetachedFile | None:
        """The file this is from, without its bytes."""
        return self._detached

    def _names(self) -> list[str]:
        return list(self._columns)

    def _get(self, name: str) -> Any:
        return self._columns[name][self._at]

    def __getitem__(self, name: str) -> Any:
        return self.member(name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Row) and _json(self) == _json(other)

    __hash__ = object.__hash__


class Pair(Row):
    """A ``std::pair``."""

    classname = "pair"

    def __iter__(self) -> Iterator[Any]:
        return (self._get(name) for name in self._columns)


class Held(Model):
    """An object of a file, as forthwith has it."""

    def __init__(self, ours: Any, file: Any, parent: Any = None) -> None:
        self._ours = ours
        self._file = file
        self._parent = parent

    @property
    def forthwith(self) -> Any:
        """The object of forthwith's."""
        return self._ours

    @property
    def file(self) -> DetachedFile:
        """The file this is from, without its bytes."""
        return DetachedFile(self._file)

    @property
    def file_path(self) -> str:
        """The path of the file."""
        return str(self._file.file_path)

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    @property
    def closed(self) -> bool:
        """Whether the file was closed."""
        return bool(self._file.closed)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _names(self) -> list[str]:
        return [_UPROOT_NAMES.get(name, name) for name in self._ours.member_names]

    @property
    def member_names(self) -> list[str]:
        """The names of the members of the class itself."""
        return [_UPROOT_NAMES.get(name, name) for name in self._ours._own()]

    def _wrapped(self, value: Any) -> Any:
        return wrap(value, self._file, self)

    def _get(self, name: str) -> Any:
        if name == "fElements" and self.classname.startswith("TMatrixTSym<"):
            # The numbers that are stored: one of each pair.
            size = self._ours.member("fNrows")
            return self._ours.member(name).reshape(size, size)[np.triu_indices(size)]
        return wrap(self._ours.member(_OUR_NAMES.get(name, name)), self._file, self)

    def has_member(self, name: str, all: bool = True) -> bool:
        """Whether there is a member of that name; with ``all``, also in bases."""
        return super().has_member(_UPROOT_NAMES.get(name, name), all)

    def _base_names(self) -> list[str]:
        return [base[0] for base in sorted(self._ours._bases(), key=lambda base: base[4])]

    @property
    def bases(self) -> list[Any]:
        """The object as each class that it inherits from directly."""
        direct: list[Any] = []
        # Members of a base lie together: a base that lies within another one is that one's.
        for base in sorted(self._ours.bases, key=lambda base: base._window[2] - base._window[3]):
            first, last = base._window[2:]
            within = any(other._window[2] <= first and last <= other._window[3] for other in direct)
            if not within and first < last:
                direct.append(base)
        direct.sort(key=lambda base: base._window[2])
        return [wrap(base, self._file, self) for base in direct]

    def base(self, *cls: Any) -> list[Any]:
        """The bases of these classes."""
        found = [wrap(base, self._file, self) for base in self._ours.bases]
        return [
            base
            for base in found
            if any(base.classname == one if isinstance(one, str) else isinstance(base, one) for one in cls)
        ]

    def tojson(self) -> dict[str, Any]:
        """The object as plain dicts, lists, numbers and text."""
        found: dict[str, Any] = self._ours.tojson()
        return found

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if hasattr(type(self._ours), name):
            return wrap(getattr(self._ours, name), self._file, self)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self._file, self._ours)


def _again(file: Any, ours: Any) -> Any:
    return wrap(ours, file, None)


class HeldSequence(Held):
    """A collection of ROOT's."""

    def __getitem__(self, at: Any) -> Any:
        found = self._ours[at]
        if isinstance(at, slice):
            return [wrap(one, self._file, self) for one in found]
        return wrap(found, self._file, self)

    def __len__(self) -> int:
        return len(self._ours)

    def __iter__(self) -> Any:
        return (wrap(one, self._file, self) for one in self._ours)


class HeldText(str):
    """A ``TObjString`` or ``TString``: a text."""

    __slots__ = ("_file", "_ours")
    _ours: Any
    _file: Any

    @property
    def classname(self) -> str:
        """The C++ class."""
        return "TObjString"

    def member(self, name: str, all: bool = True, none_if_missing: bool = False) -> Any:
        """A member."""
        if none_if_missing and not self._ours.has_member(_OUR_NAMES.get(name, name)):
            return None
        return self._ours.member(_OUR_NAMES.get(name, name))

    def __reduce__(self) -> tuple[Any, ...]:
        return str, (str(self),)


def class_of(classname: str, version: int | None, base: type[Model] = Row) -> Any:
    """The Python class of a C++ class."""
    name = classname_encode(classname, version)
    key = f"{base.__name__}:{name}"
    if key not in _classes:
        bases: tuple[type, ...]
        if version is None:
            mixins = _behaviors.of(classname) if base is not Row or classname == "TRefArray" else ()
            bases = (*mixins, base)
        else:
            # Objects of any version are instances of the class without one.
            bases = (class_of(classname, None, base),)
        made = type(name, bases, {"classname": classname, "class_version": version, "__module__": __name__})
        _classes[key] = made
    return _classes[key]


def unversioned(classname: str) -> Any:
    """The Python class of a C++ class, whatever its version."""
    return class_of(classname, None)


def versioned(classname: str, file: Any) -> Any:
    """The Python class of a C++ class, with its version in a file."""
    versions = file.forthwith.streamers.get(classname) if file.forthwith.format == "ROOT" else None
    return class_of(classname, max(versions) if versions else None)


def class_named(classname: str, version: Any = None) -> Any:
    """The Python class of a C++ class."""
    return class_of(classname, version if isinstance(version, int) else None)


def has_class_named(classname: str, version: Any = None) -> bool:
    """Whether an object of this class was met, or there is Python of its own for the class, whatever its version."""
    if version is None and _behaviors.of(classname):
        return True
    return any(one.classname == classname and version in (None, one.class_version) for one in _classes.values())


def reset_classes() -> None:
    """Forgets the Python classes."""
    _classes.clear()


def wrap(value: Any, file: Any, parent: Any = None) -> Any:
    """A value of forthwith's as uproot has it."""
    if isinstance(value, Object):
        if isinstance(value, Holder) and value.has_member("fString"):
            text = HeldText(str(value))
            text._ours, text._file = value, file
            return text
        # An object that several members lead to is one object.
        known = _wrapped.setdefault(value._record, WeakValueDictionary())
        place = value._number, value._window
        found = known.get(place)
        if found is None:
            base = HeldSequence if isinstance(value, Collection) else Held
            made = class_of(value.classname, value.class_version or None, base)
            found = known[place] = made(value, file, parent)
        return found
    if isinstance(value, list):
        return STLVector([wrap(one, file, parent) for one in value])
    if isinstance(value, dict):
        return STLMap([wrap(one, file, parent) for one in value], [wrap(one, file, parent) for one in value.values()])
    if isinstance(value, tuple) and len(value) == 2:
        return Pair({"first": [wrap(value[0], file, parent)], "second": [wrap(value[1], file, parent)]}, 0)
    return value
