"""Reading by engines that spread work over processes and machines: a plan of partitions, each read by itself.

>>> from forthwith import engines
>>> partitions = engines.plan("run*/*.root:Events", ["Muon_pt"], step="100 MB")  # doctest: +SKIP
>>> arrays = [engines.read(partition) for partition in partitions]  # doctest: +SKIP

Partitions are small plain records that pickle: any engine can send them anywhere. Adapters for Dask, Spark and Ray are the
modules `forthwith.engines.dask`, `forthwith.engines.spark` and `forthwith.engines.ray`, sources of graphed
`forthwith.engines.graphed`, datasets of PyTorch `forthwith.engines.torch`, each imported when it is asked for.
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
