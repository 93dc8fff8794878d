"""Partitions for Dask: delayed values, a bag, a data frame. Needs ``dask``; the data frame ``dask[dataframe]``."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

from forthwith._errors import RequestError
from forthwith._packages import package
from forthwith.engines._partition import Partition
from forthwith.engines._plan import planned
from forthwith.engines._read import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def delayed(
    files: Any, columns: Any = None, *, library: str = "ak", threads: int | None = 1, **options: Any
) -> list[Any]:
    """A ``dask.delayed`` value for each partition.

    Args:
        files: Partitions, or files as in `plan`.
        columns: As in `plan`.
        library: As in `Tree.arrays`.
        threads: Threads of a task. Dask runs as many tasks as a worker has threads, so that one is right for most.
        options: As in `plan`.
    """
    reading = package("dask").delayed(read, pure=True)
    return [reading(partition, library=library, threads=threads) for partition in planned(files, columns, options)]


def bag(files: Any, columns: Any = None, *, library: str = "ak", threads: int | None = 1, **options: Any) -> Any:
    """A ``dask.bag.Bag`` with an array for each partition; the arguments are those of `delayed`."""
    package("dask")
    partitions = planned(files, columns, options)
    sequence = import_module("dask.bag").from_sequence(partitions, npartitions=len(partitions))
    return sequence.map(read, library=library, threads=threads)


def dataframe(files: Any, columns: Any = None, *, threads: int | None = 1, **options: Any) -> Any:
    """A ``dask.dataframe`` whose partitions are pandas data frames. Only columns that are used later on are read.

    Args:
        files: As in `delayed`.
        columns: As in `plan`.
        threads: As in `delayed`.
        options: As in `plan`.
    """
    package("dask")
    partitions = planned(files, columns, options)
    meta = read(_nothing_of(partitions[0]), library="pd", threads=threads)
    given = {"meta": meta, "enforce_metadata": False, "names": tuple(meta.columns), "threads": threads}
    return import_module("dask.dataframe").from_map(_frame, partitions, **given)


def _nothing_of(partition: Partition) -> Partition:
    """No entry of a partition, for the types of its columns."""
    return replace(partition, start=0, stop=0, bytes=0)


def _frame(
    partition: Partition, columns: list[str] | None = None, *, names: tuple[str, ...], threads: int | None
) -> Any:
    frame = read(partition, columns, library="pd", threads=threads)
    # pandas would fill columns that only some partitions have with missing values.
    if columns is None and tuple(frame.columns) != names:
        raise RequestError(
            f"{partition.file} has the columns {list(frame.columns)}, where the first file has {list(names)}"
        )
    return frame
