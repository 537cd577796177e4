"""Who has a file locked, and whether that process stands still, as far as the system tells (Linux)."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

_STOPPED = {"T", "t"}


def holder_of(descriptor: int) -> int | None:
    """Return the process that has a lock (flock) on the open file; None where the system does not tell."""
    # By its number alone: layered file systems show another device there than to who asks for the file.
    inode = str(os.fstat(descriptor).st_ino)
    with contextlib.suppress(OSError, ValueError):
        for line in Path("/proc/locks").read_text(encoding="ascii").splitlines():
            # 1: FLOCK  ADVISORY  WRITE 4364 fe:00:1234 0 EOF
            words = line.split()
            if len(words) > 5 and words[1] == "FLOCK" and words[5].rpartition(":")[2] == inode:  # noqa: PLR2004 -- as above
                return int(words[4]) if int(words[4]) > 0 else None
    return None


def is_stopped(process: int) -> bool:
    """Say whether a process is stopped, as by Ctrl-Z or a debugger; no where the system does not tell."""
    with contextlib.suppress(OSError):
        # The name of a program may hold spaces and brackets: what counts comes after the last one.
        stat = Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2]
        return stat.split()[0].decode() in _STOPPED
    return False
