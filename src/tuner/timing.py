"""Times of something that can be run n times: short batches on the thread-CPU clock, one statistic for all."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import attrs

CLOCK = "thread-cpu"

_SHORTEST_BATCH = 200e-6
_FEWEST_BATCHES = 5
_MOST_BATCHES = 25
_SECONDS = 0.05
_HOPELESS = 1.5
_OVERHEAD = 3e-6


@attrs.frozen
class Timing:
    """Seconds a call, one reading a batch of `calls`; `stopped_early` where it was given up as too slow."""

    times: tuple[float, ...]
    calls: int
    stopped_early: bool = False

    @property
    def cost(self) -> float:
        """The reading that stands for all: see `typical`."""
        return typical(self.times)


def typical(times: Sequence[float]) -> float:
    """Give the lower quartile, which is a reading itself.

    What disturbs a reading makes it longer, so that up to three quarters may be disturbed; the least of all readings
    would reward the one lucky state of caches and clock frequency.
    """
    return sorted(times)[(len(times) - 1) // 4]


def read(run: Callable[[int], object], calls: int) -> float:
    """Run so many calls and give this thread's CPU seconds for each."""
    begin = time.thread_time_ns()
    run(calls)
    return (time.thread_time_ns() - begin) * 1e-9 / calls


def calibrate(run: Callable[[int], object]) -> int:
    """Give the calls that make a batch so long that the clock's own cost and coarseness do not show."""
    calls = 1
    while (seconds := read(run, calls) * calls) < _SHORTEST_BATCH:
        # In steps: one reading of a coarse clock, or of an interrupted call, says little.
        calls *= min(max(round(_SHORTEST_BATCH / max(seconds, 1e-9)), 2), 8)
    return calls


def take_times(
    run: Callable[[int], object], *, best: float | None = None, seconds: float = _SECONDS
) -> Timing:
    """Time a function that has run before: 5 to 25 batches, as many as fit into `seconds`.

    `best`: the seconds of the incumbent; two readings in a row that are far above it end the timing.
    """
    first = [read(run, 1), read(run, 1)]
    if _is_hopeless(first, best):
        return Timing(tuple(first), 1, stopped_early=True)
    calls = calibrate(run)
    readings: list[float] = []
    while len(readings) < _MOST_BATCHES:
        readings.append(read(run, calls))
        if len(readings) > 1 and _is_hopeless(readings, best):
            return Timing(tuple(readings), calls, stopped_early=True)
        if len(readings) >= _FEWEST_BATCHES and sum(readings) * calls >= seconds:
            break
    return Timing(tuple(readings), calls)


def _is_hopeless(readings: Sequence[float], best: float | None) -> bool:
    return best is not None and min(readings) > _HOPELESS * best + _OVERHEAD
