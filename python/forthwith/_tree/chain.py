"""Many files as one: trees of the same kind, one after the other."""

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
    """The trees of several files, one after the other. Files are opened when they are read, and closed after it.

    `arrays` and `iterate` read the trees as `Tree.arrays` and `Tree.iterate` do, `keys`, `items` and the like list their
    branches, and ``chain["x"]`` is one branch of all of them. The chain itself is a stream of Arrow data, as a tree is. Other
    than a tree, it iterates over its trees: ``for tree in chain``, of which ``len(chain)`` is the number. Times with a zone are
    shown in that of the first file, whatever zones the others have, and in UTC where the first lacks the column.

    Args:
        files: As in `concatenate`.
        missing: Where trees have not the same branches: ``"raise"`` an error that names file and branches, or ``"null"``
            missing values in the entries of those that lack a branch, and numbers in the type that has those of all trees.
            A whole number that becomes another one in a float of that type is an error.
        options: As in ``open``.
    """

    _iterated = frozenset((*_CHOOSE, *_FILTERS, *_keywords.READ, "entry_start", "entry_stop", "missing", "report"))
    # Of the first file, when they were asked for.
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
        """The files, as ``path:tree``."""
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
        """What the first file keeps beside its columns, asked for one of the files."""
        if self._kept is None:
            with nullcontext(tree) if at == 0 else self._open_bare(0) as first:
                self._kept = Kept.of(first)
        return self._kept

    def _zones_of_first(self) -> _forthwith.Zones:
        """The zones of the first file, in which the times of all files are shown."""
        if self._zones is None:
            with self._open_bare(0) as tree:
                self._zones = tree._core.zones()
        return self._zones

    def _open_bare(self, at: int) -> Tree:
        """A tree without the columns that its folders say."""
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
        """Opens the trees in their order: those that are URLs before they are asked for."""
        return Ahead(self._open, [isinstance(path, str) and "://" in path for path, _ in self._parts])

    def _columns(self) -> list[str]:
        """The names of the branches of the first tree that have data."""
        with self._open(0) as tree:
            return tree._columns()

    def _beside(self, before: int, tree: Tree) -> tuple[list[_forthwith.Table], int]:
        """What is read where this is a friend of a tree, before which there is this number of entries.

        The trees stay open as long as something reads of them: those that have the entries, or all that an index may find.
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
        """The trees one after the other. The caller closes each of them."""
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
        """The number of entries of each tree."""
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
        """The number of entries of all trees together."""
        return sum(self.lengths)

    def _entries_for(self, read: ReadOptions) -> int:
        """The number of entries that are counted where the trees are read: of damaged files those around the damage."""
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
        """One branch of all trees, which is an array for whatever takes such, or of a list of names several.

        Raises:
            KeyInFileError: The first tree has none of this name.
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
        """The number of trees."""
        return len(self._parts)

    def __repr__(self) -> str:
        return f"<Chain of {len(self)} trees, the first {redact(self.files[0])!r}>"

    def _repr_html_(self) -> str:
        return _show.html_table(repr(self), ("file",), [(redact(name),) for name in self.files])

    def close(self) -> None:
        """Does nothing: no file is open between two calls. It is here for programs that take trees, too."""

    def __enter__(self) -> Chain:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        """What may be pickled: no passwords of URLs."""
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
        """Reads all trees, some entries at a time; no step has entries of two files.

        Args:
            names: As in `Tree.iterate`.
            step_size: As in `Tree.iterate`.
            report: Whether each step comes with a `Report`, whose ``global_entry_start`` counts the entries of all files.
            entry_start: The first entry, counted in all files.
            entry_stop: The entry after the last.
            missing: The treatment of branches that not all trees have, as `Chain` takes it.
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
        """Reads all trees, and puts together what is in them.

        Args:
            names: As in `Tree.arrays`.
            entry_start: The first entry, counted in all files.
            entry_stop: The entry after the last.
            missing: The treatment of branches that not all trees have, as `Chain` takes it.
            options: As in `Tree.arrays`.

        Raises:
            RequestError: Trees have not the same branches, or branches of types that do not go together; or whole numbers
                become floats, as other trees have these, and one is no float.
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
        """The files, the tree in each, and what its folders say, if a name is all that it takes to open each."""
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
        """Looks at the trees before any is read, if they may differ: at one of each schema, if these are known."""
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
        """Remembers the numbers of entries of files, as far as they are known."""
        self._lengths = [
            known if length is None else length for known, length in zip(self._lengths, lengths, strict=True)
        ]

    def _asked(
        self, call: str, names: Names, missing: Missing | None, options: dict[str, Any]
    ) -> tuple[Common, ReadOptions]:
        """The request of a call, validated before any file is opened."""
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
        """Some branches and entries of all trees, not read yet, for libraries that take Arrow data.

        Args:
            names: As in `Tree.select`.
            entry_start: The first entry, counted in all files.
            entry_stop: The entry after the last.
            options: ``step_size``, ``threads``, ``cut``, ``aliases``, ``entries``, ``friends`` and filters, as in
                `Tree.select`.
        """
        known = {*_FILTERS, *_CHOOSE, "step_size", "threads", "missing"}
        _keywords.refuse("select", options.keys() - known, known | {"names", "entry_start", "entry_stop"})
        return ChainSelection(self, names, options, (entry_start, entry_stop))

    def _to_be_written(self) -> Any:
        """A stream for a writer of our own, which knows unions."""
        return self.select()._to_be_written()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """All branches of all trees as a stream of Arrow data; `select` gives some of them."""
        return self.select().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """The Arrow types of all branches."""
        return self.select().__arrow_c_schema__()

    def _from_start(self, start: int | None, stop: int | None, read: ReadOptions) -> tuple[int, int | None]:
        """Bounds that are counted from the first entry, also where they were given from the end."""
        if any(bound is not None and bound < 0 for bound in (start, stop)):
            total = self._entries_for(read)
            start = None if start is None else max(0, start + total if start < 0 else start)
            stop = None if stop is None else max(0, stop + total if stop < 0 else stop)
        return start or 0, stop


@typed.concatenate
def concatenate(files: Any, names: Names = None, *, missing: Missing = "raise", **options: Any) -> Any:
    """Reads the trees of several files into one.

    Args:
        files: Names such as ``"dir/*.root:tree"``, a directory, ``{path: tree}``, or a list of these; in paths ``*``, ``?``,
            ``**`` and ``[...]`` stand for what they do in a shell. A file with one tree needs no name of it. Datasets as
            coffea spells them, ``{dataset: {"files": {path: tree}}}`` or ``"datasets.json"`` with such, are all of their files,
            and ``"datasets.json:name"`` is one of them.
        names: As in `Tree.arrays`.
        missing: Where trees have not the same branches: ``"raise"`` an error that names file and branches, or ``"null"``
            missing values in the entries of those that lack a branch, and numbers in the type that has those of all trees.
        options: As in `Tree.arrays` and, but for ``threads``, in ``open``.
    """
    opening, options = apart(options)
    return Chain(files, missing=missing, **opening).arrays(names, **options)


@typed.iterate_files
def iterate(files: Any, names: Names = None, *, missing: Missing = "raise", **options: Any) -> Iterator[Any]:
    """Reads the trees of several files, some entries at a time.

    Args:
        files: As in `concatenate`.
        names: As in `Tree.arrays`.
        missing: As in `concatenate`.
        options: As in `Tree.iterate` and, but for ``threads``, in ``open``.
    """
    opening, options = apart(options)
    return Chain(files, missing=missing, **opening).iterate(names, **options)


__all__ = ["Chain", "ChainReport", "concatenate", "iterate"]
