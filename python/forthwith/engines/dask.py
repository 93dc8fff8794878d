"""Partitions for Dask: delayed values, a bag, a data frame. Needs ``dask``; the data frame ``dask[dataframe]``."""

from __future__ import annotations

from importlib import import_module

from forthwith._packages import package
from forthwith.engines._plan import planned
from forthwith.engines._read import read
from forthwith.engines._types import check_same, none_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from forthwith.engines._partition import Partition
    from forthwith.engines._types import Known


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
    meta = none_of(partitions[0], "pd")
    known = partitions[0].file, _kinds(meta)
    given = {"meta": meta, "enforce_metadata": False, "known": known, "threads": threads}
    return import_module("dask.dataframe").from_map(_frame, partitions, **given)


def _kinds(frame: Any) -> dict[str, str]:
    return {str(name): str(kind) for name, kind in frame.dtypes.items()}


def _frame(partition: Partition, columns: list[str] | None = None, *, known: Known, threads: int | None) -> Any:
    frame = read(partition, columns, library="pd", threads=threads)
    # pandas would fill columns that only some partitions have with missing values, and make objects of numbers and text.
    first, kinds = known
    wanted = kinds if columns is None else {name: kind for name, kind in kinds.items() if name in columns}
    check_same((first, wanted), partition.file, _kinds(frame))
    return frame
