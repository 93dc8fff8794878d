"""Translation of polars predicates to filters for pruning blocks by statistics."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_SIGNS = {"Gt": ">", "GtEq": ">=", "Lt": "<", "LtEq": "<=", "Eq": "=="}
_TURNED = {">": "<", ">=": "<=", "<": ">", "<=": ">=", "==": "=="}
_INTEGERS = {f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)}
# Largest integer up to which a 64-bit float is exact.
_EXACT = 1 << 53


def as_cut(predicate: Any, types: Mapping[str, Any]) -> str | None:
    """Translates a predicate to a weaker or equal filter; ``None`` if nothing can be concluded.

    Args:
        predicate: The polars expression.
        types: The types of the columns, by name.
    """
    import json
    import warnings

    try:
        with warnings.catch_warnings():
            # The serialisation format may change between versions; unknown expressions are ignored.
            warnings.simplefilter("ignore")
            tree = json.loads(predicate.meta.serialize(format="json"))
    except Exception:  # of polars, for expressions that call Python
        return None
    return _cut(tree, types)


def _cut(node: Any, types: Mapping[str, Any]) -> str | None:
    if not isinstance(node, dict) or len(node) != 1:
        return None
    ((word, inside),) = node.items()
    if word == "BinaryExpr":
        left, right, operator = inside["left"], inside["right"], inside["op"]
        if operator in ("And", "LogicalAnd", "Or", "LogicalOr"):
            return joined(operator.endswith("And"), _cut(left, types), _cut(right, types))
        return _comparison(left, _SIGNS.get(operator), right, types)
    if word == "Function" and isinstance(between := inside.get("function"), dict) and len(inside["input"]) == 3:
        value, low, high = inside["input"]
        if "IsBetween" in str(between.get("Boolean")):
            return joined(True, _comparison(value, ">=", low, types), _comparison(value, "<=", high, types))
    return None


def joined(both: bool, left: str | None, right: str | None) -> str | None:
    """Combines two filters: an unknown operand of "and" is ignored, one of "or" makes the result unknown."""
    if left is None or right is None:
        return (left or right) if both else None
    return f"({left}) {'and' if both else 'or'} ({right})"


def _comparison(left: Any, sign: str | None, right: Any, types: Mapping[str, Any]) -> str | None:
    if sign is None:
        return None
    if isinstance(right, dict) and "Column" in right:
        left, sign, right = right, _TURNED[sign], left
    name = left.get("Column") if isinstance(left, dict) else None
    if not isinstance(name, str) or name not in types or "`" in name:
        return None
    text = _literal(right, str(types[name]), sign)
    return text and f"`{name}` {sign} {text}"


def _literal(node: Any, kind: str, sign: str) -> str | None:
    """Formats a literal for our filters, if polars compares it with this type as we do."""
    literal = node.get("Literal") if isinstance(node, dict) else None
    inner = literal.get("Dyn", literal.get("Scalar")) if isinstance(literal, dict) else None
    value = next(iter(inner.values()), None) if isinstance(inner, dict) and len(inner) == 1 else None
    if kind == "Float64" and sign not in ("<", "<=", "=="):
        # polars orders NaN after all numbers, and statistics do not include NaN.
        return None
    return spelled(value, "Integer" if kind in _INTEGERS else kind)


def spelled(value: Any, kind: str) -> str | None:
    """Formats a value to compare with a column of type ``"Integer"``, ``"Float64"`` or ``"String"``."""
    if isinstance(value, str):
        return f"'{value}'" if kind == "String" and not set(value) & {"'", "\\"} and value.isprintable() else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if kind == "Integer":
        return f"({value})" if isinstance(value, int) else None
    # Narrower floats are left out: polars and the filter may convert them differently.
    if kind == "Float64" and -_EXACT < value < _EXACT:
        return f"({float(value)!r})"
    return None
