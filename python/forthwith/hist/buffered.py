"""Entries of a histogram that ROOT had not yet put into bins when it was written.

A histogram whose range is to be found (``TH1D("h", "", 100, 1, 0)``), or that was given a buffer (``SetBuffer``), collects
its first entries in ``fBuffer``: their number, then weight and coordinates of each; of a profile, the value, too. ROOT fills
the bins when they are read (``TH1::BufferEmpty``), and so is it done here. A number below zero says that the entries
are in the bins already.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from forthwith._errors import UnsupportedError
from forthwith.hist.axis import Axis, RangedAxis, found_bins
from forthwith.hist.limits import limits, powers_of_two

if TYPE_CHECKING:
    from typing import TypeAlias

    from forthwith.hist.axis import Numbers

    Stage: TypeAlias = tuple[int, tuple[Axis, ...]]

# Of fBits: the sums of squares of weights are not wanted.
_NOT_WEIGHTED = 1 << 19
# The same: a range that is found is to have a number of bins that is a power of two.
_POWERS_OF_TWO = 1 << 20
# Of fBits of an axis: bins are to be as wide as whole numbers.
_INTEGER = 1 << 22
# Where bins follow from the entries, more are not made of them.
_MOST_BINS = 1 << 24
# Of fBits2 of an axis: its range may grow, and its bins are labels.
_EXTENDS = 1 << 1
_LABELLED = 1 << 0
# An axis is doubled so often at once.
_MOST_TIMES = 65


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
    """The axes that a histogram has when its buffer is empty: of some, ROOT finds the range then, and some it makes longer.

    Raises:
        UnsupportedError: How, is not known here.
    """
    entries = waiting(histogram)
    return axes if entries is None else _stages(histogram, axes, entries)[-1][1]


def _stages(histogram: Any, axes: tuple[Axis, ...], entries: Numbers) -> list[Stage]:
    """The axes that entries are filled with, each time with the number of the first of these."""
    places = entries[:, 1 : 1 + len(axes)].T
    bits = [int(axis.member("fBits2", 0)) for axis in axes]
    extends = [bool(of & _EXTENDS) for of in bits]
    profile = histogram.has_member("fBinEntries")
    stages = [(0, axes)]
    if any(not axis.low < axis.high for axis in axes):
        ranged = []
        for axis, found in zip(axes, places, strict=True):
            if profile or not axis.low < axis.high:
                ranged.append(_found(histogram, axis, found))
            elif all(extends):
                ranged.append(_set(histogram, axis, *_extremes(found[1:], axis.low, axis.high)))
            else:
                ranged.append(axis)
        axes = tuple(ranged)
        stages = [(0, axes)]
    elif all(extends):
        # The least and the greatest come first.
        for number, (axis, found) in enumerate(zip(axes, places, strict=True)):
            if profile or len(axes) == 1:
                known = found[np.isfinite(found)] if len(axes) == 1 else found
                first = float(known[0]) if len(known) else axis.low
                least, most = _extremes(known, first, first)
            else:
                # ROOT begins with the range that there is, and does not look at the first entry.
                least, most = _extremes(found[1:], axis.low, axis.high)
            if least < axis.low:
                axes = _longer(histogram, axes, number, least)
            if most >= axes[number].high:
                axes = _longer(histogram, axes, number, most)
        stages.append((0, axes))
    # Then each for itself, where bins are no labels.
    able = [number for number, of in enumerate(bits) if of & _EXTENDS and not of & _LABELLED]
    at = 0
    while able:
        outside = np.zeros(len(entries) - at, dtype=bool)
        for number in able:
            found = places[number][at:]
            outside |= (found < axes[number].low) | ~(found < axes[number].high)
        if not outside.any():
            break
        at += int(np.argmax(outside))
        for number in able:
            place = float(places[number][at])
            if np.isnan(place):
                # Nothing gets longer any more.
                able = []
                break
            axes = _longer(histogram, axes, number, place)
        stages.append((at, axes))
        at += 1
    return stages


def _called(histogram: Any) -> str:
    return f"{histogram.classname} {histogram.name!r}"


def _extremes(places: Numbers, least: float, most: float) -> tuple[float, float]:
    """The least and the greatest of these two and of the places, compared one after the other, whatever is no number."""
    for place in places.tolist():
        least = place if place < least else least
        most = place if place > most else most
    return least, most


def _set(histogram: Any, axis: Axis, low: float, high: float) -> Axis:
    """The axis, with bins of one width between other ends."""
    if (low, high) == (axis.low, axis.high):
        return axis
    if not np.isfinite([low, high]).all() or len(axis.member("fXbins", ())):
        what = "without end" if not np.isfinite([low, high]).all() else "longer, whose bins differ in width"
        raise UnsupportedError(f"{_called(histogram)}: ROOT makes {axis.name} {what}")
    return RangedAxis(axis, (len(axis), low, high))


def _longer(histogram: Any, axes: tuple[Axis, ...], number: int, place: float) -> tuple[Axis, ...]:
    """The axes, of which one was doubled until it has the place. Where that takes too often, it stays."""
    axis = axes[number]
    low, high = axis.low, axis.high
    span, times = high - low, 0
    while place < low or place >= high:
        times += 1
        if times > _MOST_TIMES:
            return axes
        low, high = (low - span, high) if place < low else (low, high + span)
        span *= 2
    return (*axes[:number], _set(histogram, axis, low, high), *axes[number + 1 :])


def _found(histogram: Any, axis: Axis, entries: Numbers) -> Axis:
    called, finite = _called(histogram), entries[np.isfinite(entries)]
    plain = histogram._dimensions == 1 and not histogram.has_member("fBinEntries")
    if len(finite) == 0 or (len(finite) < len(entries) and not plain):
        raise UnsupportedError(f"{called}: entries wait for a range of {axis.name}, and not all of them are finite")
    labels = axis.member("fLabels", None)
    bits = int(axis.member("fBits", 0))
    low, high = float(finite.min()), float(finite.max())
    found = limits(len(axis), low, high, bool(bits & _INTEGER), labels is not None and len(labels) > 0)
    if plain and low < high and int(histogram.member("fBits", 0)) & _POWERS_OF_TWO:
        found = powers_of_two(found, low, high)
    if not 0 < found[0] <= max(_MOST_BINS, len(axis)):
        raise UnsupportedError(f"{called}: a range of {found[0]} bins")
    return RangedAxis(axis, found)


def filled(histogram: Any, name: str, stored: Numbers) -> Numbers:
    """``"contents"``, or the sums ``"fSumw2"``, ``"fBinEntries"`` or ``"fBinSumw2"``, with what waits in the buffer."""
    entries = waiting(histogram)
    if entries is None:
        return stored
    weights, profile = entries[:, 0], histogram.has_member("fBinEntries")
    counted = np.ones(len(entries), dtype=bool)
    if profile:
        values = entries[:, -1]
        least, most = _bounds(histogram)
        if least != most:
            counted = (values >= least) & (values <= most)
        added = {"contents": weights * values, "fSumw2": weights * values * values, "fBinEntries": weights}.get(
            name, weights**2
        )
        kept = name != "fBinSumw2"
    else:
        added = weights if name == "contents" else weights**2
        kept = name == "contents"
    if not kept and len(stored) == 0:
        # Sums of squares begin with the first weight that is not one.
        if int(histogram.member("fBits", 0)) & _NOT_WEIGHTED or np.all(weights[counted] == 1):
            return stored
        stored = np.abs(np.asarray(histogram._stored("fBinEntries" if profile else "contents"), dtype=np.float64))
    stages = _stages(histogram, histogram._given_axes, entries)
    cells = math.prod(len(axis) + 2 for axis in stages[0][1])
    contents = histogram._stored("contents")
    if any(isinstance(axis, RangedAxis) for axis in stages[0][1]):
        # Perhaps another number of bins: cells keep what they have, by their numbers.
        if cells > max(_MOST_BINS, 8 * len(stored)):
            raise UnsupportedError(f"{_called(histogram)}: {len(stored)} numbers for {cells} bins")
        stored, contents = _cut(stored, cells), _cut(contents, cells)
    if len(stored) != cells:
        raise UnsupportedError(f"{histogram!r} has {len(stored)} numbers for {cells} bins")
    for (first, axes), (last, longer) in zip(stages, [*stages[1:], (len(entries), None)], strict=True):
        rows = np.flatnonzero(counted[first:last]) + first
        bins, stride = np.zeros(len(rows), dtype=np.int64), 1
        for axis, found in zip(axes, entries.T[1:], strict=False):
            bins += stride * found_bins(axis, found[rows])
            stride *= len(axis) + 2
        stored = _sum(stored, bins, added[rows])
        if longer is not None:
            if not profile:
                contents = stored if name == "contents" else _sum(contents, bins, weights[rows])
            stored, contents = _moved(stored, contents, axes, longer, profile)
    return stored


def _cut(sums: Numbers, cells: int) -> Numbers:
    """So many of them, with zeros where there are not enough."""
    return np.concatenate([sums[:cells], np.zeros(max(0, cells - len(sums)), dtype=sums.dtype)])


def _moved(
    sums: Numbers, contents: Numbers, axes: tuple[Axis, ...], longer: tuple[Axis, ...], profile: bool
) -> tuple[Numbers, Numbers]:
    """Sums, and the contents they belong to, in the bins of axes that have become longer: each bin where its middle is now.

    What is below or above such an axis is lost, and sums of bins without contents.
    """
    cells, stride = np.arange(len(sums)), 1
    for axis, new in zip(axes, longer, strict=True):
        bin = cells // stride % (len(axis) + 2)
        if new is not axis:
            width = (axis.high - axis.low) / len(axis)
            there = (bin > 0) & (bin <= len(axis)) & (profile | (contents != 0))
            to = cells + stride * (found_bins(new, axis.low + (bin - 0.5) * width) - bin)
            sums, contents = (_sum(np.zeros_like(old), to[there], old[there]) for old in (sums, contents))
        stride *= len(axis) + 2
    return sums, contents


def _bounds(profile: Any) -> tuple[float, float]:
    """Between which values a profile takes entries; all if both are the same."""
    names = {1: ("fYmin", "fYmax"), 2: ("fZmin", "fZmax"), 3: ("fTmin", "fTmax")}[len(profile.axes)]
    return tuple(float(profile.member(name)) for name in names)  # type: ignore[return-value]


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
