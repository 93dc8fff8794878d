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
        # Whether there is one bar for several readings, and the bytes of those that have ended; else there is one for each.
        self._spans = False
        self._before = 0
        # The share of everything that was read, that which the present reading adds, and where it began.
        self._part = (0.0, 1.0)
        self._share = self._begun = 0.0
        self._added = 1.0
        self._begins = True

    @contextmanager
    def spanning(self) -> Iterator[None]:
        """Draws one bar for all readings within. The bytes of those to come are estimated by those before."""
        if self._spans:
            yield
            return
        self._spans, self._before, self._begins = True, 0, True
        self._part, self._share, self._begun = (0.0, 1.0), 0.0, 0.0
        try:
            yield
        finally:
            with self._lock:
                self._spans = False
                if self._drawn is not None:
                    self._drawn.total = max(self._before, self._drawn.n)
                    self._drawn.refresh()
                self._close()

    def part(self, number: int, parts: int) -> None:
        """Begins one of several parts of the readings, which are about as large as each other."""
        with self._lock:
            self._part = (number / parts, (number + 1) / parts)
            self._share, self._begins = self._part[0], True

    def reached(self, share: float) -> None:
        """Tells what share of the present part has been read."""
        with self._lock:
            low, high = self._part
            self._share = low + (high - low) * min(1.0, share)

    def __call__(self, done: int, blocks: int, read: int, size: int) -> None:
        """Draws how far one reading is."""
        with self._lock:
            if self._drawn is None:
                self._drawn = _tqdm(size) or _Line()
            if self._begins:
                # A reading may be of several steps: it adds about as much as the one before.
                added = self._share - self._begun
                self._added = added if self._share > self._part[0] and added > 0 else self._part[1] - self._share
                self._begun, self._begins = self._share, False
            at_least = self._before + size
            share = self._share + self._added if self._spans else 1.0
            self._drawn.total = max(at_least, int(at_least / share) if share > 0 else at_least)
            self._drawn.n = self._before + read
            self._drawn.refresh()
            if done >= blocks:
                self._begins = True
                if self._spans:
                    self._before += size
                else:
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
