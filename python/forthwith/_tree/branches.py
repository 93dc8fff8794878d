"""Methods of both trees and branches, which list and read their branches."""

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
    """A mapping from names to branches that can be read."""

    _iterated = frozenset(_ITERATE)

    def num_entries_for(self, memory_size: int | str, names: Names = None, **filters: Any) -> int:
        """Returns the approximate number of entries of some branches that fit in a memory size, at least 1.

        Args:
            memory_size: Decompressed size in bytes: a number, or text such as ``"100 MB"``.
            names: As in `arrays`.
            filters: As in `arrays`.
        """
        size = memory_size_of(memory_size, "memory_size")
        descriptions = [self._tree._describe(at) for at in self._fields_of("num_entries_for", names, filters)]
        each = sum(about.payload_bytes / about.entries for about in descriptions if about.entries)
        return max(1, int(size / each)) if each else max(1, self.num_entries)

    def common_entry_offsets(self, names: Names = None, **filters: Any) -> list[int]:
        """Returns the entries at which baskets of all given branches begin, and the number of entries.

        Args:
            names: As in `arrays`.
            filters: As in `arrays`.
        """
        branches = [self._tree._branch(at) for at in self._fields_of("common_entry_offsets", names, filters)]
        # Hive partition columns have no baskets.
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
        """Selects branches and entries for libraries that take Arrow data, such as polars.

        Data are read when the consumer pulls batches, which it can do repeatedly:
        ``polars.DataFrame(tree.select(["x"]))``.

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
            step_size: Amount of data per step: a number of entries, or text such as ``"100 MB"``.
            threads: As in `arrays`.
            unions: ``"union"`` for Arrow unions, or ``"struct"`` for structs with a nullable field for each
                alternative. By default structs, because polars and DuckDB do not support unions; writers of
                this package keep unions.
            maps: Whether lists of pairs with text keys are Arrow maps, with entries ``key`` and ``value``.
            strings: The layout of text and bytes: ``"large_string"`` (the default), ``"string"`` with 32-bit
                offsets, or ``"string_view"``, which polars imports without a copy.
            dictionaries: Names of text columns to dictionary-encode. ``True`` keeps the dictionaries of the
                file's Arrow schema.
            unknown: Unknown arguments are refused.
        """
        from forthwith._tree.selection import Selection

        _keywords.refuse("select", unknown, _SELECT)
        choice = chosen(cut, aliases, entries, friends)
        columns = self._chosen(names, filter_name, filter_typename, filter_branch, exclude, choice)
        start, stop = read.span(self, entry_start, entry_stop)
        return Selection(self._tree, columns, start, stop, step_size, threads, unions, maps, strings, dictionaries)

    def _to_be_written(self) -> Selection:
        """Selects all branches for our own writers, which support unions."""
        return self.select()._to_be_written()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Returns all branches as an Arrow stream; `select` returns some of them."""
        return self.select().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """Returns the Arrow schema of all branches."""
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
            names: Names or paths of branches, or one of them; a branch without data of its own means its
                children. Other text can be an alias, or an expression such as ``"Muon_pt * 2"``. By default,
                all branches with data.
            filter_name: Instead of ``names``: selects branches whose name or path matches, as in `keys`.
            filter_typename: Instead of ``names``: selects branches by type name.
            filter_branch: Instead of ``names``: selects branches for which this function of a `Branch` is
                true.
            exclude: Instead of ``names``: excludes branches whose name or path matches.
            entry_start: The first entry; negative numbers count from the end.
            entry_stop: The entry after the last; negative numbers count from the end.
            cut: Expression such as ``"nMuon > 1"`` with one value for each entry, which filters entries. Its
                columns are read first, and of the others only blocks with passing entries.
            aliases: Names of expressions, for ``names``, ``cut`` and other aliases.
            entries: Numbers of entries of the tree in ascending order, a boolean for each entry, or a
                ``TEntryList`` or ``TEventList`` of a file. Bounds apply as well.
            friends: Trees or chains to read along with this one, by names: ``"f.x"`` is the column ``x`` of
                the friend ``f``. Their entries are matched by number, or by their index. Without ``names``,
                all their columns are read, too. Friends that are stored with the tree need not be passed.
            library: The library of the result:

                * ``"ak"``: an Awkward Array of records;
                * ``"np"``: NumPy arrays by name, with ``dtype=object`` for lists and text;
                * ``"pd"``: a pandas DataFrame, with Arrow-backed columns for lists, text and records;
                * ``"pl"``: a polars DataFrame;
                * ``"arrow"``: a pyarrow Table.
            how: The container of the arrays: ``dict``, ``tuple``, ``list`` (the types themselves), or with
                Awkward Array ``"zip"``, which combines lists of equal lengths, such as ``Muon_pt`` and
                ``Muon_eta``, to lists of records ``Muon`` (the part before ``_``, ``.`` or ``/``). By
                default, the usual container of the library.
            errors: The treatment of damaged entries and entries in damaged baskets: ``"raise"`` an exception,
                ``"skip"`` them in all branches, or ``"null"`` for missing values in the damaged branches.
                Both also skip the missing end of a truncated Avro file.
            lost: A list to which a `Loss` is appended for each unreadable range of entries of a branch.
                Without it, losses are reported by a `DataLossWarning`.
            threads: Number of threads, including the calling one; by default that of ``open``.
            progress: Callback that is called at intervals with the number of blocks read, of all blocks, of
                bytes read and of all bytes. An exception in it stops the read and is propagated, as is
                ``KeyboardInterrupt``. ``True`` shows a progress bar.
            logical: Whether dates and times are ``datetime64`` and ``timedelta64`` in Awkward Array and
                NumPy, and decimals ``decimal.Decimal`` in NumPy; otherwise they are the stored numbers or
                bytes.
            virtual: Whether each branch is read on first access, with Awkward Array's virtual arrays. A file
                that was closed meanwhile is opened again.
            unknown: Unknown arguments are refused, with a hint for arguments of other libraries.

        Raises:
            KeyInFileError: A name in ``names`` does not exist.
            RequestError: An expression is invalid or cannot be computed; the message marks the position. Text
                in ``names`` that is neither a branch nor an expression raises `RequestKeyError`, which is
                also a `KeyInFileError`.
            ValueError: No branch passes the filters.
            UnsupportedError: A branch has an unsupported type; see `explain`. The filter
                ``filter_branch=lambda branch: branch.interpretation.decoder is not None`` excludes such
                branches.
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
        """Reads several branches in steps.

        Args:
            names: As in `arrays`.
            step_size: Number of entries in a step, or approximate decompressed size: text such as ``"100
                MB"``. Steps by size end at the end of blocks, if blocks are small enough.
            report: Whether to yield pairs of the data and a `Report` of the step.
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
            errors: As in `arrays`; losses are in ``lost`` of a `Report`, or reported by a `DataLossWarning`.
            threads: As in `arrays`.
            progress: As in `arrays`; a bar spans all steps, and a callback is called for each read
                separately. Steps that are much smaller than blocks are read together.
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
            # The start is counted from the end of the file, which is truncated.
            if errors == "raise":
                raise
            begun = around(None)
        return walk.iterate(*begun, options, report, around)
