"""Warnings attributed to the line of the caller outside this package."""

from __future__ import annotations

import os
import sys
import warnings

from forthwith._forthwith import safe_lines

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def warn(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Issues a warning for the nearest line outside this package; a `Warning` has its own category."""
    if isinstance(message, str):
        message = safe_lines(message)
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HERE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
