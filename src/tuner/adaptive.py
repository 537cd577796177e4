"""Limits that follow what candidates have taken so far, never above those that were stated."""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Mapping
from typing import Any

from tuner.limits import LimitsLike

# Enough to know what is usual; until then the stated limits hold.
_ENOUGH = 10
# Far above what is usual: a machine may become ten times slower for a while.
_TIMES = 20.0
_LEAST = 2.0
_CALLS = 200


class AdaptiveLimits:
    """Seconds for compiling one candidate (from the 90th percentile so far) and for running one (from the best)."""

    def __init__(self, compile_timeout: float, run_timeout: float, *, adaptive: bool) -> None:
        self._stated = compile_timeout, run_timeout
        self._adaptive = adaptive
        self._compiled: list[float] = []
        self._checked = 0.0
        self._checks = 0

    def note_compiled(self, stages: Mapping[str, float]) -> None:
        """Take note of the seconds of one that compiled."""
        insort(self._compiled, stages.get("emit", 0.0) + stages.get("compile", 0.0))

    def note_checked(self, stages: Mapping[str, float]) -> None:
        """Take note of the seconds of one that was right."""
        self._checked = max(self._checked, stages.get("load", 0.0) + stages.get("check", 0.0))
        self._checks += 1

    @property
    def compile_seconds(self) -> float:
        """What emitting and compiling may take together."""
        if not self._adaptive or len(self._compiled) < _ENOUGH:
            return self._stated[0]
        usual = self._compiled[math.ceil(0.9 * len(self._compiled)) - 1]
        return min(self._stated[0], max(_LEAST, _TIMES * usual))

    def run_seconds(self, best: float | None) -> float:
        """What loading and checking may take together, and again the timing; `best`: seconds of one call."""
        if not self._adaptive or best is None or self._checks < _ENOUGH:
            return self._stated[1]
        return min(self._stated[1], max(_LEAST, _TIMES * self._checked) + _CALLS * best)

    def for_compiling(self) -> LimitsLike:
        """Give the limits of a job that compiles."""
        return {("emit", "compile"): self.compile_seconds}

    def for_running(self, best: float | None) -> LimitsLike:
        """Give the limits of a job that measures."""
        seconds = self.run_seconds(best)
        return {("load", "check"): seconds, "run": seconds}


def in_force(limits: LimitsLike) -> dict[str, Any]:
    """Name the seconds of limits as a record's quality holds them."""
    names = {"compile": "compile_limit", "check": "run_limit"}
    return {
        name: float(seconds)
        for stages, seconds in limits.items()
        for stage, name in names.items()
        if stage in stages and not isinstance(stages, str)
    }
