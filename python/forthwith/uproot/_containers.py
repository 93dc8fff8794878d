"""C++ containers, as uproot has them in NumPy arrays (`STLVector` and its like) and in interpretations (`AsVector` …)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

import numpy as np

from forthwith.uproot._dtypes import dtype_key, dtype_name


def plain(value: Any) -> Any:
    """A value as Python has it."""
    return value.tolist() if hasattr(value, "tolist") else value


def _values(values: Iterable[Any]) -> Any:
    """A sequence of values."""
    if isinstance(values, np.ndarray):
        return values
    listed = list(values)
    if all(isinstance(one, bool | int | float | np.generic) for one in listed):
        return np.asarray(listed)
    out = np.empty(len(listed), dtype=object)
    for at, one in enumerate(listed):
        out[at] = one
    return out


class Container:
    """What the containers here have in common."""

    def tolist(self) -> Any:
        """The same in Python's own types."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self} at 0x{id(self):012x}>"


class STLVector(Container, Sequence[Any]):
    """A ``std::vector``: a sequence."""

    def __init__(self, values: Iterable[Any]) -> None:
        self._held = _values(values)

    def __getitem__(self, where: Any) -> Any:
        return self._held[where]

    def __len__(self) -> int:
        return len(self._held)

    def __contains__(self, what: object) -> bool:
        return any(one == what for one in self._held)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._held)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, STLVector):
            other = other._held
        if not isinstance(other, Sequence | np.ndarray):
            return False
        return len(self) == len(other) and all(plain(a) == plain(b) for a, b in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.asarray(self._held, dtype=dtype)

    def __str__(self) -> str:
        return str(self.tolist())

    def tolist(self) -> list[Any]:
        """A list, with what is in it as lists, too."""
        return [plain(one) for one in self._held]


class STLList(STLVector):
    """A ``std::list``."""


class STLBitSet(STLVector):
    """A ``std::bitset``: its bits, the lowest first."""


class STLSet(Container, Set[Any]):
    """A ``std::set``: a set of sorted values."""

    def __init__(self, keys: Iterable[Any]) -> None:
        self._held = _values(keys)

    def __len__(self) -> int:
        return len(self._held)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._held)

    def __contains__(self, what: object) -> bool:
        return any(one == what for one in self._held)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Set):
            other = set(other)
            return len(self) == len(other) and all(one in other for one in self._held)
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return str(self.tolist())

    def tolist(self) -> Any:
        """A set; a list if what is in it cannot be in one."""
        listed = [plain(one) for one in self._held]
        try:
            return set(listed)
        except TypeError:
            return listed


class STLMap(Container, Mapping[Any, Any]):
    """A ``std::map``: a mapping of sorted keys."""

    def __init__(self, keys: Iterable[Any], values: Iterable[Any]) -> None:
        self._names = _values(keys)
        self._held = _values(values)

    @classmethod
    def from_mapping(cls, mapping: Mapping[Any, Any]) -> STLMap:
        """A map of what another mapping holds."""
        return cls(mapping.keys(), mapping.values())

    def keys(self) -> Any:
        """The keys, in their order."""
        return self._names

    def values(self) -> Any:
        """The values, in the order of their keys."""
        return self._held

    def items(self) -> Any:
        """Keys and values."""
        return list(zip(self._names, self._held, strict=True))

    def __getitem__(self, key: Any) -> Any:
        for name, value in zip(self._names, self._held, strict=True):
            if name == key:
                return value
        raise KeyError(key)

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._names)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, STLMap):
            other = other.tolist()
        return isinstance(other, Mapping) and self.tolist() == dict(other)

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return str(self.tolist())

    def tolist(self) -> dict[Any, Any]:
        """A dict."""
        return {plain(name): plain(value) for name, value in zip(self._names, self._held, strict=True)}


def content_key(content: Any) -> str:
    """The key of a dtype or a container."""
    if isinstance(content, np.dtype):
        return dtype_key(content)
    if isinstance(content, type):
        return content.__name__
    return str(content.cache_key)


def content_name(content: Any) -> str:
    """The C++ type of a dtype or a container."""
    if isinstance(content, np.dtype):
        return dtype_name(content)
    if isinstance(content, type):
        return str(getattr(content, "classname", content.__name__))
    return str(content.typename)


