"""Arrow filters: the columns that they use, and their translation to a filter for pruning by statistics."""

from __future__ import annotations

import re
from itertools import chain

from forthwith._packages import package
from forthwith._predicates import joined, spelled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_SIGNS = {"greater": ">", "greater_equal": ">=", "less": "<", "less_equal": "<=", "equal": "=="}
_TURNED = {">": "<", ">=": "<=", "<": ">", "<=": ">=", "==": "=="}
_WORD = re.compile(r"(\w+): '(.*)'")


class Call:
    """A function with its arguments: calls, names of columns as ``str``, and literals as scalars."""

    def __init__(self, name: str, arguments: list[Any]) -> None:
        self.name, self.arguments = name, arguments


def columns_of(expression: Any, schema: Any) -> list[str]:
    """Returns the columns of an expression in the order of a schema; all columns if it is not understood."""
    tree = _tree(expression, schema)
    if tree is None:
        return list(schema.names)
    found = set(_names(tree))
    return [name for name in schema.names if name in found]


def as_cut(expression: Any, schema: Any) -> str | None:
    """Returns a filter that holds for all entries that pass, and possibly others; ``None`` without one."""
    tree = _tree(expression, schema)
    return None if tree is None else _cut(tree, schema)


def _tree(expression: Any, schema: Any) -> Any:
    """Parses the serialised expression; ``None`` if the version of Arrow has another format."""
    pa = package("pyarrow")
    if any("\n" in name for name in schema.names):
        return None
    try:
        _, (serialised,) = expression.__reduce__()
        with pa.ipc.open_file(serialised) as file:
            literals = file.get_batch(0)
            text = literals.schema.to_string(truncate_metadata=False, show_schema_metadata=True)
        _, _, lines = text.partition("-- schema metadata --\n")
        words = iter([_WORD.fullmatch(line) for line in lines.split("\n")])
        tree = _read(words, literals)
        return tree if next(words, None) is None and all(name in schema.names for name in _names(tree)) else None
    except (pa.ArrowException, AttributeError, TypeError, ValueError, LookupError, StopIteration):
        return None


def _read(words: Iterator[Any], literals: Any) -> Any:
    word, value = next(words).groups()
    if word == "literal":
        return literals.column(int(value))[0]
    if word == "field_ref":
        return value
    if word == "nested_field_ref":
        return Call("field", [_read(words, literals) for _ in range(int(value))][:1])
    if word != "call":
        raise ValueError(word)
    arguments: list[Any] = []
    while True:
        word, ended = (following := next(words)).groups()
        if word == "end":
            return Call(ended, arguments)
        if word != "options":
            arguments.append(_read(chain([following], words), literals))


def _names(tree: Any) -> Iterator[str]:
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, Call):
        for argument in tree.arguments:
            yield from _names(argument)


def _cut(tree: Any, schema: Any) -> str | None:
    if not isinstance(tree, Call) or len(tree.arguments) != 2:
        return None
    left, right = tree.arguments
    if tree.name in ("and", "and_kleene", "or", "or_kleene"):
        return joined(tree.name.startswith("and"), _cut(left, schema), _cut(right, schema))
    sign = _SIGNS.get(tree.name)
    if isinstance(right, str):
        left, right, sign = right, left, sign and _TURNED[sign]
    if sign is None or not isinstance(left, str) or not hasattr(right, "as_py") or "`" in left:
        return None
    text = spelled(right.as_py(), _kind(schema.field(left).type))
    return text and f"`{left}` {sign} {text}"


def _kind(kind: Any) -> str:
    types = package("pyarrow").types
    if types.is_integer(kind):
        return "Integer"
    if types.is_string(kind) or types.is_large_string(kind):
        return "String"
    return "Float64" if types.is_float64(kind) else ""
