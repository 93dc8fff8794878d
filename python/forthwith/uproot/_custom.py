"""Interpretations of one's own: functions of the bytes of baskets."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from forthwith.uproot._interpretation import Interpretation
from forthwith.uproot._library import Library

_registered: list[type[CustomInterpretation]] = []


class CustomInterpretation(Interpretation):
    """A class of one's own that reads baskets of the branches that it matches."""

    def __init__(self, branch: Any, context: Any, simplify: Any) -> None:
        self.branch = branch

    @classmethod
    def match_branch(cls, branch: Any, context: Any, simplify: Any) -> bool:
        """Whether a branch is meant."""
        raise NotImplementedError

    def basket_array(
        self,
        data: Any,
        byte_offsets: Any,
        basket: Any,
        branch: Any,
        context: Any,
        cursor_offset: int,
        library: Any,
        interp_options: Any,
    ) -> Any:
        """The array of a basket, of its bytes."""
        raise NotImplementedError

    @property
    def typename(self) -> str:
        """The name of the class."""
        return type(self).__name__

    @property
    def cache_key(self) -> str:
        """A text that differs for others."""
        return f"{type(self).__name__}:{id(self)}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class AsBinary(Interpretation):
    """The bytes of entries as they are stored."""

    @property
    def cache_key(self) -> str:
        """A text that differs for others."""
        return "AsBinary()"

    @property
    def typename(self) -> str:
        """The C++ type."""
        return "uint8_t[]"

    def basket_array(
        self,
        data: Any,
        byte_offsets: Any,
        basket: Any,
        branch: Any,
        context: Any,
        cursor_offset: int,
        library: Any,
        interp_options: Any,
    ) -> Any:
        """The array of a basket, of its bytes."""
        import awkward as ak

        if byte_offsets is not None:
            counts = np.diff(byte_offsets)
            if library.name == "ak":
                return ak.unflatten(data, counts)
            if len(np.unique(counts)) > 1:
                raise ValueError(
                    f"entries of {branch.name!r} have different numbers of bytes: NumPy has no array of them"
                )
            return data.reshape(len(counts), -1)
        rows = data.reshape(basket.num_entries, -1)
        return ak.from_numpy(rows) if library.name == "ak" else rows

    def __repr__(self) -> str:
        return "AsBinary()"


def register_interpretation(cls: type[CustomInterpretation]) -> None:
    """Takes a class into use for branches that it matches, of files that are opened from now on."""
    if cls in _registered:
        warnings.warn(f"Overwriting existing custom interpretation {cls}", stacklevel=2)
        return
    _registered.append(cls)


def unregister_interpretation(cls: type[CustomInterpretation]) -> None:
    """Takes a class out of use."""
    if cls in _registered:
        _registered.remove(cls)


def matching(branch: Any) -> Interpretation | None:
    """The interpretation of the class that matches a branch.

    Raises:
        ValueError: Several do.
    """
    if not _registered:
        return None
    found = [cls for cls in _registered if cls.match_branch(branch, {}, True)]
    if len(found) > 1:
        raise ValueError(
            f"several classes match the branch {branch.name!r}: {', '.join(cls.__name__ for cls in found)}"
        )
    return found[0](branch, {}, True) if found else None


def array(branch: Any, given: Any, start: int, stop: int, library: Library) -> Any:
    """Some entries of a branch, by a class of one's own."""
    parts = []
    for number, (first, last) in enumerate(zip(branch.entry_offsets[:-1], branch.entry_offsets[1:], strict=True)):
        if first < stop and start < last:
            basket = branch.basket(number)
            part = given.basket_array(basket.data, basket.byte_offsets, basket, branch, {}, 0, library, {})
            parts.append(part[max(0, start - first) : min(last, stop) - first])
    if not parts:
        basket = branch.basket(0)
        return given.basket_array(basket.data, basket.byte_offsets, basket, branch, {}, 0, library, {})[:0]
    return parts[0] if len(parts) == 1 else library.concatenate(parts)
