"""Rules of the compatibility relation: preorders that can explain themselves.

A rule looks at what one target demands and what another promises, and answers "yes", "no" or "unknown".
For every rule "yes" is reflexive and transitive on what targets state, so that the relation of a kind,
which asks for every rule's yes, is a preorder by construction. A rule decides in one place only; what it
says about a decision is made later, from the same two values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal

import attrs

from targetspec.features import FeatureSet

Answer = Literal["yes", "no", "unknown"]
Purpose = Literal["code", "link", "schedule"]
Weight = Literal["blocks", "undecided", "caution", "re-measure"]
View = Callable[[Any], Any]
SETS = (frozenset, FeatureSet)
PURPOSES: tuple[Purpose, ...] = ("code", "link", "schedule")


def worst(answers: Iterable[Answer]) -> Answer:
    """Return the answer of a product: no, else unknown, else yes; what comes after a no is not asked."""
    found: Answer = "yes"
    for answer in answers:
        if answer == "no":
            return "no"
        if answer == "unknown":
            found = "unknown"
    return found


def best(answers: Iterable[Answer]) -> Answer:
    """Return the answer of a choice: yes, else unknown, else no; what comes after a yes is not asked."""
    found: Answer = "no"
    for answer in answers:
        if answer == "yes":
            return "yes"
        if answer == "unknown":
            found = "unknown"
    return found


def equal(need: Any, have: Any) -> Answer:
    """An identity: None ("not stated") matches None, and is undecided against a stated value."""
    if need == have:
        return "yes"
    return "unknown" if need is None or have is None else "no"


def version_key(text: str | None) -> tuple[int, ...] | None:
    """Return a version's numbers, trailing zeros dropped, so that 11 and 11.0 compare equal."""
    if not text:
        return None
    numbers = [int(part) for part in text.split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def at_most(need: Any, have: Any) -> Answer:
    """A floor or a limit in use: None needed asks for nothing, a stated need is undecided against None.

    Texts are versions, and compared by their numbers: 2.9 is less than 2.10.
    """
    if need is None:
        return "yes"
    if have is None:
        return "unknown"
    if isinstance(need, str):
        need, have = version_key(need), version_key(have)
    return "yes" if need <= have else "no"


def within(need: Any, have: Any) -> Answer:
    """A set that must be there, whole; an unknown set (None) is an identity."""
    if need is None or have is None:
        return "yes" if need is have else "unknown"
    return "yes" if need <= have else "no"


def contains(need: Any, have: Any) -> Answer:
    """The other way about: the code keeps to every restriction that the runner asks for."""
    return within(have, need)


def always(need: Any, have: Any) -> Answer:  # noqa: ARG001 - a decider takes both sides
    """A difference that never stands in the way, but is worth a reason."""
    return "yes"


NOT_STATED = "not stated"
"""How a value that is None is written for people."""


def show(value: Any) -> str:
    """Write a demanded or promised value for people."""
    if value is None:
        return NOT_STATED
    if isinstance(value, frozenset):
        return ", ".join(sorted(map(str, value))) or "nothing"
    if isinstance(value, tuple) and all(type(part) is int for part in value):
        # A version: the parts that `version_key` leaves out are zeros.
        return ".".join(map(str, value if len(value) > 1 else (*(value or (0,)), 0)))
    if isinstance(value, tuple):
        return " ".join(show(part) for part in value if part != "")
    return str(value)


def show_difference(need: Any, have: Any) -> tuple[str, str]:
    """Write of two sets what the first has and the second lacks."""
    if need is None or have is None:
        return _stated(need), _stated(have)
    missing = ", ".join(need - have if isinstance(need, FeatureSet) else sorted(need - have))
    return missing or "nothing more", "a set without them" if missing else "all of it"


def show_change(need: Any, have: Any) -> tuple[str, str]:
    """Write two values; of two sets, what each has beside the other."""
    if isinstance(need, SETS) and isinstance(have, SETS):
        return _extra(need, have), _extra(have, need)
    return show(need), show(have)


def _extra(one: Iterable[str], other: Iterable[str]) -> str:
    extra = ", ".join(sorted(set(one) - set(other)))
    return f"also {extra}" if extra else "nothing more"


def _stated(value: Any) -> str:
    return NOT_STATED if value is None else "a stated set"


def show_both(need: Any, have: Any) -> tuple[str, str]:
    """Write both values whole."""
    return show(need), show(have)


@attrs.frozen(eq=False)
class Rule:
    """One rule: what it is called in reasons, how it sees a target, how it decides, and what mends a no.

    `label` is the field, or the part of one, that a reason names; `statement` says the rule in words and
    `source` where it comes from. `demand` and `promise` view the target as the one built for and as the
    one run on. `repair` gives the change (field, value) to the second that would lift a no, or None.
    `advice` names the fact that would decide an unknown, or finds it in what is demanded and promised. `bridge` names the one of the caller's bridges, if
    any, that makes up for what the rule misses between two targets. `caution` is a rule whose every answer but yes
    is a word of caution beside this one's yes. `apart` marks the one rule of a purpose, if any, whose
    demand differs between most targets that are alike in all else.
    """

    label: str
    statement: str
    source: str
    decide: Callable[[Any, Any], Answer]
    demand: View
    promise: View
    say: Callable[[Any, Any], tuple[str, str]] = show_both
    repair: Callable[[Any, Any], tuple[str, Any] | None] | None = None
    advice: str | Callable[[Any, Any], str] = ""
    weight: Weight | None = None
    bridge: Callable[[Any, Any, tuple[str, ...]], str] | None = None
    caution: Rule | None = None
    apart: bool = False


def advised(rule: Rule, need: Any, have: Any) -> str:
    """Return a rule's advice on what is demanded and promised."""
    return rule.advice if isinstance(rule.advice, str) else rule.advice(need, have)


def attribute(name: str) -> View:
    """Return the view that reads one field."""
    return lambda target: getattr(target, name)


def take_over(name: str) -> Callable[[Any, Any], tuple[str, Any]]:
    """Return the repair that sets a field of the runner to what the code was built for."""
    return lambda built_for, run_on: (name, getattr(built_for, name))  # noqa: ARG005 - a repair takes both


def same(name: str, source: str, *, promise: View | None = None) -> Rule:
    """Return the rule that a field must be equal."""
    view = attribute(name)
    return Rule(
        label=name,
        statement="must be equal",
        source=source,
        decide=equal,
        demand=view,
        promise=promise or view,
        repair=take_over(name),
        advice=f"state {name} on both sides",
    )


def floor(name: str, source: str, *, demand: View | None = None, promise: View | None = None) -> Rule:
    """Return the rule that a field of the runner must be at least that of the code."""
    return Rule(
        label=name,
        statement="must be at least what the code was built for",
        source=source,
        decide=at_most,
        demand=demand or attribute(name),
        promise=promise or attribute(name),
        repair=take_over(name),
        advice=f"state {name} of the target that runs it",
    )


def needed(name: str) -> Rule:
    """Return the rule of a stated need that a field of the runner must reach; no field of the code mends it."""
    statement = "must be at least what is needed"
    return attrs.evolve(floor(name, "stated need"), label=f"needs.{name}", statement=statement, repair=None)


def subset(name: str, source: str) -> Rule:
    """Return the rule that a set of the runner must hold all that the code uses."""
    view = attribute(name)
    return Rule(
        label=name,
        statement="all that the code uses must be there",
        source=source,
        decide=within,
        demand=view,
        promise=view,
        say=show_difference,
        repair=lambda built_for, run_on: (name, view(run_on) | view(built_for)),
    )


def re_measure(name: str, view: View | None = None) -> Rule:
    """Return the rule of the purpose "schedule" for a fact that moves timings and forbids nothing."""
    view = view or attribute(name)
    return Rule(
        label=name,
        statement="moves timings: measure again",
        source="a tuned configuration is a suggestion elsewhere",
        decide=always,
        demand=view,
        promise=view,
        say=show_change,
        weight="re-measure",
    )


def both_ways(rule: Rule, fields: tuple[str, ...]) -> Rule:
    """Return the rule that two targets can each take the other's place; a change of one of the fields mends a no."""

    def decide(need: Any, have: Any) -> Answer:
        return worst((rule.decide(need[0], have[1]), rule.decide(have[0], need[1])))

    def view(target: Any) -> Any:
        return rule.demand(target), rule.promise(target)

    def say(need: Any, have: Any) -> tuple[str, str]:
        if rule.decide(need[0], have[1]) != "yes":
            return rule.say(need[0], have[1])
        there, here = rule.say(have[0], need[1])
        return here, there

    def advice(need: Any, have: Any) -> str:
        if rule.decide(need[0], have[1]) != "yes":
            return advised(rule, need[0], have[1])
        return advised(rule, have[0], need[1])

    def repair(built_for: Any, run_on: Any) -> tuple[str, Any] | None:
        if rule.repair is None:
            return None
        taken = ((name, getattr(built_for, name)) for name in fields)
        return lifting(run_on, taken, lambda mended: decide(view(built_for), view(mended)))

    return Rule(
        label=rule.label,
        statement=f"{rule.statement}, both ways",
        source=rule.source,
        decide=decide,
        demand=view,
        promise=view,
        say=say,
        repair=repair,
        advice=advice,
    )


def lifting(run_on: Any, changes: Iterable[tuple[str, Any]], decide: Any) -> tuple[str, Any] | None:
    """Return the first change of one field (its name, its value) that lifts a no."""
    for name, value in changes:
        try:
            mended = run_on.evolve(**{name: value})
        except ValueError:
            continue
        if decide(mended) != "no":
            return name, value
    return None
