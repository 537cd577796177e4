"""Equal records of one file told apart, so that it may be read again, grown or in another order, and adds what is new."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing

import attrs

from tuner.interchange.line_by_line import Found
from tuner.record import Record

_COUNT = """INSERT INTO seen VALUES (?, 0) ON CONFLICT (identity) DO UPDATE SET times = times + 1 RETURNING times"""


def told_apart(found: Iterable[Found]) -> Iterator[Found]:
    """Number the records among what was found: each by how many equal ones came before it.

    So what a store has after several files is, of each record, as many as one of the files held. sqlite3.Error where
    there is no room for the temporary file in which they are counted.
    """
    # On disk, as a file may hold more of them than memory should.
    with closing(sqlite3.connect("", isolation_level=None)) as seen:
        seen.execute("CREATE TABLE seen (identity BLOB PRIMARY KEY, times INTEGER NOT NULL) WITHOUT ROWID")
        seen.execute("PRAGMA synchronous = OFF")
        seen.execute("PRAGMA journal_mode = OFF")
        seen.execute("BEGIN")
        for one in found:
            yield _numbered(seen, one) if isinstance(one, Record) else one


def _numbered(seen: sqlite3.Connection, record: Record) -> Record:
    (times,) = seen.execute(_COUNT, (record.identity,)).fetchone()
    return attrs.evolve(record, number=times) if times else record
