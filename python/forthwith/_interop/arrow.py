"""Conversion to pyarrow arrays and tables."""

from __future__ import annotations

from forthwith._interop.base import Library
from forthwith._interop.exact import unlike
from forthwith._interop.original import Original, described, restored
from forthwith._packages import package

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from forthwith import _forthwith
    from forthwith._interop.base import Arrays, How
    from forthwith._tree.read import Columns
    from forthwith._tree.tree import Tree


class Capsules:
    """An array as Arrow data with Arrow maps, and optionally structs for unions and text as views."""

    def __init__(self, array: _forthwith.Array, union_as_struct: bool = False, views: bool = False) -> None:
        self._array = array
        self._union_as_struct = union_as_struct
        self._views = views

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """Returns the capsules of schema and data."""
        return self._array.arrow(maps=True, union_as_struct=self._union_as_struct, views=self._views)


def _column(pa: Any, original: Original | None, name: str, array: _forthwith.Array, union_as_struct: bool) -> Any:
    made = pa.array(Capsules(array, union_as_struct))
    like = original.fields.get(name) if original else None
    return made if original is None or like is None else restored(pa, made, like, original.categories(pa, name))


def table_of(pa: Any, original: Original | None, arrays: Arrays, union_as_struct: bool = False) -> Any:
    """Returns a Table with the metadata and dictionaries of its Arrow schema."""
    columns = [_column(pa, original, label, array, union_as_struct) for label, array in arrays]
    fields = [
        pa.field(label, column.type, nullable=array.type_string.startswith("?"))
        for (label, array), column in zip(arrays, columns, strict=True)
    ]
    metadata = None
    if original is not None:
        known, metadata = original.fields, original.metadata or None
        fields = [described(field, known[field.name]) if field.name in known else field for field in fields]
    return pa.Table.from_arrays(columns, schema=pa.schema(fields, metadata=metadata))


class ArrowLibrary(Library):
    """Converts to pyarrow arrays and tables."""

    takes_bits = True
    _union_as_struct = False

    def __init__(self, how: How, logical: bool = True) -> None:
        super().__init__(how, logical)
        self._pa = package("pyarrow")

    def about(self, tree: Tree, columns: Columns, offset: int = 0) -> None:
        """Sets the tree and the columns of the arrays that follow."""
        self.kept = Original(tree, columns)

    def column(self, name: str, array: _forthwith.Array, start: int) -> Any:
        """Returns a pyarrow array."""
        return _column(self._pa, self.kept, name, array, self._union_as_struct)

    def group(self, arrays: Arrays, start: int, stop: int) -> Any:
        """Returns a pyarrow Table."""
        if not arrays:
            # A table without columns keeps its number of rows only by selection from a table with rows.
            return self._pa.table({"": self._pa.nulls(stop - start)}).select([])
        return table_of(self._pa, self.kept, arrays, self._union_as_struct)

    def of_columns(self, columns: dict[str, Any], start: int, stop: int) -> Any:
        """Returns a pyarrow Table with nullable columns."""
        if not columns:
            return self.group([], start, stop)
        return self._pa.Table.from_arrays(list(columns.values()), names=list(columns))

    def concatenated(self, parts: list[Any]) -> Any:
        """Concatenates tables or arrays."""
        if not isinstance(parts[0], self._pa.Table):
            try:
                return self._pa.concat_arrays(parts)
            except self._pa.ArrowInvalid as error:
                raise unlike(error) from None
        # Files with the same columns may differ in nullability.
        try:
            return self._pa.concat_tables(parts, promote_options="permissive")
        except (self._pa.ArrowInvalid, self._pa.ArrowTypeError) as error:
            raise unlike(error) from None


class StructLibrary(ArrowLibrary):
    """Converts to pyarrow with structs for unions, for consumers without unions."""

    _union_as_struct = True
