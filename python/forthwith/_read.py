"""Reading several branches: which of them, which entries, and in what they are returned."""

from __future__ import annotations

from forthwith import _filters
from forthwith._entries import entry_range, from_start, step_size
from forthwith._errors import KeyInFileError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, TypeAlias

    from forthwith import _forthwith
    from forthwith._branches import HasBranches, How, Library, Progress
    from forthwith._filters import Filter
    from forthwith._libraries import Target
    from forthwith._salvage import Errors, Loss
    from forthwith._tree import Tree

    Names: TypeAlias = str | Iterable[str] | None
    Columns: TypeAlias = list[tuple[str, int]]

__all__ = [
    "Report",
    "choose",
    "entries_of",
    "entry_range",
    "from_start",
    "iterate",
    "read",
    "span",
    "steps",
    "target",
    "walk",
]


def choose(owner: HasBranches, names: Names, filter_name: Filter, filter_typename: Filter) -> Columns:
    """The branches meant, as labels and positions."""
    fields = owner._tree._fields
    if names is None:
        found = owner._found(True, True, filter_name, filter_typename)
        columns = [(label, at) for label, at in found if fields[at].has_data]
        if not columns and (filter_name is not None or filter_typename is not None):
            raise _filters.nothing(filter_name=filter_name, filter_typename=filter_typename)
        return _distinct(columns)
    if filter_name is not None or filter_typename is not None:
        raise TypeError("either names or filters, not both")
    if isinstance(names, str):
        names = [names]
    columns = []
    for name in names:
        at = _named(owner, name)
        if fields[at].has_data:
            columns.append((name, at))
            continue
        inside = owner._tree._branch(at)._members()
        columns += [(f"{name}/{path}", child) for path, child in inside if fields[child].has_data]
    labels = [label for label, _ in columns]
    for label in labels:
        if labels.count(label) > 1:
            raise ValueError(f"{label!r} is asked for twice")
    return columns


def _named(owner: HasBranches, name: str) -> int:
    try:
        return owner._find(name)
    except KeyInFileError as error:
        if any(c in name for c in "*?[]()+-/<>=&|~"):
            error.add_note(
                f"names are exact here: for patterns, use filter_name={name!r}; expressions are not computed"
            )
        raise


def _distinct(columns: Columns) -> Columns:
    """Files may repeat a path. The first branch of a path is read, and the others are said to be left out."""
    seen: dict[str, int] = {}
    for label, at in columns:
        if seen.setdefault(label, at) != at:
            import warnings

            warnings.warn(f"several branches are called {label!r}; the first of them is read", stacklevel=4)
    return list(seen.items())


def target(library: Library, how: How) -> Target:
    """What the arrays become. Missing packages and impossible wishes are errors before anything is read."""
    from forthwith._libraries import target

    return target(library, how)


def read(
    tree: Tree, columns: Columns, start: int, stop: int, threads: int | None, progress: Progress | None
) -> list[_forthwith.Array]:
    """The arrays of some branches."""
    _at_least_one(threads)
    plan = tree._core.plan([at for _, at in columns], start, stop)
    return tree._core.read(plan, threads, progress)


def entries_of(owner: HasBranches, start: int | None, stop: int | None) -> tuple[int, int]:
    """`entry_range` of a tree or a branch, of whose entries no more are counted than it takes."""
    first, last = from_start(start, stop)
    if first is None or last is None or owner is not owner._tree:
        return entry_range(start, stop, owner.num_entries)
    return entry_range(start, stop, owner._tree._core.entries_up_to(max(first, last)))


def walk(owner: HasBranches, columns: Columns, start: int | None, stop: int | None, size: int | str) -> _forthwith.Walk:
    """What reads step after step. Where steps can be counted from the first entry, nobody has to know the last one."""
    entries, memory = step_size(size)
    first, last = span(owner, start, stop)
    return owner._tree._core.walk_cutting([at for _, at in columns], first, last, entries, memory)


def span(owner: HasBranches, start: int | None, stop: int | None) -> tuple[int, int | None]:
    """The first entry and the one after the last, which may lie behind the end. None is the end, if nobody has to know it."""
    first, last = from_start(start, stop)
    if first is None or (last is None and stop is not None) or owner is not owner._tree:
        return entry_range(start, stop, owner.num_entries)
    return first, last


def steps(tree: Tree, columns: Columns, start: int, stop: int, size: int | str) -> list[tuple[int, int]]:
    """The entry ranges of steps."""
    entries, memory = step_size(size)
    return tree._core.steps([at for _, at in columns], start, stop, entries, memory)


def iterate(
    tree: Tree,
    columns: Columns,
    walk: _forthwith.Walk,
    into: Target,
    report: bool,
    threads: int | None,
    progress: Progress | None,
) -> Iterator[Any]:
    """Reads step after step."""
    _at_least_one(threads)
    labels = [label for label, _ in columns]
    while (step := walk.read(threads, progress)) is not None:
        start, stop, read = step
        arrays = into.together(labels, read, start, stop)
        yield (arrays, Report(tree, start, stop)) if report else arrays


def iterate_around(
    tree: Tree,
    columns: Columns,
    walk: _forthwith.Walk,
    report: bool,
    errors: Errors,
    library: Library,
    how: How,
    threads: int | None,
    progress: Progress | None,
) -> Iterator[Any]:
    """Reads step after step, around what is damaged."""
    from forthwith import _salvage

    _at_least_one(threads)
    while (step := walk.pass_step()) is not None:
        start, stop = step
        arrays, lost = _salvage.arrays(tree, columns, start, stop, errors, library, how, threads, progress)
        if lost and not report:
            _salvage.warn(tree, lost)
        yield (arrays, Report(tree, start, stop, lost)) if report else arrays


def _at_least_one(threads: int | None) -> None:
    if threads is not None and threads < 1:
        raise ValueError(f"threads must be at least 1, not {threads}")


class Report:
    """Where a step of ``iterate`` lies.

    Attributes:
        tree: The tree.
        tree_entry_start: First entry, counted in the tree.
        tree_entry_stop: Entry after the last, counted in the tree.
        lost: What could not be read, if ``errors`` was given.
    """

    def __init__(self, tree: Tree, start: int, stop: int, lost: list[Loss] | None = None) -> None:
        self.tree = tree
        self.tree_entry_start = start
        self.tree_entry_stop = stop
        self.lost: list[Loss] = lost or []

    @property
    def file_path(self) -> str:
        """Path of the file."""
        return self.tree.file.file_path

    @property
    def tree_path(self) -> str:
        """Path of the tree within the file."""
        return self.tree.path

    @property
    def start(self) -> int:
        """First entry."""
        return self.tree_entry_start

    @property
    def stop(self) -> int:
        """Entry after the last."""
        return self.tree_entry_stop

    # With one file, the entries of the tree are all entries there are.
    @property
    def global_entry_start(self) -> int:
        """First entry, counted in all files."""
        return self.start

    @property
    def global_entry_stop(self) -> int:
        """Entry after the last, counted in all files."""
        return self.stop

    def __repr__(self) -> str:
        return f"<Report {self.file_path}:{self.tree_path}, entries {self.start} to {self.stop}>"
