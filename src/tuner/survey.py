"""A kernel's own functions, tried before any trial: what fails there is the kernel's fault, not a candidate's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import attrs

import targetspec
from tuner.checking import prepare_trial
from tuner.errors import KernelError, ProblemError, SpaceError
from tuner.kernel import Kernel, Work
from tuner.record import Outcome
from tuner.space import Configuration, Space

_PARTS = {"emit": "needs", "load": "arguments", "check": "reference, tolerance or work"}


@attrs.frozen
class Survey:
    """The work of one call, the space that the target can hold (None: all of the kernel's), or the error instead."""

    work: Work | None = None
    space: Space | None = None
    error: Exception | None = None


def take_survey(
    stage: Callable[[str], object], kernel: Kernel, problem: Any, target: targetspec.Target, seed: int
) -> Survey:
    """Call everything of the kernel that no configuration changes, and `needs` for each configuration."""
    try:
        stage("load")
        prepare_trial(kernel, problem, seed, made=lambda: stage("check"))
        work = kernel.work_of(problem)
        stage("emit")
        space = allowed(kernel, problem, target)
    except (KernelError, ProblemError, SpaceError) as error:
        return Survey(error=error)
    return Survey(work, None if space is kernel.space else space)


def fault_of(kernel: Kernel, failure: Outcome) -> KernelError:
    """Say that the kernel's own function did not come through."""
    part = _PARTS.get(str(failure.stage), "one of its functions")
    told = f"{failure.kind}: {failure.cause}" if failure.kind != "error" else failure.cause
    return KernelError(f"{kernel.name}: {part} failed before any trial: {told}")


def allowed(kernel: Kernel, problem: Mapping[str, Any], target: targetspec.Target) -> Space:
    """Restrict the kernel's space to what the target can hold; SpaceError that says why where nothing is left."""
    if kernel.needs is None:
        return kernel.space
    verdicts = _Verdicts(kernel.name, target)
    if all(verdicts.of(kernel.needs_of(config, problem)) for config in kernel.space):
        return kernel.space
    try:
        return kernel.space.restrict(lambda config: verdicts.of(kernel.needs_of(config, problem)))
    except SpaceError as error:
        raise SpaceError(verdicts.no_fit(str(error))) from error


def ask_relation(
    kernel: str,
    built_for: targetspec.Target,
    run_on: targetspec.Target,
    needs: Mapping[str, Any],
    purpose: Literal["code", "schedule"] = "schedule",
) -> targetspec.Verdict:
    """Ask for a configuration with its needs; KernelError where a target cannot be asked for these."""
    try:
        return built_for.compatible(run_on, purpose=purpose, needs=needs or None)
    except (targetspec.TargetspecError, TypeError) as error:
        told = f"{kernel}: needs gave what a target cannot be asked: {error}"
        # Of a name that is right its own error says all.
        if not isinstance(error, targetspec.FieldError):
            told += f"; {run_on.kind} targets can be asked for {', '.join(run_on.need_rules())}"
        raise KernelError(told) from error


def first_allowed(kernel: Kernel, problem: Mapping[str, Any], target: targetspec.Target) -> Configuration:
    """Return the first configuration that the target can hold; KernelError that says why where there is none."""
    verdicts = _Verdicts(kernel.name, target)
    for config in kernel.space:
        if verdicts.of(kernel.needs_of(config, problem)):
            return config
    raise KernelError(verdicts.no_fit())


class _Verdicts:
    """What the target says to needs: asked once for all configurations that need the same."""

    def __init__(self, kernel: str, target: targetspec.Target) -> None:
        self._kernel = kernel
        self._target = target
        self._known: dict[tuple[Any, ...], bool] = {}
        self._refusal = ""

    def no_fit(self, otherwise: str = "") -> str:
        """Say that none was held, and why the one asked for last was not."""
        return f"{self._kernel}: no configuration fits {self._target}: {self._refusal or otherwise}"

    def of(self, needs: Mapping[str, Any]) -> bool:
        key = tuple(sorted((repr(name), repr(value)) for name, value in needs.items()))
        if key not in self._known:
            verdict = ask_relation(self._kernel, self._target, self._target, needs)
            self._known[key] = bool(verdict)
            self._refusal = self._refusal if verdict else str(verdict)
        return self._known[key]
