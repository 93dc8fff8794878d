"""Tables of formats that know more of themselves than all tables do."""

from __future__ import annotations

from forthwith import _forthwith
from forthwith._tree.tree import Tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class AvroTree(Tree):
    """The values of an Avro file."""

    @property
    def schema(self) -> Any:
        """The schema that the file was written with, as dicts and lists."""
        import json

        return json.loads(self.metadata["avro.schema"])

    @property
    def damage(self) -> list[tuple[int, int, int, str]]:
        """The blocks that ``open(..., skip_damaged=True)`` left out, by block, first byte, byte after the last and fault."""
        return _forthwith.avro_damage(self._core)


class ParquetTree(Tree):
    """The values of a Parquet file."""

    @property
    def row_groups(self) -> list[dict[str, int]]:
        """The row groups of a Parquet file, with number, entries and bytes when decompressed.

        Steps that end with them cost least.
        """
        names = ("number", "entry_start", "entry_stop", "payload_bytes")
        return [dict(zip(names, row, strict=True)) for row in _forthwith.parquet_row_groups(self._core)]

    def chunks(self, name: str) -> list[dict[str, Any]]:
        """The metadata of a column in a Parquet file, for each row group and each of the columns it is kept in.

        Sizes, codec, encodings, ``null_count``, and ``min`` and ``max`` as they are stored, if the file has them (``exact`` if
        they do occur).
        """
        return _forthwith.parquet_chunks(self._core, self._find(name))
