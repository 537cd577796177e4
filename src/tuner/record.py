"""What came of one trial: the outcome, and the record that keeps it with all that it depends on."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import attrs

import targetspec
from tuner import record_checks as checks
from tuner.declarations import (
    COUNT,
    DIGEST,
    FLAG,
    INSTANT,
    MAYBE_TEXT,
    NAME,
    READINGS,
    SECONDS,
    TEXT,
    VALUES,
    declared,
    one_of,
)
from tuner.errors import RecordError
from tuner.values import (
    Values,
    canonical,
    check_integer,
    check_keys,
    quoted,
    read_json,
    readings,
    shown,
    written,
)

VERSION = 1
KINDS = ("ok", "error", "signal", "exit", "timeout", "memory", "wrong")
STAGES = ("emit", "compile", "load", "check", "run")
CLOCKS = ("thread-cpu", "wall")
ROLES = ("trial", "baseline", "final")


@attrs.frozen
class Outcome:
    """How a trial ended: `kind`, the `stage` it ended in, and the `cause` as a text; failing is a value.

    `stderr` is what the process wrote there; `stopped_early` says that the measuring of a slow candidate was
    cut short, so that its cost is a rough one. A good outcome has neither stage nor cause.

    >>> Outcome("signal", "run", "SIGSEGV").kind
    'signal'
    """

    kind: str = attrs.field(
        validator=checks.one_of(*KINDS), metadata=declared("how the trial ended", one_of(KINDS))
    )
    stage: str | None = attrs.field(
        default=None,
        validator=attrs.validators.optional(checks.one_of(*STAGES)),
        metadata=declared("the stage it ended in, null where it is good", one_of(STAGES, None)),
    )
    cause: str | None = attrs.field(
        default=None,
        validator=attrs.validators.optional(checks.text),
        metadata=declared("what ended it, such as SIGSEGV", MAYBE_TEXT),
    )
    stderr: str = attrs.field(
        default="", validator=checks.text, metadata=declared("what the process wrote to standard error", TEXT)
    )
    stopped_early: bool = attrs.field(
        default=False,
        validator=checks.flag,
        metadata=declared(
            "whether measuring a slow candidate was cut short, so that its cost is rough", FLAG
        ),
    )

    def __attrs_post_init__(self) -> None:
        ok = self.kind == "ok"
        if ok and self.stage is not None:
            raise RecordError("$.stage", f'must be null where the kind is "ok", got {shown(self.stage)}')
        if ok and self.cause is not None:
            raise RecordError("$.cause", f'must be null where the kind is "ok", got {shown(self.cause)}')
        if not ok and self.stage is None:
            raise RecordError("$.stage", f'must say where it failed, as the kind is "{self.kind}"')
        if not ok and self.stopped_early:
            raise RecordError("$.stopped_early", f'must be false, as the kind is "{self.kind}"')

    def to_dict(self) -> dict[str, Any]:
        """Return the plain data of its JSON form."""
        return {name: getattr(self, name) for name in _OUTCOME_FIELDS}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Outcome:
        """Return the outcome that plain data describe, or raise RecordError."""
        check_keys(document, _OUTCOME_FIELDS, required=("kind",))
        return cls(**document)


def _target(_: object, attribute: attrs.Attribute[Any], value: object) -> None:
    if not isinstance(value, targetspec.Target):
        raise RecordError(f"$.{attribute.name}", f"must be a targetspec.Target, got {shown(value)}")


def _outcome(_: object, attribute: attrs.Attribute[Any], value: object) -> None:
    if type(value) is not Outcome:
        raise RecordError(f"$.{attribute.name}", f"must be an Outcome, got {shown(value)}")


@attrs.frozen(kw_only=True, repr=False)
class Record:
    """One measurement of one configuration, with all that its cost depends on.

    `cost` is in seconds, None unless the outcome is "ok"; `times` are the raw readings of `clock` in seconds.
    `fingerprint` tells this kernel from others of its name. `number` counts the trials of the `run`;
    `role` is "trial", or for what is measured beside the trials "baseline" or "final" (the finalists,
    raced against each other). `quality` is what was seen of the machine's state, `created` a time in UTC.
    """

    kernel: str = attrs.field(validator=checks.name, metadata=declared("the kernel's name", NAME))
    fingerprint: str = attrs.field(
        validator=checks.digest,
        metadata=declared("SHA-256 that tells this kernel from others of its name", DIGEST),
    )
    target: targetspec.Target = attrs.field(
        validator=_target, metadata=declared("what it was compiled for", {})
    )
    problem: Values = attrs.field(
        converter=checks.problem, metadata=declared("what was solved, by name", VALUES)
    )
    config: Values = attrs.field(
        converter=checks.config, metadata=declared("the configuration, by parameter", VALUES)
    )
    cost: float | None = attrs.field(
        validator=attrs.validators.optional(checks.seconds),
        metadata=declared("seconds of one call, null unless the outcome is good", SECONDS),
    )
    outcome: Outcome = attrs.field(validator=_outcome, metadata=declared("how the trial ended", {}))
    toolchain: str = attrs.field(
        validator=checks.name, metadata=declared("what compiled it, with versions", NAME)
    )
    times: tuple[float, ...] = attrs.field(
        default=(),
        converter=checks.times,
        validator=checks.raw_times,
        metadata=declared("the raw readings of the clock (s)", READINGS),
    )
    clock: str = attrs.field(
        validator=checks.one_of(*CLOCKS), metadata=declared("which clock was read", one_of(CLOCKS))
    )
    quality: Values = attrs.field(
        default=Values({}),
        converter=checks.quality,
        metadata=declared("the machine's state at the time", VALUES),
    )
    run: str = attrs.field(validator=checks.name, metadata=declared("the run that it is part of", NAME))
    number: int = attrs.field(
        validator=checks.count, metadata=declared("the number of the trial in its run, from 0", COUNT)
    )
    created: str = attrs.field(
        converter=checks.created, metadata=declared("when it was measured, in UTC", INSTANT)
    )
    role: str = attrs.field(
        default="trial",
        validator=checks.one_of(*ROLES),
        metadata=declared("a trial, or what is measured beside trials", one_of(ROLES)),
    )

    def __attrs_post_init__(self) -> None:
        ok = self.outcome.kind == "ok"
        if ok and self.cost is None:
            raise RecordError("$.cost", 'must be a float of seconds where the outcome is "ok", got null')
        if not ok and self.cost is not None:
            raise RecordError("$.cost", f'must be null where the outcome is "{self.outcome.kind}"')

    def __repr__(self) -> str:
        ended = (
            f"{self.cost:.6g} s" if self.cost is not None else f"{self.outcome.kind} in {self.outcome.stage}"
        )
        return f"<Record {self.kernel} {dict(self.config)}: {ended}, {self.role} {self.number} of run {self.run}>"

    def to_dict(self) -> dict[str, Any]:
        """Return the plain data of its JSON form, with the version of the form."""
        return self._plain(self.target.to_dict())

    @property
    def identity(self) -> bytes:
        """SHA-256 over its canonical JSON with its target's digest for the target: equal iff the records are."""
        return hashlib.sha256(self._text(quoted(self.target.digest)).encode()).digest()

    def _plain(self, target: Any) -> dict[str, Any]:
        members = {name: getattr(self, name) for name in _RECORD_FIELDS}
        values = {name: dict(members[name]) for name in ("problem", "config", "quality")}
        rest = {"outcome": self.outcome.to_dict(), "times": list(self.times), "version": VERSION}
        return members | values | rest | {"target": target}

    def _text(self, target: str) -> str:
        """Return the canonical JSON, given the target's; put together, as the values have their texts already."""
        outcome = self.outcome
        return (
            f'{{"clock":{quoted(self.clock)},"config":{self.config.text},"cost":{written(self.cost)},'
            f'"created":{quoted(self.created)},"fingerprint":{quoted(self.fingerprint)},'
            f'"kernel":{quoted(self.kernel)},"number":{self.number},'
            f'"outcome":{{"cause":{written(outcome.cause)},"kind":{quoted(outcome.kind)},'
            f'"stage":{written(outcome.stage)},"stderr":{quoted(outcome.stderr)},'
            f'"stopped_early":{written(outcome.stopped_early)}}},"problem":{self.problem.text},'
            f'"quality":{self.quality.text},"role":{quoted(self.role)},"run":{quoted(self.run)},'
            f'"target":{target},"times":{readings(self.times)},"toolchain":{quoted(self.toolchain)},'
            f'"version":{VERSION}}}'
        )

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Record:
        """Return the record that plain data describe, or raise RecordError."""
        members = _without_version(document)
        check_keys(members, _RECORD_FIELDS, required=_REQUIRED)
        target = read_target(members.pop("target"))
        try:
            outcome = Outcome.from_dict(members.pop("outcome"))
        except RecordError as error:
            raise error.under("outcome") from None
        members["cost"] = _seconds(members["cost"])
        if isinstance(members.get("times"), list):
            members["times"] = [_seconds(time) for time in members["times"]]
        return cls(target=target, outcome=outcome, **members)

    def dumps(self) -> str:
        """Return its canonical JSON: one line without the line's end."""
        return self._text(canonical(self.target.to_dict()))

    @classmethod
    def loads(cls, text: str) -> Record:
        """Return the record that one line of JSON describes, or raise RecordError."""
        return cls.from_dict(read_json(text))


