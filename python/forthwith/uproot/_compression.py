"""Codecs with ROOT's numbers, by uproot's names."""

from __future__ import annotations

from forthwith._writable import compression as ours


class Compression(ours.Compression):
    """An algorithm and a level."""

    @property
    def name(self) -> str:
        """The name of the algorithm."""
        return type(self).__name__

    @property
    def code(self) -> int:
        """ROOT's number, a hundred times the algorithm plus the level."""
        return self.number * 100 + self.level

    @property
    def code_pair(self) -> tuple[int, int]:
        """The number of the algorithm, and the level."""
        return self.number, self.level

    @classmethod
    def from_code(cls, code: int) -> Compression | None:
        """The codec of ROOT's number; ``None`` for none."""
        return cls.from_code_pair(code // 100, code % 100)

    @classmethod
    def from_code_pair(cls, algorithm: int, level: int) -> Compression | None:
        """The codec of an algorithm's number and a level; ``None`` for none.

        Raises:
            ValueError: There is no such algorithm.
        """
        if level == 0 or algorithm == 0:
            return None
        kind = KINDS.get(algorithm)
        if kind is None:
            raise ValueError(f"unrecognized compression algorithm code: {algorithm}")
        return kind(min(level, 9))  # ROOT has larger ones for some


class ZLIB(Compression, ours.ZLIB):
    """zlib."""


class LZMA(Compression, ours.LZMA):
    """LZMA: small and slow."""


class LZ4(Compression, ours.LZ4):
    """LZ4: large and fast."""


class ZSTD(Compression, ours.ZSTD):
    """Zstandard."""


KINDS: dict[int, type[Compression]] = {kind.number: kind for kind in (ZLIB, LZMA, LZ4, ZSTD)}

# The codecs of algorithms' numbers, under uproot's name.
algorithm_codes = KINDS
