"""The classes that a ROOT file describes: its streamer infos."""

from __future__ import annotations

from dataclasses import dataclass

from forthwith import _forthwith
from forthwith._forthwith import safe_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@dataclass(frozen=True)
class StreamerMember:
    """A base or a member of a class.

    Attributes:
        name: Its name; of a base, the class.
        typename: Its type in C++, with the dimensions of an array.
        title: The comment in the C++ header.
        is_base: Whether it is a base class.
        version: The version of a base, if the file says it.
    """

    name: str
    typename: str
    title: str
    is_base: bool
    version: int | None


@dataclass(frozen=True)
class StreamerInfo:
    """How one version of a class is stored.

    Attributes:
        classname: The class.
        version: Its version.
        checksum: The checksum of its members, by which ROOT tells apart versions that have the same number.
        members: Bases and members, in the order in which they are stored.
    """

    classname: str
    version: int
    checksum: int
    members: tuple[StreamerMember, ...]

    @property
    def bases(self) -> list[str]:
        """The names of the bases."""
        return [member.name for member in self.members if member.is_base]

    def tojson(self) -> dict[str, Any]:
        """The same as plain dicts, lists, numbers and text."""
        from dataclasses import asdict

        return asdict(self)

    def __str__(self) -> str:
        lines = [f"{self.classname} version {self.version}, checksum {self.checksum:#010x}"]
        width = min(40, max((len(member.typename) for member in self.members), default=0))
        for member in self.members:
            if member.is_base:
                of = "" if member.version is None else f", version {member.version}"
                lines.append(f"  {member.name:{width}}  base{of}")
            else:
                lines.append(f"  {member.typename:{width}}  {member.name}  {member.title}".rstrip())
        return "\n".join(map(safe_text, lines))

    def __repr__(self) -> str:
        return safe_text(f"<StreamerInfo {self.classname} version {self.version} of {len(self.members)} members>")


def streamers_of(core: _forthwith.File) -> list[StreamerInfo]:
    """The streamer infos of a file, in its order."""
    return [
        StreamerInfo(name, version, checksum, tuple(map(_member, elements)))
        for name, version, checksum, elements in _forthwith.root_streamers(core)
    ]


def _member(element: Any) -> StreamerMember:
    kind, name, typename, title, _, _, _, dimensions, version, *_ = element
    shape = "".join(f"[{size}]" for size in dimensions)
    return StreamerMember(name, f"{typename}{shape}", title, kind == "TStreamerBase", version)