class AsContainer:
    """A C++ type in an interpretation: what uproot would read by a class of its own."""

    _parts: tuple[str, ...] = ()

    @property
    def cache_key(self) -> str:
        """A text that differs for others."""
        inner = ",".join(_key(getattr(self, part)) for part in self._parts)
        return f"{type(self).__name__}({inner})"

    @property
    def typename(self) -> str:
        """The C++ type."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and all(getattr(self, part) == getattr(other, part) for part in self._parts)

    def __hash__(self) -> int:
        return hash(self.cache_key)

    def __repr__(self) -> str:
        inner = ", ".join(_shown(getattr(self, part)) for part in self._parts)
        return f"{type(self).__name__}({inner})"


def _key(part: Any) -> str:
    if isinstance(part, np.dtype | type | AsContainer):
        return content_key(part)
    return str(part)


def _shown(part: Any) -> str:
    return part.__name__ if isinstance(part, type) else repr(part)


def _dtype(content: Any) -> Any:
    """What a container holds: a dtype stays what it is, and a text is one."""
    if isinstance(content, AsContainer | type) and not (isinstance(content, type) and issubclass(content, np.generic)):
        return content
    return np.dtype(content)


class AsString(AsContainer):
    """A text."""

    _parts = ("header", "length_bytes")

    def __init__(self, header: bool, length_bytes: str = "1-5", typename: str | None = None) -> None:
        self.header, self.length_bytes, self._name = header, length_bytes, typename

    @property
    def typename(self) -> str:
        """The C++ type."""
        return self._name or "std::string"

    def __repr__(self) -> str:
        count = "" if self.length_bytes == "1-5" else f", length_bytes={self.length_bytes!r}"
        return f"AsString({self.header!r}{count})"


class _AsList(AsContainer):
    _parts = ("header", "values")
    _name = ""

    def __init__(self, header: bool, values: Any) -> None:
        self.header, self.values = header, _dtype(values)

    @property
    def typename(self) -> str:
        """The C++ type."""
        return f"std::{self._name}<{content_name(self.values)}>"


class AsVector(_AsList):
    """A ``std::vector``."""

    _name = "vector"


class AsRVec(_AsList):
    """A ``ROOT::RVec``."""

    @property
    def typename(self) -> str:
        """The C++ type."""
        return f"RVec<{content_name(self.values)}>"


class AsList(_AsList):
    """A ``std::list``."""

    _name = "list"


class AsSet(AsContainer):
    """A ``std::set``."""

    _parts = ("header", "keys")

    def __init__(self, header: bool, keys: Any) -> None:
        self.header, self.keys = header, _dtype(keys)

    @property
    def typename(self) -> str:
        """The C++ type."""
        return f"std::set<{content_name(self.keys)}>"


class AsBitSet(AsContainer):
    """A ``std::bitset``."""

    _parts = ("header", "keys")

    def __init__(self, header: bool, keys: Any, bits: int | None = None) -> None:
        self.header, self.keys, self.bits = header, _dtype(keys), bits

    @property
    def num_bits(self) -> int | None:
        """The number of bits, if it is known."""
        return self.bits

    @property
    def typename(self) -> str:
        """The C++ type."""
        return "std::bitset" if self.bits is None else f"std::bitset<{self.bits}>"


class AsMap(AsContainer):
    """A ``std::map``."""

    _parts = ("header", "keys", "values")

    def __init__(self, header: bool, keys: Any, values: Any) -> None:
        self.header, self.keys, self.values = header, _dtype(keys), _dtype(values)

    @property
    def typename(self) -> str:
        """The C++ type."""
        return f"std::map<{content_name(self.keys)}, {content_name(self.values)}>"


class AsArray(AsContainer):
    """An array whose length another member says."""

    _parts = ("header", "speedbump", "values", "inner_shape")

    def __init__(self, header: bool, speedbump: bool, values: Any, inner_shape: tuple[int, ...] = ()) -> None:
        self.header, self.speedbump = header, speedbump
        self.values, self.inner_shape = _dtype(values), inner_shape

    @property
    def typename(self) -> str:
        """The C++ type."""
        return f"{content_name(self.values)}[]" + "".join(f"[{size}]" for size in self.inner_shape)


class AsPointer(AsContainer):
    """A pointer."""

    _parts = ("pointee",)

    def __init__(self, pointee: Any = None) -> None:
        self.pointee = pointee

    @property
    def typename(self) -> str:
        """The C++ type."""
        return f"{content_name(self.pointee)}*" if self.pointee is not None else "void*"


class AsDynamic(AsContainer):
    """A class that the data name."""

    _parts = ("model",)

    def __init__(self, model: Any = None) -> None:
        self.model = model

    @property
    def typename(self) -> str:
        """The C++ type."""
        return "void*" if self.model is None else content_name(self.model)
