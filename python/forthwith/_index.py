"""Indexes of files: their metadata, kept in files of their own."""

from __future__ import annotations

import os

from forthwith import _forthwith, _paths, _stores
from forthwith._errors import RequestError, UnsupportedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


def index(
    source: str | os.PathLike[str],
    path: str | os.PathLike[str] | None = None,
    *,
    storage_options: Mapping[str, Any] | None = None,
) -> str:
    """Writes an index of a file, with which ``open(source, index=...)`` reads nothing but data.

    The index has the bytes that are read while the file is opened, and reading each column of each of its tables is planned;
    the size of the file, and the mark by which the file system or the server tells its state. It is there once it is complete.

    Args:
        source: The file, of any format: a path or a URL.
        path: Where the index goes: a path or the URL of an object of a store, or a folder, if it is one or ends in ``/``. By
            default beside the file, under its name with ``.fwi``. Web servers take no files.
        storage_options: How stores are reached, as in ``open``.

    Returns:
        The name of the index.

    Raises:
        MissingFileError: There is no such file.
        DamagedFileError: It is no file of a known format, or damaged.
        SourceError: The file changes meanwhile; the index cannot be written.
    """
    file, inner = _paths.split(source)
    if inner is not None:
        raise RequestError(f"an index is made for a whole file, {file}, not for {inner!r} in it")
    if not isinstance(file, str):
        raise TypeError(f"an index is made for a path or a URL, not for {file!r}")
    if _stores.is_foreign(file):
        raise UnsupportedError(
            "an index of a file that fsspec opens; one of a copy on this machine is as good", file=file
        )
    scheme = _stores.scheme(file)
    if storage_options is not None and scheme is None:
        raise RequestError(f"storage_options are for URLs, and {file!r} is a path")
    if path is None and scheme in ("http", "https"):
        raise RequestError(f"an index cannot be written to a web server: path= says where the index of {file!r} goes")
    place = True if path is None else _paths.local(os.fspath(path))
    return _forthwith.make_index(file, place, _stores.flat(storage_options))
