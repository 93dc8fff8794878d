"""Opening one file, as uproot does."""

from __future__ import annotations

import os
from typing import Any

from forthwith import _paths
from forthwith._file import open_file
from forthwith._opening import Settings
from forthwith.uproot import _options
from forthwith.uproot._file import ReadOnlyFile, opened
from forthwith.uproot._options import without_host


def open(path: Any, **options: Any) -> Any:
    """Opens a file, or an object in it.

    Args:
        path: A path, ``"file.root:dir/object"``, ``{path: object}``, a ``pathlib.Path``, or a file object with ``read`` and
            ``seek``.
        options: Those of uproot: ``handler``, ``timeout``, ``num_workers``, caches and executors have no effect.

    Returns:
        The topmost directory, or the object.
    """
    _options.refuse("open", options)
    what, inner = one_file(path)
    return open_at(what, inner, options)


def one_file(path: Any) -> tuple[Any, str | None]:
    """The file and the object in it that are meant.

    Raises:
        ValueError: It is no single file.
    """
    if isinstance(path, dict) and len(path) == 1:
        ((what, inner),) = path.items()
        if isinstance(what, str) and inner is not None and what.rstrip().endswith(":"):
            what = what.rstrip()[:-1]
        return _checked(what), inner
    if isinstance(path, str):
        return _paths.split_path(without_host(path))
    if isinstance(path, os.PathLike) or (hasattr(path, "read") and hasattr(path, "seek")):
        return _checked(path), None
    if hasattr(path, "storage_options"):
        return _paths.split_path(str(path))
    raise ValueError(
        "'path' must be a string, pathlib.Path, an object with 'read' and 'seek' methods, or a length-1 dict of "
        f"{{file_path: object_path}}, not {path!r}"
    )


def _checked(what: Any) -> Any:
    found: Any = _paths.whole(without_host(what) if isinstance(what, str) else what)
    return found


def open_at(what: Any, inner: str | None, options: dict[str, Any]) -> Any:
    """Opens what was found of a path."""
    settings = Settings.of()
    file = open_file(what, settings.options, settings.view)
    held = ReadOnlyFile(file, options)
    try:
        if file._core.is_one_table:
            return opened(file._only_table(), held)
        return held.root_directory[inner] if inner else held.root_directory
    except BaseException:
        file.close()
        raise
