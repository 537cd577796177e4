"""Executors: where and how the candidates of a tuning are compiled and measured."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

import targetspec
from tuner.kernel import Kernel
from tuner.pool import Pool
from tuner.runs import Costs, LocalRun, Means, ReplayRun, tell_apart
from tuner.trials import Executor, Run, Task, Trial

if TYPE_CHECKING:
    from tuner.peer import Done

__all__ = ["Costs", "Executor", "Local", "Replay", "Run", "Task", "Trial", "fingerprint_apart"]


def half_the_memory() -> int | None:
    """Return half of this machine's memory in bytes, None where the system does not tell."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, OSError, ValueError):
        return None


@attrs.frozen
class Local:
    """Compiles in a pool of workers on this machine and measures in one worker beside it.

    `memory`: bytes that a worker may grow by, by default half of the machine's. `adaptive`: limits come down to what
    candidates usually take, never above `compile_timeout` and `run_timeout`; each record has those that were in force.
    """

    memory: int | None = attrs.field(factory=half_the_memory, kw_only=True)
    adaptive: bool = attrs.field(default=True, kw_only=True)

    def start(self, task: Task) -> Run:
        """Begin a run."""
        return LocalRun(task, Means(self.memory, self.adaptive))


@attrs.frozen
class Replay:
    """Takes costs from a table; candidates are compiled and checked as ever, but not timed.

    A configuration whose cost is None, or that the table lacks, is an error of the stage "run". `memory` and
    `adaptive` as for Local.
    """

    costs: Costs
    memory: int | None = attrs.field(factory=half_the_memory, kw_only=True)
    adaptive: bool = attrs.field(default=True, kw_only=True)

    def start(self, task: Task) -> Run:
        """Begin a run."""
        return ReplayRun(task, Means(self.memory, self.adaptive), self.costs)


def fingerprint_apart(
    kernel: Kernel,
    target: targetspec.Target,
    problem: Mapping[str, Any],
    start_method: str,
    seconds: float = 30.0,
) -> Done:
    """Tell a kernel from others in a process of its own; the value is the fingerprint."""
    with Pool(1, start_method=start_method) as pool:
        pool.submit(tell_apart, kernel, target, problem, limits={"emit": seconds})
        (done,) = pool.wait()
    return done
