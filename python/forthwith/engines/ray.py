"""Partitions for Ray Data. Requires ``ray[data]``."""

from __future__ import annotations

from importlib import import_module

from forthwith._packages import package
from forthwith.engines._plan import planned
from forthwith.engines._read import read
from forthwith.engines._types import check_same, none_of, of_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from forthwith.engines._partition import Partition
    from forthwith.engines._types import Known


def dataset(files: Any, columns: Any = None, *, threads: int | None = 1, **options: Any) -> Any:
    """Returns a ``ray.data.Dataset`` of Arrow tables, with one block for each partition.

    Args:
        files: Partitions, or files as in `plan`.
        columns: As in `plan`.
        threads: Number of threads of a task, to which Ray assigns one processor.
        options: As in `plan`.
    """
    package("ray")
    data: Any = import_module("ray.data")
    blocks: Any = import_module("ray.data.block")
    sources: Any = import_module("ray.data.datasource")
    partitions = planned(files, columns, options)
    known = partitions[0].file, of_table(none_of(partitions[0], "arrow"))

    class Forthwith(sources.Datasource):  # type: ignore[misc]
        """A data source with a task for each partition."""

        def estimate_inmemory_data_size(self) -> int | None:
            """Returns the stored size, as the size in memory is unknown before the read."""
            return sum(partition.bytes for partition in partitions) or None

        def get_read_tasks(self, parallelism: int, *_: Any, **__: Any) -> list[Any]:
            """Returns a task for each partition, independently of the requested parallelism."""
            del parallelism
            return [
                sources.ReadTask(_Task(partition, known, threads), _metadata(blocks, partition))
                for partition in partitions
            ]

    return data.read_datasource(Forthwith(), override_num_blocks=len(partitions))


class _Task:
    def __init__(self, partition: Partition, known: Known, threads: int | None) -> None:
        self.partition, self.known, self.threads = partition, known, threads

    def __call__(self) -> Iterator[Any]:
        table = read(self.partition, library="arrow", threads=self.threads)
        # Ray would convert columns of mixed types to Python objects.
        check_same(self.known, self.partition.file, of_table(table))
        yield table


def _metadata(blocks: Any, partition: Partition) -> Any:
    rows = partition.stop - partition.start if partition.is_counted else None
    return blocks.BlockMetadata(
        num_rows=rows, size_bytes=partition.bytes or None, input_files=[partition.file], exec_stats=None
    )
