"""SVG pictures of histograms for notebooks."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from forthwith._forthwith import safe_text
from forthwith.hist.grid import Grid, Side, round_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from forthwith.hist.axis import Numbers

# Position of the frame in the picture.
_LEFT, _TOP, _WIDE, _HIGH = 70, 30, 430, 230
_SCALE = _LEFT + _WIDE + 15
_MOST_BARS, _MOST_CELLS = 2000, 70
# Dark to light, in perceptually equal steps.
_COLOURS = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))


def bars(
    values: Numbers, errors: Numbers | None, side: Side, title: str, value_title: str, words: Sequence[str]
) -> str:
    """Draws a bar for each bin of one axis, with optional errors, and text beside it."""
    values, edges = values[:_MOST_BARS], side.edges[: _MOST_BARS + 1]
    side = Side(edges, side.title, side.labels)
    values = np.where(np.isfinite(values), values, 0.0)
    reach = np.zeros(len(values)) if errors is None else errors[:_MOST_BARS]
    reach = np.where(np.isfinite(reach), reach, 0.0)
    low = min(0.0, float((values - reach).min(initial=0)))
    high = max(0.0, float((values + reach).max(initial=0)))
    span = high - low if 0 < high - low < math.inf else 1.0
    high = low + 1.05 * span
    across = _LEFT + _WIDE * (edges - side.low) / (side.high - side.low)
    down = _TOP + _HIGH * (high - values) / (high - low)
    zero = _TOP + _HIGH * high / (high - low)
    parts = ['<g fill="#3572a5">']
    for left, right, top in zip(across[:-1].tolist(), across[1:].tolist(), down.tolist(), strict=True):
        parts.append(
            f'<rect x="{left:.2f}" y="{min(top, zero):.2f}" width="{right - left:.2f}" height="{abs(zero - top):.2f}"/>'
        )
    parts.append("</g>")
    if errors is not None:
        middles, length = (across[1:] + across[:-1]) / 2, _HIGH * reach / (high - low)
        strokes = "".join(
            f"M{middle:.2f} {at - half:.2f}V{at + half:.2f}"
            for middle, at, half in zip(middles.tolist(), down.tolist(), length.tolist(), strict=True)
            if half > 0
        )
        parts.append(f'<path d="{strokes}" stroke="#1b1b1b"/>')
    parts += _frame(side, Side(np.array([low, high]), value_title), title)
    parts += [_text(_SCALE, _TOP + 12 + 16 * at, word) for at, word in enumerate(words)]
    return _picture(parts)


def heat(grid: Grid, title: str, words: Sequence[str]) -> str:
    """Draws a colour for each non-zero cell of two axes, with a scale, and text below it."""
    grid = grid.coarse(_MOST_CELLS, _MOST_CELLS)
    low, high = grid.range
    across = _LEFT + _WIDE * (grid.x.edges - grid.x.low) / (grid.x.high - grid.x.low)
    down = _TOP + _HIGH * (grid.y.high - grid.y.edges) / (grid.y.high - grid.y.low)
    cells: dict[str, list[str]] = {}
    for column, row in np.argwhere(np.isfinite(grid.values) & (grid.values != 0)).tolist():
        colour = _colour(float(grid.values[column, row]), low, high)
        left, top = across[column], down[row + 1]
        cell = f"M{left:.1f} {top:.1f}H{across[column + 1]:.1f}V{down[row]:.1f}H{left:.1f}Z"
        cells.setdefault(colour, []).append(cell)
    paths = (f'<path d="{"".join(found)}" fill="{colour}"/>' for colour, found in cells.items())
    parts = ['<g shape-rendering="crispEdges">', *paths, "</g>"]
    return _picture([*parts, *_frame(grid.x, grid.y, title), *_scale(low, high), *_words(words, grid.note)])


def areas(
    shapes: Sequence[Sequence[tuple[Numbers, Numbers]]],
    values: Numbers,
    sides: tuple[Side, Side],
    title: str,
    words: Sequence[str],
) -> str:
    """Draws bins of any shape: their outlines, and a colour for non-zero values."""
    x, y = sides
    finite = values[np.isfinite(values)]
    low, high = min(0.0, float(finite.min(initial=0))), max(0.0, float(finite.max(initial=0)))
    parts = ['<g fill-rule="evenodd" stroke="#999" stroke-width="0.5">']
    for shape, value in zip(shapes, values.tolist(), strict=True):
        path = ""
        for xs, ys in shape:
            across = _LEFT + _WIDE * (np.asarray(xs, dtype=np.float64) - x.low) / (x.high - x.low)
            down = _TOP + _HIGH * (y.high - np.asarray(ys, dtype=np.float64)) / (y.high - y.low)
            points = np.stack([across, down], axis=1)
            if len(points) and np.isfinite(points).all():
                path += "M" + "L".join(f"{a:.2f} {b:.2f}" for a, b in points.tolist()) + "Z"
        colour = _colour(value, low, high) if value and math.isfinite(value) else "none"
        parts.append(f'<path d="{path}" fill="{colour}"/>')
    parts.append("</g>")
    return _picture([*parts, *_frame(x, y, title), *_scale(low, high), *_words(words, "")])


def _picture(parts: list[str]) -> str:
    inner = "".join(parts)
    style = 'font-family="sans-serif" font-size="11" fill="#1b1b1b"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 310" width="640" height="310" {style}>{inner}</svg>'
    )


def _frame(x: Side, y: Side, title: str) -> list[str]:
    """Draws the axes with ticks and titles, and the title of the picture."""
    right, bottom = _LEFT + _WIDE, _TOP + _HIGH
    strokes = f"M{_LEFT} {_TOP}V{bottom}H{right}"
    parts = [_text(_LEFT + _WIDE / 2, _TOP - 12, title, "middle", bold=True)]
    for share, text in x.ticks(6):
        at = _LEFT + share * _WIDE
        strokes += f"M{at:.2f} {bottom}v5"
        parts.append(_text(at, bottom + 17, text, "middle"))
    for share, text in y.ticks(5):
        at = bottom - share * _HIGH
        strokes += f"M{_LEFT} {at:.2f}h-5"
        parts.append(_text(_LEFT - 8, at + 4, text, "end"))
    parts.append(_text(right, bottom + 36, x.title, "end"))
    parts.append(_text(-_TOP, 14, y.title, "end", 'transform="rotate(-90)" '))
    return [f'<path d="{strokes}" fill="none" stroke="#1b1b1b"/>', *parts]


def _scale(low: float, high: float) -> list[str]:
    """Draws the legend of the colours."""
    if not high > low:
        return []
    steps = 32
    height = 0.7 * _HIGH
    parts = ['<g shape-rendering="crispEdges">']
    for at in range(steps):
        top = _TOP + height * (steps - 1 - at) / steps
        colour = _colour(low + (high - low) * (at + 0.5) / steps, low, high)
        parts.append(f'<path d="M{_SCALE} {top:.2f}h14v{height / steps:.2f}h-14z" fill="{colour}"/>')
    parts.append("</g>")
    for value, text in round_numbers(low, high, 4):
        place = _TOP + height * (high - value) / (high - low)
        parts.append(_text(_SCALE + 19, place + 4, text))
    return parts


def _words(words: Sequence[str], note: str) -> list[str]:
    parts = [_text(_SCALE, _TOP + 0.7 * _HIGH + 22 + 15 * at, word) for at, word in enumerate(words)]
    return [*parts, _text(_LEFT, _TOP + _HIGH + 36, note)] if note else parts


def _colour(value: float, low: float, high: float) -> str:
    share = (value - low) / (high - low) * (len(_COLOURS) - 1) if high > low else 0.0
    first = min(max(int(share), 0), len(_COLOURS) - 2)
    part = share - first
    mixed = (round(a + (b - a) * part) for a, b in zip(_COLOURS[first], _COLOURS[first + 1], strict=True))
    return "#" + "".join(f"{min(max(level, 0), 255):02x}" for level in mixed)


def _text(x: float, y: float, text: str, anchor: str = "start", more: str = "", bold: bool = False) -> str:
    if not text:
        return ""
    weight = 'font-weight="bold" ' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" {more}{weight}text-anchor="{anchor}">{escape(safe_text(text))}</text>'
