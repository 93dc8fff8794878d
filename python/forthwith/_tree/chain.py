"""Many files as one: trees of the same kind, one after the other."""

from __future__ import annotations

from forthwith._errors import RequestError
from forthwith._interop import library as _library
from forthwith._opening import Settings, open_one
from forthwith._paths import expand
from forthwith._tree.tree import Tree
from forthwith._tree.walk import Report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from forthwith._interop.base import LibraryName


class ChainReport(Report):
    """Where a step lies, in its file and in all of them together."""

    def __init__(self, report: Report, offset: int) -> None:
        super().__init__(report.tree, report.start, report.stop)
        self.lost = report.lost
        self._offset = offset

    @property
    def global_entry_start(self) -> int:
        """First entry, counted in all files."""
        return self.start + self._offset

    @property
    def global_entry_stop(self) -> int:
        """Entry after the last, counted in all files."""
        return self.stop + self._offset


class Chain:
    """The trees of several files, one after the other. Files are opened when they are read, and closed after it.

    ``for tree in chain`` gives the trees; `arrays` and `iterate` read them as `Tree.arrays` and `Tree.iterate` do. The branches
    are those of the first tree, and the others must have them, too.
    """

    def __init__(self, files: Any, **options: Any) -> None:
        self._parts = list(expand(files))
        self._settings = Settings.of(**options)
        self._lengths: list[int | None] = [None] * len(self._parts)

    @property
    def files(self) -> list[str]:
        """The files, as ``path:tree``."""
        return [f"{path}:{inner}" if inner else str(path) for path, inner in self._parts]

    def _open(self, at: int) -> Tree:
        path, inner = self._parts[at]
        found = open_one(path, inner, self._settings)
        if isinstance(found, Tree):
            return found
        try:
            names = list(dict.fromkeys(found.iterkeys(cycle=False, filter_classname=["TTree", "TNtuple", "TNtupleD"])))
            if len(names) != 1:
                raise RequestError(f"{path} has {len(names)} trees: say which, as in {str(path) + ':tree'!r}")
            tree: Tree = found[names[0]]
        except BaseException:
            found.file.close()
            raise
        return tree

    def __iter__(self) -> Iterator[Tree]:
        for at in range(len(self._parts)):
            with self._open(at) as tree:
                self._lengths[at] = tree.num_entries
                yield tree

    @property
    def lengths(self) -> list[int]:
        """The number of entries of each tree."""
        for at, length in enumerate(self._lengths):
            if length is None:
                with self._open(at) as tree:
                    self._lengths[at] = tree.num_entries
        return [length for length in self._lengths if length is not None]

    @property
    def num_entries(self) -> int:
        """The number of entries of all trees together."""
        return sum(self.lengths)

    def keys(self, **filters: Any) -> list[str]:
        """The names of the branches of the first tree. The arguments are those of `Tree.keys`."""
        with self._open(0) as tree:
            return tree.keys(**filters)

    def __len__(self) -> int:
        """The number of trees."""
        return len(self._parts)

    def __repr__(self) -> str:
        return f"<Chain of {len(self)} trees, the first {self.files[0]!r}>"

    def iterate(
        self,
        names: Any = None,
        *,
        report: bool = False,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        **options: Any,
    ) -> Iterator[Any]:
        """Reads all trees, some entries at a time; no step has entries of two files.

        Args:
            names: As in `Tree.iterate`.
            report: Whether each step comes with a `Report`, whose ``global_entry_start`` counts the entries of all files.
            entry_start: The first entry, counted in all files.
            entry_stop: The entry after the last.
            options: As in `Tree.iterate`.
        """
        for tree, start, stop, offset in self._pieces(entry_start, entry_stop):
            for arrays, place in tree.iterate(names, report=True, entry_start=start, entry_stop=stop, **options):
                yield (arrays, ChainReport(place, offset)) if report else arrays

    def arrays(
        self,
        names: Any = None,
        *,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        library: LibraryName = "ak",
        **options: Any,
    ) -> Any:
        """Reads all trees, and puts together what is in them.

        Args:
            names: As in `Tree.arrays`.
            entry_start: The first entry, counted in all files.
            entry_stop: The entry after the last.
            library: As in `Tree.arrays`.
            options: As in `Tree.arrays`.
        """
        parts = [
            tree.arrays(names, entry_start=start, entry_stop=stop, library=library, **options)
            for tree, start, stop, _ in self._pieces(entry_start, entry_stop)
        ]
        return _library(library).join(parts)

    def _pieces(self, start: int | None, stop: int | None) -> Iterator[tuple[Tree, int, int | None, int]]:
        """Each tree with the entries wanted of it, and how many are before it. Where nothing is wanted, of the last none.

        No more entries are counted than it takes: where blocks lie one behind the other, they have to be looked for.
        """
        if any(bound is not None and bound < 0 for bound in (start, stop)):
            total = self.num_entries
            start = None if start is None else max(0, start + total if start < 0 else start)
            stop = None if stop is None else max(0, stop + total if stop < 0 else stop)
        offset, found = 0, False
        for at in range(len(self._parts)):
            if stop is not None and offset >= stop and found:
                return
            with self._open(at) as tree:
                before = max(0, (start or 0) - offset)
                behind = None if stop is None else max(0, stop - offset)
                some = tree._core.entries_up_to(before + 1) > before and (behind is None or behind > before)
                if some or (not found and at == len(self._parts) - 1):
                    found = True
                    yield tree, before, behind, offset
                if behind is None:
                    length = self._lengths[at] = tree.num_entries
                else:
                    length = tree._core.entries_up_to(behind)
                offset += length


def concatenate(files: Any, names: Any = None, *, library: LibraryName = "ak", **options: Any) -> Any:
    """Reads the trees of several files into one.

    Args:
        files: Names such as ``"dir/*.root:tree"``, a list of them, or ``{path: tree}``; in paths ``*``, ``?``, ``**``
            and ``[...]`` stand for what they do in a shell. A file with one tree needs no name of it.
        names: As in `Tree.arrays`.
        library: As in `Tree.arrays`.
        options: As in `Tree.arrays`.
    """
    return Chain(files).arrays(names, library=library, **options)


def iterate(files: Any, names: Any = None, **options: Any) -> Iterator[Any]:
    """Reads the trees of several files, some entries at a time.

    Args:
        files: As in `concatenate`.
        names: As in `Tree.arrays`.
        options: As in `Tree.iterate`.
    """
    return Chain(files).iterate(names, **options)


__all__ = ["Chain", "ChainReport", "concatenate", "iterate"]
