"""The record store: every outcome of every run in one SQLite file that many processes share."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, Unpack

import targetspec
from tuner import build, record_checks, store_rows, store_runs, store_upkeep
from tuner.advice import Advisor
from tuner.asking import Asker
from tuner.choosing import Filters, check_target, columns, name_of
from tuner.deployment import Choice
from tuner.errors import DatabaseError, RecordError
from tuner.explanation import Explanation
from tuner.identity import Fingerprints
from tuner.kernel import Kernel
from tuner.nearness import Task
from tuner.record import Record, utc_now
from tuner.store_connection import Store
from tuner.store_place import absolute
from tuner.store_runs import RunInfo
from tuner.values import Values, check_text, shown

_CHUNK = 500  # records read at once: memory stays flat, and no transaction stays open between two of them


class Database:
    """The records in one file, created where there is none; a set: an equal record is kept once.

    With `create=False` a file that is not there, or is empty, is an error; with `read_only` the file stays as it
    is, of an older version too, and need not be writable. What was added survives the death of any process;
    `synchronous="FULL"` adds power loss, and costs a write to the disk each time. Usable from threads and after a
    fork; it pickles as its path. Every method raises DatabaseError where the file cannot be used.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        synchronous: Literal["NORMAL", "FULL"] = "NORMAL",
        create: bool = True,
        read_only: bool = False,
    ) -> None:
        if synchronous not in {"NORMAL", "FULL"}:
            raise ValueError(f'synchronous must be "NORMAL" or "FULL", got {synchronous!r}')
        self.path = absolute(path)
        self.synchronous = synchronous
        self._target: store_rows.TargetRow | None = None
        self._store = Store(self.path, synchronous, create=create, read_only=read_only)
        self._asker = Asker()
        self._fingerprints = Fingerprints(self._asker)
        self._advisor = Advisor(self._store, self._asker, self._fingerprints, self._record)
        self._store.read(lambda _: None)

    def add(self, record: Record) -> bool:
        """Keep a record, committed on return; False where an equal one is there already."""
        return self.add_all([record]) == 1

    def add_all(self, records: Iterable[Record]) -> int:
        """Keep records, all of them or none, and return how many were new."""
        rows = [self._row(record) for record in records]
        return self._store.write(lambda connection: sum(store_rows.insert(connection, row) for row in rows))

    def lookup(
        self,
        kernel: Kernel | str,
        problem: Mapping[str, Any],
        target: targetspec.Target,
        *,
        toolchain: str | None = None,
        fingerprint: str | None = None,
    ) -> Record | None:
        """Return the best record of exactly this kernel, problem, toolchain and tuning key, or None.

        The toolchain is today's and the fingerprint the kernel's own unless stated; a kernel given by its
        name needs its fingerprint stated. A kernel that is not one of `tuner.kernels` emits in a worker process,
        once for each target and problem; KernelError where it emits nothing at all, or not the same each time.
        """
        asked = _asked(kernel, problem, target, toolchain, fingerprint)
        return self._advisor.answer(asked, fingerprint or self.fingerprint(kernel, problem, target))

    def best(self, kernel: Kernel | str | None = None, **filters: Unpack[Filters]) -> Record | None:
        """Return the best good record among those chosen, as for `records`, or None; a baseline is none.

        Finals stand before the trials of their run, costs measured in full before those cut short.
        """
        chosen = columns(kernel, filters)
        row = self._store.read(lambda connection: store_rows.best(connection, chosen))
        return None if row is None else self._record(row)

    def records(self, kernel: Kernel | str | None = None, **filters: Unpack[Filters]) -> Iterator[Record]:
        """Iterate over the records that are there now, in the order of writing.

        The kernel's name and each of the filters leave only those equal in it: `problem`, `target` (by its tuning
        key), `toolchain`, `fingerprint`, `run`, `role`, and `kind`, that of the outcome.
        """
        return self._records(columns(kernel, filters), self._store.read(store_rows.newest))

    def seeds(
        self,
        kernel: Kernel | str,
        problem: Mapping[str, Any],
        target: targetspec.Target,
        *,
        limit: int = 64,
        toolchain: str | None = None,
    ) -> tuple[Record, ...]:
        """Return records whose configurations are worth trying first: suggestions, never answers.

        The best few of each task of the kernel's name, of targets that `compatible(..., purpose="schedule")` does
        not refuse, the nearest targets and problems first. A Kernel leaves out what its space does not hold, and
        what its `needs` forbid here; KernelError where these fail.
        """
        _check_count("limit", limit)
        return self._advisor.seeds(_asked(kernel, problem, target, toolchain), min(limit, sys.maxsize))

    def explain(
        self,
        kernel: Kernel | str,
        problem: Mapping[str, Any],
        target: targetspec.Target,
        *,
        toolchain: str | None = None,
        fingerprint: str | None = None,
    ) -> Explanation:
        """Say why `lookup` finds nothing: the nearest record, and the fields that stood in the way."""
        return self._advisor.explain(_asked(kernel, problem, target, toolchain, fingerprint), fingerprint)

    def best_for(
        self, kernel: Kernel, problem: Mapping[str, Any], run_on: targetspec.Target | None = None
    ) -> Choice:
        """Choose what to use on a machine, this one unless stated, and say on which ground and why.

        It is the exact record; else that of the nearest target whose code runs there; else the kernel's first
        configuration that the machine can hold.
        """
        if not isinstance(kernel, Kernel):
            raise TypeError(
                f"the default is the kernel's own, so a tuner.Kernel is needed, not {shown(kernel)}"
            )
        here = targetspec.detect_host() if run_on is None else run_on
        return self._advisor.best_for(kernel, _asked(kernel, problem, here, None))

    def fingerprint(self, kernel: Kernel | str, problem: Mapping[str, Any], target: targetspec.Target) -> str:
        """Return what tells this kernel from others of its name, for a problem and a target."""
        if isinstance(kernel, str):
            raise TypeError(f"a kernel given by its name, {kernel!r}, needs its fingerprint stated")
        name_of(kernel)
        return self._fingerprints.of(kernel, target, problem)

    def runs(self, kernel: Kernel | str | None = None, **filters: Unpack[Filters]) -> tuple[str, ...]:
        """Return the runs of the records chosen, as for `records`, oldest first."""
        chosen = columns(kernel, filters)
        return self._store.read(lambda connection: store_rows.runs(connection, chosen))

    def run(self, name: str) -> RunInfo | None:
        """Return what is known of a run beside its records; None where it was not begun here, but imported, say."""
        check_text("$.run", name)
        return self._store.read(lambda connection: store_runs.info(connection, name))

    def begin_run(self, name: str, task: store_runs.Task, settings: Mapping[str, Any]) -> None:
        """Note that a run begins in this process; it is unfinished until `end_run`."""
        chosen, now = Values(settings), utc_now()
        self._store.write(lambda connection: store_runs.begin(connection, name, task, chosen, now))

    def unfinished_run(self, task: store_runs.Task, settings: Mapping[str, Any]) -> RunInfo | None:
        """Return the newest unfinished run of a task and settings whose process has gone."""
        chosen = Values(settings)
        return self._store.read(lambda connection: store_runs.unfinished(connection, task, chosen))

    def take_up_run(self, task: store_runs.Task, settings: Mapping[str, Any]) -> str | None:
        """Make that run this process's own, and return its name; None where there is none."""
        chosen = Values(settings)
        if self.unfinished_run(task, settings) is None:
            return None
        return self._store.write(lambda connection: store_runs.take_up(connection, task, chosen))

    def leave_run(self, name: str) -> None:
        """Leave a run unfinished, for this or another process to take up."""
        self._store.write(lambda connection: store_runs.leave(connection, name))

    def end_run(self, name: str) -> None:
        """Note that a run is complete."""
        self._store.write(lambda connection: store_runs.end(connection, name, utc_now()))

    def merge(self, other: Database | str | os.PathLike[str]) -> int:
        """Add the records and runs of another file, and return how many records were new."""
        with contextlib.ExitStack() as stack:
            source = (
                other if isinstance(other, Database) else stack.enter_context(Database(other, read_only=True))
            )
            # Before anything is added, that a file which cannot be read adds nothing; the runs may go on meanwhile.
            source._store.read(store_runs.rows)  # noqa: SLF001 - of the same class
            added = sum(self.add_all(chunk) for chunk in _chunks(source.records()))
            runs = source._store.read(store_runs.rows)  # noqa: SLF001 - as above
            self._store.write(lambda connection: store_runs.add_rows(connection, runs))
        return added

    def prune(
        self,
        kernel: Kernel | str | None = None,
        *,
        before: str | None = None,
        keep: int = 0,
        **filters: Unpack[Filters],
    ) -> int:
        """Delete the records chosen, as for `records`, and made before a time; return how many there were.

        The `keep` best of each task stay, and so do records of runs that are going on. ValueError where nothing is
        chosen: it would delete everything.
        """
        _check_count("keep", keep)
        chosen = columns(kernel, filters)
        moment = None if before is None else record_checks.moment(before)
        if not chosen and moment is None and not keep:
            raise ValueError(
                "nothing is chosen, so every record would be deleted; choose some, or say how many to keep"
            )
        return self._store.write(lambda connection: store_upkeep.prune(connection, chosen, moment, keep))

    def vacuum(self) -> tuple[int, int]:
        """Give the room of what was deleted back to the disk; return the file's size in bytes before and after."""
        before = self._size()
        self._store.alone(store_upkeep.vacuum)
        return before, self._size()

    def check(self) -> Iterator[str]:
        """Go through the whole file and say, one by one, what is wrong with it; nothing where it is sound."""
        yield from self._store.read(store_upkeep.faults)
        yield from self._store.read(store_upkeep.faults_of_runs)
        after = 0
        while rows := self._store.read(functools.partial(store_upkeep.some, after=after, count=_CHUNK)):
            for row in rows:
                fault = store_upkeep.fault_of(row)
                if fault:
                    yield f"record {row[0]}: {fault}"
            after = rows[-1][0]

    def close(self) -> None:
        """Close the file; what was added stays."""
        self._asker.close()
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Database({self.path!r}, synchronous={self.synchronous!r})"

    def __reduce__(self) -> tuple[Callable[[str], Database], tuple[str]]:
        store = self._store
        again = functools.partial(
            Database, synchronous=self.synchronous, create=store.create, read_only=store.read_only
        )
        return again, (self.path,)

    def _size(self) -> int:
        parts = (Path(self.path + end) for end in ("", "-wal"))
        return sum(part.stat().st_size for part in parts if part.exists())

    def _row(self, record: Record) -> store_rows.Row:
        if type(record) is not Record:
            raise RecordError("$", f"must be a Record, got {shown(record)}")
        known = self._target
        # By identity: equal targets may have different documents.
        if known is None or known.target is not record.target:
            known = self._target = store_rows.target_row(record.target)
        return store_rows.row(record, known)

    def _records(self, filters: Mapping[str, Any], upto: int) -> Iterator[Record]:
        after = 0
        while rows := self._chunk(filters, after, upto):
            yield from map(self._record, rows)
            after = rows[-1][0]

    def _chunk(self, filters: Mapping[str, Any], after: int, upto: int) -> list[tuple[Any, ...]]:
        return self._store.read(
            lambda connection: store_rows.some(connection, filters, after, upto, count=_CHUNK)
        )

    def _record(self, row: tuple[Any, ...]) -> Record:
        try:
            return store_rows.read(row)
        except ValueError as error:
            raise DatabaseError(self.path, f"cannot read record {row[0]}: {error}") from error


def _chunks(records: Iterator[Record]) -> Iterator[list[Record]]:
    while chunk := list(itertools.islice(records, _CHUNK)):
        yield chunk


def _check_count(name: str, number: object) -> None:
    if type(number) is not int or number < 0:
        raise ValueError(f"{name} must be an int from 0, got {shown(number)}")


def _asked(
    kernel: Kernel | str,
    problem: Mapping[str, Any],
    target: targetspec.Target,
    toolchain: str | None,
    fingerprint: str | None = None,
) -> Task:
    name_of(kernel)
    check_target(target)
    if toolchain is not None:
        check_text("$.toolchain", toolchain)
    if fingerprint is not None:
        record_checks.check_digest("$.fingerprint", fingerprint)
    known = record_checks.problem(problem)
    return Task(kernel=kernel, problem=known, target=target, toolchain=toolchain or build.toolchain())
