"""``uproot.dask_write``: a collection of dask-awkward as ROOT files, one for each partition."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from forthwith._packages import package
from forthwith.uproot._compression import KINDS
from forthwith.uproot._writing import recreate


def dask_write(
    array: Any,
    destination: str,
    compute: bool = True,
    storage_options: dict[str, Any] | None = None,
    prefix: str | None = None,
    tree_name: str = "tree",
    title: str = "",
    compression: str = "zlib",
    compression_level: int = 1,
    **options: Any,
) -> Any:
    """Writes a ``dask_awkward.Array`` of records as trees, one file for each partition.

    Args:
        array: The collection.
        destination: A folder, or the URL of one.
        compute: Whether they are written now. Otherwise the result is what writes them when it is computed.
        storage_options: Those of the store.
        prefix: The beginning of the files' names: ``prefix-part0.root``.
        tree_name: The name of the trees.
        title: Their title.
        compression: ``"zlib"``, ``"lzma"``, ``"lz4"`` or ``"zstd"``.
        compression_level: Its level.
        options: As in ``mktree``.

    Raises:
        ValueError: There is no such codec.
    """
    package("dask_awkward")
    kinds = {kind.__name__: kind for kind in KINDS.values()}
    kind = kinds.get(str(compression).upper())
    if kind is None:
        raise ValueError(f"compression is one of {', '.join(kinds)}, not {compression!r}")
    codec = kind(compression_level) if compression_level else None
    begin = "" if prefix is None else f"{prefix}-"
    delayed: Any = import_module("dask").delayed
    writing = delayed(_write, pure=False)
    pieces = array.to_delayed()
    digits = len(str(len(pieces) - 1)) if len(pieces) > 1 else 0
    paths = [
        f"{os.fspath(destination).rstrip('/')}/{begin}part{str(at).zfill(digits)}.root" for at in range(len(pieces))
    ]
    parts = [
        writing(piece, path, tree_name, title, codec, storage_options, options)
        for piece, path in zip(pieces, paths, strict=True)
    ]
    done = delayed(_nothing)(parts)
    return done.compute() if compute else done


def _write(part: Any, path: str, name: str, title: str, codec: Any, storage_options: Any, options: Any) -> None:
    store = {} if storage_options is None else {"storage_options": storage_options}
    with recreate(path, compression=codec, **store) as file:
        columns = {field: part[field] for field in part.fields}
        file.mktree(name, columns, title, **options)


def _nothing(parts: list[None]) -> None:
    return
