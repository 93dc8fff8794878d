"""Partitions: parts of files that are read by one worker."""

from __future__ import annotations

from dataclasses import dataclass, fields

from forthwith._forthwith import redact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@dataclass(frozen=True, slots=True, repr=False)
class Partition:
    """A range of entries of one tree, with the options to read it; some hundred bytes when pickled.

    Attributes:
        file: Path or URL of the file.
        tree: Path of the tree in the file; ``None`` for the only one.
        start: First entry. For a plan that did not open the file, the number of the part.
        stop: Entry after the last. For a plan that did not open the file, minus the number of parts.
        columns: Names of the branches, or ``None`` for all.
        bytes: Number of stored bytes to read; 0 if the file was not opened.
        options: Options of ``open``, without credentials.
        state: Size of the file in bytes, number of entries of the tree, and identity of the file when the
            plan was made: its UUID, or for Parquet the hash of its footer, and for Avro its sync marker.
            ``None`` if the file was not opened. Reading a partition of a replaced file is an error.
    """

    file: str
    tree: str | None
    start: int
    stop: int
    columns: tuple[str, ...] | None = None
    bytes: int = 0
    options: dict[str, Any] | None = None
    state: tuple[int, int, str | None] | None = None

    def __repr__(self) -> str:
        # The query of a URL may contain a signature.
        values = ", ".join(f"{field.name}={getattr(self, field.name)!r}" for field in fields(self))
        return redact(f"Partition({values})")

    @property
    def is_counted(self) -> bool:
        """Whether the range of entries is known. Otherwise, it is determined by the read."""
        return self.stop >= 0

    def entries(self, num_entries: int) -> tuple[int, int]:
        """Returns the first entry and the one after the last, for a tree with ``num_entries`` entries."""
        if self.is_counted:
            return self.start, self.stop
        part, parts = self.start, -self.stop
        return num_entries * part // parts, num_entries * (part + 1) // parts
