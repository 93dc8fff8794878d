"""Objects of PyROOT as objects of a file, and the other way: by a file that is written between the two."""

from __future__ import annotations

import io
import os
import tempfile
from importlib import import_module
from typing import Any

from forthwith._errors import MissingPackageError
from forthwith._writable.pyroot import file_with
from forthwith.uproot._model import Model
from forthwith.uproot._open import open as open_file
from forthwith.uproot._writing import recreate

_NAME = "object"


def _root() -> Any:
    try:
        return import_module("ROOT")
    except ImportError as error:
        raise MissingPackageError("PyROOT is not installed: it comes with ROOT") from error


def from_pyroot(pyroot_object: Any) -> Any:
    """An object of PyROOT as one that was read from a file.

    Args:
        pyroot_object: A ``TObject``.
    """
    _root()
    with open_file(io.BytesIO(file_with(pyroot_object, _NAME))) as opened:
        return opened[_NAME]


def to_pyroot(obj: Any, name: str | None = None) -> Any:
    """An object that was read, or that can be written, as one of PyROOT.

    Args:
        obj: The object.
        name: Its name; by default the one that it has.
    """
    root = _root()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "object.root")
        with recreate(path) as file:
            file[_NAME] = obj
        here = root.TDirectory.TContext()
        opened = root.TFile.Open(path)
        found = opened.Get(_NAME)
        if hasattr(found, "SetDirectory"):
            found.SetDirectory(root.nullptr)
        root.SetOwnership(found, True)
        opened.Close()
        del here
    own = obj.member("fName", none_if_missing=True) if isinstance(obj, Model) else getattr(obj, "name", None)
    if (name or own) and hasattr(found, "SetName"):
        found.SetName(str(name or own))
    return found
