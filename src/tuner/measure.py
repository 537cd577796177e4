"""What a measuring worker does with a candidate: load it, check it, time it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import attrs

from tuner.arguments import make_arguments
from tuner.canary import sing
from tuner.checking import find_fault, prepare_trial
from tuner.errors import KernelError
from tuner.kernel import Kernel
from tuner.loading import load
from tuner.record import Outcome
from tuner.signtest import Ratio
from tuner.timing import CLOCK, Timing, take_times, typical

_ALONE = 1.2


@attrs.frozen
class Measurement:
    """The outcome of a candidate that was measured, "ok" or "wrong", and its times in seconds a call.

    `cost` is None where it is wrong. Where it was stopped early, the cost is what was seen until then. `ratio`: its time
    over the incumbent's, and `incumbent`: the latter's cost now. `canary`: the CPU seconds of a fixed computation beside
    it. `damaged`: it wrote where it should not, and what the process still does is not to be trusted.
    """

    outcome: Outcome
    cost: float | None = None
    times: tuple[float, ...] = ()
    calls: int = 0
    clock: str = CLOCK
    ratio: Ratio | None = None
    incumbent: float | None = None
    canary: float | None = None
    damaged: bool = False


def measure_candidate(
    stage: Callable[[str], object],
    kernel: Kernel,
    problem: Any,
    target: Any,  # noqa: ARG001 - each kind of target may come to be measured in its own way
    object_code: bytes,
    *,
    seed: int = 0,
    best: float | None = None,
    incumbent: bytes = b"",
    cache: str = "warm",
) -> Measurement:
    """Load, check and time a candidate on arguments made from the seed.

    `best`: the seconds of the incumbent, to stop early on one that is far slower; `incumbent`: its object code, to be
    timed in turn on the same arrays. A wrong result is an outcome; KernelError where the kernel's own functions fail or
    the object does not take its arguments.
    """
    stage("load")
    trial = prepare_trial(kernel, problem, seed)
    function = load(object_code, kernel.entry, trial.arguments)
    rival = load(incumbent, kernel.entry, trial.arguments).bind(trial.passed()) if incumbent else None
    stage("check")
    fault = find_fault(trial, function)
    if fault:
        return Measurement(Outcome("wrong", "check", fault), damaged=trial.damaged)
    stage("run")
    trial.prepare()
    before = sing()
    timing = take_times(
        function.bind(trial.passed()),
        best=best,
        rival=rival,
        between=trial.between(cache),
        batched=cache == "warm",
    )
    return attrs.evolve(_measured(timing), canary=max(before, sing()))


def check_candidate(
    stage: Callable[[str], object],
    kernel: Kernel,
    problem: Any,
    target: Any,  # noqa: ARG001 - as in measure_candidate
    object_code: bytes,
    *,
    seed: int = 0,
) -> Measurement:
    """Load and check a candidate without timing it."""
    stage("load")
    trial = prepare_trial(kernel, problem, seed)
    function = load(object_code, kernel.entry, trial.arguments)
    stage("check")
    fault = find_fault(trial, function)
    outcome = Outcome("wrong", "check", fault) if fault else Outcome("ok")
    return Measurement(outcome, damaged=trial.damaged)


def measure_peer(
    stage: Callable[[str], object], kernel: Kernel, problem: Any, name: str, *, seed: int = 0
) -> Measurement:
    """Time another implementation that the kernel names, by the same clock and statistic as a candidate."""
    stage("load")
    peer = kernel.peer(name)
    arguments = make_arguments(kernel, problem, seed)
    stage("run")
    return _measured(time_callable(lambda: peer(*arguments)))


def time_callable(function: Callable[[], object]) -> Timing:
    """Time a Python callable that works in this thread alone, as a candidate is timed.

    KernelError where other threads work for it: their time would not be counted.
    """
    run = repeated(function)
    run(2)
    began, total = time.thread_time(), time.process_time()
    timing = take_times(run)
    own, all_threads = time.thread_time() - began, time.process_time() - total
    if all_threads > _ALONE * own + 0.005:
        raise KernelError(
            f"it used {all_threads:.3f} s of CPU time, {own:.3f} s of it in this thread: it works with several threads;"
            " set OMP_NUM_THREADS=1 and OPENBLAS_NUM_THREADS=1 before numpy is imported"
        )
    return timing


def repeated(function: Callable[[], object]) -> Callable[[int], object]:
    """Make of a callable one that runs it n times."""

    def run(times: int) -> None:
        for _ in range(times):
            function()

    return run


def _measured(timing: Timing) -> Measurement:
    return Measurement(
        Outcome("ok", stopped_early=timing.stopped_early),
        timing.cost,
        timing.times,
        timing.calls,
        timing.clock,
        timing.ratio,
        typical(timing.rival) if timing.rival else None,
    )
