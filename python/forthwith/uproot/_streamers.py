"""Streamer infos in uproot's words."""

from __future__ import annotations

import re
import sys
from typing import Any

from forthwith import _forthwith
from forthwith.uproot._detached import DetachedFile
from forthwith.uproot._model import Model

# What ROOT's own names of types are in C++.
_TYPES = {
    "Char_t": "char", "UChar_t": "unsigned char", "Short_t": "short", "UShort_t": "unsigned short", "Int_t": "int",
    "UInt_t": "unsigned int", "Long_t": "long", "ULong_t": "unsigned long", "Long64_t": "long long",
    "ULong64_t": "unsigned long long", "Float_t": "float", "Double_t": "double", "Bool_t": "bool", "Seek_t": "int",
    "Text_t": "char", "Byte_t": "unsigned char", "Version_t": "short", "Option_t": "const char", "Ssiz_t": "int",
    "Real_t": "float", "LongDouble_t": "long double", "Axis_t": "double", "Stat_t": "double", "Font_t": "short",
    "Style_t": "short", "Marker_t": "short", "Width_t": "short", "Color_t": "short", "SCoord_t": "short",
    "Coord_t": "double", "Angle_t": "float", "Size_t": "float",
}  # fmt: skip
# By ROOT's codes: what an array adds to that of its items, a `std::string`, and bytes of numbers.
_ARRAY, _TEXT = 20, 365
_SIZES = {
    1: 1, 2: 2, 3: 4, 4: 8, 5: 4, 6: 4, 8: 8, 9: 8, 11: 1, 12: 2, 13: 4, 14: 8, 15: 4, 16: 8, 17: 8, 18: 1, 19: 4,
}  # fmt: skip
_WORD = re.compile(r"\b\w+_t\b")


def _plain(typename: str) -> str:
    """A type with the names that C++ has."""
    return _WORD.sub(lambda found: _TYPES.get(found.group(), found.group()), typename)


class _Described(Model):
    """What a file says of a class, or of a member of one."""

    _members: dict[str, Any]
    _file: Any

    @property
    def file(self) -> DetachedFile:
        """The file that says it, without its bytes."""
        return DetachedFile(self._file)

    @property
    def file_uuid(self) -> Any:
        """The identifier of the file."""
        return self._file.uuid

    def _names(self) -> list[str]:
        return list(self._members)

    def _get(self, name: str) -> Any:
        return self._members[name]

    @property
    def title(self) -> str:
        """The comment in C++; streamer infos have none."""
        return str(self._members["fTitle"])


class Model_TStreamerElement(_Described):
    """A base or a member of a class."""

    classname = "TStreamerElement"
    class_version = 4

    def __init__(self, described: Any, file: Any) -> None:
        kind, name, typename, title, code, size, items, shape, version, checksum, counter, container = described
        self._file = file
        if kind == "TStreamerBasicType":
            # ROOT's codes of arrays are not those of files; old files leave sizes out.
            code = code - _ARRAY if _ARRAY < code < 2 * _ARRAY else code
            size = size or _SIZES.get(code, 0) * max(items, 1)
        if kind == "TStreamerSTLstring":
            container = _TEXT, _TEXT
        # A base has its checksum among the dimensions.
        bounds = [0, _signed(checksum)] if kind == "TStreamerBase" else shape
        self._members = {
            "fName": name,
            "fTitle": title,
            "fType": code,
            "fSize": size,
            "fArrayLength": items,
            "fArrayDim": len(shape),
            "fMaxIndex": [*bounds, 0, 0, 0, 0, 0][:5],
            "fTypeName": _plain(typename),
        }
        if kind == "TStreamerBase":
            self._members["fBaseVersion"] = version
        if counter is not None:
            self._members.update(zip(("fCountVersion", "fCountName", "fCountClass"), counter, strict=True))
        if container is not None:
            self._members.update(zip(("fSTLtype", "fCtype"), container, strict=True))

    @property
    def name(self) -> str:
        """Its name."""
        return str(self._members["fName"])

    @property
    def typename(self) -> str:
        """Its type in C++; ``"BASE"`` of a base."""
        return str(self._members["fTypeName"])

    @property
    def array_length(self) -> int:
        """How many items an array has, all dimensions together; 0 of what is no array."""
        return int(self._members["fArrayLength"])

    @property
    def fType(self) -> int:
        """ROOT's code of its type."""
        return int(self._members["fType"])

    @property
    def base_version(self) -> int | None:
        """The version of a base."""
        found: int | None = self._members.get("fBaseVersion")
        return found

    def show(self, stream: Any = None) -> None:
        """Prints it, if it is no base."""
        if self.classname != "TStreamerBase":
            (sys.stdout if stream is None else stream).write(f"    {self._text()}\n")

    def _text(self) -> str:
        return f"{self.name}: {self.typename} ({self.classname})"

    def __repr__(self) -> str:
        return f"<{self.classname} {self.name!r} of {self.typename} at 0x{id(self):012x}>"


