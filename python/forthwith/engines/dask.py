"""Partitions for Dask: delayed values, bags, data frames. Requires ``dask`` or ``dask[dataframe]``."""

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
    """Returns a ``dask.delayed`` value for each partition.

    Args:
        files: Partitions, or files as in `plan`.
        columns: As in `plan`.
        library: As in `Tree.arrays`.
        threads: Number of threads of a task. Dask runs one task per thread of a worker, so 1 is usually best.
        options: As in `plan`.
    """
    reading = package("dask").delayed(read, pure=True)
    return [reading(partition, library=library, threads=threads) for partition in planned(files, columns, options)]


def bag(files: Any, columns: Any = None, *, library: str = "ak", threads: int | None = 1, **options: Any) -> Any:
    """Returns a ``dask.bag.Bag`` of what `Tree.arrays` gives for each partition.

    Args:
        files: As in `delayed`.
        columns: As in `delayed`.
        library: As in `delayed`.
        threads: As in `delayed`.
        options: As in `delayed`.
    """
    package("dask")
    partitions = planned(files, columns, options)
    sequence = import_module("dask.bag").from_sequence(partitions, npartitions=len(partitions))
    return sequence.map(read, library=library, threads=threads)


def dataframe(files: Any, columns: Any = None, *, threads: int | None = 1, **options: Any) -> Any:
    """Returns a ``dask.dataframe`` of pandas partitions, which reads only the columns that are used.

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
    # pandas would fill columns that some partitions lack, and convert mixed types to objects.
    first, kinds = known
    wanted = kinds if columns is None else {name: kind for name, kind in kinds.items() if name in columns}
    check_same((first, wanted), partition.file, _kinds(frame))
    return frame
