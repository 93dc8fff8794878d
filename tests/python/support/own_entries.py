"""Entries of a tree as the columns that its table wants, so that a tree can be extended by its own entries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import awkward as ak

if TYPE_CHECKING:
    from typing import Any

    from forthwith import Branch, Tree

NEW = ("fUniqueID", "fBits")


def label(name: str) -> str:
    """A branch's name without dimensions and the dot at its end."""
    return name.split("[", maxsplit=1)[0].rstrip(".")


def member(name: str) -> str:
    """The last part of a branch's name, apart from dots within the arguments of templates."""
    name, depth = label(name), 0
    for at in range(len(name) - 1, -1, -1):
        depth += {">": 1, "<": -1}.get(name[at], 0)
        if name[at] == "." and depth <= 0:
            return name[at + 1 :]
    return name


def below(branch: Branch) -> list[Branch]:
    """The branches that belong to one."""
    return [one for one in branch.values() if one.path.rsplit("/", 1)[0] == branch.path] if branch.keys() else []


def column(branch: Branch, kind: Any, count: int) -> ak.Array:
    """The first values of a column of a type."""
    if not branch.keys():
        return branch.array(entry_stop=count)
    record = kind.content if isinstance(kind, ak.types.ListType) else kind
    fields: list[str] = [] if record.is_tuple else record.fields
    found: dict[str, ak.Array] = {}

    def gather(outer: Branch) -> None:
        for one in below(outer):
            prefix = branch.name.rstrip(".") + "."
            name = label(one.name)
            name = name[len(prefix) :] if name.startswith(prefix) else member(name)
            if name in found:
                name = f"{member(outer.name)}.{name}"
            if one.keys() and name not in fields and not record.is_tuple:
                gather(one)
            elif record.is_tuple or name in fields:
                found[name] = column(
                    one, record.contents[len(found)] if record.is_tuple else record.content(name), count
                )
            else:
                assert member(name) in NEW, name

    gather(branch)
    if not found and isinstance(kind, ak.types.ListType):
        return ak.Array([[{}] * items for items in branch.array(entry_stop=count)])
    if not found:
        return ak.Array([{}] * count)
    if record.is_tuple:
        return ak.zip(tuple(found.values()), depth_limit=2)
    return ak.zip(found, depth_limit=2 if isinstance(kind, ak.types.ListType) else 1)


def columns(tree: Tree, types: dict[str, str], count: int) -> dict[str, ak.Array]:
    """The first entries of a tree, as a table of these types is extended by them."""
    branches = {branch.path: branch for branch in tree.values()}
    return {
        name: column(
            branches[name if name in branches else f"{name}."], ak.types.from_datashape(kind, highlevel=False), count
        )
        for name, kind in types.items()
    }
