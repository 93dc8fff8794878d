"""Entry lists of ROOT: conversion of ``TEntryList`` and ``TEventList`` to entry numbers."""

from __future__ import annotations

import os
from array import array
from itertools import pairwise

from forthwith._errors import RequestError, UnsupportedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

# Number of entries per block of a `TEntryList`, stored as a bit or 16 bits each.
_BLOCK = 64000
_CLASSES = ("TEntryList", "TEventList")


class EntryLists:
    """Entry numbers of one or more trees.

    Attributes:
        parts: The file, tree and entry numbers of each list; file and tree are empty if the list does not record
            them, as in a ``TEventList``.
    """

    def __init__(self, parts: list[tuple[str, str, array[int]]]) -> None:
        self.parts = parts

    @property
    def of_anything(self) -> array[int] | None:
        """Returns the entry numbers if the list names no file, else ``None``."""
        (file, _, numbers), *more = self.parts
        return numbers if not file and not more else None

    def of_tree(self, file: str, tree: str) -> array[int]:
        """Returns the entry numbers of a tree. A single list applies to any file, so that files can be moved.

        Raises:
            RequestError: There are several lists, and none is for this tree.
        """
        if len(self.parts) == 1:
            return self.parts[0][2]
        found = self.find(file, tree)
        if found is None:
            raise RequestError(f"the entry list has no part for this file, {self._names()}", file=file, object=tree)
        return found

    def check_files(self, files: list[str]) -> None:
        """Raises an error if the lists name none of the files."""
        known = {os.path.basename(name) for name, _, _ in self.parts}
        if not any(os.path.basename(file) in known for file in files):
            raise RequestError(f"the entry list has no part for any of the files, {self._names()}")

    def find(self, file: str, tree: str) -> array[int] | None:
        """Returns the entry numbers for a tree: matched by path, else by unique file name."""
        here = [part for part in self.parts if not part[1] or os.path.basename(part[1]) == os.path.basename(tree)]
        for same in (_as_it_is, _absolute, os.path.basename):
            fitting = [numbers for name, _, numbers in here if same(name) == same(file)]
            if len(fitting) == 1:
                return fitting[0]
        return None

    def _names(self) -> str:
        return "but for " + ", ".join(name for name, _, _ in self.parts[:5])


def entry_lists(given: Any) -> EntryLists:
    """Extracts the entry numbers from an object of a file.

    Raises:
        TypeError: The object is not an entry list.
        UnsupportedError: The list has an unknown storage format.
    """
    kind = given.classname
    if kind == "TEventList":
        count, listed = given["fN"], given["fList"]
        numbers = [] if listed is None else [int(at) for at in listed[:count]]
        if len(numbers) != count:
            raise _wrong(given, f"{count} entries are promised, and there are {len(numbers)}")
        return EntryLists([("", "", array("Q", numbers))])
    if kind != "TEntryList":
        classes = " or a ".join(_CLASSES)
        raise TypeError(f"entries must be a sequence of entry indices, a boolean mask, or a {classes}, not a {kind}")
    inner = given["fLists"]
    parts = [given] if inner is None else list(inner)
    return EntryLists([(str(part["fFileName"]), str(part["fTreeName"]), _numbers(part)) for part in parts])


def _numbers(part: Any) -> array[int]:
    """Returns the entry numbers of a list without sublists."""
    numbers = array("Q")
    for at, block in enumerate(part["fBlocks"] or ()):
        numbers.extend(at * _BLOCK + entry for entry in _of_block(part, block))
    if len(numbers) != part["fN"]:
        raise _wrong(part, f"{part['fN']} entries are promised, and there are {len(numbers)}")
    return numbers


def _of_block(part: Any, block: Any) -> Iterable[int]:
    """Returns the entries of a block, numbered within the block."""
    stored = block["fIndices"]
    words = [] if stored is None else stored.tolist()
    if block["fType"] == 0:
        if len(words) > _BLOCK // 16:
            raise _wrong(part, f"a block of {len(words)} words, which has {_BLOCK // 16} at most")
        return [16 * at + bit for at, word in enumerate(words) if word for bit in range(16) if word >> bit & 1]
    if block["fType"] == -1:  # without entries
        return []
    if block["fType"] != 1:
        raise _wrong(part, f"a block of the kind {block['fType']}")
    listed = words[: block["fN"]]
    if any(a >= b for a, b in pairwise(listed)) or (listed and listed[-1] >= _BLOCK):
        raise _wrong(part, "entries of a block do not ascend")
    if block["fPassing"]:
        return listed
    left_out = set(listed)
    return [entry for entry in range(_BLOCK) if entry not in left_out]


def _wrong(given: Any, what: str) -> UnsupportedError:
    return UnsupportedError(f"{given!r}: {what}", file=given.file.file_path, object=given.object_path)


def _as_it_is(path: str) -> str:
    return path


def _absolute(path: str) -> str:
    return path if "://" in path else os.path.abspath(path)
