"""Graphs: points with optional errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from forthwith._errors import RequestError
from forthwith._guard import damaged, guarded
from forthwith._objects import Object

if TYPE_CHECKING:
    from typing import TextIO

    from forthwith.hist.histograms import Histogram

    Numbers = np.ndarray[Any, Any]

# Modes of combining several errors.
_SQUARES, _SUMS = 1, 2
# Maximum number of points in a picture.
_DRAWN = 2000


@guarded
class _Points(Object):
    __slots__ = ()

    _AXES = "xy"

    def _numbers(self, name: str) -> Numbers | None:
        found = self.member(name, None)
        if found is None:
            return None
        return np.asarray(found, dtype=np.float64)

    def values(self, axis: str | int = "both") -> Any:
        """Returns the coordinates of the points, as arrays of ``float64``.

        Args:
            axis: ``"x"``, ``"y"`` (``"z"``) or the number of a coordinate, negative from the last one;
                ``"both"`` returns all of them as a tuple.
        """
        if axis in ("both", "all"):
            return tuple(self.values(one) for one in self._AXES)
        axis = self._check(axis)
        found = self._numbers(f"f{axis.upper()}")
        return np.zeros(0) if found is None else found

    def _check(self, axis: str | int) -> str:
        if isinstance(axis, int) and -len(self._AXES) <= axis < len(self._AXES):
            return self._AXES[axis]
        if axis not in tuple(self._AXES):
            raise RequestError(f"axis must be one of {', '.join(self._AXES)}, their numbers or 'both', not {axis!r}")
        return str(axis)

    def errors(self, which: str = "mean", axis: str | int = "both") -> Any:
        """Returns the errors, or ``None`` for a graph without errors.

        Args:
            which: ``"low"``, ``"high"``, ``"mean"`` of both, or their difference ``"diff"``.
            axis: As in `values`.
        """
        if axis in ("both", "all"):
            return tuple(self.errors(which, one) for one in self._AXES)
        axis = self._check(axis)
        upper = axis.upper()
        both = self._numbers(f"fE{upper}")
        if both is None:
            low, high = self._numbers(f"fE{upper}low"), self._numbers(f"fE{upper}high")
        else:
            low, high = both, both
        if low is None or high is None:
            low, high = self._several(upper)
        if low is None or high is None:
            return None
        match which:
            case "low":
                return low
            case "high":
                return high
            case "mean":
                return (low + high) / 2
            case "diff":
                return high - low
        raise RequestError(f"which must be low, high, mean or diff, not {which!r}")

    def _several(self, upper: str) -> tuple[Numbers | None, Numbers | None]:
        """Returns the errors of a ``TGraphMultiErrors``: the first ones or their sum, by its mode."""
        low, high = self._numbers(f"fEx{'L' if upper == 'X' else ''}"), self._numbers("fExH")
        if upper == "X":
            return low, high
        lists = self.member("fEyL", None), self.member("fEyH", None)
        if any(found is None or len(found) == 0 for found in lists):
            return None, None
        mode = self.member("fSumErrorsMode", 0)
        low, high = (self._sum([np.asarray(one)[: len(self)] for one in found], mode) for found in lists)
        return low, high

    @staticmethod
    def _sum(errors: list[Numbers], mode: int) -> Numbers:
        """Combines several errors of each point."""
        if mode == _SQUARES:
            total: Numbers = np.sqrt(np.sum(np.square(errors), axis=0))
        elif mode == _SUMS:
            total = np.sum(errors, axis=0)
        else:
            total = errors[0]
        return total

    @property
    def minimum(self) -> float:
        """Lower limit of the drawn values; -1111 if unset."""
        return float(self.member("fMinimum"))

    @property
    def maximum(self) -> float:
        """Upper limit of the drawn values; -1111 if unset."""
        return float(self.member("fMaximum"))

    def __len__(self) -> int:
        count = self.member("fNpoints")
        if not isinstance(count, int) or count < 0:
            raise damaged(self, f"fNpoints is {count!r}, expected a non-negative integer")
        return count

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<{self.classname} {self.name!r} of {len(self)} points>"

    def show(self, width: int = 60, rows: int = 20, file: TextIO | None = None) -> None:
        """Prints a drawing of the points."""
        import sys

        out = sys.stdout if file is None else file
        out.write(repr(self) + "\n")
        width, rows = max(1, width), max(1, rows)
        x, y = self.values("x"), self.values("y")
        good = np.isfinite(x) & np.isfinite(y)
        if not good.any():
            return
        x, y = x[good], y[good]
        low, high = y.min(), y.max()
        columns = np.round((x - x.min()) / ((x.max() - x.min()) or 1) * (width - 1)).astype(int)
        lines = np.round((high - y) / ((high - low) or 1) * (rows - 1)).astype(int)
        canvas = [[" "] * width for _ in range(rows)]
        for column, line in zip(columns.tolist(), lines.tolist(), strict=True):
            canvas[line][column] = "•"
        for number, line in enumerate(canvas):
            value = high - (high - low) * number / max(1, rows - 1)
            out.write(f"{value:>10.4g} │{''.join(line).rstrip()}\n")
        out.write(f"{'':>10} └{'─' * width}\n{'':>12}{x.min():<.4g} to {x.max():.4g}\n")

    def _repr_html_(self) -> str:
        from html import escape

        x, y = np.nan_to_num(self.values("x"))[:_DRAWN], np.nan_to_num(self.values("y"))[:_DRAWN]
        if len(x) == 0:
            return f"<p>{escape(repr(self))}</p>"
        across = 590 * (x - x.min()) / ((x.max() - x.min()) or 1) + 5
        down = 150 * (y.max() - y) / ((y.max() - y.min()) or 1) + 5
        points = "".join(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2"/>' for a, b in zip(across, down, strict=True))
        picture = f'<svg viewBox="0 0 600 160" width="600" height="160" fill="#3572a5">{points}</svg>'
        return f"<p>{escape(repr(self))}</p>{picture}"


@guarded
class Graph(_Points):
    """A ``TGraph``, with or without errors."""

    __slots__ = ()

    @property
    def histogram(self) -> Histogram | None:
        """The histogram of the frame of the graph, or ``None`` if it was not drawn."""
        found: Histogram | None = self.member("fHistogram")
        return found

    def to_numpy(self) -> tuple[Numbers, Numbers]:
        """Returns the coordinates as a tuple of arrays."""
        return self.values("x"), self.values("y")


@guarded
class Graph2D(_Points):
    """A ``TGraph2D``: points in three dimensions."""

    __slots__ = ()

    _AXES = "xyz"

    def to_numpy(self) -> tuple[Numbers, Numbers, Numbers]:
        """Returns the coordinates as a tuple of arrays."""
        return self.values("x"), self.values("y"), self.values("z")


@guarded
class MultiGraph(Object):
    """A ``TMultiGraph``: several graphs."""

    __slots__ = ()

    @property
    def graphs(self) -> list[Graph]:
        """The graphs."""
        return list(self.member("fGraphs") or ())

    def __len__(self) -> int:
        return len(self.graphs)

    def __iter__(self) -> Any:
        return iter(self.graphs)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<{self.classname} {self.name!r} of {len(self)} graphs>"
