"""The most capable target whose code runs on several others, found by the rules of the relation themselves."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from targetspec.errors import NoCommonTargetError, TargetspecError
from targetspec.features import FeatureSet
from targetspec.rules import Rule
from targetspec.target import Target

# Fields that share a rule are tried together; beyond so many combinations only those that some target has.
_MOST_COMBINATIONS = 256


def common(first: Target, *others: Target) -> Target:
    """Return the most capable target whose code runs on all of some targets, for one binary of a fleet.

    Facts that no code depends on are kept where all agree, and limits where all state them (the least); the CPU is
    the one whose set is what all share, if one is.

    Raises:
        NoCommonTargetError: there is none, as with different architectures, or it cannot be known.

    >>> from targetspec import CpuTarget
    >>> old, new = (CpuTarget(triple="x86_64-linux-gnu", cpu=cpu) for cpu in ("haswell", "skylake"))
    >>> common(new, old).cpu
    'haswell'
    """
    targets = (first, *others)
    for target in targets:
        if not isinstance(target, Target):
            raise TypeError(f"common takes targets, not {type(target).__name__}; parse a text first")
    if len({target.kind for target in targets}) > 1:
        raise NoCommonTargetError("kind", tuple(target.kind for target in targets))
    found = _met(targets)
    for target in targets:
        verdict = found.compatible(target)
        if not verdict:
            raise NoCommonTargetError(verdict.reasons[0].field, tuple(map(str, targets)))
    return found


def _met(targets: Sequence[Target]) -> Target:
    first = targets[0]
    if all(target == first for target in targets):
        return first
    found = first.evolve(**_agreed(targets))
    for fields in _groups(type(first)):
        if any(_differ(targets, name) for name in fields):
            found = _best(found, targets, fields)
    return _named(found, targets)


def _named(found: Target, targets: Sequence[Target]) -> Target:
    """Return the target with the name of the CPU whose set it has, if one of the targets has that set."""
    for target in targets:
        cpu, features = getattr(target, "cpu", None), getattr(target, "features", None)
        if cpu is not None and features is not None and features == getattr(found, "features", None):
            return found.evolve(cpu=cpu)
    return found


def _differ(targets: Sequence[Target], name: str) -> bool:
    return len({getattr(target, name) for target in targets}) > 1


def _agreed(targets: Sequence[Target]) -> dict[str, Any]:
    """Return the fields that no code depends on and that the targets differ in: the least limit, or nothing."""
    first = targets[0]
    fields: dict[str, Any] = {}
    for name, one in first.specs().items():
        if one.rules["code"] or not _differ(targets, name):
            continue
        values = [getattr(target, name) for target in targets]
        least = one.need is not None and all(type(value) is int for value in values)
        fields[name] = min(values) if least else first.defaults()[name]
    # A CPU's name stands for its features: without the name they are stated.
    if "cpu" in fields and getattr(first, "features", None) is not None:
        fields["features"] = first.features  # type: ignore[attr-defined]
    return fields


def _groups(cls: type[Target]) -> list[tuple[str, ...]]:
    """Return the fields that code depends on, those together that share a rule."""
    groups: dict[int, tuple[str, ...]] = {}
    for name, one in cls.specs().items():
        for rule in one.rules["code"]:
            groups[id(rule)] = (*groups.get(id(rule), ()), name)
    merged: list[set[str]] = []
    for names in groups.values():
        touching = [group for group in merged if group & set(names)]
        merged = [group for group in merged if group not in touching]
        merged.append(set(names).union(*touching))
    return [tuple(name for name in cls.specs() if name in group) for group in merged]


def _best(found: Target, targets: Sequence[Target], fields: tuple[str, ...]) -> Target:
    """Return the target with those values of some fields that run on all, and that the others' code runs on."""
    rules = _rules_of(type(found), fields)
    fit = [
        candidate
        for candidate in _candidates(found, targets, fields)
        if all(_serve(rules, candidate, target) for target in targets)
    ]
    if not fit:
        raise NoCommonTargetError(fields[0], tuple(str(getattr(target, fields[0])) for target in targets))
    return max(fit, key=lambda one: sum(_serve(rules, other, one) for other in fit))


def _rules_of(cls: type[Target], fields: Iterable[str]) -> tuple[Rule, ...]:
    return tuple({id(rule): rule for name in fields for rule in cls.specs()[name].rules["code"]}.values())


def _serve(rules: tuple[Rule, ...], built_for: Target, run_on: Target) -> bool:
    return all(rule.decide(rule.demand(built_for), rule.promise(run_on)) == "yes" for rule in rules)


def _candidates(found: Target, targets: Sequence[Target], fields: tuple[str, ...]) -> Iterator[Target]:
    choices = {name: _values(found, targets, name) for name in fields}
    tuples: Iterable[Mapping[str, Any]]
    if math.prod(map(len, choices.values())) <= _MOST_COMBINATIONS:
        tuples = (dict(zip(fields, values, strict=True)) for values in itertools.product(*choices.values()))
    else:
        tuples = ({name: getattr(target, name) for name in fields} for target in targets)
    for values in itertools.chain(tuples, found.common_candidates(targets, fields)):
        try:
            yield found.evolve(**values)
        except (TargetspecError, ValueError):
            continue


def _values(found: Target, targets: Sequence[Target], name: str) -> tuple[Any, ...]:
    """Return what a field may be in a common target: what one has, what all share, and nothing."""
    stated = [getattr(target, name) for target in targets]
    values = [*stated, found.defaults()[name]]
    sets = [value for value in stated if isinstance(value, frozenset | FeatureSet)]
    # Sets of two families have nothing in common; that the architectures differ is told elsewhere.
    if len(sets) == len(stated) and len({getattr(one, "family", "") for one in sets}) == 1:
        values = [_shared(sets), *values]
        if not any(isinstance(value, FeatureSet) for value in sets):
            values.append(frozenset().union(*sets))
    if name == "host" and all(isinstance(value, Target) for value in stated):
        values = [_met_or_none(stated), *values]
    return tuple(dict.fromkeys(values))


def _shared(sets: Sequence[Any]) -> Any:
    return functools.reduce(operator.and_, sets)


def _met_or_none(hosts: Sequence[Target]) -> Target | None:
    try:
        return common(*hosts)
    except NoCommonTargetError:
        return None
