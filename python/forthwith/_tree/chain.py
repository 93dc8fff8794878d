"""Chains: trees of several files, read as one."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from contextlib import nullcontext
from functools import partial
from itertools import accumulate

from forthwith import _filters, _forthwith, _keywords, _show
from forthwith._entries import step_size as step_size_of
from forthwith._errors import KeyInFileError, RequestError
from forthwith._forthwith import redact
from forthwith._interop.exact import Rounded
from forthwith._interop.original import Kept
from forthwith._opening import TABLES, Settings, apart, open_one
from forthwith._paths import expand_with_folders
from forthwith._stores import flat, is_foreign, without_password
from forthwith._tree import alike, damage, runs, typed
from forthwith._tree.ahead import Ahead
from forthwith._tree.alike import ChainReport
from forthwith._tree.chain_mapping import ChainMapping
from forthwith._tree.chained import WHERE, ChainBranch, ChainSelection, chained
from forthwith._tree.common import Common, check_missing, nulls_named
from forthwith._tree.protocols import chosen_names
from forthwith._tree.query import Choice
from forthwith._tree.rows import HasRows
from forthwith._tree.tree import Tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from forthwith._paths import Constants
    from forthwith._tree.common import Missing
    from forthwith._tree.options import ReadOptions
    from forthwith._tree.read import Names


_FILTERS = ("filter_name", "filter_typename", "filter_branch", "exclude")
_CHOOSE = ("cut", "aliases", "entries", "friends")


class Chain(ChainMapping, HasRows):
    """The trees of several files as one. Each file is only open while it is read.

    `arrays` and `iterate` read the trees as `Tree.arrays` and `Tree.iterate` do, `keys`, `items` and related
    methods list their branches, and ``chain["x"]`` is a branch of all trees. The chain itself is an Arrow
    stream, as a tree is. Unlike a tree, it iterates over its trees: ``for tree in chain``, and ``len(chain)``
    is their number. Times with a time zone are in that of the first file, and in UTC if the first file lacks
    the column.

    Args:
        files: As in `concatenate`.
        missing: The treatment of branches that some trees lack: ``"raise"`` an error that names file and
            branches, or ``"null"`` for missing values in the entries of these trees, with numbers in the
            common type of all trees. An integer that this floating-point type cannot represent is an error.
        options: As in ``open``.
    """

    _iterated = frozenset((*_CHOOSE, *_FILTERS, *_keywords.READ, "entry_start", "entry_stop", "missing", "report"))
    # Those of the first file, computed on first use.
    _zones: _forthwith.Zones | None = None
    _kept: Kept | None = None

    def __init__(self, files: Any, *, missing: Missing = "raise", **options: Any) -> None:
        check_missing(missing)
        self._parts, self._constants = expand_with_folders(files, options.get("storage_options"))
        self._settings = Settings.given("open", options, "missing")
        self._missing = missing
        self._lengths: list[int | None] = [None] * len(self._parts)

    @property
    def files(self) -> list[str]:
        """Names of the files, as ``path:tree``."""
        named = [f"{path}:{inner}" if inner else str(path) for path, inner in self._parts]
        return [without_password(name) for name in named]

    def _open(self, at: int) -> Tree:
        tree = self._open_bare(at)
        tree._kept_by = partial(self._kept_of_first, at)
        try:
            if at and len(tree._core.zones()):
                tree = tree._in_zones_of(self._zones_of_first())
            constants = self._constants[at]
            return tree._with_constants(constants) if constants else tree
        except BaseException:
            tree.file.close()
            raise

    def _kept_of_first(self, at: int, tree: Tree) -> Kept:
        """Returns the Arrow schema and metadata of the first file; ``tree`` is file number ``at``."""
        if self._kept is None:
            with nullcontext(tree) if at == 0 else self._open_bare(0) as first:
                self._kept = Kept.of(first)
        return self._kept

    def _zones_of_first(self) -> _forthwith.Zones:
        """Returns the time zones of the first file, which apply to all files."""
        if self._zones is None:
            with self._open_bare(0) as tree:
                self._zones = tree._core.zones()
        return self._zones

    def _open_bare(self, at: int) -> Tree:
        """Opens a tree without its Hive partition columns."""
        path, inner = self._parts[at]
        found = open_one(path, inner, self._settings)
        if isinstance(found, Tree):
            return found
        try:
            names = list(dict.fromkeys(found.iterkeys(cycle=False, filter_classname=TABLES)))
            if len(names) != 1:
                raise RequestError(f"{path} has {len(names)} trees: say which, as in {str(path) + ':tree'!r}")
            tree: Tree = found[names[0]]
        except BaseException:
            found.file.close()
            raise
        return tree

    def _ahead(self) -> Ahead:
        """Opens the trees in order, with remote ones opened ahead."""
        return Ahead(self._open, [isinstance(path, str) and "://" in path for path, _ in self._parts])

    def _columns(self) -> list[str]:
        """Returns the names of the branches of the first tree that have data."""
        with self._open(0) as tree:
            return tree._columns()

    def _beside(self, before: int, tree: Tree) -> tuple[list[_forthwith.Table], int]:
        """Returns the tables of this friend, and the first entry of ``tree`` counted within them.

        The trees stay open while they are read: those with the entries, or all of them if they are found by
        an index.
        """
        first = self._open(0)
        if len(self) == 1 or first._core.index_names() is not None:
            return [first._core, *(self._open(at)._core for at in range(1, len(self)))], before
        ends = list(accumulate(self.lengths))
        begin = min(bisect_right(ends, before), len(ends) - 1)
        stop = min(bisect_left(ends, before + tree.num_entries), len(ends) - 1)
        tables = [self._open(at)._core for at in range(begin, max(begin, stop) + 1)]
        return tables, before - (ends[begin - 1] if begin else 0)

    def __iter__(self) -> Iterator[Tree]:
        for tree in self._opened():
            with tree:
                yield tree

    def _opened(self) -> Iterator[Tree]:
        """Iterates over the open trees, which the caller closes."""
        with self._ahead() as ahead:
            for at in range(len(self._parts)):
                tree = ahead.tree(at)
                try:
                    self._lengths[at] = tree.num_entries
                except BaseException:
                    tree.file.close()
                    raise
                yield tree

    @property
    def lengths(self) -> list[int]:
        """Number of entries of each tree."""
        if self._lengths.count(None) > 1 and (parts := self._parts_by_name()) is not None:
            options = self._settings.options
            lengths = _forthwith.count_entries(
                parts, options=self._settings.view, store=flat(options["storage_options"])
            )
            if lengths is not None:
                self._lengths = list(lengths)
        with self._ahead() as ahead:
            for at, length in enumerate(self._lengths):
                if length is None:
                    with ahead.tree(at) as tree:
                        self._lengths[at] = tree.num_entries
        return [length for length in self._lengths if length is not None]

    @property
    def num_entries(self) -> int:
        """Number of entries of all trees."""
        return sum(self.lengths)

    def _entries_for(self, read: ReadOptions) -> int:
        """Returns the number of entries that a read counts; for damaged files, those that are readable."""
        if read.errors == "raise":
            return self.num_entries
        if (parts := self._parts_by_name()) is not None:
            store = flat(self._settings.options["storage_options"])
            counted = _forthwith.count_entries(parts, errors=read.errors, options=self._settings.view, store=store)
            if counted is not None:
                return sum(counted)
        with self._ahead() as ahead:
            return damage.entries_around(ahead.tree, len(self), read)

    def __getitem__(self, names: str | list[str]) -> ChainSelection:
        """Returns one branch of all trees, or several branches by a list of names.

        Raises:
            KeyInFileError: The first tree has no branch of this name.
        """
        chosen = chosen_names(names, WHERE)
        if self._missing == "raise":
            with self._open(0) as tree:
                try:
                    for name in chosen:
                        tree[name]
                except KeyInFileError as error:
                    nulls_named(error)
                    raise
        return chained(self, names, {}, (None, None))

    def _named(self, name: str) -> ChainBranch:
        return ChainBranch(self, [name], {}, (None, None))

    def __len__(self) -> int:
        """Returns the number of trees."""
        return len(self._parts)

    def __repr__(self) -> str:
        return f"<Chain of {len(self)} trees, the first {redact(self.files[0])!r}>"

    def _repr_html_(self) -> str:
        return _show.html_table(repr(self), ("file",), [(redact(name),) for name in self.files])

    def close(self) -> None:
        """Does nothing, as no file is open between calls. For code that also takes trees."""

    def __enter__(self) -> Chain:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        """Returns the state for a pickle, without passwords in URLs."""
        parts = [(without_password(path) if isinstance(path, str) else path, inner) for path, inner in self._parts]
        return {**self.__dict__, "_parts": parts, "_zones": None, "_kept": None}

    @typed.chain_iterate
    def iterate(
        self,
        names: Names = None,
        *,
        step_size: int | str = "100 MB",
        report: bool = False,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        missing: Missing | None = None,
        **options: Any,
    ) -> Iterator[Any]:
        """Reads all trees in steps; no step has entries of two files.

        Args:
            names: As in `Tree.iterate`.
            step_size: As in `Tree.iterate`.
            report: Whether to yield each step with a `Report`, whose ``global_entry_start`` counts the
                entries of all files.
            entry_start: The first entry, counted over all files.
            entry_stop: The entry after the last.
            missing: The treatment of branches that some trees lack, as in `Chain`.
            options: As in `Tree.iterate`.
        """
        common, read = self._asked("iterate", names, missing, options)
        step_size_of(step_size)  # an impossible one is said at once
        return self._steps(common, read, step_size, report, (entry_start, entry_stop))

    def _steps(
        self,
        common: Common,
        read: ReadOptions,
        step_size: int | str,
        report: bool,
        entries: tuple[int | None, int | None],
    ) -> Iterator[Any]:
        self._survey(common, read)
        yield from alike.steps(self, common, read, step_size, self._from_start(*entries, read), report)

    @typed.chain_arrays
    def arrays(
        self,
        names: Names = None,
        *,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        missing: Missing | None = None,
        **options: Any,
    ) -> Any:
        """Reads all trees and concatenates the results.

        Args:
            names: As in `Tree.arrays`.
            entry_start: The first entry, counted over all files.
            entry_stop: The entry after the last.
            missing: The treatment of branches that some trees lack, as in `Chain`.
            options: As in `Tree.arrays`.

        Raises:
            RequestError: Trees have different branches, or branches of incompatible types; or an integer
                cannot be represented in the floating-point type of other trees.
        """
        common, read = self._asked("arrays", names, missing, options)
        into = read.into()
        self._survey(common, read)
        if (found := runs.arrays(self, common, read, into, entry_start, entry_stop)) is not None:
            return found
        walk = alike.ChainSteps(self, common, read, None, self._from_start(entry_start, entry_stop, read))
        parts, files = [], []
        with read.one_bar():
            for step in walk.steps():
                damage.tell(step.table, step.lost, read)
                parts.append(step.made)
                files.append(step.path)
            if not parts:
                return walk.nothing()
        try:
            return into.join(parts)
        except Rounded as error:
            file = files[error.part]
            raise RequestError(f"{error.message}\n  in {file}", file=file) from None

    def _parts_by_name(self) -> list[tuple[str, str, Constants]] | None:
        """Returns path, tree and Hive partition columns of each file, if all can be opened by name."""
        if not self._settings.opens_by_name:
            return None
        parts = zip(self._parts, self._constants, strict=True)
        named = [
            (path, inner or "", constants)
            for (path, inner), constants in parts
            if isinstance(path, str) and not is_foreign(path)
        ]
        return named if len(named) == len(self) else None

    def _survey(self, common: Common, read: ReadOptions) -> None:
        """Examines trees that may differ before the first read: one of each schema, if known."""
        if not common.looks_at_all:
            return
        parts = self._parts_by_name() if len(self) > 1 and common.chooses_by_schema else None
        same = None
        if parts is not None:
            store = flat(self._settings.options["storage_options"])
            same = _forthwith.same_schemas(parts, options=self._settings.view, store=store)
            common.same_schemas = same
        with self._ahead() as ahead:
            if same is None:
                common.survey(range(len(self)), self._open, read, ahead.tree)
            else:
                common.survey(sorted(set(same)), self._open, read)

    def _know_lengths(self, lengths: list[int | None]) -> None:
        """Stores the known numbers of entries of files."""
        self._lengths = [
            known if length is None else length for known, length in zip(self._lengths, lengths, strict=True)
        ]

    def _asked(
        self, call: str, names: Names, missing: Missing | None, options: dict[str, Any]
    ) -> tuple[Common, ReadOptions]:
        """Returns the request of a call, validated before any file is opened."""
        from forthwith._tree.options import ReadOptions

        known = {*_FILTERS, *_keywords.READ, *_CHOOSE, "names", "entry_start", "entry_stop", "missing"}
        if call == "iterate":
            known = known - {"lost"} | {"step_size", "report"}
        _keywords.refuse(call, options.keys() - known, known)
        wanted = _filters.BranchFilter(**{name: options[name] for name in _FILTERS if name in options})
        read = ReadOptions(**{name: options[name] for name in _keywords.READ if name in options})
        read.into()
        choice = Choice(*(options.get(name) for name in _CHOOSE))
        if choice.entries is not None:
            choice = choice.of_all(self._entries_for(read), [str(path) for path, _ in self._parts])
        return Common(names, wanted, missing or self._missing, choice), read

    def select(
        self,
        names: Names = None,
        *,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        **options: Any,
    ) -> ChainSelection:
        """Selects branches and entries of all trees without reading them, for libraries that take Arrow data.

        Args:
            names: As in `Tree.select`.
            entry_start: The first entry, counted over all files.
            entry_stop: The entry after the last.
            options: ``step_size``, ``threads``, ``cut``, ``aliases``, ``entries``, ``friends`` and filters, as in
                `Tree.select`.
        """
        known = {*_FILTERS, *_CHOOSE, "step_size", "threads", "missing"}
        _keywords.refuse("select", options.keys() - known, known | {"names", "entry_start", "entry_stop"})
        return ChainSelection(self, names, options, (entry_start, entry_stop))

    def _to_be_written(self) -> Any:
        """Returns a stream for our own writers, which support unions."""
        return self.select()._to_be_written()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Returns all branches of all trees as an Arrow stream; `select` returns some of them."""
        return self.select().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """Returns the Arrow schema of all branches."""
        return self.select().__arrow_c_schema__()

    def _from_start(self, start: int | None, stop: int | None, read: ReadOptions) -> tuple[int, int | None]:
        """Returns bounds counted from the first entry, converting negative ones."""
        if any(bound is not None and bound < 0 for bound in (start, stop)):
            total = self._entries_for(read)
            start = None if start is None else max(0, start + total if start < 0 else start)
            stop = None if stop is None else max(0, stop + total if stop < 0 else stop)
        return start or 0, stop


