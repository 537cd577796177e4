"""A connection to a record store that threads share, that outlives forks, and that waits for others' locks."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
import time
import weakref
from collections.abc import Callable
from typing import TypeVar
from urllib.parse import quote

from tuner.errors import DatabaseError, RecordError
from tuner.store_schema import check_current, inspect, prepare

PATIENCE = 60.0
"""Seconds for which a locked file is waited for."""

_ATTEMPT = 1.0  # seconds of one attempt within these; a fork waits for at most one
_PAUSE = 0.005  # seconds between attempts, as some locks are reported at once
_MAGIC = b"SQLite format 3\0"

_T = TypeVar("_T")


class Store:
    """The connection to one file. Everything happens within `read` or `write`, in any thread or process."""

    def __init__(self, path: str, synchronous: str, *, create: bool = True, read_only: bool = False) -> None:
        self.path = path
        self.synchronous = synchronous
        self.create = create
        self.read_only = read_only
        self._closed = False
        self._connection: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None
        # Reentrant, so that a signal's handler that uses the store meets an error rather than a deadlock.
        self._lock = threading.RLock()
        with _FORKING:
            _STORES.add(self)

    def read(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        """Return what `work` gives for the connection; it may be called again after a lock.

        DatabaseError where the file cannot be used.
        """

        def reading(connection: sqlite3.Connection) -> _T:
            check_current(connection, self.path)
            return work(connection)

        return self._attempt(reading)

    def write(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        """Do the same in one transaction: all of it is in the file afterwards, or nothing."""
        self._check_writable()

        def transaction(connection: sqlite3.Connection) -> _T:
            try:
                connection.execute("BEGIN IMMEDIATE")
                check_current(connection, self.path)
                result = work(connection)
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            return result

        return self._attempt(transaction)

    def alone(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        """Do what changes the file but goes into no transaction."""
        self._check_writable()
        return self.read(work)

    def _check_writable(self) -> None:
        if self.read_only:
            raise DatabaseError(self.path, "is opened with read_only=True; open it without that to change it")

    def _attempt(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                with self._lock:
                    return work(self._connected())
            except sqlite3.Error as error:
                if not _is_locked(error) or time.monotonic() > deadline:
                    raise DatabaseError(self.path, _explain(error)) from error
            except UnicodeDecodeError as error:
                # Of SQLite's own message, which repeats what stands in a damaged file.
                raise DatabaseError(self.path, _DAMAGED) from error
            except RecordError as error:
                told = f"holds what cannot be read: {error}; `tuner check` says what is wrong with it"
                raise DatabaseError(self.path, told) from error
            time.sleep(_PAUSE)

    def close(self) -> None:
        """Close the file; using the store afterwards is an error."""
        with self._lock:
            self._closed = True
            self.disconnect()

    def disconnect(self) -> None:
        """Close the connection until the next use."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _connected(self) -> sqlite3.Connection:
        if self._closed:
            raise DatabaseError(self.path, "is closed; open it again with Database(path)")
        if self._connection is None:
            self._connection = self._connect()
            self._file = _file_at(self.path)
        # Without this, what is written to a deleted file would be lost without a word.
        elif _file_at(self.path) != self._file:
            raise DatabaseError(self.path, "was deleted or replaced while it was open; open it again")
        return self._connection

    def _connect(self) -> sqlite3.Connection:
        if not (self.create and not self.read_only) and not os.path.lexists(self.path):
            raise DatabaseError(self.path, "is not there; `tuner tune` makes it, and so does Database(path)")
        _check_place(self.path, read_only=self.read_only)
        connection = sqlite3.connect(
            _address(self.path) if self.read_only else self.path,
            timeout=_ATTEMPT,
            isolation_level=None,
            check_same_thread=False,
            uri=self.read_only,
        )
        try:
            if self.read_only:
                inspect(connection, self.path)
            else:
                prepare(connection, self.path, self.synchronous, create=self.create)
        except BaseException:
            connection.close()
            raise
        return connection


def _address(path: str) -> str:
    """Return what SQLite opens a file for reading by."""
    folder = os.path.dirname(path)  # noqa: PTH120 - called for each store
    if os.access(path, os.W_OK) and os.access(folder, os.W_OK):
        mode = "mode=rw"  # `inspect` forbids writing; so the last to close takes the log and its index away
    elif os.path.exists(path + "-wal"):  # noqa: PTH110
        mode = "mode=ro"
    else:
        mode = "immutable=1"  # there is no log, and SQLite could make no index
    # Two slashes before the path: what stands there would be the name of a machine.
    return f"file://{quote(os.fsencode(path))}?{mode}"


