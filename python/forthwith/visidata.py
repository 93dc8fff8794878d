"""VisiData plug-in for tables in the terminal: add ``import forthwith.visidata`` to ``~/.visidatarc``.

``vd events.root`` then lists the objects of a file, and Enter opens one: a directory, a table, the bins of a
histogram, or the members of another object. A file with a single object is opened directly. Tables are read
over the Arrow stream interface.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from visidata import ItemColumn, Sheet, VisiData, anytype, date, vd

import forthwith

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["DirectorySheet", "MembersSheet", "TableSheet", "open_root"]


class TableSheet(Sheet):  # type: ignore[misc]
    """The entries of a table, with all columns that can be read."""

    rowtype = "entries"

    def iterload(self) -> Iterator[tuple[Any, ...]]:
        """Yields rows, batch by batch."""
        import pyarrow

        stream = pyarrow.RecordBatchReader.from_stream(_readable(self.source))
        self.columns: list[Any] = []
        for number, field in enumerate(stream.schema):
            self.addColumn(ItemColumn(field.name, number, type=_type(pyarrow.types, field.type)))
        for batch in stream:
            yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


class DirectorySheet(Sheet):  # type: ignore[misc]
    """The objects of a directory."""

    rowtype = "objects"
    columns = (ItemColumn("name", 0), ItemColumn("class", 1), ItemColumn("title", 2))
    nKeys = 1

    def iterload(self) -> Iterator[tuple[str, str, str]]:
        """Yields the name, class and title of each object."""
        for name, key in self.source._found(recursive=False):
            yield name, key.classname, key.title

    def openRow(self, row: tuple[str, str, str]) -> Sheet:
        """Returns the sheet of an object."""
        return _sheet(f"{self.name}_{row[0].partition(';')[0]}", self.source[row[0]])


class MembersSheet(Sheet):  # type: ignore[misc]
    """The bins of a one-dimensional histogram, or the members of an object."""

    rowtype = "members"

    def iterload(self) -> Iterator[tuple[Any, ...]]:
        """Yields a row for each bin or member."""
        names, rows = _rows(self.source)
        self.columns: list[Any] = []
        for number, name in enumerate(names):
            self.addColumn(ItemColumn(name, number, type=float if len(names) == 3 else anytype))
        yield from rows


@VisiData.api  # type: ignore[untyped-decorator]
def open_root(vd: Any, path: Any) -> Sheet:
    """Returns the sheet of a ROOT file."""
    del vd
    file = forthwith.open(str(path))
    keys = file.keys(recursive=True)
    return _sheet(path.base_stem, file[keys[0]] if len(keys) == 1 else file)


def _sheet(name: str, source: Any) -> Sheet:
    if isinstance(source, forthwith.Directory):
        return DirectorySheet(name, source=source)
    if hasattr(source, "__arrow_c_stream__"):
        return TableSheet(name, source=source)
    return MembersSheet(name, source=source)


def _readable(table: Any) -> Any:
    """Returns the table, or a selection of the columns that Arrow can represent."""

    def is_read(branch: Any) -> bool:
        return branch.has_data and branch.interpretation.decoder is not None

    every = [branch for branch in table.values() if branch.has_data]
    if all(map(is_read, every)):
        return table
    left = [branch for branch in every if not is_read(branch)]
    vd.warning(f"{len(left)} columns cannot be read, the first {left[0].name}: {left[0].typename}")
    return table.select(table.keys(filter_branch=is_read))


def _rows(found: Any) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Returns the column names and the rows."""
    with contextlib.suppress(forthwith.ForthwithError, AttributeError, TypeError, ValueError):
        values, edges = found.to_numpy()
        if values.ndim == edges.ndim == 1 and len(edges) == len(values) + 1:
            return ("low", "high", "value"), list(
                zip(edges[:-1].tolist(), edges[1:].tolist(), values.tolist(), strict=True)
            )
    return ("member", "value"), [(name, str(value)) for name, value in found.all_members.items()]


def _type(types: Any, of: Any) -> Any:
    """Returns the VisiData type of a column."""
    if types.is_boolean(of):
        return bool
    if types.is_integer(of):
        return int
    if types.is_floating(of):
        return float
    if types.is_temporal(of) and not types.is_duration(of):
        return date
    return str if types.is_string(of) or types.is_large_string(of) else anytype
