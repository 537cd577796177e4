"""`python -m tuner`, and the command `tuner`: an interrupt while it is still loading is one line too."""

from __future__ import annotations

import sys

_INTERRUPTED = 130


def main() -> int:
    """Load the command and run it."""
    try:
        from tuner import cli  # noqa: PLC0415 -- it takes long enough for a Ctrl-C

        return cli.main()
    except KeyboardInterrupt:
        sys.stderr.write("tuner: interrupted\n")
        return _INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
