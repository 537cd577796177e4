"""The engine of the compatibility relation: it runs declared rules and knows no kind.

`judge` gives a Verdict at once; its reasons are made when looked at, by the same rules on the same views.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import attrs

from targetspec.errors import FieldError, UnknownNameError, nearest, wrong_type
from targetspec.fields import Refused, Shape
from targetspec.rules import NOT_STATED, PURPOSES, SETS, Answer, Purpose, Rule, Weight, advised, show, worst

_WEIGHT_OF: dict[Answer, Weight] = {"no": "blocks", "unknown": "undecided"}
BRIDGES = ("compat32", "qemu-user", "rosetta", "wasmtime", "wine")


@attrs.frozen
class Reason:
    """One reason of a verdict.

    `field` it is about, what is `needed` and what is `available` (both for people), the `rule`, its
    `source`, its `weight` ("blocks", "undecided", "caution", "re-measure"), `advice` for what is undecided,
    the `bridge` that was used, and `repair`, where there is one: the pair (field, value) to change in the
    target that runs the code.
    """

    field: str
    needed: str
    available: str
    rule: str
    source: str
    weight: Weight
    advice: str = ""
    bridge: str = ""
    repair: tuple[str, Any] | None = None

    def __str__(self) -> str:
        if self.bridge:
            return f"{self.field}: {self.needed} on {self.available}, through the bridge {self.bridge}"
        tail = f"; {self.advice}" if self.advice else ""
        verb = {"blocks": "needs", "undecided": "needs", "caution": "uses", "re-measure": "tuned with"}[
            self.weight
        ]
        needed = NOT_STATED if self.needed == NOT_STATED else f"{verb} {self.needed}"
        there = f"{NOT_STATED} there" if self.available == NOT_STATED else f"there is {self.available}"
        return f"{self.field}: {needed}, {there} ({self.rule}{tail})"


@attrs.frozen
class Question:
    """What is asked of two targets: the purpose, the stated needs, and the bridges that the caller has."""

    purpose: Purpose
    needs: tuple[tuple[str, Any], ...] = ()
    bridges: tuple[str, ...] = ()


# Made for every pair: what is frozen takes half of the time of a verdict to make, so that these fields are only hidden.
@attrs.define(eq=False, repr=False, on_setattr=None)
class Verdict:
    """The answer to "can what was built for one target be used on another?"; true only where it is "yes".

    `answer` is "yes", "no" or "unknown"; `built_for`, `run_on`, `purpose`, `needs` and `bridges` are the
    question. `reasons` are all of them at once, the weightiest first.
    """

    _answer: Answer
    _built_for: Any
    _run_on: Any
    _question: Question

    @property
    def answer(self) -> Answer:
        """The answer: "yes", "no" or "unknown"."""
        return self._answer

    @property
    def built_for(self) -> Any:
        """The target that the product was made for."""
        return self._built_for

    @property
    def run_on(self) -> Any:
        """The target that it is to be used on."""
        return self._run_on

    @property
    def purpose(self) -> Purpose:
        """What the first target's product is to be used for."""
        return self._question.purpose

    @property
    def needs(self) -> tuple[tuple[str, Any], ...]:
        """The stated needs, by name."""
        return self._question.needs

    @property
    def bridges(self) -> tuple[str, ...]:
        """The layers that the caller has."""
        return self._question.bridges

    def __bool__(self) -> bool:
        return self._answer == "yes"

    def __repr__(self) -> str:
        return f"<Verdict {self}>"

    def __eq__(self, other: object) -> bool:
        if type(other) is not Verdict:
            return NotImplemented
        return self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[Any, ...]:
        return (self.answer, self.built_for, self.run_on, self._question)

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """Every reason: what blocks, what is undecided, cautions, and what to measure again."""
        order = ("blocks", "undecided", "caution", "re-measure")
        found = _explain(self.built_for, self.run_on, self._question)
        # What a yes rests on is of no interest where there is none; a bridge taken is, for it did its part.
        told = (reason for reason in found if self or reason.weight != "caution" or reason.bridge)
        return tuple(sorted(told, key=lambda reason: order.index(reason.weight)))

    def __str__(self) -> str:
        subject, yes, no = _ASKED[self.purpose]
        said = {"yes": yes, "no": no, "unknown": f"{yes} only if a fact that is not stated allows it"}
        lines = [f"{self.answer}: {subject} {said[self.answer]}", *(f"  {reason}" for reason in self.reasons)]
        return "\n".join(lines)


_ASKED: dict[Purpose, tuple[str, str, str]] = {
    "code": ("code built for the first", "runs on the second", "does not run on the second"),
    "link": (
        "an object built for the first",
        "links with one for the second",
        "does not link with one for the second",
    ),
    "schedule": (
        "a configuration tuned for the first",
        "is worth trying on the second",
        "is of no use on the second",
    ),
}


