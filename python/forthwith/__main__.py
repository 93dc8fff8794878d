"""``python -m forthwith`` is the command."""

import sys

from forthwith._command import main

sys.exit(main())
