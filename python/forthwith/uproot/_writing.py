"""Compression, and writing files as uproot does."""

from __future__ import annotations

from typing import Any


class Compression:
    """A codec and its level."""

    name = ""
    _2byte = b""

    def __init__(self, level: int) -> None:
        self.level = level

    @property
    def code(self) -> int:
        """The number that ROOT has for it."""
        return _NUMBERS[type(self)] * 100 + self.level

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.level == getattr(other, "level", None)

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.level))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.level})"


class ZLIB(Compression):
    """zlib's deflate."""

    name = "ZLIB"


class LZMA(Compression):
    """LZMA."""

    name = "LZMA"


class LZ4(Compression):
    """LZ4."""

    name = "LZ4"


class ZSTD(Compression):
    """Zstandard."""

    name = "ZSTD"


_NUMBERS: dict[type[Compression], int] = {ZLIB: 1, LZMA: 2, LZ4: 4, ZSTD: 5}


def compression_of(number: int) -> Compression | None:
    """The codec of ROOT's number; ``None`` for none."""
    algorithm, level = divmod(number, 100)
    if level == 0:
        return None
    found = {code: cls for cls, code in _NUMBERS.items()}.get(algorithm, ZLIB)
    return found(level)


def compression_named(text: str) -> Compression | None:
    """The codec of the words that forthwith has for it; ``None`` for none."""
    words = text.replace(",", " ").split()
    for cls in _NUMBERS:
        if words and words[0].upper() == cls.name:
            levels = [int(word) for word in words if word.isdigit()]
            return cls(levels[0] if levels else 1)
    return None


class WritableFile:
    """A file that is written."""


class WritableDirectory:
    """A directory of a file that is written."""


class WritableTree:
    """A tree that is written."""


class WritableBranch:
    """A branch of a tree that is written."""


def _absent(name: str) -> Any:
    raise NotImplementedError(
        f"forthwith.uproot.{name}: ROOT files cannot be written yet; "
        "forthwith.write_parquet and forthwith.write_avro write arrays"
    )


def recreate(file_path: Any, **options: Any) -> Any:
    """Makes a file, in place of one that may be there."""
    _absent("recreate")


def create(file_path: Any, **options: Any) -> Any:
    """Makes a file that is not there yet."""
    _absent("create")


def update(file_path: Any, **options: Any) -> Any:
    """Goes on with a file."""
    _absent("update")


def to_writable(obj: Any) -> Any:
    """An object as it can be written."""
    _absent("to_writable")


def as_TGraph(df: Any, **options: Any) -> Any:
    """Points of a DataFrame as a graph."""
    _absent("as_TGraph")
