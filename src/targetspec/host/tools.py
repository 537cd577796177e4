"""Run the tools that know devices: the one place of this package that starts processes."""

from __future__ import annotations

import os
import subprocess

_PLAIN = {"LC_ALL": "C", "LANG": "C"}


def output_of(command: tuple[str, ...], *, seconds: float) -> str:
    """Return what a tool prints, "" where it is missing, fails, or takes longer; nothing raises."""
    try:
        done = subprocess.run(  # noqa: S603 - constant commands
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            check=False,
            env={**os.environ, **_PLAIN},
        )
    except (OSError, subprocess.SubprocessError, ValueError):
        return ""
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""
