"""The target that this machine is: what was detected, as a value."""

from __future__ import annotations

from typing import Any, Literal, overload

from targetspec import cpu as tables
from targetspec.cpu_tables import table
from targetspec.errors import TargetspecError
from targetspec.features import FeatureSet
from targetspec.host.detection import detect_facts, target_fields
from targetspec.host.facts import HostFacts
from targetspec.kinds.cpu import CpuTarget
from targetspec.triple import Triple


@overload
def detect_host(*, explain: Literal[False] = False) -> CpuTarget: ...
@overload
def detect_host(*, explain: Literal[True]) -> tuple[CpuTarget, tuple[str, ...]]: ...
def detect_host(*, explain: bool = False) -> CpuTarget | tuple[CpuTarget, tuple[str, ...]]:
    """Return this machine as a target, by what it can use; with `explain`, also notes on what is not stated and why.

    It does not raise for a strange machine: it states less.
    """
    target, notes = host_target(detect_facts())
    return (target, notes) if explain else target


def host_target(facts: HostFacts) -> tuple[CpuTarget, tuple[str, ...]]:
    """Return the target that the facts make, and the notes on what is missing."""
    fields: dict[str, Any] = target_fields(facts)
    notes = list(facts.notes)
    family = _family(facts.triple)
    if family is None:
        del fields["triple"]
        notes.append(f"the triple of {facts.arch} under {facts.os} is not known: it is not stated")
    if family not in tables.family_names():
        fields.pop("features", None)
        fields.pop("cpu", None)
        notes.append(f"no feature table for {facts.arch}: neither CPU nor features are stated")
    elif fields.get("features"):
        notes += _settle(fields, family, facts)
    return _made(fields, notes)


def _settle(fields: dict[str, Any], family: str, facts: HostFacts) -> list[str]:
    """Put the closed set in place of the detected names; return the notes on what had to go."""
    try:
        kept, dropped = settled_features(family, facts.identity.cpu, facts.features, facts.unlisted)
    except TargetspecError as conflict:
        del fields["features"]
        return [f"no features are stated: {conflict}"]
    fields["features"] = kept
    if not dropped:
        return []
    return [f"not stated, since what they imply is not usable here: {', '.join(sorted(dropped))}"]


def _family(triple: str) -> str | None:
    """Return the name of the table of a triple's architecture, None for a triple that no one knows."""
    try:
        return Triple.parse(triple).family or ""
    except TargetspecError:
        return None


def settled_features(
    family: str, cpu: str | None, detected: frozenset[str], unlisted: frozenset[str] = frozenset()
) -> tuple[FeatureSet, frozenset[str]]:
    """Return the closed set of what is usable, and what had to go because a part of it is not.

    A feature is kept only where all that it implies was detected: closing upwards would claim what the
    machine denied. What no program can observe (`unlisted`: on AArch64 debug, tracing, virtualisation) is taken from
    the table of the CPU, where its name is known.
    """
    held = table(family)
    known = frozenset(name for name in detected if name in held.bit)
    unseen = unlisted & held.bit.keys()
    allowed = known | _with_model(family, cpu, unseen)
    gone = ~held.mask(allowed | unseen)
    kept = frozenset(name for name in allowed if not held.reach(name) & gone)
    return FeatureSet.closed(family, kept), known - kept


def _with_model(family: str, cpu: str | None, unseen: frozenset[str]) -> frozenset[str]:
    if cpu is None or not unseen:
        return frozenset()
    try:
        whole = tables.resolve(family, cpu)
    except TargetspecError:
        return frozenset()
    return whole.names & unseen


def _made(fields: dict[str, Any], notes: list[str]) -> tuple[CpuTarget, tuple[str, ...]]:
    """Make the target, leaving out one field after another where a strange machine states what no target can."""
    for doubtful in (None, "cpu", "features", "libc_version", "libc"):
        if doubtful is not None:
            fields.pop(doubtful, None)
        try:
            return CpuTarget(**fields), tuple(notes)
        except TargetspecError as error:
            notes.append(str(error))
    return CpuTarget(triple=fields.get("triple")), tuple(notes)
