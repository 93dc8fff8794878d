"""Listings of branches, in uproot's three columns."""

from __future__ import annotations

import sys
from typing import Any


def show(pairs: list[tuple[str, Any]], widths: tuple[int, int, int], stream: Any) -> None:
    """Prints names, type names and interpretations."""
    stream = sys.stdout if stream is None else stream
    lines = [_line(("name", "typename", "interpretation"), widths), "-+-".join("-" * width for width in widths)]
    for name, branch in pairs:
        lines.append(_line((name or branch.name, branch.typename, repr(branch.interpretation)), widths))
    text = "\n".join(lines) + "\n"
    stream.write(text if not _is_binary(stream) else text.encode())


def _is_binary(stream: Any) -> bool:
    return "b" in getattr(stream, "mode", "")


def _line(cells: tuple[str, ...], widths: tuple[int, int, int]) -> str:
    fitted = [
        cell if len(cell) <= width else cell[: width - 3] + "..." for cell, width in zip(cells, widths, strict=True)
    ]
    return " | ".join(f"{cell:{width}}" for cell, width in zip(fitted, widths, strict=True))
