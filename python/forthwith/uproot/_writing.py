"""Writing ROOT files by uproot's names: forthwith's own files, with uproot's arguments."""

from __future__ import annotations

import errno
import io
import os
import shutil
import tempfile
from collections.abc import Callable
from importlib import import_module
from typing import Any

from forthwith import _paths, _stores
from forthwith._errors import SourceError, UnsupportedError
from forthwith._packages import package
from forthwith._writable import file as ours
from forthwith.uproot._compression import KINDS, LZ4, LZMA, ZLIB, ZSTD, Compression
from forthwith.uproot._directories import WritableDirectory, WritableFile
from forthwith.uproot._options import READING, refuse, store_options, with_own_options, without_host
from forthwith.uproot._tables import WritableNTuple, WritableTree

__all__ = [
    "LZ4",
    "LZMA",
    "ZLIB",
    "ZSTD",
    "Compression",
    "WritableDirectory",
    "WritableFile",
    "WritableNTuple",
    "WritableTree",
    "compression_named",
    "compression_of",
    "create",
    "recreate",
    "update",
]

# Sizes that uproot reserves beforehand.
_NO_EFFECT = frozenset(("initial_streamers_bytes", "initial_directory_bytes", "uuid_version", "uuid_function"))


class ExistingFileError(SourceError, FileExistsError):
    """There is a file of the name of one that is to be made."""


def compression_of(number: int) -> Compression | None:
    """The codec of ROOT's number; ``None`` for none."""
    algorithm, level = divmod(number, 100)
    return None if level == 0 else KINDS.get(algorithm, ZLIB)(min(level, 9))


def compression_named(text: str) -> Compression | None:
    """The codec of the words that forthwith has for it; ``None`` for none."""
    words = text.replace(",", " ").split()
    for kind in KINDS.values():
        if words and words[0].upper() == kind.__name__:
            levels = [int(word) for word in words if word.isdigit()]
            return kind(min(levels[0], 9) if levels else 1)
    return None


def recreate(file_path: Any, *, compression: Any = "default", **options: Any) -> WritableFile:
    """A ROOT file to be written, in place of an older one of this name, as `forthwith.recreate` writes it.

    Args:
        file_path: A path, whose folders are made where they are not there; a URL of a store, or of what fsspec writes to;
            or a file object.
        compression: A codec, or ``None``.
        options: Those of the store of a URL, as in `open`; ``initial_streamers_bytes``, ``initial_directory_bytes`` and
            ``uuid_version`` have no effect.
    """
    return _new("recreate", file_path, compression, options, ours.recreate)


def create(file_path: Any, *, compression: Any = "default", **options: Any) -> WritableFile:
    """As `recreate`, of a file that must not be there yet.

    Raises:
        ExistingFileError: It is there (also a ``FileExistsError``).
    """
    try:
        return _new("create", file_path, compression, options, ours.create)
    except SourceError as error:
        if error.errno != errno.EEXIST:
            raise
        raise _existing(str(error.file)) from error


def update(file_path: Any, *, compression: Any = "default", **options: Any) -> WritableFile:
    """A ROOT file that is there, to be added to, as `forthwith.update` does it.

    Args:
        file_path: A path, or the URL of a file of fsspec's, which is fetched, and put back when it is complete.
        compression: As in `recreate`.
        options: As in `recreate`.
    """
    given = _checked("update", options)
    file_path, with_own = with_own_options(file_path, given)
    path = os.fspath(_local(file_path))
    if not _stores.is_foreign(path):
        _check_local("update", given)
        return WritableFile.of(ours.update(path, compression=compression))
    store = store_options(path, with_own)
    put, fetched = _sink(path, store, False), _fetched(path, store)
    try:
        changed = ours.update(fetched, compression=compression)
    except BaseException:
        os.remove(fetched)
        raise

    def after() -> None:
        with open(fetched, "rb") as file:
            put(file.read())

    return WritableFile.of(changed, after, lambda: os.remove(fetched))


def _checked(call: str, options: dict[str, Any]) -> dict[str, Any]:
    """The options of a store.

    Raises:
        TypeError: One is an argument of another call, or nearly one of this call.
    """
    store = {name: value for name, value in options.items() if name not in _NO_EFFECT}
    refuse(call, store, ("compression", *READING, *_NO_EFFECT))
    return store


def _check_local(call: str, store: dict[str, Any]) -> None:
    """Refuses options of stores where a file is not written to one.

    Raises:
        TypeError: There is one.
    """
    for name in store:
        if name != "storage_options":
            raise TypeError(f"{call}() has no argument {name!r}, and the file is not in a store")


def _new(
    call: str, file_path: Any, compression: Any, options: dict[str, Any], begin: Callable[..., Any]
) -> WritableFile:
    given = _checked(call, options)
    if hasattr(file_path, "write"):
        _check_local(call, given)
        return WritableFile.of(ours.recreate(file_path, compression=compression))
    file_path, with_own = with_own_options(file_path, given)
    path = os.fspath(_local(file_path))
    store = store_options(path, with_own)
    scheme = _stores.scheme(path)
    if scheme in ("http", "https"):
        raise UnsupportedError("writing to web servers", file=path)
    if scheme is None:
        _check_local(call, given)
        folder = os.path.dirname(path)
        if folder:
            os.makedirs(folder, exist_ok=True)
        return WritableFile.of(begin(path, compression=compression))
    if not _stores.is_foreign(path):
        return WritableFile.of(begin(path, compression=compression, storage_options=store))
    put = _sink(path, store, call == "create")
    target = io.BytesIO()
    return WritableFile.of(ours.recreate(target, compression=compression), lambda: put(target.getvalue()))


def _sink(url: str, store: Any, is_new: bool) -> Callable[[bytes], None]:
    """What puts the bytes of a file under a URL of fsspec's."""
    package("fsspec")
    system, path = import_module("fsspec.core").url_to_fs(url, **(store or {}))
    if is_new and system.exists(path):
        raise _existing(url)

    def put(data: bytes) -> None:
        system.makedirs(path.rpartition("/")[0] or "/", exist_ok=True)
        with system.open(path, "wb") as file:
            file.write(data)

    return put


def _fetched(url: str, store: Any) -> str:
    """The path of a copy of a file of fsspec's."""
    with _stores.open_foreign(url, store) as source, tempfile.NamedTemporaryFile(suffix=".root", delete=False) as copy:
        shutil.copyfileobj(source, copy)
    return copy.name


def _existing(url: str) -> ExistingFileError:
    error = ExistingFileError(f"{url} is there already: recreate replaces it, and update adds to it", file=url)
    error.errno, error.filename = errno.EEXIST, url
    return error


def _local(file_path: Any) -> Any:
    """A path as the system has it, also of a ``file:`` URL."""
    return _paths.local(without_host(file_path)) if isinstance(file_path, str) else file_path
