"""Conversion of Awkward Array's layouts to Python objects, as in the rows of a table."""

from __future__ import annotations

import datetime
import uuid
from functools import partial
from itertools import pairwise

from forthwith._errors import UnsupportedError
from forthwith._packages import package

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    # Function from the items of a node to their values.
    Conversion = Callable[[Any], list[Any]]

# #: The logical type of UUIDs stored as text, which only Avro has.
UUID = "uuid"

_DAY = datetime.timedelta(days=1)


# #: The logical type of lists of pairs that are maps.
MAP = "map"


def with_maps(layout: Any) -> Any:
    """Adds the parameter ``logical`` of maps to lists of pairs with text keys.

    For formats in which all such lists are maps.
    """
    if layout.is_record or layout.is_union:
        contents = list(map(with_maps, layout.contents))
        return layout.copy(contents=contents) if _are_others(contents, layout.contents) else layout
    if layout.is_numpy or layout.is_unknown or (layout.is_list and layout.parameter("__array__") is not None):
        return layout
    content = with_maps(layout.content)
    if layout.is_list and _has_pairs(layout):
        return layout.copy(content=content, parameters={**layout.parameters, "logical": MAP})
    return layout if content is layout.content else layout.copy(content=content)


def _are_others(contents: list[Any], before: list[Any]) -> bool:
    return any(content is not old for content, old in zip(contents, before, strict=True))


def without_meaning(layout: Any) -> Any:
    """Returns a converted node without the parameter ``logical``; None for other nodes."""
    is_converted = (layout.is_numpy or layout.is_list) and (_conversion(layout) is not None or _is_map(layout))
    if not is_converted:
        return None
    parameters = {name: value for name, value in layout.parameters.items() if name != "logical"}
    return layout.copy(parameters=parameters)


def is_different(layout: Any) -> bool:
    """Whether Awkward Array's `to_list` returns other values than `PythonValues`.

    Args:
        layout: The layout of an array.
    """
    if layout.is_numpy or layout.is_unknown:
        return bool(layout.parameters) and _conversion(layout) is not None
    if layout.is_record or layout.is_union:
        return any(is_different(content) for content in layout.contents)
    if layout.is_list and layout.parameter("__array__") is not None:
        return _conversion(layout) is not None
    return _is_map(layout) or is_different(layout.content)


class PythonValues:
    """Converts layouts to lists.

    Times in nanoseconds are integers, as in Awkward Array's own lists.

    Args:
        behavior: Awkward Array's behavior, which affects its own lists.
    """

    def __init__(self, behavior: Any) -> None:
        self._behavior = behavior

    def of(self, layout: Any) -> Any:
        """Returns the values of an array, or the value of a record.

        Raises:
            UnsupportedError: ``datetime`` cannot represent a time.
            ValueError: A text is not a UUID.
        """
        ak = package("awkward")
        layout = ak.to_backend(layout, "cpu", highlevel=False)
        if isinstance(layout, ak.record.Record):
            return self._list(ak.materialize(layout.array[layout.at : layout.at + 1], highlevel=False))[0]
        return self._list(ak.materialize(layout, highlevel=False))

    def _list(self, layout: Any) -> list[Any]:
        if not is_different(layout):
            plain: list[Any] = layout.to_list(self._behavior)
            return plain
        if (convert := _conversion(layout)) is not None:
            return _converted(layout, convert)
        if layout.is_option:
            values = iter(self._list(layout.project()))
            return [next(values) if is_valid else None for is_valid in layout.mask_as_bool(valid_when=True).tolist()]
        if layout.is_indexed:
            return self._list(layout.project())
        if layout.is_union:
            alternatives = [iter(self._list(layout.project(tag))) for tag in range(len(layout.contents))]
            return [next(alternatives[tag]) for tag in layout.tags.data.tolist()]
        if layout.is_record:
            return self._records(layout)
        return self._lists(layout)

    def _records(self, layout: Any) -> list[Any]:
        # Records without fields never differ, so there is at least one field.
        rows = zip(*(self._list(layout.content(at)) for at in range(len(layout.contents))), strict=True)
        if layout.is_tuple:
            return list(rows)
        fields = layout.fields
        return [dict(zip(fields, row, strict=True)) for row in rows]

    def _lists(self, layout: Any) -> list[Any]:
        listed = layout.to_ListOffsetArray64(True)
        offsets, content = listed.offsets.data.tolist(), listed.content[: listed.offsets[-1]]
        ends = pairwise(offsets)
        if not _is_map(layout):
            items = self._list(content)
            return [items[start:stop] for start, stop in ends]
        pairs = content.project() if content.is_indexed else content
        keys, values = self._list(pairs.content(0)), self._list(pairs.content(1))
        return [dict(zip(keys[start:stop], values[start:stop], strict=True)) for start, stop in ends]


