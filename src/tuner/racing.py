"""The final: contestants timed in turn on the same arrays until the fastest is told apart, or is not.

Chance, not habit, says who begins: then whatever falls on a certain place in the order, as the loss of the caches
does where the system's time slices fall in step with the rounds, falls on all alike, and equal ones come out equal.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Sequence
from typing import Any

import attrs

from tuner.calmness import Interruptions, Rounds
from tuner.canary import sing
from tuner.checking import prepare_trial
from tuner.kernel import Kernel
from tuner.loading import load
from tuner.measure import repeated
from tuner.signtest import EQUAL, sign_interval
from tuner.timing import batch_of, calibrate, jittered, orders, read, typical

_FEWEST_ROUNDS = 8
_MOST_ROUNDS = 512
# Few and far between: each look is another chance to be wrong. All of them together, at this level, call equal ones
# different in less than two of a hundred.
_LOOKS = (20, 28, 40, 80, 160, 320)
_LEVEL = 0.002
_NEAR = 4.0
_GLANCES = 3
# Of a reading that is longer (seconds), another try would hardly be in peace, and would cost as much again.
_LONG = 0.002
_TRIES = 4


@attrs.frozen
class Race:
    """Who won. Contestants are numbered: the objects as given, then the peers.

    `order`: the objects, fastest first. `costs`: the typical time of each contestant in seconds; `times`: one reading
    a round, where readings of equal place were taken in turn. `separated`: the first is faster than the second object
    by more than counts as equal; `interval`: the bounds of the second's cost over the first's, at 99.8 %.
    `canary`: the most seconds that it took, before and after; `noisy`: whether that or others mark the race.
    """

    order: tuple[int, ...]
    costs: tuple[float, ...]
    times: tuple[tuple[float, ...], ...]
    separated: bool
    interval: tuple[float, float]
    canary: float = 0.0
    noisy: bool = False

    def ratio(self, one: int, other: int) -> float:
        """Give the median over the rounds of one contestant's time over another's."""
        ratios = sorted(a / b for a, b in zip(self.times[one], self.times[other], strict=True))
        middle = len(ratios) // 2
        return (ratios[middle] + ratios[~middle]) / 2


def race(
    stage: Callable[[str], object],
    kernel: Kernel,
    problem: Any,
    target: Any,  # noqa: ARG001 - as in measure_candidate
    objects: Sequence[bytes],
    *,
    peers: Sequence[str] = (),
    seed: int = 0,
    seconds: float = 1.0,
    cache: str = "warm",
) -> Race:
    """Time candidates that passed their check, and peers of the kernel, against each other.

    Rounds go through the contestants in an order drawn by lot and back, on one set of arrays, until the two fastest
    objects are separated or `seconds` of CPU time are spent, 8 rounds at least. A reading in which the system took the
    processor away is taken again where it is short, else it does not count where there are enough others.
    """
    stage("load")
    trial = prepare_trial(kernel, problem, seed)
    # Placed as in the check, so that a contestant meets the alignment that it was measured with.
    arguments = trial.passed()
    functions = [load(code, kernel.entry, arguments) for code in objects]
    runs: list[Callable[[int], object]] = [function.bind(arguments) for function in functions]
    runs += [_peer_run(kernel, name, arguments) for name in peers]
    stage("run")
    trial.prepare()
    before = sing()
    times = _take_rounds(runs, len(objects), seconds, trial.between(cache), batched=cache == "warm")
    return attrs.evolve(judge(times, len(objects)), canary=max(before, sing()))


def judge(times: Sequence[Sequence[float]], objects: int) -> Race:
    """Order the first so many contestants by cost and compare the first two of them, two rounds at a time."""
    costs = tuple(map(typical, times))
    order = tuple(sorted(range(objects), key=costs.__getitem__))
    low, high = -math.inf, math.inf
    if objects > 1:
        low, high = sign_interval(_there_and_back(times[order[1]], times[order[0]]), _LEVEL)
    return Race(
        order, costs, tuple(map(tuple, times)), low > math.log(EQUAL), (math.exp(low), math.exp(high))
    )


def _there_and_back(ones: Sequence[float], others: Sequence[float]) -> list[float]:
    """Give the log ratio over each two rounds, in which each is first once: these are independent, one is not.

    Of the two readings the lower one counts, as what disturbs one makes it longer.
    """
    return [math.log(one / other) for one, other in zip(_lower(ones), _lower(others), strict=True)]


def _lower(times: Sequence[float]) -> list[float]:
    return [min(there, back) for there, back in zip(times[::2], times[1::2], strict=False)]


def merge(races: Sequence[Race], objects: int) -> Race:
    """Judge the rounds of several races of the same contestants together."""
    judged = judge(
        [[t for each in races for t in each.times[n]] for n in range(len(races[0].times))], objects
    )
    return attrs.evolve(judged, canary=max(each.canary for each in races))


def _peer_run(kernel: Kernel, name: str, arguments: tuple[Any, ...]) -> Callable[[int], object]:
    peer = kernel.peer(name)
    return repeated(lambda: peer(*arguments))


def _take_rounds(
    runs: Sequence[Callable[[int], object]],
    objects: int,
    seconds: float,
    between: Callable[[], object],
    *,
    batched: bool,
) -> list[list[float]]:
    calls = _alike([_warm_up(run) for run in runs]) if batched else [1] * len(runs)
    rng = random.Random()  # noqa: S311 -- no secret
    order, ends = orders(len(runs), rng), time.thread_time() + seconds
    rounds, interruptions, looks = Rounds(len(runs)), Interruptions(), list(_LOOKS)
    while True:
        lengths = jittered(calls, rng)
        block = [_take_round(runs, next(order), lengths, between, interruptions) for _ in range(2)]
        rounds.add([readings for readings, _ in block], interrupted=any(cut for _, cut in block))
        times = rounds.chosen
        if len(times[0]) >= _MOST_ROUNDS or (len(rounds) >= _FEWEST_ROUNDS and time.thread_time() >= ends):
            return times
        if objects > 1 and looks and len(times[0]) >= looks[0]:
            del looks[0]
            if judge(times, objects).separated:
                return times


def _take_round(
    runs: Sequence[Callable[[int], object]],
    order: Sequence[int],
    lengths: Sequence[int],
    between: Callable[[], object],
    interruptions: Interruptions,
) -> tuple[list[float], bool]:
    """Give a reading of each, and whether one of them was interrupted in spite of a few tries."""
    readings, cut = [0.0] * len(runs), False
    for number in order:
        for _ in range(_TRIES):
            between()
            readings[number] = read(runs[number], lengths[number])
            interrupted = interruptions.came()
            if not interrupted or readings[number] * lengths[number] > _LONG:
                break
        cut |= interrupted
    return readings, cut


def _alike(paces: Sequence[tuple[int, float]]) -> list[int]:
    """Give contestants of about the same speed batches of the same length: the first call of one is the coldest.

    `paces`: the calls of a batch and the seconds a call, as met when the machine may have been busy.
    """
    return [
        max(calls for calls, other in paces if 1 / _NEAR <= other / seconds <= _NEAR) for _, seconds in paces
    ]


def _warm_up(run: Callable[[int], object]) -> tuple[int, float]:
    run(2)
    calls = calibrate(run)
    seconds = read(run, calls)
    again = [read(run, calls) for _ in range(_GLANCES if seconds * calls < _LONG else 0)]
    seconds = max(min(seconds, *again, seconds), 1e-9)
    return batch_of(seconds), seconds
