"""Resolution of branches and entries, and reading of them at once."""

from __future__ import annotations

from forthwith import _filters
from forthwith._entries import entry_range, from_start, step_size
from forthwith._errors import KeyInFileError
from forthwith._tree.query import COMPUTED, NOTHING, Choice, Query, dotted, is_computed, query
from forthwith._warn import warn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable
    from typing import Any, TypeAlias

    from forthwith import _forthwith
    from forthwith._filters import BranchFilter
    from forthwith._interop.base import Library
    from forthwith._tree.mapping import BranchMapping
    from forthwith._tree.options import ReadOptions
    from forthwith._tree.tree import Tree

    Names: TypeAlias = str | Iterable[str] | None
    Columns: TypeAlias = list[tuple[str, int]]

# Longer names are not typing errors, and a few similar names suffice.
_LONGEST_NAME = 200
_MOST_NEAR = 5


def choose(
    owner: BranchMapping,
    names: Names,
    wanted: BranchFilter,
    strict: bool = True,
    choice: Choice = NOTHING,
    aliases: Container[str] = (),
) -> Columns:
    """Returns labels and positions of the selected branches, as a `Query` if needed.

    Args:
        owner: The tree or branch that contains them.
        names: Names, or ``None`` for branches that pass the filters.
        wanted: The filters.
        strict: Whether names in filters have to exist, and other text may be an expression.
        choice: Filter, aliases, entries and friends.
        aliases: Further names that are not paths with dots, in addition to those of ``choice``.
    """
    fields = owner._tree._fields
    alone = owner._alone
    if names is None:
        members = owner._passing(wanted) if alone is None else _itself(owner, alone, wanted)
        columns = [(label, at) for label, at in members if fields[at].has_data]
        if not columns and wanted:
            raise _filters.nothing(wanted.given, near(owner, wanted.given["filter_name"]), owner._tree)
        if strict:
            _check_plain(owner, wanted)
        columns = _distinct(columns)
        if choice.friends is not None:
            columns += [(label, COMPUTED) for label in choice.friends.labels()]
        return query(owner._tree, columns, choice)
    if wanted:
        raise TypeError("either names or filters, not both")
    columns = []
    for name in _listed(names):
        try:
            at = alone if alone is not None and name == fields[alone].name else owner._find(name)
        except KeyInFileError as error:
            inner = None if name in choice.aliases or name in aliases else dotted(owner, name)
            if inner is None:
                if not strict or not is_computed(owner, name, choice, error):
                    raise
                columns.append((name, COMPUTED))
                continue
            at = inner
        if fields[at].has_data:
            columns.append((name, at))
            continue
        inside = owner._tree._branch(at)._members()
        columns += [(f"{name}/{path}", child) for path, child in inside if fields[child].has_data]
    labels = [label for label, _ in columns]
    if len(set(labels)) < len(labels):
        twice = next(label for label in labels if labels.count(label) > 1)
        raise ValueError(f"{twice!r} is asked for twice")
    return query(owner._tree, columns, choice)


def _check_plain(owner: BranchMapping, wanted: BranchFilter) -> None:
    """Raises an error for plain names in filters that do not exist, as they may be misspelled."""
    plain = wanted.plain()
    if not plain:
        return
    fields = owner._tree._fields
    known = {path for path, _ in owner._members(True)}
    known.update(fields[at].name for _, at in owner._members())
    if owner._alone is not None:
        known.add(fields[owner._alone].name)
    for argument, text in plain:
        if text not in known and text.lstrip("/") not in known:
            raise _filters.nothing({argument: text}, near(owner, text), owner._tree)


def _itself(owner: BranchMapping, at: int, wanted: BranchFilter) -> Columns:
    """Returns a branch without children, if it passes the filters."""
    field = owner._tree._fields[at]
    return [(field.name, at)] if wanted.passes(field.name, field.path, lambda: owner._tree._branch(at)) else []


def _listed(names: Any) -> Iterable[str]:
    if isinstance(names, str):
        return [str(names)]
    if not hasattr(names, "__iter__"):
        raise TypeError(f"names must be a name or a list of names, not {names!r}")
    return texts(names)


def texts(names: Iterable[Any]) -> list[Any]:
    """Returns a list of names, with NumPy's strings converted to ``str``."""
    return [str(name) if isinstance(name, str) else name for name in names]


