"""What to use at deployment: a kernel's configuration for the machine that is there, and on what ground."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import attrs

import targetspec
from tuner.nearness import distance_of_targets
from tuner.record import Record
from tuner.space import Configuration

Ground = Literal["exact", "compatible", "default"]


@attrs.frozen
class Choice:
    """A configuration to use, on one of three grounds, and why on this one.

    `ground`: "exact", the record of this very target and toolchain; "compatible", that of a target whose code
    runs here, which `target` is, or of another toolchain; "default", the first configuration that the target can
    hold, where there is no such record.
    """

    ground: Ground
    config: Configuration
    target: targetspec.Target
    reason: str
    record: Record | None = None

    def __str__(self) -> str:
        return f"{self.ground}: {self.config} for {self.target}: {self.reason}"


def exact(record: Record, run_on: targetspec.Target) -> Choice:
    """Choose the record that answers exactly."""
    reason = f"measured for this very target, in run {record.run}"
    return Choice("exact", dict(record.config), run_on, reason, record)


def nearest(able: Iterable[Record], run_on: targetspec.Target, toolchain: str) -> Choice | None:
    """Choose the record of the target nearest to this one among those that can be used here; then the least cost."""
    best = min(able, key=lambda record: _rank(record, run_on, toolchain), default=None)
    if best is None:
        return None
    told = "" if best.toolchain == toolchain else f" with {best.toolchain}, where this is {toolchain}"
    is_own = best.target.tuning_key == run_on.tuning_key
    subject = "for this very target" if is_own else f"for {best.target}, whose code runs here"
    reason = f"no record for this very target and toolchain; measured {subject}, in run {best.run}{told}"
    return Choice("compatible", dict(best.config), best.target, reason, best)


def _rank(record: Record, run_on: targetspec.Target, toolchain: str) -> tuple[Any, ...]:
    distance = distance_of_targets(record.target, run_on)
    return record.toolchain != toolchain, distance, record.outcome.stopped_early, record.cost, record.created


def default(
    config: Configuration, run_on: targetspec.Target, refused: Sequence[str], *, others: int
) -> Choice:
    """Choose the kernel's first configuration: no record can be used, each for its reason; `others` have no good one of this problem."""
    if refused:
        told = f"none of its {len(refused)} recorded tasks can be used here; the nearest: {refused[0]}"
    elif others:
        told = "no good record of this problem"
    else:
        told = "no record of it"
    return Choice("default", config, run_on, f"{told}; this is the kernel's first configuration")
