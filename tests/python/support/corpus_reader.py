"""forthwith as a corpus checker calls it: ``read_column(path, tree, column)``, ``keys(path)``, ``histogram(path, key)``."""

import pathlib
import sys

import forthwith

sys.path.append(str(pathlib.Path(__file__).parents[2]))
import canonical  # noqa: F401  the checker's own, where it has one
import goldens


def read_column(path, tree, column):
    """A whole column as an Awkward Array; ``NotImplementedError`` for what cannot be read yet."""
    if tree is None:
        with forthwith.open(path) as file:
            return goldens.as_meant(file[column].array())
    with forthwith.open({path: tree}) as opened:
        try:
            return opened[column].array()
        except forthwith.MissingFileError as error:  # baskets in a file that is not there
            raise NotImplementedError(str(error)) from error


def keys(path):
    """Names with cycles, and classes, of all objects in a file."""
    with forthwith.open({path: None}) as file:
        return [list(pair) for pair in file.iterclassnames()]


def histogram(path, key):
    """Bin contents with underflow and overflow, and edges, of a histogram."""
    with forthwith.open({path: None}) as file:
        found = file[key]
        return {"values": found.values(flow=True), "edges": [axis.edges() for axis in found.axes]}
