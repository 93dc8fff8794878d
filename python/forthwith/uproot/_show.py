"""Listings of branches, in uproot's three columns."""

from __future__ import annotations

import sys
from typing import Any


def show(pairs: list[tuple[str, Any]], widths: tuple[int, int, int], stream: Any) -> None:
    """Prints names, type names and interpretations."""
    stream = sys.stdout if stream is None else stream
    lines = [heading(("name", "typename", "interpretation"), widths), "-+-".join("-" * width for width in widths)]
    for name, branch in pairs:
        lines.append(row((name or branch.name, branch.typename, repr(branch.interpretation)), widths))
    text = "\n".join(lines) + "\n"
    stream.write(text if not _is_binary(stream) else text.encode())


def _is_binary(stream: Any) -> bool:
    return "b" in getattr(stream, "mode", "")


def heading(cells: tuple[str, ...], widths: tuple[int, int, int]) -> str:
    """A line filled up with blanks, as the heading is."""
    fitted = [
        cell if len(cell) <= width else cell[: width - 3] + "..." for cell, width in zip(cells, widths, strict=True)
    ]
    return " | ".join(f"{cell:{width}}" for cell, width in zip(fitted, widths, strict=True))


def row(cells: tuple[str, ...], widths: tuple[int, int, int]) -> str:
    """A line below the heading, which is not filled up with blanks, as in uproot."""
    return heading(cells, widths).rstrip(" ")
