"""Keys of objects, and what directories say of themselves, in uproot's words."""

from __future__ import annotations

from typing import Any

from forthwith import _forthwith
from forthwith._errors import DamagedFileError
from forthwith.uproot._model import classname_encode

# From this version on, positions in the file have 64 bits.
_LONG = 1000


def _moment(packed: int, of: Any) -> Any:
    """A date and a time as ROOT packs them.

    Raises:
        DamagedFileError: There is no such date.
    """
    import datetime

    year, month, day = (packed >> 26) + 1995, packed >> 22 & 15, packed >> 17 & 31
    try:
        return datetime.datetime(year, month, day, packed >> 12 & 31, packed >> 6 & 63, packed & 63)
    except ValueError as error:
        raise DamagedFileError(f"no date of {of!r}: {packed:#010x}", file=of.file.file_path) from error


class ReadOnlyKey:
    """The key of an object."""

    def __init__(self, core: Any, directory: Any) -> None:
        self._core, self._directory = core, directory
        self._known: tuple[int, int, int, int, int, int] | None = None

    @property
    def _record(self) -> tuple[int, int, int, int, int, int]:
        if self._known is None:
            path = f"{self._core.path};{self._core.cycle}"
            self._known = _forthwith.root_key(self.file.forthwith._core, path)
        return self._known

    @property
    def fName(self) -> str:
        """The object's name."""
        return str(self._core.name)

    @property
    def fTitle(self) -> str:
        """Its title."""
        return str(self._core.title)

    @property
    def fClassName(self) -> str:
        """Its class."""
        return str(self._core.classname)

    @property
    def fCycle(self) -> int:
        """Its cycle."""
        return int(self._core.cycle)

    @property
    def fObjlen(self) -> int:
        """Its bytes when decompressed."""
        return int(self._core.object_bytes)

    @property
    def fNbytes(self) -> int:
        """Its bytes in the file, with the key."""
        return self._record[0]

    @property
    def fKeylen(self) -> int:
        """Bytes of the key."""
        return self._record[1]

    @property
    def fSeekKey(self) -> int:
        """Where the key is in the file."""
        return self._record[2]

    @property
    def fSeekPdir(self) -> int:
        """Where the record of its directory is."""
        return self._record[3]

    @property
    def fDatime(self) -> int:
        """When it was written, as ROOT packs it."""
        return self._record[4]

    @property
    def fVersion(self) -> int:
        """The version of the key."""
        return self._record[5]

    @property
    def created_on(self) -> Any:
        """When it was written."""
        return _moment(self.fDatime, self)

    @property
    def is_64bit(self) -> bool:
        """Whether its positions have 64 bits."""
        return self.fVersion > _LONG

    @property
    def data_uncompressed_bytes(self) -> int:
        """Bytes of the object when decompressed."""
        return self.fObjlen

    @property
    def data_compressed_bytes(self) -> int:
        """Bytes of the object in the file, without the key."""
        return self.fNbytes - self.fKeylen

    @property
    def is_compressed(self) -> bool:
        """Whether it is compressed."""
        return self.fObjlen != self.data_compressed_bytes

    def name(self, cycle: bool = False) -> str:
        """The object's name, with its cycle if wished."""
        return f"{self.fName};{self.fCycle}" if cycle else self.fName

    def title(self) -> str:
        """Its title."""
        return self.fTitle

    def classname(self, encoded: bool = False, version: int | None = None) -> str:
        """Its class, or the name of the Python class of it."""
        return classname_encode(self.fClassName, version) if encoded else self.fClassName

    @property
    def parent(self) -> Any:
        """The directory."""
        return self._directory

    @property
    def file(self) -> Any:
        """The file."""
        return self._directory.file

    @property
    def object_path(self) -> str:
        """The path in the file."""
        return f"{self._directory.object_path}{self.name(cycle=True)}"

    @property
    def cache_key(self) -> str:
        """A text that differs for other keys and files."""
        return f"{self.file.hex_uuid}:{self.fSeekKey}"

    def get(self) -> Any:
        """The object."""
        return self._directory[self.name(cycle=True)]

    def __repr__(self) -> str:
        return f"<ReadOnlyKey {self.name(cycle=True)}: {self.fClassName} at 0x{id(self):012x}>"


class Recorded:
    """What the record of a directory says."""

    file: Any
    _ours: Any

    @property
    def _record(self) -> tuple[int, int, int, int, int, int, int, int]:
        return _forthwith.root_directory(self.file.forthwith._core, self._ours.path)

    @property
    def fVersion(self) -> int:
        """The version of the record."""
        return self._record[0]

    @property
    def fDatimeC(self) -> int:
        """When it was made, as ROOT packs it."""
        return self._record[1]

    @property
    def fDatimeM(self) -> int:
        """When it was last changed, as ROOT packs it."""
        return self._record[2]

    @property
    def created_on(self) -> Any:
        """When it was made."""
        return _moment(self.fDatimeC, self)

    @property
    def modified_on(self) -> Any:
        """When it was last changed."""
        return _moment(self.fDatimeM, self)

    @property
    def fNbytesKeys(self) -> int:
        """Bytes of the record that lists its keys."""
        return self._record[3]

    @property
    def fNbytesName(self) -> int:
        """Bytes of its own key, name and title."""
        return self._record[4]

    @property
    def fSeekDir(self) -> int:
        """Where its record is in the file."""
        return self._record[5]

    @property
    def fSeekParent(self) -> int:
        """Where the record of the directory is that it is in; 0 of the topmost one."""
        return self._record[6]

    @property
    def fSeekKeys(self) -> int:
        """Where the record is that lists its keys."""
        return self._record[7]
