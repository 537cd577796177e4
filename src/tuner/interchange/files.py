"""Importing and exporting: which format a file has, what is kept of it, and what could not be read."""

from __future__ import annotations

import gzip
import io
import itertools
import os
import sqlite3
import sys
import uuid
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TextIO

import attrs

import targetspec
from tuner.database import Database
from tuner.errors import DatabaseError, RecordError
from tuner.interchange import kernel_tuner, t4_entries, tvm
from tuner.interchange.json_stream import JsonStream
from tuner.interchange.line_by_line import Fault, Flood, Found, by_line
from tuner.interchange.origin import Origin
from tuner.interchange.repeats import told_apart
from tuner.interchange.t4_entries import LeftOut
from tuner.record import Record

FORMATS = ("records", "autotvm", "metaschedule", "kernel-tuner", "t4")
"""What is read: our own JSON Lines first."""

EXPORTS = ("records", "t4")

_WORKLOADS, _RECORDS = "database_workload.json", "database_tuning_record.json"
# Members by which the first document of a file tells its format.
_MARKS = {
    "fingerprint": "records",
    "outcome": "records",
    "i": "autotvm",
    "input": "autotvm",
    "cache": "kernel-tuner",
    "tune_params": "kernel-tuner",
    "tune_params_keys": "kernel-tuner",
    "results": "t4",
}
# Documents of the same tools, likewise.
_OTHERS = {
    "ConfigurationSpace": "holds no records: it is a description of a kernel and its space (T1)",
    "Metadata": "is output of the Kernel Tuning Toolkit, which is not read; convert it to T4",
}
_BATCH = 500
_BATCH_WEIGHT = 1 << 23  # characters of the texts of one batch
_FAULTS = 100
_LEAST = 200  # characters; a record's line has more by its keys and digest alone


@attrs.frozen
class Imported:
    """What came of an import: records new here, records that were here already, and what was not read.

    `blank` counts blank lines and comments; `faults` are the first hundred, `refused` counts all.
    """

    format: str
    added: int = 0
    known: int = 0
    blank: int = 0
    refused: int = 0
    faults: tuple[Fault, ...] = ()


def import_records(
    database: Database,
    path: str | os.PathLike[str],
    *,
    format: str = "auto",  # noqa: A002 - as in Target.format
    target: targetspec.Target | None = None,
    kernel: str | None = None,
    problem: Mapping[str, Any] | None = None,
    on_fault: Callable[[Fault], object] | None = None,
) -> Imported:
    """Add the records of a file, of one of FORMATS or "auto", and say what could not be read and why.

    What is good is kept, what is not is counted and handed to `on_fault`, one by one until it returns False; memory
    stays flat whatever the file holds, and nothing in it is ever run. Records are known by what they say: the same
    file twice changes nothing, one that has grown, or was merged with others, adds what is new in it. Of equal ones in
    one file each is kept; the files of other tuners number none, so `number` counts the equal ones before it.

    A MetaSchedule database is its folder, or its tuning records with the workloads beside them. `target`, `kernel` and
    `problem` say what a file does not: Kernel Tuner's names no target, a T4 file none of the three. Files may be
    compressed by gzip.

    RecordError where the file as a whole cannot be read, DatabaseError where it cannot be opened or read on (what stands
    before is kept), or the store fails.
    """
    place = Path(path)
    if place.is_dir():
        place = place / _RECORDS
    kind = format_of(place) if format == "auto" else format
    if kind not in FORMATS:
        raise ValueError(f'format must be "auto" or one of {", ".join(FORMATS)}, got {format!r}')
    origin = Origin(format=kind, target=target, kernel=kernel, problem=problem)
    tally = _Tally(database, on_fault)
    with _translated(place), ExitStack() as opened:
        try:
            for found in _reader(kind, place, origin, opened):
                tally.take(found)
        finally:
            # Also what stands before a place from which on the file cannot be read, such as the end of half a gzip.
            tally.flush()
    return Imported(kind, tally.added, tally.known, tally.blank, tally.refused, tuple(tally.faults))


