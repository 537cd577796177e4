"""What a store holds of each task: how its trials ended, what failed most, and what is best."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import attrs

import targetspec
from tuner.choosing import Filters
from tuner.database import Database
from tuner.errors import KernelError, ProblemError
from tuner.kernel import Kernel, Work
from tuner.kernels import KERNELS
from tuner.record import Outcome, Record
from tuner.values import Values

_FAILURES = 100  # different ones that are told apart; more are counted together


@attrs.define
class Overview:
    """The records of one task: their runs, the outcomes of their trials, the failures by how often, and the best."""

    kernel: str
    fingerprint: str
    problem: Values
    target: targetspec.Target
    toolchain: str
    runs: dict[str, None] = attrs.field(factory=dict)
    outcomes: Counter[str] = attrs.field(factory=Counter)
    failures: Counter[str] = attrs.field(factory=Counter)
    baselines: dict[str, float] = attrs.field(factory=dict)
    first: str = ""
    last: str = ""
    best: Record | None = None

    @property
    def speedup(self) -> float | None:
        """The baseline's cost over the best's, of the best's own run; None where there is none."""
        if self.best is None or not self.best.cost:
            return None
        baseline = self.baselines.get(self.best.run)
        return None if baseline is None else baseline / self.best.cost

    @property
    def work(self) -> Work | None:
        """The work of one call, where the kernel is a bundled one."""
        kernel = KERNELS.get(self.kernel)
        try:
            return None if kernel is None else kernel.work_of(dict(self.problem))
        except (KernelError, ProblemError):
            return None  # one of the same name, whose problems are others

    def take(self, record: Record) -> None:
        """Count a record of this task."""
        self.runs.setdefault(record.run)
        self.first = min(self.first or record.created, record.created)
        self.last = max(self.last, record.created)
        if record.role == "trial":
            self.outcomes[record.outcome.kind] += 1
        if record.role == "baseline" and record.cost is not None:
            self.baselines[record.run] = record.cost
        if record.outcome.kind != "ok":
            known = failure(record.outcome)
            self.failures[known if known in self.failures or len(self.failures) < _FAILURES else "other"] += 1

    def to_dict(self) -> dict[str, Any]:
        """Return its JSON form."""
        return {
            "kernel": self.kernel, "fingerprint": self.fingerprint, "problem": dict(self.problem),
            "target": self.target.to_dict(), "toolchain": self.toolchain, "runs": list(self.runs),
            "first": self.first, "last": self.last, "outcomes": dict(self.outcomes.most_common()),
            "failures": [{"failure": told, "count": count} for told, count in self.failures.most_common()],
            "best": None if self.best is None else self.best.to_dict(), "speedup": self.speedup,
        }  # fmt: skip


def failure(outcome: Outcome) -> str:
    """Write a failure on one line: `signal in check: SIGSEGV`."""
    return " ".join(f"{outcome.kind} in {outcome.stage}: {outcome.cause}".split())


def overviews(database: Database, kernel: Kernel | str | None = None, **filters: Any) -> Iterator[Overview]:
    """Sum up the records chosen, as for `Database.records`, task by task in the order of their first records."""
    found: dict[tuple[Any, ...], Overview] = {}
    for record in database.records(kernel, **filters):
        key = (record.kernel, record.fingerprint, record.problem, record.target.tuning_key, record.toolchain)
        if key not in found:
            found[key] = Overview(
                record.kernel, record.fingerprint, record.problem, record.target, record.toolchain
            )
        found[key].take(record)
    for one in found.values():
        of_task: Filters = {
            "fingerprint": one.fingerprint, "problem": one.problem, "target": one.target,
            "toolchain": one.toolchain,
        }  # fmt: skip
        one.best = database.best(one.kernel, **{**filters, **of_task})
        yield one
