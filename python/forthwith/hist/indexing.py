"""Indexing of bins by UHI: ``h[3]``, ``h[2.5j]``, ``h[2:5]``, ``h[::sum]``."""

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
    """Selection of bins of one axis, as a map from old bins, from underflow on, to new ones or -1.

    Attributes:
        to: Numbers of the new bins, from 0 for underflow; 0 for a single bin.
        axis: The new axis, or ``None`` if it is summed or indexed.
        whole: Whether all bins are kept within the axis.
    """

    to: Numbers
    axis: Axis | None
    whole: bool

    @property
    def bin(self) -> int | None:
        """The single selected bin, counted from underflow; ``None`` for other selections."""
        found = np.flatnonzero(self.to == 0)
        return int(found[0]) if self.axis is None and len(found) == 1 else None

    def gathered(self, numbers: Numbers, at: int) -> Numbers:
        """Sums values into their new bins along one axis."""
        moved = np.moveaxis(numbers, at, 0)
        bins = 1 if self.axis is None else len(self.axis) + 2
        out = np.zeros((bins, *moved.shape[1:]), dtype=moved.dtype)
        kept = self.to >= 0
        np.add.at(out, self.to[kept], moved[kept])
        return np.moveaxis(out, 0, at)


def chosen(called: str, axes: tuple[Axis, ...], index: Any) -> list[Chosen]:
    """Resolves an index for each axis.

    Raises:
        RequestIndexError: A bin or axis does not exist, or the number of indices is wrong.
        RequestTypeError: An index is invalid.
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
    """Returns the sizes of merged groups; an incomplete last group becomes overflow."""
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
    """Returns the start or end of a slice."""
    if index is None:
        return otherwise
    bins = len(axis)
    at = whole(index)
    if at is not None:
        return slice(at, None).indices(bins)[0]
    return min(max(_located(axis, index), 0), bins)


def _bin(axis: Axis, index: Any) -> int:
    """Returns the number of a bin; -1 is underflow."""
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
    """Returns the bin of a value, or of a function of the axis such as ``loc`` or ``len``."""
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
