"""A bar for ``progress=True``: that of tqdm, if it is installed, else one line on standard error."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from importlib import import_module
from threading import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_WIDTH = 30


class Bar:
    """Called with blocks read, all blocks, bytes read, all bytes; of one reading after the other."""

    def __init__(self) -> None:
        self._drawn: Any = None
        self._lock = Lock()
        # The readings that one bar is for, those that have ended, and the bytes of these; a bar for each if there are none.
        self._readings = 0
        self._ended = 0
        self._before = 0

    @contextmanager
    def spanning(self, readings: int) -> Iterator[None]:
        """Draws one bar for several readings. The bytes of those to come are estimated by those before."""
        self._readings, self._ended, self._before = readings, 0, 0
        try:
            yield
        finally:
            with self._lock:
                self._readings = 0
                self._close()

    def __call__(self, done: int, blocks: int, read: int, size: int) -> None:
        """Draws how far one reading is."""
        with self._lock:
            if self._drawn is None:
                self._drawn = _tqdm(size) or _Line()
            at_least = self._before + size
            self._drawn.total = max(at_least, at_least * self._readings // (self._ended + 1))
            self._drawn.n = self._before + read
            self._drawn.refresh()
            if done >= blocks and self._readings:
                self._ended += 1
                self._before += size
            elif done >= blocks:
                self._close()

    def _close(self) -> None:
        if self._drawn is not None:
            self._drawn.close()
            self._drawn = None


def _tqdm(size: int) -> Any:
    try:
        tqdm = import_module("tqdm.auto").tqdm
    except ImportError:
        return None
    return tqdm(total=size, unit="B", unit_scale=True, desc="forthwith")


class _Line:
    """The part of tqdm's bar that is used, drawn with plain characters."""

    total = 0
    n = 0

    def refresh(self) -> None:
        """Draws the line anew."""
        share = min(1.0, self.n / self.total) if self.total else 1.0
        full = int(share * _WIDTH)
        bar = "#" * full + "." * (_WIDTH - full)
        sys.stderr.write(f"\rforthwith [{bar}] {share:4.0%} of {self.total / 1e6:.1f} MB")
        sys.stderr.flush()

    def close(self) -> None:
        """Ends the line."""
        sys.stderr.write("\n")
        sys.stderr.flush()
