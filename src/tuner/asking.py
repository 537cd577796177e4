"""A kernel's own functions, called where they can do no harm: what raises, hangs or dies there is one error here."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

import targetspec
from tuner.arguments import make_arguments
from tuner.errors import KernelError, ProblemError, SpaceError
from tuner.kernel import Kernel, Work
from tuner.peer import Done
from tuner.pool import Pool
from tuner.record import Outcome
from tuner.space import Configuration
from tuner.survey import first_allowed
from tuner.travel import share

SECONDS = 30.0
"""How long a function may take."""

_ERRORS = (KernelError, ProblemError, SpaceError, targetspec.TargetspecError)


class Asker:
    """Calls a kernel's own functions in a worker that lives as long as this; those of this package it calls here.

    They raise what the functions raise of our errors, and KernelError for all else. Usable from threads and after a
    fork.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._begin()

    def _begin(self) -> None:
        self._pool: Pool | None = None
        self._process = os.getpid()
        self._lock = threading.RLock()

    def needs(
        self, kernel: Kernel, configs: Iterable[Mapping[str, Any]], problem: Mapping[str, Any]
    ) -> list[dict[str, Any]]:
        """Return what each configuration needs of a target."""
        listed = [dict(config) for config in configs]
        if kernel.needs is None or not listed:
            return [{} for _ in listed]
        asked: list[dict[str, Any]] = self._ask("needs", _needs, kernel, listed, dict(problem))
        return asked

    def default(self, kernel: Kernel, problem: Mapping[str, Any], target: targetspec.Target) -> Configuration:
        """Return the first configuration that the target can hold; KernelError where it can hold none."""
        if kernel.needs is None:
            return kernel.space[0]
        found: Configuration = self._ask("needs", first_allowed, kernel, dict(problem), target)
        return found

    def work(self, kernel: Kernel, problem: Mapping[str, Any]) -> Work | None:
        """Return the work of one call; ProblemError where the kernel does not take the problem."""
        found: Work | None = self._ask("arguments or work", _work, kernel, dict(problem))
        return found

    def with_pool(self, job: Callable[[Pool], Any]) -> Any:
        """Return what a job gives for the pool of the worker, which no other thread uses meanwhile."""
        if self._process != os.getpid():
            self._begin()  # a thread that held the lock may have stayed behind
        with self._lock:
            if self._pool is None:
                self._pool = Pool(1)
            return job(self._pool)

    def close(self) -> None:
        """End the worker."""
        if self._process != os.getpid():
            self._begin()
        with self._lock:
            if self._pool is not None:
                self._pool.close()
            self._pool = None

    def _ask(self, part: str, function: Callable[..., Any], kernel: Kernel, *arguments: Any) -> Any:
        if is_ours(kernel):
            return function(kernel, *arguments)
        shared = share(kernel, "kernel")

        done = self.with_pool(
            lambda pool: _run(pool, _guarded, function, shared, *arguments, seconds=self._seconds)
        )
        if done.failure is not None:
            raise _fault(kernel, part, done.failure)
        value, error = done.value
        if error is not None:
            raise error
        return value


def is_ours(kernel: Kernel) -> bool:
    """Tell whether all of a kernel's functions are code of this package, which does no harm."""
    parts = [getattr(kernel, field.name) for field in attrs.fields(Kernel)]
    return all(
        str(getattr(part, "__module__", "")).startswith("tuner.kernels.") for part in parts if callable(part)
    )


def _run(pool: Pool, function: Callable[..., Any], *arguments: Any, seconds: float) -> Done:
    ticket = pool.submit(function, *arguments, limits={"emit": seconds})
    # An interrupt may have left another job behind.
    while True:
        for done in pool.wait():
            if done.ticket == ticket:
                return done


def _guarded(
    stage: Callable[[str], object], function: Callable[..., Any], kernel: Kernel, *arguments: Any
) -> tuple[Any, Exception | None]:
    stage("emit")
    try:
        return function(kernel, *arguments), None
    except _ERRORS as error:
        return None, error


def _fault(kernel: Kernel, part: str, failure: Outcome) -> KernelError:
    told = failure.cause if failure.kind == "error" else f"{failure.kind}: {failure.cause}"
    return KernelError(f"{kernel.name}: {part} failed: {without_type(str(told))}")


def without_type(cause: str) -> str:
    """Return what a worker said of an error of ours, without the error's name."""
    return re.sub(r"^[\w.]*KernelError: ", "", cause)


def _needs(kernel: Kernel, configs: list[Configuration], problem: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [dict(kernel.needs_of(config, problem)) for config in configs]


def _work(kernel: Kernel, problem: Mapping[str, Any]) -> Work | None:
    make_arguments(kernel, problem, 0)
    return kernel.work_of(problem)
