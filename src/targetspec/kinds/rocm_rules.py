"""The rules of the relation for AMD GPUs, beside those of equal fields."""

from __future__ import annotations

from typing import Any

from targetspec.gpu_amd import TargetId, covers
from targetspec.rules import Answer, Rule, at_most, attribute, equal, take_over, worst

USAGE = "LLVM's AMDGPUUsage"


def _serves(need: TargetId | None, have: TargetId | None) -> Answer:
    if need is None or have is None:
        return equal(need, have)
    if not covers(need.processor, have.processor):
        return "no"
    settings = ((need.sramecc, have.sramecc), (need.xnack, have.xnack))
    return worst("yes" if wanted is None else equal(wanted, there) for wanted, there in settings)


def _repair(built_for: Any, run_on: Any) -> tuple[str, Any] | None:
    """Take over the settings; a different processor has no repair."""
    need, have = built_for.target_id, run_on.target_id
    if not covers(need.processor, have.processor):
        return None
    sramecc = have.sramecc if need.sramecc is None else need.sramecc
    xnack = have.xnack if need.xnack is None else need.xnack
    return "target_id", TargetId(have.processor, sramecc, xnack)


TARGET_ID = Rule(
    label="target_id",
    statement="the processor must be the same or of the generic one, and each stated setting equal",
    source=f'{USAGE}, "Target ID": a setting left out is any',
    decide=_serves,
    demand=attribute("target_id"),
    promise=attribute("target_id"),
    repair=_repair,
    advice="state target_id on both sides, and sramecc and xnack of the device as rocminfo names them",
)

GENERIC_VERSION = Rule(
    label="generic_version",
    statement="generic code must be of the version that first served the device, or a later one",
    source=f'{USAGE}, "Generic Processor Versioning"',
    decide=lambda need, have: at_most(have, need),
    demand=attribute("generic_version"),
    promise=attribute("generic_version"),
    repair=take_over("generic_version"),
    advice="state generic_version of the code",
)
