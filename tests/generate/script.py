"""How the generators that use ROOT begin and end."""

import os
import pathlib
import sys
import traceback

DATA = pathlib.Path(__file__).parents[1] / "data"


def folder(default=DATA):
    """Where to write to: the first argument, if there is one."""
    return pathlib.Path(sys.argv[1]).absolute() if len(sys.argv) > 1 else default


def run(work, *arguments):
    """Ends the process after ``work(*arguments)``."""
    code = 0
    try:
        work(*arguments)
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # ROOT and Python do not agree on who tidies up
