"""Pictures that pages show: how fast forthwith is, how lists are kept, and which baskets a cut reads."""

from __future__ import annotations

import pathlib
import re
from typing import Any

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
from matplotlib.patches import Rectangle

README = pathlib.Path(__file__).parents[2] / "README.md"
OURS, THEIRS, PALE, INK = "#2962ff", "#b0b7c3", "#e8ebf0", "#333333"


def table(first: str) -> tuple[list[str], list[tuple[str, list[float]]]]:
    """The columns of a table of figures in the README, and its rows, in which ``nan`` is no figure."""
    lines = README.read_text(encoding="utf-8").splitlines()
    begin = next(number for number, line in enumerate(lines) if line.startswith(f"| {first}"))

    def cells(line: str) -> list[str]:
        return [re.sub(r"[`*]", "", cell).strip() for cell in line.strip("|").split("|")]

    rows = []
    for line in lines[begin + 2 :]:
        if not line.startswith("|"):
            break
        name, *figures = cells(line)
        rows.append((name, [float(figure) if figure[0].isdigit() else float("nan") for figure in figures]))
    return cells(lines[begin])[1:], rows


def speed() -> Any:
    """The README's figures of reading trees and of writing them, as bars."""
    figure, both = plt.subplots(1, 2, figsize=(9, 3.2))
    for axes, (title, first, left_out) in zip(
        both,
        [
            ("Reading trees", "`TTree`, uncompressed", ("pooled", "by hand")),
            ("Writing trees", "Writing trees", ("the bytes",)),
        ],
        strict=True,
    ):
        columns, rows = table(first)
        rows = [row for row in rows if not any(word in row[0] for word in left_out)]
        shades = [*["#7d8797", THEIRS, "#d3d8e0"][: len(rows) - 1], OURS]
        width = 0.8 / len(rows)
        for number, ((name, figures), shade) in enumerate(zip(rows, shades, strict=True)):
            places = [at + (number - (len(rows) - 1) / 2) * width for at in range(len(columns))]
            axes.bar(places, figures, width * 0.92, color=shade, label=name.replace("TBranch::", ""))
        axes.set_xticks(range(len(columns)), columns, fontsize=8)
        axes.set_ylabel("MB/s of numbers", fontsize=8)
        axes.tick_params(axis="y", labelsize=8)
        axes.set_title(title, fontsize=10, loc="left")
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(fontsize=7, frameon=False, loc="upper right")
        axes.set_ylim(0, axes.get_ylim()[1] * 1.2)
    figure.tight_layout()
    return figure


def boxes(axes: Any, left: float, bottom: float, texts: list[str], colour: list[str]) -> None:
    """A row of boxes of one unit with a text in each."""
    for at, (text, shade) in enumerate(zip(texts, colour, strict=True)):
        axes.add_patch(Rectangle((left + at, bottom), 1, 0.8, facecolor=shade, edgecolor="white", linewidth=2))
        axes.text(left + at + 0.5, bottom + 0.4, text, ha="center", va="center", fontsize=9, color=INK)


def bare(width: float, height: float, wide: float, high: float) -> tuple[Any, Any]:
    """A figure without axes."""
    figure, axes = plt.subplots(figsize=(width, height))
    axes.set_xlim(0, wide)
    axes.set_ylim(0, high)
    axes.axis("off")
    return figure, axes


def lists() -> Any:
    """Three lists of different lengths, and the two columns that hold them."""
    events = [["53.3", "42.9"], [], ["36.1", "21.0", "7.4"]]
    shades = ["#c5d4ff", PALE, "#ffe0b2"]
    figure, axes = bare(7.4, 2.2, 14.6, 4.3)
    axes.text(0, 3.85, "an array of three lists", fontsize=9, color=INK)
    for at, (event, shade) in enumerate(zip(events, shades, strict=True)):
        axes.text(0.1, 2.9 - at, f"array[{at}]", fontsize=9, va="center", family="monospace", color=INK)
        boxes(axes, 2.0, 2.5 - at, event, [shade] * len(event))
        if not event:
            axes.text(2.1, 2.9 - at, "no items", fontsize=9, va="center", style="italic", color=INK)
    axes.text(7.6, 3.85, "is kept as two columns", fontsize=9, color=INK)
    axes.text(7.6, 2.9, "offsets", fontsize=9, va="center", family="monospace", color=INK)
    boxes(axes, 9.3, 2.5, ["0", "2", "2", "5"], [PALE] * 4)
    axes.text(7.6, 0.9, "content", fontsize=9, va="center", family="monospace", color=INK)
    flat = [(text, shade) for event, shade in zip(events, shades, strict=True) for text in event]
    boxes(axes, 9.3, 0.5, [text for text, _ in flat], [shade for _, shade in flat])
    for at, offset in enumerate([0, 2, 2, 5]):
        axes.annotate(
            "",
            (9.3 + min(offset, 4.6), 1.35),
            (9.8 + at, 2.45),
            arrowprops={"arrowstyle": "->", "color": "#8a93a3", "linewidth": 0.9},
        )
    return figure


def baskets() -> Any:
    """The baskets of three branches, of which a cut reads some."""
    figure, axes = bare(7.2, 1.9, 14, 3.7)
    passing = {2, 5}
    rows = [
        ("nMuon", "of the cut: all are read", None),
        ("Muon_pt", "asked for: two are read", passing),
        ("Jet_pt", "", set()),
    ]
    for row, (name, why, chosen) in enumerate(rows):
        bottom = 2.6 - row
        axes.text(0.1, bottom + 0.35, name, fontsize=9, va="center", family="monospace", color=INK)
        for at in range(7):
            is_read = chosen is None or at in chosen
            axes.add_patch(
                Rectangle(
                    (2.2 + at, bottom), 0.92, 0.7, facecolor=OURS if is_read else PALE, edgecolor="none", alpha=0.85
                )
            )
        axes.text(9.5, bottom + 0.35, why or "not asked for: none is read", fontsize=9, va="center", color=INK)
    axes.text(2.2, 0.1, "entries  →", fontsize=9, color=INK)
    axes.text(0.1, 3.45, "baskets", fontsize=9, color=INK)
    return figure
