"""A kernel's own functions, tried before any trial: what fails there is the kernel's fault, not a candidate's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

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
    verdicts = _Verdicts(target)
    if all(verdicts.of(kernel.needs_of(config, problem)) for config in kernel.space):
        return kernel.space
    try:
        return kernel.space.restrict(lambda config: verdicts.of(kernel.needs_of(config, problem)))
    except SpaceError as error:
        raise SpaceError(
            f"{kernel.name}: no configuration fits {target}: {verdicts.refusal or error}"
        ) from error


def first_allowed(
    kernel: Kernel, problem: Mapping[str, Any], target: targetspec.Target
) -> Configuration | None:
    """Return the first configuration that the target can hold, None where there is none."""
    verdicts = _Verdicts(target)
    return next((config for config in kernel.space if verdicts.of(kernel.needs_of(config, problem))), None)


class _Verdicts:
    """What the target says to needs: asked once for all configurations that need the same."""

    def __init__(self, target: targetspec.Target) -> None:
        self._target = target
        self._known: dict[tuple[Any, ...], bool] = {}
        self.refusal = ""

    def of(self, needs: Mapping[str, Any]) -> bool:
        key = tuple(sorted((name, repr(value)) for name, value in needs.items()))
        if key not in self._known:
            verdict = self._target.compatible(self._target, purpose="schedule", needs=needs)
            self._known[key] = bool(verdict)
            self.refusal = self.refusal if verdict else str(verdict)
        return self._known[key]
