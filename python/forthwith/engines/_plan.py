"""From files to partitions."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from forthwith import _stores
from forthwith._entries import step_size
from forthwith._errors import RequestError
from forthwith._filters import BranchFilter
from forthwith._opening import Settings
from forthwith._paths import expand
from forthwith._tree.chain import Chain
from forthwith._tree.query import COMPUTED, behind
from forthwith._tree.read import choose
from forthwith.engines._partition import Partition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from forthwith._tree.read import Names
    from forthwith._tree.tree import Tree

# Files behind a network that are opened at one time for a plan.
_TOGETHER = 16
# The size of a partition unless another is wanted.
_STEP = "100 MB"


def plan(
    files: Any,
    columns: Names = None,
    *,
    step: int | str | None = _STEP,
    parts: int | None = None,
    align: bool = True,
    **options: Any,
) -> list[Partition]:
    """Divides files into partitions.

    Args:
        files: As in `forthwith.concatenate`, also datasets as coffea spells them.
        columns: Names of branches or expressions, or ``None`` for all branches.
        step: The size of a partition, in entries or as memory such as ``"100 MB"``; ``None`` for whole files. Each file is
            opened, and its metadata are read.
        parts: The number of partitions of each file instead: no file is opened, and the entries are found out when a
            partition is read.
        align: Whether partitions end only where blocks of all the columns end (clusters of trees and ntuples, row groups), so
            that no block is decompressed twice. A partition may then be larger than ``step``.
        options: As in ``open``. Credentials in ``storage_options``, and users and passwords in URLs, are not part of a
            partition: workers take theirs from the environment.

    Returns:
        The partitions, in the order of the files.

    Raises:
        RequestError: Both ``step`` and ``parts``; no files; a file with several trees and no name of one.
        RequestError: Trees have not the same branches, and ``columns`` does not say which are meant.
        KeyInFileError: A file lacks a column.
    """
    settings = Settings.given("plan", options, "columns", "step", "parts", "align")
    kept = {**options, "storage_options": _stores.without_secrets(options.get("storage_options"))} if options else None
    names = None if columns is None else tuple([columns] if isinstance(columns, str) else columns)
    given = list(expand(files, options.get("storage_options")))
    for path, _ in given:
        if not isinstance(path, str):
            raise RequestError(f"partitions are made of paths or URLs, which workers can open, not of {path!r}")
    if parts is not None:
        if step is not None and step != _STEP:
            raise RequestError(f"either step={step!r} or parts={parts}: both say how files are divided")
        if parts < 1:
            raise RequestError(f"parts must be at least 1, not {parts}")
        named = [(_stores.without_password(path), tree) for path, tree in given]
        return [Partition(path, tree, part, -parts, names, 0, kept) for path, tree in named for part in range(parts)]
    if step is not None:
        step_size(step)  # an impossible one is said at once

    def divided(path: str, inner: str | None) -> tuple[list[str], list[Partition]]:
        with _opened(path, inner, settings) as tree:
            chosen = _chosen(tree, names)
            like = Partition(_stores.without_password(path), inner, 0, 0, names, 0, kept, state_of(tree))
            fields = [at for _, at in chosen]
            if COMPUTED in fields:
                fields = behind(tree, [name for name, _ in chosen])
            return [name for name, _ in chosen], list(_divided(like, tree, fields, step, align))

    partitions: list[Partition] = []
    known: tuple[str, list[str]] | None = None
    for (path, _), (found, parts_of) in zip(given, _each(divided, given), strict=True):
        known = known or (path, found)
        _check_same(known, path, found)
        partitions += parts_of
    return partitions


def _each(act: Callable[[str, str | None], Any], given: list[tuple[str, str | None]]) -> Iterator[Any]:
    """What a function gives for each file, in their order: of files behind a network several side by side."""
    if all(_stores.scheme(path) in (None, "file") for path, _ in given):
        yield from (act(*one) for one in given)
        return
    with ThreadPoolExecutor(min(_TOGETHER, len(given))) as pool:
        # What is not begun when there is an error never is.
        yield from pool.map(act, *zip(*given, strict=True))


def planned(files: Any, columns: Any, options: dict[str, Any]) -> list[Partition]:
    """The partitions of a plan that was made, or of files.

    Raises:
        RequestError: Partitions with columns or options, which they have already.
    """
    if isinstance(files, list) and files and all(isinstance(part, Partition) for part in files):
        if options or columns is not None:
            raise RequestError("partitions have columns and options already: give those to plan()")
        return files
    return plan(files, columns, **options)


def state_of(tree: Tree) -> tuple[int, int, str | None]:
    """What tells whether a file is the one that was planned: its bytes, the tree's entries, and its identity."""
    return tree.file.size, tree.num_entries, tree.file._core.identity


