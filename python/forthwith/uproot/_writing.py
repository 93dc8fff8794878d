"""Writing ROOT files by uproot's names: forthwith's own files, with uproot's arguments."""

from __future__ import annotations

from typing import Any

from forthwith import _paths
from forthwith._writable import file as ours
from forthwith._writable.compression import LZ4, LZMA, ZLIB, ZSTD, Compression
from forthwith._writable.file import WritableDirectory, WritableFile

__all__ = [
    "LZ4",
    "LZMA",
    "ZLIB",
    "ZSTD",
    "Compression",
    "WritableDirectory",
    "WritableFile",
    "compression_named",
    "compression_of",
    "create",
    "recreate",
    "update",
]

_KINDS: dict[int, type[Compression]] = {1: ZLIB, 2: LZMA, 4: LZ4, 5: ZSTD}
# Sizes that uproot reserves beforehand, and what belongs to its way to write remote files.
_NO_EFFECT = frozenset(("initial_streamers_bytes", "initial_directory_bytes", "uuid_version", "storage_options"))


def compression_of(number: int) -> Compression | None:
    """The codec of ROOT's number; ``None`` for none."""
    algorithm, level = divmod(number, 100)
    return None if level == 0 else _KINDS.get(algorithm, ZLIB)(min(level, 9))


def compression_named(text: str) -> Compression | None:
    """The codec of the words that forthwith has for it; ``None`` for none."""
    words = text.replace(",", " ").split()
    for kind in _KINDS.values():
        if words and words[0].upper() == kind.__name__:
            levels = [int(word) for word in words if word.isdigit()]
            return kind(min(levels[0], 9) if levels else 1)
    return None


def _checked(call: str, options: dict[str, Any]) -> None:
    for name in options:
        if name not in _NO_EFFECT:
            raise TypeError(f"{call}() has no argument {name!r}")


def _local(file_path: Any) -> Any:
    """A path as the system has it, also of a ``file:`` URL."""
    return _paths.local(file_path) if isinstance(file_path, str) else file_path


def recreate(file_path: Any, *, compression: Any = "default", **options: Any) -> WritableFile:
    """A ROOT file to be written, in place of an older one of this name, as `forthwith.recreate` writes it.

    Args:
        file_path: A path or a file object.
        compression: A codec, or ``None``.
        options: ``initial_streamers_bytes``, ``initial_directory_bytes`` and ``uuid_version`` have no effect.
    """
    _checked("recreate", options)
    return ours.recreate(_local(file_path), compression=compression)


def create(file_path: Any, *, compression: Any = "default", **options: Any) -> WritableFile:
    """As `recreate`, of a file that must not be there yet."""
    _checked("create", options)
    return ours.create(_local(file_path), compression=compression)


def update(file_path: Any, *, compression: Any = "default", **options: Any) -> WritableFile:
    """A ROOT file that is there, to be added to, as `forthwith.update` does it. The arguments are those of `recreate`."""
    _checked("update", options)
    return ours.update(_local(file_path), compression=compression)
