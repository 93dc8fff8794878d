"""Conversion to rows: a dict of Python objects for each entry."""

from __future__ import annotations

from forthwith import _forthwith
from forthwith._errors import RequestError
from forthwith._interop.avro_values import AvroValues, check_union_names, field_path
from forthwith._interop.base import Library

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from forthwith._interop.avro_values import Change, UnionNames
    from forthwith._interop.base import Arrays
    from forthwith._tree.read import Columns
    from forthwith._tree.tree import Tree


class RowsLibrary(Library):
    """Converts to lists of dicts.

    Args:
        how: The values of unions in Avro files that become pairs of type name and value.
        logical: As in `Library`.
    """

    # The schema of each Avro file determines conversions.
    depends_on_file = True

    def __init__(self, how: UnionNames | None, logical: bool = True) -> None:
        super().__init__(None, logical)
        check_union_names(how)
        self._union_names = how
        self._changes: dict[str, tuple[Change | None, bool]] = {}
        self._whole_nanoseconds = self._bare = False

    def about(self, tree: Tree, columns: Columns, offset: int = 0) -> None:
        """Sets the tree and the columns of the arrays that follow."""
        is_avro = tree.file.format == "Avro"
        # As in other Avro readers, times in nanoseconds are integers.
        self._whole_nanoseconds = is_avro
        if not is_avro:
            if self._union_names is not None:
                raise RequestError(f"union_names is for Avro files, and {tree.file.file_path} is not one")
            self._changes, self._bare = {}, False
            return
        self._bare, self._changes = not tree._core.is_record, {}
        if (values := AvroValues.of_tree(tree, self._union_names)) is None:
            return
        fields = tree._fields
        self._changes = {label: values.change(field_path(fields, at)) for label, at in columns if at >= 0}

    def column(self, name: str, array: _forthwith.Array, start: int) -> list[Any]:
        """Returns the values of a column."""
        change, tagged = self._changes.get(name, (None, False))
        values = array.objects(whole_nanoseconds=self._whole_nanoseconds, tagged=tagged)
        return values if change is None else list(map(change, values))

    def group(self, arrays: Arrays, start: int, stop: int) -> list[Any]:
        """Returns a dict for each entry, or the values of a file without records."""
        if self._bare and len(arrays) == 1:
            return self.column(*arrays[0], start)
        unchanged = None, False
        columns = [
            array if self._changes.get(label, unchanged) == unchanged else self.column(label, array, start)
            for label, array in arrays
        ]
        labels = [label for label, _ in arrays]
        return _forthwith.rows_of(labels, columns, stop - start, whole_nanoseconds=self._whole_nanoseconds)

    def of_columns(self, columns: dict[str, Any], start: int, stop: int) -> list[dict[str, Any]]:
        """Returns a dict for each entry."""
        return _forthwith.rows_of(list(columns), list(columns.values()), stop - start)

    def concatenated(self, parts: list[Any]) -> list[Any]:
        """Concatenates the rows of all parts."""
        return [row for part in parts for row in part]
