"""Arrays of Python data, all at once."""

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
    """An ``ak.Array`` of Python data, as ``ak.from_iter`` makes it.

    Args:
        iterable: Lists (and whatever else can be iterated, NumPy arrays too), dicts of equal or different keys, tuples, texts,
            bytes, numbers, dates, ``None``, nested up to 1000 levels. A dict makes a single record.
        type: The type of an item, if it is known: as text, ``"{x: float64, y: var * ?int32}"``, as a type or Form of Awkward
            Array, or as a Form's JSON. The result is of this type whatever the data are; data of another type are refused.
        allow_record: Whether a dict is taken.
        highlevel: Whether to make an ``ak.Array``, not its layout.
        behavior: Custom ``ak.behavior`` of the array.
        attrs: Attributes of the array.
        initial: Taken for the sake of programs written for Awkward Array.
        resize: Likewise.

    Raises:
        BuilderError: For what cannot be in an array, or is not of the type; ``member`` and the message say where it was and
            what was expected.
    """
    options = {"highlevel": highlevel, "behavior": behavior, "attrs": attrs}
    if isinstance(iterable, NotAnArray):
        iterable._refuse()
    if isinstance(iterable, dict) and not allow_record:
        raise ValueError("cannot produce an array from a single dict (that would be a record)")
    if not hasattr(iterable, "__iter__") and not hasattr(iterable, "__getitem__"):
        raise TypeError(f"cannot produce an array from a non-iterable object ({iterable.__class__!r})")
    # These are iterable and not lists: one value.
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
    """Columns of a type, filled."""
    (text,) = description.values()
    if "categorical" not in text and "IndexedArray" not in text:
        return _forthwith.from_iter(iterable, **description, single=single)
    # Rows that several items share: the builder by commands keeps account of them.
    builder = _forthwith.TypedArrayBuilder(text)
    (builder.append if single else builder.extend)(iterable)
    return builder._snapshot()


def _type(type: Any) -> dict[str, str]:
    """A type as text, or a Form as JSON, however it was given."""
    if isinstance(type, str):
        return {"form": type} if type.lstrip().startswith('{"class"') else {"type": type}
    if isinstance(type, dict):
        from json import dumps

        return {"form": dumps(type)}
    if hasattr(type, "to_json"):
        return {"form": type.to_json()}
    # The type of an array says how many there are, too.
    return {"type": str(getattr(type, "content", type) if type.__class__.__name__ == "ArrayType" else type)}
