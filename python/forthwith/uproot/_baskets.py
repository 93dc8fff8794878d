"""Baskets: the blocks of a branch as they lie in the file."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from forthwith._packages import package
from forthwith.uproot._wanted import interpretation_given


class BasketKey:
    """The key of a basket, as the branch and the file have it."""

    def __init__(self, branch: Any, number: int) -> None:
        start, stop = branch.basket_entry_start_stop(number)
        self._branch, self._number = branch, number
        self.num_entries = stop - start

    @property
    def fSeekKey(self) -> int:
        """The position of the basket in the file; 0 if it is within the tree."""
        seeks = self._branch.member("fBasketSeek")
        return int(seeks[self._number]) if self._number < len(seeks) else 0

    @property
    def fNbytes(self) -> int:
        """Bytes of the basket in the file, with its key."""
        sizes = self._branch.member("fBasketBytes")
        return int(sizes[self._number]) if self._number < len(sizes) else 0

    @property
    def fObjlen(self) -> int:
        """Bytes of the basket when decompressed."""
        raw = Basket(self._branch, self._number)
        offsets = 0 if raw.byte_offsets is None else 4 * (self.num_entries + 2)
        return int(raw.data.nbytes + offsets)

    @property
    def is_embedded(self) -> bool:
        """Whether it is within the tree."""
        return self.fSeekKey == 0


class Basket:
    """A basket, decompressed and not decoded."""

    def __init__(self, branch: Any, number: int) -> None:
        self._start, self._stop = branch.basket_entry_start_stop(number)
        self._branch, self.basket_num = branch, number
        tree = branch.tree.forthwith
        plan = tree._core.plan([branch._index], self._start, self._stop)
        block = next(one for one in plan.blocks() if one.group == 0)
        self._raw = tree._core.raw(plan, block.task)

    @property
    def entry_start_stop(self) -> tuple[int, int]:
        """The first entry, and the one after the last."""
        return self._start, self._stop

    @property
    def num_entries(self) -> int:
        """The number of entries."""
        return int(self._stop - self._start)

    @property
    def data(self) -> Any:
        """The bytes of the entries."""
        return package("numpy").asarray(self._raw.payload)

    @property
    def raw_data(self) -> Any:
        """The same."""
        return self.data

    @property
    def byte_offsets(self) -> Any:
        """Where entries begin in `data`, and its end; ``None`` if all have one size."""
        bounds = self._raw.bounds
        return None if bounds is None else package("numpy").asarray(bounds).astype("i4")

    def array(self, interpretation: Any = None, library: Any = "ak", ak_add_doc: Any = False) -> Any:
        """The entries, decoded."""
        given = None if interpretation is None else interpretation_given(interpretation)
        return self._branch.array(given, self._start, self._stop, library=library, ak_add_doc=ak_add_doc)

    def __repr__(self) -> str:
        return f"<TBasket {self.basket_num} of {self._branch.name!r} at 0x{id(self):012x}>"


def ranges(branch: Any, entry_start: int, entry_stop: int) -> list[tuple[int, Any]]:
    """The baskets that hold some entries, each with its bytes in the file, or itself where it is within the tree."""
    out: list[tuple[int, Any]] = []
    offsets = branch.entry_offsets
    for number, (first, last) in enumerate(pairwise(offsets)):
        if entry_start < last and first < entry_stop:
            key = BasketKey(branch, number)
            place = key.fSeekKey
            out.append((number, (place, place + key.fNbytes) if place else Basket(branch, number)))
    return out
