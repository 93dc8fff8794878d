"""Histograms with buffered entries, which ROOT fills into bins when the bins are read.

A histogram with an automatic range (``TH1D("h", "", 100, 1, 0)``) or a buffer (``SetBuffer``) collects its
first entries in ``fBuffer``. A negative number of entries means that they are in the bins already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from forthwith._forthwith import emptied_array, emptied_axes, emptied_sums
from forthwith.hist.axis import Axis, RangedAxis

if TYPE_CHECKING:
    from forthwith.hist.axis import Numbers


def is_buffered(histogram: Any) -> bool:
    """Whether the histogram has buffered entries that are not in bins yet."""
    stored = histogram.member("fBuffer", None)
    return stored is not None and len(stored) > 0 and bool(stored[0] > 0)


def ranged(histogram: Any, axes: tuple[Axis, ...]) -> tuple[Axis, ...]:
    """Returns the axes after buffered entries are filled, which sets or extends their ranges.

    Raises:
        UnsupportedError: The range is infinite, or determined by an unknown rule.
    """
    if not is_buffered(histogram):
        return axes
    found = emptied_axes(*_place(histogram))
    return tuple(axis if new is None else RangedAxis(axis, new) for axis, new in zip(axes, found, strict=True))


def filled(histogram: Any, name: str, stored: Numbers) -> Numbers:
    """Returns ``"contents"`` or the sums of this name, including buffered entries."""
    if not is_buffered(histogram):
        return stored
    core, number, *place = _place(histogram)
    found = emptied_array(core, number, name, *place)
    return stored if found is None else np.frombuffer(found[1], dtype=found[0])


def buffered_sums(histogram: Any) -> dict[str, float]:
    """Returns the sums over all entries, including buffered ones, by the names of members."""
    return emptied_sums(*_place(histogram))


def _place(histogram: Any) -> tuple[Any, int, str, str]:
    """Returns the object in Rust, and file and path for errors."""
    return histogram._record.core, histogram._number, histogram.file.file_path, histogram.object_path
