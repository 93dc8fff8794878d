"""Bins in brackets, as the Unified Histogram Interface has them: ``h[3]``, ``h[2.5j]``, ``h[2:5]``, ``h[::sum]``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from forthwith._entries import whole
from forthwith._errors import RequestIndexError, RequestTypeError
from forthwith.hist.made import made_axis

if TYPE_CHECKING:
    from forthwith.hist.axis import Axis, Numbers


@dataclass(frozen=True)
class Chosen:
    """What is wanted of one axis: for each of its bins, the one below it first, the bin that it goes to, or -1.

    Attributes:
        to: Numbers of bins of the new axis; 0 where there is none any more.
        axis: The new axis, if it is still one.
        whole: Whether all bins go somewhere, and stay between bins that they were between.
    """

    to: Numbers
    axis: Axis | None
    whole: bool

    @property
    def bin(self) -> int | None:
        """The only bin that is wanted, counted from the one below the axis, if it is one."""
        found = np.flatnonzero(self.to == 0)
        return int(found[0]) if self.axis is None and len(found) == 1 else None

    def gathered(self, numbers: Numbers, at: int) -> Numbers:
        """Sums of what goes to the same bin, along one of the directions."""
        moved = np.moveaxis(numbers, at, 0)
        bins = 1 if self.axis is None else len(self.axis) + 2
        out = np.zeros((bins, *moved.shape[1:]), dtype=moved.dtype)
        kept = self.to >= 0
        np.add.at(out, self.to[kept], moved[kept])
        return np.moveaxis(out, 0, at)


def chosen(called: str, axes: tuple[Axis, ...], index: Any) -> list[Chosen]:
    """The meaning of an index, for each axis.

    Raises:
        RequestIndexError: A bin or axis that is not there, or not one index for each axis.
        RequestTypeError: What is no index.
    """
    return [_of_axis(axis, one) for axis, one in zip(axes, _each(called, len(axes), index), strict=True)]


def _each(called: str, count: int, index: Any) -> list[Any]:
    if isinstance(index, dict):
        given: list[Any] = [slice(None)] * count
        for at, one in index.items():
            axis = whole(at)
            if axis is None or not -count <= axis < count:
                raise RequestIndexError(f"{called} has no axis {at!r}: there are {count}")
            given[axis] = one
        return given
    given = list(index) if isinstance(index, tuple) else [index]
    rest = [at for at, one in enumerate(given) if one is Ellipsis]
    if len(rest) == 1:
        given[rest[0] : rest[0] + 1] = [slice(None)] * (count - len(given) + 1)
    if len(given) != count or len(rest) > 1:
        raise RequestIndexError(f"{called} has {count} axes, and this is an index of {len(given)}: {index!r}")
    return given


def _of_axis(axis: Axis, index: Any) -> Chosen:
    bins = len(axis)
    if not isinstance(index, slice):
        to = np.full(bins + 2, -1)
        to[_bin(axis, index) + 1] = 0
        return Chosen(to, None, False)
    begin, end = _edge(axis, index.start, 0), _edge(axis, index.stop, bins)
    if begin > end or (begin == end and bins):
        raise RequestIndexError(f"no bins from {index.start!r} to {index.stop!r} in the {bins} of {axis.name}")
    if index.step is sum or index.step is np.sum:
        to = np.full(bins + 2, -1)
        below = index.start is not None and whole(index.start) is None and _located(axis, index.start) < 0
        first = 0 if index.start is None or below else begin + 1
        to[first : bins + 2 if index.stop is None else end + 1] = 0
        return Chosen(to, None, False)
    groups = _groups(axis, index.step, end - begin)
    kept = sum(groups)
    to = np.zeros(bins + 2, dtype=np.int64)
    to[begin + 1 : begin + 1 + kept] = np.repeat(np.arange(1, len(groups) + 1), groups)
    to[begin + 1 + kept :] = len(groups) + 1
    edges = axis.edges()[begin + np.concatenate([[0], np.cumsum(groups, dtype=np.int64)])]
    labels = axis.labels()
    labels = labels[begin : begin + kept] if labels is not None and len(groups) == kept else None
    return Chosen(to, made_axis(axis, axis.name, edges, labels, axis.title), kept == bins)


def _groups(axis: Axis, step: Any, bins: int) -> list[int]:
    """How many bins become one; those that are too few at the end are above the axis."""
    if step is None:
        return [1] * bins
    groups = getattr(step, "groups", None)
    factor: Any = getattr(step, "factor", None)
    if groups is not None:
        found = [whole(group) or 0 for group in groups]
        if sum(found) != bins or min(found, default=0) < 1:
            raise RequestIndexError(f"groups of {list(groups)} bins are not the {bins} of {axis.name}")
        return found
    if isinstance(step, complex) and step.real == 0 and step.imag.is_integer():
        factor = int(step.imag)
    number = whole(factor)
    if number is None:
        raise RequestTypeError(f"after the second colon, use sum, or 2j or rebin(2) to join bins, not {step!r}")
    if not 1 <= number <= bins:
        raise RequestIndexError(f"{number} bins of {axis.name} cannot become one: there are {bins}")
    return [number] * (bins // number)


def _edge(axis: Axis, index: Any, otherwise: int) -> int:
    """Where a slice begins or ends."""
    if index is None:
        return otherwise
    bins = len(axis)
    at = whole(index)
    if at is not None:
        return slice(at, None).indices(bins)[0]
    return min(max(_located(axis, index), 0), bins)


def _bin(axis: Axis, index: Any) -> int:
    """The number of a bin; -1 is the one below the axis."""
    bins = len(axis)
    number = None if isinstance(index, bool) else whole(index)
    if number is not None:
        if not -bins <= number < bins:
            raise RequestIndexError(f"no bin {number} in the {bins} of {axis.name}")
        return number % bins
    at = _located(axis, index)
    if not -1 <= at <= bins:
        raise RequestIndexError(f"no bin {at} in the {bins} of {axis.name}")
    return at


def _located(axis: Axis, index: Any) -> int:
    """The bin that a place or a function of the axis, such as ``loc`` and ``len``, means."""
    if isinstance(index, complex):
        if not index.real.is_integer():
            raise RequestTypeError(
                f"only a whole number of bins can be added to a place, as in 2.5j + 1, not {index!r}"
            )
        return axis.index(index.imag) + int(index.real)
    if callable(index):
        found = whole(index(axis))
        if found is not None:
            return found
    raise RequestTypeError(f"a bin is given by a whole number, a place such as 2.5j, or loc(2.5), not by {index!r}")
