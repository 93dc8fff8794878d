"""Planning of partitions."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import NamedTuple

from forthwith import _forthwith, _stores
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
    from typing import Any, Self, TypeAlias

    from forthwith._tree.read import Names
    from forthwith._tree.tree import Tree

    # Ranges of the partitions, stored bytes, number of entries, and size and identity of the file.
    _Division: TypeAlias = tuple[list[tuple[int, int]], int, int, int, str | None]

# Number of files that are divided at a time, and maximum number of schemas with an open tree.
_WINDOW, _MOST_SCHEMAS = 64, 8
# Maximum number of remote files that are opened concurrently.
_TOGETHER = 16
# Default size of a partition.
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
        files: As in `forthwith.concatenate`, including datasets in the notation of coffea.
        columns: Names of branches or expressions, or ``None`` for all branches.
        step: The size of a partition, as a number of entries or in memory such as ``"100 MB"``; ``None`` for
            whole files. Each file is opened to read its metadata.
        parts: The number of partitions of each file, in place of ``step``: no file is opened, and ranges of
            entries are determined when a partition is read.
        align: Whether partitions end only at the end of blocks of all columns (clusters, row groups), so that
            no block is decompressed twice. Partitions may then exceed ``step``.
        options: As in ``open``. Partitions do not include credentials of ``storage_options`` and of URLs:
            workers take theirs from the environment.

    Returns:
        The partitions, in the order of the files.

    Raises:
        RequestError: Both ``step`` and ``parts`` are set; there are no files; a tree has to be named.
        RequestError: Trees have different branches, and ``columns`` does not select common ones.
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
    size = _size(step)  # an impossible one is said at once

    def divided(path: str, inner: str | None) -> tuple[Tree, _Divided]:
        tree = _opened(path, inner, settings)
        try:
            chosen = _chosen(tree, names)
            fields = [at for _, at in chosen]
            if COMPUTED in fields:
                fields = behind(tree, [name for name, _ in chosen])
            division = tree._core.divide(fields, entries=size[0], bytes=size[1], align=align)
            return tree, _Divided([name for name, _ in chosen], fields, division)
        except BaseException:
            tree.file.close()
            raise

    partitions: list[Partition] = []
    known: tuple[str, list[str]] | None = None
    with _Schemas(settings, size, align) as schemas:
        for some in _windows(given):
            alike = schemas.divide(some)
            rest = (part for part, found in zip(some, alike, strict=True) if found is None)
            others = _each(divided, list(rest))
            for (path, inner), found in zip(some, alike, strict=True):
                if found is not None:
                    one = found
                else:
                    tree, one = next(others)
                    schemas.add(tree, one)
                known = known or (path, one.names)
                _check_same(known, path, one.names)
                like = Partition(_stores.without_password(path), inner, 0, 0, names, 0, kept)
                partitions += _partitions(like, one.division)
    return partitions


class _Divided(NamedTuple):
    """A divided file: names and positions of its columns, and its partitions."""

    names: list[str]
    fields: list[int]
    division: _Division


class _Schemas:
    """Trees of the most recent schemas, by which other files are divided without opening a tree."""

    def __init__(self, settings: Settings, size: tuple[int | None, int | None], align: bool) -> None:
        self._settings, self._size, self._align = settings, size, align
        self._known: list[tuple[Tree, _Divided]] = []

    def add(self, tree: Tree, divided: _Divided) -> None:
        """Adds a tree, which is closed when it is dropped."""
        self._known.append((tree, divided))
        if len(self._known) > _MOST_SCHEMAS:
            self._known.pop(0)[0].file.close()

    def divide(self, files: list[tuple[str, str | None]]) -> list[_Divided | None]:
        """Divides files; ``None`` for files of other schemas, with errors, or not opened by name."""
        settings = self._settings
        is_named = settings.opens_by_name and not any(_stores.is_foreign(path) for path, _ in files)
        if not self._known or not is_named:
            return [None] * len(files)
        found = _forthwith.divide_alike(
            [(path, inner or "", []) for path, inner in files],
            [(tree._core, divided.fields) for tree, divided in self._known],
            entries=self._size[0],
            bytes=self._size[1],
            align=self._align,
            options=settings.view,
            store=_stores.flat(settings.options["storage_options"]),
        )
        known = [divided for _, divided in self._known]
        return [None if one is None else known[one[0]]._replace(division=one[1]) for one in found]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        for tree, _ in self._known:
            tree.file.close()


def _windows(given: list[tuple[str, str | None]]) -> Iterator[list[tuple[str, str | None]]]:
    """Iterates over the first file, then over groups of files that are divided together."""
    yield given[:1]
    for first in range(1, len(given), _WINDOW):
        yield given[first : first + _WINDOW]


def _each(act: Callable[[str, str | None], Any], given: list[tuple[str, str | None]]) -> Iterator[Any]:
    """Iterates over the results of a function for each file in order; remote files run concurrently."""
    if all(_stores.scheme(path) in (None, "file") for path, _ in given):
        yield from (act(*one) for one in given)
        return
    with ThreadPoolExecutor(min(_TOGETHER, len(given))) as pool:
        # After an error, calls that have not begun are cancelled.
        yield from pool.map(act, *zip(*given, strict=True))


def planned(files: Any, columns: Any, options: dict[str, Any]) -> list[Partition]:
    """Returns the partitions of a plan or of files.

    Raises:
        RequestError: Partitions are given with columns or options, which they already have.
    """
    if isinstance(files, list) and files and all(isinstance(part, Partition) for part in files):
        if options or columns is not None:
            raise RequestError("partitions have columns and options already: give those to plan()")
        return files
    return plan(files, columns, **options)


def state_of(tree: Tree) -> tuple[int, int, str | None]:
    """Returns the state by which a file is identified: its size, number of entries and identity."""
    return tree.file.size, tree.num_entries, tree.file._core.identity


def form(files: Any, columns: Names = None, **options: Any) -> dict[str, Any]:
    """Returns the types of the columns in the first file: Awkward Forms as Python objects, by name.

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
    """Opens the tree of a file, as a chain does."""
    chain = Chain.__new__(Chain)
    chain._parts, chain._settings, chain._constants = [(path, tree)], settings, [[]]
    return chain._open(0)


def _chosen(tree: Tree, columns: Names) -> list[tuple[str, int]]:
    return choose(tree, columns, BranchFilter())


def _check_same(known: tuple[str, list[str]], path: str, names: list[str]) -> None:
    """Raises an error if files have different branches, which the engine would misalign."""
    first, expected = known
    apart = sorted(set(names) ^ set(expected))
    if apart:
        some = ", ".join(apart[:5]) + (f" and {len(apart) - 5} more" if len(apart) > 5 else "")
        raise RequestError(
            f"{path} and {first} have different branches: only one of them has {some}; "
            "columns= must name branches that both have"
        )


def _size(step: int | str | None) -> tuple[int | None, int | None]:
    """Returns the number of entries or bytes of a partition; ``None`` for both means whole files."""
    return (None, None) if step is None else step_size(step)


def _partitions(like: Partition, division: _Division) -> list[Partition]:
    parts, stored, entries, size, identity = division
    state = size, entries, identity
    return [
        replace(like, start=start, stop=stop, bytes=stored * (stop - start) // max(entries, 1), state=state)
        for start, stop in parts
    ]
