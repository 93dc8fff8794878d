"""Optional packages, imported when they are wanted."""

from __future__ import annotations

import sys
from importlib import import_module

from forthwith._errors import MissingPackageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def package(name: str) -> Any:
    """An optional package, or the error that says how to get it."""
    there = sys.modules.get(name)
    # As an import statement asks; import_module costs several times as much.
    if there is not None and not getattr(there.__spec__, "_initializing", True):
        return there
    try:
        return import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.partition(".")[0] != name:
            raise
        # Distributions go by hyphens where modules cannot.
        called = name.replace("_", "-")
        raise MissingPackageError(
            f"this needs the package {called}, which is not installed:\n"
            f"\n    pip install {called}\n\nor\n\n    conda install -c conda-forge {called}\n"
        ) from None
