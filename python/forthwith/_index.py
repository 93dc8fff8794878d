"""Indexes: the metadata of a file, stored in a separate file."""

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
    """Writes an index of a file, with which ``open(source, index=...)`` reads only data.

    The index has the bytes that are read to open the file and to plan the read of each column, the size of
    the file, and its version as reported by the file system or server. It is written atomically.

    Args:
        source: The file, of any format: a path or a URL.
        path: The destination: a path or the URL of a stored object, or a folder (an existing one, or a name
            that ends in ``/``). By default beside the file, with its name and ``.fwi``. Web servers are not
            supported.
        storage_options: Options of stores, as in ``open``.

    Returns:
        The name of the index.

    Raises:
        MissingFileError: The file does not exist.
        DamagedFileError: The file is damaged or of unknown format.
        SourceError: The file changed during the read; the index cannot be written.
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
