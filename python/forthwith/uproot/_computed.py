"""Expressions, aliases and cuts: forthwith computes them, and says what its language does not have."""

from __future__ import annotations

from typing import Any


def computed(owner: Any, names: list[str], cut: Any, aliases: Any, start: int, stop: int) -> tuple[dict[str, Any], int]:
    """Awkward Arrays of expressions by their texts, and the number of entries that passed."""
    distinct = list(dict.fromkeys(names))
    found = owner.forthwith.arrays(
        distinct, cut=cut, aliases=dict(aliases or {}), entry_start=start, entry_stop=stop, library="ak"
    )
    return {name: found[name] for name in distinct}, len(found)


def branches_of(owner: Any, names: list[str], cut: Any, aliases: Any) -> list[Any]:
    """The branches that expressions are made of."""
    return [
        branch
        for branch in owner.itervalues(recursive=True)
        if any(branch.name in str(text) for text in [*names, cut or "", *(aliases or {}).values()])
    ]
