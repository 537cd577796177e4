"""Records as rows: how they are written, selected and read back."""

from __future__ import annotations

import functools
import json
import sqlite3
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

import targetspec
from tuner.record import Outcome, Record, read_target
from tuner.values import canonical

_RECORD = (
    "kernel", "fingerprint", "problem", "toolchain", "run", "number", "role", "created", "config", "cost",
    "times", "clock", "quality",
)  # fmt: skip
_OUTCOME = ("kind", "stage", "cause", "stderr", "stopped_early")
_JSON = ("problem", "config", "times", "quality")
_SELECT = f"""SELECT records.id, targets.document, {", ".join(_RECORD + _OUTCOME)} FROM records
    JOIN tasks ON tasks.id = records.task JOIN targets ON targets.id = records.target"""  # noqa: S608 - the names above, nothing else

FILTERS = ("kernel", "fingerprint", "problem", "tuning_key", "toolchain", "run", "role", "kind")
"""The columns by which records can be chosen."""

_TASK = FILTERS[:5]


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
            canonical(record.times), record.clock, record.quality.text,
        ),
    )  # fmt: skip


def insert(connection: sqlite3.Connection, new: Row) -> int:
    """Write one row and return 1, or 0 where an equal record is there already."""
    task = _number_of(connection, _FIND_TASK, _ADD_TASK, new.task)
    target = _number_of(connection, _FIND_TARGET, _ADD_TARGET, new.target)
    return connection.execute(_ADD_RECORD, (task, target, *new.members)).rowcount


def _number_of(connection: sqlite3.Connection, find: str, add: str, key: tuple[str, ...]) -> int:
    found = connection.execute(find, key).fetchone()
    if found is not None:
        return int(found[0])
    number = connection.execute(add, key).lastrowid
    assert number is not None  # noqa: S101 - it is after an INSERT
    return number


_FIND_TASK = """SELECT id FROM tasks
    WHERE kernel = ? AND fingerprint = ? AND problem = ? AND tuning_key = ? AND toolchain = ?"""
_ADD_TASK = "INSERT INTO tasks (kernel, fingerprint, problem, tuning_key, toolchain) VALUES (?, ?, ?, ?, ?)"
_FIND_TARGET = "SELECT id FROM targets WHERE digest = ? AND document = ?"
_ADD_TARGET = "INSERT INTO targets (digest, document) VALUES (?, ?)"
_ADD_RECORD = """INSERT INTO records (task, target, identity, run, number, role, created, config,
        cost, kind, stage, cause, stderr, stopped_early, times, clock, quality)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (identity) DO NOTHING"""


def read(row: tuple[Any, ...]) -> Record:
    """Return the record of a selected row, or raise RecordError where it is damaged."""
    _, document, *columns = row
    members = dict(zip(_RECORD + _OUTCOME, columns, strict=True))
    outcome = {name: members.pop(name) for name in _OUTCOME}
    outcome["stopped_early"] = bool(outcome["stopped_early"])
    members.update({name: json.loads(members[name]) for name in _JSON})
    return Record(target=_target(document), outcome=Outcome(**outcome), **members)


@functools.lru_cache(maxsize=256)
def _target(document: str) -> targetspec.Target:
    return read_target(json.loads(document))


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


def runs(connection: sqlite3.Connection, filters: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the runs of the records chosen, in the order of their first records here."""
    found = connection.execute(
        f"""SELECT run FROM records JOIN tasks ON tasks.id = records.task
        WHERE TRUE{_conditions(filters)} GROUP BY run ORDER BY min(records.id)""",  # noqa: S608 - as above
        tuple(filters.values()),
    )
    return tuple(run for (run,) in found)


def _conditions(filters: Mapping[str, Any]) -> str:
    return "".join(f" AND {name} = ?" for name in _known(filters))


def _known(filters: Mapping[str, Any]) -> Iterator[str]:
    for name in filters:
        if name not in FILTERS:
            raise TypeError(f"records have no {name!r} to be chosen by; they have {', '.join(FILTERS)}")
        yield name
