"""Containers that compare, hash and allocate in ways of the user's own, as C++ ROOT reads them."""

import json

import pytest
from conftest import data, golden_of

import forthwith

GOLDEN = golden_of("arguments.root.values.json")
# They have an order of their own in memory.
UNORDERED = ("few", "many", "found", "met")


def plain(name, entries):
    """Lists where Python has tuples, sorted where there is no order."""
    entries = json.loads(json.dumps(entries))
    if name.endswith("."):
        return [{member: plain(member, [value])[0] for member, value in entry.items()} for entry in entries]
    return [sorted(entry) for entry in entries] if name in UNORDERED else entries


def column(tree, name):
    """Values of a branch, or of those below it, which are divided once more where items have members."""
    members = {member: tree[f"{name}/{member}"] for member in tree[name].keys(recursive=False)}
    if not members:
        return tree[name].array().to_list()
    if tree[name].has_data:  # how many items
        items = zip(*(branch.array().to_list() for branch in members.values()), strict=True)
        columns = [[list(item) for item in zip(*entry, strict=True)] for entry in items]
        names = [member.rpartition(".")[2] for member in members]
        return (
            columns
            if names == ["first", "second"]
            else [[dict(zip(names, v, strict=True)) for v in e] for e in columns]
        )
    columns = {member.removeprefix(name): column(tree, f"{name}/{member}") for member in members}
    return [dict(zip(columns, entry, strict=True)) for entry in zip(*columns.values(), strict=True)]


@pytest.mark.parametrize("name", [name.partition("/")[2] for name in GOLDEN])
def test_arguments_of_the_users_own_do_not_change_what_is_stored(name):
    with forthwith.open(data("arguments.root")) as file:
        found = column(file["t"], name)
    wanted = GOLDEN[f"arguments/{name}"]
    assert plain(name, found) == plain(name, wanted)
