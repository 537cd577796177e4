"""Runs as things of their own: begun, ended, and taken up again where their process has gone."""

from __future__ import annotations

import os
import platform
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import attrs

from tuner import record_checks as checks
from tuner import store_rows, store_schema
from tuner.errors import RecordError
from tuner.values import Values, shown

_DIGITS = 9  # of a process's number
_SILENCE = 600.0  # seconds: longer than a trial takes

SEEN = "coalesce((SELECT max(created) FROM records WHERE records.run = runs.name), started)"
"""When a run gave its last sign of life."""

_COLUMNS = f"""SELECT runs.name, kernel, fingerprint, problem, tuning_key, toolchain, settings, owner, started, ended,
        (SELECT count(*) FROM records WHERE records.run = runs.name AND records.role = 'trial'), {SEEN}
    FROM runs JOIN tasks ON tasks.id = runs.task"""  # noqa: S608 - a fixed text


@attrs.frozen(kw_only=True)
class RunInfo:
    """What is known of a run beside its records: its task, its settings, when it began and, where it did, ended."""

    name: str
    kernel: str
    fingerprint: str
    problem: Values
    tuning_key: str
    toolchain: str
    settings: Values
    started: str
    ended: str | None
    trials: int
    alive: bool
    """Whether the process that began it still runs."""


Task = tuple[str, str, str, str, str]
"""Kernel, fingerprint, problem as canonical JSON, tuning key, toolchain."""


def begin(connection: sqlite3.Connection, name: str, task: Task, settings: Values, started: str) -> None:
    """Note that a run begins in this process."""
    number = store_rows.task_number(connection, task)
    connection.execute(
        "INSERT INTO runs (name, task, settings, owner, started) VALUES (?, ?, ?, ?, ?)",
        (name, number, settings.text, owner(), started),
    )


def take_up(connection: sqlite3.Connection, task: Task, settings: Values) -> str | None:
    """Make the newest run of a task that was left unfinished this process's own, and return its name."""
    run = unfinished(connection, task, settings)
    if run is None:
        return None
    connection.execute("UPDATE runs SET owner = ? WHERE name = ?", (owner(), run.name))
    return run.name


def leave(connection: sqlite3.Connection, name: str) -> None:
    """Give a run up, so that any process may take it up."""
    connection.execute("UPDATE runs SET owner = '' WHERE name = ? AND ended IS NULL", (name,))


def end(connection: sqlite3.Connection, name: str, ended: str) -> None:
    """Note that a run is complete."""
    connection.execute("UPDATE runs SET ended = ? WHERE name = ?", (ended, name))


def info(connection: sqlite3.Connection, name: str) -> RunInfo | None:
    """Return what is known of a run; None where it is not one of `begin`."""
    if not store_schema.has_runs(connection):
        return None
    row = connection.execute(f"{_COLUMNS} WHERE runs.name = ?", (name,)).fetchone()
    return None if row is None else _info(row)


def unfinished(connection: sqlite3.Connection, task: Task, settings: Values) -> RunInfo | None:
    """Return the run that `take_up` would take up."""
    if not store_schema.has_runs(connection):
        return None
    rows = connection.execute(
        f"""{_COLUMNS} WHERE kernel = ? AND fingerprint = ? AND problem = ? AND tuning_key = ? AND toolchain = ?
            AND settings = ? AND ended IS NULL ORDER BY runs.id DESC""",
        (*task, settings.text),
    )
    return next((run for run in map(_info, rows) if not run.alive), None)


@attrs.frozen
class _Row:
    """A run as the file holds it: texts of the forms that records have them in."""

    name: str = attrs.field(validator=checks.name)
    kernel: str = attrs.field(validator=checks.name)
    fingerprint: str = attrs.field(validator=checks.digest)
    problem: str = attrs.field(validator=checks.canonical_values)
    tuning_key: str = attrs.field(validator=checks.text)
    toolchain: str = attrs.field(validator=checks.name)
    settings: str = attrs.field(validator=checks.canonical_values)
    owner: str = attrs.field(validator=checks.text)
    started: str = attrs.field(validator=checks.canonical_moment)
    ended: str | None = attrs.field(validator=attrs.validators.optional(checks.canonical_moment))