def export_records(
    records: Iterable[Record],
    path: str | os.PathLike[str],
    *,
    format: str = "records",  # noqa: A002 - as above
    on_left_out: Callable[[LeftOut], object] | None = None,
    keep_old: bool = False,
) -> int:
    """Write records to a file, "-" for standard output, and return how many were written.

    It is JSON Lines, or T4 for the records of one task, RecordError where there are several. T4 has no place for
    baselines, nor for a trial beside the final of its configuration and run: each is left out, and handed to
    `on_left_out`. A file is replaced as a whole, or stays as it is, with `keep_old` also where nothing is written.
    """
    if format not in EXPORTS:
        raise ValueError(f"format must be one of {', '.join(EXPORTS)}, got {format!r}")
    texts = (
        t4_entries.entries(records, kernel_tuner.t4_entry, on_left_out or _ignore)
        if format == "t4"
        else (record.dumps() for record in records)
    )
    with _translated(Path(path), "written"):
        first = list(itertools.islice(texts, 1))
    if keep_old and not first:
        return 0
    count = itertools.count()
    counted = (text for text in itertools.chain(first, texts) if next(count) >= 0)
    with _written(path) as file:
        file.writelines(kernel_tuner.t4_pieces(counted) if format == "t4" else map("{}\n".format, counted))
    return next(count)


def _ignore(_: object) -> None:
    """Take note of nothing."""


def format_of(path: str | os.PathLike[str]) -> str:
    """Tell the format of a file by its first document; "records" where it says nothing."""
    place = Path(path)
    with _translated(place), _text(place) as file:
        stream = JsonStream(file)
        try:
            stream.skip_lines(tvm.COMMENT)
            if stream.peek() == "[":
                # A tuning record begins with the place of its workload; any file may have another list for a line.
                stream.take("[")
                known = place.name == _RECORDS or stream.peek().isdigit()
                return "metaschedule" if known else "records"
            for key in stream.members():
                if key in _MARKS:
                    return _MARKS[key]
                if key in _OTHERS:
                    raise DatabaseError(str(place), _OTHERS[key])
                stream.skip()
        except RecordError:
            return "records"
    return "records"


def _reader(kind: str, path: Path, origin: Origin, opened: ExitStack) -> Iterator[Found]:
    """Read a file of a known format; what is opened for it is closed with the stack."""
    if kind == "records":
        file = opened.enter_context(_binary(path))
        return by_line(file, lambda line: Record.loads(line.text), _LEAST)
    return told_apart(_foreign_reader(kind, path, origin, opened))


def _foreign_reader(kind: str, path: Path, origin: Origin, opened: ExitStack) -> Iterator[Found]:
    file = opened.enter_context(_binary(path))
    if kind == "autotvm":
        return tvm.read_autotvm(file, origin)
    if kind == "metaschedule":
        place = path.with_name(_WORKLOADS)
        with _translated(place):
            known = tvm.Workloads(opened.enter_context(_binary(place)))
        return tvm.read_metaschedule(file, origin, known)
    read = kernel_tuner.read_cache if kind == "kernel-tuner" else kernel_tuner.read_t4
    return read(lambda: _text(path), origin)


class _Tally:
    """Keeps what is good in batches, and counts the rest."""

    def __init__(self, database: Database, on_fault: Callable[[Fault], object] | None) -> None:
        self._database = database
        self._on_fault = on_fault
        self._batch: list[Record] = []
        self._weight = 0
        self.added = self.known = self.blank = self.refused = 0
        self.faults: list[Fault] = []

    def take(self, found: Found) -> None:
        """Take note of a record, of what could not be read, or of a blank line."""
        if found is None:
            self.blank += 1
        elif isinstance(found, Fault):
            self.refused += 1
            self._tell(found)
        elif isinstance(found, Flood):
            self._pass(found)
        else:
            self._batch.append(found)
            self._weight += _weight(found)
            if len(self._batch) >= _BATCH or self._weight >= _BATCH_WEIGHT:
                self.flush()

    def _pass(self, flood: Flood) -> None:
        blank = flood.blank
        self.blank += blank
        self.refused += flood.lines - blank
        if self._on_fault is not None or len(self.faults) < _FAULTS:
            for fault in flood.faults():
                self._tell(fault)

    def _tell(self, fault: Fault) -> None:
        if len(self.faults) < _FAULTS:
            self.faults.append(fault)
        if self._on_fault is not None and self._on_fault(fault) is False:
            self._on_fault = None

    def flush(self) -> None:
        """Write what has come together."""
        # Taken first, so that what a failing store did not keep is not tried again.
        batch, self._batch, self._weight = self._batch, [], 0
        added = self._database.add_all(batch)
        self.added += added
        self.known += len(batch) - added