def judge(
    built_for: Any,
    run_on: Any,
    purpose: Purpose = "code",
    needs: Mapping[str, Any] | None = None,
    bridges: Iterable[str] = (),
) -> Verdict:
    """Return the verdict; see `Target.compatible`."""
    check_purpose(purpose)
    bridges = _checked_bridges(bridges)
    if not isinstance(needs, Mapping | None):
        raise wrong_type(
            "compatible", "needs", needs, "a mapping of limits by name, such as {'vector_bits': 256}"
        )
    question = Question(purpose, _checked_needs(needs or {}, run_on), bridges)
    return Verdict(_answer(built_for, run_on, question), built_for, run_on, question)


def check_purpose(purpose: Any) -> None:
    """Refuse what is no purpose; raise UnknownNameError, or TypeError for what is no str."""
    if type(purpose) is not str:
        raise wrong_type("compatible", "purpose", purpose, f"one of {', '.join(PURPOSES)}")
    if purpose not in PURPOSES:
        raise UnknownNameError("purpose", purpose, PURPOSES)


def _checked_bridges(bridges: Any) -> tuple[str, ...]:
    if isinstance(bridges, str):
        bridges = (bridges,)
    if not isinstance(bridges, Iterable):
        raise wrong_type("compatible", "bridges", bridges, f"names of bridges: {', '.join(BRIDGES)}")
    names = tuple(bridges)
    for bridge in names:
        if type(bridge) is not str:
            raise wrong_type("compatible", "a bridge", bridge, f"one of {', '.join(BRIDGES)}")
        if bridge not in BRIDGES:
            raise UnknownNameError("bridge", bridge, BRIDGES)
    return tuple(sorted(set(names)))


def judge_plainly(built_for: Any, run_on: Any, needs: Stance, here: Stance) -> Verdict:
    """Return the verdict on two targets of one kind, by their stances for a purpose, without needs and bridges.

    Where a rule would demand the same of both targets its answer is yes: the second one's demand is met by
    its own promise, for every rule is reflexive. Most pairs that are compared differ in the rules that stand
    apart only.
    """
    answer: Answer = "yes"
    if needs.most is not here.most and needs.most != here.most:
        answer = _answer_of_most(needs, here, run_on)
    if here.decide is not None and answer != "no":
        found = here.decide(needs.apart, here.promise)
        if found != "yes":
            answer = found
    return Verdict(answer, built_for, run_on, here.question)


def _answer_of_most(needs: Stance, here: Stance, run_on: Any) -> Answer:
    return worst(
        rule.decide(need, rule.promise(run_on))
        for rule, need, offered in zip(here.rules, needs.most, here.most, strict=True)
        if need != offered
    )


@attrs.frozen(eq=False)
class Stance:
    """How a target stands to the rules of a purpose, worked out once for all that it is compared with.

    `rules` are those that do not stand apart, `most` what each of them demands when the target is the one built
    for, `cautioned` the pairs of these that have a word of caution beside a yes; where one rule stands apart, `decide` is its, and it demands `apart` and promises `promise`.
    """

    question: Question
    rules: tuple[Rule, ...]
    most: tuple[Any, ...]
    cautioned: tuple[tuple[Rule, Any], ...]
    apart_rule: Rule | None = None
    decide: Callable[[Any, Any], Answer] | None = None
    apart: Any = None
    promise: Any = None


def stance(target: Any, purpose: Purpose) -> Stance:
    """Return how a target stands to the rules of a purpose. Raises UnknownNameError."""
    check_purpose(purpose)
    rules = tuple(rule for rule in target.rules(purpose) if not rule.apart)
    most = _shared(tuple(rule.demand(target) for rule in rules))
    cautioned = tuple(
        (rule, demand)
        for rule, demand in zip(rules, most, strict=True)
        if rule.caution is not None and demand is not None
    )
    apart = [rule for rule in target.rules(purpose) if rule.apart]
    if not apart:
        return Stance(Question(purpose), rules, most, cautioned)
    (one,) = apart
    return Stance(
        Question(purpose), rules, most, cautioned, one, one.decide, one.demand(target), one.promise(target)
    )


# Targets that are compared mostly demand the same but for their features: one object makes that quick to see.
@functools.lru_cache(maxsize=4096)
def _shared(demands: tuple[Any, ...]) -> tuple[Any, ...]:
    return demands


def _checked_needs(needs: Mapping[str, Any], run_on: Any) -> tuple[tuple[str, Any], ...]:
    known = run_on.need_rules()
    return tuple(
        (name, _checked_need(name, needs[name], known, run_on.kind)) for name in sorted(needs, key=str)
    )


def _checked_need(name: str, value: Any, known: Mapping[str, tuple[Shape, Rule]], kind: str) -> Any:
    if type(name) is not str:
        raise wrong_type("compatible", "the name of a need", name, "a str")
    if name not in known:
        raise UnknownNameError("need", name, nearest(name, known), f"{kind} targets")
    try:
        return known[name][0].check(value)
    except Refused as refused:
        raise FieldError(kind, name, value, refused.message, refused.hint) from None


