"""`python -m mcn`, and with it ``torchrun -m mcn``."""

from __future__ import annotations

import sys

from mcn.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
