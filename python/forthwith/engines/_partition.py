"""A part of a file that one worker reads."""

from __future__ import annotations

from dataclasses import dataclass, fields

from forthwith._forthwith import redact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


@dataclass(frozen=True, slots=True, repr=False)
class Partition:
    """Some entries of one tree, and how they are read: a plain record that pickles in some hundred bytes.

    Attributes:
        file: Path or URL.
        tree: Path of the tree in the file; ``None`` for the only one.
        start: First entry. Of a plan that opened no file: the number of the part.
        stop: Entry after the last. Of a plan that opened no file: the number of parts, as a negative number.
        columns: Names of the branches, or ``None`` for all.
        bytes: Stored bytes to be read, 0 if the file was not opened.
        options: Options of ``open``, without credentials.
        state: Bytes of the file, entries of the tree, and what tells the file from others when the plan was made: its UUID, or
            for Parquet the hash of its footer, and for Avro its marker. ``None`` if the file was not opened. A file that is
            another one when the partition is read is an error.
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
        # The query of a URL may be a signature.
        values = ", ".join(f"{field.name}={getattr(self, field.name)!r}" for field in fields(self))
        return redact(f"Partition({values})")

    @property
    def is_counted(self) -> bool:
        """Whether the entries are known. Otherwise they are found out when the partition is read."""
        return self.stop >= 0

    def entries(self, num_entries: int) -> tuple[int, int]:
        """The first entry and the one after the last, of a tree with so many."""
        if self.is_counted:
            return self.start, self.stop
        part, parts = self.start, -self.stop
        return num_entries * part // parts, num_entries * (part + 1) // parts
