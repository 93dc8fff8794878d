"""Partitions of trees for Dask, where uproot has them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil
from typing import Any

from forthwith._errors import RequestError
from forthwith.engines import Partition
from forthwith.engines._plan import state_of
from forthwith.engines._read import check_state
from forthwith.uproot._given_files import closing, tree_of


@dataclass(frozen=True)
class Part:
    """Some entries of one tree.

    Attributes:
        partition: The file, the tree in it, and the entries.
        opened: The tree, if it was given as an opened one.
    """

    partition: Partition
    opened: Any = None

    @property
    def num_entries(self) -> float:
        """The number of entries; not a number where the file was not opened."""
        one = self.partition
        return one.stop - one.start if one.is_counted else float("nan")


@contextmanager
def reading(part: Part, opening: dict[str, Any]) -> Iterator[tuple[Any, int, int]]:
    """The tree of a part while it is read, the first entry, and the one after the last.

    Raises:
        SourceError: The file was replaced since.
        RequestError: The tree has fewer entries.
    """
    one = part.partition
    path = one.file if part.opened is None else part.opened
    tree = tree_of(path, one.tree, False, opening)
    with closing(tree, path):
        check_state(tree.forthwith, one)
        entries = int(tree.num_entries)
        if one.is_counted:
            _check_range(one, entries)
            yield tree, one.start, one.stop
        else:
            # The number of the part, and the negative number of parts.
            step = ceil(entries / -one.stop)
            yield tree, min(one.start * step, entries), min((one.start + 1) * step, entries)


def _check_range(one: Partition, entries: int) -> None:
    if not 0 <= one.start <= one.stop <= entries:
        raise RequestError(
            f"entries {one.start} to {one.stop} of a tree with {entries} entries\n  in {one.file}:{one.tree}",
            file=one.file,
        )


def of_tree(path: Any, inner: str | None, tree: Any) -> Part:
    """All entries of a tree, which workers open by its name unless it was given as an opened one."""
    file, opened = (tree.file.file_path, tree) if tree is path else (path, None)
    name = inner or tree.forthwith.path
    return Part(Partition(file, name, 0, tree.num_entries, None, 0, None, state_of(tree.forthwith)), opened)


def uncounted(path: Any, inner: str | None, steps: list[Any] | None, parts: int) -> list[Part]:
    """Parts of a file that is not opened: given entries, or so many parts of equal length."""
    if steps is None:
        return [Part(Partition(path, inner, part, -parts)) for part in range(parts)]
    return [Part(Partition(path, inner, start, stop)) for start, stop in steps]


def divided(whole: list[Part], given: list[list[Any] | None], step: int) -> list[Part]:
    """Parts of trees: the entries that are given with them, or so many entries at a time."""
    found = []
    for part, steps in zip(whole, given, strict=True):
        one = part.partition
        bounds = [(at, min(at + step, one.stop)) for at in range(0, one.stop, step)] if steps is None else steps
        for start, stop in bounds:
            made = replace(one, start=int(start), stop=int(stop))
            _check_range(made, one.stop)
            if start < stop:
                found.append(replace(part, partition=made))
    return found or [replace(whole[0], partition=replace(whole[0].partition, stop=0))]


def step_pairs(path: Any, steps: Any) -> list[list[int]]:
    """The first entry and the one after the last of each step, of such pairs or of the entries at which steps end.

    Raises:
        RequestError: They are neither.
    """
    listed = [list(one) if hasattr(one, "__iter__") else one for one in steps]
    pairs: list[Any] = listed if listed and isinstance(listed[0], list) else list(map(list, pairwise(listed)))
    for one in pairs:
        if not isinstance(one, list) or len(one) != 2 or not 0 <= one[0] <= one[1]:
            raise RequestError(f"steps of {path}: {one!r} is not the first entry and the one after the last", file=path)
    return pairs
