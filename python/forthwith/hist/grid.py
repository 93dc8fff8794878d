"""Two-dimensional values for drawing, and their drawing on terminals."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from forthwith.hist.axis import Axis, Numbers

# The command line has the same drawing (crates/cli/src/object/heat.rs).
_SHADES = " ░▒▓█"
_LINES = 24
_MOST_TICKS = 16


@dataclass(frozen=True)
class Side:
    """An axis of a drawing: the edges of (merged) bins, title and labels."""

    edges: Numbers
    title: str
    labels: tuple[str, ...] | None = None

    @classmethod
    def of(cls, axis: Axis) -> Side:
        """Returns the side of an axis. Without a valid range, edges are numbers of bins."""
        edges, labels = axis.edges(), axis.labels()
        with np.errstate(all="ignore"):
            range_is_one = len(edges) > 1 and np.isfinite(edges[-1] - edges[0]) and (np.diff(edges) > 0).all()
        if not range_is_one:
            edges = np.arange(len(edges), dtype=np.float64)
        return cls(edges, axis.title, None if labels is None else tuple(labels))

    @property
    def low(self) -> float:
        """Lower end."""
        return float(self.edges[0])

    @property
    def high(self) -> float:
        """Upper end."""
        return float(self.edges[-1])

    @property
    def is_even(self) -> bool:
        """Whether all bins have the same width."""
        return bool(np.allclose(np.diff(self.edges), (self.high - self.low) / max(1, len(self.edges) - 1), rtol=1e-6))

    def ticks(self, most: int) -> list[tuple[float, str]]:
        """Returns positions from 0 to 1 and texts of ticks: labels if they fit, otherwise round numbers."""
        span = self.high - self.low
        if self.labels is not None and 0 < len(self.labels) <= 2 * most:
            middles = (self.edges[1:] + self.edges[:-1]) / 2
            return [((float(at) - self.low) / span, name) for at, name in zip(middles, self.labels, strict=False)]
        return [((value - self.low) / span, text) for value, text in round_numbers(self.low, self.high, most)]


@dataclass(frozen=True)
class Grid:
    """Values in two dimensions, x first. ``note`` describes a projection."""

    values: Numbers
    x: Side
    y: Side
    has_means: bool
    note: str = ""

    def coarse(self, columns: int, rows: int) -> Grid:
        """Returns the grid with merged cells, by sum or mean, if it has too many."""
        values, x = _together(self.values, self.x, columns, 0, self.has_means)
        values, y = _together(values, self.y, rows, 1, self.has_means)
        return replace(self, values=values, x=x, y=y)

    @property
    def range(self) -> tuple[float, float]:
        """The smallest and largest finite value, including zero."""
        finite = self.values[np.isfinite(self.values)]
        return min(0.0, float(finite.min(initial=0))), max(0.0, float(finite.max(initial=0)))


def round_numbers(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """Returns round numbers within a range at equal distances, and their text."""
    span = high - low
    if not (span > 0 and math.isfinite(span)):
        return []
    rough = span / max(1, most)
    power = 10.0 ** math.floor(math.log10(rough))
    step = power * next((factor for factor in (1, 2, 5) if factor * power >= rough * 0.999), 10)
    first = math.ceil(low / step - 1e-9)
    numbers = [(first + at) * step for at in range(_MOST_TICKS + most) if (first + at) * step <= high + step * 1e-9]
    # Values that are tiny compared to the step are rounding errors of zero.
    return [(number, f"{0.0 if abs(number) < step * 1e-6 else number:.6g}") for number in numbers]


def _together(values: Numbers, side: Side, most: int, axis: int, has_means: bool) -> tuple[Numbers, Side]:
    bins = values.shape[axis]
    count = -(-bins // max(1, most))
    if count <= 1:
        return values, side
    starts = np.arange(0, bins, count)
    with np.errstate(all="ignore"):
        sums = np.add.reduceat(values, starts, axis=axis)
        if has_means:
            sizes = np.diff(np.append(starts, bins))
            sums = sums / (sizes[:, None] if axis == 0 else sizes)
    return sums, replace(side, edges=np.append(side.edges[starts], side.edges[-1]), labels=None)


def lines(grid: Grid, width: int) -> list[str]:
    """Returns the drawing for a terminal: x to the right, y upwards, darker for larger values."""
    grid = grid.coarse(max(20, width - 14), _LINES)
    columns, rows = _places(grid.x, max(20, width - 14), 8), _places(grid.y, _LINES, 1)
    low, high = grid.range
    marks = [""] * (len(rows) + 1)
    for share, text in grid.y.ticks(4):
        # A label is beside its bin, and a number at the lower edge of its bin.
        line = math.floor(share * len(rows)) + 1 if grid.y.labels else round(share * len(rows))
        marks[min(line, len(rows))] = text
    margin = max(map(len, marks))
    out = [grid.y.title] if grid.y.title else []
    for line in range(len(rows), 0, -1):
        shades = "".join(_shade(float(grid.values[column, rows[line - 1]]), low, high) for column in columns)
        out.append(f"{marks[line]:>{margin}} {'┤' if marks[line] else '│'}{shades}".rstrip())
    ruler, numbers = ["─"] * len(columns), [" "] * (len(columns) + 12)
    free = 0
    for share, text in grid.x.ticks(max(2, len(columns) // 12)):
        at = min(int(share * len(columns)), len(columns) - 1)
        ruler[at] = "┬"
        begin = max(0, at - len(text) // 2)
        if begin >= free and begin + len(text) <= len(numbers):
            numbers[begin : begin + len(text)] = text
            free = begin + len(text) + 1
    out += [f"{marks[0]:>{margin}} └{''.join(ruler)}", f"{'':{margin}}  {''.join(numbers)}".rstrip()]
    if grid.x.title:
        out.append(f"{'':{margin}}  {grid.x.title:^{len(columns)}}".rstrip())
    step = (high - low) / (len(_SHADES) - 1)
    out += ["", "  ".join(f"{shade} from {low + step * at:.4g}" for at, shade in enumerate(_SHADES[1:]))]
    return out + ([grid.note] if grid.note else [])


def _places(side: Side, most: int, widest: int) -> list[int]:
    """Returns the bin of each column or line of a drawing."""
    bins = len(side.edges) - 1
    if bins < 1:
        return []
    if side.is_even:
        return [bin for bin in range(bins) for _ in range(max(1, min(widest, most // bins)))]
    middles = side.low + (side.high - side.low) * (np.arange(min(most, 60)) + 0.5) / min(most, 60)
    found: list[int] = (np.searchsorted(side.edges, middles, side="right") - 1).clip(0, bins - 1).tolist()
    return found


def _shade(value: float, low: float, high: float) -> str:
    """Returns the shade of a value; only zero and non-finite values are blank."""
    if value == 0 or not math.isfinite(value) or not high > low:
        return _SHADES[0]
    part = math.ceil((value - low) / (high - low) * (len(_SHADES) - 1))
    return _SHADES[min(max(part, 1), len(_SHADES) - 1)]
