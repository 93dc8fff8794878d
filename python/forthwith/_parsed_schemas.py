"""Schemas parsed by ``fastavro.parse_schema``, which adds keys and may omit definitions of named types."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_NAMED = "__named_schemas"
_HINTS = ("__fastavro_parsed", _NAMED)


def self_contained(schema: Any) -> Any:
    """Returns the schema without fastavro's keys, with each named type defined at its first use."""
    parts = schema if isinstance(schema, (list, tuple)) else [schema]
    if not any(hasattr(part, "keys") and any(hint in part for hint in _HINTS) for part in parts):
        return schema
    named: dict[str, Any] = {}
    for part in parts:
        if hasattr(part, "keys"):
            named.update(part.get(_NAMED) or {})
    known: set[str] = set()
    made = [_defined(_without_hints(part), named, known) for part in parts]
    return made if isinstance(schema, (list, tuple)) else made[0]


def _without_hints(part: Any) -> Any:
    return {key: value for key, value in part.items() if key not in _HINTS} if hasattr(part, "keys") else part


def _defined(kind: Any, named: Mapping[str, Any], known: set[str]) -> Any:
    if isinstance(kind, str):
        if kind not in named or kind in known:
            return kind
        return _defined(named[kind], named, known)
    if isinstance(kind, (list, tuple)):
        return [_defined(branch, named, known) for branch in kind]
    if not hasattr(kind, "keys"):
        return kind
    if "name" in kind:
        known.add(kind["name"])
    made = dict(kind)
    for key in ("type", "items", "values"):
        if key in made:
            made[key] = _defined(made[key], named, known)
    if "fields" in made:
        made["fields"] = [{**field, "type": _defined(field["type"], named, known)} for field in made["fields"]]
    return made