def _is_map(layout: Any) -> bool:
    """Whether a list is marked as a map."""
    return layout.is_list and layout.parameter("logical") == MAP and _has_pairs(layout)


def _has_pairs(layout: Any) -> bool:
    """Whether a list has pairs with text keys."""
    pairs = layout.content
    while pairs.is_indexed and not pairs.is_option:
        pairs = pairs.content
    is_pair = pairs.is_record and pairs.is_tuple and len(pairs.contents) == 2
    return bool(is_pair and pairs.contents[0].parameter("__array__") == "string")


def _conversion(layout: Any) -> Conversion | None:
    """Returns the conversion of a node's logical type; None if Awkward Array needs none."""
    meaning = layout.parameter("logical")
    if not isinstance(meaning, str):
        return None
    array = layout.parameter("__array__")
    if meaning == UUID:
        return _uuids if array == "string" else None
    name, _, arguments = meaning.rstrip("]").partition("[")
    if name == "decimal":
        is_number = layout.is_numpy and layout.dtype.kind in "iu"
        scale = arguments.rpartition(", ")[2]
        return partial(_decimals, int(scale)) if scale.isdigit() and (is_number or array == "bytestring") else None
    unit, _, zone = arguments.partition(", ")
    if not layout.is_numpy or unit == "ns":
        return None
    if name == "time" and layout.dtype.kind == "m":
        return partial(_times, meaning)
    if name == "timestamp" and zone and layout.dtype.kind == "M":
        return partial(_timestamps, meaning, zone)
    return None


def _converted(layout: Any, convert: Conversion) -> list[Any]:
    """Converts the values of a node, as nested lists if it has several dimensions."""
    np = package("numpy")
    if not layout.is_numpy:
        items = np.empty(layout.length, dtype=object)
        items[:] = layout.to_list()
        return convert(items)
    values = np.empty(layout.data.size, dtype=object)
    values[:] = convert(layout.data.reshape(-1))
    nested: list[Any] = values.reshape(layout.data.shape).tolist()
    return nested


def _decimals(scale: int, stored: Any) -> list[Any]:
    values: list[Any] = package("forthwith._interop.numpy").decimals(stored, scale).tolist()
    return values


def _uuids(texts: Any) -> list[Any]:
    return [uuid.UUID(text) for text in texts]


def _times(meaning: str, spans: Any) -> list[Any]:
    """Converts times of day, which NumPy has as durations since midnight."""
    return [
        None if span is None else (datetime.datetime.min + _checked(span, meaning)).time() for span in spans.tolist()
    ]


def _timestamps(meaning: str, zone_name: str, moments: Any) -> list[Any]:
    """Converts timestamps with a time zone, which NumPy has in UTC."""
    try:
        zone = _zone(zone_name)
        return [
            None if moment is None else zone.fromutc(_checked(moment, meaning).replace(tzinfo=zone))
            for moment in moments.tolist()
        ]
    except (LookupError, OverflowError) as error:
        # A zone that this system does not know, or a moment of the first or last year that is in another one there.
        raise UnsupportedError(f"{meaning}: {error}; array.layout.to_list() has NumPy's values") from None


def _checked(value: Any, meaning: str) -> Any:
    """Returns a time; raises an error if ``datetime`` cannot represent it."""
    is_outside = isinstance(value, int)
    if is_outside or (isinstance(value, datetime.timedelta) and not datetime.timedelta(0) <= value < _DAY):
        raise UnsupportedError(
            f"{value}, a {meaning}, which Python's datetime does not have: array.layout.to_list() has NumPy's values"
        )
    return value


def _zone(name: str) -> datetime.tzinfo:
    if name == "UTC":
        return datetime.UTC
    if name[0] in "+-" and ":" in name:
        hours, _, minutes = name[1:].partition(":")
        distance = datetime.timedelta(hours=int(hours), minutes=int(minutes))
        return datetime.timezone(distance if name[0] == "+" else -distance)
    from zoneinfo import ZoneInfo

    return ZoneInfo(name)
