"""Which readings the system left in peace: a thread that was made to wait finds its caches full of others' data."""

from __future__ import annotations

import sys
from collections.abc import Sequence

if sys.platform != "win32":
    import resource

_FEWEST = 8
_LINUX = sys.platform == "linux"
_LEAST_SHARE = 0.25


class Interruptions:
    """Counts how often this thread had to give its processor to others, where the system tells of a thread (Linux)."""

    def __init__(self) -> None:
        self._seen = _interruptions()

    def came(self) -> bool:
        """Say whether there was one since this was last asked."""
        seen, self._seen = self._seen, _interruptions()
        return seen != self._seen


def _interruptions() -> int:
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw if _LINUX else 0


class Rounds:
    """Readings of contestants, one of each a round; `calm` of those rounds that nothing interrupted, where they do.

    A round is left out whole, and by what the system says, never by what was read: to leave it out favours nobody.
    """

    def __init__(self, contestants: int) -> None:
        self._all: list[list[float]] = [[] for _ in range(contestants)]
        self._calm: list[list[float]] = [[] for _ in range(contestants)]

    def __len__(self) -> int:
        """Return how many there are, interrupted ones among them."""
        return len(self._all[0])

    def add(self, rounds: Sequence[Sequence[float]], *, interrupted: bool) -> None:
        """Take some that belong together, each with one reading of each contestant."""
        for kept in (self._all,) if interrupted else (self._all, self._calm):
            for times, readings in zip(kept, zip(*rounds, strict=True), strict=True):
                times.extend(readings)

    @property
    def chosen(self) -> list[list[float]]:
        """The readings to judge by: those in peace, or all where there are too few, as where each is long."""
        enough = len(self._calm[0]) >= max(_FEWEST, _LEAST_SHARE * len(self))
        return self._calm if enough else self._all
