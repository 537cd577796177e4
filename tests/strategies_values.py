"""Pairs of targets that are equal, or nearly so, and what a target's document is without the version of its tables."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

import targetspec
from targetspec import Target
from targetspec.errors import TargetspecError
from targetspec.testing import kind_targets, targets


def plain(document: Any) -> Any:
    """Return a document without the versions of tables, which are no part of equality."""
    if isinstance(document, dict):
        return {name: plain(value) for name, value in document.items() if name != "tables"}
    return [plain(one) for one in document] if isinstance(document, list) else document


@st.composite
def shuffled(draw: st.DrawFn, document: Any) -> Any:
    """The same document with keys and names in another order; the members of a composite keep theirs."""
    names = draw(st.permutations(list(document)))
    return {name: draw(_shuffled_value(document[name])) for name in names}


def _shuffled_value(value: Any) -> st.SearchStrategy[Any]:
    if isinstance(value, dict):
        return shuffled(value)
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return st.tuples(*map(shuffled, value)).map(list)
    return st.permutations(value) if isinstance(value, list) else st.just(value)


@st.composite
def changed(draw: st.DrawFn, target: Target) -> Target:
    """The target with one field as another of its kind has it, where that goes with the rest."""
    other = draw(kind_targets(target.kind))
    differing = [name for name in target.specs() if getattr(target, name) != getattr(other, name)]
    if not differing:
        return target
    name = draw(st.sampled_from(differing))
    try:
        return target.evolve(**{name: getattr(other, name)})
    except TargetspecError:
        return target


@st.composite
def near_pairs(draw: st.DrawFn) -> tuple[Target, Target]:
    """Two targets that are one written twice, differ in one field or host, or are any two."""
    first = draw(targets())
    again = st.deferred(lambda: shuffled(first.to_dict()).map(targetspec.from_dict))
    bare = st.builds(first.without_host)
    return first, draw(st.one_of(again, changed(first), changed(first), bare, targets()))
