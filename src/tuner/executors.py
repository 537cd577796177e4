"""Executors: where candidates are compiled and measured, one trial after another in the order of their numbers."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import attrs

import targetspec
from tuner.build import compile_candidate, compile_plain, fingerprint
from tuner.checking import find_fault, prepare_trial
from tuner.diagnosis import with_link_error
from tuner.kernel import Kernel
from tuner.limits import LimitsLike
from tuner.loading import load
from tuner.measure import Measurement, measure_candidate
from tuner.pool import Pool, wait_any
from tuner.racing import Race, race
from tuner.record import Outcome
from tuner.space import Configuration
from tuner.timing import CLOCK
from tuner.travel import share

if TYPE_CHECKING:
    from tuner.peer import Done

Costs = Callable[[Configuration], float | None] | Mapping[tuple[Any, ...], float | None]
"""Seconds by configuration, None where it failed; a mapping's keys are the tuples of a configuration's values."""

# One measurement runs while the next waits in the pool: more would be measured against an old incumbent.
_UNDER_WAY = 2
_RACE_SECONDS = 1.0
_CALLS_IN_A_RACE = 100


@attrs.frozen
class Task:
    """What a run of trials is about, and with which means: seconds are limits for one candidate."""

    kernel: Kernel
    problem: Mapping[str, Any]
    target: targetspec.Target
    seed: int
    workers: int
    start_method: str
    compile_timeout: float
    run_timeout: float


@attrs.frozen
class Trial:
    """What came of a candidate, and its object code where it was good."""

    outcome: Outcome
    cost: float | None = None
    times: tuple[float, ...] = ()
    clock: str = CLOCK
    object_code: bytes = attrs.field(default=b"", repr=False)


class Run(Protocol):
    """A run of trials; `close` ends whatever still works for it, at once."""

    ahead: int
    """How many trials may be under way beside the next one to report: fixed, so that a search is deterministic."""

    def fingerprint(self) -> str | None:
        """Tell the kernel from others; None where its code fails at it."""

    def baseline(self, best: float | None) -> Trial | None:
        """Measure the kernel's plain version or, where it has none, its first configuration; `best` as for `result`."""

    def submit(self, number: int, config: Configuration) -> None:
        """Begin trial `number`; numbers count from 0 without gaps."""

    def result(self, number: int, best: float | None, timeout: float | None) -> Trial | None:
        """Wait for a trial, None after `timeout` seconds; `best`: the least cost reported, to stop early on others."""

    def race(self, finalists: Sequence[Trial]) -> Race | None:
        """Time finalists against each other; None where that failed."""

    def close(self) -> None:
        """End every process of this run."""


class Executor(Protocol):
    """Starts runs."""

    def start(self, task: Task) -> Run:
        """Begin a run."""


@attrs.frozen
class Local:
    """Compiles in a pool of workers on this machine and measures in one worker beside it."""

    def start(self, task: Task) -> Run:
        """Begin a run."""
        return LocalRun(task, functools.partial(_measurement, task.seed))


@attrs.frozen
class Replay:
    """Takes costs from a table; candidates are compiled and checked as ever, but not timed.

    A configuration whose cost is None, or that the table lacks, is an error of the stage "run".
    """

    costs: Costs

    def start(self, task: Task) -> Run:
        """Begin a run."""
        return ReplayRun(task, functools.partial(_check, task.seed), self.costs)


def _measurement(seed: int, best: float | None) -> Callable[..., Measurement]:
    return functools.partial(measure_candidate, seed=seed, best=best)


def _check(seed: int, best: float | None) -> Callable[..., Measurement]:  # noqa: ARG001 - as for a measurement
    return functools.partial(check_candidate, seed=seed)


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
    return Measurement(Outcome("wrong", "check", fault) if fault else Outcome("ok"))


def _fingerprint(stage: Callable[[str], object], kernel: Kernel, target: Any, problem: Any) -> str:
    stage("emit")
    return fingerprint(kernel, target, problem)


def fingerprint_apart(
    kernel: Kernel,
    target: targetspec.Target,
    problem: Mapping[str, Any],
    start_method: str,
    seconds: float = 30.0,
) -> Done:
    """Tell a kernel from others in a process of its own; the value is the fingerprint."""
    with Pool(1, start_method=start_method) as pool:
        pool.submit(_fingerprint, kernel, target, problem, limits={"emit": seconds})
        (done,) = pool.wait()
    return done


