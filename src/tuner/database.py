"""The record store: every outcome of every run in one SQLite file that many processes share."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

import targetspec
from tuner import build, record_checks, store_rows
from tuner.errors import DatabaseError, RecordError
from tuner.kernel import Kernel
from tuner.record import Record
from tuner.store_connection import Store
from tuner.values import shown

_CHUNK = 500  # records read at once: memory stays flat, and no transaction stays open between two of them


class Database:
    """The records in one file, created where there is none; a set: an equal record is kept once.

    What was added survives the death of any process; `synchronous="FULL"` adds power loss, and costs a
    write to the disk each time. Usable from threads and after a fork; it pickles as its path. Every method
    raises DatabaseError where the file cannot be used.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, synchronous: Literal["NORMAL", "FULL"] = "NORMAL"
    ) -> None:
        if synchronous not in {"NORMAL", "FULL"}:
            raise ValueError(f'synchronous must be "NORMAL" or "FULL", got {synchronous!r}')
        self.path = _absolute(path)
        self.synchronous = synchronous
        self._target: store_rows.TargetRow | None = None
        self._store = Store(self.path, synchronous)
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
        name needs its fingerprint stated.
        """
        if fingerprint is None:
            fingerprint = _fingerprint(kernel, target, problem)
        if toolchain is None:
            toolchain = build.toolchain()
        return self.best(kernel, problem=problem, target=target, toolchain=toolchain, fingerprint=fingerprint)

    def best(
        self,
        kernel: Kernel | str | None = None,
        *,
        problem: Mapping[str, Any] | None = None,
        target: targetspec.Target | None = None,
        toolchain: str | None = None,
        fingerprint: str | None = None,
        run: str | None = None,
    ) -> Record | None:
        """Return the best good record among those chosen, as for `records`, or None; a baseline is none.

        Finals stand before the trials of their run, costs measured in full before those cut short.
        """
        filters = _filters(kernel, problem, target, toolchain=toolchain, fingerprint=fingerprint, run=run)
        row = self._store.read(lambda connection: store_rows.best(connection, filters))
        return None if row is None else self._record(row)

    def records(
        self,
        kernel: Kernel | str | None = None,
        *,
        problem: Mapping[str, Any] | None = None,
        target: targetspec.Target | None = None,
        toolchain: str | None = None,
        fingerprint: str | None = None,
        run: str | None = None,
        role: str | None = None,
        kind: str | None = None,
    ) -> Iterator[Record]:
        """Iterate over the records that are there now, in the order of writing.

        Each argument leaves only those equal in it: by the kernel's name, the target's tuning key, and the
        kind of the outcome.
        """
        filters = _filters(
            kernel, problem, target,
            toolchain=toolchain, fingerprint=fingerprint, run=run, role=role, kind=kind,
        )  # fmt: skip
        return self._records(filters, self._store.read(store_rows.newest))

    def runs(
        self,
        kernel: Kernel | str | None = None,
        *,
        problem: Mapping[str, Any] | None = None,
        target: targetspec.Target | None = None,
        toolchain: str | None = None,
        fingerprint: str | None = None,
    ) -> tuple[str, ...]:
        """Return the runs of the records chosen, as for `records`, oldest first."""
        filters = _filters(kernel, problem, target, toolchain=toolchain, fingerprint=fingerprint)
        return self._store.read(lambda connection: store_rows.runs(connection, filters))

    def close(self) -> None:
        """Close the file; what was added stays."""
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
        return functools.partial(Database, synchronous=self.synchronous), (self.path,)

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


def default_path() -> Path:
    """Return the file that the commands use: `targetspec/tuner.sqlite` in the user's data folder."""
    # As platformdirs has it; that package is one more dependency for these few lines.
    stated = Path(os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_DATA_HOME", ""))
    if sys.platform == "darwin":
        folder = _home("Library", "Application Support")
    elif stated.is_absolute():
        # The XDG specification has relative paths ignored.
        folder = stated
    else:
        folder = _home("AppData", "Local") if sys.platform == "win32" else _home(".local", "share")
    return folder / "targetspec" / "tuner.sqlite"


def _home(*parts: str) -> Path:
    try:
        return Path.home().joinpath(*parts)
    except RuntimeError as error:
        raise DatabaseError(
            "~", f"cannot be found, so there is no default file; give a path ({error})"
        ) from error


def _absolute(path: str | os.PathLike[str]) -> str:
    text = os.fspath(path)
    if not isinstance(text, str):
        raise DatabaseError(repr(text), "is no text; give the path as str or pathlib.Path")
    if text in {"", ":memory:"} or "\0" in text:
        raise DatabaseError(repr(text), "is no path of a file; records are kept in a file, so give one")
    return os.path.abspath(text)  # noqa: PTH100 - Path.absolute keeps `..`


def _fingerprint(kernel: Kernel | str, target: targetspec.Target, problem: Mapping[str, Any]) -> str:
    if isinstance(kernel, str):
        raise TypeError(f"a kernel given by its name, {kernel!r}, needs its fingerprint stated")
    return build.fingerprint(kernel, target, problem)


def _filters(
    kernel: Kernel | str | None,
    problem: Mapping[str, Any] | None,
    target: targetspec.Target | None,
    **rest: str | None,
) -> dict[str, str]:
    if not isinstance(target, targetspec.Target | None):
        raise RecordError("$.target", f"must be a targetspec.Target, got {shown(target)}")
    filters = rest | {
        "kernel": kernel if kernel is None or isinstance(kernel, str) else kernel.name,
        "problem": None if problem is None else record_checks.problem(problem).text,
        "tuning_key": None if target is None else target.tuning_key,
    }
    return {name: value for name, value in filters.items() if value is not None}
