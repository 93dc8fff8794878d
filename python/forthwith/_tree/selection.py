"""Selections of branches and entries, as Arrow streams."""

from __future__ import annotations

from forthwith import _filters, _keywords, _show
from forthwith._entries import entry_range
from forthwith._entries import step_size as step_size_of
from forthwith._errors import RequestError, RequestTypeError
from forthwith._interop.original import stream_of_schema
from forthwith._tree import read, walk
from forthwith._tree.options import ReadOptions
from forthwith._tree.protocols import NotAnArray, chosen_names
from forthwith._tree.query import Query

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any, Literal, TextIO, TypeAlias

    from forthwith import _forthwith
    from forthwith._tree.read import Columns
    from forthwith._tree.tree import Tree

    Unions: TypeAlias = Literal["union", "struct"]
    Strings: TypeAlias = Literal["large_string", "string", "string_view"]


class Selection(NotAnArray):
    """A selection of branches and entries of a tree, which is read on demand.

    pyarrow, polars, DuckDB, pandas and others accept it as a table, through the Arrow C data interface. It
    can be read repeatedly; each time, the file is read again, in steps.
    """

    def __init__(
        self,
        tree: Tree,
        columns: Columns,
        start: int,
        stop: int | None,
        step_size: int | str = "100 MB",
        threads: int | None = None,
        unions: Unions | None = None,
        maps: bool = True,
        strings: Strings | None = None,
        dictionaries: bool | Sequence[str] = False,
    ) -> None:
        self._tree = tree
        self._columns = columns
        self._start = start
        self._stop = stop
        self._step_size = step_size
        self._threads = threads
        self._unions = unions
        self._maps = maps
        self._strings = strings
        self._dictionaries = dictionaries
        step_size_of(step_size)  # an impossible one is said at once
        if unions not in (None, "union", "struct"):
            raise RequestError(f"unions must be 'union' or 'struct', not {unions!r}")
        if strings not in (None, "large_string", "string", "string_view"):
            raise RequestError(f"strings must be 'large_string', 'string' or 'string_view', not {strings!r}")
        if isinstance(dictionaries, str):
            raise RequestTypeError(f"dictionaries must be True, False or a list of names, not {dictionaries!r}")

    @property
    def tree(self) -> Tree:
        """The tree."""
        return self._tree

    @property
    def num_entries(self) -> int:
        """Number of selected entries. For Avro, all blocks of the file are located first."""
        start, stop = self._range(None, None)
        return self._columns.count(start, stop) if isinstance(self._columns, Query) else stop - start

    def keys(self) -> list[str]:
        """Returns the names of the selected branches."""
        return [label for label, _ in self._columns]

    def __len__(self) -> int:
        """Returns the number of selected branches."""
        return len(self._columns)

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __contains__(self, name: object) -> bool:
        return name in self.keys()

    def __getitem__(self, names: str | list[str]) -> Selection:
        """Returns one or several of the selected branches, with the same entries.

        Raises:
            KeyInFileError: The selection has no branch of this name.
        """
        known = dict(self._columns)
        wanted = chosen_names(names, "a selection: .arrays() reads them")
        for name in wanted:
            if name not in known:
                raise _filters.absent(name, known, self._tree)
        columns = self._columns.some(wanted) if isinstance(self._columns, Query) else [(n, known[n]) for n in wanted]
        return Selection(self._tree, columns, *self._rest())

    def _rest(self) -> tuple[Any, ...]:
        options = self._unions, self._maps, self._strings, self._dictionaries
        return self._start, self._stop, self._step_size, self._threads, *options

    def arrays(self, *, entry_start: int | None = None, entry_stop: int | None = None, **options: Any) -> Any:
        """Reads the selection, as ``tree.arrays`` does.

        Args:
            entry_start: The first entry, relative to the selection; negative numbers count from its end.
            entry_stop: The entry after the last.
            options: ``library``, ``how``, ``errors``, ``lost``, ``threads``, ``progress`` and ``logical``, as in
                ``tree.arrays``.
        """
        _keywords.refuse("arrays", options.keys() - set(_keywords.READ), {*_keywords.READ, "entry_start", "entry_stop"})
        return walk.arrays(self._tree, self._columns, *self._range(entry_start, entry_stop), self._options(options))

    def array(self, **options: Any) -> Any:
        """Reads the only branch, as ``branch.array`` does, with the arguments of `arrays`."""
        columns = self.arrays(**options, how=list)
        if len(columns) != 1:
            raise RequestError(f"{self!r} has {len(columns)} branches: .arrays() reads them")
        return columns[0]

    def iterate(self, *, step_size: int | str | None = None, report: bool = False, **options: Any) -> Iterator[Any]:
        """Reads the selection in steps, as ``tree.iterate`` does.

        Args:
            step_size: As in ``tree.iterate``; by default that of the selection.
            report: As in ``tree.iterate``.
            options: As in `arrays`.
        """
        bounds = {name: options.pop(name, None) for name in ("entry_start", "entry_stop")}
        known = set(_keywords.READ) - {"lost"}
        _keywords.refuse(
            "iterate", options.keys() - known, known | {"step_size", "report", "entry_start", "entry_stop"}
        )
        start, stop = self._start, self._stop
        if any(bound is not None for bound in bounds.values()):
            start, stop = self._range(**bounds)
        steps = read.walk(self._tree, self._columns, start, stop, step_size or self._step_size)
        return walk.iterate(self._tree, self._columns, steps, self._options(options), report)

    def stats(
        self,
        *,
        quantiles: Sequence[float] = (0.25, 0.5, 0.75),
        top: int = 3,
        distinct: int = 1 << 15,
        threads: int | None = None,
    ) -> dict[str, Any]:
        """Summarises the branches in one pass: counts, extremes, moments, quantiles, distinct and most frequent values.

        Lists are summarised by their lengths and their items, records by their fields. Memory is bounded,
        independently of the number of entries. ``forthwith stats`` is the corresponding command.

        Args:
            quantiles: The quantiles, as fractions. For more than 32768 values, they are those of a sample of
                that size.
            top: The number of most frequent values.
            distinct: Maximum number of distinct values that are counted exactly; larger numbers are
                estimated.
            threads: Number of threads.

        Returns:
            ``entries``, and ``columns``: a summary for each branch and each kind of values ``of`` it
            (``values``, ``items``, ``lengths``). ``deviation`` is the standard deviation as in ``numpy.std``,
            of dates in days and of times in seconds; mean, quantiles and extremes of times are text.
            ``quantiles_are_exact``, ``frequent_is_exact`` and ``distinct["is_exact"]`` indicate exact values.
        """
        import json

        from forthwith import _forthwith

        start, stop = self._range(None, None)
        if isinstance(self._columns, Query):
            core = self._columns.core
        else:
            core = self._tree._core.select([*self._columns], [], None, None, [], [], 0)
        threads = threads or self._threads
        found: dict[str, Any] = json.loads(
            _forthwith.summaries(core, start, stop, list(quantiles), top, distinct, threads)
        )
        return found

    def _options(self, given: dict[str, Any]) -> ReadOptions:
        return ReadOptions(**{**given, "threads": given.get("threads") or self._threads})

    def _range(self, entry_start: int | None, entry_stop: int | None) -> tuple[int, int]:
        start, stop = read.entries_of(self._tree, self._start, self._stop)
        if (entry_start, entry_stop) == (None, None):
            return start, stop
        if isinstance(self._columns, Query) and self._columns.choice.chooses:
            raise RequestError(f"{self!r} has chosen entries: give bounds to select(), together with the cut")
        first, last = entry_range(entry_start, entry_stop, stop - start)
        return start + first, start + last

    def show(self, *, stream: TextIO | None = None, **widths: int | None) -> None:
        """Prints the selected branches, with column widths as in `Tree.show`."""
        rows = self._branches()
        _show.show(rows, _show.widths(**widths), stream)

    def _repr_html_(self) -> str:
        branches = self._branches()
        rows = [(label, branch.typename, branch.title) for label, branch in branches]
        return _show.html_table(repr(self), ("name", "typename", "title"), rows)

    def _branches(self) -> list[tuple[str, Any]]:
        if isinstance(self._columns, Query):
            found = zip(self._columns, self._columns.columns(), strict=True)
            return [(label, computed or self._tree._branch(at)) for (label, at), (_, computed) in found]
        return [(label, self._tree._branch(at)) for label, at in self._columns]

    def _to_be_written(self) -> Selection:
        """Returns the selection for our own writers, which support unions."""
        unions = self._unions or "union"
        rest = self._start, self._stop, self._step_size, self._threads
        return Selection(self._tree, self._columns, *rest, unions, self._maps)

    def _arrow_choices(self, requested_schema: object = None) -> _forthwith.ArrowChoices:
        names = () if isinstance(self._dictionaries, bool) else self._dictionaries
        return {
            "maps": self._maps,
            "union_as_struct": self._unions != "union",
            "strings": self._strings,
            "dictionaries": list(names),
            "keep_dictionaries": self._dictionaries is True,
            "request": None if requested_schema is None else stream_of_schema(requested_schema),
        }

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Returns an Arrow stream of record batches, each read on demand.

        Args:
            requested_schema: A capsule of a schema. The stream has those of its types that are other layouts
                of the same values: text and bytes with 32-bit offsets, as views or dictionaries, and lists
                with 32-bit offsets. Other requests are ignored.
        """
        choices = self._arrow_choices(requested_schema)
        steps = read.walk(self._tree, self._columns, self._start, self._stop, self._step_size)
        if isinstance(self._columns, Query):
            return self._columns.core.stream(steps, self._threads, choices=choices)
        fields = [at for _, at in self._columns]
        return self._tree._core.stream(self.keys(), fields, steps, self._threads, choices=choices)

    def __arrow_c_schema__(self) -> object:
        """Returns the Arrow schema, for which no data are read."""
        choices = self._arrow_choices()
        if isinstance(self._columns, Query):
            return self._columns.core.schema(choices=choices)
        fields = [at for _, at in self._columns]
        return self._tree._core.schema(self.keys(), fields, choices=choices)

    def __repr__(self) -> str:
        stop = "the end" if self._stop is None else self._stop
        return f"<Selection of {len(self._columns)} branches, entries {self._start} to {stop}, of {self._tree!r}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Selection, (self._tree, self._columns, *self._rest())
