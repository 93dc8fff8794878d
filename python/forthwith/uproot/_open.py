"""Opening one file, as uproot does."""

from __future__ import annotations

import os
import re
from typing import Any

from forthwith import _paths
from forthwith._file import open_file
from forthwith._opening import Settings
from forthwith.uproot import _options
from forthwith.uproot._file import ReadOnlyFile, opened
from forthwith.uproot._options import AS_STORED, with_own_options, without_host

# A file, and the object in it behind a colon.
_OBJECT = re.compile(r"(.+\.root(?:\.[0-9]+)?):(.*)", re.IGNORECASE | re.DOTALL)
_FILE = re.compile(r".+\.root(?:\.[0-9]+)?", re.IGNORECASE)


def open(path: Any, **options: Any) -> Any:
    """Opens a file, or an object in it.

    Args:
        path: A path, ``"file.root:dir/object"``, ``{path: object}``, a ``pathlib.Path``, a path with ``storage_options``
            such as those of universal-pathlib, or a file object with ``read`` and ``seek``.
        options: ``handler``, ``num_workers``, caches, executors and filters have no effect. All others are for the store of a
            URL: ``headers``, ``timeout``, ``client_kwargs``, ``key`` and so on, also as a dict ``storage_options``.

    Returns:
        The topmost directory, or the object.
    """
    options = {name: value for name, value in options.items() if name not in _options.FILTERS}
    _options.refuse("open", options)
    what, inner, options = one_file(path, options)
    return open_at(what, inner, options)


def one_file(path: Any, options: dict[str, Any]) -> tuple[Any, str | None, dict[str, Any]]:
    """The file, the object in it, and the options, with those that the path brings along.

    Raises:
        ValueError: It is not a single file.
    """
    inner = None
    if isinstance(path, dict) and len(path) == 1:
        ((path, inner),) = path.items()
        if isinstance(path, str) and inner is not None and path.rstrip().endswith(":"):
            path = path.rstrip()[:-1]
    elif isinstance(path, str):
        path, inner = split(path)
    path, options = with_own_options(path, options)
    if isinstance(path, (str, os.PathLike)) or (hasattr(path, "read") and hasattr(path, "seek")):
        return whole(path), inner, options
    raise ValueError(
        "'path' must be a string, pathlib.Path, an object with 'read' and 'seek' methods, or a length-1 dict of "
        f"{{file_path: object_path}}, not {path!r}"
    )


def whole(what: Any) -> Any:
    """A file without an object in it, as forthwith opens it."""
    found: Any = _paths.whole(without_host(what) if isinstance(what, str) else what)
    return found


def split(text: str) -> tuple[str, str | None]:
    """Splits ``"file.root:dir/tree"``, also where a link of a chain of URLs names the object.

    Where nothing ends in ``.root``, forthwith's own rule finds the colon.
    """
    text = without_host(text.strip())
    if not os.path.exists(text):
        links = text.split("::")
        for at in reversed(range(len(links))):
            found = _OBJECT.match(links[at])
            if found is not None:
                links[at] = found[1]
                return _paths.local("::".join(links)), re.sub("/+", "/", found[2].strip()).strip("/")
        if _FILE.fullmatch(text) is not None:
            return _paths.local(text), None
    return _paths.split_path(text)


def open_at(what: Any, inner: str | None, options: dict[str, Any]) -> Any:
    """Opens an object of a file, or its topmost directory."""
    _options.check_handler(what, options.get("handler"))
    settings = Settings.of(storage_options=_options.store_options(what, options), **AS_STORED)
    file = open_file(what, settings.options, settings.view)
    held = ReadOnlyFile(file, options)
    try:
        if file._core.is_one_table:
            return opened(file._only_table(), held)
        return held.root_directory[inner] if inner else held.root_directory
    except BaseException:
        file.close()
        raise
