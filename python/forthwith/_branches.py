"""What trees and branches have in common: they read the branches they hold."""

from __future__ import annotations

from forthwith import _read
from forthwith._mapping import BranchMapping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any, Literal, TypeAlias

    from forthwith._filters import Filter
    from forthwith._read import Names
    from forthwith._salvage import Errors, Loss
    from forthwith._selection import Selection

    Library: TypeAlias = Literal["ak", "np", "pd", "arrow"]
    How: TypeAlias = type[dict[Any, Any]] | type[tuple[Any, ...]] | type[list[Any]] | Literal["zip"] | None
    Progress: TypeAlias = Callable[[int, int, int, int], object]


class HasBranches(BranchMapping):
    """A mapping from names to branches, with the calls that read several of them."""

    def select(
        self,
        names: Names = None,
        *,
        filter_name: Filter = None,
        filter_typename: Filter = None,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        step_size: int | str = "100 MB",
        threads: int | None = None,
    ) -> Selection:
        """Some branches and entries, for libraries that take Arrow data: ``polars.DataFrame(tree.select(["x"]))``.

        Nothing is read before the consumer pulls; it can pull as often as it likes.

        Args:
            names: As in `arrays`.
            filter_name: As in `arrays`.
            filter_typename: As in `arrays`.
            entry_start: As in `arrays`.
            entry_stop: As in `arrays`.
            step_size: How much is read at a time: a number of entries, or text such as ``"100 MB"``.
            threads: As in `arrays`.
        """
        from forthwith._selection import Selection

        columns = _read.choose(self, names, filter_name, filter_typename)
        start, stop = _read.span(self, entry_start, entry_stop)
        return Selection(self._tree, columns, start, stop, step_size, threads)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """All branches as a stream of Arrow data; `select` gives some of them."""
        return self.select().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """The Arrow types of all branches."""
        return self.select().__arrow_c_schema__()

    def arrays(
        self,
        names: Names = None,
        *,
        filter_name: Filter = None,
        filter_typename: Filter = None,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        library: Library = "ak",
        how: How = None,
        errors: Errors = "raise",
        lost: list[Loss] | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Any:
        """Reads several branches.

        Args:
            names: Names or paths of branches, or one of them; a branch that only groups others stands for these. By
                default all branches with data.
            filter_name: Instead of ``names``: branches whose name or path passes, as in `keys`.
            filter_typename: Instead of ``names``: branches whose type name passes.
            entry_start: The first entry; negative numbers count from the end.
            entry_stop: The entry after the last; negative numbers count from the end.
            library: What to make of the data:

                * ``"ak"``: an Awkward Array of records;
                * ``"np"``: NumPy arrays by name, those of lists and texts with ``dtype=object``;
                * ``"pd"``: a pandas DataFrame; lists, texts and records are columns of Arrow data;
                * ``"arrow"``: a pyarrow Table.
            how: What the arrays are put into: ``dict``, ``tuple``, ``list`` (the types themselves), or with Awkward Array
                ``"zip"``, which makes lists of records ``Muon`` from the lists ``Muon_pt`` and ``Muon_eta`` (whatever
                precedes ``_``, ``.`` or ``/``), if they are equally long. By default what the library has for it.
            errors: What becomes of entries that are damaged, or are in baskets that are: ``"raise"`` an exception, ``"skip"``
                they are left out of all branches, ``"null"`` they are missing values of the branches they are lost of.
            lost: A list that gets a `Loss` for each range of entries of a branch that could not be read. Without it, they are
                a `DataLossWarning`.
            threads: Threads to read with, this one included; by default what ``open`` was told.
            progress: Called with the number of blocks read, the number of all blocks, and the same in bytes, from time to
                time. An exception in it stops the reading and is passed on, as is ``KeyboardInterrupt``.

        Raises:
            KeyInFileError: Something in ``names`` does not exist.
            ValueError: Nothing passes the filters.
            UnsupportedError: A branch has a type that cannot be read yet; `explain` says which can.
        """
        columns = _read.choose(self, names, filter_name, filter_typename)
        into = _read.target(library, how)
        start, stop = _read.entries_of(self, entry_start, entry_stop)
        if errors != "raise":
            from forthwith import _salvage

            _salvage.check(errors)
            found, losses = _salvage.arrays(self._tree, columns, start, stop, errors, library, how, threads, progress)
            if lost is not None:
                lost += losses
            elif losses:
                _salvage.warn(self._tree, losses)
            return found
        return into.read(self._tree, columns, start, stop, threads, progress)

    def iterate(
        self,
        names: Names = None,
        *,
        step_size: int | str = "100 MB",
        report: bool = False,
        filter_name: Filter = None,
        filter_typename: Filter = None,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        library: Library = "ak",
        how: How = None,
        errors: Errors = "raise",
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Iterator[Any]:
        """Reads several branches, some entries at a time.

        Args:
            names: As in `arrays`.
            step_size: Entries in a step, or about how much decompressed data: text such as ``"100 MB"``. Steps in bytes end
                where blocks end, if blocks are small enough.
            report: Whether each step comes with a `Report` of its place, as a pair.
            filter_name: As in `arrays`.
            filter_typename: As in `arrays`.
            entry_start: As in `arrays`.
            entry_stop: As in `arrays`.
            library: As in `arrays`.
            how: As in `arrays`.
            errors: As in `arrays`; a `Report` says in ``lost`` what could not be read, else it is a `DataLossWarning`.
            threads: As in `arrays`.
            progress: As in `arrays`, for each reading anew. Steps that are much smaller than blocks are read several at once.
        """
        columns = _read.choose(self, names, filter_name, filter_typename)
        into = _read.target(library, how)
        if errors != "raise":
            from forthwith import _salvage

            _salvage.check(errors)
            walk = _read.walk(self, columns, entry_start, entry_stop, step_size)
            return _read.iterate_around(self._tree, columns, walk, report, errors, library, how, threads, progress)
        walk = _read.walk(self, columns, entry_start, entry_stop, step_size)
        return _read.iterate(self._tree, columns, walk, into, report, threads, progress)
