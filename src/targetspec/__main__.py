"""`python -m targetspec` is the command `targetspec`."""

from __future__ import annotations

import sys

from targetspec.cli import main

if __name__ == "__main__":
    sys.exit(main())
