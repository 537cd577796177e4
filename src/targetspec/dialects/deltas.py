"""Features as a text states them: a change of the set that the CPU, or the triple's baseline, stands for."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import attrs

from targetspec.cpu import TABLES_VERSION, dependents, implied
from targetspec.errors import FeatureConflictError
from targetspec.features import FeatureSet
from targetspec.target import Target

_BASE = ("triple", "cpu")


def changed_features(
    cls: type[Target], fields: Mapping[str, Any], add: Iterable[str] = (), remove: Iterable[str] = ()
) -> FeatureSet | None:
    """Return the set of the CPU or baseline among some fields, changed; None where no table has it."""
    request = getattr(
        cls(**{name: fields[name] for name in _BASE if name in fields}), "request_features", None
    )
    found = request(tuple(add), tuple(remove)) if request else None
    return found if isinstance(found, FeatureSet) else None


def delta_of(target: Target) -> tuple[str, ...] | None:
    """Return few signed names that make the target's set from that of its CPU or baseline, additions first.

    None where only the whole set says it: no table has the CPU, the set was closed with other tables, or no
    change gives exactly this set.
    """
    fields = {name: getattr(target, name, None) for name in _BASE}
    base, wanted = changed_features(type(target), fields), getattr(target, "features", None)
    if wanted is None:
        return () if base is None else None
    if base is None or wanted.tables != TABLES_VERSION:
        return None
    return delta_between(base, wanted)


def delta_between(base: FeatureSet, wanted: FeatureSet) -> tuple[str, ...] | None:
    """Return few signed names that make one set from another, additions first; None where no change gives exactly it."""
    gone = base.names - wanted.names
    # What only a version covered is listed once the version has gone, and must go by its own name.
    uncovered = base.with_changes(remove=gone).names - wanted.names
    more, less = sorted(wanted.names - base.names), sorted(gone | uncovered)
    short = (_topmost(base.family, more, implied), _topmost(base.family, less, dependents))
    for added, removed in (short, (tuple(more), tuple(less))):
        if _gives(base, added, removed, wanted):
            needed = _needed(added, functools.partial(_gives, base, removed=removed, wanted=wanted))
            return (*(f"+{name}" for name in needed), *(f"-{name}" for name in removed))
    return None


def _needed(names: tuple[str, ...], enough: Callable[[tuple[str, ...]], bool]) -> tuple[str, ...]:
    """Return the names without those that others bring by default, which no implication shows."""
    for name in names:
        fewer = tuple(other for other in names if other != name)
        if enough(fewer):
            names = fewer
    return names


def _topmost(family: str, names: list[str], reach: Callable[[str, str], frozenset[str]]) -> tuple[str, ...]:
    """Return the names that no other one of them brings about."""
    reached = {name: reach(family, name) for name in names}
    return tuple(
        name for name in names if not any(name in reached[other] for other in names if other != name)
    )


def _gives(base: FeatureSet, added: Iterable[str], removed: Iterable[str], wanted: FeatureSet) -> bool:
    try:
        return base.with_changes(added, removed) == wanted
    except FeatureConflictError:
        return False


def stated_fields(target: Target) -> Iterator[tuple[str, Any]]:
    """Give the fields, in their order, that are not as construction would make them from the others."""
    implied_values = target.implied()
    for name in target.specs():
        value = getattr(target, name)
        default = attrs.fields_dict(type(target))[name].default
        if value != implied_values.get(name, default) or _is_foreign(value):
            yield name, value


def _is_foreign(value: Any) -> bool:
    return isinstance(value, FeatureSet) and value.tables != TABLES_VERSION
