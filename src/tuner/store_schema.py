"""The tables of a record store, its version, and whether a file is one."""

from __future__ import annotations

import sqlite3

from tuner.errors import DatabaseError

APPLICATION_ID = int.from_bytes(b"tune")
"""What SQLite keeps in a file's header for programs such as file(1), and what tells our files from others."""

# A task is what an exact lookup asks for: of its records one is the answer. `problem`, `config` and `quality`
# hold canonical JSON, so that equal texts are equal values. A target's document is kept whole, beside its
# digest: equal targets may differ in the version of the tables they were read with.
_VERSION_1 = (
    """CREATE TABLE targets (
        id INTEGER PRIMARY KEY,
        digest TEXT NOT NULL,
        document TEXT NOT NULL,
        UNIQUE (digest, document))""",
    """CREATE TABLE tasks (
        id INTEGER PRIMARY KEY,
        kernel TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        problem TEXT NOT NULL,
        tuning_key TEXT NOT NULL,
        toolchain TEXT NOT NULL,
        UNIQUE (kernel, fingerprint, problem, tuning_key, toolchain))""",
    """CREATE TABLE records (
        id INTEGER PRIMARY KEY,
        identity BLOB NOT NULL UNIQUE,
        task INTEGER NOT NULL REFERENCES tasks,
        target INTEGER NOT NULL REFERENCES targets,
        run TEXT NOT NULL,
        number INTEGER NOT NULL,
        role TEXT NOT NULL,
        created TEXT NOT NULL,
        config TEXT NOT NULL,
        cost REAL,
        kind TEXT NOT NULL,
        stage TEXT,
        cause TEXT,
        stderr TEXT NOT NULL,
        stopped_early INTEGER NOT NULL,
        times TEXT NOT NULL,
        clock TEXT NOT NULL,
        quality TEXT NOT NULL)""",
    "CREATE INDEX records_by_run ON records (run, number)",
    """CREATE INDEX records_by_cost ON records (task, stopped_early, cost, created, identity)
        WHERE kind = 'ok' AND role <> 'baseline'""",
    "CREATE INDEX finals ON records (task, run) WHERE kind = 'ok' AND role = 'final'",
)

# A run is open until it ends: what is open and has lost its process is taken up again. `owner` says which process.
_VERSION_2 = (
    """CREATE TABLE runs (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        task INTEGER NOT NULL REFERENCES tasks,
        settings TEXT NOT NULL,
        owner TEXT NOT NULL,
        started TEXT NOT NULL,
        ended TEXT)""",
    "CREATE INDEX runs_by_task ON runs (task, ended)",
)

# The statements that lead from each version to the next; a new file takes all the steps.
_STEPS = (_VERSION_1, _VERSION_2)
VERSION = len(_STEPS)

# What each version added, by type and name.
_THINGS = (
    {
        ("table", "targets"),
        ("table", "tasks"),
        ("table", "records"),
        ("index", "records_by_run"),
        ("index", "records_by_cost"),
        ("index", "finals"),
    },
    {("table", "runs"), ("index", "runs_by_task")},
)


def prepare(connection: sqlite3.Connection, path: str, synchronous: str, *, create: bool) -> None:
    """Make a fresh connection ready for use, upgrading the tables where need be, or creating them where allowed.

    DatabaseError where the file is another program's, newer than this code, or damaged; it is then unchanged.
    """
    # A database file may come from anywhere, and SQLite advises these two for such.
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    version = _read_version(connection, path)
    if not version and not create:
        raise DatabaseError(path, "holds no records yet; `tuner tune` makes some, and so does Database(path)")
    _share(connection, path)
    connection.execute(f"PRAGMA synchronous = {synchronous}")
    connection.execute("PRAGMA foreign_keys = ON")
    if version < VERSION:
        _upgrade(connection, path)
        _check_tables(connection, path, VERSION)


def inspect(connection: sqlite3.Connection, path: str) -> None:
    """Make a fresh connection ready for reading alone: the file stays as it is, of whatever version.

    DatabaseError as for `prepare`.
    """
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    connection.execute("PRAGMA query_only = ON")
    version = _read_version(connection, path)
    if not version:
        raise DatabaseError(path, "holds no records yet, and is opened for reading alone")


def check_current(connection: sqlite3.Connection, path: str) -> None:
    """Check that no newer version has taken the file over since it was opened; DatabaseError where one has."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    _check_version(version, path)


def has_runs(connection: sqlite3.Connection) -> bool:
    """Tell whether the file has runs as things of their own; one of version 1, read as it is, has none."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return bool(version > 1)


def _read_version(connection: sqlite3.Connection, path: str) -> int:
    # One transaction, as another process may be creating the tables right now, or adding to them.
    with connection:
        connection.execute("BEGIN")
        version = _version_of(connection, path)
        if version:
            _check_tables(connection, path, version)  # before anything is changed in it
        return version


def _version_of(connection: sqlite3.Connection, path: str) -> int:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application == APPLICATION_ID:
        _check_version(version, path)
        return int(version)
    (things,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if application or version or things:
        raise DatabaseError(path, "is a database of another program; give the path of a new file")
    return 0


def _check_version(version: int, path: str) -> None:
    if version > VERSION:
        message = f"has schema {version}, newer than {VERSION}, the newest known here; upgrade the tuner"
        raise DatabaseError(path, message)
    if version < 1:
        raise DatabaseError(path, f"is damaged: it has schema {version}; restore it from a copy")


def _share(connection: sqlite3.Connection, path: str) -> None:
    (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
    if mode != "wal":
        message = (
            "lies where processes cannot share it (no write-ahead log there); give a path on a local disk"
        )
        raise DatabaseError(path, message)


def _upgrade(connection: sqlite3.Connection, path: str) -> None:
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        # Again, now that nobody else can write: another process may have done it meanwhile.
        for step in _STEPS[_version_of(connection, path) :]:
            for statement in step:
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {VERSION}")


def _check_tables(connection: sqlite3.Connection, path: str, version: int) -> None:
    # SQLite keeps things of its own under such names: those behind UNIQUE, and what ANALYZE finds.
    found = connection.execute(
        "SELECT type, name FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    )
    ours = set().union(*_THINGS[:version])
    if extra := ours.symmetric_difference(found.fetchall()):
        kind, name = min(extra)
        verb = "misses" if (kind, name) in ours else "also has"
        raise DatabaseError(path, f"is damaged: it {verb} the {kind} {name!r}; restore it from a copy")
