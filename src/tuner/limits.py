"""How long the stages of a job may take, and the watch that a pool holds beside a running one."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from typing import TypeAlias

import attrs

from tuner.record import STAGES

LimitsLike: TypeAlias = Mapping[str | tuple[str, ...], float]
"""Seconds by stage, or by a group of stages that share them: `{("emit", "compile"): 30.0, "run": 10.0}`."""


@attrs.frozen
class Limits:
    """Seconds for groups of stages, in order.

    The time before the first stage counts to the first group; a stage that no group names counts to the one that
    was running. A group that a job comes back to goes on where it was.

    >>> Limits.of({("emit", "compile"): 30.0, "run": 10.0}).group_of("compile")
    0
    """

    groups: tuple[tuple[tuple[str, ...], float], ...] = ()

    @classmethod
    def of(cls, limits: LimitsLike | None) -> Limits:
        """Check limits as users write them; ValueError where a stage is unknown or named twice, or no time is left, else TypeError."""
        if not isinstance(limits, Mapping | None):
            raise TypeError(f"limits: a mapping of stages to seconds, or None, not {limits!r}")
        groups = [(_group(key), time) for key, time in (limits or {}).items()]
        named = [stage for stages, _ in groups for stage in stages]
        for stage in named:
            if stage not in STAGES:
                raise ValueError(f"limits: there is no stage {stage!r}; use {', '.join(STAGES)}")
            if named.count(stage) > 1:
                raise ValueError(f"limits: the stage {stage!r} is in two groups")
        return cls(tuple((stages, _seconds(stages, time)) for stages, time in groups))

    def group_of(self, stage: str) -> int | None:
        """Return the number of the group that names the stage."""
        return next((number for number, (stages, _) in enumerate(self.groups) if stage in stages), None)


def _group(key: object) -> tuple[str, ...]:
    if not isinstance(key, str | tuple):
        raise TypeError(f"limits: a stage is a text, and a group a tuple of them, not {key!r}")
    return (key,) if isinstance(key, str) else key


def check_count(name: str, count: int) -> int:
    """Return a positive integer, ValueError where it is none."""
    if type(count) is not int or count < 1:
        raise ValueError(f"{name} must be a positive integer, got {count!r}")
    return count


def _seconds(stages: tuple[str, ...], time: object) -> float:
    if isinstance(time, bool) or not isinstance(time, (int, float)) or not _is_time(time) or not stages:
        raise ValueError(f"limits: stages {stages!r} need a positive number of seconds, got {time!r}")
    return float(time)


def _is_time(value: float) -> bool:
    return 0 < value <= sys.float_info.max or value == math.inf


class Watch:
    """Follows one job through its stages, on a clock that its owner reads."""

    def __init__(self, limits: Limits, now: float) -> None:
        self._limits = limits
        self._group = 0
        self._began = self._stage_began = self._group_began = now
        self._spent: dict[int, float] = {}
        self._stages: dict[str, float] = {}
        self.stage: str | None = None

    def restart(self, now: float) -> None:
        """Let the first group begin only now."""
        self._group_began = now

    def enter(self, stage: str, now: float) -> None:
        """Note that a stage begins."""
        self._close_stage(now)
        self.stage, self._stage_began = stage, now
        group = self._limits.group_of(stage)
        if group is not None and group != self._group:
            self._spent[self._group] = self._spent.get(self._group, 0.0) + now - self._group_began
            self._group, self._group_began = group, now

    @property
    def deadline(self) -> float:
        """When the running group is out of time; infinite without limits."""
        return self._group_began + self.limit - self._spent.get(self._group, 0.0)

    @property
    def limit(self) -> float:
        """The seconds of the running group."""
        return self._limits.groups[self._group][1] if self._limits.groups else math.inf

    @property
    def place(self) -> str:
        """The stage that a failure at this moment belongs to: before any, the first of the running group."""
        return self.stage or (self._limits.groups[self._group][0][0] if self._limits.groups else "run")

    def finish(self, now: float) -> tuple[float, dict[str, float]]:
        """Return the seconds since the beginning, and those of each stage."""
        self._close_stage(now)
        return now - self._began, self._stages

    def _close_stage(self, now: float) -> None:
        if self.stage is not None:
            self._stages[self.stage] = self._stages.get(self.stage, 0.0) + now - self._stage_began
            self._stage_began = now
