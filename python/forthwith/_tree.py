"""Trees: tables whose columns are branches."""

from __future__ import annotations

from forthwith._branch import Branch
from forthwith._branches import HasBranches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from forthwith import _forthwith
    from forthwith._file import File


class Tree(HasBranches):
    """A tree of a file: a mapping from names to branches.

    ``tree["x"].array()`` reads one branch, ``tree.arrays(["x", "y"])`` several, ``tree.iterate(["x"])`` some entries at a
    time. The tree itself is a stream of Arrow data: ``polars.DataFrame(tree)``, ``pyarrow.table(tree)``.
    """

    def __init__(self, file: File, core: _forthwith.Table) -> None:
        self._file = file
        self._core = core
        self._tree = self
        self._index = None
        self._path = ""
        # Made when they are asked for; whichever thread is last, they are the same.
        self._all_fields: list[_forthwith.Field] | None = None
        self._all_children: dict[int | None, list[int]] | None = None
        self._described: dict[int, _forthwith.Description] = {}

    @property
    def path(self) -> str:
        """Path within the file."""
        return self._core.path

    @property
    def name(self) -> str:
        """Name, the last part of the path."""
        return self.path.rpartition("/")[2].partition(";")[0]

    @property
    def title(self) -> str:
        """The description its writer gave it."""
        return self._core.title

    @property
    def classname(self) -> str:
        """The class, such as ``TTree``."""
        return self._core.classname

    @property
    def num_entries(self) -> int:
        """Number of entries."""
        return self._core.entries

    @property
    def damage(self) -> list[tuple[int, int, int, str]]:
        """What ``open(..., skip_damaged=True)`` left out: block, first byte, byte after the last, what is wrong."""
        return self._core.damage()

    @property
    def _fields(self) -> list[_forthwith.Field]:
        if self._all_fields is None:
            self._all_fields = self._core.fields()
        return self._all_fields

    @property
    def _children(self) -> dict[int | None, list[int]]:
        if self._all_children is None:
            children: dict[int | None, list[int]] = {}
            for at, field in enumerate(self._fields):
                children.setdefault(field.parent, []).append(at)
            self._all_children = children
        return self._all_children

    def _describe(self, at: int) -> _forthwith.Description:
        known = self._described.get(at)
        if known is None:
            known = self._described[at] = self._core.describe(at)
        return known

    def _branch(self, at: int) -> Branch:
        return Branch(self, at)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Tree) and self._file is other._file and self.path == other.path)

    def __hash__(self) -> int:
        return hash((id(self._file), self.path))

    def __repr__(self) -> str:
        return f"<{self.classname} {self.path!r} ({self.num_entries} entries, {len(self)} branches)>"

    def __enter__(self) -> Tree:
        return self

    def __exit__(self, *exception: object) -> None:
        self._file.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self._file, self.path)


def _reopen(file: File, path: str) -> Tree:
    return Tree(file, file._table(path))
