"""Reading a partition, wherever it was sent."""

from __future__ import annotations

import os
from collections import OrderedDict
from threading import Lock

from forthwith._opening import Settings
from forthwith.engines._plan import _opened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from forthwith._tree.tree import Tree
    from forthwith.engines._partition import Partition

# Trees that this process has open, the last used behind; those of another process are not used after a fork.
_OPEN: OrderedDict[Any, Tree] = OrderedDict()
_LOCK = Lock()
_MOST = 16


def read(partition: Partition, columns: Any = None, *, library: str = "ak", **options: Any) -> Any:
    """Reads a partition.

    The sixteen files last used stay open in the process that reads: partitions of one file often come one after the other.

    Args:
        partition: As `plan` makes them.
        columns: Names of branches instead of those of the partition.
        library: As in `Tree.arrays`; ``"arrow"`` for a table.
        options: As in `Tree.arrays`.
    """
    tree: Any = tree_of(partition)
    names = columns if columns is not None else partition.columns
    start, stop = partition.entries(0 if partition.is_counted else tree.num_entries)
    names = None if names is None else [names] if isinstance(names, str) else list(names)
    return tree.arrays(names, entry_start=start, entry_stop=stop, library=library, **options)


def tree_of(partition: Partition) -> Tree:
    """The tree of a partition, open in this process."""
    given = partition.options
    key = (os.getpid(), partition.file, partition.tree, repr(sorted(given.items())) if given else "")
    with _LOCK:
        found = _OPEN.pop(key, None)
        if found is not None:
            _OPEN[key] = found
            return found
    tree = _opened(partition.file, partition.tree, Settings.of(**(given or {})))
    with _LOCK:
        _OPEN[key] = tree
        while len(_OPEN) > _MOST:
            # Not closed: another thread may be reading it. Its file is given back with its last user.
            _OPEN.popitem(last=False)
    return tree


# A lock that another thread held at a fork would be held for ever.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: globals().update(_LOCK=Lock()))
