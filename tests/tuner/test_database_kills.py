"""A writer that is killed at any moment: what it had reported is in the file, and the file opens."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from record_examples import numbered
from tuner.database import Database

HERE = str(Path(__file__).parents[1])


class Writer:
    """A fork that adds record after record and reports the number of each once it is committed."""

    def __init__(self, path: Path, run: str) -> None:
        self._reader, reports = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            try:
                os.close(self._reader)
                signal.alarm(60)  # what is not killed would else outlive the tests
                self._write(path, run, reports)
            finally:
                os._exit(1)
        os.close(reports)
        os.read(self._reader, 1)

    @staticmethod
    def _write(path: Path, run: str, reports: int) -> None:
        database = Database(path)
        for number in range(1_000_000):
            database.add(numbered(number, run=run))
            os.write(reports, f"{number}\n".encode())

    def kill(self, how: int = signal.SIGKILL) -> int:
        """Kill it and return the last number that it reported, 0 where that is all that was waited for."""
        os.kill(self._pid, how)
        with os.fdopen(self._reader, encoding="ascii") as reports:
            rest = reports.read()
        os.waitpid(self._pid, 0)
        whole = rest[: rest.rfind("\n") + 1].split()
        return int(whole[-1]) if whole else 0


def check(path: Path, reported: dict[str, int]) -> None:
    """Every reported record is there, none twice, and the file is sound."""
    with Database(path) as db:
        for run, last in reported.items():
            numbers = [record.number for record in db.records(run=run)]
            assert last <= numbers[-1] <= last + 1
            assert list(range(numbers[-1] + 1)) == numbers
    connection = sqlite3.connect(path)
    assert [("ok",)] == connection.execute("PRAGMA integrity_check").fetchall()
    connection.close()


def die_many_times(path: Path, times: int, seed: int) -> None:
    """Kill writers at random moments, two at a time, one after the other, on one file."""
    chance = random.Random(seed)
    reported: dict[str, int] = {}
    for number in range(0, times, 2):
        writers = {f"{number + more}": Writer(path, f"{number + more}") for more in range(2)}
        for run, writer in writers.items():
            time.sleep(chance.random() * 0.02)
            reported[run] = writer.kill()
        if number % 20 == 0:
            check(path, reported)
    check(path, reported)


def test_twenty_writers_killed_at_random_moments(tmp_path: Path):
    """No reported record is lost."""
    die_many_times(tmp_path / "a.sqlite", 20, 1)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_two_hundred_writers_killed_at_random_moments(tmp_path: Path):
    """The same, at length."""
    if not os.environ.get("TUNER_KILLS"):
        pytest.skip("takes minutes; TUNER_KILLS=1 runs it")
    die_many_times(tmp_path / "a.sqlite", 200, 2)


class Killed(RuleBasedStateMachine):
    """Whatever the order of writers starting, dying, and records being read, merged, pruned and given back."""

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "a.sqlite"
        self.writers: dict[str, Writer] = {}
        self.reported: dict[str, int] = {}
        self.own = 0
        Database(self.path).close()

    @rule()
    def start_a_writer(self) -> None:
        if len(self.writers) < 2:
            run = f"w{len(self.writers) + len(self.reported)}"
            self.writers[run] = Writer(self.path, run)

    @rule(wait=st.floats(0.0, 0.02))
    def kill_a_writer(self, wait: float) -> None:
        if self.writers:
            run, writer = self.writers.popitem()
            time.sleep(wait)
            self.reported[run] = writer.kill()

    @rule(count=st.integers(1, 5))
    def write_here(self, count: int) -> None:
        with Database(self.path) as db:
            added = db.add_all(numbered(self.own + more, run="own") for more in range(count))
        assert count == added
        self.own += count

    @rule()
    def merge_into_another(self) -> None:
        with Database(self.path.with_name("b.sqlite")) as other:
            other.merge(self.path)
            assert set(range(self.own)) <= {r.number for r in other.records(run="own")}

    @rule()
    def give_room_back(self) -> None:
        with Database(self.path) as db:
            db.vacuum()

    @invariant()
    def nothing_is_lost(self) -> None:
        if hasattr(self, "path"):
            check(self.path, self.reported | ({"own": self.own - 1} if self.own else {}))

    def teardown(self) -> None:
        for writer in getattr(self, "writers", {}).values():
            writer.kill()
        if hasattr(self, "folder"):
            self.folder.cleanup()


TestKilled = Killed.TestCase
TestKilled.settings = settings(max_examples=3, stateful_step_count=8, deadline=None)


def test_four_processes_write_thousands(tmp_path: Path, many: int):
    """All records are there, none twice, and no writer meets a lock, while this process reads."""
    path = tmp_path / "a.sqlite"
    Database(path).close()
    code = """
import sys
sys.path.insert(0, sys.argv[1])
from record_examples import write_many
from tuner.database import Database
write_many(Database(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
"""
    writers = [
        subprocess.Popen([sys.executable, "-c", code, HERE, str(path), run, str(many)]) for run in "abcd"
    ]
    seen = 0
    with Database(path) as db:
        while any(writer.poll() is None for writer in writers):
            now = sum(1 for _ in db.records(run="a"))
            assert now >= seen
            seen = now
        assert [0] * 4 == [writer.wait() for writer in writers]
        for run in "abcd":
            assert list(range(many)) == [record.number for record in db.records(run=run)]


@pytest.fixture
def many() -> int:
    """How many records each process writes: the full number where there is time."""
    return 5000 if os.environ.get("TUNER_KILLS") else 500


def test_a_writer_that_is_interrupted_says_so(tmp_path: Path):
    """Ctrl-C in the midst of adding loses nothing that was reported either."""
    last = Writer(tmp_path / "a.sqlite", "a").kill(signal.SIGINT)
    check(tmp_path / "a.sqlite", {"a": last})
