"""A bar for ``progress=True``: that of tqdm, if it is installed, else one line on standard error."""

from __future__ import annotations

import sys
from importlib import import_module
from threading import Lock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_WIDTH = 30


class Bar:
    """Called with blocks read, all blocks, bytes read, all bytes; of one reading after the other."""

    def __init__(self) -> None:
        self._drawn: Any = None
        self._lock = Lock()

    def __call__(self, done: int, blocks: int, read: int, size: int) -> None:
        """Draws how far one reading is."""
        with self._lock:
            if self._drawn is None:
                self._drawn = _tqdm(size) or _Line()
            self._drawn.total = size
            self._drawn.n = read
            self._drawn.refresh()
            if done >= blocks:
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
