"""The engine of the compatibility relation: it runs declared rules and knows no kind.

`judge` gives a Verdict at once; its reasons are made when looked at, by the same rules on the same views.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from targetspec.errors import FieldError, UnknownNameError, portable
from targetspec.fields import Refused, Shape
from targetspec.registry import nearest
from targetspec.rules import PURPOSES, SETS, Answer, Purpose, Rule, Weight, show, worst

_WEIGHT_OF: dict[Answer, Weight] = {"no": "blocks", "unknown": "undecided"}
BRIDGES = ("compat32",)


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
        return f"{self.field}: {verb} {self.needed}, there is {self.available} ({self.rule}{tail})"


@attrs.frozen(eq=False)
class Verdict:
    """The answer to "can what was built for one target be used on another?"; true only where it is "yes".

    `answer` is "yes", "no" or "unknown"; `built_for`, `run_on`, `purpose`, `needs` and `bridges` are the
    question. `reasons` are all of them at once, the weightiest first.
    """

    answer: Answer
    built_for: Any
    run_on: Any
    purpose: Purpose
    needs: tuple[tuple[str, Any], ...] = ()
    bridges: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.answer == "yes"

    def __eq__(self, other: object) -> bool:
        if type(other) is not Verdict:
            return NotImplemented
        return self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[Any, ...]:
        return (self.answer, self.built_for, self.run_on, self.purpose, self.needs, self.bridges)

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """Every reason: what blocks, what is undecided, cautions, and what to measure again."""
        question = _Question(self.purpose, self.needs, self.bridges)
        order = ("blocks", "undecided", "caution", "re-measure")
        found = _explain(self.built_for, self.run_on, question)
        return tuple(sorted(found, key=lambda reason: order.index(reason.weight)))

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


@attrs.frozen
class _Question:
    purpose: Purpose
    needs: tuple[tuple[str, Any], ...]
    bridges: tuple[str, ...]


def judge(
    built_for: Any,
    run_on: Any,
    *,
    purpose: Purpose = "code",
    needs: Mapping[str, Any] | None = None,
    bridges: Iterable[str] = (),
) -> Verdict:
    """Return the verdict; see `Target.compatible`."""
    if purpose not in PURPOSES:
        raise UnknownNameError("purpose", str(purpose), PURPOSES)
    bridges = tuple(sorted({bridges} if isinstance(bridges, str) else set(bridges)))
    for bridge in bridges:
        if bridge not in BRIDGES:
            raise UnknownNameError("bridge", str(bridge), nearest(str(bridge), BRIDGES))
    wanted = _checked_needs(needs or {}, run_on)
    question = _Question(purpose, wanted, bridges)
    return Verdict(_answer(built_for, run_on, question), built_for, run_on, purpose, wanted, bridges)


def _checked_needs(needs: Mapping[str, Any], run_on: Any) -> tuple[tuple[str, Any], ...]:
    known = run_on.need_rules()
    return tuple((name, _checked_need(name, needs[name], known, run_on.kind)) for name in sorted(needs))


def _checked_need(name: str, value: Any, known: Mapping[str, tuple[Shape, Rule]], kind: str) -> Any:
    if name not in known:
        raise UnknownNameError("need", name, nearest(name, known), f"{kind} targets")
    try:
        return known[name][0].check(value)
    except Refused as refused:
        raise FieldError(kind, name, portable(value), refused.message, refused.hint) from None


def _rules(built_for: Any, run_on: Any, question: _Question) -> Iterator[tuple[Rule, Any]]:
    """Yield each rule with the demand it judges."""
    for rule in _judge_of(built_for, run_on).rules(question.purpose):
        yield rule, rule.demand(built_for)


def _need_rules(run_on: Any, question: _Question) -> Iterator[tuple[Rule, Any]]:
    known = run_on.need_rules()
    for name, value in question.needs:
        yield known[name][1], value


def _all_rules(built_for: Any, run_on: Any, question: _Question) -> Iterator[tuple[Rule, Any]]:
    yield from _rules(built_for, run_on, question)
    yield from _need_rules(run_on, question)


def _decide(rule: Rule, demand: Any, promise: Any, question: _Question) -> tuple[Answer, str]:
    """Return a rule's answer, and the bridge that made it a yes, if one did."""
    answer = rule.decide(demand, promise)
    if answer != "yes":
        for bridge in question.bridges:
            covers = rule.bridges.get(bridge)
            if covers is not None and covers(demand, promise):
                return "yes", bridge
    return answer, ""


def _judge_of(built_for: Any, run_on: Any) -> Any:
    """Return the target whose kind judges both: the composite where kinds differ, None where there is none."""
    if built_for.kind == run_on.kind:
        return built_for
    return next((target for target in (built_for, run_on) if target.is_composite), None)


def _answer(built_for: Any, run_on: Any, question: _Question) -> Answer:
    if _judge_of(built_for, run_on) is None:
        return "no"
    return worst(
        _decide(rule, demand, rule.promise(run_on), question)[0]
        for rule, demand in _all_rules(built_for, run_on, question)
    )


def _explain(built_for: Any, run_on: Any, question: _Question) -> Iterator[Reason]:
    if _judge_of(built_for, run_on) is None:
        yield Reason("kind", built_for.kind, run_on.kind, "kinds of target never mix", "design", "blocks")
        return
    for rule, demand in _all_rules(built_for, run_on, question):
        promise = rule.promise(run_on)
        answer, bridge = _decide(rule, demand, promise, question)
        reason = _reason(rule, demand, promise, answer, bridge)
        if reason is None:
            continue
        if answer == "no" and rule.repair is not None:
            reason = attrs.evolve(reason, repair=rule.repair(built_for, run_on))
        yield reason


def _reason(rule: Rule, demand: Any, promise: Any, answer: Answer, bridge: str) -> Reason | None:
    needed, available = rule.say(demand, promise)
    if bridge:
        return Reason(rule.label, needed, available, rule.statement, rule.source, "caution", bridge=bridge)
    if answer == "yes":
        if rule.weight is None or demand == promise:
            return None
        return Reason(rule.label, needed, available, rule.statement, rule.source, rule.weight)
    advice = rule.advice if answer == "unknown" else ""
    return Reason(rule.label, needed, available, rule.statement, rule.source, _WEIGHT_OF[answer], advice)


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
