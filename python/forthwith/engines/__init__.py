"""Reading by distributed engines: a plan of partitions, which are read independently.

>>> from forthwith import engines
>>> partitions = engines.plan("run*/*.root:Events", ["Muon_pt"], step="100 MB")  # doctest: +SKIP
>>> arrays = [engines.read(partition) for partition in partitions]  # doctest: +SKIP

Partitions are small records that can be pickled and sent to other processes. Adapters for Dask, Spark and Ray
are `forthwith.engines.dask`, `forthwith.engines.spark` and `forthwith.engines.ray`;
`forthwith.engines.graphed` has sources of graphed, and `forthwith.engines.torch` datasets of PyTorch. Each is
imported on first access.
"""

from forthwith.engines._batches import batches
from forthwith.engines._partition import Partition
from forthwith.engines._plan import form, plan
from forthwith.engines._read import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forthwith.engines import dask as dask
    from forthwith.engines import graphed as graphed
    from forthwith.engines import ray as ray
    from forthwith.engines import spark as spark
    from forthwith.engines import torch as torch

__all__ = ["Partition", "batches", "form", "plan", "read"]


def __getattr__(name: str) -> object:
    if name not in ("dask", "graphed", "ray", "spark", "torch"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return import_module(f"forthwith.engines.{name}")
