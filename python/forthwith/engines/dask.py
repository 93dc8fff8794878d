"""Partitions for Dask: delayed values, a bag, a data frame. Needs ``dask``; the data frame ``dask[dataframe]``."""

from __future__ import annotations

from importlib import import_module

from forthwith._errors import RequestError
from forthwith._packages import package
from forthwith.engines._partition import Partition
from forthwith.engines._plan import plan
from forthwith.engines._read import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def delayed(files: Any, columns: Any = None, *, library: str = "ak", **options: Any) -> list[Any]:
    """A ``dask.delayed`` value for each partition.

    Args:
        files: Partitions, or files as in `plan`.
        columns: As in `plan`.
        library: As in `Tree.arrays`.
        options: As in `plan`.
    """
    reading = package("dask").delayed(read, pure=True)
    return [reading(partition, library=library) for partition in _partitions(files, columns, options)]


def bag(files: Any, columns: Any = None, *, library: str = "ak", **options: Any) -> Any:
    """A ``dask.bag.Bag`` with an array for each partition; the arguments are those of `delayed`."""
    package("dask")
    partitions = _partitions(files, columns, options)
    return import_module("dask.bag").from_sequence(partitions, npartitions=len(partitions)).map(read, library=library)


def dataframe(files: Any, columns: Any = None, **options: Any) -> Any:
    """A ``dask.dataframe`` whose partitions are pandas data frames. Only columns that are used later on are read.

    Args:
        files: As in `delayed`.
        columns: As in `plan`.
        options: As in `plan`.
    """
    package("dask")
    partitions = _partitions(files, columns, options)
    first = partitions[0]
    meta = _frame(Partition(first.file, first.tree, 0, 0, first.columns, 0, first.options))
    return import_module("dask.dataframe").from_map(_frame, partitions, meta=meta, enforce_metadata=False)


def _frame(partition: Partition, columns: list[str] | None = None) -> Any:
    return read(partition, columns, library="pd")


def _partitions(files: Any, columns: Any, options: dict[str, Any]) -> list[Partition]:
    if isinstance(files, list) and files and all(isinstance(part, Partition) for part in files):
        if options or columns is not None:
            raise RequestError("partitions have their columns and options: say them to plan")
        return files
    return plan(files, columns, **options)
