"""The kind `composite`: several targets that one program is built for, in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import attrs

from targetspec.errors import HostConflictError
from targetspec.fields import NameSet, Refused, Shape, Spec, spec
from targetspec.host_rules import doubted
from targetspec.rules import Answer, Purpose, Rule, Weight, best, show, worst
from targetspec.target import MembersShape, Target, frozen_names


@attrs.frozen
class NoNames(NameSet):
    """The empty set: libraries belong to the members."""

    pattern: str = "(?!)"
    what: str = "library"

    def check(self, value: Any) -> frozenset[str]:
        """Accept nothing but an empty set."""
        if isinstance(value, list | tuple | set | frozenset) and value:
            raise Refused("must be empty, for libs belong to the members", "state libs of a member")
        return super().check(value)

    def schema(self) -> dict[str, Any]:
        """Return an array without items."""
        return {"type": "array", "maxItems": 0}


def _members(target: Any) -> tuple[Target, ...]:
    """Return the members; of a target that is no composite itself alone, its host being judged apart."""
    members: tuple[Target, ...] = target.members if target.is_composite else (target.without_host(),)
    return members


def _fit(purpose: Purpose) -> Any:
    """Return the decision that each member that is needed fits some member that is there."""

    def one(member: Target, have: tuple[Target, ...]) -> Answer:
        return best(member.compatible(other, purpose=purpose).answer for other in have)

    return lambda need, have: worst(one(member, have) for member in need)


def _bridges_taken(built_for: Any, run_on: Any, bridges: tuple[str, ...]) -> str:
    """Return the bridges over which each member that is needed fits some member that is there; empty where one does not."""
    taken: dict[str, None] = {}
    for member in _members(built_for):
        verdicts = (member.compatible(other, bridges=bridges) for other in _members(run_on))
        ways: list[list[str]] = [
            [reason.bridge for reason in verdict.reasons if reason.bridge] for verdict in verdicts if verdict
        ]
        if not ways:
            return ""
        shortest: list[str] = min(ways, key=len)
        taken |= dict.fromkeys(shortest)
    return ", ".join(taken)


def _doubts(need: tuple[Target, ...], have: tuple[Target, ...]) -> str:
    """Return what is doubted of each member that is needed, where every member that it fits gives a doubt."""
    ways = [[doubted(member, other) for other in have if member.compatible(other)] for member in need]
    return ", ".join(filter(None, (min(found, key=len, default="") for found in ways)))


_MEMBER_DOUBT = Rule(
    label="members",
    statement="the name of a member's CPU stands for features that some machines hide; detect the machine to know",
    source="a composite is as good as its members",
    decide=lambda need, have: "unknown" if _doubts(need, have) else "yes",
    demand=_members,
    promise=_members,
    say=lambda need, have: (_doubts(need, have), "a member of which the CPU's name is known"),
)


def _members_rule(purpose: Purpose, weight: Weight | None = None) -> Rule:
    fit = _fit(purpose)

    def unfit(need: tuple[Target, ...], have: tuple[Target, ...]) -> tuple[Target, ...]:
        return tuple(member for member in need if fit((member,), have) != "yes")

    def say(need: tuple[Target, ...], have: tuple[Target, ...]) -> tuple[str, str]:
        return _listed(unfit(need, have) or need), _listed(have)

    def repair(built_for: Any, run_on: Any) -> tuple[str, Any] | None:
        if not run_on.is_composite:
            return None
        return "members", run_on.members + unfit(_members(built_for), run_on.members)

    return Rule(
        label="members",
        statement="each target that the code is for must fit one of the targets that are there",
        source="a composite is as good as its members",
        decide=fit,
        demand=_members,
        promise=_members,
        say=say,
        repair=repair,
        advice="compare the members one by one: each verdict says which fact would decide it",
        weight=weight,
        caution=_MEMBER_DOUBT if purpose == "code" else None,
        bridge=_bridges_taken,
    )


def _listed(members: tuple[Target, ...]) -> str:
    return " ".join(f"[{member}]" for member in members)


@attrs.frozen(eq=False, repr=False, kw_only=True)
class CompositeTarget(Target):
    """Several targets that one program is built for, in order; not empty, and not nested.

    The host is the composite's own: equal hosts of members are lifted to it. Libraries belong to the members.

    Raises HostConflictError (members with different hosts, or another than the composite's), FieldError,
    FieldTypeError.
    """

    kind: ClassVar[str] = "composite"
    about: ClassVar[str] = (
        "Several targets that one program is built for, in order; not empty, and not nested."
    )
    is_composite: ClassVar[bool] = True
    required: ClassVar[tuple[str, ...]] = ("members",)

    members: tuple[Target, ...] = attrs.field(
        default=(),
        metadata=spec(
            MembersShape(),
            "the targets, in order",
            code=(_members_rule("code"),),
            link=(_members_rule("link"),),
            schedule=(_members_rule("schedule", "re-measure"),),
        ),
    )
    libs: frozenset[str] = attrs.field(
        default=frozenset(),
        converter=frozen_names,
        metadata=spec(NoNames(), "nothing: libraries belong to the members"),
    )

    def _complete(self) -> None:
        for member in self.members:
            if member.host is not None and self.host is None:
                self._store("host", member.host)
            elif member.host not in (None, self.host):
                raise HostConflictError(self.host, member.host)
        self._store("members", tuple(_hostless(member) for member in self.members))
        super()._complete()

    def need_rules(self) -> Mapping[str, tuple[Shape, Rule]]:  # type: ignore[override]
        """Return what may be stated in `needs`: what some member knows; one member must meet it."""
        known = {name: found for member in self.members for name, found in member.need_rules().items()}
        return {name: (shape, _need_of_some(name, rule)) for name, (shape, rule) in known.items()}

    def _document(self) -> dict[str, Any]:
        return {**super()._document(), "members": [member._document() for member in self.members]}  # noqa: SLF001

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document, with the versions of tables that the members' features were closed with."""
        return {**super().to_dict(), "members": [member.to_dict() for member in self.members]}

    def _tuning_value(self, name: str, one: Spec, value: Any) -> Any:
        return (
            [member.tuning_key for member in value]
            if name == "members"
            else super()._tuning_value(name, one, value)
        )


def _hostless(member: Target) -> Target:
    return member if member.host is None else member.without_host()


def _need_of_some(name: str, rule: Rule) -> Rule:
    def answers(need: Any, have: Any) -> Iterator[Answer]:
        for member in have.members:
            if name in member.need_rules():
                inner = member.need_rules()[name][1]
                yield inner.decide(need, inner.promise(member))

    return Rule(
        label=rule.label,
        statement=f"{rule.statement}, of one member",
        source=rule.source,
        decide=lambda need, have: best(answers(need, have)),
        demand=rule.demand,
        promise=lambda target: target,
        say=lambda need, have: (show(need), str(have)),
        advice=rule.advice,
    )
