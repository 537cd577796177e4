"""Choosing among candidates what to use on a target, as a runtime picks an image of several platforms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from targetspec.compatibility import Verdict
from targetspec.errors import wrong_type
from targetspec.rules import Purpose
from targetspec.target import Target, diff


def best_match(
    candidates: Iterable[Target],
    *,
    run_on: Target,
    purpose: Purpose = "code",
    allow_unknown: bool = False,
    needs: Mapping[str, Any] | None = None,
    bridges: Iterable[str] = (),
) -> Target | None:
    """Return the candidate that suits a target best, None where none does; see `ordered` for what is better.

    With `allow_unknown` one whose answer is unknown is better than none; of several the nearest, as `ordered` says.

    >>> from targetspec import parse
    >>> images = [parse(text) for text in ("linux/amd64", "linux/amd64/v3", "linux/amd64/v4")]
    >>> str(best_match(images, run_on=parse("x86_64-linux-gnu -mcpu=haswell"))) == str(images[1])
    True
    """
    found = ordered(
        candidates,
        run_on=run_on,
        purpose=purpose,
        allow_unknown=allow_unknown,
        needs=needs,
        bridges=bridges,
    )
    return found[0] if found else None


def ordered(
    candidates: Iterable[Target],
    *,
    run_on: Target,
    purpose: Purpose = "code",
    allow_unknown: bool = False,
    needs: Mapping[str, Any] | None = None,
    bridges: Iterable[str] = (),
) -> tuple[Target, ...]:
    """Return the candidates that can be used on a target, best first.

    A yes comes before an unknown, and what needs no bridge before what needs one. Of those that run, first comes an
    equal target, then the one that uses more of what is there, which the code of other candidates runs on. Of those
    whose answer is unknown, first comes the one with the fewest facts undecided, then the one that asks for less,
    whose code runs on other candidates, then the one that differs in fewer fields. Then comes the order given.
    """
    if isinstance(candidates, Target) or not isinstance(candidates, Iterable):
        raise wrong_type("best_match", "the candidates", candidates, "an iterable of targets")
    candidates = tuple(candidates)
    for candidate in candidates:
        if not isinstance(candidate, Target):
            raise wrong_type("best_match", "a candidate", candidate, "a Target", "parse a text first")
    if not isinstance(bridges, str) and isinstance(bridges, Iterable):
        bridges = tuple(bridges)
    judged = [
        (candidate, candidate.compatible(run_on, purpose=purpose, needs=needs, bridges=bridges))
        for candidate in candidates
    ]
    answers = ("yes", "unknown") if allow_unknown else ("yes",)
    usable = [(candidate, verdict) for candidate, verdict in judged if verdict.answer in answers]
    below = {id(one): sum(_is_below(other, one) for other, _ in usable) for one, _ in usable}

    def rank(pair: tuple[Target, Verdict]) -> tuple[int, ...]:
        candidate, verdict = pair
        bridged = any(reason.bridge for reason in verdict.reasons) if bridges else False
        if verdict:
            return False, bridged, candidate != run_on, -below[id(candidate)]
        undecided = sum(reason.weight == "undecided" for reason in verdict.reasons)
        return True, bridged, undecided, below[id(candidate)], len(diff(candidate, run_on))

    return tuple(candidate for candidate, _ in sorted(usable, key=rank))


def _is_below(other: Target, one: Target) -> bool:
    """Whether code of the other runs on the one, and not the other way about."""
    return bool(other.compatible(one)) and not one.compatible(other)
