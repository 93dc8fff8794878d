"""The methods that trees and branches have in common: they are mappings to branches, and read those they hold."""

from __future__ import annotations

from forthwith import _filters, _keywords
from forthwith._entries import memory_size as memory_size_of
from forthwith._errors import DamagedFileError
from forthwith._tree import read, typed, walk
from forthwith._tree.mapping import FILTERS, BranchMapping
from forthwith._tree.query import Choice, Query, chosen
from forthwith._tree.rows import HasRows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from forthwith._filters import Filter
    from forthwith._interop.base import How, LibraryName
    from forthwith._tree.branch import Branch
    from forthwith._tree.damage import Loss
    from forthwith._tree.options import Errors, Progress
    from forthwith._tree.read import Names
    from forthwith._tree.selection import Selection, Strings, Unions

_CHOICE = FILTERS - {"recursive", "full_paths"} | {"names", "entry_start", "entry_stop", "threads"}
_CHOICE |= {"cut", "aliases", "entries", "friends"}
_SELECT = _CHOICE | {"step_size", "unions", "maps", "strings", "dictionaries"}
_ITERATE = _CHOICE | {"step_size", "library", "how", "errors", "report", "progress", "logical"}
_ARRAYS = _CHOICE | {"library", "how", "errors", "lost", "progress", "logical", "virtual"}


