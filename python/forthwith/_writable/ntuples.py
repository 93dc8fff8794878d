"""Options of RNTuples, converted for the compiled part."""

from __future__ import annotations

from forthwith._errors import RequestError, RequestTypeError
from forthwith._writable.compression import setting
from forthwith._writable.options import filling
from forthwith._writable.tables import empty, says_types, types_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from forthwith import _forthwith

_FIELD = ("description", "compression", "floats", "nulls")


def options(**asked: Any) -> dict[str, Any]:
    """Returns the options of an RNTuple without those that are ``None``."""
    found = {name: value for name, value in asked.items() if value is not None}
    compression = setting(found.pop("compression", "default"), None)
    # ``None`` means no compression in the argument, but the default in the dict.
    if "compression" in asked and asked["compression"] is None:
        compression = 0
    if compression is not None:
        found["compression"] = compression
    for name, least in (("page_size", 64), ("cluster_size", 1), ("cluster_entries", 1), ("threads", 1)):
        if (value := found.get(name)) is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int):
            raise RequestTypeError(f"{name} is a number, not {value!r}")
        if not least <= value < 1 << 63:
            raise RequestError(f"{name} is at least {least}, not {value}")
    if (nulls := found.get("nulls")) is not None:
        found["nulls"] = _filling(nulls)
    if "projections" in found:
        found["projections"] = [(str(name), str(path)) for name, path in found["projections"].items()]
    found["fields"] = fields(found.get("fields", {}))
    return found


def fields(asked: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Returns the options of single fields."""
    found = {}
    for path, choice in asked.items():
        one: dict[str, Any] = {}
        for name, value in choice.items():
            match name:
                case "description":
                    one[name] = str(value)
                case "compression":
                    if (number := setting(value, None)) is not None:
                        one[name] = number
                case "nulls":
                    one[name] = _filling(value)
                case "floats":
                    one[name] = _floats(value)
                case _:
                    raise RequestError(f"a field has no option {name!r}: there are {', '.join(_FIELD)}")
        found[str(path)] = one
    return found


def new_columns(columns: Any) -> tuple[_forthwith.Given, dict[str, Any]]:
    """Returns columns to add, given by their types."""
    if not says_types(columns):
        raise RequestTypeError("fields are added by their types, as mkrntuple takes them: {'x': 'f4'}")
    return empty(columns), types_of(columns)


def _filling(value: Any) -> int | float:
    if isinstance(value, (str, bytes)) or not hasattr(value, "__float__"):
        raise RequestTypeError(f"missing values are filled in by a number, not {value!r}")
    return filling(value)


def _floats(value: Any) -> tuple[str, int, float, float]:
    match value:
        case "whole" | "single" | "half":
            return value, 0, 0.0, 0.0
        case ("truncated", int(bits)) if 0 <= bits < 1 << 16:
            return "truncated", bits, 0.0, 0.0
        case ("quantised", int(bits), low, high) if 0 <= bits < 1 << 16:
            return "quantised", bits, float(low), float(high)
    raise RequestError(
        f"floats are 'whole', 'single', 'half', ('truncated', bits) or ('quantised', bits, low, high), not {value!r}"
    )
