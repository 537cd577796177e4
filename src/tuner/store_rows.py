"""Records as rows: how they are written, selected and read back."""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Collection, Mapping
from typing import Any

import attrs

import targetspec
from tuner.record import Outcome, Record, read_target
from tuner.values import Values, canonical, read_json, readings

_RECORD = (
    "kernel", "fingerprint", "problem", "toolchain", "run", "number", "role", "created", "config", "cost",
    "times", "clock", "quality",
)  # fmt: skip
_OUTCOME = ("kind", "stage", "cause", "stderr", "stopped_early")
_SELECT = f"""SELECT records.id, records.identity, targets.document, {", ".join(_RECORD + _OUTCOME)} FROM records
    JOIN tasks ON tasks.id = records.task JOIN targets ON targets.id = records.target"""  # noqa: S608 - the names above, nothing else

FILTERS = ("kernel", "fingerprint", "problem", "tuning_key", "toolchain", "run", "role", "kind")
"""The columns by which records can be chosen."""

_TASK = FILTERS[:5]
_SHORT = 1000  # characters; longer texts are not held in memory


@attrs.frozen
class Row:
    """A record ready to be written, made outside of the transaction."""

    target: tuple[str, str]
    task: tuple[str, ...]
    members: tuple[Any, ...]


@attrs.frozen
class TargetRow:
    """What is written of a target; making it takes longer than a commit, so it is kept between records."""

    target: targetspec.Target
    digest: str
    document: str
    tuning_key: str


def target_row(target: targetspec.Target) -> TargetRow:
    """Return what is written of a target."""
    return TargetRow(target, target.digest, canonical(target.to_dict()), target.tuning_key)


def row(record: Record, target: TargetRow) -> Row:
    """Return the row of a record and its target."""
    outcome = record.outcome
    return Row(
        (target.digest, target.document),
        (record.kernel, record.fingerprint, record.problem.text, target.tuning_key, record.toolchain),
        (
            record.identity, record.run, record.number, record.role, record.created, record.config.text,
            record.cost, outcome.kind, outcome.stage, outcome.cause, outcome.stderr, outcome.stopped_early,
            readings(record.times), record.clock, record.quality.text,
        ),
    )  # fmt: skip


def insert(connection: sqlite3.Connection, new: Row) -> int:
    """Write one row and return 1, or 0 where an equal record is there already."""
    task, target = connection.execute(_FIND_BOTH, (*new.task, *new.target)).fetchone()
    if task is None:
        task = connection.execute(_ADD_TASK, new.task).lastrowid
    if target is None:
        target = connection.execute(_ADD_TARGET, new.target).lastrowid
    return connection.execute(_ADD_RECORD, (task, target, *new.members)).rowcount


def task_number(connection: sqlite3.Connection, task: tuple[str, ...]) -> int:
    """Return the number of a task: kernel, fingerprint, problem, tuning key and toolchain."""
    found = connection.execute(_FIND_TASK, task).fetchone()
    if found is not None:
        return int(found[0])
    number = connection.execute(_ADD_TASK, task).lastrowid
    assert number is not None  # noqa: S101 - it is after an INSERT
    return number


_FIND_TASK = """SELECT id FROM tasks
    WHERE kernel = ? AND fingerprint = ? AND problem = ? AND tuning_key = ? AND toolchain = ?"""
_ADD_TASK = "INSERT INTO tasks (kernel, fingerprint, problem, tuning_key, toolchain) VALUES (?, ?, ?, ?, ?)"
_FIND_TARGET = "SELECT id FROM targets WHERE digest = ? AND document = ?"
_FIND_BOTH = f"SELECT ({_FIND_TASK}), ({_FIND_TARGET})"
_ADD_TARGET = "INSERT INTO targets (digest, document) VALUES (?, ?)"
_ADD_RECORD = """INSERT INTO records (task, target, identity, run, number, role, created, config,
        cost, kind, stage, cause, stderr, stopped_early, times, clock, quality)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (identity) DO NOTHING"""


def read(row: tuple[Any, ...]) -> Record:
    """Return the record of a selected row, or raise RecordError where it is damaged."""
    _, _, document, *columns = row
    members = dict(zip(_RECORD + _OUTCOME, columns, strict=True))
    outcome = {name: members.pop(name) for name in _OUTCOME}
    outcome["stopped_early"] = bool(outcome["stopped_early"])
    members.update({name: values(members[name]) for name in ("problem", "config", "quality")})
    members["times"] = read_json(members["times"])
    return Record(target=target_of(document), outcome=Outcome(**outcome), **members)


@functools.lru_cache(maxsize=1024)
def target_of(document: str) -> targetspec.Target:
    """Return the target of a document; equal texts give one object."""
    return read_target(read_json(document))


def values(text: str) -> Values:
    """Return the values of a canonical JSON text."""
    return _values(text) if len(text) <= _SHORT else Values(read_json(text))


@functools.lru_cache(maxsize=4096)
def _values(text: str) -> Values:
    return Values(read_json(text))


def newest(connection: sqlite3.Connection) -> int:
    """Return the number of the record written last, 0 where there is none."""
    (number,) = connection.execute("SELECT max(id) FROM records").fetchone()
    return number or 0


def some(
    connection: sqlite3.Connection, filters: Mapping[str, Any], after: int, upto: int, count: int
) -> list[tuple[Any, ...]]:
    """Return the first `count` rows chosen, in the order of writing, numbered above `after` and to `upto`."""
    where = f"WHERE records.id > ? AND records.id <= ?{_conditions(filters)} ORDER BY records.id LIMIT ?"
    return connection.execute(f"{_SELECT} {where}", (after, upto, *filters.values(), count)).fetchall()


