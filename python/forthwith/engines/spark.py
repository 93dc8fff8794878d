"""A data source for Spark 4. Requires ``pyspark`` and ``pyarrow``.

>>> spark.dataSource.register(forthwith.engines.spark.source())  # doctest: +SKIP
>>> frame = spark.read.format("forthwith").load("run*/*.root:Events")  # doctest: +SKIP

A user-defined schema selects columns of the files, whose types have to match.

Options of the reader: ``columns`` (comma-separated names), ``step`` and ``parts`` as in
`forthwith.engines.plan`, and ``threads``, the number of threads of a task, by default 1.
"""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import import_module

from forthwith._errors import RequestError
from forthwith._packages import package
from forthwith.engines._partition import Partition
from forthwith.engines._plan import plan
from forthwith.engines._read import read
from forthwith.engines._types import check_same

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


def source() -> Any:
    """Returns the class of the data source, for registration."""
    package("pyspark")
    base: Any = import_module("pyspark.sql.datasource")
    types: Any = import_module("pyspark.sql.pandas.types")

    class Part(base.InputPartition):  # type: ignore[misc]
        """A partition for Spark."""

    class Reader(base.DataSourceReader):  # type: ignore[misc]
        """Reads partitions as Arrow batches."""

        def __init__(self, options: dict[str, str], kinds: dict[str, str]) -> None:
            self.options, self.kinds = options, kinds

        def partitions(self) -> list[Any]:
            """Returns the partitions of the plan."""
            return [Part(partition) for partition in _planned(self.options)]

        def read(self, partition: Any) -> Iterator[Any]:
            """Iterates over the batches of a partition, with the columns of the schema."""
            table = _table(partition.value, list(self.kinds), int(self.options.get("threads", 1)))
            kinds = _kinds(types.from_arrow_schema(table.schema))
            check_same(("the schema", self.kinds), partition.value.file, kinds)
            yield from table.to_batches()

    class Source(base.DataSource):  # type: ignore[misc]
        """The data source of files that forthwith reads."""

        @classmethod
        def name(cls) -> str:
            """Returns the name of the format."""
            return "forthwith"

        def schema(self) -> Any:
            """Returns the schema of the first partition."""
            first = _planned({**self.options, "parts": "1"})[0]
            return types.from_arrow_schema(_table(replace(first, start=0, stop=0, bytes=0), None).schema)

        def reader(self, schema: Any) -> Any:
            """Returns a reader for a schema, which may be user-defined."""
            return Reader(dict(self.options), _kinds(schema))

    return Source


def _planned(options: dict[str, str]) -> list[Partition]:
    # Spark passes several paths as a JSON list.
    files = json.loads(options["paths"]) if "paths" in options else options.get("path")
    if not files:
        raise RequestError(
            'forthwith\'s data source needs a path: spark.read.format("forthwith").load("events.root:Events")'
        )
    columns = [name.strip() for name in options["columns"].split(",")] if "columns" in options else None
    if "parts" in options:
        return plan(files, columns, parts=int(options["parts"]))
    step = options.get("step", "100 MB")
    return plan(files, columns, step=int(step) if step.isdigit() else step)


def _kinds(schema: Any) -> dict[str, str]:
    return {field.name: field.dataType.simpleString() for field in schema}


def _table(partition: Partition, names: list[str] | None, threads: int = 1) -> Any:
    """Reads a table with types of Spark: 32-bit offsets, and no unsigned integers.

    All columns are nullable: Spark compares nullability, in which files with the same columns may differ.
    """
    pa = package("pyarrow")
    table = read(partition, names, library="arrow", threads=threads)
    return table.cast(pa.schema([_field(pa, field) for field in table.schema]))


_WIDER = {"uint8": "int16", "uint16": "int32", "uint32": "int64", "uint64": "decimal128", "halffloat": "float32"}


def _field(pa: Any, field: Any) -> Any:
    return field.with_type(_type(pa, field.type)).with_nullable(True)


def _type(pa: Any, kind: Any) -> Any:
    types = pa.types
    if types.is_large_list(kind) or types.is_list(kind) or types.is_fixed_size_list(kind):
        return pa.list_(_field(pa, kind.value_field))
    if types.is_struct(kind):
        return pa.struct([_field(pa, kind.field(at)) for at in range(kind.num_fields)])
    if types.is_map(kind):
        return pa.map_(_type(pa, kind.key_type), _type(pa, kind.item_type))
    if types.is_large_string(kind):
        return pa.string()
    if types.is_large_binary(kind):
        return pa.binary()
    wider = _WIDER.get(str(kind))
    if wider == "decimal128":
        return pa.decimal128(20, 0)
    return kind if wider is None else getattr(pa, wider)()
