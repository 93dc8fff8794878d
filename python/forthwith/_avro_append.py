"""Appending to Avro files: validation of schema, metadata and sync marker."""

from __future__ import annotations

from forthwith import _forthwith
from forthwith._errors import RequestError
from forthwith._file import open_file
from forthwith._opening import Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Appended:
    """The header of a file to which blocks are appended.

    Attributes:
        schema: The schema as JSON.
        codec: The name of the codec.
        marker: The sync marker.
    """

    def __init__(self, file: Any, name: str) -> None:
        if not callable(getattr(file, "read", None)) or not getattr(file, "readable", lambda: True)():
            raise RequestError(
                f"{name} stands behind bytes that cannot be read, and appending needs the header of the file: "
                "open it with mode 'a+b', or with 'wb' to write a new file"
            )
        opened = open_file(file, Settings.given("open", {}).options, {})
        core = opened._core
        self._metadata = dict(core.metadata())
        if core.format != "Avro" or "avro.schema" not in self._metadata or core.identity is None:
            raise RequestError(f"{name} is not an Avro file, so that nothing can be appended to it")
        self.schema = self._metadata["avro.schema"].decode()
        self.codec = self._metadata.get("avro.codec", b"null").decode() or "null"
        self.marker = bytes.fromhex(core.identity)
        end = file.seek(0, 2)
        file.seek(end - len(self.marker))
        if file.read(len(self.marker)) != self.marker:
            raise RequestError(
                f"{name} does not end with the sync marker of its header: a block is cut off, or not Avro's"
            )
        file.seek(0, 2)
        self._name = name

    def check(self, schema: str | None, metadata: dict[str, bytes], marker: bytes | None) -> None:
        """Raises an error for options that contradict the file.

        Raises:
            RequestError: The schema, metadata or marker differ.
        """
        if schema is not None and not _forthwith.avro_is_alike(self.schema, schema):
            raise RequestError(f"the schema is not that of {self._name}, which is appended to: {self.schema}")
        if other := [key for key, value in metadata.items() if self._metadata.get(key) != value]:
            raise RequestError(
                f"metadata {other[0]!r} cannot be added to {self._name}, whose header is written already"
            )
        if marker is not None and marker != self.marker:
            raise RequestError(f"marker= does not match the sync marker of {self._name}: leave it out when appending")
