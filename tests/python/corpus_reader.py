"""forthwith as a corpus checker calls it: ``read_column(path, tree, column)`` and ``keys(path)``."""

import forthwith


def read_column(path, tree, column):
    """A whole column as an Awkward Array; ``NotImplementedError`` for what cannot be read yet."""
    if tree is None:
        raise NotImplementedError("only ROOT files yet")
    with forthwith.open({path: tree}) as opened:
        return opened[column].array()


def keys(path):
    """Names with cycles, and classes, of all objects in a file."""
    with forthwith.open({path: None}) as file:
        return [list(pair) for pair in file.iterclassnames()]
