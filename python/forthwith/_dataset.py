"""Trees as Arrow datasets for engines such as DuckDB and DataFusion, with filters and projection."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module

from forthwith._arrow_predicates import as_cut, columns_of
from forthwith._errors import RequestError, UnsupportedError
from forthwith._lazy import Lazy
from forthwith._packages import package

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from forthwith._lazy_parts import Part
    from forthwith._tree.read import Names

_ROWS = 131_072


def dataset(
    files: Any, names: Names = None, *, step_size: int | str | None = None, threads: int | None = None, **options: Any
) -> Any:
    """Returns a ``pyarrow.dataset.Dataset`` of one or several tables, which queries read lazily.

    DuckDB accepts it by the name of a variable, DataFusion by ``register_dataset``. Columns of a filter are
    read first, and the others only in steps with passing entries; row groups that the statistics exclude are
    not read. Batches are read on demand. Unions become structs with a field for each alternative.

    Args:
        files: As in `concatenate`, or an open `Tree` or `Chain`.
        names: As in `Tree.arrays`.
        step_size: Number of entries, or memory of all columns of a query, that are read at a time. By default
            100 MB, and 20 MB for local files, of which several threads read a step each.
        threads: As in `Tree.arrays`.
        options: ``missing`` as in `Chain`, others as in ``open``.

    Raises:
        MissingPackageError: pyarrow is not installed.
        KeyInFileError: A branch does not exist.
        RequestError: A file has a column of another type than the first one; raised by the read.
    """
    how: dict[str, Any] = {"step_size": step_size, "threads": threads}
    schema = package("pyarrow").schema
    lazy = Lazy(files, library="arrow with structs", options=options, **how)
    # Files with the same columns may differ in whether values can be missing.
    fields = [field.with_nullable(True) for field in lazy.empty(names).schema]
    return _class()(lazy, schema(fields), (names, how))


def _again(table: Any, names: Names, how: dict[str, Any]) -> Any:
    return dataset(table, names, **how)


class Scan:
    """A query of a dataset, in the role of ``pyarrow.dataset.Scanner``."""

    def __init__(
        self,
        lazy: Lazy,
        schema: Any,
        number: int | None,
        columns: Any = None,
        filter: Any = None,
        batch_size: int = _ROWS,
        **hints: Any,
    ) -> None:
        del hints  # of readahead, threads and memory, which are the dataset's
        self._lazy, self.dataset_schema, self._number, self._rows = lazy, schema, number, max(batch_size, 1)
        self._filter = filter
        self._computed = dict(columns) if hasattr(columns, "keys") else None
        if self._computed is not None:
            used = {name for each in self._computed.values() for name in columns_of(each, schema)}
            self._names = [name for name in schema.names if name in used]
        else:
            self._names = list(schema.names) if columns is None else list(columns or ())
        for name in self._names:
            if name not in schema.names:
                from difflib import get_close_matches  # not at the top: nothing else needs it

                near = " or ".join(map(repr, get_close_matches(str(name), schema.names, 2)))
                raise RequestError(f"the dataset has no column {name!r}" + (f"; did you mean {near}?" if near else ""))

    @property
    def projected_schema(self) -> Any:
        """The schema of the result."""
        pa = package("pyarrow")
        read = pa.schema([self.dataset_schema.field(name) for name in dict.fromkeys(self._names)])
        return self._projected(read.empty_table()).schema

    def to_batches(self) -> Iterator[Any]:
        """Iterates over the entries as record batches, read on demand."""
        for table in self._tables():
            yield from table.to_batches(max_chunksize=self._rows)

    def to_reader(self) -> Any:
        """Returns the entries as a ``pyarrow.RecordBatchReader``."""
        return package("pyarrow").RecordBatchReader.from_batches(self.projected_schema, self.to_batches())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_reader().__arrow_c_stream__(requested_schema)

    def to_table(self) -> Any:
        """Reads all entries."""
        return self._joined(list(self._tables()))

    def head(self, num_rows: int) -> Any:
        """Reads the first ``num_rows`` entries."""
        tables: list[Any] = []
        left = num_rows
        for table in self._tables(num_rows if self._filter is None else None):
            tables.append(table[:left])
            left -= len(tables[-1])
            if left <= 0:
                break
        return self._joined(tables)

    def _joined(self, tables: list[Any]) -> Any:
        if not self._names and self._computed is None:
            return _entries(sum(map(len, tables)))
        return package("pyarrow").concat_tables([self.projected_schema.empty_table(), *tables])

    def take(self, indices: Any) -> Any:
        """Reads the entries at these positions."""
        return self.to_table().take(indices)

    def count_rows(self) -> int:
        """Returns the number of entries; without a filter, no column is read."""
        counting = Scan(self._lazy, self.dataset_schema, self._number, [], self._filter)
        return sum(len(table) for table in counting._tables())

    def _tables(self, most: int | None = None) -> Iterator[Any]:
        schema, needed, cut = self.dataset_schema, [], None
        if self._filter is not None:
            needed, cut = columns_of(self._filter, schema), as_cut(self._filter, schema)

        def step(part: Part) -> Any:
            table = self._step(part, needed)
            return None if table is None else self._projected(table)

        used = list(dict.fromkeys([*self._names, *needed]))
        first = list(dict.fromkeys(self._names)) if self._filter is None else needed
        for table in self._lazy.parts(first, used, cut, most, step, self._number):
            if table is not None:
                yield table

    def _step(self, part: Part, needed: list[str]) -> Any:
        pa = package("pyarrow")
        if self._filter is None:
            return self._read(part, self._names)
        looked = self._read(part, needed)
        mask = pa.dataset.dataset(looked).to_table(columns={"mask": self._filter}).column(0)
        passing = pa.compute.indices_nonzero(mask)
        if not len(passing):
            return None
        rest = [name for name in self._names if name not in needed]
        few = None
        if rest:
            few = part.read_some(rest, len(passing), lambda: package("numpy").asarray(passing))
        if few is not None:
            found, looked = self._typed(part, few, rest), looked.filter(mask)
        else:
            # Blocks before the first passing entry and after the last one are not read.
            first, last = passing[0].as_py(), passing[-1].as_py() + 1
            mask = mask[first:last]
            found = self._read(part, rest, first, last).filter(mask)
            looked = looked[first:last].filter(mask)
        for name in needed:
            found = found.append_column(looked.schema.field(name), looked.column(name))
        return found

    def _read(self, part: Part, names: list[str], first: int = 0, last: int | None = None) -> Any:
        """Reads columns of a part, with the types of the dataset; without names, a table with rows only."""
        names = list(dict.fromkeys(names))
        if not names:
            return _entries((part.length if last is None else last) - first)
        return self._typed(part, part.read(names, first, last), names)

    def _typed(self, part: Part, found: Any, names: list[str]) -> Any:
        pa = package("pyarrow")
        kinds = {name: _spelled(self.dataset_schema.field(name)) for name in names}
        self._lazy.check(part, lambda name: _spelled(found.schema.field(name)), kinds)
        schema = pa.schema([self.dataset_schema.field(name) for name in names])
        # Types are equal except for nullability. Arrow does not support casts of all types, even to
        # themselves.
        columns = zip((found.column(name) for name in names), schema.types, strict=True)
        return pa.table([one if one.type == kind else one.cast(kind) for one, kind in columns], schema)

    def _projected(self, table: Any) -> Any:
        if self._computed is None:
            return table.select(self._names)
        return package("pyarrow").dataset.dataset(table).to_table(columns=self._computed)


def _entries(number: int) -> Any:
    """Returns a table with rows but without columns."""
    pa = package("pyarrow")
    return pa.table({"entries": pa.nulls(number)}).select([])


def _spelled(field: Any) -> str:
    """Returns a type without nullability, in which files with the same columns may differ."""
    return str(field.type).replace(" not null", "")


@lru_cache(1)
def _class() -> Any:
    """Returns the class of datasets, which requires pyarrow."""
    arrow: Any = import_module("pyarrow.dataset")
    compute: Any = import_module("pyarrow.compute")
    files: Any = import_module("pyarrow.fs")

    def refused(*_: Any, **__: Any) -> Any:
        raise UnsupportedError(
            "Arrow's own code cannot read the files of forthwith.dataset: give it dataset.scanner().to_reader()"
        )

    abstract = files.FileSystemHandler.__abstractmethods__
    refusing = type("Refusing", (files.FileSystemHandler,), dict.fromkeys(abstract, refused))

    class Dataset(arrow.FileSystemDataset):  # type: ignore[misc]
        """A dataset of files that forthwith reads. Arrow's own code sees one unreadable file."""

        def __init__(self, lazy: Lazy, schema: Any, made_of: tuple[Any, ...], condition: Any = None) -> None:
            kind, system = arrow.IpcFileFormat(), files.PyFileSystem(refusing())
            super().__init__([kind.make_fragment("forthwith", filesystem=system)], schema, kind, system)
            self._lazy, self._made_of, self._condition = lazy, made_of, condition

        @property
        def files(self) -> list[str]:
            """Paths of the files."""
            return list(getattr(self._lazy.table, "files", [str(self._lazy.table)]))

        @property
        def partition_expression(self) -> Any:
            """The condition that all entries satisfy, which is always true."""
            return compute.scalar(True)

        def scanner(self, columns: Any = None, filter: Any = None, **options: Any) -> Scan:
            """Returns a query."""
            return Scan(self._lazy, self.schema, None, columns, self._both(filter), **options)

        def count_rows(self, filter: Any = None, **options: Any) -> int:
            """Returns the number of entries that pass the filter."""
            return self.scanner([], filter, **options).count_rows()

        def filter(self, expression: Any) -> Any:
            """Returns the dataset with a filter."""
            return type(self)(self._lazy, self.schema, self._made_of, self._both(expression))

        def get_fragments(self, filter: Any = None) -> Iterator[Any]:
            """Iterates over the files, each as a fragment that can be scanned."""
            for number in range(len(self._lazy)):
                yield Fragment(self, number, self._both(filter))

        def replace_schema(self, schema: Any) -> Any:
            """Raises an error: the types of a dataset are those of its files."""
            refuse = "a dataset of forthwith has the types of its files: columns={name: expression} makes others"
            raise UnsupportedError(f"{refuse}, not {schema.names}")

        def sort_by(self, sorting: Any, **options: Any) -> Any:
            """Reads all entries and returns them sorted, in memory."""
            return arrow.dataset(self.to_table().sort_by(sorting, **options))

        def join(self, right_dataset: Any, *arguments: Any, **options: Any) -> Any:
            """Reads and joins both datasets, in memory."""
            return arrow.dataset(self.to_table().join(right_dataset.to_table(), *arguments, **options))

        def join_asof(self, right_dataset: Any, *arguments: Any, **options: Any) -> Any:
            """Reads and joins both datasets, in memory."""
            return arrow.dataset(self.to_table().join_asof(right_dataset.to_table(), *arguments, **options))

        def _both(self, filter: Any) -> Any:
            if filter is None or self._condition is None:
                return self._condition if filter is None else filter
            return self._condition & filter

        def __repr__(self) -> str:
            return f"<Dataset of {len(self._lazy)} files: {', '.join(self.schema.names)}>"

        def __reduce__(self) -> tuple[Any, ...]:
            # Pickles of tables do not contain credentials.
            made_of = self._lazy.table, *self._made_of
            return (_again, made_of) if self._condition is None else (_filtered, (made_of, self._condition))

    return Dataset


class Fragment:
    """A file of a dataset."""

    def __init__(self, whole: Any, number: int, condition: Any) -> None:
        self._whole, self._number, self._condition = whole, number, condition
        self.physical_schema, self.partition_expression = whole.schema, whole.partition_expression

    def scanner(self, schema: Any = None, columns: Any = None, filter: Any = None, **options: Any) -> Scan:
        """Returns a query of this file."""
        del schema
        condition = self._condition if filter is None else filter
        return Scan(self._whole._lazy, self._whole.schema, self._number, columns, condition, **options)

    def to_batches(self, schema: Any = None, **options: Any) -> Iterator[Any]:
        """Iterates over the entries as record batches, read on demand."""
        return self.scanner(schema, **options).to_batches()

    def to_table(self, schema: Any = None, **options: Any) -> Any:
        """Reads all entries."""
        return self.scanner(schema, **options).to_table()

    def count_rows(self, **options: Any) -> int:
        """Returns the number of entries that pass the filter."""
        return self.scanner(**options).count_rows()


def _filtered(made_of: tuple[Any, ...], condition: Any) -> Any:
    return _again(*made_of).filter(condition)