def _weight(record: Record) -> int:
    outcome = record.outcome
    texts = (
        record.kernel,
        record.run,
        record.toolchain,
        record.config.text,
        record.problem.text,
        record.quality.text,
        outcome.stderr,
        outcome.cause or "",
    )
    return sum(map(len, texts)) + 32 * len(record.times)


# --- files -------------------------------------------------------------------------------------------------

_GZIP = b"\x1f\x8b"
_SQLITE = b"SQLite format 3\0"


@contextmanager
def _translated(path: Path, done: str = "read") -> Iterator[None]:
    """Turn what a file's reading, or writing, may raise into the one error of files."""
    try:
        yield
    except DatabaseError:
        raise
    except (OSError, EOFError, zlib.error, sqlite3.Error) as error:
        raise DatabaseError(
            str(path), f"cannot be {done}: {getattr(error, 'strerror', None) or error}"
        ) from error


def _binary(path: Path, *, may_break_off: bool = False) -> io.BufferedReader:
    if path.exists() and not path.is_file():
        # A pipe gives its content once, a device may never end.
        raise DatabaseError(
            str(path), "is no regular file, and it is read more than once; save it to one first"
        )
    start = _start(path)
    if start == _SQLITE:
        raise DatabaseError(str(path), "is a database, not a file to import; `tuner merge` adds its records")
    if start.startswith(_GZIP):
        return io.BufferedReader(_Unpacked(path, may_break_off=may_break_off))
    return path.open("rb")


class _Unpacked(io.RawIOBase):
    """What gzip packed: of a file that breaks off, first all that stands before, then the error, or just the end."""

    def __init__(self, path: Path, *, may_break_off: bool) -> None:
        self._file = gzip.GzipFile(path)
        self._may_break_off = may_break_off

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            content = self._file.read1(len(buffer))
        except EOFError:
            if not self._may_break_off:
                raise
            content = b""
        buffer[: len(content)] = content
        return len(content)

    def close(self) -> None:
        self._file.close()
        super().close()


def _start(path: Path) -> bytes:
    with path.open("rb") as raw:
        return raw.read(len(_SQLITE))


def _text(path: Path) -> TextIO:
    # Who reads a document sees where it breaks off, packed or not.
    return io.TextIOWrapper(_binary(path, may_break_off=True), encoding="utf-8-sig", newline="\n")


@contextmanager
def _written(path: str | os.PathLike[str]) -> Iterator[TextIO]:
    if path == "-":
        yield sys.stdout
        return
    place = Path(path)
    try:
        with _opened(place) as file:
            yield file
    except OSError as error:
        if isinstance(error, DatabaseError):
            raise
        raise DatabaseError(str(path), f"cannot be written: {error.strerror}") from error


@contextmanager
def _opened(place: Path) -> Iterator[TextIO]:
    if place.exists() and not place.is_file():
        # A device or a pipe is written to; to put a file in its place would take it from everybody.
        with place.open("w", encoding="ascii", newline="\n") as file:
            yield file
        return
    if place.exists() and _start(place) == _SQLITE:
        raise DatabaseError(str(place), "is a database, which would be lost; give another path")
    part = place.with_name(f"{place.name}.{uuid.uuid4().hex[:8]}")
    try:
        with part.open("x", encoding="ascii", newline="\n") as file:
            yield file
        part.replace(place)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
