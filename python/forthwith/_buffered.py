"""Entries of a histogram that ROOT had not yet put into bins when it was written.

A histogram whose range is to be found (``TH1D("h", "", 100, 1, 0)``), or that was given a buffer (``SetBuffer``), collects
its first entries in ``fBuffer``: their number, then weight and coordinates of each; of a profile, the value, too. ROOT fills
the bins when somebody asks for them (``TH1::BufferEmpty``), and so is it done here. A number below zero says that the entries
are in the bins already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from forthwith._axis import Axis, RangedAxis
from forthwith._errors import UnsupportedError
from forthwith._limits import limits

if TYPE_CHECKING:
    from forthwith._axis import Numbers

# Of fBits: the sums of squares of weights are not wanted.
_NOT_WEIGHTED = 1 << 19
# The same: a range that is found is to have a number of bins that is a power of two.
_POWERS_OF_TWO = 1 << 20
# Of fBits of an axis: bins are to be as wide as whole numbers.
_INTEGER = 1 << 22
# Where bins follow from the entries, more are not made of them.
_MOST_BINS = 1 << 24
# Of fBits2 of an axis: its range may grow.
_EXTENDS = 1 << 1


def waiting(histogram: Any) -> Numbers | None:
    """Weight, coordinates and, of a profile, value of each entry that waits, row by row; None where there is none.

    Raises:
        UnsupportedError: The buffer is not whole.
    """
    stored = histogram.member("fBuffer", None)
    if stored is None or len(stored) == 0 or not stored[0] > 0:
        return None
    buffer = np.asarray(stored, dtype=np.float64)
    numbers = 1 + histogram._dimensions + histogram.has_member("fBinEntries")
    count = int(buffer[0]) if buffer[0] <= len(buffer) else len(buffer)
    if 1 + count * numbers > len(buffer):
        called = f"{histogram.classname} {histogram.name!r}"
        raise UnsupportedError(f"{called}: its buffer has no room for the {buffer[0]:g} entries it tells of")
    return buffer[1 : 1 + count * numbers].reshape(count, numbers)


def ranged(histogram: Any, axes: tuple[Axis, ...]) -> tuple[Axis, ...]:
    """The axes that a histogram has when its buffer is empty: of some, ROOT finds the range then.

    Raises:
        UnsupportedError: How, is not known here.
    """
    entries = waiting(histogram)
    if entries is None:
        return axes
    called = f"{histogram.classname} {histogram.name!r}"
    if all(axis.low < axis.high for axis in axes):
        extends = all(int(axis.member("fBits2", 0)) & _EXTENDS for axis in axes)
        inside = all(
            np.all((found >= axis.low) & (found < axis.high)) for axis, found in zip(axes, entries.T[1:], strict=False)
        )
        if extends and not inside:
            raise UnsupportedError(f"{called}: {len(entries)} entries wait for axes that ROOT makes longer")
        return axes
    if int(histogram.member("fBits", 0)) & _POWERS_OF_TWO:
        raise UnsupportedError(f"{called}: {len(entries)} entries wait for a range of powers of two")
    if np.any(histogram._stored("contents")):
        raise UnsupportedError(f"{called} has contents, and axes without a range")
    pairs = zip(axes, entries.T[1:], strict=False)
    return tuple(axis if axis.low < axis.high else _found(histogram, axis, found) for axis, found in pairs)


def _found(histogram: Any, axis: Axis, entries: Numbers) -> Axis:
    called, finite = f"{histogram.classname} {histogram.name!r}", entries[np.isfinite(entries)]
    if len(finite) == 0 or (len(finite) < len(entries) and histogram._dimensions > 1):
        raise UnsupportedError(f"{called}: entries wait for a range of {axis.name}, and not all of them are finite")
    labels = axis.member("fLabels", None)
    bits = int(axis.member("fBits", 0))
    found = limits(
        len(axis),
        float(finite.min()),
        float(finite.max()),
        bool(bits & _INTEGER),
        labels is not None and len(labels) > 0,
    )
    if found[0] > max(_MOST_BINS, len(axis)):
        raise UnsupportedError(f"{called}: a range of {found[0]} bins")
    return RangedAxis(axis, found)


def filled(histogram: Any, name: str, stored: Numbers) -> Numbers:
    """``"contents"``, or the sums ``"fSumw2"``, ``"fBinEntries"`` or ``"fBinSumw2"``, with what waits in the buffer."""
    entries = waiting(histogram)
    if entries is None:
        return stored
    axes, weights = histogram.axes, entries[:, 0]
    bins, stride = np.zeros(len(entries), dtype=np.int64), 1
    for axis, found in zip(axes, entries.T[1:], strict=False):
        bins += stride * _bins(axis, found)
        stride *= len(axis) + 2
    added = weights
    if histogram.has_member("fBinEntries"):
        values = entries[:, -1]
        least, most = _bounds(histogram)
        if least != most:
            inside = (values >= least) & (values <= most)
            bins, weights, values = bins[inside], weights[inside], values[inside]
        added = {"contents": weights * values, "fSumw2": weights * values**2, "fBinEntries": weights}.get(
            name, weights**2
        )
        kept = name != "fBinSumw2"
    else:
        added = weights if name == "contents" else weights**2
        kept = name == "contents"
    if not kept and len(stored) == 0:
        # Sums of squares begin with the first weight that is not one.
        if int(histogram.member("fBits", 0)) & _NOT_WEIGHTED or np.all(weights == 1):
            return stored
        before = "fBinEntries" if histogram.has_member("fBinEntries") else "contents"
        stored = np.abs(np.asarray(histogram._stored(before), dtype=np.float64))
    if any(isinstance(axis, RangedAxis) for axis in axes):
        # There are no contents, and perhaps another number of bins.
        stored = np.zeros(stride, dtype=stored.dtype)
    if len(stored) != stride:
        raise UnsupportedError(f"{histogram!r} has {len(stored)} numbers for {stride} bins")
    return _sum(stored, bins, added)


def _bounds(profile: Any) -> tuple[float, float]:
    """Between which values a profile takes entries; all if both are the same."""
    names = {1: ("fYmin", "fYmax"), 2: ("fZmin", "fZmax"), 3: ("fTmin", "fTmax")}[len(profile.axes)]
    return tuple(float(profile.member(name)) for name in names)  # type: ignore[return-value]


def _bins(axis: Axis, found: Numbers) -> Numbers:
    """Numbers of bins, as ``TAxis::FindBin`` has them."""
    edges = None if isinstance(axis, RangedAxis) else axis.member("fXbins", None)
    if edges is not None and len(edges):
        inside = np.searchsorted(np.asarray(edges), found, side="right")
    else:
        with np.errstate(all="ignore"):
            place = np.nan_to_num(len(axis) * (found - axis.low) / (axis.high - axis.low))
        inside = 1 + place.clip(-1, len(axis) + 1).astype(np.int64)
        # Where that was rounded to a neighbour, the one whose edges are on both sides.
        width = (axis.high - axis.low) / len(axis)
        lower, upper = found < axis.low + (inside - 1) * width, found >= axis.low + inside * width
        inside = (inside - lower + (upper & (inside < len(axis)))).clip(1)
    return np.where(found < axis.low, 0, np.where(found < axis.high, inside, len(axis) + 1))


def _sum(stored: Numbers, bins: Numbers, added: Numbers) -> Numbers:
    """One after the other, each in the type of the contents."""
    if stored.dtype.kind == "f":
        out = np.array(stored)
        np.add.at(out, bins, added.astype(out.dtype))
        return out
    sums, most = [int(x) for x in stored], int(np.iinfo(stored.dtype).max)
    for bin, weight in zip(bins.tolist(), added.tolist(), strict=True):
        sums[bin] = max(-most, min(most, sums[bin] + int(weight)))
    return np.array(sums, dtype=stored.dtype)
