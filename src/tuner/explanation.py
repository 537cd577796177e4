"""Why a lookup was not answered: the nearest record, and what stands between it and the question."""

from __future__ import annotations

import attrs

import targetspec
from tuner.errors import KernelError
from tuner.record import Record
from tuner.values import Values


@attrs.frozen
class Obstacle:
    """One thing in which the nearest record differs: the field, what was asked for, what the record has, and a reason."""

    field: str
    asked: str
    found: str
    reason: str = ""

    def __str__(self) -> str:
        tail = f" ({self.reason})" if self.reason else ""
        return f"{self.field}: asked for {self.asked}, the record has {self.found}{tail}"


@attrs.frozen
class Explanation:
    """Why a lookup was not answered; false where it was.

    `nearest` is the record nearest to the question, None where the kernel has none; `obstacles` are what stands in
    the way, `verdict` what the relation says of its target for a tuned configuration, `note` the rest.
    """

    question: str
    answer: Record | None = None
    nearest: Record | None = None
    obstacles: tuple[Obstacle, ...] = ()
    verdict: targetspec.Verdict | None = None
    note: str = ""

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that stood in the way."""
        return tuple(obstacle.field for obstacle in self.obstacles)

    def __bool__(self) -> bool:
        return self.answer is None

    def __str__(self) -> str:
        if self.answer is not None:
            return f"{self.question}: there is a record, of run {self.answer.run}"
        first, *rest = self.lines
        return "\n".join([f"{self.question}: {first}", *rest])

    @property
    def lines(self) -> tuple[str, ...]:
        """What stands in the way: the note, the nearest record, a line for each obstacle, and what the relation says."""
        lines = [self.note]
        if self.nearest is not None:
            lines += [
                f"nearest record: run {self.nearest.run}, number {self.nearest.number}, for {self.nearest.target}"
            ]
        lines += [f"  {obstacle}" for obstacle in self.obstacles]
        return (*lines, *([] if self.verdict is None else [_told(self.verdict)]))


def _told(verdict: targetspec.Verdict) -> str:
    advice = {
        "yes": "; tuning here starts from it",
        "unknown": "; tuning here starts from it all the same",
        "no": "",
    }[verdict.answer]
    told = [str(reason) for reason in verdict.reasons if reason.weight in {"blocks", "undecided"}]
    return "\n  ".join([f"as a start for tuning: {str(verdict).splitlines()[0]}{advice}", *told])


def obstacles_of(
    record: Record,
    *,
    problem: Values,
    target: targetspec.Target,
    toolchain: str,
    fingerprint: str | KernelError | None,
) -> tuple[Obstacle, ...]:
    """Return what keeps a record from answering.

    `fingerprint` is today's kernel's for the record's own task, or why there is none; None where nobody knows.
    """
    found = [*_targets(record.target, target), *_problems(record.problem, problem)]
    if record.toolchain != toolchain:
        found.append(
            Obstacle("toolchain", toolchain, record.toolchain, "another compiler may order costs anew")
        )
    if isinstance(fingerprint, KernelError):
        found.append(Obstacle("fingerprint", "none", record.fingerprint[:12], str(fingerprint)))
    elif fingerprint is not None and record.fingerprint != fingerprint:
        source = record.quality.get("source")
        reason = "the kernel was edited: it emits other code than then"
        if source is not None:
            reason = f"it was imported from {source}, and nobody can tell that its kernel is this one"
        found.append(Obstacle("fingerprint", fingerprint[:12], record.fingerprint[:12], reason))
    return tuple(found)


def _targets(there: targetspec.Target, asked: targetspec.Target) -> list[Obstacle]:
    if there.tuning_key == asked.tuning_key:
        return []
    verdict = there.compatible(asked, purpose="schedule")
    reasons = {reason.field.partition(".")[0]: reason.rule for reason in reversed(verdict.reasons)}
    lines = [_parts(line) for line in targetspec.diff(asked, there)]
    found = [
        Obstacle(name, _side(left), _side(right), reasons.get(name, ""))
        for name, left, right in lines
        if _tunes(name, asked, there)
    ]
    return found or [Obstacle("target", str(asked), str(there))]


def _parts(line: str) -> tuple[str, str, str]:
    name, _, sides = line.partition(": ")
    left, _, right = sides.partition(" | ")
    return name, left, right


def _side(text: str) -> str:
    # Of two sets a side says what it has beyond the other's.
    return "nothing more" if text == "-" else text


def _tunes(name: str, one: targetspec.Target, other: targetspec.Target) -> bool:
    """Tell whether a field in which two targets differ is one that can change timing, as the tuning key does."""
    if one.kind != other.kind:
        return True
    declared = type(one).specs().get(name)
    if declared is not None and not declared.tunes:
        return False
    try:
        return one.evolve(**{name: getattr(other, name)}).tuning_key != one.tuning_key
    except (targetspec.TargetspecError, AttributeError):
        return True  # it does not fit the rest of the other: they have more than this field between them


def _problems(there: Values, asked: Values) -> list[Obstacle]:
    names = sorted({*there, *asked})
    return [
        Obstacle(f"problem.{name}", _shown(asked, name), _shown(there, name), "a problem is answered exactly")
        for name in names
        if _shown(asked, name) != _shown(there, name)
    ]


def _shown(values: Values, name: str) -> str:
    return repr(values[name]) if name in values else "nothing"
