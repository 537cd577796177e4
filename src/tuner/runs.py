"""Runs on this machine: compile workers ahead, one measurement at a time, in the order of the trials' numbers."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import attrs

from tuner.adaptive import AdaptiveLimits, in_force
from tuner.build import compile_candidate, compile_plain, fingerprint
from tuner.canary import Listener
from tuner.diagnosis import with_link_error
from tuner.kernel import Kernel
from tuner.limits import LimitsLike
from tuner.measure import Measurement, check_candidate, measure_candidate
from tuner.pool import Pool, wait_any
from tuner.racing import Race, merge, race
from tuner.record import Outcome
from tuner.space import Configuration
from tuner.survey import Survey, fault_of, take_survey
from tuner.travel import share
from tuner.trials import Task, Trial
from tuner.turns import Turn

if TYPE_CHECKING:
    from tuner.peer import Done

AHEAD = 8
"""Trials under way beside the next one to report, however many workers there are."""

_PATIENCE = 0.01
_RACES = 3
_RACE_SECONDS = 0.4
_CALLS_IN_A_RACE = 100
# One that is so much faster than all before is measured again, in a process that nothing has run in.
_SUSPICIOUS = 0.5
_KNOWN = 4
# What every job needs: a fork of the server has it, and the first job of a fresh worker does not wait for it.
_PRELOAD = ("numpy", "llvmlite.binding", "tuner.build", "tuner.measure", "targetspec.kinds.cpu")


@attrs.frozen
class Means:
    """What workers may use: bytes that each may grow by, and whether limits follow what is usual."""

    memory: int | None
    adaptive: bool


@attrs.define
class _Measuring:
    """A measurement under way."""

    number: int
    object_code: bytes
    incumbent: Trial | None
    quality: dict[str, Any]
    again: bool = False


def tell_apart(stage: Callable[[str], object], kernel: Kernel, target: Any, problem: Any) -> str:
    """Give the kernel's fingerprint, as a job."""
    stage("emit")
    return fingerprint(kernel, target, problem)


