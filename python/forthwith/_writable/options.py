"""Options of trees for writing: one value for all columns, or a dict with values for some."""

from __future__ import annotations

import numbers
import operator
from collections.abc import Mapping

from forthwith._errors import RequestError, RequestTypeError
from forthwith._writable.compression import setting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    Options = dict[str, Any]

CLUSTER_BYTES = 32 << 20
BASKET_BYTES = 512 << 10


def tree_options(
    by_column: Mapping[str, Any],
    *,
    titles: Mapping[str, str] | None = None,
    aliases: Mapping[str, str] | None = None,
    user_info: Mapping[str, str | float] | None = None,
    index: str | Sequence[str] | None = None,
    cluster_bytes: int | None = None,
    cluster_entries: int | None = None,
    slashes_in_names: bool = False,
    threads: int | None = None,
) -> Options:
    """Returns the options for the compiled part.

    Args:
        by_column: Options of columns: a value each, or a dict of values by column.
        titles: As in `WritableDirectory.mktree`.
        aliases: As in `WritableDirectory.mktree`.
        user_info: As in `WritableDirectory.mktree`.
        index: As in `WritableDirectory.mktree`.
        cluster_bytes: As in `WritableDirectory.mktree`.
        cluster_entries: As in `WritableDirectory.mktree`.
        slashes_in_names: As in `WritableDirectory.mktree`.
        threads: As in `WritableDirectory.mktree`.
    """
    if unknown := set(by_column) - set(_OF_COLUMNS):
        raise RequestTypeError(
            f"no option of columns is called {', '.join(sorted(unknown))}: {', '.join(_OF_COLUMNS)} are"
        )
    default: Options = {}
    columns: dict[str, Options] = {}
    for option, (usual, check) in _OF_COLUMNS.items():
        given = by_column.get(option, usual)
        if not isinstance(given, Mapping):
            default[option] = check(option, given)
            continue
        default[option] = check(option, usual)
        for name, value in given.items():
            try:
                columns.setdefault(_name(name), {})[option] = check(option, value)
            except (RequestError, RequestTypeError) as error:
                raise type(error)(f"column {name!r}: {error}") from None
    basket_bytes, default["basket_bytes"] = default["basket_bytes"] or BASKET_BYTES, None
    return {
        "default": default,
        "columns": [(name, {**default, **own}) for name, own in columns.items()],
        "titles": _texts("titles", titles),
        "aliases": _texts("aliases", aliases),
        "user_info": [(_name(name), _info(name, value)) for name, value in (user_info or {}).items()],
        "index": _index(index),
        "cluster_bytes": _size("cluster_bytes", cluster_bytes) or CLUSTER_BYTES,
        "cluster_entries": _size("cluster_entries", cluster_entries),
        "basket_bytes": basket_bytes,
        "slashes": bool(slashes_in_names),
        "threads": _size("threads", threads),
    }


def _word(*words: str) -> Callable[[str, Any], str]:
    def check(option: str, value: Any) -> str:
        if value not in words:
            raise RequestError(f"{option} is {' or '.join(map(repr, words))}, not {value!r}")
        return str(value)

    return check


def filling(value: Any) -> int | float:
    """Returns the replacement for missing values; integers keep all digits."""
    try:
        whole = operator.index(value)
    except TypeError:
        return float(value)
    # No integer type has a larger range.
    return whole if -(1 << 64) < whole < 1 << 64 else float(whole)


def _nulls(option: str, value: Any) -> int | float | None:
    if isinstance(value, str) and value == "refused":
        return None
    if _is_number(value):
        return filling(value)
    raise RequestError(f"{option} is 'refused', or the number that missing values become, not {value!r}")


def _floats(option: str, value: Any) -> tuple[str, float, float, int] | None:
    """Returns type, range and bits; equal bounds mean no range, and 0 bits the default."""
    match value:
        case None:
            return None
        case "double32" | "float16":
            return value, 0.0, 0.0, 0
        case ("double32" | "float16" as kind, int(bits)) if bits > 0:
            return kind, 0.0, 0.0, bits
        case ("double32" | "float16" as kind, int() | float() as low, int() | float() as high, int(bits)) if (
            low < high and bits > 0
        ):
            return kind, float(low), float(high), bits
    raise RequestError(
        f"{option} is None, 'double32' or 'float16', or one of these with bits of mantissa, ('float16', 8), or with a range "
        f"and bits, ('double32', 0, 100, 16), not {value!r}"
    )


def _counter(option: str, value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    raise RequestTypeError(
        f"{option} is the name of a branch that counts, or a dict of such names by column, not {value!r}"
    )


def _compression(_: str, value: Any) -> int | None:
    return setting(value, None)


def _size(option: str, value: Any) -> int | None:
    if value is None:
        return None
    if not _is_whole(value):
        raise RequestTypeError(f"{option} is a whole number, not {value!r}")
    if value < 1:
        raise RequestError(f"{option} is 1 or more, not {value}")
    return int(value)


_OF_COLUMNS: dict[str, tuple[Any, Callable[[str, Any], Any]]] = {
    "jagged": ("counter", _word("counter", "vector")),
    "records": ("flat", _word("flat", "class")),
    "strings": ("object", _word("object", "characters")),
    "nulls": ("refused", _nulls),
    "floats": (None, _floats),
    "counter": (None, _counter),
    "compression": ("default", _compression),
    "basket_bytes": (None, _size),
}


def _is_whole(value: Any) -> bool:
    return type(value) is not bool and isinstance(value, numbers.Integral)


def _is_number(value: Any) -> bool:
    return type(value) is not bool and isinstance(value, numbers.Real)


def _name(name: Any) -> str:
    if not isinstance(name, str):
        raise RequestTypeError(f"columns and branches have names, not {name!r}")
    return name


def _texts(option: str, given: Mapping[str, str] | None) -> list[tuple[str, str]]:
    if given is not None and not isinstance(given, Mapping):
        raise RequestTypeError(f"{option} is a dict of texts, not {given!r}")
    for name, text in (given or {}).items():
        if not isinstance(text, str):
            raise RequestTypeError(f"{option} is a dict of texts, and that of {name!r} is {text!r}")
    return [(_name(name), text) for name, text in (given or {}).items()]


def _info(name: str, value: Any) -> str | int | float:
    if isinstance(value, str):
        return value
    if _is_whole(value) and -(2**63) <= int(value) < 2**63:
        return int(value)
    if _is_number(value) and not _is_whole(value):
        return float(value)
    raise RequestTypeError(f"user_info has texts and numbers of 64 bits, and that of {name!r} is {value!r}")


def _index(given: str | Sequence[str] | None) -> tuple[str, str | None] | None:
    match given:
        case None:
            return None
        case str():
            return given, None
        case [str(major)]:
            return major, None
        case [str(major), str(minor)]:
            return major, minor
    raise RequestError(f"index is the name of a column, or two of them, not {given!r}")