class HasBranches(BranchMapping, HasRows):
    """A mapping from names to branches, which can be read."""

    _iterated = frozenset(_ITERATE)

    def num_entries_for(self, memory_size: int | str, names: Names = None, **filters: Any) -> int:
        """About how many entries of some branches take so much memory, at least one.

        Args:
            memory_size: Bytes when decompressed: a number, or text such as ``"100 MB"``.
            names: As in `arrays`.
            filters: As in `arrays`.
        """
        size = memory_size_of(memory_size, "memory_size")
        descriptions = [self._tree._describe(at) for at in self._fields_of("num_entries_for", names, filters)]
        each = sum(about.payload_bytes / about.entries for about in descriptions if about.entries)
        return max(1, int(size / each)) if each else max(1, self.num_entries)

    def common_entry_offsets(self, names: Names = None, **filters: Any) -> list[int]:
        """The entries at which baskets of all of some branches begin, and the number of entries.

        Args:
            names: As in `arrays`.
            filters: As in `arrays`.
        """
        branches = [self._tree._branch(at) for at in self._fields_of("common_entry_offsets", names, filters)]
        # What folders say is in no basket.
        offsets = [set(branch.entry_offsets) for branch in branches if not branch._is_said]
        return sorted(set.intersection(*offsets)) if offsets else [0, self.num_entries]

    def _fields_of(self, call: str, names: Names, filters: dict[str, Any]) -> list[int]:
        known = FILTERS - {"recursive", "full_paths"}
        _keywords.refuse(call, filters.keys() - known, known)
        columns = read.choose(self, names, _filters.BranchFilter(**filters))
        return columns.core.fields if isinstance(columns, Query) else [at for _, at in columns]

    def _chosen(
        self,
        names: Names,
        filter_name: Filter,
        filter_typename: Filter,
        filter_branch: Callable[[Branch], object] | None,
        exclude: Filter,
        choice: Choice,
    ) -> read.Columns:
        wanted = _filters.passing(
            filter_name=filter_name, filter_typename=filter_typename, filter_branch=filter_branch, exclude=exclude
        )
        return read.choose(self, names, wanted, choice=choice)

    def stats(self, names: Names = None, **options: Any) -> dict[str, Any]:
        """Summarises branches in one pass: counts, extremes, moments, quantiles, distinct and most frequent values.

        Args:
            names: As in `arrays`.
            options: ``quantiles``, ``top`` and ``distinct`` as in ``Selection.stats``, and the arguments of `select`.
        """
        own = {name: options.pop(name) for name in ("quantiles", "top", "distinct") if name in options}
        return self.select(names, **options).stats(**own)

    def select(
        self,
        names: Names = None,
        *,
        filter_name: Filter = None,
        filter_typename: Filter = None,
        filter_branch: Callable[[Branch], object] | None = None,
        exclude: Filter = None,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        cut: str | None = None,
        aliases: Mapping[str, str] | None = None,
        entries: Any = None,
        friends: Mapping[str, Any] | None = None,
        step_size: int | str = "100 MB",
        threads: int | None = None,
        unions: Unions | None = None,
        maps: bool = True,
        strings: Strings | None = None,
        dictionaries: bool | Sequence[str] = False,
        **unknown: Any,
    ) -> Selection:
        """Some branches and entries, for libraries that take Arrow data: ``polars.DataFrame(tree.select(["x"]))``.

        Nothing is read before the consumer pulls; it can pull as often as it likes.

        Args:
            names: As in `arrays`.
            filter_name: As in `arrays`.
            filter_typename: As in `arrays`.
            filter_branch: As in `arrays`.
            exclude: As in `arrays`.
            entry_start: As in `arrays`.
            entry_stop: As in `arrays`.
            cut: As in `arrays`.
            aliases: As in `arrays`.
            entries: As in `arrays`.
            friends: As in `arrays`.
            step_size: How much is read at a time: a number of entries, or text such as ``"100 MB"``.
            threads: As in `arrays`.
            unions: ``"union"`` for Arrow's own, or ``"struct"`` for structs with one nullable field an alternative. By default
                structs, since polars and DuckDB fail at unions; what writes files here keeps unions.
            maps: Whether lists of pairs of text and something else are Arrow's maps, with entries ``key`` and ``value``.
            strings: The layout of text and bytes: ``"large_string"`` (the default), ``"string"`` with offsets of 32 bits, or
                ``"string_view"``, which polars takes over without a copy.
            dictionaries: Columns of text that become dictionaries, by their names. ``True`` keeps the dictionaries of the
                Arrow schema that the file has.
            unknown: Anything else is refused.
        """
        from forthwith._tree.selection import Selection

        _keywords.refuse("select", unknown, _SELECT)
        choice = chosen(cut, aliases, entries, friends)
        columns = self._chosen(names, filter_name, filter_typename, filter_branch, exclude, choice)
        start, stop = read.span(self, entry_start, entry_stop)
        return Selection(self._tree, columns, start, stop, step_size, threads, unions, maps, strings, dictionaries)

    def _to_be_written(self) -> Selection:
        """All branches for a writer of our own, which knows unions."""
        return self.select()._to_be_written()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """All branches as a stream of Arrow data; `select` gives some of them."""
        return self.select().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """The Arrow types of all branches."""
        return self.select().__arrow_c_schema__()

    @typed.arrays
    def arrays(
        self,
        names: Names = None,
        *,
        filter_name: Filter = None,
        filter_typename: Filter = None,
        filter_branch: Callable[[Branch], object] | None = None,
        exclude: Filter = None,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        cut: str | None = None,
        aliases: Mapping[str, str] | None = None,
        entries: Any = None,
        friends: Mapping[str, Any] | None = None,
        library: LibraryName = "ak",
        how: How = None,
        errors: Errors = "raise",
        lost: list[Loss] | None = None,
        threads: int | None = None,
        progress: Progress | bool | None = None,
        logical: bool = True,
        virtual: bool = False,
        **unknown: Any,
    ) -> Any:
        """Reads several branches.

        Args:
            names: Names or paths of branches, or one of them; a branch that only groups others stands for these. Other
                texts can be an alias, or an expression such as ``"Muon_pt * 2"``. By default all branches with data.
            filter_name: Instead of ``names``: branches whose name or path passes, as in `keys`.
            filter_typename: Instead of ``names``: branches whose type name passes.
            filter_branch: Instead of ``names``: branches for which this function of a `Branch` is true.
            exclude: Instead of ``names``: branches whose name or path passes are left out.
            entry_start: The first entry; negative numbers count from the end.
            entry_stop: The entry after the last; negative numbers count from the end.
            cut: An expression such as ``"nMuon > 1"`` with one value for each entry: entries for which it is true are read. Its
                columns are read first, and of the others only blocks with such entries.
            aliases: Names for expressions, which ``names``, ``cut`` and other aliases may use.
            entries: Numbers of entries of the tree, which ascend, or for each entry whether it is wanted, or a ``TEntryList``
                or ``TEventList`` of a file. Bounds count too.
            friends: Trees or chains to read beside this one, by names: ``"f.x"`` is the column ``x`` of the friend ``f``. Their
                entries are those of the same numbers, or by an index that they have. Without ``names`` all their columns are
                read, too. Friends that the file names need not be given.
            library: The library that gets the data:

                * ``"ak"``: an Awkward Array of records;
                * ``"np"``: NumPy arrays by name, those of lists and texts with ``dtype=object``;
                * ``"pd"``: a pandas DataFrame; lists, texts and records are columns of Arrow data;
                * ``"pl"``: a polars DataFrame;
                * ``"arrow"``: a pyarrow Table.
            how: The container of the arrays: ``dict``, ``tuple``, ``list`` (the types themselves), or with Awkward Array
                ``"zip"``, which makes lists of records ``Muon`` from the lists ``Muon_pt`` and ``Muon_eta`` (whatever
                precedes ``_``, ``.`` or ``/``), if they are equally long. By default what the library has for it.
            errors: The treatment of entries that are damaged, or are in damaged baskets: ``"raise"`` an exception, ``"skip"``
                they are left out of all branches, ``"null"`` they are missing values of the branches they are lost of. The
                end of an Avro file that is cut off is left out by both.
            lost: A list that gets a `Loss` for each range of entries of a branch that could not be read. Without it, they are
                a `DataLossWarning`.
            threads: Threads to read with, this one included; by default what ``open`` was told.
            progress: Called with the number of blocks read, the number of all blocks, and the same in bytes, from time to
                time. An exception in it stops the reading and is passed on, as is ``KeyboardInterrupt``. ``True`` draws a bar.
            logical: Whether dates and times are ``datetime64`` and ``timedelta64`` in Awkward Array and NumPy, and decimals of
                NumPy ``decimal.Decimal``; otherwise they are the numbers or bytes that are stored.
            virtual: Whether each branch is read when it is first touched, as Awkward Array's virtual arrays are. Of a file
                that was closed until then, it is opened again.
            unknown: Anything else is refused, with what to write instead where other libraries have it.

        Raises:
            KeyInFileError: Something in ``names`` does not exist.
            RequestError: An expression cannot be understood or computed; the message points at the place. A text in ``names``
                that is neither a branch nor an expression is a `RequestKeyError`, which is also a `KeyInFileError`.
            ValueError: Nothing passes the filters.
            UnsupportedError: A branch has a type that cannot be read yet; `explain` says which can. The filter
                ``filter_branch=lambda branch: branch.interpretation.decoder is not None`` leaves such branches out.
        """
        from forthwith._tree.options import ReadOptions

        _keywords.refuse("arrays", unknown, _ARRAYS)
        choice = chosen(cut, aliases, entries, friends)
        options = ReadOptions(library, how, errors, lost, threads, progress, logical=logical)
        sound = self._sound(options)
        columns = sound._chosen(names, filter_name, filter_typename, filter_branch, exclude, choice)
        start, stop = read.entries_of(sound, entry_start, entry_stop)
        if virtual:
            from forthwith._tree import virtual as columns_read_later  # not at the top: few calls need it

            return columns_read_later.arrays(sound._tree, columns, start, stop, options)
        return walk.arrays(sound._tree, columns, start, stop, options)

    @typed.iterate
    def iterate(
        self,
        names: Names = None,
        *,
        step_size: int | str = "100 MB",
        report: bool = False,
        filter_name: Filter = None,
        filter_typename: Filter = None,
        filter_branch: Callable[[Branch], object] | None = None,
        exclude: Filter = None,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        cut: str | None = None,
        aliases: Mapping[str, str] | None = None,
        entries: Any = None,
        friends: Mapping[str, Any] | None = None,
        library: LibraryName = "ak",
        how: How = None,
        errors: Errors = "raise",
        threads: int | None = None,
        progress: Progress | bool | None = None,
        logical: bool = True,
        **unknown: Any,
    ) -> Iterator[Any]:
        """Reads several branches, some entries at a time.

        Args:
            names: As in `arrays`.
            step_size: Entries in a step, or about how much decompressed data: text such as ``"100 MB"``. Steps in bytes end
                where blocks end, if blocks are small enough.
            report: Whether each step comes with a `Report` of its place, as a pair.
            filter_name: As in `arrays`.
            filter_typename: As in `arrays`.
            filter_branch: As in `arrays`.
            exclude: As in `arrays`.
            entry_start: As in `arrays`.
            entry_stop: As in `arrays`.
            cut: As in `arrays`.
            aliases: As in `arrays`.
            entries: As in `arrays`.
            friends: As in `arrays`.
            library: As in `arrays`.
            how: As in `arrays`.
            errors: As in `arrays`; a `Report` says in ``lost`` what could not be read, else it is a `DataLossWarning`.
            threads: As in `arrays`.
            progress: As in `arrays`; a bar is one for all steps, a function is called for each reading anew. Steps that are
                much smaller than blocks are read several at once.
            logical: As in `arrays`.
            unknown: As in `arrays`.
        """
        from forthwith._tree.options import ReadOptions

        _keywords.refuse("iterate", unknown, _ITERATE)
        choice = chosen(cut, aliases, entries, friends)
        options = ReadOptions(library, how, errors, None, threads, progress, logical=logical)

        def walked(owner: Any, start: int | None) -> walk.Walked:
            columns = owner._chosen(names, filter_name, filter_typename, filter_branch, exclude, choice)
            return owner._tree, columns, read.walk(owner, columns, start, entry_stop, step_size)

        def around(start: int | None) -> walk.Walked:
            return walked(self._sound(options), entry_start if start is None else start)

        try:
            begun = walked(self, entry_start)
        except DamagedFileError:
            # An entry that is counted from an end which is cut off.
            if errors == "raise":
                raise
            begun = around(None)
        return walk.iterate(*begun, options, report, around)
