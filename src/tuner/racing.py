"""The final: contestants timed in turn on the same arrays until the fastest is told apart, or is not."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Sequence
from typing import Any

import attrs

from tuner.checking import prepare_trial
from tuner.kernel import Kernel
from tuner.loading import load
from tuner.measure import repeated
from tuner.signtest import EQUAL, sign_interval
from tuner.timing import calibrate, jitter, read, typical

_LEVEL = 0.01
_FEWEST_ROUNDS = 8
_MOST_ROUNDS = 512
# Few and far between: each look is another chance to be wrong.
_LOOKS = (16, 32, 64, 128, 256)


@attrs.frozen
class Race:
    """Who won. Contestants are numbered: the objects as given, then the peers.

    `order`: the objects, fastest first. `costs`: the typical time of each contestant in seconds; `times`: one reading
    a round, where readings of equal place were taken in turn. `separated`: the first is faster than the second object
    by more than counts as equal; `interval`: the bounds of the second's cost over the first's, at 99 %.
    """

    order: tuple[int, ...]
    costs: tuple[float, ...]
    times: tuple[tuple[float, ...], ...]
    separated: bool
    interval: tuple[float, float]

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

    Rounds go through the contestants forwards and backwards in turn, on one set of arrays, until the two fastest
    objects are separated or `seconds` of CPU time are spent, 8 rounds at least.
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
    times = _take_rounds(runs, len(objects), seconds, trial.between(cache), batched=cache == "warm")
    return judge(times, len(objects))


def judge(times: Sequence[Sequence[float]], objects: int) -> Race:
    """Order the first so many contestants by cost and compare the first two of them round by round."""
    costs = tuple(map(typical, times))
    order = tuple(sorted(range(objects), key=costs.__getitem__))
    low, high = -math.inf, math.inf
    if objects > 1:
        pairs = zip(times[order[1]], times[order[0]], strict=True)
        low, high = sign_interval([math.log(slow / fast) for slow, fast in pairs], _LEVEL)
    return Race(
        order, costs, tuple(map(tuple, times)), low > math.log(EQUAL), (math.exp(low), math.exp(high))
    )


def merge(races: Sequence[Race], objects: int) -> Race:
    """Judge the rounds of several races of the same contestants together."""
    return judge([[t for each in races for t in each.times[n]] for n in range(len(races[0].times))], objects)


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
    calls = _alike([_warm_up(run) if batched else 1 for run in runs])
    times: list[list[float]] = [[] for _ in runs]
    rng = random.Random(len(runs))  # noqa: S311 -- no secret
    ends = time.thread_time() + seconds
    for rounds in range(1, _MOST_ROUNDS + 1):
        # Forwards and backwards in turn, so that a drift falls on all alike.
        order = range(len(runs)) if rounds % 2 else reversed(range(len(runs)))
        factor = jitter(rng)
        for number in order:
            between()
            times[number].append(read(runs[number], max(1, round(calls[number] * factor))))
        if rounds >= _FEWEST_ROUNDS and time.thread_time() >= ends:
            break
        if rounds in _LOOKS and objects > 1 and judge(times, objects).separated:
            break
    return times


def _alike(calls: Sequence[int]) -> list[int]:
    """Give contestants of about the same speed batches of the same length: the first call of one is the coldest."""
    return [max(other for other in calls if other <= 2 * own) for own in calls]


def _warm_up(run: Callable[[int], object]) -> int:
    run(2)
    return calibrate(run)
