"""Strategies for texts: what the dialects write."""

from __future__ import annotations

import functools

from hypothesis import strategies as st

from targetspec import registry
from targetspec.errors import TargetspecError
from targetspec.parsing import parse
from targetspec.target import Target
from targetspec.testing.cases import tricky_targets
from targetspec.testing.devices import kind_targets


def target_strings(dialect: str | None = None) -> st.SearchStrategy[str]:
    """Return texts that `parse(text, dialect)` reads; without a dialect those of our own form, which `parse(text)` reads."""
    return written_targets(dialect or "targetspec").map(lambda written: written[1])


def written_targets(dialect: str | None = None) -> st.SearchStrategy[tuple[str, str, Target]]:
    """Return dialects, of all that are installed unless one is given, with a text each and the target that it means.

    What a dialect cannot say of a target is left out, so that the target is the text's, and may say less.
    """
    names = st.sampled_from(registry.dialect_names()) if dialect is None else st.just(dialect)
    return names.flatmap(_written)


def _written(dialect: str) -> st.SearchStrategy[tuple[str, str, Target]]:
    sure = sure_texts(dialect)
    kinds = sorted({target.kind for _, _, target in sure})
    if not kinds:
        return st.nothing()
    # The choice comes before what is drawn by it, so that few dialects' gaps cost no rejected example.
    drawn = st.sampled_from(kinds).flatmap(kind_targets).map(lambda target: written(target, dialect))
    return st.tuples(drawn, st.sampled_from(sure)).map(lambda pair: pair[0] or pair[1])


@functools.cache
def sure_texts(dialect: str) -> tuple[tuple[str, str, Target], ...]:
    """Return what a dialect writes of the tricky targets, as far as it can say anything of them."""
    found = (written(target, dialect) for target in tricky_targets())
    return tuple(one for one in found if one is not None)


def written(target: Target, dialect: str) -> tuple[str, str, Target] | None:
    """Return the dialect, the text of a target in it, and what that means; None where it says nothing of it."""
    try:
        text = target.format(dialect, lossy=True)
        return dialect, text, parse(text, dialect)
    except TargetspecError:
        return None
