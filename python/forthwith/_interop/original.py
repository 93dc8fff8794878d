"""Metadata of Parquet and Avro files: key-value pairs, metadata of fields, and Arrow dictionaries."""

from __future__ import annotations

from forthwith._errors import MissingPackageError
from forthwith._packages import package

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from forthwith._tree.read import Columns
    from forthwith._tree.tree import Tree


class Kept:
    """Key-value metadata of a file, and the fields of its Arrow schema by name."""

    __slots__ = ("categories", "fields", "metadata")

    def __init__(self, metadata: dict[str, bytes], fields: dict[str, Any]) -> None:
        self.metadata = metadata
        self.fields = fields
        # Categories of columns by path, computed on first use.
        self.categories: dict[str, Any] = {}

    @classmethod
    def of(cls, tree: Tree) -> Kept:
        """Reads the metadata of a table's file."""
        capsule = tree._core.arrow_schema()
        schema = [] if capsule is None else package("pyarrow").schema(_Schema(capsule))
        return cls(dict(tree._file._core.user_metadata()), {field.name: field for field in schema})


class Original:
    """The Arrow schema that a table was written from, as stored in its file or in the first of several files.

    Attributes:
        metadata: Key-value metadata of the file that do not belong to the format itself.
        fields: The pyarrow fields of the columns, by label.
    """

    def __init__(self, tree: Tree, columns: Columns) -> None:
        kept = tree._kept
        if kept is None:
            # Read once for each open table.
            kept = tree._kept = Kept.of(tree) if tree._kept_by is None else tree._kept_by(tree)
        self.metadata = kept.metadata
        self._tree, self._kept = tree, kept
        fields = tree._fields
        paths = {label: fields[at].path for label, at in columns if at >= 0 and fields[at].parent is None}
        self.fields = {label: kept.fields[path] for label, path in paths.items() if path in kept.fields}
        self._positions = dict(columns)

    def is_like(self, other: Original) -> bool:
        """Whether columns with the same labels have equal fields, categories and metadata in another file."""
        if self.metadata != other.metadata or self.fields.keys() != other.fields.keys():
            return False
        if not all(field.equals(other.fields[label], check_metadata=True) for label, field in self.fields.items()):
            return False
        pa = package("pyarrow") if self.fields else None
        return all(_are_equal(self.categories(pa, label), other.categories(pa, label)) for label in self.fields)

    def categories(self, pa: Any, label: str) -> Any:
        """Returns the ordered categories of a text column; ``None`` if the file has none."""
        field = self.fields[label]
        if not pa.types.is_dictionary(field.type):
            return None
        known = self._kept.categories
        if field.name not in known:
            said = self._of_pandas(field.name)
            if not field.type.ordered and not said.get("ordered"):
                found = None
            elif isinstance(said.get("categories"), list):
                found = said["categories"]
            else:
                array = self._tree._core.dictionary(self._positions[label])
                found = None if array is None else pa.array(array).to_pylist()
            is_set = (
                found is not None and all(isinstance(text, str) for text in found) and len(set(found)) == len(found)
            )
            known[field.name] = pa.array(found, pa.large_string()) if is_set else None
        return known[field.name]

    def _of_pandas(self, name: str) -> dict[str, Any]:
        """Returns the pandas metadata of a column."""
        import json

        try:
            columns = json.loads(self.metadata.get("pandas", "{}"))["columns"]
            found = next(column["metadata"] for column in columns if column["field_name"] == name)
        except (ValueError, KeyError, TypeError, StopIteration):
            return {}
        return found if isinstance(found, dict) else {}


def _are_equal(one: Any, other: Any) -> bool:
    """Whether two arrays are equal, or both ``None``."""
    return one is other if one is None or other is None else bool(one.equals(other))


class _Schema:
    """A schema in a capsule."""

    def __init__(self, capsule: object) -> None:
        self._capsule = capsule

    def __arrow_c_schema__(self) -> object:
        """Returns the capsule, which can be consumed once."""
        return self._capsule


def stream_of_schema(capsule: object) -> object | None:
    """Returns a stream of a schema without batches; None without pyarrow, as the protocol permits."""
    try:
        pa = package("pyarrow")
    except MissingPackageError:
        return None
    stream: object = pa.RecordBatchReader.from_batches(pa.schema(_Schema(capsule)), []).__arrow_c_stream__()
    return stream


def restored(pa: Any, array: Any, like: Any, categories: Any = None) -> Any:
    """Returns an array with its dictionaries in the original Arrow schema, if possible.

    ``categories`` are the dictionary, in order, if they include all values.
    """
    if categories is not None and pa.types.is_large_string(array.type):
        index = package("pyarrow.compute").index_in(array, value_set=categories)
        if index.null_count == array.null_count:
            return pa.DictionaryArray.from_arrays(index, categories, ordered=True)
    is_dictionary = pa.types.is_dictionary
    if is_dictionary(array.type) and is_dictionary(like.type) and like.type.ordered:
        # Arrow files preserve the dictionary.
        return pa.DictionaryArray.from_arrays(array.indices, array.dictionary, ordered=True)
    if isinstance(like.type, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(like.type, array) if like.type.storage_type == array.type else array
    kind = _restored_type(pa, array.type, like.type)
    if kind == array.type:
        return array
    return _encoded(pa, array, kind)


def _restored_type(pa: Any, kind: Any, like: Any) -> Any:
    types = pa.types
    if types.is_dictionary(like) and not types.is_nested(kind):
        # Without an order: values are in the order of their first occurrence.
        plain = not types.is_nested(like.value_type) and not types.is_null(kind) and not types.is_dictionary(kind)
        return pa.dictionary(pa.int32(), kind) if plain else kind
    if types.is_struct(kind) and types.is_struct(like):
        return pa.struct([_restored_field(pa, field, like) for field in kind])
    if types.is_large_list(kind) and (types.is_list(like) or types.is_large_list(like)):
        field = kind.value_field
        return pa.large_list(field.with_type(_restored_type(pa, field.type, like.value_type)))
    return kind


def _restored_field(pa: Any, field: Any, like: Any) -> Any:
    at = like.get_field_index(field.name)
    return field if at < 0 else field.with_type(_restored_type(pa, field.type, like.field(at).type))


def _encoded(pa: Any, array: Any, kind: Any) -> Any:
    """Returns an array with dictionary-encoded values according to a type."""
    if kind == array.type:
        return array
    if pa.types.is_dictionary(kind):
        return array.dictionary_encode()
    if pa.types.is_struct(kind):
        mask = array.is_null() if array.null_count else None
        parts = [_encoded(pa, array.field(at), field.type) for at, field in enumerate(kind)]
        return pa.StructArray.from_arrays(parts, fields=list(kind), mask=mask)
    values = _encoded(pa, array.values, kind.value_type)
    mask = array.is_null() if array.null_count else None
    return pa.LargeListArray.from_arrays(array.offsets, values, type=kind, mask=mask)


def described(field: Any, like: Any) -> Any:
    """Returns a field with the metadata of another field."""
    metadata = {key: value for key, value in (like.metadata or {}).items() if not key.startswith(b"ARROW:extension:")}
    return field.with_metadata(metadata) if metadata else field