def near(owner: BranchMapping, filter_name: Any) -> list[str]:
    """Returns names of branches similar to names and patterns that match none."""
    given = [filter_name] if isinstance(filter_name, str) else filter_name
    found: list[str] = []
    for text in given if isinstance(given, list | tuple) else []:
        if isinstance(text, str) and len(text) < _LONGEST_NAME:
            try:
                owner._find(text.strip("*/^$"))
            except KeyInFileError as error:
                found += error.near
    return list(dict.fromkeys(found))[:_MOST_NEAR]


def _distinct(columns: Columns) -> Columns:
    """Returns the first branch of each path, with a warning about further ones of the same path."""
    seen: dict[str, int] = {}
    for label, at in columns:
        if seen.setdefault(label, at) != at:
            warn(f"several branches are called {label!r}; the first of them is read")
    return list(seen.items())


def entries_of(owner: BranchMapping, start: int | None, stop: int | None) -> tuple[int, int]:
    """Returns the `entry_range` of a tree or branch, counting no more entries than needed."""
    if owner._alone is not None:
        return entries_of_branch(owner._tree, owner._alone, start, stop)
    first, last = from_start(start, stop)
    if first is None or last is None or owner is not owner._tree:
        return entry_range(start, stop, owner.num_entries)
    return entry_range(start, stop, owner._tree._core.entries_up_to(max(first, last)))


def entries_of_branch(tree: Tree, index: int, start: int | None, stop: int | None) -> tuple[int, int]:
    """Returns the selected range of a branch, in entries of the tree. A branch may have fewer entries."""
    begin, end = from_start(start, stop)
    most = None if begin is None or end is None else max(begin, end)
    first, last = tree._core.entry_range(index, most)
    begin, end = entry_range(start, stop, last)
    return max(first, begin), max(first, end)


def span(owner: BranchMapping, start: int | None, stop: int | None) -> tuple[int, int | None]:
    """Returns the first entry and the one after the last, which may exceed the end; ``None`` for the end."""
    # Columns of a stream have all its entries, and its end is not waited for.
    is_stream = owner._tree._core.is_stream
    if owner._alone is not None and not is_stream:
        return entries_of(owner, start, stop)
    first, last = from_start(start, stop)
    if first is None or (last is None and stop is not None) or not (is_stream or owner is owner._tree):
        return entry_range(start, stop, owner.num_entries)
    return first, last


def walk(
    owner: BranchMapping, columns: Columns, start: int | None, stop: int | None, size: int | str
) -> _forthwith.BatchReader:
    """Returns the reader of the steps. Bounds from the first entry do not need the number of entries."""
    entries, memory = step_size(size)
    first, last = span(owner, start, stop)
    if isinstance(columns, Query):
        return columns.core.batches(first, last, entries, memory)
    return owner._tree._core.batches([at for _, at in columns], first, last, entries, memory)


def selection_of(tree: Tree, columns: Columns) -> _forthwith.Selection:
    """Returns the selection that reads columns of a tree."""
    if isinstance(columns, Query):
        return columns.core
    return tree._core.select([*columns], [], None, None, [], [], 0)


def read(tree: Tree, columns: Columns, start: int, stop: int, options: ReadOptions) -> list[_forthwith.Array]:
    """Reads the arrays of some branches."""
    return _read(tree, columns, start, stop, options)[0]


def _read(
    tree: Tree, columns: Columns, start: int, stop: int, options: ReadOptions, into: Library | None = None
) -> tuple[list[_forthwith.Array], _forthwith.Buffer | None]:
    """Reads the arrays, with their entries if some may be excluded."""
    if isinstance(columns, Query):
        return columns.core.read(start, stop, options.threads, options.tick)
    bits, views = (into.takes_bits, into.takes_views) if into else (False, False)
    plan = tree._core.plan([at for _, at in columns], start, stop, bits=bits, views=views)
    return tree._core.read(plan, options.threads, options.tick), None


def together(tree: Tree, columns: Columns, start: int, stop: int, options: ReadOptions, into: Library) -> Any:
    """Reads some branches and converts them."""
    arrays, kept = _read(tree, columns, start, stop, options, into)
    into.about(tree, columns, options.offset)
    labels, offset = [label for label, _ in columns], options.offset
    if kept is not None:
        return into.chosen(labels, arrays, kept, offset)
    return into.together(labels, arrays, start + offset, stop + offset)
