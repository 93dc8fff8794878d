"""Writes the objects of a file once more, from what they are as dicts. See ``tests/generate/random_classes.py``."""

import json
import sys

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


if __name__ == "__main__":
    print(json.dumps(write_again(*sys.argv[1:])))