class LocalRun:
    """A run of the Local executor."""

    ahead = AHEAD

    def __init__(self, task: Task, means: Means) -> None:
        self._task = task
        self._kernel, self._target = share(task.kernel, "kernel"), share(task.target, "target")
        self._limits = AdaptiveLimits(task.compile_timeout, task.run_timeout, adaptive=means.adaptive)
        self._listener = Listener()
        self._done: dict[int, Done] = {}
        self._compiling: dict[int, tuple[int, LimitsLike]] = {}
        self._compiled: dict[int, tuple[Done, LimitsLike]] = {}
        self._measuring: dict[int, _Measuring] = {}
        self._finished: dict[int, Trial] = {}
        self._next = 0
        self._good = 0
        self._turn = Turn()
        self._quiet: ExitStack | None = None
        terms: Any = {"start_method": task.start_method, "memory": means.memory, "preload": _PRELOAD}
        self._compilers = Pool(task.workers, **terms)
        try:
            self._measurer = Pool(1, **terms)
        except BaseException:
            self._compilers.close()
            raise

    def survey(self) -> Survey:
        """Try the kernel's own functions before any trial."""
        task = self._task
        limits: LimitsLike = {("load", "check"): task.run_timeout, "emit": task.compile_timeout}
        done = self._ask(
            self._measurer, take_survey, self._kernel, task.problem, self._target, task.seed, limits=limits
        )
        if done.failure is not None:
            return Survey(error=fault_of(task.kernel, done.failure))
        survey: Survey = done.value
        return survey

    def fingerprint(self) -> str | None:
        """Tell the kernel from others; None where its code fails at it."""
        done = self._ask(
            self._compilers, tell_apart, self._kernel, self._target, self._task.problem,
            limits=self._limits.for_compiling(),
        )  # fmt: skip
        return None if done.failure else str(done.value)

    def baseline(self, incumbent: Trial | None) -> Trial | None:
        """Measure the plain version or, where the kernel has none, its first configuration."""
        task = self._task
        stated: LimitsLike = {("emit", "compile"): task.compile_timeout}
        compiled = self._ask(
            self._compilers, compile_plain, self._kernel, self._target, task.problem, limits=stated
        )
        if compiled.failure:
            return Trial(compiled.failure)
        limits: LimitsLike = {("load", "check"): task.run_timeout, "run": task.run_timeout}
        with self._silence():
            done = self._ask(
                self._measurer, self._measurement(0, incumbent), self._kernel, task.problem, self._target,
                compiled.value, limits=limits,
            )  # fmt: skip
        return self._trial(done, _Measuring(0, compiled.value, incumbent, in_force(limits)))

    def compile(self, config: Configuration) -> bytes:
        """Give the object code of a configuration that was measured before; none where it fails."""
        stated: LimitsLike = {("emit", "compile"): self._task.compile_timeout}
        done = self._ask(
            self._compilers, compile_candidate, self._kernel, config, self._target, self._task.problem,
            limits=stated,
        )  # fmt: skip
        return b"" if done.failure else bytes(done.value)

    def submit(self, number: int, config: Configuration) -> None:
        """Begin trial `number`."""
        limits = self._limits.for_compiling()
        ticket = self._compilers.submit(
            compile_candidate, self._kernel, config, self._target, self._task.problem, limits=limits
        )
        self._compiling[ticket] = number, limits

    def result(self, number: int, incumbent: Trial | None, timeout: float | None) -> Trial | None:
        """Wait for a trial."""
        ends = math.inf if timeout is None else time.monotonic() + timeout
        self._feed(incumbent)
        while number not in self._finished:
            left = ends - time.monotonic()
            if left <= 0:
                return None
            self._wait(left)
            self._feed(incumbent)
        return self._finished.pop(number)

    def race(self, finalists: Sequence[Trial]) -> Race | None:
        """Time finalists against each other, each time in a fresh process."""
        task = self._task
        seconds = task.run_timeout + _CALLS_IN_A_RACE * sum(each.cost or 0.0 for each in finalists)
        function = functools.partial(race, seed=task.seed, seconds=_RACE_SECONDS, cache=task.cache)
        objects = [each.object_code for each in finalists]
        limits: LimitsLike = {("load", "check"): task.run_timeout, "run": seconds}
        races: list[Race] = []
        with self._silence():
            for _ in range(_RACES):
                done = self._ask(
                    self._measurer, function, self._kernel, task.problem, self._target, objects,
                    limits=limits, fresh=True,
                )  # fmt: skip
                if done.failure:
                    return None
                races.append(done.value)
            return self._marked(merge(races, len(objects)))

    def _marked(self, race: Race) -> Race:
        return attrs.evolve(race, noisy=self._is_noisy(race.canary))

    def _is_noisy(self, canary: float, drift: float | None = None) -> bool:
        # In this order: the listener takes note of every canary.
        return self._listener.is_noisy(canary, drift) or not self._turn.alone

    def close(self) -> None:
        """End every process of this run."""
        try:
            self._compilers.close()
        finally:
            self._measurer.close()
            self._turn.give()

    def _measurement(self, number: int, incumbent: Trial | None) -> Callable[..., Measurement]:
        return functools.partial(
            measure_candidate,
            seed=self._task.seed + number,
            best=incumbent.cost if incumbent else None,
            incumbent=incumbent.object_code if incumbent else b"",
            cache=self._task.cache,
        )

    def _begin_silence(self) -> bool:
        """Try to have the machine to ourselves: no other tuning measures, and our compile workers stand still."""
        if self._quiet is None and self._turn.take():
            self._quiet = ExitStack()
            self._quiet.enter_context(self._compilers.paused())
        return self._quiet is not None

    def _end_silence(self) -> None:
        if self._quiet is not None:
            quiet, self._quiet = self._quiet, None
            quiet.close()
            self._turn.give()

    def _silence(self) -> ExitStack:
        """Wait until it is quiet, for as long as the context lasts."""
        while self._measuring or not self._begin_silence():
            self._wait(_PATIENCE)
        stack = ExitStack()
        stack.callback(self._end_silence)
        return stack

    def _wait(self, timeout: float) -> None:
        waits_for_turn = not self._measuring and self._next in self._compiled
        timeout = min(timeout, _PATIENCE) if waits_for_turn else timeout
        for done in wait_any([self._compilers, self._measurer], None if timeout == math.inf else timeout):
            if done.ticket in self._compiling:
                number, limits = self._compiling.pop(done.ticket)
                self._compiled[number] = done, limits
            elif done.ticket in self._measuring:
                self._conclude(done, self._measuring.pop(done.ticket))
            else:
                self._done[done.ticket] = done

    def _feed(self, incumbent: Trial | None) -> None:
        """Begin the next measurement that is due, and end the trials that need none."""
        while not self._measuring and self._next in self._compiled:
            done, limits = self._compiled[self._next]
            if done.failure:
                self._finished[self._next] = Trial(done.failure, quality=in_force(limits))
            elif self._begin_silence():
                self._limits.note_compiled(done.stages)
                self._measure(_Measuring(self._next, done.value, incumbent, in_force(limits)))
            else:
                return
            del self._compiled[self._next]
            self._next += 1

    def _measure(self, one: _Measuring) -> None:
        limits = self._limits.for_running(one.incumbent.cost if one.incumbent else None)
        one.quality |= in_force(limits)
        ticket = self._measurer.submit(
            self._measurement(one.number, one.incumbent), self._kernel, self._task.problem, self._target,
            one.object_code, limits=limits, fresh=one.again,
        )  # fmt: skip
        self._measuring[ticket] = one

    def _conclude(self, done: Done, one: _Measuring) -> None:
        trial = self._trial(done, one)
        if self._is_suspicious(trial, one):
            one.again = one.quality["confirmed"] = True
            self._measure(one)
            return
        self._end_silence()
        if trial.outcome.kind == "ok":
            self._good += 1
            self._limits.note_checked(done.stages)
        self._finished[one.number] = trial

    def _is_suspicious(self, trial: Trial, one: _Measuring) -> bool:
        best = one.incumbent.cost if one.incumbent else None
        if trial.cost is None or best is None or one.again:
            return False
        return self._good >= _KNOWN and trial.cost < _SUSPICIOUS * best

    def _trial(self, done: Done, one: _Measuring) -> Trial:
        if done.failure:
            return Trial(with_link_error(done.failure), quality=one.quality)
        measured: Measurement = done.value
        if measured.damaged:
            self._measurer.renew()
        kept = one.object_code if measured.outcome.kind == "ok" else b""
        quality = one.quality | self._conditions(measured, one)
        return Trial(measured.outcome, measured.cost, measured.times, measured.clock, kept, quality)

    def _conditions(self, measured: Measurement, one: _Measuring) -> dict[str, Any]:
        if measured.canary is None:
            return {}
        known: dict[str, Any] = {"cache": self._task.cache, "canary": measured.canary}
        drift = None
        if measured.ratio and measured.incumbent and one.incumbent and one.incumbent.cost:
            drift = measured.incumbent / one.incumbent.cost
            known |= {"drift": drift, "over_incumbent": measured.ratio.median}
            if math.isfinite(measured.ratio.high):
                known |= {
                    "over_incumbent_low": measured.ratio.low,
                    "over_incumbent_high": measured.ratio.high,
                }
        return known | {"noisy": self._is_noisy(measured.canary, drift)}

    def _ask(
        self,
        pool: Pool,
        function: Callable[..., Any],
        *arguments: Any,
        limits: LimitsLike,
        fresh: bool = False,
    ) -> Done:
        ticket = pool.submit(function, *arguments, limits=limits, fresh=fresh)
        while ticket not in self._done:
            self._wait(math.inf)
        return self._done.pop(ticket)


