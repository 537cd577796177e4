"""One measurement at a time on this machine: a lock that all tunings take in turn.

It is a file lock of the system (flock), so that it ends with its holder, however that ends, and no stale file
blocks anybody. Processes that see another /run/lock and /tmp, as in another container, have another lock.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile

if sys.platform != "win32":
    import fcntl

_TURN, _NEXT = "tuner-measuring.lock", "tuner-measuring-next.lock"


class Turn:
    """This process's place in the queue; it never waits, and gives way to who has waited."""

    def __init__(self, folders: tuple[str, ...] = ("/run/lock", "/tmp", tempfile.gettempdir())) -> None:  # noqa: S108 -- the same place for all, whose content counts for nothing
        self._folders = folders
        self._held: dict[str, int] = {}

    def take(self) -> bool:
        """Try to take the lock; call it again, some milliseconds later, where another has it."""
        # Who waits holds the second lock, so that who has just let go of the first comes behind.
        if not self._lock(_NEXT) or not self._lock(_TURN):
            return False
        self._release(_NEXT)
        return True

    def give(self) -> None:
        """Let others have it, and leave the queue."""
        for name in list(self._held):
            self._release(name)

    def _lock(self, name: str) -> bool:
        if name in self._held:
            return True
        descriptor = self._open(name)
        if descriptor is None:
            return True  # no folder takes it: then nobody has one to wait for
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return False
        except OSError:  # a file system without locks
            os.close(descriptor)
            return True
        self._held[name] = descriptor
        return True

    def _release(self, name: str) -> None:
        descriptor = self._held.pop(name, None)
        if descriptor is not None:
            with contextlib.suppress(OSError):
                # Explicitly: a fork of this process may hold a copy of the descriptor.
                fcntl.flock(descriptor, fcntl.LOCK_UN)
            os.close(descriptor)

    def _open(self, name: str) -> int | None:
        for folder in self._folders:
            path = os.path.join(folder, name)  # noqa: PTH118 -- os.open takes it as it is
            # First without O_CREAT, which systems refuse for the file of another user in a folder for all.
            for flags in (os.O_RDONLY, os.O_RDONLY | os.O_CREAT):
                with contextlib.suppress(OSError):
                    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o444)
        return None