def _signed(number: int) -> int:
    return number - (1 << 32) if number >> 31 else number


class Model_TStreamerBase(Model_TStreamerElement):
    """A base of a class."""

    classname = "TStreamerBase"


class Model_TStreamerBasicType(Model_TStreamerElement):
    """A number."""

    classname = "TStreamerBasicType"


class Model_TStreamerBasicPointer(Model_TStreamerElement):
    """A pointer to numbers, as many as another member says."""

    classname = "TStreamerBasicPointer"

    @property
    def count_name(self) -> str:
        """The member that says how many there are."""
        return str(self._members["fCountName"])


class Model_TStreamerLoop(Model_TStreamerElement):
    """A pointer to objects, as many as another member says."""

    classname = "TStreamerLoop"

    @property
    def count_name(self) -> str:
        """The member that says how many there are."""
        return str(self._members["fCountName"])


class Model_TStreamerObject(Model_TStreamerElement):
    """An object that is a ``TObject``."""

    classname = "TStreamerObject"


class Model_TStreamerObjectAny(Model_TStreamerElement):
    """An object that is none."""

    classname = "TStreamerObjectAny"


class Model_TStreamerObjectPointer(Model_TStreamerElement):
    """A pointer to an object that is a ``TObject``."""

    classname = "TStreamerObjectPointer"


class Model_TStreamerObjectAnyPointer(Model_TStreamerElement):
    """A pointer to an object that is none."""

    classname = "TStreamerObjectAnyPointer"


class Model_TStreamerString(Model_TStreamerElement):
    """A ``TString``."""

    classname = "TStreamerString"


class Model_TStreamerSTL(Model_TStreamerElement):
    """A container of the standard library."""

    classname = "TStreamerSTL"


class Model_TStreamerSTLstring(Model_TStreamerSTL):
    """A ``std::string``."""

    classname = "TStreamerSTLstring"


class Model_TStreamerArtificial(Model_TStreamerElement):
    """A member that is made when an object is read."""

    classname = "TStreamerArtificial"


_ELEMENTS: dict[str, type[Model_TStreamerElement]] = {
    one.classname: one
    for one in (
        Model_TStreamerArtificial, Model_TStreamerBase, Model_TStreamerBasicPointer, Model_TStreamerBasicType,
        Model_TStreamerLoop, Model_TStreamerObject, Model_TStreamerObjectAny, Model_TStreamerObjectAnyPointer,
        Model_TStreamerObjectPointer, Model_TStreamerSTL, Model_TStreamerSTLstring, Model_TStreamerString,
    )
}  # fmt: skip


