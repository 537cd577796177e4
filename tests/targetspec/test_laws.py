"""The laws of the relation, for targets of every kind and family, alone, with hosts and libraries, and for each purpose."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies_relation import (
    DEVICES,
    SUBJECTS,
    chain,
    grown,
    near,
    pair,
    pair_where,
    shrunk,
    subject_target,
)
from targetspec import CpuTarget, Target
from targetspec.compatibility import Verdict, judge, judge_plainly
from targetspec.kinds.cpu_optional import known_optional
from targetspec.rules import PURPOSES, Answer, Purpose, worst

MOST = 5000
each = settings(max_examples=min(MOST, 3 * settings().max_examples))
seeds = st.integers(0, 2**64 - 1)
subjects = pytest.mark.parametrize("subject", SUBJECTS)
# How many seeds show that a premise holds, and how many purposes have a no between targets that are near each other.
COUNTED = 60
DECIDING: tuple[Purpose, ...] = ("code", "link")


def purpose_of(rng: Random, purposes: tuple[Purpose, ...] = PURPOSES) -> Purpose:
    """Draw a purpose."""
    return rng.choice(purposes)


@subjects
@each
@given(seed=seeds)
def test_equal_targets_serve_each_other(subject: str, seed: int) -> None:
    """A target serves itself, and an equal one both ways, for each purpose; at most a caution goes with it."""
    target = subject_target(Random(seed), subject)
    again = pickle.loads(pickle.dumps(target)) if seed % 2 else target.evolve()
    assert target == again
    for purpose in PURPOSES:
        for first, second in ((target, target), (target, again), (again, target)):
            verdict = first.compatible(second, purpose=purpose)
            assert "yes" == verdict.answer
            assert {reason.weight for reason in verdict.reasons} <= {"caution"}


@subjects
@each
@given(seed=seeds)
def test_a_yes_and_a_yes_make_a_yes(subject: str, seed: int) -> None:
    """No three of a few targets that are near each other break transitivity."""
    rng = Random(seed)
    purpose = purpose_of(rng)
    drawn = [*chain(rng, subject, purpose)]
    drawn.append(near(rng, rng.choice(drawn)))
    runs = [{at for at, there in enumerate(drawn) if one.compatible(there, purpose=purpose)} for one in drawn]
    for reached in runs:
        assert set().union(*(runs[at] for at in reached)) == reached


@subjects
@each
@given(seed=seeds)
def test_more_on_the_runner_or_less_in_the_code_keeps_a_yes(subject: str, seed: int) -> None:
    """A feature more there, or one less here, at the host or a member too, leaves a yes what it is."""
    rng = Random(seed)
    purpose = purpose_of(rng)
    first, second = pair(rng, subject, purpose, "yes")
    if first.compatible(second, purpose=purpose):
        assert "yes" == first.compatible(grown(rng, second, purpose), purpose=purpose).answer
        assert "yes" == shrunk(rng, first, purpose).compatible(second, purpose=purpose).answer


@subjects
@each
@given(seed=seeds)
def test_objects_that_link_link_in_either_order(subject: str, seed: int) -> None:
    """Of two single targets each is as good a partner for the other, whatever they state."""
    rng = Random(seed)
    first = subject_target(rng, subject)
    second = near(rng, first)
    if not (first.is_composite or second.is_composite):
        answer = first.compatible(second, purpose="link").answer
        assert answer == second.compatible(first, purpose="link").answer


@subjects
@each
@given(seed=seeds)
def test_a_no_says_why_and_its_repairs_lift_it(subject: str, seed: int) -> None:
    """A no has a blocking reason; where all of them have repairs that go with the rest, what they make is no no."""
    rng = Random(seed)
    purpose = purpose_of(rng, DECIDING)
    first, second = pair_where(rng, subject, purpose, is_mendable)
    verdict = first.compatible(second, purpose=purpose)
    if verdict.answer != "no":
        return
    assert [reason for reason in verdict.reasons if reason.weight == "blocks"]
    mended = repaired(verdict)
    if mended is not None:
        assert "no" != first.compatible(mended, purpose=purpose).answer


def is_mendable(verdict: Verdict) -> bool:
    """Say whether a no has a repair for each reason, which go with the rest."""
    return verdict.answer == "no" and repaired(verdict) is not None


def repaired(verdict: Verdict) -> Target | None:
    """Return the target that runs the code with all repairs made; None where one is missing, or does not go with the rest."""
    repairs = [reason.repair for reason in verdict.reasons if reason.weight == "blocks"]
    stated = [repair for repair in repairs if repair is not None]
    if len(stated) < len(repairs):
        return None
    # Repairs of one field are one repair.
    assert all(dict(stated)[name] == value for name, value in stated)
    try:
        mended: Target = verdict.run_on.evolve(**dict(stated))
    except ValueError:
        return None
    return mended


@subjects
@each
@given(seed=seeds)
def test_an_unknown_names_the_fact_that_would_decide(subject: str, seed: int) -> None:
    """Each undecided reason says what to state; where the second is the first, nothing is undecided."""
    rng = Random(seed)
    purpose = purpose_of(rng, DECIDING)
    first, second = pair(rng, subject, purpose, "unknown")
    verdict = first.compatible(second, purpose=purpose)
    undecided = [reason for reason in verdict.reasons if reason.weight == "undecided"]
    assert (verdict.answer == "unknown") <= bool(undecided)
    for reason in undecided:
        assert reason.advice.startswith("state ") or reason.field == "members"
        assert reason.repair is None
        assert reason.needed != reason.available or reason.field in ("arch", "members", "host")


@subjects
@each
@given(seed=seeds)
def test_every_way_to_ask_has_one_answer(subject: str, seed: int) -> None:
    """A new pair, one seen before, the long way, all rules one by one, and the reasons agree."""
    rng = Random(seed)
    purpose = purpose_of(rng)
    first, second = pair(rng, subject, purpose, rng.choice(("yes", "no", "unknown")))
    answers = [*_answers(first, second, purpose)]
    assert [answers[0]] * len(answers) == answers
    verdict = first.compatible(second, purpose=purpose)
    assert verdict == pickle.loads(pickle.dumps(verdict))
    assert bool(verdict) == (verdict.answer == "yes")
    assert str(verdict).startswith(f"{verdict.answer}: ")


def _answers(first: Target, second: Target, purpose: Purpose) -> Iterator[Answer]:
    verdict = first.compatible(second, purpose=purpose)
    yield verdict.answer
    yield first.compatible(second, purpose=purpose).answer
    yield (
        pickle.loads(pickle.dumps(first))
        .compatible(pickle.loads(pickle.dumps(second)), purpose=purpose)
        .answer
    )
    yield first.compatible(second, purpose=purpose, needs={}).answer
    yield judge(first, second, purpose).answer
    if type(first) is type(second):
        yield judge_plainly(first, second, first.stance(purpose), second.stance(purpose)).answer
    yield _one_by_one(first, second, purpose)
    weights = {reason.weight for reason in verdict.reasons}
    yield "no" if "blocks" in weights else "unknown" if "undecided" in weights else "yes"


def _one_by_one(first: Target, second: Target, purpose: Purpose) -> Answer:
    if first.kind != second.kind and not (first.is_composite or second.is_composite):
        return "no"
    judging = second if second.is_composite else first
    return worst(rule.decide(rule.demand(first), rule.promise(second)) for rule in judging.rules(purpose))


@subjects
@each
@given(seed=seeds)
def test_a_caution_stands_beside_a_yes_that_rests_on_a_name(subject: str, seed: int) -> None:
    """Features that machines of a name may hide are named exactly where the code uses them and the name is all that is known."""
    rng = Random(seed)
    first, second = pair(rng, subject, "code", "yes")
    verdict = first.compatible(second)
    cautions = [reason for reason in verdict.reasons if reason.weight == "caution"]
    if isinstance(first, CpuTarget) and isinstance(second, CpuTarget):
        expected = _doubtful(first, second) if verdict else frozenset[str]()
        named = {
            name for reason in cautions if reason.field == "features" for name in reason.needed.split(", ")
        }
        assert expected == named
    assert bool(cautions) <= bool(verdict)


def _doubtful(first: Any, second: Any) -> frozenset[str]:
    if None in (first.features, second.features, second.cpu) or second.features != second.table_features():
        return frozenset()
    return first.features.names & known_optional(second.family, second.cpu)


@subjects
def test_premises_hold_in_most_examples(subject: str) -> None:
    """At least half of the examples of each law are what it is about: chains of three, and pairs with each answer."""
    for purpose in DECIDING:
        chains = pairs = moved = refused = mended = open_ = 0
        for seed in range(COUNTED):
            rng = Random(seed)
            a, b, c = chain(rng, subject, purpose)
            yes = a.compatible(b, purpose=purpose) and b.compatible(c, purpose=purpose)
            chains += bool(yes) and a != b != c
            first, second = pair(rng, subject, purpose, "yes")
            pairs += first != second and bool(first.compatible(second, purpose=purpose))
            more, less = grown(rng, second, purpose), shrunk(rng, first, purpose)
            moved += (more, less) != (second, first) or (purpose == "link" and subject in DEVICES)
            verdict = _verdict(rng, subject, purpose, "no")
            refused += verdict.answer == "no"
            one, other = pair_where(rng, subject, purpose, is_mendable)
            mended += is_mendable(one.compatible(other, purpose=purpose))
            open_ += _verdict(rng, subject, purpose, "unknown").answer == "unknown"
        counts = (chains, pairs, moved, refused, mended, open_)
        assert COUNTED / 2 <= min(counts), (purpose, counts)


def _verdict(rng: Random, subject: str, purpose: Purpose, answer: Answer) -> Verdict:
    first, second = pair(rng, subject, purpose, answer)
    return first.compatible(second, purpose=purpose)
