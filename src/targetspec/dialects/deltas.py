"""Features as a text states them: a change of the set that the CPU, or the triple's baseline, stands for."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from targetspec.cpu import dependents, implied
from targetspec.errors import FeatureConflictError
from targetspec.features import FeatureSet
from targetspec.target import Target

_BASE = ("triple", "cpu")
Change = Callable[[FeatureSet, Iterable[str], Iterable[str]], FeatureSet | None]
"""Returns a set with names asked for and others refused; None where these contradict each other."""


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

    None where only the whole set says it: no table has the CPU, today's tables would not close the set as it is,
    or no change gives exactly this set.
    """
    table = getattr(target, "table_features", None)
    base, wanted = table() if table else None, getattr(target, "features", None)
    if wanted is None:
        return () if base is None else None
    if base is None or not wanted.is_current:
        return None
    return delta_between(base, wanted)


# Written again and again for few pairs of sets, and looked for by trying.
@functools.lru_cache(maxsize=4096)
def delta_between(base: FeatureSet, wanted: FeatureSet) -> tuple[str, ...] | None:
    """Return few signed names that make one set from another, additions first; None where no change gives exactly it."""
    return delta_by(_changed, base, wanted)


def delta_by(change: Change, base: FeatureSet, wanted: FeatureSet) -> tuple[str, ...] | None:
    """Return what `delta_between` does, for a dialect that has its own way to change a set."""
    if base == wanted:
        return ()
    for added, removed in _candidates(change, base, wanted):
        if change(base, added, removed) == wanted:
            needed = _needed(added, lambda names, less=removed: change(base, names, less) == wanted)  # type: ignore[misc]
            return (*(f"+{name}" for name in needed), *(f"-{name}" for name in removed))
    return None


def _candidates(
    change: Change, base: FeatureSet, wanted: FeatureSet
) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    gone = base.names - wanted.names
    # What only a version covered is listed once the version has gone, and must go by its own name.
    uncovered = frozenset(base.with_changes(remove=gone) - wanted)
    more, less = tuple(sorted(wanted.names - base.names)), tuple(sorted(gone | uncovered))
    yield _topmost(base.family, more, implied), _topmost(base.family, less, dependents)
    yield more, less
    # What is asked for may bring more by default, which is refused by name; what is refused may take more, which is
    # asked for again.
    found = change(base, more, less)
    if found is not None:
        again = tuple(sorted({*more, *(wanted.names - found.names)}))
        yield again, _topmost(base.family, tuple(sorted({*less, *(found.names - wanted.names)})), dependents)


def _needed(names: tuple[str, ...], enough: Callable[[tuple[str, ...]], bool]) -> tuple[str, ...]:
    """Return the names without those that others bring by default, which no implication shows."""
    for name in names:
        fewer = tuple(other for other in names if other != name)
        if enough(fewer):
            names = fewer
    return names


def _topmost(
    family: str, names: tuple[str, ...], reach: Callable[[str, str], frozenset[str]]
) -> tuple[str, ...]:
    """Return the names that no other one of them brings about, the first of those that bring about each other."""
    reached = {name: reach(family, name) for name in names}
    return tuple(
        name
        for name in names
        if not any(
            name in reached[other] and (other not in reached[name] or other < name)
            for other in names
            if other != name
        )
    )


def _changed(base: FeatureSet, added: Iterable[str], removed: Iterable[str]) -> FeatureSet | None:
    try:
        return base.with_changes(added, removed)
    except FeatureConflictError:
        return None


def stated_fields(target: Target) -> Iterator[tuple[str, Any]]:
    """Give the fields, in their order, that are not as construction would make them from the others."""
    implied_values, defaults = target.implied(), target.defaults()
    for name in target.specs():
        value = getattr(target, name)
        if value != implied_values.get(name, defaults[name]):
            yield name, value
