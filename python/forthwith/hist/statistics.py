"""Means and spreads of histograms as ``TH1::GetStats`` has them: of entries where their sums were kept, else of bins."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from forthwith._errors import RequestError
from forthwith.hist.buffered import waiting

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
        raise RequestError(f"no axis {axis}: there are {len(axes)}")
    axis %= len(axes)
    ranges = any(int(one.member("fBits", 0)) & _RANGE for one in axes)
    kept = float(histogram.member("fTsumw", 0))
    if ranges or waiting(histogram) is not None or (kept == 0 and float(histogram.member("fEntries", 0)) > 0):
        return _of_bins(histogram, axes, axis)
    letter = "xyz"[axis]
    return kept, float(histogram.member(f"fTsumw{letter}")), float(histogram.member(f"fTsumw{letter}2"))


def _of_bins(histogram: Any, axes: tuple[Axis, ...], axis: int) -> tuple[float, float, float]:
    outside = int(histogram.member("fStatOverflows", 0)) == _WITH_OUTSIDE
    counted = tuple(_counted(one, outside) for one in axes)
    weights, one = histogram._weights(True)[counted], axes[axis]
    # Bins below and above are as wide as the others are on average.
    width = (one.high - one.low) / len(one)
    centers = np.concatenate([[one.low - width / 2], one.centers(), [one.high + width / 2]])[counted[axis]]
    along = weights.sum(axis=tuple(at for at in range(weights.ndim) if at != axis))
    return float(along.sum()), float((along * centers).sum()), float((along * centers**2).sum())


def _counted(axis: Axis, outside: bool) -> slice:
    """The bins that count, the first of all being the one below the axis."""
    if int(axis.member("fBits", 0)) & _RANGE:
        return slice(max(0, int(axis.member("fFirst", 0))), max(0, int(axis.member("fLast", 0))) + 1)
    return slice(None) if outside else slice(1, -1)
