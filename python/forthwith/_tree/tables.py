"""Tables of formats with additional metadata."""

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
        """The writer schema of the file, as dicts and lists."""
        import json

        return json.loads(self.metadata["avro.schema"])

    @property
    def damage(self) -> list[tuple[int, int, int, str]]:
        """Number, first byte, end byte and fault of each block omitted by ``open(..., skip_damaged=True)``."""
        return _forthwith.avro_damage(self._core)


class ParquetTree(Tree):
    """The values of a Parquet file."""

    @property
    def row_groups(self) -> list[dict[str, int]]:
        """Number, entries and decompressed bytes of each row group of the file.

        Steps that end at row group boundaries are cheapest.
        """
        names = ("number", "entry_start", "entry_stop", "payload_bytes")
        return [dict(zip(names, row, strict=True)) for row in _forthwith.parquet_row_groups(self._core)]

    def chunks(self, name: str) -> list[dict[str, Any]]:
        """Returns the metadata of a column, for each row group and each leaf column.

        These are sizes, codec, encodings, ``null_count``, and the stored ``min`` and ``max``, if the file has
        them (``exact`` if they are values of the column).
        """
        return _forthwith.parquet_chunks(self._core, self._find(name))
