"""Text output for users: lists of branches, explanations, and notebook tables."""

from __future__ import annotations

from forthwith._forthwith import safe_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TextIO

    from forthwith._tree.branch import Branch


class Text(str):
    """Text of several lines that consoles and notebooks display as is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(self)}</pre>"


def _cut(text: str, width: int) -> str:
    """Shortens text in the middle, since names and types often have a common prefix or suffix."""
    if len(text) <= width:
        return text
    kept = max(0, width - 1)
    return text[: kept // 2] + "…"[:width] + text[len(text) - (kept - kept // 2) :]


def widths(
    name_width: int | None = None, typename_width: int | None = None, interpretation_width: int | None = None
) -> tuple[int | None, ...]:
    """Returns the column widths of `show`; those not given depend on the content."""
    return name_width, typename_width, interpretation_width


# Minimum width to which a column is shrunk.
_NARROWEST = 16
# Maximum line width in files and notebooks: some types have thousands of characters.
_LONGEST = 240
_GAP = 3


def show(rows: Iterable[tuple[str, Branch]], widths: tuple[int | None, ...], stream: TextIO | None) -> None:
    """Prints a line per branch: its name, its C++ type, and the type it is read as.

    Columns are as wide as their content. If a line is too narrow, the last column is shortened first, the
    names last.
    """
    import sys

    out = sys.stdout if stream is None else stream
    cells = [("name", "typename", "interpretation")]
    cells += [(name, branch.typename, repr(branch.interpretation)) for name, branch in rows]
    cells = [(safe_text(first), safe_text(second), safe_text(third)) for first, second, third in cells]
    sizes = [
        max(map(len, column)) if size is None else size
        for column, size in zip(zip(*cells, strict=True), widths, strict=True)
    ]
    excess = sum(sizes) + _GAP * (len(sizes) - 1) - _line_width(out)
    for at in reversed(range(len(sizes))):
        if excess > 0 and widths[at] is None:
            less = max(0, min(excess, sizes[at] - _NARROWEST))
            sizes[at] -= less
            excess -= less
    lines = [" | ".join(_cut(cell, size).ljust(size) for cell, size in zip(row, sizes, strict=True)) for row in cells]
    lines.insert(1, "-+-".join("-" * size for size in sizes))
    out.write("".join(line.rstrip() + "\n" for line in lines))


def _line_width(out: TextIO) -> int:
    """Returns the width of a line in characters."""
    try:
        is_terminal = out.isatty()
    except (AttributeError, ValueError):
        is_terminal = False
    if not is_terminal:
        return _LONGEST
    import shutil

    return shutil.get_terminal_size().columns


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], stream: TextIO | None) -> None:
    """Prints a table with columns as wide as their widest cells; the last column is not padded."""
    rows = [[safe_text(cell) for cell in row] for row in rows]
    sizes = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        return " | ".join(cell.ljust(size) for cell, size in zip(cells, sizes, strict=True)).rstrip() + "\n"

    write(line(heads) + "-+-".join("-" * size for size in sizes) + "\n" + "".join(map(line, rows)), stream)


def write(text: str, stream: TextIO | None) -> None:
    """Writes text to a stream, by default standard output."""
    import sys

    (sys.stdout if stream is None else stream).write(text)


def explain(branch: Branch) -> str:
    """Describes how a branch is read, or why it cannot be read."""
    description = branch._description
    lines = [safe_text(branch.path)]

    def say(word: str, text: str) -> None:
        lines.append(f"  {word:<11}{safe_text(text)}")

    if description.type_string is None:
        say("type", description.typename)
        if branch.has_data:
            say("unreadable", description.problem or "")
        else:
            say("group", f"of {len(branch)} branches, without data of its own")
        return "\n".join(lines) + "\n"
    say("type", f"{description.typename}, read as {description.type_string}")
    say("decoder", f"{description.decoder}: {description.layout or 'pages, by loops for each of their encodings'}")
    say("reason", description.reason or "")
    sizes = f"{_size(description.stored_bytes)} stored, {_size(description.payload_bytes)} decompressed"
    *_, blocks = branch._tree._core.words
    say("data", f"{description.entries} entries in {description.blocks} {blocks}, {sizes}")
    if description.forth is not None:
        say("program", "AwkwardForth")
        lines += ["    " + safe_text(text) if text else "" for text in description.forth.rstrip().splitlines()]
    return "\n".join(lines) + "\n"


def _size(count: int) -> str:
    size = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} B" if unit == "B" else f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"


def html_table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]], *, nested: bool = False) -> str:
    """Returns a collapsible HTML table for notebooks, of about 100 kB at most: further rows are only counted.

    If nested, the first cell is a path, and the rows below another path, which follow it, are collapsed into
    it.
    """
    body: list[str] = []
    size, left = 0, 0
    paths = [row[0].partition(";")[0] + "/" for row in rows] if nested else []
    open_paths: list[str] = []
    for at, row in enumerate(rows):
        while open_paths and not paths[at].startswith(open_paths[-1]):
            open_paths.pop()
            body.append(_FOLD_END)
        if size > _HTML_BYTES:
            left = len(rows) - at
            break
        folds = nested and at + 1 < len(rows) and paths[at + 1].startswith(paths[at])
        if folds:
            open_paths.append(paths[at])
            name, *words = [_html_cell(cell) for cell in row]
            summary = f"<summary>{name} <i>{' '.join(words)}</i></summary>"
            body.append(f"<tr><td colspan='{len(heads)}' {_LEFT}><details>{summary}<table><tbody>")
        else:
            body.append(_html_row("td", row))
        size += len(body[-1].encode("utf-8", "replace"))
    body += [_FOLD_END] * len(open_paths)
    more = f"<p>… and {left} more</p>" if left else ""
    table = f"<table><thead>{_html_row('th', heads)}</thead><tbody>{''.join(body)}</tbody></table>{more}"
    state = " open" if len(rows) <= _OPEN_ROWS else ""
    return f"<details{state}><summary>{_html_cell(caption)}</summary>{table}</details>"


def _html_cell(text: str) -> str:
    from html import escape

    return escape(_cut(safe_text(text), _LONGEST))


def _html_row(tag: str, row: Sequence[str]) -> str:
    inner = "".join(f"<{tag} {_LEFT}>{_html_cell(cell)}</{tag}>" for cell in row)
    return f"<tr>{inner}</tr>"


# Override the right alignment of cells in notebooks.
_LEFT = "style='text-align: left'"
_FOLD_END = "</tbody></table></details></td></tr>"
# Maximum size in bytes of a table's rows; further rows are omitted.
_HTML_BYTES = 100_000
# Maximum number of rows of a table that is shown expanded.
_OPEN_ROWS = 100
