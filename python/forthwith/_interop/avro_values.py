"""Values of Avro files that differ from their columns: UUIDs, and unions with type names."""

from __future__ import annotations

import uuid
from functools import partial

from forthwith._errors import RequestError
from forthwith._interop.python_values import UUID

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Literal, TypeAlias

    from forthwith import _forthwith
    from forthwith._tree.tree import Tree

    Change: TypeAlias = Callable[[Any], Any]
    UnionNames: TypeAlias = Literal["records", "types", "several records", "several types"]

_UNION_NAMES = ("records", "types", "several records", "several types")


def check_union_names(wish: object) -> None:
    """Validates the argument ``union_names``."""
    if wish is not None and wish not in _UNION_NAMES:
        raise RequestError(f"union_names must be one of {', '.join(map(repr, _UNION_NAMES))}, not {wish!r}")


class AvroValues:
    """Conversions of the values of columns, by their Avro schema.

    Args:
        schema: The schema.
        union_names: The values of unions that become pairs of type name and value.
    """

    def __init__(self, schema: Any, union_names: UnionNames | None) -> None:
        self._schema = schema
        self._union_names = union_names
        self._named: dict[str, Any] = {}
        self._full_names: dict[int, str] = {}
        # Results for types by their ``id``, with references so that ids are not reused. Recursive types are
        # visited once.
        self._changing: dict[int, tuple[Any, bool]] = {}
        self._changes: dict[tuple[int, bool], tuple[Any, Change | None]] = {}
        self._find_names(schema, "")

    @classmethod
    def of_schema(cls, text: str, union_names: UnionNames | None = None) -> AvroValues | None:
        """Returns the conversions of a schema, or None if no value differs."""
        # Only these conditions change values. JSON may contain escapes in the word.
        if union_names is None and "uuid" not in text and "\\" not in text:
            return None
        import json  # not at the top: most files are read without

        return cls(json.loads(text), union_names)

    @classmethod
    def of_tree(cls, tree: Tree, union_names: UnionNames | None = None) -> AvroValues | None:
        """Returns the conversions of a file, or None if no value differs."""
        text = tree.file._view.get("schema") or tree.metadata["avro.schema"]
        return cls.of_schema(text.decode(errors="replace") if isinstance(text, bytes) else text, union_names)

    def change(self, path: list[str]) -> tuple[Change | None, bool]:
        """Returns the conversion of a field, and whether it needs the tags of unions."""
        kind = self._kind(path)
        tagged = self._changes_unions(kind)
        return self._change(kind, tagged), tagged

    def marking(self, path: list[str]) -> Callable[[Any], Any] | None:
        """Returns the function that marks UUIDs in layouts of a field as ``logical``; None without UUIDs."""
        kind = self._kind(path)
        has_uuids = self._change(kind, self._changes_unions(kind)) is not None
        return partial(self._marked, kind) if has_uuids else None

    def _kind(self, path: list[str]) -> Any:
        """Returns the type of a field."""
        kind: Any = self._schema
        for name in path:
            kind = self._field(kind, name)
        return kind

    def _marked(self, kind: Any, layout: Any) -> Any:
        """Returns a layout with the parameter ``logical`` for UUIDs."""
        if layout.is_option or layout.is_indexed:
            return layout.copy(content=self._marked(kind, layout.content))
        kind = self._resolved(kind)
        if isinstance(kind, list):
            kinds = self._alternatives(kind)
            if layout.is_union and len(kinds) == len(layout.contents):
                return layout.copy(contents=list(map(self._marked, kinds, layout.contents)))
            return self._marked(kinds[0], layout) if len(kinds) == 1 else layout
        if not isinstance(kind, dict):
            return layout
        if kind.get("type") == "string" and kind.get("logicalType") == "uuid":
            return layout.copy(parameters={**layout.parameters, "logical": UUID})
        if layout.is_record and _has_fields(kind):
            kinds = [self._field(kind, name) for name in layout.fields]
        elif layout.is_record and layout.is_tuple:
            # Key and value of a map.
            kinds = ["string", kind.get("values")]
        elif layout.is_list:
            return layout.copy(content=self._marked(kind if "values" in kind else kind.get("items"), layout.content))
        else:
            return layout
        return layout.copy(contents=list(map(self._marked, kinds, layout.contents)))

    def _find_names(self, kind: Any, space: str) -> None:
        """Collects the named types."""
        if isinstance(kind, list):
            for branch in kind:
                self._find_names(branch, space)
        if not isinstance(kind, dict):
            return
        if isinstance(kind.get("name"), str):
            space = kind.get("namespace", space)
            full = kind["name"] if "." in kind["name"] or not space else f"{space}.{kind['name']}"
            self._named.setdefault(full, kind)
            self._named.setdefault(kind["name"].rpartition(".")[2], kind)
            self._full_names[id(kind)] = full
            space = full.rpartition(".")[0]
        for field in kind.get("fields", ()):
            self._find_names(field.get("type"), space)
        for inner in ("type", "items", "values"):
            self._find_names(kind.get(inner), space)

    def _resolved(self, kind: Any) -> Any:
        if isinstance(kind, str):
            return self._named.get(kind, kind)
        if isinstance(kind, dict) and isinstance(kind.get("type"), (dict, list)):
            return self._resolved(kind["type"])
        return self._named.get(kind["type"], kind) if isinstance(kind, dict) else kind

    def _alternatives(self, union: list[Any]) -> list[Any]:
        """Returns the types of a union without null, in order."""
        kinds = (self._resolved(kind) for kind in union)
        return [kind for kind in kinds if kind not in ("null", {"type": "null"})]

    def _field(self, kind: Any, name: str) -> Any:
        """Returns the type of a field of a record, within lists and unions, or the type itself."""
        kind = self._resolved(kind)
        if isinstance(kind, list):
            records = (branch for branch in self._alternatives(kind) if _has_fields(branch))
            having = (one for one in records if any(field["name"] == name for field in one["fields"]))
            return next((self._field(one, name) for one in having), kind)
        if _has_fields(kind):
            return next((field["type"] for field in kind["fields"] if field["name"] == name), kind)
        if isinstance(kind, dict) and kind.get("type") == "array":
            return {"type": "array", "items": self._field(kind["items"], name)}
        return kind

    def _name_in(self, union: list[Any], kind: Any) -> str | None:
        """Returns the name with which values of a type in a union are returned; None without one."""
        if self._union_names is None or id(kind) not in self._full_names:
            return None
        has_name = _has_fields if self._union_names.endswith("records") else self._has_name
        several = self._union_names.startswith("several")
        if not has_name(kind) or (several and sum(map(has_name, union)) < 2):
            return None
        return self._full_names[id(kind)]

    def _has_name(self, kind: Any) -> bool:
        return id(kind) in self._full_names

    def _changes_unions(self, kind: Any) -> bool:
        """Whether values of unions of several types within a type are converted."""
        kind = self._resolved(kind)
        if isinstance(kind, str):
            return False
        if id(kind) not in self._changing:
            self._changing[id(kind)] = kind, False
            inner = self._alternatives(kind) if isinstance(kind, list) else _inner(kind)
            found = any(self._changes_unions(one) for one in inner)
            if isinstance(kind, list) and len(inner) > 1:
                found = found or self._change(kind, False) is not None
            self._changing[id(kind)] = kind, found
        return self._changing[id(kind)][1]

    def _change(self, kind: Any, tagged: bool) -> Change | None:
        """Returns the conversion of values of a type; ``None`` without one."""
        kind = self._resolved(kind)
        if isinstance(kind, str):
            return None
        if (key := (id(kind), tagged)) not in self._changes:
            self._changes[key] = kind, None
            self._changes[key] = kind, self._found(kind, tagged)
        return self._changes[key][1]

    def _found(self, kind: Any, tagged: bool) -> Change | None:
        if isinstance(kind, list):
            return self._of_union(kind, tagged)
        if kind.get("type") == "string":
            return uuid.UUID if kind.get("logicalType") == "uuid" else None
        if _has_fields(kind):
            return self._of_record(kind, tagged)
        inner = self._change(kind.get("items", kind.get("values", "null")), tagged)
        if inner is None:
            return None
        if kind.get("type") == "map":
            return lambda value: {key: inner(item) for key, item in value.items()}
        return lambda value: [inner(item) for item in value]

    def _of_record(self, kind: Any, tagged: bool) -> Change | None:
        fields = {field["name"]: self._change(field["type"], tagged) for field in kind["fields"]}
        changed = {name: change for name, change in fields.items() if change is not None}

        def record(value: dict[str, Any]) -> dict[str, Any]:
            return {**value, **{name: change(value[name]) for name, change in changed.items() if name in value}}

        return record if changed else None

    def _of_union(self, union: list[Any], tagged: bool) -> Change | None:
        alternatives = self._alternatives(union)
        changes = [_named(self._name_in(alternatives, kind), self._change(kind, tagged)) for kind in alternatives]
        if len(alternatives) > 1 and tagged:

            def of_several(value: Any) -> Any:
                # An option of a union is a union of options.
                if value is None or value[1] is None:
                    return None
                change = changes[value[0]]
                return value[1] if change is None else change(value[1])

            return of_several
        if not any(changes):
            return None
        [change, *_] = changes
        return lambda value: None if value is None or change is None else change(value)


def field_path(fields: _forthwith.Fields, at: int | None) -> list[str]:
    """Returns the path of names from the top level to a field."""
    names: list[str] = []
    while at is not None:
        names.insert(0, fields[at].name)
        at = fields[at].parent
    return names


def _named(name: str | None, change: Change | None) -> Change | None:
    """Returns a conversion to pairs of this name and the converted value."""
    if name is None:
        return change
    return lambda value: (name, value if change is None else change(value))


def _has_fields(kind: Any) -> bool:
    return isinstance(kind, dict) and "fields" in kind


def _inner(kind: dict[str, Any]) -> list[Any]:
    """Returns the types nested in a type other than a union."""
    fields = [field["type"] for field in kind.get("fields", ())]
    return fields + [kind[name] for name in ("items", "values") if name in kind]