Costs = Callable[[Configuration], float | None] | Mapping[tuple[Any, ...], float | None]
"""Seconds by configuration, None where it failed; a mapping's keys are the tuples of a configuration's values."""


class ReplayRun(LocalRun):
    """A run of the Replay executor: no measurement, no race, no baseline, and no need of silence."""

    def __init__(self, task: Task, means: Means, costs: Costs) -> None:
        super().__init__(task, means)
        self._costs = costs
        self._configs: dict[int, Configuration] = {}

    def baseline(self, incumbent: Trial | None) -> Trial | None:  # noqa: ARG002 - as for any run
        """Give none: the table knows configurations only."""
        return None

    def submit(self, number: int, config: Configuration) -> None:
        """Begin trial `number`."""
        self._configs[number] = config
        super().submit(number, config)

    def result(self, number: int, incumbent: Trial | None, timeout: float | None) -> Trial | None:
        """Wait for a trial and give it the cost of its configuration."""
        trial = super().result(number, incumbent, timeout)
        if trial is None:
            return None
        cost = self._cost(self._configs.pop(number))
        if trial.outcome.kind != "ok":
            return trial
        if cost is None:
            return Trial(Outcome("error", "run", "the replayed costs have none for it"))
        return attrs.evolve(trial, cost=float(cost), quality={**trial.quality, "replayed": True})

    def race(self, finalists: Sequence[Trial]) -> Race | None:  # noqa: ARG002 - as for any run
        """Give none: the costs are what they are."""
        return None

    def _measurement(self, number: int, incumbent: Trial | None) -> Callable[..., Measurement]:  # noqa: ARG002 - as above
        return functools.partial(check_candidate, seed=self._task.seed + number)

    def _begin_silence(self) -> bool:
        return True

    def _cost(self, config: Configuration) -> float | None:
        return self._costs(config) if callable(self._costs) else self._costs.get(tuple(config.values()))
