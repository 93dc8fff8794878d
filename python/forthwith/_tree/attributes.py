"""Attribute sets: values associated with ranges of entries of an RNTuple."""

from __future__ import annotations

from collections.abc import Mapping

from forthwith._errors import KeyInFileError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from forthwith._tree.tree import Tree

START, LENGTH, VALUES = "_rangeStart", "_rangeLen", "_userData"


class Attributes(Mapping[str, "AttributeSet"]):
    """The attribute sets of a table, by name; empty for trees and RNTuples without attributes."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._names = tree._core.attribute_sets()

    def __getitem__(self, name: str) -> AttributeSet:
        if name not in self._names:
            there = f"; it has {', '.join(map(repr, self._names))}" if self._names else ""
            raise KeyInFileError(f"no attribute set {name!r} of {self._tree!r}{there}")
        return AttributeSet(self._tree, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"<Attributes of {self._tree!r}: {', '.join(self._names) or 'none'}>"


class AttributeSet:
    """A table of values, each row of which is associated with a range of entries.

    Attributes:
        name: The name of the set.
        tree: The rows as a table, with the fields ``_rangeStart``, ``_rangeLen`` and ``_userData``.
    """

    def __init__(self, of: Tree, name: str) -> None:
        path, _, cycle = of.path.partition(";")
        self.name = name
        self.tree: Tree = of._file._tree_of(f"{path}@{name}{';' if cycle else ''}{cycle}")
        self._ranges: list[tuple[int, int]] | None = None

    def __len__(self) -> int:
        """Number of rows."""
        return self.tree.num_entries

    def keys(self) -> list[str]:
        """Names of the values."""
        return self.tree[VALUES].keys(recursive=False)

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """The first entry of each row, and the entry after its last."""
        if self._ranges is None:
            starts, lengths = (self.tree[name].array(library="np").tolist() for name in (START, LENGTH))
            self._ranges = [(start, start + length) for start, length in zip(starts, lengths, strict=True)]
        return self._ranges

    def arrays(self, expressions: Any = None, **options: Any) -> Any:
        """Reads the values of all rows, as `Branch.arrays` does."""
        return self.tree[VALUES].arrays(expressions, **options)

    def covering(self, start: int, stop: int | None = None) -> list[int]:
        """Returns the rows whose ranges contain ``start``, or ``start`` to ``stop``, by range start."""
        stop = start + 1 if stop is None else stop
        return self._rows(start, stop, lambda first, last: first <= start and stop <= last)

    def within(self, start: int, stop: int) -> list[int]:
        """Returns the rows whose ranges lie within ``start`` to ``stop``, by range start."""
        return self._rows(start, stop, lambda first, last: start <= first and last <= stop)

    def _rows(self, start: int, stop: int, wanted: Any) -> list[int]:
        # Rows with an empty range are never included.
        rows = [
            row
            for row, (first, last) in enumerate(self.ranges)
            if start < stop and first < last and wanted(first, last)
        ]
        return sorted(rows, key=lambda row: self.ranges[row][0])

    def __repr__(self) -> str:
        return f"<AttributeSet {self.name!r} with {len(self)} rows>"
