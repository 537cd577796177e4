"""What is near a task: other targets' and other problems' records of a kernel, ranked by closeness."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

import attrs

import targetspec
from tuner import store_rows
from tuner.kernel import Kernel
from tuner.record import Record
from tuner.survey import ask_relation
from tuner.values import Values

Use = Literal["exact", "code", "schedule"]
"""What a record is for: to be used for its own task, as code for another target, or as a configuration to try."""

PER_TASK = 4
"""How many of a task's best records are worth trying elsewhere."""

# A factor of two in a problem's size counts 1. So does a word that differs between two targets, such as a feature,
# a tenth; another kind of answer than "yes" outweighs all of that.
_ANOTHER_KEY = 1.0
_A_WORD = 0.1
_ANOTHER_TEXT = 1.0
_ANOTHER_NAME = 8.0
_ANOTHER_TOOLCHAIN = 0.5
_UNDECIDED = 1000.0
_REFUSED = 1_000_000.0


@attrs.frozen(kw_only=True)
class Task:
    """What is asked for: one kernel, problem, target, and toolchain."""

    kernel: Kernel | str
    problem: Values
    target: targetspec.Target
    toolchain: str

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self.kernel if isinstance(self.kernel, str) else self.kernel.name


@attrs.frozen
class Near:
    """A task that has records, and how far it is from the one that is asked for."""

    number: int
    fingerprint: str
    problem: Values
    tuning_key: str
    toolchain: str
    target: targetspec.Target
    has_good: bool
    distance: float

    @property
    def is_compatible(self) -> bool:
        """Whether the relation does not refuse its configurations."""
        return self.distance < _REFUSED


def rank(rows: Iterable[tuple[Any, ...]], asked: Task) -> list[Near]:
    """Return the tasks of the same kernel, as `store_rows.tasks` gives them, the nearest first."""
    return sorted((_near(row, asked) for row in rows), key=lambda near: (near.distance, near.number))


def is_allowed(record: Record, asked: Task, needs: Mapping[str, Any], use: Use) -> bool:
    """Tell whether a record's configuration, which needs so much of a target, may be used: the relation decides.

    What is tried before it is used may be tried where the relation leaves it open.
    """
    # Of one task all targets are one for the schedule; what else differs between them is no matter of an exact answer.
    built_for = asked.target if use == "exact" else record.target
    purpose: Literal["code", "schedule"] = "code" if use == "code" else "schedule"
    verdict = ask_relation(asked.name, built_for, asked.target, needs, purpose)
    return verdict.answer != "no" if use == "schedule" else bool(verdict)


def _near(row: tuple[Any, ...], asked: Task) -> Near:
    number, fingerprint, problem, tuning_key, toolchain, document, good = row
    target, known = store_rows.target_of(document), store_rows.values(problem)
    distance = 0.0 if toolchain == asked.toolchain else _ANOTHER_TOOLCHAIN
    if tuning_key != asked.target.tuning_key:
        distance += distance_of_targets(target, asked.target)
    if known.text != asked.problem.text:
        distance += distance_of_problems(known, asked.problem)
    return Near(number, fingerprint, known, tuning_key, toolchain, target, bool(good), distance)


@functools.lru_cache(maxsize=4096)
def distance_of_targets(built_for: targetspec.Target, run_on: targetspec.Target) -> float:
    """Return how far a target is from another for a tuned configuration; from 1000 where it is not known to be of use."""
    verdict = built_for.compatible(run_on, purpose="schedule")
    words = sum(1 + line.count(",") for line in targetspec.diff(built_for, run_on))
    answer = {"yes": 0.0, "unknown": _UNDECIDED, "no": _REFUSED}[verdict.answer]
    return answer + _ANOTHER_KEY + _A_WORD * words


@functools.lru_cache(maxsize=4096)
def distance_of_problems(one: Values, other: Values) -> float:
    """Return how far two problems are from each other: a factor of two in a size counts 1."""
    return sum(_distances(one, other))


def _distances(one: Values, other: Values) -> Iterator[float]:
    for name in sorted({*one, *other}):
        if name not in one or name not in other:
            yield _ANOTHER_NAME
            continue
        yield _distance(one[name], other[name])


def _distance(one: object, other: object) -> float:
    if type(one) is type(other) and one == other:
        return 0.0
    sizes = [value for value in (one, other) if type(value) in {int, float} and value > 0]  # type: ignore[operator]
    if len(sizes) == 2:  # noqa: PLR2004 - both of them
        # Not of their quotient, which may be more or less than a float holds.
        return min(abs(math.log2(sizes[0]) - math.log2(sizes[1])), 64.0) or _A_WORD  # type: ignore[arg-type]
    return _ANOTHER_TEXT
