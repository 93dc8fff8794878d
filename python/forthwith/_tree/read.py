"""Which branches and which entries are meant, and reading them at once."""

from __future__ import annotations

from forthwith import _filters
from forthwith._entries import entry_range, from_start, step_size
from forthwith._errors import KeyInFileError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, TypeAlias

    from forthwith import _forthwith
    from forthwith._filters import Filter
    from forthwith._interop.base import Library
    from forthwith._tree.branches import HasBranches
    from forthwith._tree.options import ReadOptions
    from forthwith._tree.tree import Tree

    Names: TypeAlias = str | Iterable[str] | None
    Columns: TypeAlias = list[tuple[str, int]]


def choose(owner: HasBranches, names: Names, filter_name: Filter, filter_typename: Filter) -> Columns:
    """The branches meant, as labels and positions."""
    fields = owner._tree._fields
    if names is None:
        found = owner._found(filter_name=filter_name, filter_typename=filter_typename)
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


def entries_of(owner: HasBranches, start: int | None, stop: int | None) -> tuple[int, int]:
    """`entry_range` of a tree or a branch, of whose entries no more are counted than it takes."""
    first, last = from_start(start, stop)
    if first is None or last is None or owner is not owner._tree:
        return entry_range(start, stop, owner.num_entries)
    return entry_range(start, stop, owner._tree._core.entries_up_to(max(first, last)))


def span(owner: HasBranches, start: int | None, stop: int | None) -> tuple[int, int | None]:
    """The first entry and the one after the last, which may lie behind the end; ``None`` for an end that need not be known."""
    first, last = from_start(start, stop)
    if first is None or (last is None and stop is not None) or owner is not owner._tree:
        return entry_range(start, stop, owner.num_entries)
    return first, last


def walk(owner: HasBranches, columns: Columns, start: int | None, stop: int | None, size: int | str) -> _forthwith.Walk:
    """The steps to be read. Where they can be counted from the first entry, the last one need not be known."""
    entries, memory = step_size(size)
    first, last = span(owner, start, stop)
    return owner._tree._core.walk_cutting([at for _, at in columns], first, last, entries, memory)


def read(tree: Tree, columns: Columns, start: int, stop: int, options: ReadOptions) -> list[_forthwith.Array]:
    """The arrays of some branches."""
    plan = tree._core.plan([at for _, at in columns], start, stop)
    return tree._core.read(plan, options.threads, options.progress)


def together(tree: Tree, columns: Columns, start: int, stop: int, options: ReadOptions, into: Library) -> Any:
    """Some branches, read and put together."""
    arrays = read(tree, columns, start, stop, options)
    return into.together([label for label, _ in columns], arrays, start, stop)
