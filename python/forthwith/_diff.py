"""Comparison of files and tables by their contents."""

from __future__ import annotations

from contextlib import ExitStack

from forthwith import _forthwith
from forthwith._errors import RequestError
from forthwith._file import Directory, File
from forthwith._filters import predicate
from forthwith._open import open as open_file
from forthwith._tree.tree import Tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from typing import Any

    from forthwith._filters import Filter, Predicate


def diff(
    left: str | os.PathLike[str] | File | Tree,
    right: str | os.PathLike[str] | File | Tree,
    *,
    rtol: float = 0.0,
    atol: float = 0.0,
    bitwise: bool = False,
    nan_equal: bool = True,
    same_content: bool = False,
    on: str | Sequence[str] = (),
    filter_name: Filter = None,
    common: bool = False,
    brief: bool = False,
    most: int = 3,
    threads: int | None = None,
) -> dict[str, Any]:
    """Compares two files or tables of any format: columns, types and values.

    Entries are read in steps, with bounded memory. Damage of a table is part of the result, and the rest is
    compared. ``forthwith diff`` is the corresponding command.

    Args:
        left: A path, followed by a colon and a table if the file has several, or an open file or table.
        right: The other side. Two files with several tables are compared with all their tables and objects.
        rtol: Tolerance of floating-point numbers relative to the right one.
        atol: Absolute tolerance of floating-point numbers, which is added to the relative one.
        bitwise: Whether numbers of one type are compared by their bits, which distinguishes 0.0 and -0.0.
        nan_equal: Whether NaN equals NaN.
        same_content: Whether values of different types are compared, for tables of different formats: numbers
            by value, jagged and fixed-size lists, text and categories.
        on: Columns or expressions by whose values entries are matched, instead of by number.
        filter_name: The columns to compare, as in ``Tree.arrays``.
        common: Whether columns, tables and objects on only one side are ignored.
        brief: Whether to stop at the first difference.
        most: Maximum number of differences that are described for each column.
        threads: Number of threads.

    Returns:
        ``same`` is true without differences, and ``complete`` if everything could be compared. For tables,
        ``entries``, ``compared``, ``only``, ``unmatched``, ``columns``, ``not_compared`` and ``damage`` have
        the results, as pairs of left and right; each item of ``columns`` has its ``path``, ``types``, the
        number of ``differing`` entries, the ``largest`` difference of numbers, and the ``first`` differences.
        For files, ``tables`` has these by path, and ``objects`` those of other objects. ``stopped`` is true
        if ``brief`` ended the comparison early.

    Raises:
        MissingFileError: A file does not exist.
        RequestError: No column passes ``filter_name``; values cannot be keys (also a ``ValueError``).

    >>> import forthwith
    >>> found = forthwith.diff("events.root:Events", "events.parquet", same_content=True)  # doctest: +SKIP
    >>> found["same"]  # doctest: +SKIP
    True
    """
    import json

    found: dict[str, Any]
    with ExitStack() as stack:
        sides = [_opened(side, stack) for side in (left, right)]
        columns = _columns(sides, predicate(filter_name, "filter_name"))
        comparison = {
            "rtol": rtol,
            "atol": atol,
            "bitwise": bitwise,
            "nan_equal": nan_equal,
            "same_content": same_content,
            "on": [on] if isinstance(on, str) else list(on),
            "columns": columns,
            "common": common,
            "brief": brief,
            "most": most,
            "threads": threads,
        }
        match sides:
            case [File() as own, File() as other]:
                found = json.loads(_forthwith.diff_files(own._core, other._core, comparison))
                tables = [table for _, table in found["tables"]]
                objects = found["objects"]
                found["tables"] = dict(found["tables"])
                different = any(found["only"]) or bool(found["classes"]) or any(one["differing"] for one in objects)
            case _:
                left_tree, right_tree = map(_table, sides)
                found = json.loads(_forthwith.diff_tables(left_tree._core, right_tree._core, comparison))
                tables, objects, different = [found], [], False
    found["same"] = not (different or any(map(_differs, tables)))
    found["complete"] = not any(table["not_compared"] or any(table["damage"]) for table in tables) and not any(
        one["error"] for one in objects
    )
    return found


def _opened(side: Any, stack: ExitStack) -> File | Tree:
    if isinstance(side, (File, Tree)):
        return side
    if isinstance(side, Directory):
        raise RequestError(f"{side!r} is a directory of a file: diff compares files and tables")
    opened = stack.enter_context(open_file(side))
    if not isinstance(opened, (File, Tree)):
        raise RequestError(f"{side!r} is {opened!r}: diff compares files and tables")
    return opened


def _trees(side: File | Tree) -> list[Tree]:
    if isinstance(side, Tree):
        return [side]
    return [side._tree_of(key.path) for key in side._core.keys("", True) if key.is_table]


def _table(side: File | Tree) -> Tree:
    trees = _trees(side)
    if len(trees) != 1:
        raise RequestError(f"{side!r} has {len(trees)} tables: name one of them behind a colon")
    return trees[0]


def _columns(sides: list[File | Tree], wanted: Predicate | None) -> set[str] | None:
    """Returns the paths of the columns that pass a filter."""
    if wanted is None:
        return None
    fields = (
        field
        for side in sides
        for tree in _trees(side)
        for field in (tree._fields[at] for at in range(len(tree._fields)))
    )
    names = {field.path for field in fields if wanted(field.path)}
    if not names:
        raise RequestError("no column passes filter_name")
    return names


def _differs(table: dict[str, Any]) -> bool:
    def differs(column: dict[str, Any]) -> bool:
        own, other = column["entries"] or (None, None)
        return bool(column["types_differ"] or column["summary"] or column["differing"] or own != other)

    return (
        table["entries"][0] != table["entries"][1]
        or any(table["only"])
        or any(one["count"] for one in table["unmatched"])
        or any(map(differs, table["columns"]))
    )
