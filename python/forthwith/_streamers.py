"""Streamer infos: the classes that a ROOT file describes."""

from __future__ import annotations

from dataclasses import dataclass

from forthwith import _forthwith
from forthwith._forthwith import safe_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@dataclass(frozen=True)
class StreamerMember:
    """A base class or member of a class.

    Attributes:
        name: The name of the member, or of the base class.
        typename: The C++ type, with array dimensions.
        title: The comment in the C++ header.
        is_base: Whether this is a base class.
        version: The version of the base class, if the file contains it.
    """

    name: str
    typename: str
    title: str
    is_base: bool
    version: int | None


@dataclass(frozen=True)
class StreamerInfo:
    """The layout of one version of a class.

    Attributes:
        classname: The name of the class.
        version: The class version.
        checksum: The checksum of the members, by which ROOT distinguishes layouts with the same version
            number.
        members: The bases and members, in storage order.
    """

    classname: str
    version: int
    checksum: int
    members: tuple[StreamerMember, ...]

    @property
    def bases(self) -> list[str]:
        """Names of the base classes."""
        return [member.name for member in self.members if member.is_base]

    def tojson(self) -> dict[str, Any]:
        """Converts to plain dicts, lists, numbers and text."""
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
    """Returns the streamer infos of a file, in file order."""
    return [
        StreamerInfo(name, version, checksum, tuple(map(_member, elements)))
        for name, version, checksum, elements in _forthwith.root_streamers(core)
    ]


def _member(element: Any) -> StreamerMember:
    kind, name, typename, title, _, _, _, dimensions, version, *_ = element
    shape = "".join(f"[{size}]" for size in dimensions)
    return StreamerMember(name, f"{typename}{shape}", title, kind == "TStreamerBase", version)
