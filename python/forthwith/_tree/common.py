"""The columns of several trees: the same in all of them, or missing values where a tree lacks one."""

from __future__ import annotations

from forthwith._errors import KeyInFileError, RequestError
from forthwith._tree.query import COMPUTED, NOTHING, Choice
from forthwith._tree.read import choose, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Literal, TypeAlias

    from forthwith import _forthwith
    from forthwith._filters import BranchFilter
    from forthwith._tree.options import ReadOptions
    from forthwith._tree.read import Columns, Names
    from forthwith._tree.tree import Tree

    Missing: TypeAlias = Literal["raise", "null"]

_MOST_SAID = 5


def check_missing(missing: str) -> None:
    """Refuses other words."""
    if missing not in ("raise", "null"):
        raise RequestError(f"missing must be 'raise' or 'null', not {missing!r}")


class Common:
    """Which columns are read of each tree. Trees that differ are an error that names them.

    Attributes:
        lacking: With ``missing="null"``, the columns that a tree lacks, each with an array of its type and no entries.
        labels: With ``missing="null"``, all columns in their order.
    """

    def __init__(self, names: Names, wanted: BranchFilter, missing: Missing, choice: Choice = NOTHING) -> None:
        check_missing(missing)
        self._names = (
            names if names is None or isinstance(names, str) or not hasattr(names, "__iter__") else list(names)
        )
        self._wanted = wanted
        self._missing = missing
        self._choice = choice
        self._first: tuple[str, list[str]] | None = None
        self._types: dict[str, tuple[str, str]] = {}
        self.lacking: dict[str, _forthwith.Array] = {}
        self.labels: list[str] = []

    def survey(self, count: int, opened: Callable[[int], Tree], options: ReadOptions) -> None:
        """Looks at all trees before any is read, if they may differ."""
        if self._missing != "null":
            return
        if options.errors != "raise" or options.how == "zip":
            raise RequestError("missing='null' goes neither with errors= nor with how='zip'")
        if self._choice:
            raise RequestError("missing='null' goes neither with cut= or entries= nor with expressions and aliases")
        found: dict[str, int] = {}
        everywhere: set[str] = set()
        problem: Exception | None = None
        for at in range(count):
            with opened(at) as tree:
                columns, problem = self._some_of(tree)
            labels = [label for label, _ in columns]
            for label in labels:
                found.setdefault(label, at)
            everywhere = set(labels) if at == 0 else everywhere & set(labels)
        if not found and problem is not None:
            raise problem
        self.labels = list(found)
        lacking = {label: at for label, at in found.items() if label not in everywhere}
        for at in sorted(set(lacking.values())):
            with opened(at) as tree:
                columns = [column for column in self._some_of(tree)[0] if lacking.get(column[0]) == at]
                arrays = read(tree, columns, 0, 0, options)
                self.lacking.update(zip([label for label, _ in columns], arrays, strict=True))

    def of(self, tree: Tree, offset: int) -> Columns:
        """The columns to be read of a tree, before which there are so many entries."""
        if self._missing == "null":
            columns, _ = self._some_of(tree)
        else:
            columns = choose(tree, self._names, self._wanted, choice=self._choice.of_part(tree, offset))
            self._check_names(tree, [label for label, _ in columns])
        self._check_types(tree, columns)
        return columns

    def _some_of(self, tree: Tree) -> tuple[Columns, Exception | None]:
        """The columns that a tree has, and why not others."""
        columns: Columns = []
        problem: Exception | None = None
        names = self._names
        for name in [names] if names is None or isinstance(names, str) else names:
            try:
                columns += choose(tree, name, self._wanted, strict=False)
            except (KeyInFileError, ValueError) as error:
                problem = error
        return columns, problem

    def _check_names(self, tree: Tree, labels: list[str]) -> None:
        here = tree._place()
        if self._first is None:
            self._first = here, labels
            return
        there, first = self._first
        lacks, more = _without(first, labels), _without(labels, first)
        if not lacks and not more:
            return
        parts = [f"{here} lacks {_said(lacks)}, which {there} has"] if lacks else []
        parts += [f"{here} has {_said(more)}, which {there} lacks"] if more else []
        raise RequestError(
            f"the files have not the same branches: {'; '.join(parts)}\n"
            '  names= reads those that all files have, missing="null" all of them, with missing values',
            file=tree.file.file_path,
            object=tree.path,
        )

    def _check_types(self, tree: Tree, columns: Columns) -> None:
        for label, at in columns:
            if at == COMPUTED:
                continue
            # To count all blocks would take as long as to read some files.
            text = tree._core.describe(at, 0).type_string
            kind = text and _kind(text)
            if not kind or not text:
                continue
            first, place = self._types.setdefault(label, (text, tree._place()))
            if first != text and _kind(first) != kind:
                raise RequestError(
                    f"{label!r} is {text} in {tree._place()}, but {first} in {place}",
                    file=tree.file.file_path,
                    object=f"{tree.path}/{label}",
                )

    def complete(self, tree: Tree, columns: Columns, start: int, stop: int, options: ReadOptions) -> Any:
        """The entries of a tree with missing values in the columns that it lacks; no entry is left out of them."""
        into = options.into()
        arrays = dict(zip([label for label, _ in columns], read(tree, columns, start, stop, options), strict=True))
        begin, made = start + options.offset, {}
        for label in self.labels:
            if label not in self.lacking:
                made[label] = into.column(label, arrays[label], begin)
            elif label in arrays:
                made[label] = into.optional(label, arrays[label], begin)
            else:
                made[label] = into.nulls(label, self.lacking[label], begin, stop - start)
        if options.how in (tuple, list):
            return options.how(made.values())
        return made if options.how is dict else into.of_columns(made, begin, stop + options.offset)


def _without(labels: list[str], others: list[str]) -> list[str]:
    known = set(others)
    return [label for label in labels if label not in known]


def _said(labels: Iterable[str]) -> str:
    names = [repr(label) for label in labels]
    more = f" and {len(names) - _MOST_SAID} more" if len(names) > _MOST_SAID else ""
    return ", ".join(names[:_MOST_SAID]) + more


def _kind(text: str) -> str | None:
    """The part of two types that must agree where they become one: all but the width of numbers. Nested types are left out."""
    if any(c in text for c in "{[(") or "unknown" in text:
        return None
    words = text.replace("?", "").split(" * ")
    number = words[-1].rstrip("0123456789") in ("int", "uint", "float")
    return " * ".join([*words[:-1], "number" if number else words[-1]])
