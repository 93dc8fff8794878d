"""Batches as a dataset of PyTorch. Requires ``torch``."""

from __future__ import annotations

from importlib import import_module

from forthwith._errors import RequestError
from forthwith._packages import package
from forthwith.engines._batches import batches
from forthwith.engines._plan import plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


def dataset(
    files: Any, columns: Any = None, *, size: int, seed: int = 0, step: int | str = "16 MB", **options: Any
) -> Any:
    """Returns an ``IterableDataset`` of dicts of tensors, for a ``DataLoader`` with ``batch_size=None``.

    Each worker of the loader reads its own partitions. ``set_epoch`` of the dataset changes the order, but
    does not reach persistent workers (``persistent_workers=True``).

    Args:
        files: As in `forthwith.engines.plan`.
        columns: Names of branches of numbers; tensors do not support jagged lists and missing values.
        size: Number of entries of a batch.
        seed: Seed of the order.
        step: The size of a partition, as in `forthwith.engines.plan`.
        options: ``shuffle``, ``buffer``, ``drop_last`` and ``threads`` as in `forthwith.engines.batches`; others as in
            ``open``.
    """
    torch = package("torch")
    data: Any = import_module("torch.utils.data")
    mixing = {name: options.pop(name) for name in ("shuffle", "buffer", "drop_last", "threads") if name in options}
    partitions = plan(files, columns, step=step, **options)

    class Batches(data.IterableDataset):  # type: ignore[misc]
        """Batches of the partitions of a worker."""

        epoch = 0

        def set_epoch(self, epoch: int) -> None:
            """Sets the number of the epoch, which determines the order."""
            self.epoch = epoch

        def __iter__(self) -> Iterator[dict[str, Any]]:
            worker = data.get_worker_info()
            own = partitions if worker is None else partitions[worker.id :: worker.num_workers]
            for batch in batches(own, size=size, seed=seed + self.epoch, **mixing) if own else ():
                yield {name: _tensor(torch, name, array) for name, array in batch.items()}

    return Batches()


def _tensor(torch: Any, name: str, array: Any) -> Any:
    if hasattr(array, "mask"):
        raise RequestError(f"column {name!r} has missing values, which tensors have not")
    try:
        return torch.from_numpy(array)
    except TypeError as error:
        raise RequestError(f"column {name!r} cannot be a tensor: {error}") from None
