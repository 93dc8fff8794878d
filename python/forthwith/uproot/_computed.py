"""Expressions, aliases and cuts: forthwith computes them, and says what its language does not have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from forthwith import _forthwith
from forthwith._errors import KeyInFileError
from forthwith._packages import package
from forthwith._tree.query import COMPUTED, Choice, Query, holder
from forthwith.uproot._library import Library

# uproot's spelling of a name with characters that expressions do not have in names.
_GET = re.compile(r"""\bget\(\s*(["'])(.*?)\1\s*\)""")
# A position in lists, which forthwith takes for a value that may be missing.
_POSITION = re.compile(r"\[\s*(?::|\.\.\.)")
# Types of one truth value, and of lists.
_TRUTH = ("bool", "?bool")


def _spelled(owner: Any, text: str) -> str:
    """An expression in forthwith's spelling."""

    def place(found: Any) -> str:
        try:
            return f"`{owner[found.group(2)].forthwith.path}`"
        except KeyInFileError:
            return f"`{found.group(2)}`"

    return _GET.sub(place, text)


class Computed:
    """The columns of names and expressions, which can be read for any entries.

    Args:
        owner: The tree or branch in which names are searched.
        names: Names and expressions.
        cut: An expression; entries for which it is false are left out.
        aliases: Names for expressions.
        library: What columns become.

    Attributes:
        columns: The columns that are read: texts, and the positions of branches among them.
        choice: The cut and the aliases, as forthwith takes them.
    """

    def __init__(self, owner: Any, names: list[str], cut: str | None, aliases: Any, library: Library) -> None:
        tree = owner.tree.forthwith
        known = {name: _spelled(owner, text) for name, text in dict(aliases or {}).items()}
        self._library = library
        self._texts: dict[str, str] = {}
        self._branches: dict[str, Any] = {}
        columns = []
        for name in dict.fromkeys(names):
            branch = _branch(owner, name)
            if name in known and branch is not None:
                raise ValueError(f"the alias {name!r} is the name of a branch of {tree!r}")
            text = self._texts[name] = _spelled(owner, name)
            if branch is None:
                columns.append((text, COMPUTED))
            else:
                self._branches[name] = branch
                columns.append((text, branch._index))
        labels = [label for label, _ in columns]
        distinct = [columns[labels.index(label)] for label in dict.fromkeys(labels)]
        cut = None if cut is None else _spelled(owner, cut)
        aliases = _needed(known, [*self._texts.values(), cut or ""])
        self._mask: str | None = None
        if cut is not None:
            [kind] = Query(tree, [(cut, COMPUTED)], Choice(None, aliases)).core.types()
            if " * " in kind:
                # The cut has a value for each item of lists, and leaves out items rather than entries.
                self._mask, cut = cut, None
                if self._mask not in labels:
                    distinct.append((self._mask, COMPUTED))
            elif kind not in _TRUTH:
                cut = f"({cut}) != 0"
        self.columns, self.choice = distinct, Choice(cut, aliases)
        self._query = Query(tree, distinct, self.choice)

    @property
    def branches(self) -> list[Any]:
        """The branches that are columns by themselves."""
        return list(self._branches.values())

    def read(self, start: int, stop: int) -> tuple[dict[str, Any], int]:
        """The columns, and the number of entries that passed."""
        return self.made(start, stop, *self._query.core.read(start, stop))

    def steps(self, start: int, stop: int, step: int) -> Iterator[tuple[int, int, dict[str, Any], int]]:
        """The same, so many entries at a time, with the first entry of each step and the one after its last."""
        reader = self._query.core.batches(start, stop, step)
        while (found := reader.read()) is not None:
            yield (*found[:2], *self.made(*found))

    def made(self, start: int, stop: int, arrays: Any, kept: Any) -> tuple[dict[str, Any], int]:
        """What arrays of the columns become, and the number of entries that passed, which are `kept` if there is a cut."""
        by_text = dict(zip((label for label, _ in self.columns), arrays, strict=True))
        ak, library = package("awkward"), self._library
        made = {}
        mask = None if self._mask is None else ak.Array(by_text[self._mask].logical().layout()) != 0
        for name, text in self._texts.items():
            if mask is not None:
                made[name] = library.of_awkward(ak.Array(by_text[text].logical().layout())[mask], name, start)
            elif name in self._branches:
                made[name] = library.one(by_text[text], self._branches[name], start)
            else:
                array = ak.Array(by_text[text].logical().layout())
                if array.layout.is_option and _POSITION.search(text) and not ak.any(ak.is_none(array, axis=0)):
                    array = ak.drop_none(array, axis=0)
                made[name] = library.of_awkward(array, name, start)
            if kept is not None:
                made[name] = library.of_entries(made[name], kept)
        return made, stop - start if kept is None else len(kept)


def _branch(owner: Any, name: str) -> Any:
    """The branch or field of a name, if there is one that is a column by itself."""
    try:
        branch = owner[name]
    except KeyInFileError:
        return None
    # A field in a field of an ntuple is an expression, too.
    return branch if branch._is_column else None


def _needed(aliases: dict[str, str], texts: list[str]) -> dict[str, str]:
    """The aliases that expressions name, and those that these name."""
    found: dict[str, str] = {}
    waiting = list(texts)
    while waiting:
        text = waiting.pop()
        for name in _forthwith.expression_names(text) if text else []:
            if name in aliases and name not in found:
                found[name] = aliases[name]
                waiting.append(aliases[name])
    return found


def branches_of(owner: Any, names: list[str], cut: str | None, aliases: Any) -> list[Any]:
    """The branches that expressions are made of."""
    known = {name: _spelled(owner, text) for name, text in dict(aliases or {}).items()}
    texts = [_spelled(owner, text) for text in [*names, *([] if cut is None else [cut])]]
    texts += _needed(known, texts).values()
    found: dict[int, Any] = {}
    for text in texts:
        for name in [text, *_forthwith.expression_names(text)]:
            branch = _branch(owner, name)
            if branch is None and (at := holder(owner.tree.forthwith, name)) is not None:
                branch = owner.tree[owner.tree.forthwith._fields[at].path]
            if branch is not None:
                found[branch._index] = branch
    return list(found.values())