class Model_TStreamerInfo(_Described):
    """How a version of a class is stored."""

    classname = "TStreamerInfo"

    def __init__(self, described: Any, file: Any) -> None:
        name, version, checksum, elements = described
        self._file = file
        self._members = {
            "fName": name,
            "fTitle": "",
            "fCheckSum": checksum,
            "fClassVersion": version,
            "fElements": [_ELEMENTS.get(one[0], Model_TStreamerElement)(one, file) for one in elements],
        }

    @property
    def name(self) -> str:
        """The class."""
        return str(self._members["fName"])

    @property
    def typename(self) -> str:
        """The class."""
        return self.name

    @property
    def class_version(self) -> int:  # type: ignore[override]
        """Its version."""
        return int(self._members["fClassVersion"])

    @property
    def elements(self) -> list[Model_TStreamerElement]:
        """Its bases and members."""
        found: list[Model_TStreamerElement] = self._members["fElements"]
        return found

    def walk_members(self, streamers: Any) -> Any:
        """The members, those of bases first."""
        for element in self.elements:
            known = streamers.get(element.name) if element.typename == "BASE" else None
            if known:
                yield from known[max(known)].walk_members(streamers)
            elif element.typename != "BASE":
                yield element

    def show(self, stream: Any = None) -> None:
        """Prints it."""
        (sys.stdout if stream is None else stream).write(self._text() + "\n")

    def _text(self) -> str:
        bases = ", ".join(f"{one.name} (v{one.base_version})" for one in self.elements if one.typename == "BASE")
        head = f"{self.name} (v{self.class_version})" + (f": {bases}" if bases else "")
        return "\n".join([head, *(f"    {one._text()}" for one in self.elements if one.typename != "BASE")])

    def tojson(self) -> dict[str, Any]:
        """The same as plain dicts, lists, numbers and text."""
        arr = [one.tojson() for one in self.elements]
        return {**super().tojson(), "fElements": {"_typename": "TObjArray", "name": "TObjArray", "arr": arr}}

    def __repr__(self) -> str:
        return f"<TStreamerInfo for {self.name} version {self.class_version} at 0x{id(self):012x}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _info_again, (self._file, self.name, self.class_version)


def _info_again(file: Any, name: str, version: int) -> Any:
    return file.streamer_named(name, version)


def streamers_of(file: Any) -> dict[str, dict[int, Model_TStreamerInfo]]:
    """The streamer infos of a file by class and version."""
    found: dict[str, dict[int, Model_TStreamerInfo]] = {}
    for described in _forthwith.root_streamers(file.forthwith._core):
        info = Model_TStreamerInfo(described, file)
        found.setdefault(info.name, {})[info.class_version] = info
    return found


def dependencies(file: Any, classname: str, version: Any) -> list[Model_TStreamerInfo]:
    """The streamer infos of the classes that one is made of, those that need others last."""
    known = file.streamers
    out: list[Model_TStreamerInfo] = []
    seen: set[str] = set()

    def visit(name: str, wanted: Any) -> None:
        if name in seen or name not in known:
            return
        seen.add(name)
        versions = known[name]
        info = versions[wanted] if wanted in versions else versions[max(versions)]
        for element in reversed(info.elements):
            visit(element.name if element.typename == "BASE" else element.typename.rstrip("* "), element.base_version)
        out.append(info)

    visit(classname, version)
    return out


def show(file: Any, classname: str | None, version: Any, stream: Any) -> None:
    """Prints the streamer infos of all classes, or of one and those it is made of."""
    if classname is None:
        infos = [info for versions in file.streamers.values() for info in versions.values()]
    else:
        infos = dependencies(file, classname, version)
    text = "\n\n".join(info._text() for info in infos) + "\n"
    (sys.stdout if stream is None else stream).write(text)


def element_of(branch: Any) -> Any:
    """The streamer element of the member that a branch holds."""
    if not branch._is_element:
        return None
    streamers = branch.file.streamers
    owner = branch.member("fParentName") or branch.member("fClassName")
    last = branch.name.rpartition(".")[2].partition("[")[0]
    if owner == "" or last == "":
        return None
    for info in (streamers.get(owner) or {}).values():
        for element in info.elements:
            if element.name.partition("[")[0] == last:
                return element
    versions = streamers.get(branch.member("fClassName")) or {}
    for info in versions.values():
        return info
    return None
