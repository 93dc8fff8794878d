"""Mappings that keep arrays that were read: those that a call, or ``open``, was given."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, MutableMapping
from typing import Any

from forthwith._entries import memory_size
from forthwith.uproot._interpretation import AsDtypeInPlace


class LRUCache(MutableMapping[str, Any]):
    """A mapping with a limit, at which it lets go of the items that were not used for the longest time.

    Args:
        limit: The number of items that it holds at most; ``None`` for any number.
    """

    default_nbytes = 1024

    def __init__(self, limit: Any = None) -> None:
        self._limit = limit
        self._current = 0
        self._held: OrderedDict[str, Any] = OrderedDict()
        # What is let go of may ask the cache when it ends.
        self._lock = threading.RLock()

    @classmethod
    def sizeof(cls, obj: Any) -> int:
        """What an item counts."""
        return 1

    @property
    def limit(self) -> Any:
        """The most that all items count together."""
        return self._limit

    @property
    def current(self) -> int:
        """What all items count together."""
        return self._current

    def __getitem__(self, key: str) -> Any:
        with self._lock:
            self._held.move_to_end(key)
            return self._held[key]

    def __setitem__(self, key: str, value: Any) -> None:
        size = self.sizeof(value)
        with self._lock:
            self._drop(key)
            if self._limit is not None and size > self._limit:
                return
            self._held[key] = value
            self._current += size
            while self._limit is not None and self._current > self._limit:
                self._drop(next(iter(self._held)))

    def __delitem__(self, key: str) -> None:
        with self._lock:
            if key not in self._held:
                raise KeyError(key)
            self._drop(key)

    def _drop(self, key: str) -> None:
        if key in self._held:
            self._current -= self.sizeof(self._held.pop(key))

    def __contains__(self, key: object) -> bool:
        with self._lock:
            return key in self._held

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        with self._lock:
            return len(self._held)

    def keys(self) -> list[str]:  # type: ignore[override]
        """The names of the items; the one that was used last comes last."""
        with self._lock:
            return list(self._held)

    def values(self) -> list[Any]:  # type: ignore[override]
        """The items in the order of `keys`. None of them counts as used."""
        with self._lock:
            return list(self._held.values())

    def items(self) -> list[tuple[str, Any]]:  # type: ignore[override]
        """Pairs of names and items in the order of `keys`. None of them counts as used."""
        with self._lock:
            return list(self._held.items())

    def __repr__(self) -> str:
        most = "" if self._limit is None else f"/{self._limit}"
        return f"<{type(self).__name__} ({self._current}{most} full) at 0x{id(self):012x}>"

    def __reduce__(self) -> tuple[Any, ...]:
        # What it holds stays where it is: it would be read more quickly.
        return type(self), (self._limit,)


class LRUArrayCache(LRUCache):
    """A mapping of arrays with a limit for the bytes of all of them.

    Args:
        limit: The number of bytes, or text such as ``"100 MB"``; ``None`` for any number.
    """

    def __init__(self, limit: Any = None) -> None:
        super().__init__(None if limit is None else memory_size(limit, "limit", least=0))

    @classmethod
    def sizeof(cls, obj: Any) -> int:
        """The bytes of an array."""
        return int(getattr(obj, "nbytes", cls.default_nbytes))


def cache_of(given: Any, file: Any) -> Any:
    """The mapping that a call was given, or that its file has, or ``None``.

    Raises:
        TypeError: It is something else.
    """
    if isinstance(given, str) and given == "inherit":
        return None if file is None else file.array_cache
    if given is None or isinstance(given, MutableMapping):
        return given
    if isinstance(given, str) or hasattr(given, "__index__"):
        return LRUArrayCache(given)
    raise TypeError(f"array_cache must be None, a mapping, or bytes such as '100 MB', not {given!r}")


def key_of(owner: Any, one: Any, start: int, stop: int, library: Any) -> str | None:
    """The name that a column has in a mapping; ``None`` of one that is put into an array of the caller's."""
    own = one.branch.interpretation if one.interpretation is None else one.interpretation
    if isinstance(own, AsDtypeInPlace):
        return None
    # Branches of different groups may have one name.
    name = one.label if owner is one.branch else f"{one.label}({one.branch._index})"
    return f"{owner.cache_key}:{name}:{own.cache_key}:{start}-{stop}:{library.name}"
