"""What a tuning keeps while it goes on: a run that is begun, taken up where it was interrupted, and ended."""

from __future__ import annotations

import uuid
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import attrs

import targetspec
from tuner import build, record_checks
from tuner.database import Database
from tuner.errors import DatabaseError
from tuner.kernel import Kernel
from tuner.record import Record, utc_now
from tuner.space import Configuration, Space
from tuner.store_runs import Task

_SEEDS = 16
_T = TypeVar("_T")


class RunLog:
    """The run of one tuning in its store, which may be none.

    Where the store fails, that is an error; with `keep_going` a warning, and nothing is kept from then on.
    """

    def __init__(
        self, store: Database | None, task: Task, settings: Mapping[str, Any], *, keep_going: bool = False
    ) -> None:
        self.name = f"{utc_now()[:19].replace(':', '')}-{uuid.uuid4().hex[:8]}"
        self._store = store
        self._task = task
        self._settings = settings
        self._keep_going = keep_going

    def begin(self, space: Space, *, fresh: bool) -> list[Record]:
        """Take the run up that was interrupted, or begin a new one; return the trials that it has, in order."""
        taken = (
            None if fresh else self._try(lambda store: store.take_up_run(self._task, self._settings), None)
        )
        if taken is None:
            self._try(lambda store: store.begin_run(self.name, self._task, self._settings), None)
            return []
        self.name = taken
        trials = sorted(self._of_role("trial"), key=lambda record: record.number)
        return [record for record in trials if record.config in space]

    def seeds(
        self, kernel: Kernel, space: Space, problem: Mapping[str, Any], target: targetspec.Target
    ) -> list[Configuration]:
        """Return configurations of compatible targets and near problems, the nearest first.

        The space is what the target can hold of the kernel's.
        """
        # What the needs forbid has gone from the space, so that no worker has to be asked for them.
        held = attrs.evolve(kernel, space=space, needs=None)
        nothing: tuple[Record, ...] = ()
        found = self._try(lambda store: store.seeds(held, problem, target, limit=_SEEDS), nothing)
        return [dict(record.config) for record in found]

    def add(self, record: Record) -> None:
        """Keep a record."""
        self._try(lambda store: store.add(record), None)

    def add_all(self, records: list[Record]) -> None:
        """Keep records, all of them or none."""
        self._try(lambda store: store.add_all(records), None)

    def baseline(self) -> Record | None:
        """Return the baseline that the run measured before it was interrupted."""
        return next(iter(self._of_role("baseline")), None)

    def end(self) -> None:
        """Note that the run is complete."""
        self._try(lambda store: store.end_run(self.name), None)

    @contextmanager
    def left_unless_ended(self) -> Iterator[None]:
        """Leave the run for another process to take up where this one breaks off."""
        try:
            yield
        except BaseException:
            with suppress(DatabaseError):
                if self._store is not None:
                    self._store.leave_run(self.name)
            raise

    def _of_role(self, role: str) -> list[Record]:
        return self._try(lambda store: list(store.records(run=self.name, role=role)), [])

    def _try(self, work: Callable[[Database], _T], otherwise: _T) -> _T:
        if self._store is None:
            return otherwise
        try:
            return work(self._store)
        except DatabaseError as error:
            if not self._keep_going:
                raise
            self._store = None
            warnings.warn(
                f"{error}; the run goes on, and nothing more of it is kept", RuntimeWarning, stacklevel=2
            )
            return otherwise


def task_of(kernel: Kernel, fingerprint: str, problem: Mapping[str, Any], target: targetspec.Target) -> Task:
    """Return what an exact answer is found by."""
    known = record_checks.problem(problem).text
    return kernel.name, fingerprint, known, target.tuning_key, build.toolchain()


def settings_of(strategy: object, seed: int) -> dict[str, Any]:
    """Return what must be equal for a run to be taken up."""
    name = strategy if isinstance(strategy, str) else getattr(strategy, "__qualname__", repr(strategy))
    return {"strategy": str(name), "seed": seed}