ROWS = """SELECT name, kernel, fingerprint, problem, tuning_key, toolchain, settings, owner, started, ended
    FROM runs JOIN tasks ON tasks.id = runs.task ORDER BY runs.id"""


def fault_of(row: tuple[Any, ...]) -> str:
    """Return what is wrong with a run as the file holds it, nothing where it is well-formed."""
    try:
        _Row(*row)
    except RecordError as error:
        return str(error)
    return ""


def rows(connection: sqlite3.Connection) -> list[tuple[Any, ...]]:
    """Return all runs, as `add_rows` takes them; RecordError where one is not well-formed."""
    if not store_schema.has_runs(connection):
        return []
    found = connection.execute(ROWS).fetchall()
    for row in found:
        if fault := fault_of(row):
            raise RecordError("$", f"the run {shown(row[0])} is not well-formed: {fault}")
    return found


def add_rows(connection: sqlite3.Connection, added: list[tuple[Any, ...]]) -> None:
    """Add runs of another file; one that is here and unfinished ends where it ended there."""
    for name, kernel, fingerprint, problem, tuning_key, toolchain, *rest in added:
        number = store_rows.task_number(connection, (kernel, fingerprint, problem, tuning_key, toolchain))
        connection.execute(
            """INSERT INTO runs (name, task, settings, owner, started, ended) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT (name) DO UPDATE SET ended = coalesce(runs.ended, excluded.ended)""",
            (name, number, *rest),
        )


def _info(row: tuple[Any, ...]) -> RunInfo:
    name, kernel, fingerprint, problem, tuning_key, toolchain, settings, *rest = row
    owned, started, ended, trials, seen = rest
    return RunInfo(
        name=name, kernel=kernel, fingerprint=fingerprint, problem=store_rows.values(problem),
        tuning_key=tuning_key, toolchain=toolchain, settings=store_rows.values(settings), started=started,
        ended=ended, trials=trials, alive=ended is None and is_alive(owned, seen),
    )  # fmt: skip


def owner() -> str:
    """Name this process: machine, number, and when it began, as numbers are used again."""
    return f"{platform.node()} {os.getpid()} {_began(os.getpid())}"


def is_alive(owned: object, seen: object) -> bool:
    """Tell whether the process of this name still runs; what is no name is none of one.

    Of another machine, or another container on this one, it is taken to run until `seen`, its last sign of life, is
    ten minutes old.
    """
    if not isinstance(owned, str):
        return False
    machine, number, began = (*owned.rsplit(" ", 2), "", "")[:3]
    if not (number.isascii() and number.isdigit() and len(number) <= _DIGITS):
        return False  # of a file that somebody else wrote
    if machine != platform.node():
        return _is_recent(seen)
    return _exists(int(number)) and _began(int(number)) == began


def _is_recent(moment: object) -> bool:
    try:
        passed = datetime.now(UTC) - datetime.fromisoformat(str(moment))
    except (ValueError, TypeError):
        return False
    return abs(passed.total_seconds()) < _SILENCE


def _exists(number: int) -> bool:
    if os.name != "posix":
        return False  # a signal would end it there
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _began(number: int) -> str:
    """Return when a process began, in the system's own count; "-" where the system does not say."""
    try:
        stat = Path(f"/proc/{number}/stat").read_text("utf-8", "replace")
    except OSError:
        return "-"
    # Behind the name, which may hold anything: the state is the third field, the beginning the 22nd.
    fields = stat.rpartition(")")[2].split()
    return "-" if fields[0] in {"Z", "X"} else fields[19]
