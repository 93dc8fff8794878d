"""Files as the objects know them that were read from them."""

from __future__ import annotations

from typing import Any

HEADER = (
    "fVersion", "fBEGIN", "fEND", "fSeekFree", "fNbytesFree", "nfree", "fNbytesName", "fUnits", "fCompress", "fSeekInfo",
    "fNbytesInfo",
)  # fmt: skip
_KNOWN = (
    "file_path", "options", "root_version", "root_version_tuple", "is_64bit", "compression", "hex_uuid", "uuid", "fUUID",
)  # fmt: skip


class DetachedFile:
    """A file whose bytes are not at hand: its path, its options and its header.

    Args:
        file: The file.
    """

    def __init__(self, file: Any) -> None:
        self._file = file

    def __getattr__(self, name: str) -> Any:
        """What is known of the file."""
        if name in _KNOWN or name in HEADER:
            return getattr(self._file, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}: its file is not at hand")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DetachedFile) and self._known() == other._known()

    def __hash__(self) -> int:
        return hash(self._known())

    def _known(self) -> tuple[str, str]:
        return self._file.file_path, self._file.hex_uuid

    def __repr__(self) -> str:
        return f"<DetachedFile {self.file_path!r} at 0x{id(self):012x}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return DetachedFile, (self._file,)
