"""A piece of work that is always the same: where its time changes, the machine has changed."""

from __future__ import annotations

import hashlib
import time

_BLOCK = bytes(range(256)) * 256
_TRIES = 5


def sing() -> float:
    """Give the least CPU seconds, of a few tries, for a fixed computation on data in the first-level caches."""
    times = []
    for _ in range(_TRIES):
        begin = time.thread_time_ns()
        hashlib.sha256(_BLOCK).digest()
        times.append(time.thread_time_ns() - begin)
    return max(min(times), 1) * 1e-9


class Listener:
    """Compares canaries with the best that a run has heard: beyond some tenths the machine is another one."""

    def __init__(self) -> None:
        self._best = float("inf")

    def is_noisy(self, canary: float, drift: float | None = None) -> bool:
        """Say whether a measurement is to be marked; `drift`: what the incumbent takes now over what it took."""
        self._best = min(self._best, canary)
        drifted = drift is not None and not 1 / _DRIFT <= drift <= _DRIFT
        return drifted or canary > _DRIFT * self._best


_DRIFT = 1.1