def numbers(filters: Mapping[str, Any], before: str | None) -> tuple[str, tuple[Any, ...]]:
    """Return the query for the number and run of each record chosen, and its values."""
    where = f"TRUE{_conditions(filters)}{'' if before is None else ' AND created < ?'}"
    query = f"SELECT records.id, run FROM records JOIN tasks ON tasks.id = records.task WHERE {where}"  # noqa: S608 - as above
    return query, (*filters.values(), *([] if before is None else [before]))


def best(connection: sqlite3.Connection, filters: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Return the row of the best record chosen.

    Finals were raced against each other, so within a run they stand before its trials, whose lowest cost is
    the luckiest reading; a cost cut short is a rough one and stands last; ties go to the earliest record.
    """
    ofs = {name: value for name, value in filters.items() if name in _TASK}
    rest = {name: value for name, value in filters.items() if name not in _TASK}
    # A subquery for each task walks the index by cost up to the first that fits, rather than sort them all.
    found: tuple[Any, ...] | None = connection.execute(
        f"""{_SELECT} WHERE records.id IN (
            SELECT (SELECT id FROM records WHERE task = tasks.id AND {_GOOD} AND {_FIRST}{_conditions(rest)}
                ORDER BY {_ORDER} LIMIT 1)
            FROM tasks WHERE TRUE{_conditions(ofs)})
        ORDER BY {_ORDER} LIMIT 1""",  # noqa: S608 - names and fixed texts only
        (*rest.values(), *ofs.values()),
    ).fetchone()
    return found


_GOOD = "kind = 'ok' AND role <> 'baseline'"
_FIRST = """(role = 'final' OR NOT EXISTS (
    SELECT 1 FROM records AS final
    WHERE final.task = records.task AND final.run = records.run AND final.kind = 'ok' AND final.role = 'final'))"""
_ORDER = "stopped_early, cost, created, identity"


def tasks(connection: sqlite3.Connection, kernel: str) -> list[tuple[Any, ...]]:
    """Return a kernel's tasks that have records: number, the parts of the key but the kernel, and a target's document.

    The target is that of a good record where there is one, which the last column tells.
    """
    return connection.execute(
        f"""SELECT id, fingerprint, problem, tuning_key, toolchain, (SELECT document FROM targets WHERE id = target), good
        FROM (SELECT *, coalesce(good_target, (SELECT target FROM records WHERE task = tasks.id LIMIT 1)) AS target,
                good_target IS NOT NULL AS good
            FROM (SELECT *, (SELECT target FROM records WHERE task = tasks.id AND {_GOOD} LIMIT 1) AS good_target
                FROM tasks WHERE kernel = ?) AS tasks)
        WHERE target IS NOT NULL""",  # noqa: S608 - fixed texts only
        (kernel,),
    ).fetchall()


def best_of_task(
    connection: sqlite3.Connection,
    task: int,
    documents: Collection[str] | None = None,
    *,
    count: int = 1,
    skip: int = 0,
    hidden: bool = False,
) -> list[tuple[Any, ...]]:
    """Return the rows of a task's best records in the order of `best`, of all its targets or of these documents.

    With `hidden` it is those that `best` passes by: the trials of runs that have finals.
    """
    targets = "" if documents is None else "AND document IN (SELECT value FROM json_each(?))"
    named = [] if documents is None else [canonical(sorted(documents))]
    return connection.execute(
        f"""{_SELECT} WHERE records.task = ? AND {_GOOD} AND {"NOT" * hidden} {_FIRST} {targets}
        ORDER BY {_ORDER} LIMIT ? OFFSET ?""",
        (task, *named, count, skip),
    ).fetchall()


def documents_of_task(connection: sqlite3.Connection, task: int) -> list[str]:
    """Return the documents of the targets of a task's good records."""
    found = connection.execute(
        f"SELECT document FROM targets WHERE id IN (SELECT target FROM records WHERE task = ? AND {_GOOD}) ORDER BY id",  # noqa: S608 - as above
        (task,),
    )
    return [document for (document,) in found]


def some_of_task(connection: sqlite3.Connection, task: int) -> tuple[Any, ...] | None:
    """Return the row of one record of a task, whatever its outcome."""
    found: tuple[Any, ...] | None = connection.execute(
        f"{_SELECT} WHERE records.task = ? ORDER BY records.id LIMIT 1", (task,)
    ).fetchone()
    return found


def outcomes_of_task(connection: sqlite3.Connection, task: int) -> list[tuple[str, str | None, int]]:
    """Count the records of a task, baselines apart, by the kind of their outcome and its cause, the most frequent first."""
    return connection.execute(
        """SELECT kind, cause, count(*) AS many FROM records WHERE task = ? AND role <> 'baseline'
        GROUP BY kind, cause ORDER BY many DESC, kind, cause LIMIT 8""",
        (task,),
    ).fetchall()


def kernels(connection: sqlite3.Connection) -> tuple[str, ...]:
    """Return the names of the kernels that have records, sorted."""
    return tuple(name for (name,) in connection.execute("SELECT DISTINCT kernel FROM tasks ORDER BY kernel"))


def runs(connection: sqlite3.Connection, filters: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the runs of the records chosen, in the order of their first records here."""
    found = connection.execute(
        f"""SELECT run FROM records JOIN tasks ON tasks.id = records.task
        WHERE TRUE{_conditions(filters)} GROUP BY run ORDER BY min(records.id)""",  # noqa: S608 - as above
        tuple(filters.values()),
    )
    return tuple(run for (run,) in found)


def _conditions(filters: Mapping[str, Any]) -> str:
    # These names become part of a statement, so no other one may.
    return "".join(f" AND {FILTERS[FILTERS.index(name)]} = ?" for name in filters)
