"""Rows: a dict for each entry, with values of Python's own classes."""

from __future__ import annotations

import json
import uuid

from forthwith import _forthwith
from forthwith._interop.base import Library

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    from forthwith._interop.base import Arrays, How
    from forthwith._tree.read import Columns
    from forthwith._tree.tree import Tree

    Change: TypeAlias = Callable[[Any], Any]


class RowsLibrary(Library):
    """Lists of dicts."""

    def __init__(self, how: How, logical: bool = True) -> None:
        super().__init__(how, logical)
        self._changes: dict[str, Change] = {}
        self._whole_nanoseconds = self._bare = False

    def about(self, tree: Tree, columns: Columns) -> None:
        """Says which columns of a tree the arrays are that follow."""
        is_avro = tree.file.format == "Avro"
        # Readers of Avro's rows give such times as the numbers that they are.
        self._whole_nanoseconds = is_avro
        if not is_avro:
            self._changes, self._bare = {}, False
            return
        schema = json.loads(tree.file._view.get("schema") or tree.metadata["avro.schema"])
        self._bare = not _has_fields(_resolved(schema, {}))
        self._changes = _changes(schema, tree, columns)

    def column(self, name: str, array: _forthwith.Array, start: int) -> list[Any]:
        """The values of one column."""
        values = array.objects(whole_nanoseconds=self._whole_nanoseconds)
        change = self._changes.get(name)
        return values if change is None else list(map(change, values))

    def group(self, arrays: Arrays, start: int, stop: int) -> list[Any]:
        """A dict for each entry; of a file of values that are not records, the values."""
        columns = [self.column(label, array, start) for label, array in arrays]
        if self._bare and len(columns) == 1:
            return columns[0]
        return _forthwith.rows_of([label for label, _ in arrays], columns, stop - start)

    def nulls(self, name: str, like: _forthwith.Array, start: int, length: int) -> list[None]:
        """Missing values."""
        return [None] * length

    def of_columns(self, columns: dict[str, Any], start: int, stop: int) -> list[dict[str, Any]]:
        """A dict for each entry."""
        return _forthwith.rows_of(list(columns), list(columns.values()), stop - start)

    def concatenated(self, parts: list[Any]) -> list[Any]:
        """The rows of all parts."""
        return [row for part in parts for row in part]


def _changes(schema: Any, tree: Tree, columns: Columns) -> dict[str, Change]:
    """What is made of the values of columns of an Avro file in which there are UUIDs, which are texts in columns."""
    named: dict[str, Any] = {}
    _name(schema, "", named)
    fields, found = tree._fields, {}
    for label, at in columns:
        kind: Any = schema
        for name in _path(fields, at) if at >= 0 else []:
            kind = _field(kind, name, named)
        change = _change(kind, named, ()) if at >= 0 else None
        if change is not None:
            found[label] = change
    return found


def _path(fields: _forthwith.Fields, at: int | None) -> list[str]:
    names: list[str] = []
    while at is not None:
        names.insert(0, fields[at].name)
        at = fields[at].parent
    return names


def _name(kind: Any, space: str, named: dict[str, Any]) -> None:
    """Looks up the types with names."""
    if isinstance(kind, list):
        for branch in kind:
            _name(branch, space, named)
    if not isinstance(kind, dict):
        return
    if isinstance(kind.get("name"), str):
        space = kind.get("namespace", space)
        full = kind["name"] if "." in kind["name"] or not space else f"{space}.{kind['name']}"
        named.setdefault(full, kind)
        named.setdefault(kind["name"].rpartition(".")[2], kind)
        space = full.rpartition(".")[0]
    for field in kind.get("fields", ()):
        _name(field.get("type"), space, named)
    for inner in ("type", "items", "values"):
        _name(kind.get(inner), space, named)


def _resolved(kind: Any, named: dict[str, Any]) -> Any:
    if isinstance(kind, str):
        return named.get(kind, kind)
    if isinstance(kind, dict) and isinstance(kind.get("type"), (dict, list)):
        return _resolved(kind["type"], named)
    return named.get(kind["type"], kind) if isinstance(kind, dict) else kind


def _field(kind: Any, name: str, named: dict[str, Any]) -> Any:
    """The type of a field of a record, in lists and unions or not; of what has no fields the type itself."""
    kind = _resolved(kind, named)
    if isinstance(kind, list):
        records = [branch for branch in (_resolved(one, named) for one in kind) if _has_fields(branch)]
        return _field(records[0], name, named) if records else kind
    if _has_fields(kind):
        return next((field["type"] for field in kind["fields"] if field["name"] == name), kind)
    if isinstance(kind, dict) and kind.get("type") == "array":
        return {"type": "array", "items": _field(kind["items"], name, named)}
    return kind


def _has_fields(kind: Any) -> bool:
    return isinstance(kind, dict) and "fields" in kind


def _change(kind: Any, named: dict[str, Any], around: tuple[int, ...]) -> Change | None:
    """What is made of a value of a type, if there are UUIDs in it."""
    kind = _resolved(kind, named)
    if id(kind) in around or isinstance(kind, str):
        return None
    around = (*around, id(kind))
    if isinstance(kind, list):
        return _of_union(kind, named, around)
    if kind.get("type") == "string":
        return uuid.UUID if kind.get("logicalType") == "uuid" else None
    if _has_fields(kind):
        fields = {field["name"]: _change(field["type"], named, around) for field in kind["fields"]}
        changed = {name: change for name, change in fields.items() if change is not None}

        def record(value: dict[str, Any]) -> dict[str, Any]:
            return {**value, **{name: change(value[name]) for name, change in changed.items() if name in value}}

        return record if changed else None
    inner = _change(kind.get("items", kind.get("values", "null")), named, around)
    if inner is None:
        return None
    if kind.get("type") == "map":
        return lambda value: {key: inner(item) for key, item in value.items()}
    return lambda value: [inner(item) for item in value]


def _of_union(kinds: list[Any], named: dict[str, Any], around: tuple[int, ...]) -> Change | None:
    """The change of the branch that a value is of, which its class says; of a record, its fields."""
    branches: list[tuple[Callable[[Any], bool], Change]] = []
    for kind in (_resolved(one, named) for one in kinds):
        change = _change(kind, named, around)
        if change is not None:
            branches.append((_is_of(kind), change))
    if not branches:
        return None
    return lambda value: next((change(value) for is_of, change in branches if is_of(value)), value)


def _is_of(kind: Any) -> Callable[[Any], bool]:
    if _has_fields(kind):
        names = [field["name"] for field in kind["fields"]]
        return lambda value: isinstance(value, dict) and list(value) == names
    wanted = {"array": list, "map": dict}.get(kind["type"], str)
    return lambda value: isinstance(value, wanted)
