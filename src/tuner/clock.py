"""A clock for limits that leave out the time in which nothing could run."""

from __future__ import annotations

import time


class PausableClock:
    """Monotonic seconds, of which those between `pause` and as many calls of `resume` do not pass."""

    def __init__(self) -> None:
        self._pauses = 0
        self._paused_at = self._left_out = 0.0

    @property
    def stands(self) -> bool:
        """Whether it is paused."""
        return self._pauses > 0

    def now(self) -> float:
        """Return the time."""
        return self._paused_at if self._pauses else time.monotonic() - self._left_out

    def pause(self) -> bool:
        """Stop the clock; say whether it ran."""
        self._paused_at = self.now()
        self._pauses += 1
        return self._pauses == 1

    def resume(self) -> bool:
        """Take back one `pause`; say whether the clock runs again."""
        self._pauses -= 1
        if not self._pauses:
            self._left_out = time.monotonic() - self._paused_at
        return not self._pauses
