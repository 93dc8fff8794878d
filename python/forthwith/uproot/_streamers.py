"""Streamer infos in uproot's words."""

from __future__ import annotations

import sys
from typing import Any

from forthwith._errors import KeyInFileError
from forthwith.uproot._detached import DetachedFile


class Element:
    """A base or a member of a class."""

    def __init__(self, ours: Any) -> None:
        self._ours = ours

    @property
    def name(self) -> str:
        """Its name."""
        return str(self._ours.name)

    @property
    def title(self) -> str:
        """The comment in C++."""
        return str(self._ours.title)

    @property
    def typename(self) -> str:
        """Its type in C++."""
        return "BASE" if self._ours.is_base else str(self._ours.typename)

    @property
    def base_version(self) -> int | None:
        """The version of a base."""
        found: int | None = self._ours.version
        return found

    def member(self, name: str, all: bool = True, none_if_missing: bool = False) -> Any:
        """A member of the streamer element."""
        known = {
            "fName": self.name,
            "fTitle": self.title,
            "fTypeName": self.typename,
            "fBaseVersion": self.base_version,
        }
        if name in known:
            return known[name]
        if none_if_missing:
            return None
        raise KeyInFileError(f"no member {name!r} of a streamer element here; there is {', '.join(known)}")

    def __repr__(self) -> str:
        return f"<streamer element {self.name!r} of {self.typename} at 0x{id(self):012x}>"


class StreamerInfo:
    """How a version of a class is stored."""

    def __init__(self, ours: Any, file: Any) -> None:
        self._ours, self._file = ours, file

    @property
    def file(self) -> DetachedFile:
        """The file that says it, without its bytes."""
        return DetachedFile(self._file)

    @property
    def file_uuid(self) -> Any:
        """The identifier of the file."""
        return self._file.uuid

    @property
    def name(self) -> str:
        """The class."""
        return str(self._ours.classname)

    @property
    def typename(self) -> str:
        """The class."""
        return self.name

    @property
    def title(self) -> str:
        """Streamer infos have none."""
        return ""

    @property
    def class_version(self) -> int:
        """Its version."""
        return int(self._ours.version)

    @property
    def elements(self) -> list[Element]:
        """Its bases and members."""
        return [Element(member) for member in self._ours.members]

    def member(self, name: str, all: bool = True, none_if_missing: bool = False) -> Any:
        """A member of the streamer info."""
        known = {
            "fName": self.name,
            "fClassVersion": self.class_version,
            "fCheckSum": self._ours.checksum,
            "fElements": self.elements,
        }
        if name in known:
            return known[name]
        if none_if_missing:
            return None
        raise KeyInFileError(f"no member {name!r} of a streamer info here; there is {', '.join(known)}")

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
        lines = []
        for one in self.elements:
            if one.typename != "BASE":
                title = f" ({one.title})" if one.title else ""
                lines.append(f"    {one.name}: {one.typename}{title}")
        return "\n".join([head, *lines])

    def tojson(self) -> dict[str, Any]:
        """The same as plain dicts, lists, numbers and text."""
        return {
            "_typename": "TStreamerInfo",
            "fName": self.name,
            "fCheckSum": self._ours.checksum,
            "fClassVersion": self.class_version,
            "fElements": {
                "_typename": "TObjArray",
                "name": "TObjArray",
                "arr": [member_json(one) for one in self._ours.members],
            },
        }

    def __repr__(self) -> str:
        return f"<TStreamerInfo for {self.name} version {self.class_version} at 0x{id(self):012x}>"


def member_json(member: Any) -> dict[str, Any]:
    """A base or a member as a plain dict."""
    found = {"fName": member.name, "fTitle": member.title, "fTypeName": "BASE" if member.is_base else member.typename}
    return {**found, "fBaseVersion": member.version} if member.is_base else found


def streamers_of(file: Any) -> dict[str, dict[int, StreamerInfo]]:
    """The streamer infos of a file by class and version."""
    return {
        name: {version: StreamerInfo(info, file) for version, info in versions.items()}
        for name, versions in file.forthwith.streamers.items()
    }


def dependencies(file: Any, classname: str, version: Any) -> list[StreamerInfo]:
    """The streamer infos of the classes that one is made of, those that need others last."""
    known = file.streamers
    out: list[StreamerInfo] = []
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
        names = dict.fromkeys(file.streamers)
        infos: list[StreamerInfo] = []
        for name in names:
            infos += [info for info in dependencies(file, name, "max") if info.name not in {one.name for one in infos}]
    else:
        infos = dependencies(file, classname, version)
    text = "\n\n".join(info._text() for info in infos) + "\n"
    (sys.stdout if stream is None else stream).write(text)


def element_of(branch: Any) -> Any:
    """The streamer element of the member that a branch holds."""
    if not branch._is_element:
        return None
    streamers = branch.file.forthwith.streamers
    owner = branch.member("fParentName") or branch.member("fClassName")
    last = branch.name.rpartition(".")[2].partition("[")[0]
    if owner == "" or last == "":
        return None
    for info in (streamers.get(owner) or {}).values():
        for member in info.members:
            if member.name.partition("[")[0] == last:
                return Element(member)
    versions = streamers.get(branch.member("fClassName")) or {}
    for info in versions.values():
        return StreamerInfo(info, branch.file)
    return None
