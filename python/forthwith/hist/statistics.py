"""Means and spreads of histograms as ``TH1::GetStats`` has them: of entries where their sums were kept, else of bins."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from forthwith._errors import RequestIndexError
from forthwith.hist.buffered import buffered_sums, is_buffered

if TYPE_CHECKING:
    from forthwith.hist.axis import Axis

# Of fBits of an axis: only some bins are to be shown, and statistics are of these.
_RANGE = 1 << 11
# fStatOverflows: what is outside of the axes counts, too.
_WITH_OUTSIDE = 1


def mean(histogram: Any, axis: int) -> float:
    """``GetMean`` of one axis; 0 where there is nothing."""
    total, first, _ = _sums(histogram, axis)
    return first / total if total else 0.0


def deviation(histogram: Any, axis: int) -> float:
    """``GetStdDev`` of one axis; 0 where there is nothing."""
    total, first, second = _sums(histogram, axis)
    return math.sqrt(max(second / total - (first / total) ** 2, 0.0)) if total else 0.0


def _sums(histogram: Any, axis: int) -> tuple[float, float, float]:
    """The sums of weights, of weights times places, and of weights times their squares."""
    axes: tuple[Axis, ...] = histogram.axes
    if not -len(axes) <= axis < len(axes):
        raise RequestIndexError(f"there is no axis {axis}: the number of axes is {len(axes)}")
    letter = "xyz"[axis % len(axes)]
    sums = statistics(histogram)
    return sums["fTsumw"], sums[f"fTsumw{letter}"], sums[f"fTsumw{letter}2"]


def statistics(histogram: Any) -> dict[str, float]:
    """``GetStats``: sums by the names of their members."""
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
    """The same, where only the bins are known: all entries of a bin are taken to be in its middle."""
    axes: tuple[Axis, ...] = histogram.axes
    outside = counts_outside(histogram)
    counted = tuple(_counted(one, outside) for one in axes)
    weights = histogram._weights(True)[counted]
    places = {}
    for at, one in enumerate(axes):
        # Bins below and above are as wide as the others are on average.
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
    """Whether only some bins of an axis are to be shown."""
    return any(int(one.member("fBits", 0)) & _RANGE for one in histogram.axes)


def counts_outside(histogram: Any) -> bool:
    """Whether statistics are told to count what is below and above the axes."""
    return int(histogram.member("fStatOverflows", 0)) == _WITH_OUTSIDE


def _counted(axis: Axis, outside: bool) -> slice:
    """The bins that count, the first of all being the one below the axis."""
    if int(axis.member("fBits", 0)) & _RANGE:
        return slice(max(0, int(axis.member("fFirst", 0))), max(0, int(axis.member("fLast", 0))) + 1)
    return slice(None) if outside else slice(1, -1)
