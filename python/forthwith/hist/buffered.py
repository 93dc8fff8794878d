"""Histograms whose first entries are buffered: C++ ROOT fills them into bins when the bins are read, and so does this.

A histogram whose range is to be found (``TH1D("h", "", 100, 1, 0)``), or that was given a buffer (``SetBuffer``), collects
its first entries in ``fBuffer``. A negative number of entries says that they are in the bins already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from forthwith._forthwith import emptied_array, emptied_axes, emptied_sums
from forthwith.hist.axis import Axis, RangedAxis

if TYPE_CHECKING:
    from forthwith.hist.axis import Numbers


def is_buffered(histogram: Any) -> bool:
    """Whether entries are buffered and in no bin yet."""
    stored = histogram.member("fBuffer", None)
    return stored is not None and len(stored) > 0 and bool(stored[0] > 0)


def ranged(histogram: Any, axes: tuple[Axis, ...]) -> tuple[Axis, ...]:
    """The axes after buffered entries are filled: ROOT finds the range of some axes, and extends others.

    Raises:
        UnsupportedError: The range is infinite, or found by a rule that is not known.
    """
    if not is_buffered(histogram):
        return axes
    found = emptied_axes(*_place(histogram))
    return tuple(axis if new is None else RangedAxis(axis, new) for axis, new in zip(axes, found, strict=True))


def filled(histogram: Any, name: str, stored: Numbers) -> Numbers:
    """``"contents"``, or the sums ``"fSumw2"``, ``"fBinEntries"`` or ``"fBinSumw2"``, with buffered entries."""
    if not is_buffered(histogram):
        return stored
    core, number, *place = _place(histogram)
    found = emptied_array(core, number, name, *place)
    return stored if found is None else np.frombuffer(found[1], dtype=found[0])


def buffered_sums(histogram: Any) -> dict[str, float]:
    """The sums over all entries, with those that are buffered, by the names of members."""
    return emptied_sums(*_place(histogram))


def _place(histogram: Any) -> tuple[Any, int, str, str]:
    """The object in Rust, and what errors name."""
    return histogram._record.core, histogram._number, histogram.file.file_path, histogram.object_path
