"""Optional packages, imported on first use."""

from __future__ import annotations

import sys
from importlib import import_module

from forthwith._errors import MissingPackageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def package(name: str) -> Any:
    """Imports an optional package; if it is missing, the error says how to install it."""
    there = sys.modules.get(name)
    # Like an import statement; `import_module` is several times slower.
    if there is not None and not getattr(there.__spec__, "_initializing", True):
        return there
    try:
        return import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.partition(".")[0] != name:
            raise
        # Names of distributions have hyphens instead of underscores.
        called = name.replace("_", "-")
        raise MissingPackageError(
            f"this needs the package {called}, which is not installed:\n"
            f"\n    pip install {called}\n\nor\n\n    conda install -c conda-forge {called}\n"
        ) from None