def _rules(built_for: Any, run_on: Any, purpose: Purpose) -> Iterator[tuple[Rule, Any]]:
    """Yield each rule that may give a reason, with the demand it judges; see `judge_plainly` on those left out."""
    if built_for.__class__ is not run_on.__class__:
        for rule in _judge_of(built_for, run_on).rules(purpose):
            yield rule, rule.demand(built_for)
        return
    needs, here = built_for.stance(purpose), run_on.stance(purpose)
    if needs.most is here.most:
        yield from here.cautioned
    else:
        for rule, need, offered in zip(here.rules, needs.most, here.most, strict=True):
            if need != offered or (rule.caution is not None and need is not None):
                yield rule, need
    if here.apart_rule is not None:
        yield here.apart_rule, needs.apart


def _need_rules(run_on: Any, question: Question) -> Iterator[tuple[Rule, Any]]:
    known = run_on.need_rules()
    for name, value in question.needs:
        yield known[name][1], value


def _all_rules(built_for: Any, run_on: Any, question: Question) -> Iterable[tuple[Rule, Any]]:
    plain = _rules(built_for, run_on, question.purpose)
    return itertools.chain(plain, _need_rules(run_on, question)) if question.needs else plain


def _decide(
    rule: Rule, demand: Any, promise: Any, built_for: Any, run_on: Any, question: Question
) -> tuple[Answer, str]:
    """Return a rule's answer, and the bridge that made it a yes, if one did: a layer runs code, and does no more."""
    answer = rule.decide(demand, promise)
    if answer != "yes" and question.bridges and question.purpose == "code" and rule.bridge is not None:
        bridge = rule.bridge(built_for, run_on, question.bridges)
        if bridge:
            return "yes", bridge
    return answer, ""


def _judge_of(built_for: Any, run_on: Any) -> Any:
    """Return the target whose kind judges both: the composite where kinds differ, None where there is none."""
    if built_for.kind == run_on.kind:
        return built_for
    return next((target for target in (built_for, run_on) if target.is_composite), None)


def _answer(built_for: Any, run_on: Any, question: Question) -> Answer:
    if _judge_of(built_for, run_on) is None:
        return "no"
    return worst(
        _decide(rule, demand, rule.promise(run_on), built_for, run_on, question)[0]
        for rule, demand in _all_rules(built_for, run_on, question)
    )


def _explain(built_for: Any, run_on: Any, question: Question) -> Iterator[Reason]:
    if _judge_of(built_for, run_on) is None:
        yield Reason("kind", built_for.kind, run_on.kind, "kinds of target never mix", "design", "blocks")
        return
    for rule, demand in _all_rules(built_for, run_on, question):
        promise = rule.promise(run_on)
        answer, bridge = _decide(rule, demand, promise, built_for, run_on, question)
        if answer == "yes" and not bridge and rule.caution is not None:
            yield from _cautions(rule.caution, built_for, run_on)
        weight = _weight(rule, demand, promise, answer, bridge)
        if weight is None:
            continue
        needed, available = rule.say(demand, promise)
        repair = rule.repair(built_for, run_on) if answer == "no" and rule.repair is not None else None
        advice = advised(rule, demand, promise) if answer == "unknown" else ""
        yield Reason(
            rule.label, needed, available, rule.statement, rule.source, weight, advice, bridge, repair
        )


def _cautions(rule: Rule, built_for: Any, run_on: Any) -> Iterator[Reason]:
    demand, promise = rule.demand(built_for), rule.promise(run_on)
    if rule.decide(demand, promise) != "yes":
        needed, available = rule.say(demand, promise)
        advice = advised(rule, demand, promise)
        yield Reason(rule.label, needed, available, rule.statement, rule.source, "caution", advice)


def _weight(rule: Rule, demand: Any, promise: Any, answer: Answer, bridge: str) -> Weight | None:
    """Return how much a rule's answer weighs; None where it is no reason."""
    if bridge:
        return "caution"
    if answer == "yes":
        return None if demand == promise else rule.weight
    return _WEIGHT_OF[answer]


def difference(first: Any, second: Any) -> tuple[str, ...]:
    """Return one line for each field in which two targets differ; none iff they are equal."""
    if first.kind != second.kind:
        return (f"kind: {first.kind} | {second.kind}",)
    lines = []
    for name in first.specs():
        left, right = getattr(first, name), getattr(second, name)
        if left != right:
            lines.append(f"{name}: {_written(left, right)}")
    return tuple(lines)


def _written(left: Any, right: Any) -> str:
    if not (isinstance(left, SETS) and isinstance(right, SETS)):
        return f"{show(left)} | {show(right)}"
    more, less = (", ".join(sorted(set(one) - set(other))) for one, other in ((left, right), (right, left)))
    return f"{more or '-'} | {less or '-'}"
