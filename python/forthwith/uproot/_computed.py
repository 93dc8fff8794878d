"""Expressions, aliases and cuts: forthwith computes them, and says what its language does not have."""

from __future__ import annotations

import re
from typing import Any

from forthwith import _forthwith
from forthwith._errors import KeyInFileError
from forthwith._packages import package
from forthwith._tree.query import COMPUTED, Choice, Query
from forthwith.uproot._library import Library

# uproot's spelling of a name with characters that expressions do not have in names.
_GET = re.compile(r"""\bget\(\s*(["'])(.*?)\1\s*\)""")


def _spelled(owner: Any, text: str) -> str:
    """An expression in forthwith's spelling."""

    def place(found: Any) -> str:
        try:
            return f"`{owner[found.group(2)].forthwith.path}`"
        except KeyInFileError:
            return f"`{found.group(2)}`"

    return _GET.sub(place, text)


def computed(
    owner: Any, names: list[str], cut: str | None, aliases: Any, span: tuple[int, int], library: Library
) -> tuple[dict[str, Any], int]:
    """The columns of names and expressions, and the number of entries that passed."""
    tree = owner.tree.forthwith
    known = {name: _spelled(owner, text) for name, text in dict(aliases or {}).items()}
    texts: dict[str, str] = {}
    branches: dict[str, Any] = {}
    columns = []
    for name in dict.fromkeys(names):
        branch = _branch(owner, name)
        if name in known and branch is not None:
            raise ValueError(f"the alias {name!r} is the name of a branch of {tree!r}")
        text = texts[name] = _spelled(owner, name)
        if branch is None:
            columns.append((text, COMPUTED))
        else:
            branches[name] = branch
            columns.append((text, branch._index))
    labels = [label for label, _ in columns]
    distinct = [columns[labels.index(label)] for label in dict.fromkeys(labels)]
    cut = None if cut is None else _spelled(owner, cut)
    query = Query(tree, distinct, Choice(cut, _needed(known, [*texts.values(), cut or ""])))
    arrays, kept = query.core.read(*span)
    by_text = dict(zip([label for label, _ in distinct], arrays, strict=True))
    ak = package("awkward")
    made = {}
    for name, text in texts.items():
        if name in branches:
            made[name] = library.one(by_text[text], branches[name], span[0])
        else:
            made[name] = library.of_awkward(ak.Array(by_text[text].logical().layout()), name, span[0])
        if kept is not None:
            made[name] = library.of_entries(made[name], kept)
    return made, span[1] - span[0] if kept is None else len(kept)


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
            if branch is not None:
                found[branch._index] = branch
    return list(found.values())