@typed.concatenate
def concatenate(files: Any, names: Names = None, *, missing: Missing = "raise", **options: Any) -> Any:
    """Reads the trees of several files and concatenates the results.

    Args:
        files: Names such as ``"dir/*.root:tree"``, a directory, ``{path: tree}``, or a list of these; in
            paths, ``*``, ``?``, ``**`` and ``[...]`` have their meaning in a shell. The tree may be omitted
            for files with exactly one. Datasets in the notation of coffea, ``{dataset: {"files": {path:
            tree}}}`` or the name of such a file, ``"datasets.json"``, mean all of their files, and
            ``"datasets.json:name"`` one dataset.
        names: As in `Tree.arrays`.
        missing: The treatment of branches that some trees lack: ``"raise"`` an error that names file and
            branches, or ``"null"`` for missing values in the entries of these trees, with numbers in the
            common type of all trees.
        options: As in `Tree.arrays` and, except ``threads``, in ``open``.
    """
    opening, options = apart(options)
    return Chain(files, missing=missing, **opening).arrays(names, **options)


@typed.iterate_files
def iterate(files: Any, names: Names = None, *, missing: Missing = "raise", **options: Any) -> Iterator[Any]:
    """Reads the trees of several files in steps.

    Args:
        files: As in `concatenate`.
        names: As in `Tree.arrays`.
        missing: As in `concatenate`.
        options: As in `Tree.iterate` and, except ``threads``, in ``open``.
    """
    opening, options = apart(options)
    return Chain(files, missing=missing, **opening).iterate(names, **options)


__all__ = ["Chain", "ChainReport", "concatenate", "iterate"]
