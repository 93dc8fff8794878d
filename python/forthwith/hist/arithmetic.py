"""Sums and multiples of histograms as in ``TH1::Add`` and ``TH1::Scale``, and ``TProfile`` for profiles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from forthwith._errors import RequestError, UnsupportedError
from forthwith.hist.buffered import is_buffered
from forthwith.hist.made import changed
from forthwith.hist.statistics import counts_outside, from_bins, has_range, statistics

if TYPE_CHECKING:
    from forthwith.hist.axis import Numbers
    from forthwith.hist.histograms import Histogram

# Bit of fBits: contents are averages, which cannot be added.
_AVERAGE = 1 << 18
_ARRAYS = ("TArrayD", "TArrayF", "TArrayI", "TArrayS", "TArrayC", "TArrayL64", "TArrayL")
_NO_LIMIT = -1111.0


def added(first: Histogram, second: Histogram, factor: float) -> Histogram:
    """Returns the sum of a histogram and a multiple of another one.

    Raises:
        RequestError: The axes differ, or only one of them is a profile.
        UnsupportedError: A histogram has buffered entries, or contents are averages.
    """
    _check(first, second)
    if first.has_member("fBinEntries"):
        return _added_profiles(first, second, factor)
    plain = np.asarray(second._stored("contents"), dtype=np.float64)
    norm = float(second.member("fNormFactor", 0))
    weight = factor * (norm / float(second.values().sum()) if norm else 1.0)
    name, contents = _array(first)
    members: dict[str, Any] = {name: _plus(contents, weight * plain)}
    squares = np.asarray(first.member("fSumw2"), dtype=np.float64)
    others = np.asarray(second.member("fSumw2"), dtype=np.float64)
    if len(squares) == 0 and (len(others) or factor != 1):
        squares = _first_squares(first, contents)
    begun = first
    if len(squares):
        begun = changed(first, {"fSumw2": squares})
        # Without stored squares, ROOT uses the contents, including negative ones.
        members["fSumw2"] = squares + weight**2 * (others if len(others) else plain)
    members |= {"fMinimum": _NO_LIMIT, "fMaximum": _NO_LIMIT}
    if factor >= 0:
        mine, theirs = statistics(begun), statistics(second)
        members |= {key: mine[key] + _power(key, factor) * theirs[key] for key in mine}
        members["fEntries"] = abs(first.entries + factor * second.entries)
        return changed(first, members)
    return _reset(changed(first, members))


def scaled(histogram: Histogram, factor: float) -> Histogram:
    """Returns a multiple of a histogram, with sums of squares of weights.

    Raises:
        UnsupportedError: The histogram has buffered entries.
    """
    _check_filled(histogram)
    if histogram.has_member("fBinEntries"):
        squares = np.asarray(histogram.member("fSumw2"), dtype=np.float64) * factor**2
        contents = np.asarray(histogram._stored("contents")) * factor
        return changed(histogram, {_array(histogram)[0]: contents, "fSumw2": squares})
    name, contents = _array(histogram)
    squares = np.asarray(histogram.member("fSumw2"), dtype=np.float64)
    if len(squares) == 0:
        squares = _first_squares(histogram, contents)
    with np.errstate(all="ignore"):
        product = factor * contents.astype(np.float64)
        members: dict[str, Any] = {name: _stored(product, contents.dtype), "fSumw2": squares * factor**2}
    members |= {"fMinimum": _NO_LIMIT, "fMaximum": _NO_LIMIT}
    if histogram.has_member("fContour"):
        members["fContour"] = np.asarray(histogram.member("fContour")) * factor
    made = changed(histogram, members)
    # Without stored sums, ROOT computes them from the scaled bins, and scales them again.
    return changed(made, {key: _power(key, factor) * value for key, value in statistics(made).items()})


def _check(first: Histogram, second: Histogram) -> None:
    for one in (first, second):
        _check_filled(one)
    said = f"{first!r} and {second!r}"
    if first.has_member("fBinEntries") != second.has_member("fBinEntries"):
        raise RequestError(f"{said} cannot be added: one of them is a profile")
    if all(int(one.member("fBits", 0)) & _AVERAGE for one in (first, second)):
        raise UnsupportedError(f"{said} cannot be added: their contents are averages")
    if len(first.axes) != len(second.axes):
        raise RequestError(f"{said} cannot be added: they have {len(first.axes)} and {len(second.axes)} axes")
    for mine, theirs in zip(first.axes, second.axes, strict=True):
        if len(mine) != len(theirs):
            raise RequestError(f"{said} cannot be added: {mine.name} differs, {_axis(mine)} and {_axis(theirs)}")
        # An edge at 0 may differ by the rounding error of the bin widths.
        near = 1e-10 * float(np.min(np.diff(mine.edges()), initial=np.inf)) if len(mine) else 0.0
        apart = ~np.isclose(mine.edges(), theirs.edges(), rtol=1e-10, atol=near)
        if apart.any():
            at = int(np.argmax(apart))
            edges = f"{mine.edges()[at]!r} and {theirs.edges()[at]!r}"
            raise RequestError(f"{said} cannot be added: edge {at} of {mine.name} differs, {edges}")
        if mine.labels() != theirs.labels():
            raise RequestError(f"{said} cannot be added: the bins of {mine.name} have other labels")


def _axis(axis: Any) -> str:
    return f"{len(axis)} bins from {axis.low:g} to {axis.high:g}"


def _check_filled(histogram: Histogram) -> None:
    if is_buffered(histogram):
        raise UnsupportedError(
            f"{histogram!r} has buffered entries, and cannot be added or scaled: to_boost() has them in bins"
        )


def _array(histogram: Histogram) -> tuple[str, Numbers]:
    name = next(name for name in _ARRAYS if histogram.has_member(name))
    return name, np.asarray(histogram.member(name))


def _first_squares(histogram: Histogram, contents: Numbers) -> Numbers:
    """Returns the initial squares of ``TH1::Sumw2``."""
    found: Numbers = np.abs(contents.astype(np.float64)) * (histogram.entries > 0)
    return found


def _plus(contents: Numbers, weights: Numbers) -> Numbers:
    """Adds as ``AddBinContent``, in the type of the contents; integers saturate."""
    if contents.dtype.kind == "f":
        total: Numbers = contents + weights.astype(contents.dtype)
        return total
    most = int(np.iinfo(contents.dtype).max)
    sums = [max(-most, min(most, int(x) + int(w))) for x, w in zip(contents, weights, strict=True)]
    return np.array(sums, dtype=contents.dtype)


def _stored(values: Numbers, dtype: Any) -> Numbers:
    """Converts as ``UpdateBinContent``, with truncation for integer contents.

    Raises:
        RequestError: A value exceeds the type.
    """
    if dtype.kind != "f":
        most = np.iinfo(dtype)
        if not ((values > float(most.min) - 1) & (values < float(most.max) + 1)).all():
            raise RequestError(f"contents of type {dtype.name} have no room for {np.abs(values).max():g}")
    found: Numbers = values.astype(dtype)
    return found


def _power(key: str, factor: float) -> float:
    """Returns the factor of a sum if all weights are multiplied by ``factor``."""
    return factor**2 if key == "fTsumw2" else factor


def _reset(histogram: Histogram) -> Histogram:
    """Recomputes the statistics from the bins, as ``ResetStats``."""
    sums = from_bins(histogram)
    # The number of entries is the effective one of all bins, or that of the statistics if they cover all
    # bins.
    total, squares = float(histogram._contents.sum(dtype=np.float64)), float(histogram.variances(True).sum())
    entries = total**2 / squares if squares > 0 else total
    if counts_outside(histogram) and not has_range(histogram):
        entries = abs(sums["fTsumw"])
    return changed(histogram, {**sums, "fEntries": entries})


def _added_profiles(first: Histogram, second: Histogram, factor: float) -> Histogram:
    size = abs(factor)
    mine, theirs = statistics(first), statistics(second)
    sums = {key: value + (size**2 if key == "fTsumw2" else size) * theirs[key] for key, value in mine.items()}
    name, contents = _array(first)
    members: dict[str, Any] = {**sums, name: contents + factor * np.asarray(second._stored("contents"))}
    for key in ("fSumw2", "fBinEntries"):
        members[key] = np.asarray(first.member(key)) + size * np.asarray(second.member(key))
    squares = [np.asarray(one.member("fBinSumw2", ())) for one in (first, second)]
    if any(map(len, squares)):
        counts = [np.asarray(one.member("fBinEntries")) for one in (first, second)]
        mine2, theirs2 = (one if len(one) else count for one, count in zip(squares, counts, strict=True))
        members["fBinSumw2"] = mine2 + size**2 * theirs2
    members["fEntries"] = first.entries + size * second.entries
    return changed(first, members)
