"""Progress bar for ``progress=True``: that of tqdm if installed, else one line on standard error."""

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
    """A reusable progress callback: blocks read, total blocks, bytes read, total bytes."""

    def __init__(self) -> None:
        self._drawn: Any = None
        self._lock = Lock()
        # Whether one bar spans several reads, and the total bytes of the finished ones; otherwise each read
        # has its own bar.
        self._spans = False
        self._before = 0
        # Fraction of all data that is read, the fraction that the current read adds, and the fraction at its
        # start.
        self._part = (0.0, 1.0)
        self._share = self._begun = 0.0
        self._added = 1.0
        self._begins = True

    @contextmanager
    def spanning(self) -> Iterator[None]:
        """Draws one bar for all reads in the context, whose sizes are estimated from finished ones."""
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
        """Starts one of several parts of about equal size."""
        with self._lock:
            self._part = (number / parts, (number + 1) / parts)
            self._share, self._begins = self._part[0], True

    def reached(self, share: float) -> None:
        """Sets the fraction of the current part that has been read."""
        with self._lock:
            low, high = self._part
            self._share = low + (high - low) * min(1.0, share)

    def __call__(self, done: int, blocks: int, read: int, size: int) -> None:
        """Draws the progress of one read."""
        with self._lock:
            if self._drawn is None:
                self._drawn = _tqdm(size) or _Line()
            if self._begins:
                # A read may have several steps: assume that each adds about as much as the previous one.
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
    """The subset of tqdm's interface in use, drawn with plain characters."""

    total = 0
    n = 0

    def refresh(self) -> None:
        """Redraws the line."""
        share = min(1.0, self.n / self.total) if self.total else 1.0
        full = int(share * _WIDTH)
        bar = "#" * full + "." * (_WIDTH - full)
        sys.stderr.write(f"\rforthwith [{bar}] {share:4.0%} of {self.total / 1e6:.1f} MB")
        sys.stderr.flush()

    def close(self) -> None:
        """Ends the line."""
        sys.stderr.write("\n")
        sys.stderr.flush()
