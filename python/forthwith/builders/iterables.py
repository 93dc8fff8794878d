"""Arrays from Python data at once."""

from __future__ import annotations

from forthwith import _forthwith
from forthwith._tree.protocols import NotAnArray
from forthwith.builders.discover import to_array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any


def from_iter(
    iterable: Iterable[Any],
    type: Any = None,
    *,
    allow_record: bool = True,
    highlevel: bool = True,
    behavior: Mapping[Any, Any] | None = None,
    attrs: Mapping[str, Any] | None = None,
    initial: int = 1024,
    resize: float = 8,
) -> Any:
    """Converts Python data to an ``ak.Array``, as ``ak.from_iter`` does.

    Args:
        iterable: Lists (and other iterables, including NumPy arrays), dicts of equal or different keys,
            tuples, text, bytes, numbers, dates, ``None``, nested up to 1000 levels. A dict gives a single
            record.
        type: The type of an item, if known: as text, ``"{x: float64, y: var * ?int32}"``, as a type or Form
            of Awkward Array, or as a Form's JSON. The result always has this type; other data are refused.
        allow_record: Whether a dict is accepted.
        highlevel: Whether to return an ``ak.Array``, rather than its layout.
        behavior: Custom ``ak.behavior`` of the array.
        attrs: Attributes of the array.
        initial: Ignored, for compatibility with Awkward Array.
        resize: Ignored, for compatibility with Awkward Array.

    Raises:
        BuilderError: A value cannot be in an array, or has another type; ``member`` and the message have its
            place and the expected type.
    """
    options = {"highlevel": highlevel, "behavior": behavior, "attrs": attrs}
    if isinstance(iterable, NotAnArray):
        iterable._refuse()
    if isinstance(iterable, dict) and not allow_record:
        raise ValueError("cannot produce an array from a single dict (that would be a record)")
    if not hasattr(iterable, "__iter__") and not hasattr(iterable, "__getitem__"):
        raise TypeError(f"cannot produce an array from a non-iterable object ({iterable.__class__!r})")
    # Iterables that are single values rather than lists.
    single = isinstance(iterable, (dict, str, bytes))
    if type is None:
        builder = _forthwith.ArrayBuilder()
        (builder.append if single else builder.extend)(iterable)
        found = builder._finish()
    else:
        found = _filled(iterable, _type(type), single)
    array = to_array(found, simplify=type is None, **options)
    return array[0] if single else array


def _filled(iterable: Any, description: dict[str, str], single: bool) -> _forthwith.Layout:
    """Builds columns of a type from data."""
    (text,) = description.values()
    if "categorical" not in text and "IndexedArray" not in text:
        return _forthwith.from_iter(iterable, **description, single=single)
    # Categories are shared by several items, which only the builder with commands supports.
    builder = _forthwith.TypedArrayBuilder(text)
    (builder.append if single else builder.extend)(iterable)
    return builder._snapshot()


def _type(type: Any) -> dict[str, str]:
    """Returns a type as text, or a Form as JSON."""
    if isinstance(type, str):
        return {"form": type} if type.lstrip().startswith('{"class"') else {"type": type}
    if isinstance(type, dict):
        from json import dumps

        return {"form": dumps(type)}
    if hasattr(type, "to_json"):
        return {"form": type.to_json()}
    # The type of an array includes its length.
    return {"type": str(getattr(type, "content", type) if type.__class__.__name__ == "ArrayType" else type)}
