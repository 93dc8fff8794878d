"""Histograms with polygonal bins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from forthwith._errors import RequestError
from forthwith._guard import guarded
from forthwith._objects import Object
from forthwith.hist import svg
from forthwith.hist.drawing import Drawn
from forthwith.hist.grid import Grid, Side

if TYPE_CHECKING:
    from forthwith.hist.axis import Axis, Numbers


# Error mode of a TProfile2Poly in which errors are not divided by the number of entries.
_SPREAD = 1

# Size of a drawing on a terminal.
_COLUMNS, _ROWS = 46, 20


@guarded
class PolygonHistogram(Drawn):
    """A ``TH2Poly``: bins of any shape."""

    __slots__ = ()

    @property
    def kind(self) -> str:
        """``"COUNT"``, or ``"MEAN"`` for profiles."""
        return "MEAN" if self.has_member("fErrorMode") else "COUNT"

    @property
    def axes(self) -> tuple[Axis, ...]:
        """Always empty, as the bins are `polygons`."""
        return ()

    @property
    def _bins(self) -> list[Object]:
        # The list is missing in a histogram without bins.
        return list(self.member("fBins") or ())

    def values(self, flow: bool = False) -> Numbers:
        """Returns the contents of the bins, in the order of their numbers, without `overflow`."""
        if flow:
            raise RequestError(
                f"{self!r} has no underflow and overflow bins, but regions outside of its bins: see overflow()"
            )
        return np.array([bin.member("fContent") for bin in self._bins], dtype=np.float64)

    def variances(self) -> Numbers:
        """Returns the squared bin errors."""
        if self.has_member("fErrorMode"):
            return self._profiled()
        stored = self.member("fSumw2", ())
        values = self.values()
        # The nine overflow regions come first, or none in old files.
        for skip in (9, 1, 0):
            if len(stored) == len(values) + skip:
                return np.asarray(stored, dtype=np.float64)[skip:]
        return np.abs(values)

    def errors(self) -> Numbers:
        """Returns the bin errors, as ``GetBinError`` does."""
        found: Numbers = np.sqrt(self.variances())
        return found

    def _profiled(self) -> Numbers:
        """Returns the squared errors of a ``TProfile2Poly``: of the means, or the variances of values."""
        names = ("fError", "fSumw", "fSumw2")
        spread, sums, squares = (np.array([bin.member(name) for bin in self._bins], dtype=np.float64) for name in names)
        if self.member("fErrorMode") == _SPREAD:
            return spread**2
        with np.errstate(invalid="ignore", divide="ignore"):
            return (spread / np.sqrt(np.where(squares != 0, sums**2 / squares, 0))) ** 2

    def overflow(self) -> Numbers:
        """Returns the contents of the nine overflow regions, row by row; the middle one is uncovered area."""
        regions = self.member("fOverflowBins", None)
        if regions is not None:
            # For a profile, the regions have means.
            return np.array([region.member("fContent") for region in regions], dtype=np.float64)
        return np.asarray(self.member("fOverflow"), dtype=np.float64)

    def numbers(self) -> Numbers:
        """Returns the numbers of the bins, from 1."""
        return np.array([bin.member("fNumber") for bin in self._bins], dtype=np.int64)

    def areas(self) -> Numbers:
        """Returns the areas of the bins, if they were computed before the file was written."""
        return np.array([bin.member("fArea") for bin in self._bins], dtype=np.float64)

    def polygons(self) -> list[list[tuple[Numbers, Numbers]]]:
        """Returns the outlines of the bins: each has one or more, as x and y coordinates."""
        out = []
        for bin in self._bins:
            shape = bin.member("fPoly")
            parts = list(shape.member("fGraphs")) if shape.has_member("fGraphs") else [shape]
            out.append([(part.member("fX"), part.member("fY")) for part in parts])
        return out

    def _sides(self) -> tuple[Side, Side]:
        return Side.of(self.member("fXaxis")), Side.of(self.member("fYaxis"))

    def _grid(self) -> Grid:
        """Returns the grid of the bins at the center of each cell of a terminal drawing."""
        x, y = self._sides()
        across, up = (np.linspace(side.low, side.high, 2 * n + 1)[1::2] for side, n in ((x, _COLUMNS), (y, _ROWS)))
        values, free = np.zeros((_COLUMNS, _ROWS)), np.ones((_COLUMNS, _ROWS), dtype=bool)
        for shape, value in zip(self.polygons(), self.values().tolist(), strict=True):
            inside = np.zeros(values.shape, dtype=bool)
            for xs, ys in shape:
                inside ^= _inside(np.asarray(xs, dtype=np.float64), np.asarray(ys, dtype=np.float64), across, up)
            values[inside & free] = value
            free &= ~inside
        right = Side(np.linspace(x.low, x.high, _COLUMNS + 1), x.title)
        return Grid(values, right, Side(np.linspace(y.low, y.high, _ROWS + 1), y.title), has_means=True)

    def _picture(self) -> str:
        words = [f"{len(self)} bins", f"entries {float(self.member('fEntries', 0)):g}"]
        return svg.areas(self.polygons(), self.values(), self._sides(), self.title or self.name, words)

    def __len__(self) -> int:
        return len(self._bins)

    def __repr__(self) -> str:
        return f"<{self.classname} {self.name!r} of {len(self)} bins>"


def _inside(xs: Numbers, ys: Numbers, across: Numbers, up: Numbers) -> Numbers:
    """Returns which points of a grid are inside an outline, by the even-odd rule."""
    inside = np.zeros((len(across), len(up)), dtype=bool)
    count = min(len(xs), len(ys))
    for a in range(count):
        b = (a + 1) % count
        between = (ys[a] > up) != (ys[b] > up)
        if between.any():
            with np.errstate(all="ignore"):
                crossing = xs[a] + (up - ys[a]) / (ys[b] - ys[a]) * (xs[b] - xs[a])
            inside ^= between[None, :] & (across[:, None] > crossing[None, :])
    return inside
