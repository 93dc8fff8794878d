"""The ``forthwith`` command, as installed by the wheel."""

from __future__ import annotations

# The built-in part of ``signal``, as its enumerations take longer to import than the rest of the command.
import _signal  # type: ignore[import-not-found]
import os
import sys

from forthwith import _forthwith


def main() -> int:
    """Runs the command line of this process and returns the exit code."""
    # The command runs without the interpreter, which would handle Ctrl-C only at the end.
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    width = None
    if sys.stdout is not None and sys.stdout.isatty():
        try:
            # Some terminals report a width of 0.
            width = os.get_terminal_size(sys.stdout.fileno()).columns or 100
        except OSError:
            width = 100
    return _forthwith.command(["forthwith", *sys.argv[1:]], width)
