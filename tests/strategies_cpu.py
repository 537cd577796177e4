"""Strategies of CPUs, features and feature sets, over the generated tables."""

from __future__ import annotations

from hypothesis import strategies as st

from targetspec import cpu
from targetspec.errors import FeatureConflictError
from targetspec.features import FeatureSet

WIDTHS = st.sampled_from([32, 64])


def families() -> st.SearchStrategy[str]:
    """Names of tables."""
    return st.sampled_from(cpu.family_names())


def cpu_names(family: str, *, aliases: bool = True) -> st.SearchStrategy[str]:
    """CPUs of a family, by all the names they go by."""
    return st.sampled_from(cpu.cpu_names(family, aliases=aliases))


def held_features(family: str) -> list[str]:
    """Return the features of a family that sets list: isa and abi, those left out that only repeat the triple."""
    names = [name for name in cpu.feature_names(family) if cpu.role(family, name) in {"isa", "abi"}]
    return [name for name in names if cpu.is_listed(family, name)]


def features(family: str) -> st.SearchStrategy[str]:
    """Features that a set of the family may list."""
    return st.sampled_from(held_features(family))


@st.composite
def feature_sets(draw: st.DrawFn, family: str) -> FeatureSet:
    """The set of some CPU, with a few features added and a few removed."""
    base = cpu.resolve(family, draw(cpu_names(family)), bits=draw(WIDTHS))
    some = st.lists(features(family), max_size=4)
    for add, remove in ((draw(some), []), ([], draw(some))):
        try:
            base = base.with_changes(add=add, remove=remove)
        except FeatureConflictError:
            # Features that exclude each other: the set stays as it was.
            continue
    return base


@st.composite
def any_feature_set(draw: st.DrawFn) -> FeatureSet:
    """A feature set of any family."""
    return draw(feature_sets(draw(families())))
