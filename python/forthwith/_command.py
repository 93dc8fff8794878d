"""The ``forthwith`` command, as the wheel brings it."""

from __future__ import annotations

# The built-in part of ``signal``, whose enumerations take longer to import than the whole rest of the command.
import _signal  # type: ignore[import-not-found]
import os
import sys

from forthwith import _forthwith


def main() -> int:
    """Carries out the command line of this process and returns the exit code."""
    # The command runs outside the interpreter, which would only look at Ctrl-C when it is done.
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    width = None
    if sys.stdout is not None and sys.stdout.isatty():
        try:
            # Some terminals do not know how wide they are, and say 0.
            width = os.get_terminal_size(sys.stdout.fileno()).columns or 100
        except OSError:
            width = 100
    return _forthwith.command(["forthwith", *sys.argv[1:]], width)
