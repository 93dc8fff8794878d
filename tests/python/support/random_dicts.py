"""Writes the objects of a file once more, from what they are as dicts, and extends its branches by their own entries.

See ``tests/generate/random_classes.py``.
"""

import json
import sys
import traceback

import own_entries

import forthwith


def write_again(path, other):
    """Writes the keys of a file to another one, and gives those that are refused, with the reasons."""
    refused = {}
    with forthwith.open(path) as file, forthwith.recreate(other) as to:
        to.describe(file)
        for name, kind in file.classnames(cycle=False).items():
            if kind == "TTree":
                continue
            found = file[name]
            if not hasattr(found, "tojson"):
                refused[name] = f"read as {type(found).__name__}"
                continue
            try:
                to[name] = found.tojson()
            except forthwith.ForthwithError as error:
                refused[name] = str(error)
    return refused


def extend_branch(path, other, name):
    """Copies a tree with one branch alone to another file, and appends all its entries; gives the reason if that is refused."""
    forthwith.merge([path], other, filter_object="t", filter_name=[name, f"{name}/**"])
    with forthwith.open(path) as file:
        tree = file["t"]
        try:
            with forthwith.update(other) as to:
                kinds = to["t"].columns
            entries = own_entries.columns(tree, kinds, tree.num_entries)
        except forthwith.UnsupportedError as error:
            return str(error)
        try:
            with forthwith.update(other) as to:
                to["t"].extend(entries)
        except forthwith.UnsupportedError as error:
            # An object in a collection of pointers is of a class that can be read only.
            if "union[" in kinds[next(iter(kinds))]:
                return str(error)
            raise
    return None


def extend_branches(path, pairs):
    """Extends branches, each in a file of its own; gives for each nothing, why it is refused, or what failed otherwise."""
    found = []
    for other, name in pairs:
        print("extending", name, file=sys.stderr, flush=True)
        try:
            found.append({"refused": extend_branch(path, other, name)})
        except Exception as error:
            traceback.print_exc()
            found.append({"problem": f"{type(error).__name__}: {error}"})
    return found


if __name__ == "__main__":
    path, *others = sys.argv[1:]
    is_again = len(others) == 1
    pairs = [] if is_again else zip(others[::2], others[1::2], strict=True)
    print(json.dumps(write_again(path, *others) if is_again else extend_branches(path, pairs)))
