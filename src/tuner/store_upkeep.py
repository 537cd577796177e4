"""Keeping a record store small and sound: what is deleted, what is given back, and what is wrong with a file."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tuner import store_rows, store_runs
from tuner.store_schema import has_runs
from tuner.values import shown

_ORPHANS = (
    """DELETE FROM runs WHERE ended IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM records WHERE records.run = runs.name)""",
    """DELETE FROM tasks WHERE id NOT IN (SELECT task FROM records) AND id NOT IN (SELECT task FROM runs)""",
    "DELETE FROM targets WHERE id NOT IN (SELECT target FROM records)",
)


def prune(connection: sqlite3.Connection, filters: Mapping[str, str], before: str | None, keep: int) -> int:
    """Delete the records chosen but for the `keep` best of each task, and what nothing needs any more."""
    going_on = _going_on(connection)
    kept = _best(connection, keep) if keep else set()
    query, values = store_rows.numbers(filters, before)
    chosen = [
        number
        for number, run in connection.execute(query, values)
        if number not in kept and run not in going_on
    ]
    connection.executemany("DELETE FROM records WHERE id = ?", ((number,) for number in chosen))
    for statement in _ORPHANS:
        connection.execute(statement)
    return len(chosen)


def _going_on(connection: sqlite3.Connection) -> set[str]:
    open_runs = connection.execute(
        f"SELECT name, owner, {store_runs.SEEN} FROM runs WHERE ended IS NULL"  # noqa: S608 - a fixed text
    ).fetchall()
    return {name for name, owner, seen in open_runs if store_runs.is_alive(owner, seen)}


def _best(connection: sqlite3.Connection, count: int) -> set[int]:
    tasks = connection.execute("SELECT id FROM tasks").fetchall()
    most = min(count, sys.maxsize)  # what SQLite holds
    return {number for (task,) in tasks for number in _best_of(connection, task, most)}


def _best_of(connection: sqlite3.Connection, task: int, count: int) -> list[int]:
    """Return the numbers of a task's `count` best records: those that `best` passes by where there are no more."""
    first = [row[0] for row in store_rows.best_of_task(connection, task, count=count)]
    left = count - len(first)
    return first + [row[0] for row in store_rows.best_of_task(connection, task, count=left, hidden=True)]


def vacuum(connection: sqlite3.Connection) -> None:
    """Write the file anew without its empty pages, and empty its log."""
    connection.execute("VACUUM")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()


def faults(connection: sqlite3.Connection) -> list[str]:
    """Return what SQLite finds wrong with the file."""
    found = [line for (line,) in connection.execute("PRAGMA integrity_check(100)") if line != "ok"]
    lost = connection.execute("PRAGMA foreign_key_check").fetchmany(100)
    return found + [
        f"{table} {row} names a row of {other} that is not there" for table, row, other, _ in lost
    ]


def some(connection: sqlite3.Connection, after: int, count: int) -> list[tuple[Any, ...]]:
    """Return the first `count` rows of records numbered above `after`, bytes that are no UTF-8 as lone surrogates."""
    with _lenient(connection):
        return store_rows.some(connection, {}, after, sys.maxsize, count)


def faults_of_runs(connection: sqlite3.Connection) -> list[str]:
    """Return what is wrong with each run."""
    with _lenient(connection):
        rows = connection.execute(store_runs.ROWS).fetchall() if has_runs(connection) else []
        return [f"run {shown(row[0])}: {fault}" for row in rows if (fault := store_runs.fault_of(row))]


@contextmanager
def _lenient(connection: sqlite3.Connection) -> Iterator[None]:
    connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
    try:
        yield
    finally:
        connection.text_factory = str


def fault_of(row: tuple[Any, ...]) -> str:
    """Return what is wrong with a record; an empty text where it is sound."""
    try:
        record = store_rows.read(row)
    except ValueError as error:
        return str(error)
    return (
        ""
        if record.identity == row[1]
        else "its content is not what was written: its identity is another one"
    )
