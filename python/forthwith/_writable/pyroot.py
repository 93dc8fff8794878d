"""Serialisation of PyROOT objects by ROOT itself."""

from __future__ import annotations

import os
import sys
import tempfile
from typing import Any

from forthwith._errors import UnsupportedError


def is_pyroot(value: Any) -> bool:
    """Whether a value is a C++ object wrapped by PyROOT."""
    # Such objects exist only if ROOT was imported.
    return "ROOT" in sys.modules and hasattr(type(value), "__cpp_name__")


def file_with(value: Any, name: str) -> bytes:
    """Returns the bytes of a ROOT file to which ROOT has written a PyROOT object under a name.

    Raises:
        UnsupportedError: The object is a tree, a directory, or of a class that ROOT does not write.
    """
    root: Any = sys.modules["ROOT"]
    classname = str(type(value).__cpp_name__)
    if isinstance(value, (root.TTree, root.TDirectory)):
        raise UnsupportedError(
            f"writing a {classname} of PyROOT, whose data are in another file or in the memory of ROOT: C++ ROOT copies it, "
            "and its columns are written as arrays"
        )
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "object.root")
        directory = root.TDirectory.TContext()  # gDirectory stays what it is
        file = root.TFile.Open(path, "RECREATE", "", 0)
        try:
            written = file.WriteObject(value, name)
        finally:
            file.Close()
            del directory
        if not written:
            raise UnsupportedError(f"writing an object of class {classname}, which C++ ROOT does not write")
        with open(path, "rb") as stream:
            return stream.read()
