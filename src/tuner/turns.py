"""One measurement at a time on this machine: a lock that all tunings take in turn.

It is a file lock of the system (flock), so that it ends with its holder, however that ends, and no stale file
blocks anybody. A holder that is stopped (Ctrl-Z) is passed by, and one that keeps the lock for very long: who does
that does not measure alone, and says so. Processes that see another /run/lock and /tmp, as in another container,
have another lock.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import tempfile
import time

from tuner.holders import holder_of, is_stopped

if sys.platform != "win32":
    import fcntl

LONGEST_WAIT = 600.0
"""Seconds after which a holder that is not known to be stopped is passed by."""

_TURN, _NEXT = "tuner-measuring.lock", "tuner-measuring-next.lock"
_STOPPED_FOR = 1.0
_BETWEEN_LOOKS = 0.1

_logger = logging.getLogger("tuner")


class Turn:
    """This process's place in the queue; it never waits, and gives way to who has waited."""

    def __init__(
        self,
        folders: tuple[str, ...] = ("/run/lock", "/tmp", tempfile.gettempdir()),  # noqa: S108 -- the same place for all, whose content counts for nothing
        longest_wait: float = LONGEST_WAIT,
    ) -> None:
        self._folders = folders
        self._held: dict[str, int] = {}
        self._waits = {name: _Wait(longest_wait) for name in (_TURN, _NEXT)}
        self._alone = True

    @property
    def alone(self) -> bool:
        """Whether, as far as anybody knows, nobody else has what the last `take` has given."""
        return self._alone

    def take(self) -> bool:
        """Try to take the lock; call it again, some milliseconds later, where another has it."""
        # Who waits holds the second lock, so that who has just let go of the first comes behind.
        if not self._lock(_NEXT) and not self._waits[_NEXT].is_over:
            return False
        self._alone = self._lock(_TURN)
        if self._alone:
            self._release(_NEXT)
        # Else the second lock is kept, so that those who pass a holder by take turns among themselves.
        return self._alone or self._waits[_TURN].is_over

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
            self._waits[name].look(descriptor)
            os.close(descriptor)
            return False
        except OSError:  # a file system without locks
            os.close(descriptor)
            return True
        self._held[name] = descriptor
        self._waits[name].forget()
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


class _Wait:
    """How long one holder has kept a lock from us, and whether to go on without."""

    def __init__(self, longest: float) -> None:
        self._longest = longest
        self.forget()

    def forget(self) -> None:
        """Begin anew: the lock was free."""
        self._holder: int | None = None
        self._since: float | None = None
        self._stopped_since: float | None = None
        self._looked = -_BETWEEN_LOOKS
        self.is_over = False

    def look(self, descriptor: int) -> None:
        """See who has the file locked now, if that is worth another look, and what it does."""
        now = time.monotonic()
        if now < self._looked + _BETWEEN_LOOKS and not self.is_over:
            return
        holder = holder_of(descriptor)
        if self._since is None or holder != self._holder:
            self.forget()
            self._holder, self._since = holder, now
        self._looked = now
        stopped = holder is not None and is_stopped(holder)
        self._stopped_since = (self._stopped_since or now) if stopped else None
        long_stopped = self._stopped_since is not None and now >= self._stopped_since + _STOPPED_FOR
        was_over, self.is_over = self.is_over, long_stopped or now >= self._since + self._longest
        if self.is_over and not was_over:
            _logger.warning(
                "process %s, which measures on this machine, %s; going on beside it: what is measured is marked as noisy",
                holder or "(unknown)",
                "is stopped" if long_stopped else f"has kept others waiting for {self._longest:.0f} s",
            )
