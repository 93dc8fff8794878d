"""Compression settings of ROOT files."""

from __future__ import annotations

from forthwith._errors import RequestError, RequestTypeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import ClassVar


class Compression:
    """An algorithm (`ZLIB`, `LZMA`, `LZ4` or `ZSTD`) and a level from 1 to 9; level 0 means none."""

    number: ClassVar[int] = 0
    usual: ClassVar[int] = 0

    def __init__(self, level: int | None = None) -> None:
        self.level = self.usual if level is None else level
        if isinstance(level, bool) or not isinstance(self.level, int):
            raise RequestTypeError(f"a compression level must be a number, not {level!r}")
        if not 0 <= self.level <= 9:
            raise RequestError(f"a compression level must be 1 to 9, or 0 for none, not {level}")

    @property
    def setting(self) -> int:
        """ROOT's compression setting, which is a hundred times the number of the algorithm, plus the level."""
        return self.number * 100 + self.level if self.level else 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Compression) and self.setting == other.setting

    def __hash__(self) -> int:
        return hash(self.setting)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.level})"


class ZLIB(Compression):
    """zlib, the default of ROOT, with level 1."""

    number, usual = 1, 1


class LZMA(Compression):
    """LZMA: small but slow."""

    number, usual = 2, 7


class LZ4(Compression):
    """LZ4: fast but large. All levels are equal."""

    number, usual = 4, 4


class ZSTD(Compression):
    """Zstandard."""

    number, usual = 5, 5


ALGORITHMS = (ZLIB, LZMA, LZ4, ZSTD)


def setting(compression: Compression | str | int | None, default: int | None) -> int | None:
    """Returns ROOT's setting for an algorithm, a name such as ``"zstd:7"`` or ``"none"``, or a number."""
    match compression:
        case "default":
            return default
        case None | "none":
            return 0
        case Compression():
            return compression.setting
        case str():
            name, _, level = compression.partition(":")
            found = {kind.__name__: kind for kind in ALGORITHMS}.get(name.upper())
            if found is not None and (not level or level.isdecimal()):
                return found(int(level) if level else None).setting
        case int() if not isinstance(compression, bool):
            return compression
    names = ", ".join(kind.__name__.lower() for kind in ALGORITHMS)
    raise RequestError(
        f"compression must be an algorithm such as forthwith.ZSTD(5), one of the names {names} and none (zstd:7 with a "
        f"level), or None, not {compression!r}: gzip and deflate are zlib in ROOT files"
    )
