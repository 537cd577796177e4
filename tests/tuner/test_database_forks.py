"""The record store where processes fork, are killed, lack permissions or meet a limit: what POSIX systems do."""

from __future__ import annotations

import ast
import os
import random
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from record_examples import EXAMPLE, numbered
from tuner.database import Database
from tuner.errors import DatabaseError

resource = pytest.importorskip("resource", reason="this platform has no fork and no resource limits")

NOBODY = 65534


@pytest.fixture
def path() -> Iterator[Path]:
    """A path that other users can reach, unlike tmp_path."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder) / "tuner.sqlite"


def in_child(work: Callable[[], object]) -> str:
    """Do the work in a fork of this process and return what it gave, or the error, as a text."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # what hangs here would else outlive the tests
        try:
            text = str(work())
        except BaseException as error:  # noqa: BLE001 - the parent shows it
            text = f"{type(error).__name__}: {error}"
        os.write(writer, text.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return text


def unprivileged(work: Callable[[], object]) -> Callable[[], object]:
    """The same work as a user to whom permissions apply."""

    def as_nobody() -> object:
        if os.geteuid() == 0:
            os.setuid(NOBODY)
        return work()

    return as_nobody


def report(path: Path, pipe: int) -> None:
    """Add records for ever, reporting each once `add` has returned."""
    db = Database(path)
    start = os.getpid() * 1_000_000
    for number in range(1_000_000):
        db.add(numbered(start + number))
        os.write(pipe, b"%d\n" % (start + number))


def test_kill_loses_no_reported_record(path: Path):
    """After SIGKILL at any moment the file opens, is sound, and has every record that was reported."""
    moments = random.Random(2026)
    reported: set[int] = set()
    for _ in range(12):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            report(path, writer)
        os.close(writer)
        with os.fdopen(reader, encoding="ascii") as pipe:
            reported.add(int(pipe.readline()))
            time.sleep(moments.uniform(0, 0.02))
            os.kill(child, signal.SIGKILL)
            reported.update(int(line) for line in pipe if line.endswith("\n"))
        os.waitpid(child, 0)
        with Database(path) as db:
            assert reported <= {record.number for record in db.records()}
            sound = db._store.read(lambda connection: connection.execute("PRAGMA integrity_check").fetchone())
            assert sound == ("ok",)


def test_a_database_crosses_a_fork(path: Path):
    """An open database works on both sides of a fork, also after one side has closed it."""
    db = Database(path)
    db.add(numbered(0))
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        db.add(numbered(1))
        os.read(told, 1)
        db.add(numbered(2))
        os._exit(sum(1 for _ in db.records()))
    while sum(1 for _ in db.records()) < 2:
        time.sleep(0.001)
    db.add(numbered(3))
    # Were the child's connection an inherited one, this would take itself for the last and delete the log.
    db.close()
    os.write(tell, b"\n")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 4
    os.close(told)
    os.close(tell)
    with Database(path) as again:
        assert [0, 1, 3, 2] == [record.number for record in again.records()]


# Python warns of forks beside threads; that they do no harm here is what this shows.
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_while_threads_write(path: Path):
    """Forks at any moment neither hang nor harm: the child's records and the threads' are all there."""
    with Database(path) as db:
        done = threading.Event()
        counts = [0, 0]

        def write(place: int) -> None:
            while not done.is_set():
                db.add(numbered(counts[place], run=f"thread {place}"))
                counts[place] += 1

        threads = [threading.Thread(target=write, args=(place,)) for place in range(2)]
        for thread in threads:
            thread.start()
        answers = [in_child(lambda n=n: db.add(numbered(n, run="child"))) for n in range(10)]
        done.set()
        for thread in threads:
            thread.join()
        assert ["True"] * 10 == answers
        assert list(range(10)) == [record.number for record in db.records(run="child")]
        for place in range(2):
            assert counts[place] == sum(1 for _ in db.records(run=f"thread {place}"))


def test_a_read_only_file(path: Path):
    """A file that this user may not write is refused, and the error says what to do."""
    with Database(path) as db:
        db.add(EXAMPLE)
    path.chmod(0o444)
    expected = f"DatabaseError: {path}: is not writable; change its permissions, or give another path"
    assert expected == in_child(unprivileged(lambda: Database(path)))
    path.chmod(0o644)
    with Database(path) as db:
        assert [EXAMPLE] == list(db.records())


@pytest.mark.parametrize("exists", [True, False])
def test_a_read_only_folder(path: Path, exists: bool):
    """A folder that this user may not write is refused, for a new file and for one that is there."""
    if exists:
        Database(path).close()
        path.chmod(0o666)
    path.parent.chmod(0o555)
    answer = in_child(unprivileged(lambda: Database(path)))
    path.parent.chmod(0o755)
    assert f"DatabaseError: {path}: cannot be written: the folder {path.parent} is not writable" in answer


def test_a_disk_that_takes_no_more(path: Path):
    """Where the system refuses to write, the error says so, and what was reported is there."""

    def fill() -> tuple[int, int, str]:
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))
        db = Database(path)
        added = 0
        try:
            while db.add(numbered(added)):
                added += 1
        except DatabaseError as error:
            return added, sum(1 for _ in db.records()), str(error)
        return added, 0, "no error"

    added, kept, message = ast.literal_eval(in_child(fill))
    assert 0 < added == kept
    assert f"{path}: cannot be read or written; check the disk" in message
    with Database(path) as db:
        assert [numbered(number) for number in range(added)] == list(db.records())
