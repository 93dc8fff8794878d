"""Histograms whose bins are polygons."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from forthwith._errors import RequestError
from forthwith._guard import guarded
from forthwith._objects import Object
from forthwith.hist.drawing import Drawn

if TYPE_CHECKING:
    from forthwith.hist.axis import Axis, Numbers


# The errors of a TProfile2Poly that are not divided by the number of entries.
_SPREAD = 1


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
        """None: the bins are `polygons`."""
        return ()

    @property
    def _bins(self) -> list[Object]:
        # There is no list of them before the first.
        return list(self.member("fBins") or ())

    def values(self, flow: bool = False) -> Numbers:
        """The contents of the bins, in the order of their numbers. What is outside of them is in `overflow`."""
        if flow:
            raise RequestError(f"{self!r} has regions outside of its bins, not bins below and above: see overflow()")
        return np.array([bin.member("fContent") for bin in self._bins], dtype=np.float64)

    def variances(self) -> Numbers:
        """The squares of the bin errors."""
        if self.has_member("fErrorMode"):
            return self._profiled()
        stored = self.member("fSumw2", ())
        values = self.values()
        # Nine regions outside come first, or, in old files, none.
        for skip in (9, 1, 0):
            if len(stored) == len(values) + skip:
                return np.asarray(stored, dtype=np.float64)[skip:]
        return np.abs(values)

    def errors(self) -> Numbers:
        """The bin errors, as ``GetBinError`` has them."""
        found: Numbers = np.sqrt(self.variances())
        return found

    def _bin_names(self, together: int) -> list[str]:
        return [str(number) for number in self.numbers()[::together]]

    def _profiled(self) -> Numbers:
        """The squares of the errors of a ``TProfile2Poly``: those of means, or how far the values spread."""
        names = ("fError", "fSumw", "fSumw2")
        spread, sums, squares = (np.array([bin.member(name) for bin in self._bins], dtype=np.float64) for name in names)
        if self.member("fErrorMode") == _SPREAD:
            return spread**2
        with np.errstate(invalid="ignore", divide="ignore"):
            return (spread / np.sqrt(np.where(squares != 0, sums**2 / squares, 0))) ** 2

    def overflow(self) -> Numbers:
        """The contents of the nine regions outside, row by row, the middle being what no bin covers."""
        regions = self.member("fOverflowBins", None)
        if regions is not None:
            # Of a profile these have the means.
            return np.array([region.member("fContent") for region in regions], dtype=np.float64)
        return np.asarray(self.member("fOverflow"), dtype=np.float64)

    def numbers(self) -> Numbers:
        """The numbers of the bins, from 1."""
        return np.array([bin.member("fNumber") for bin in self._bins], dtype=np.int64)

    def areas(self) -> Numbers:
        """The areas of the bins, where they were asked for before the file was written."""
        return np.array([bin.member("fArea") for bin in self._bins], dtype=np.float64)

    def polygons(self) -> list[list[tuple[Numbers, Numbers]]]:
        """The outlines of the bins: each has one or more, as coordinates in x and in y."""
        out = []
        for bin in self._bins:
            shape = bin.member("fPoly")
            parts = list(shape.member("fGraphs")) if shape.has_member("fGraphs") else [shape]
            out.append([(part.member("fX"), part.member("fY")) for part in parts])
        return out

    def __len__(self) -> int:
        return len(self._bins)

    def __repr__(self) -> str:
        return f"<{self.classname} {self.name!r} of {len(self)} bins>"