_OUTCOME_FIELDS = tuple(field.name for field in attrs.fields(Outcome))
_RECORD_FIELDS = tuple(field.name for field in attrs.fields(Record))
_REQUIRED = tuple(field.name for field in attrs.fields(Record) if field.default is attrs.NOTHING)


def _seconds(value: object) -> object:
    """Return a whole number as the float that it is: JSON has one kind of number, and many writers leave the .0 out."""
    return float(value) if type(value) is int and abs(value) <= _EXACT else value


_EXACT = 2**53  # each integer up to it is a float


def utc_now() -> str:
    """Return this moment in the form of a record's `created`."""
    return checks.instant(datetime.now(UTC))


def read_target(document: object) -> targetspec.Target:
    """Return the target that a record's JSON describes, or raise RecordError with the path `$.target`."""
    if document == "native":
        hint = "it names another machine wherever it is read; store what detect_host() returns"
        raise RecordError("$.target", f'must not be "native": {hint}')
    if not isinstance(document, Mapping):
        raise RecordError("$.target", f"must be a JSON object, got {shown(document)}")
    try:
        return targetspec.from_dict(document)
    except targetspec.TargetspecError as error:
        raise RecordError("$.target", str(error)) from error


def _without_version(document: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(document, Mapping):
        raise RecordError("$", f"must be a JSON object, got {shown(document)}")
    members = dict(document)
    if "version" not in members:
        raise RecordError("$", 'must have the key "version"')
    version = members.pop("version")
    check_integer("$.version", version)
    if version > VERSION:
        newer = f"record version {version} is newer than {VERSION}, the newest known here; upgrade the tuner"
        raise RecordError("$.version", newer)
    if version != VERSION:
        raise RecordError("$.version", f"must be {VERSION}, got {version}")
    return members
