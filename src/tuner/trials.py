"""What an executor is asked for and gives: tasks, trials, and the runs that make one out of the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import attrs

import targetspec
from tuner.kernel import Kernel
from tuner.racing import Race
from tuner.record import Outcome
from tuner.space import Configuration
from tuner.survey import Survey
from tuner.timing import CLOCK


@attrs.frozen
class Task:
    """What a run of trials is about, and with which means: seconds are limits for one candidate.

    `cache` is "warm" (calls follow each other) or "flushed" (none of the data is in a cache when a call begins).
    """

    kernel: Kernel
    problem: Mapping[str, Any]
    target: targetspec.Target
    seed: int
    workers: int
    start_method: str
    compile_timeout: float
    run_timeout: float
    cache: str = "warm"


@attrs.frozen
class Trial:
    """What came of a candidate, its object code where it was good, and `quality`, what to know of its measurement."""

    outcome: Outcome
    cost: float | None = None
    times: tuple[float, ...] = ()
    clock: str = CLOCK
    object_code: bytes = attrs.field(default=b"", repr=False)
    quality: Mapping[str, Any] = attrs.field(factory=dict)


class Run(Protocol):
    """A run of trials; `close` ends whatever still works for it, at once."""

    ahead: int
    """How many trials may be under way beside the next one to report: fixed, so that a search is deterministic."""

    def survey(self) -> Survey:
        """Try the kernel's own functions before any trial; the survey holds their error where one fails."""

    def fingerprint(self) -> str | None:
        """Tell the kernel from others; None where its code fails at it."""

    def baseline(self, incumbent: Trial | None) -> Trial | None:
        """Measure the kernel's plain version or, where it has none, its first configuration."""

    def compile(self, config: Configuration) -> bytes:
        """Give the object code of a configuration that was measured before; none where it fails."""

    def submit(self, number: int, config: Configuration) -> None:
        """Begin trial `number`; numbers count from 0 without gaps."""

    def result(self, number: int, incumbent: Trial | None, timeout: float | None) -> Trial | None:
        """Wait for a trial, None after `timeout` seconds; `incumbent`: the best one reported, to compare with."""

    def race(self, finalists: Sequence[Trial]) -> Race | None:
        """Time finalists against each other; None where that failed."""

    def close(self) -> None:
        """End every process of this run."""


class Executor(Protocol):
    """Starts runs."""

    def start(self, task: Task) -> Run:
        """Begin a run."""
