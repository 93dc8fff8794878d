"""Means and deviations of histograms as in ``TH1::GetStats``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from forthwith._errors import RequestIndexError
from forthwith.hist.buffered import buffered_sums, is_buffered

if TYPE_CHECKING:
    from forthwith.hist.axis import Axis

# Bit of fBits of an axis: a range of bins is selected, to which statistics are limited.
_RANGE = 1 << 11
# Value of fStatOverflows: statistics include underflow and overflow.
_WITH_OUTSIDE = 1


def mean(histogram: Any, axis: int) -> float:
    """Returns ``GetMean`` of one axis; 0 without entries."""
    total, first, _ = _sums(histogram, axis)
    return first / total if total else 0.0


def deviation(histogram: Any, axis: int) -> float:
    """Returns ``GetStdDev`` of one axis; 0 without entries."""
    total, first, second = _sums(histogram, axis)
    return math.sqrt(max(second / total - (first / total) ** 2, 0.0)) if total else 0.0


def _sums(histogram: Any, axis: int) -> tuple[float, float, float]:
    """Returns the sums of weights, of weighted values, and of weighted squared values."""
    axes: tuple[Axis, ...] = histogram.axes
    if not -len(axes) <= axis < len(axes):
        raise RequestIndexError(f"there is no axis {axis}: the number of axes is {len(axes)}")
    letter = "xyz"[axis % len(axes)]
    sums = statistics(histogram)
    return sums["fTsumw"], sums[f"fTsumw{letter}"], sums[f"fTsumw{letter}2"]


def statistics(histogram: Any) -> dict[str, float]:
    """Returns the statistics of ``GetStats``, by the names of their members."""
    names = _names(histogram)
    if has_range(histogram):
        return from_bins(histogram)
    kept = (
        buffered_sums(histogram)
        if is_buffered(histogram)
        else {name: float(histogram.member(name, 0)) for name in names}
    )
    if kept["fTsumw"] == 0 and histogram.entries > 0:
        return from_bins(histogram)
    return {name: kept[name] for name in names}


def _names(histogram: Any) -> list[str]:
    names = ["fTsumw", "fTsumw2", "fTsumwx", "fTsumwx2", "fTsumwy", "fTsumwy2", "fTsumwxy"]
    names += ["fTsumwz", "fTsumwz2", "fTsumwxz", "fTsumwyz"]
    names = names[: (4, 7, 11)[len(histogram.axes) - 1]]
    letter = "yzt"[len(histogram.axes) - 1]
    values = [f"fTsumw{letter}", f"fTsumw{letter}2"] if histogram.has_member("fBinEntries") else []
    return names + values


def from_bins(histogram: Any) -> dict[str, float]:
    """Returns the statistics computed from the bins, with entries at the bin centers."""
    axes: tuple[Axis, ...] = histogram.axes
    outside = counts_outside(histogram)
    counted = tuple(_counted(one, outside) for one in axes)
    weights = histogram._weights(True)[counted]
    places = {}
    for at, one in enumerate(axes):
        # Underflow and overflow bins are assumed to have the average width.
        width = (one.high - one.low) / len(one)
        centers = np.concatenate([[one.low - width / 2], one.centers(), [one.high + width / 2]])[counted[at]]
        places["xyz"[at]] = centers.reshape([-1 if at == axis else 1 for axis in range(weights.ndim)])
    sums = {"fTsumw": float(weights.sum()), "fTsumw2": float(histogram._bin_squares()[counted].sum())}
    for name in _names(histogram)[2:]:
        letters = name.removeprefix("fTsumw")
        if letters[0] in places:
            factors = [places[letter] for letter in letters if letter in places]
            factors += factors if letters.endswith("2") else []
            sums[name] = float((weights * math.prod(factors[1:], start=factors[0])).sum())
        else:
            value = histogram._value_sums(letters.endswith("2"))
            sums[name] = float(value[counted].sum())
    return sums


def has_range(histogram: Any) -> bool:
    """Whether a range of bins of an axis is selected."""
    return any(int(one.member("fBits", 0)) & _RANGE for one in histogram.axes)


def counts_outside(histogram: Any) -> bool:
    """Whether statistics include underflow and overflow."""
    return int(histogram.member("fStatOverflows", 0)) == _WITH_OUTSIDE


def _counted(axis: Axis, outside: bool) -> slice:
    """Returns the slice of bins that count, with underflow as the first bin."""
    if int(axis.member("fBits", 0)) & _RANGE:
        return slice(max(0, int(axis.member("fFirst", 0))), max(0, int(axis.member("fLast", 0))) + 1)
    return slice(None) if outside else slice(1, -1)
