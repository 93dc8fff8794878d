"""Reading of partitions."""

from __future__ import annotations

import os
from collections import OrderedDict
from threading import Lock

from forthwith import _paths
from forthwith._errors import SourceError
from forthwith._opening import Settings
from forthwith.engines._plan import _opened, state_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from forthwith._tree.tree import Tree
    from forthwith.engines._partition import Partition

# Open trees of this process, the most recent last, each with the file's stat before it was opened. The
# process id in the key excludes trees of a parent process.
_OPEN: OrderedDict[Any, tuple[Tree, Any]] = OrderedDict()
_LOCK = Lock()
_MOST = 16


def read(partition: Partition, columns: Any = None, *, library: str = "ak", **options: Any) -> Any:
    """Reads a partition.

    The process keeps the last sixteen files open, as partitions of one file are often consecutive.

    Args:
        partition: A partition from `plan`.
        columns: Names of branches, in place of those of the partition.
        library: As in `Tree.arrays`; ``"arrow"`` for a table.
        options: As in `Tree.arrays`.

    Raises:
        SourceError: The file was replaced or removed after the plan was made.
    """
    tree: Any = tree_of(partition)
    names = columns if columns is not None else partition.columns
    start, stop = partition.entries(0 if partition.is_counted else tree.num_entries)
    names = None if names is None else [names] if isinstance(names, str) else list(names)
    return tree.arrays(names, entry_start=start, entry_stop=stop, library=library, **options)


def tree_of(partition: Partition) -> Tree:
    """Returns the tree of a partition, opening it if needed."""
    given = partition.options
    key = (os.getpid(), partition.file, partition.tree, repr(sorted(given.items())) if given else "")
    stamp = _stamp(partition.file)
    with _LOCK:
        tree, seen = _OPEN.pop(key, (None, None))
        # A replaced file is opened again.
        if tree is not None and seen == stamp and _fits(tree, partition):
            _OPEN[key] = tree, seen
            return tree
    tree = _opened(partition.file, partition.tree, Settings.of(**(given or {})))
    try:
        check_state(tree, partition)
    except SourceError:
        tree.file.close()
        raise
    with _LOCK:
        _OPEN[key] = tree, stamp
        while len(_OPEN) > _MOST:
            # Not closed, as another thread may be reading it. Its file is closed with the last reference.
            _OPEN.popitem(last=False)
    return tree


def check_state(tree: Tree, partition: Partition) -> None:
    """Raises an error if the file is not the one that was planned."""
    if not _fits(tree, partition):
        raise SourceError(
            f"{partition.file} was replaced or changed since the plan was made: {_said(partition.state)} then, "
            f"{_said(state_of(tree))} now",
            file=partition.file,
            object=partition.tree,
        )


def _fits(tree: Tree, partition: Partition) -> bool:
    return partition.state is None or partition.state == state_of(tree)


def _said(state: Any) -> str:
    size, entries, identifier = state
    return f"{entries} entries in {size} bytes" + (f", identifier {identifier}" if identifier else "")


def _stamp(file: str) -> tuple[int, int, int] | None:
    """Returns inode, size and time of a local file; ``None`` for others, which detect changes themselves."""
    try:
        found = os.stat(_paths.local(file))
    except (OSError, ValueError):
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


# A lock held by another thread at a fork would never be released.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: globals().update(_LOCK=Lock()))