def form(files: Any, columns: Names = None, **options: Any) -> dict[str, Any]:
    """The types of the columns, by the first file: Awkward Forms as what JSON is made of, by name.

    Args:
        files: As in `plan`.
        columns: As in `plan`.
        options: As in ``open``.
    """
    path, tree = next(iter(expand(files, options.get("storage_options"))))
    with _opened(path, tree, Settings.of(**options)) as found:
        chosen = dict(_chosen(found, columns))
        computed = [name for name, at in chosen.items() if at == COMPUTED]
        forms = {name: found._branch(at).form_json for name, at in chosen.items() if at != COMPUTED}
        if computed:
            array: Any = found.arrays(computed, entry_stop=0)
            forms.update({name: array[name].layout.form.to_json() for name in computed})
        return {name: json.loads(forms[name]) for name in chosen}


def _opened(path: str, tree: str | None, settings: Settings) -> Tree:
    """The tree of a file, as a chain opens it."""
    chain = Chain.__new__(Chain)
    chain._parts, chain._settings, chain._constants = [(path, tree)], settings, [[]]
    return chain._open(0)


def _chosen(tree: Tree, columns: Names) -> list[tuple[str, int]]:
    return choose(tree, columns, BranchFilter())


def _check_same(known: tuple[str, list[str]], path: str, names: list[str]) -> None:
    """Partitions of all branches have to be of one type, or the engine would put columns together that do not belong so."""
    first, expected = known
    apart = sorted(set(names) ^ set(expected))
    if apart:
        some = ", ".join(apart[:5]) + (f" and {len(apart) - 5} more" if len(apart) > 5 else "")
        raise RequestError(
            f"{path} and {first} have different branches: only one of them has {some}; "
            "columns= must name branches that both have"
        )


def _divided(
    like: Partition, tree: Tree, fields: list[int], step: int | str | None, align: bool
) -> Iterator[Partition]:
    end = tree.num_entries
    stored = tree._core.plan(fields, 0, end).stored_bytes if fields else 0
    for start, stop in _bounds(tree, fields, end, step, align):
        yield replace(like, start=start, stop=stop, bytes=stored * (stop - start) // max(end, 1))


def _bounds(tree: Tree, fields: list[int], end: int, step: int | str | None, align: bool) -> Iterator[tuple[int, int]]:
    if step is None or end == 0:
        yield 0, end
        return
    entries, memory = step_size(step)
    steps = tree._core.steps(fields, 0, end, entries, memory)
    if not align:
        yield from steps
        return
    allowed = _ends(tree, fields, end)
    start, wanted = 0, [stop for _, stop in steps]
    for stop in allowed:
        # The last end at or before the next wish, or the first one behind it.
        if stop == end or any(start < wish <= stop for wish in wanted):
            yield start, stop
            start = stop


def _ends(tree: Tree, fields: list[int], end: int) -> list[int]:
    """The entries before which blocks of all columns end, ascending, and the end."""
    groups: dict[int, set[int]] = {}
    for block in tree._core.plan(fields, 0, end).blocks():
        if block.group < len(fields):
            groups.setdefault(block.group, set()).add(block.entries[1])
    common = set.intersection(*groups.values()) if groups else set()
    return sorted({stop for stop in common if 0 < stop < end} | {end})
