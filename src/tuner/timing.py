"""Times of something that can be run n times: short jittered batches, in turn with those of a rival on the same data."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterator, Sequence

import attrs

from tuner.signtest import Ratio

CLOCK = "thread-cpu"
WALL = "wall"

_NANOSECONDS: dict[str, Callable[[], int]] = {CLOCK: time.thread_time_ns, WALL: time.perf_counter_ns}
_SHORTEST_BATCH = 200e-6
_FEWEST_BATCHES = 5
_MOST_BATCHES = 25
# What other processes do to it shows in every reading of the wall clock.
_WALL_BATCHES = 3
_SECONDS = 0.05
_HOPELESS = 1.5
_OVERHEAD = 3e-6
# To enter the loop may cost more than a call that is shorter: of such, batches tell, which cost no more than others.
_SHORT = 20e-6
_JITTER = 0.2
_LOOKS = (8, 16)
_LEVEL = 0.01
_HELPED = 1.2
_HELP = 50e-6

Runner = Callable[[int], object]


def _nothing() -> None:
    """Leave the data as they are."""


@attrs.frozen
class Timing:
    """Seconds a call, one reading a batch of about `calls`; `stopped_early` where it was given up as too slow.

    `rival`: readings of the rival, each taken next to the reading of equal place.
    """

    times: tuple[float, ...]
    calls: int
    stopped_early: bool = False
    rival: tuple[float, ...] = ()
    clock: str = CLOCK

    @property
    def cost(self) -> float:
        """The reading that stands for all: see `typical`."""
        return typical(self.times)

    @property
    def ratio(self) -> Ratio | None:
        """How many times as long it takes as the rival; None without one."""
        return Ratio.of(self.times, self.rival, _LEVEL) if self.rival else None


def typical(times: Sequence[float]) -> float:
    """Give the lower quartile, which is a reading itself.

    What disturbs a reading makes it longer, so that up to three quarters may be disturbed; the least of all readings
    would reward the one lucky state of caches and clock frequency.
    """
    return sorted(times)[(len(times) - 1) // 4]


def read(run: Runner, calls: int, clock: str = CLOCK) -> float:
    """Run so many calls and give the clock's seconds for each: CPU seconds of this thread, or those of the wall."""
    now = _NANOSECONDS[clock]
    begin = now()
    run(calls)
    return (now() - begin) * 1e-9 / calls


def calibrate(run: Runner, clock: str = CLOCK) -> int:
    """Give the calls that make a batch so long that the clock's own cost and coarseness do not show."""
    calls = 1
    while (seconds := read(run, calls, clock) * calls) < _SHORTEST_BATCH:
        # In steps: one reading of a coarse clock, or of an interrupted call, says little.
        calls *= min(max(round(_SHORTEST_BATCH / max(seconds, 1e-9)), 2), 8)
    return calls


def batch_of(seconds: float) -> int:
    """Give the calls of a batch that is just long enough, of a call that is known to take so many seconds."""
    return math.ceil(_SHORTEST_BATCH / seconds)


def jittered(calls: Sequence[int], rng: random.Random) -> list[int]:
    """Draw lengths for batches, longer or shorter in the same proportion, so that they fall in step with nothing."""
    factor, part = rng.uniform(1 - _JITTER, 1 + _JITTER), rng.random()
    return [max(1, int(one * factor + part)) if one > 1 else 1 for one in calls]


def orders(count: int, rng: random.Random) -> Iterator[list[int]]:
    """Give the order of each round: drawn by lot, then backwards, so that a drift falls on all alike (ABBA)."""
    while True:
        order = rng.sample(range(count), count)
        yield order
        yield order[::-1]


def take_times(
    run: Runner,
    *,
    best: float | None = None,
    rival: Runner | None = None,
    between: Callable[[], object] = _nothing,
    batched: bool = True,
    seconds: float = _SECONDS,
) -> Timing:
    """Time a function that has run before: 5 to 25 batches, as many as fit into `seconds` (wall clock: thrice that).

    `best`: the seconds of the incumbent; two readings in a row that are far above it end the timing. `rival`: the
    incumbent itself, run in turn with it (ABBA) until it is surely faster. `between`: called before each reading.
    `batched` False: one call a reading.
    """
    first, clock = _first_readings(run, between)
    if min(first) > _SHORT and _is_hopeless(first, best):
        return Timing(tuple(first), 1, stopped_early=True, clock=clock)
    calls = calibrate(run, clock) if batched else 1
    fewest, most = (n * (_WALL_BATCHES if clock == WALL else 1) for n in (_FEWEST_BATCHES, _MOST_BATCHES))
    if rival:
        rival(1)  # its data are warm by now, its code is not
    rng = random.Random()  # noqa: S311 -- no secret
    mine: list[float] = []
    theirs: list[float] = []
    pair = [(mine, run), (theirs, rival)] if rival else [(mine, run)]
    order = orders(len(pair), rng)
    while len(mine) < most:
        (length,) = jittered([calls], rng)
        for number in next(order):
            times, runner = pair[number]
            between()
            times.append(read(runner, length, clock))
        if len(mine) > 1 and _is_hopeless(mine, best):
            return Timing(tuple(mine), calls, stopped_early=True, rival=tuple(theirs), clock=clock)
        if len(mine) in _LOOKS and rival and Ratio.of(mine, theirs, _LEVEL).slower:
            break
        if len(mine) >= fewest and sum(mine) * calls >= seconds:
            break
    return Timing(tuple(mine), calls, rival=tuple(theirs), clock=clock)


def _first_readings(run: Runner, between: Callable[[], object]) -> tuple[list[float], str]:
    """Take two single calls, and choose the clock: where other threads work, this one's says nothing."""
    readings, helped = [], 0
    walls = []
    for _ in range(2):
        between()
        everyone, wall = time.process_time(), time.perf_counter()
        readings.append(read(run, 1))
        everyone = time.process_time() - everyone
        walls.append(time.perf_counter() - wall)
        helped += everyone > _HELPED * readings[-1] + _HELP
    return (walls, WALL) if helped == len(readings) else (readings, CLOCK)


def _is_hopeless(readings: Sequence[float], best: float | None) -> bool:
    return best is not None and min(readings) > _HOPELESS * best + _OVERHEAD