def _file_at(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)  # noqa: PTH116 - called for each record
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _check_place(path: str, *, read_only: bool) -> None:
    """Check what SQLite would not report, or not clearly."""
    folder = os.path.dirname(path)  # noqa: PTH120 - as above
    if not os.path.isdir(folder):  # noqa: PTH112
        raise DatabaseError(path, f"cannot be made: there is no folder {folder}; make it first")
    try:
        status = os.stat(path)  # noqa: PTH116
    except FileNotFoundError:
        status = None
    except (OSError, ValueError) as error:
        raise DatabaseError(path, f"cannot be opened: {error}") from error
    if status is not None:
        _check_file(path, status, read_only=read_only)
    if not read_only and not os.access(folder, os.W_OK | os.X_OK):
        raise DatabaseError(
            path, f"cannot be written: the folder {folder} is not writable; give another path"
        )


def _check_file(path: str, status: os.stat_result, *, read_only: bool) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise DatabaseError(path, "is a folder; give the path of a file in it")
    if not stat.S_ISREG(status.st_mode):
        raise DatabaseError(path, "is no regular file; give another path")
    if not os.access(path, os.R_OK):
        raise DatabaseError(path, "is not readable; change its permissions, or give another path")
    if not read_only and not os.access(path, os.W_OK):
        raise DatabaseError(path, "is not writable; change its permissions, or give another path")
    with open(path, "rb") as file:  # noqa: PTH123
        start = file.read(len(_MAGIC))
    log = os.path.exists(path + "-wal") and os.path.getsize(path + "-wal")  # noqa: PTH110, PTH202
    if start != _MAGIC[: len(start)]:
        raise DatabaseError(path, "is no database but some other file; give another path")
    if log and not start:
        raise DatabaseError(path, _DAMAGED)


# --- SQLite's errors ---------------------------------------------------------------------------------------

_DAMAGED = (
    "is damaged or truncated; restore it from a copy, or move it away with its -wal and -shm files and "
    "see what `sqlite3 FILE .recover` saves"
)
_NOT_WRITABLE = "cannot be written; change the permissions of the file and its folder, or give another path"
_LOCKED = "is locked by another program; end it, or give another path"
_MESSAGES = {
    sqlite3.SQLITE_BUSY: _LOCKED,
    sqlite3.SQLITE_LOCKED: _LOCKED,
    sqlite3.SQLITE_PROTOCOL: _LOCKED,
    sqlite3.SQLITE_PERM: _NOT_WRITABLE,
    sqlite3.SQLITE_READONLY: _NOT_WRITABLE,
    sqlite3.SQLITE_CANTOPEN: "cannot be opened; check that its folder is there and writable",
    sqlite3.SQLITE_FULL: "has no room left on its disk, and what was reported last is not kept; free some space",
    sqlite3.SQLITE_IOERR: "cannot be read or written; check the disk, its free space and your quota",
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_FORMAT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: _DAMAGED,
}
_WAITED_FOR = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)


def _code(error: sqlite3.Error) -> int:
    # The lowest byte is the primary code; errors of Python's own module have none.
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _is_locked(error: sqlite3.Error) -> bool:
    return _code(error) in _WAITED_FOR


def _explain(error: sqlite3.Error) -> str:
    known = _MESSAGES.get(_code(error))
    return f"{known} ({error})" if known else f"cannot be used: {error}"


# --- forks -------------------------------------------------------------------------------------------------
# A connection must not cross a fork: SQLite keeps its locks per process, and a child that used or merely closed
# an inherited one could let the parent's log be deleted under it. So every connection is closed before a fork,
# between two transactions, and opened again at its next use, on both sides.

_FORKING = threading.RLock()
_STORES: weakref.WeakSet[Store] = weakref.WeakSet()
_HELD: list[Store] = []


def _before_fork() -> None:
    _FORKING.acquire()
    _HELD[:] = _STORES
    for store in _HELD:
        store._lock.acquire()  # noqa: SLF001 - this is the other half of the class
        store.disconnect()


def _after_fork() -> None:
    while _HELD:
        _HELD.pop()._lock.release()  # noqa: SLF001
    _FORKING.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)