class LocalRun:
    """The run of a Local executor: objects go from the compilers to the measuring worker in trial order."""

    def __init__(self, task: Task, measurement: Callable[[float | None], Callable[..., Measurement]]) -> None:
        self._task = task
        self._kernel, self._target = share(task.kernel, "kernel"), share(task.target, "target")
        self._measurement = measurement
        self.ahead = 2 * task.workers + 2
        self._done: dict[int, Done] = {}
        self._compiling: dict[int, int] = {}
        self._compiled: dict[int, Done] = {}
        self._measuring: dict[int, tuple[int, bytes]] = {}
        self._finished: dict[int, Trial] = {}
        self._next = 0
        self._compilers = Pool(task.workers, start_method=task.start_method)
        try:
            self._measurer = Pool(1, start_method=task.start_method)
        except BaseException:
            self._compilers.close()
            raise

    @property
    def _compile_limits(self) -> LimitsLike:
        return {("emit", "compile"): self._task.compile_timeout}

    @property
    def _run_limits(self) -> LimitsLike:
        return {("load", "check"): self._task.run_timeout, "run": self._task.run_timeout}

    def fingerprint(self) -> str | None:
        """Tell the kernel from others; None where its code fails at it."""
        task = self._task
        done = self._alone(
            self._compilers,
            _fingerprint,
            self._kernel,
            self._target,
            task.problem,
            limits=self._compile_limits,
        )
        return None if done.failure else str(done.value)

    def baseline(self, best: float | None) -> Trial | None:
        """Measure the plain version or, where the kernel has none, its first configuration."""
        task = self._task
        limits = self._compile_limits
        compiled = self._alone(
            self._compilers, compile_plain, self._kernel, self._target, task.problem, limits=limits
        )
        if compiled.failure:
            return Trial(compiled.failure)
        ticket = self._submit_measurement(compiled.value, best)
        return _trial(self._await(ticket), compiled.value)

    def submit(self, number: int, config: Configuration) -> None:
        """Begin trial `number`."""
        task = self._task
        ticket = self._compilers.submit(
            compile_candidate, self._kernel, config, self._target, task.problem, limits=self._compile_limits
        )
        self._compiling[ticket] = number

    def result(self, number: int, best: float | None, timeout: float | None) -> Trial | None:
        """Wait for a trial."""
        ends = math.inf if timeout is None else time.monotonic() + timeout
        self._feed(best)
        while number not in self._finished:
            left = ends - time.monotonic()
            if left <= 0:
                return None
            self._wait(None if left == math.inf else left)
            self._feed(best)
        return self._finished.pop(number)

    def race(self, finalists: Sequence[Trial]) -> Race | None:
        """Time finalists against each other, once the measuring worker is free."""
        task = self._task
        seconds = task.run_timeout + _CALLS_IN_A_RACE * sum(each.cost or 0.0 for each in finalists)
        function = functools.partial(race, seed=task.seed, seconds=_RACE_SECONDS)
        objects = [each.object_code for each in finalists]
        limits: LimitsLike = {("load", "check"): task.run_timeout, "run": seconds}
        done = self._alone(
            self._measurer, function, self._kernel, task.problem, self._target, objects, limits=limits
        )
        return None if done.failure else done.value

    def close(self) -> None:
        """End every process of this run."""
        try:
            self._compilers.close()
        finally:
            self._measurer.close()

    def _wait(self, timeout: float | None) -> None:
        for done in wait_any([self._compilers, self._measurer], timeout):
            if done.ticket in self._compiling:
                self._compiled[self._compiling.pop(done.ticket)] = done
            elif done.ticket in self._measuring:
                number, object_code = self._measuring.pop(done.ticket)
                self._finished[number] = _trial(done, object_code)
            else:
                self._done[done.ticket] = done

    def _feed(self, best: float | None) -> None:
        while len(self._measuring) < _UNDER_WAY and self._next in self._compiled:
            done = self._compiled.pop(self._next)
            if done.failure:
                self._finished[self._next] = Trial(done.failure)
            else:
                self._measuring[self._submit_measurement(done.value, best)] = self._next, done.value
            self._next += 1

    def _submit_measurement(self, object_code: bytes, best: float | None) -> int:
        task = self._task
        return self._measurer.submit(
            self._measurement(best),
            self._kernel,
            task.problem,
            self._target,
            object_code,
            limits=self._run_limits,
        )

    def _alone(self, pool: Pool, function: Callable[..., Any], *arguments: Any, limits: LimitsLike) -> Done:
        return self._await(pool.submit(function, *arguments, limits=limits))

    def _await(self, ticket: int) -> Done:
        while ticket not in self._done:
            self._wait(None)
        return self._done.pop(ticket)


class ReplayRun(LocalRun):
    """The run of a Replay executor: no measurement, no race, no baseline."""

    def __init__(
        self, task: Task, measurement: Callable[[float | None], Callable[..., Measurement]], costs: Costs
    ) -> None:
        super().__init__(task, measurement)
        self._costs = costs
        self._configs: dict[int, Configuration] = {}

    def baseline(self, best: float | None) -> Trial | None:  # noqa: ARG002 - as for any run
        """Give none: the table knows configurations only."""
        return None

    def submit(self, number: int, config: Configuration) -> None:
        """Begin trial `number`."""
        self._configs[number] = config
        super().submit(number, config)

    def result(self, number: int, best: float | None, timeout: float | None) -> Trial | None:
        """Wait for a trial and give it the cost of its configuration."""
        trial = super().result(number, best, timeout)
        if trial is None or trial.outcome.kind != "ok":
            return trial
        cost = self._cost(self._configs[number])
        if cost is None:
            return Trial(Outcome("error", "run", "the replayed costs have none for it"))
        return attrs.evolve(trial, cost=float(cost))

    def race(self, finalists: Sequence[Trial]) -> Race | None:  # noqa: ARG002 - as for any run
        """Give none: the costs are what they are."""
        return None

    def _cost(self, config: Configuration) -> float | None:
        return self._costs(config) if callable(self._costs) else self._costs.get(tuple(config.values()))


def _trial(done: Done, object_code: bytes) -> Trial:
    if done.failure:
        return Trial(with_link_error(done.failure))
    measured: Measurement = done.value
    kept = object_code if measured.outcome.kind == "ok" else b""
    return Trial(measured.outcome, measured.cost, measured.times, measured.clock, kept)
