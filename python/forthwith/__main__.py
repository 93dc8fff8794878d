"""Runs the command line for ``python -m forthwith``."""

import sys

from forthwith._command import main

sys.exit(main())
