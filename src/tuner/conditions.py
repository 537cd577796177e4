"""What a job may spoil for those after it in the same process: its limits, its signals, its environment."""

from __future__ import annotations

import os
import signal
import sys

if sys.platform != "win32":
    import resource

    _LIMITS = (
        resource.RLIMIT_AS,
        resource.RLIMIT_CPU,
        resource.RLIMIT_DATA,
        resource.RLIMIT_FSIZE,
        resource.RLIMIT_NOFILE,
        resource.RLIMIT_STACK,
    )

_UNLIMITED = 1 << 64


class Environment:
    """The environment as it is now; what happens to it can be undone."""

    def __init__(self) -> None:
        self._object, self._kept = os.environ, dict(os.environb)

    def restore(self) -> None:
        """Undo what a job did to it."""
        os.environ = self._object  # noqa: B003 -- the very object, not another one
        if os.environb != self._kept:
            os.environb.clear()
            os.environb.update(self._kept)


class Conditions:
    """The conditions in this process at the moment; more room than there was then is no harm, as libraries take it."""

    def __init__(self) -> None:
        self._room, self._ways = _room(), _ways()

    @property
    def worse(self) -> bool:
        """Whether a job would not find now what it would have found then."""
        return _ways() != self._ways or any(map(int.__lt__, _room(), self._room))


def _room() -> list[int]:
    # An unlimited one is -1, the largest number of its kind.
    soft = [resource.getrlimit(limit)[0] % _UNLIMITED for limit in _LIMITS]
    return [*soft, sys.getrecursionlimit()]


def _ways() -> tuple[object, ...]:
    mask = os.umask(0)
    os.umask(mask)
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    return mask, blocked, signal.getitimer(signal.ITIMER_REAL)[0] > 0
