"""ROOT's collections as sequences and mappings of objects, and ROOT's dates."""

from __future__ import annotations

import operator
import reprlib
from collections.abc import ItemsView, Mapping, Sequence, ValuesView

from forthwith._errors import KeyInFileError, RequestTypeError
from forthwith._guard import guarded
from forthwith._objects import Object, item

TYPE_CHECKING = False
if TYPE_CHECKING:
    import datetime
    from collections.abc import Iterable, Iterator
    from typing import Any

    from forthwith._objects import Record


@guarded
class Datime(Object):
    """A ``TDatime``: a date and a time of day in seconds, without a time zone."""

    __slots__ = ()

    def to_datetime(self) -> datetime.datetime:
        """Converts to a ``datetime``.

        Raises:
            DamagedFileError: The date is invalid.
        """
        import datetime

        packed = int(self.member("fDatime"))
        year, month, day = (packed >> 26) + 1995, packed >> 22 & 15, packed >> 17 & 31
        return datetime.datetime(year, month, day, packed >> 12 & 31, packed >> 6 & 63, packed & 63)


@guarded
class Collection(Object, Sequence):  # type: ignore[type-arg]
    """A ROOT collection: a sequence of objects. Null pointers are ``None``."""

    __slots__ = ("_list",)

    def __init__(self, record: Record, number: int, window: tuple[str, int, int, int] | None = None) -> None:
        super().__init__(record, number, window)
        self._list: list[Any] | None = None

    def _items(self) -> list[Any]:
        if self._list is None:
            self._list = self._record.core.items(self._number, self._record)
        return self._list

    @property
    def name(self) -> str:
        """Name of the collection, or an empty string."""
        return self._record.core.collection_name(self._number) or ""

    def __getitem__(self, at: Any) -> Any:
        """Returns the item at a position, or with a name."""
        if isinstance(at, slice):
            try:
                return self._items()[at]
            except TypeError as error:
                raise RequestTypeError(f"items of {self!r}: {error}") from None
        if not isinstance(at, str):
            return self._items()[item(self, at)]
        for one in self._items():
            if isinstance(one, Object) and (one.name or str(one)) == at:
                return one
        raise KeyInFileError(f"no {at!r} in {self!r}", file=self.file.file_path, object=self.object_path)

    def _plain(self) -> Mapping[str, Any]:
        return {"name": self.name, "arr": list(self)}

    def _shown(self) -> Iterable[tuple[str, Any]]:
        return ((str(at), item) for at, item in enumerate(self._items()))

    def __len__(self) -> int:
        return len(self._items())

    def __contains__(self, what: object) -> bool:
        return any(item is what or item == what for item in self._items())

    def __repr__(self) -> str:
        return f"<{self.classname} of {len(self)}>"


@guarded
class ObjectMap(Object, Mapping):  # type: ignore[type-arg]
    """A ``TMap``: a mapping of objects. A text key matches equal text, or an object with that name.

    Keys may be duplicate: a lookup returns the first value, and `items` has all pairs.
    """

    __slots__ = ("_pairs",)

    def __init__(self, record: Record, number: int, window: tuple[str, int, int, int] | None = None) -> None:
        super().__init__(record, number, window)
        self._pairs: list[tuple[Any, Any]] | None = None

    def _all(self) -> list[tuple[Any, Any]]:
        if self._pairs is None:
            flat = self._record.core.items(self._number, self._record)
            self._pairs = list(zip(flat[::2], flat[1::2], strict=True))
        return self._pairs

    @property
    def name(self) -> str:
        """Name of the map, or an empty string."""
        return self._record.core.collection_name(self._number) or ""

    def __getitem__(self, key: Any) -> Any:
        # Identity has precedence over equality.
        for fits in (operator.is_, _is_equal, _is_called):
            for known, value in self._all():
                if fits(known, key):
                    return value
        raise KeyInFileError(f"no {key!r} in {self!r}", file=self.file.file_path, object=self.object_path)

    def _plain(self) -> Mapping[str, Any]:
        return {"name": self.name, "arr": list(self.items())}

    def _shown(self) -> Iterable[tuple[str, Any]]:
        return ((reprlib.repr(key), value) for key, value in self._all())

    def __iter__(self) -> Iterator[Any]:
        return (key for key, _ in self._all())

    def __len__(self) -> int:
        return len(self._all())

    def items(self) -> ItemsView[Any, Any]:
        """Returns the pairs in stored order, including duplicate keys."""
        return _Pairs(self)

    def values(self) -> ValuesView[Any]:
        """Returns the values of `items`."""
        return _Seconds(self)

    def __contains__(self, key: object) -> bool:
        try:
            self[key]
        except KeyInFileError:
            return False
        return True

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    def __repr__(self) -> str:
        return f"<{self.classname} of {len(self)}>"


def _is_equal(known: Any, key: Any) -> bool:
    # Comparison of arrays returns an array.
    return (known == key) is True


def _is_called(known: Any, key: Any) -> bool:
    return isinstance(key, str) and isinstance(known, Object) and key in (known.name, str(known))


class _Pairs(ItemsView):  # type: ignore[type-arg]
    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return iter(self._mapping._all())  # type: ignore[attr-defined]


class _Seconds(ValuesView):  # type: ignore[type-arg]
    def __iter__(self) -> Iterator[Any]:
        return (value for _, value in self._mapping._all())  # type: ignore[attr-defined]
