"""Merging, pruning, vacuuming and checking a record store, and runs as things of their own."""

from __future__ import annotations

import os
import platform
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import attrs
import pytest

from record_examples import A72, EXAMPLE, FINGERPRINT, TOOLCHAIN, ZEN3, numbered
from tuner import store_runs
from tuner.database import Database
from tuner.errors import DatabaseError
from tuner.record import Outcome, utc_now

TASK = ("sgemm", FINGERPRINT, EXAMPLE.problem.text, ZEN3.tuning_key, TOOLCHAIN)
SETTINGS = {"seed": 0, "strategy": "default"}
FAILED: dict[str, Any] = {"cost": None, "outcome": Outcome("signal", "run", "SIGSEGV")}


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    with Database(tmp_path / "tuner.sqlite") as opened:
        yield opened


# --- merging -----------------------------------------------------------------------------------------------


def test_merging_twice_changes_nothing(db: Database, tmp_path: Path):
    """The records and runs of another file come in once, and the other file stays as it is."""
    path = tmp_path / "other.sqlite"
    with Database(path) as other:
        other.add_all([numbered(0), numbered(1, target=A72), numbered(2, **FAILED)])
        other.begin_run("20260131-1", TASK, SETTINGS)
        other.end_run("20260131-1")
    before = path.read_bytes()
    db.add(numbered(1, target=A72))
    assert 2 == db.merge(path)
    assert 0 == db.merge(path)
    assert {numbered(0), numbered(1, target=A72), numbered(2, **FAILED)} == set(db.records())
    run = db.run("20260131-1")
    assert run is not None
    assert (True, SETTINGS) == (run.ended is not None, run.settings)
    assert before == path.read_bytes()
    with Database(path) as other:
        assert 0 == db.merge(other)


def test_merging_ends_a_run_that_ended_there(db: Database, tmp_path: Path):
    """A run that was copied while it went on is complete once the other file says so."""
    db.begin_run("one", TASK, SETTINGS)
    with Database(tmp_path / "other.sqlite") as other:
        other.merge(db)
        assert not attrs.asdict(other.run("one"))["ended"]
        other.end_run("one")
        db.merge(other)
    assert attrs.asdict(db.run("one"))["ended"]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("settings", "[" * 5000),
        ("settings", '{"b": 1}'),
        ("settings", b"{}"),
        ("started", "yesterday"),
        ("started", "2026-01-31T12:00:00Z"),
        ("ended", "never"),
        ("name", "a\nb"),
        ("owner", b"\x80"),
    ],
)
def test_a_run_that_is_none_is_not_merged(db: Database, tmp_path: Path, column: str, value: Any):
    """Nothing of its file comes in, the error says what is wrong with which run, and so does the check."""
    path = tmp_path / "other.sqlite"
    with Database(path) as other:
        other.add(numbered(0))
        other.begin_run("bad", TASK, SETTINGS)
    with sqlite3.connect(path, isolation_level=None) as connection:
        connection.execute(f"UPDATE runs SET {column} = ?", (value,))  # noqa: S608 - names from above
    connection.close()
    with pytest.raises(
        DatabaseError, match=rf"other\.sqlite: holds what cannot be read.* the run .*{column}"
    ):
        db.merge(path)
    assert [] == list(db.records())
    with Database(path) as other:
        assert any(column in fault for fault in other.check())


def test_only_a_store_can_be_merged(db: Database, tmp_path: Path):
    """No file, and a file of something else, are errors, and nothing is made."""
    with pytest.raises(DatabaseError, match="is not there"):
        db.merge(tmp_path / "none.sqlite")
    (tmp_path / "notes").write_text("notes")
    with pytest.raises(DatabaseError, match="is no database"):
        db.merge(tmp_path / "notes")
    assert not (tmp_path / "none.sqlite").exists()


# --- pruning -----------------------------------------------------------------------------------------------


def test_pruning_deletes_what_is_chosen(db: Database):
    """By any filter, and by time; the rest stays."""
    old = numbered(3, created="2025-01-01T00:00:00Z")
    db.add_all([numbered(0), numbered(1, target=A72), numbered(2, **FAILED), old])
    assert 1 == db.prune(kind="signal")
    assert 1 == db.prune(before="2025-06-01")
    assert 0 == db.prune(before="2025-06-01T00:00:00Z")
    assert 1 == db.prune(target=A72)
    assert [numbered(0)] == list(db.records())
    assert 1 == db.prune("sgemm")
    assert [] == list(db.records())
    with pytest.raises(ValueError, match="every record would be deleted"):
        db.prune()
    with pytest.raises(ValueError, match="keep must be an int from 0"):
        db.prune("sgemm", keep=-1)


def test_pruning_keeps_the_best_of_each_task(db: Database):
    """So a file can be made small without losing an answer."""
    good = [numbered(n, cost=float(n + 1), target=target) for target in (ZEN3, A72) for n in range(5)]
    db.add_all([*good, numbered(9, **FAILED)])
    assert 7 == db.prune(keep=2)
    assert [good[0], good[1], good[5], good[6]] == list(db.records())
    assert 0 == db.prune(keep=1 << 70)


def test_trials_are_kept_where_there_are_too_few_finals(db: Database):
    """Of a run with finals these are the best, and its best trials follow."""
    finals = [numbered(number, role="final", cost=2.0 + number) for number in range(2)]
    trials = [numbered(number, cost=1.0 + number) for number in range(8)]
    db.add_all([*trials, *finals])
    assert 5 == db.prune(keep=5)
    assert [*trials[:3], *finals] == list(db.records())
    assert 4 == db.prune(keep=1)
    assert finals[:1] == list(db.records())


def test_records_of_a_run_that_goes_on_stay(db: Database):
    """Its process would miss them; when it has ended they go, and nothing is left of it."""
    db.begin_run("20260131-1", TASK, SETTINGS)
    db.add(numbered(0))
    assert 0 == db.prune("sgemm")
    db.end_run("20260131-1")
    assert 1 == db.prune("sgemm")
    assert db.run("20260131-1") is None
    with sqlite3.connect(db.path) as connection:
        counts = [
            connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: S608 - three fixed names
            for table in ("tasks", "targets", "runs")
        ]
    connection.close()
    assert [0, 0, 0] == counts


def test_vacuuming_gives_room_back(db: Database):
    """What was deleted takes no room afterwards, and the rest is there."""
    db.add_all(numbered(number) for number in range(500))
    db.prune(keep=1)
    before, after = db.vacuum()
    assert after < before / 2
    assert 1 == len(list(db.records()))


# --- checking ----------------------------------------------------------------------------------------------


def test_a_sound_file_has_no_faults(db: Database):
    """Nothing is said."""
    db.add_all([numbered(0), numbered(1, **FAILED)])
    assert [] == list(db.check())


@pytest.mark.parametrize(
    ("damage", "fault"),
    [
        ("UPDATE records SET cost = 1.0 WHERE number = 1", "record 2: its content is not what was written"),
        ("UPDATE records SET config = '[' WHERE number = 1", "record 2: "),
        ("UPDATE records SET task = 77 WHERE number = 1", "names a row of tasks that is not there"),
    ],
)
def test_a_check_finds_what_was_changed(db: Database, damage: str, fault: str):
    """Each fault is said with its place, and the sound records are none."""
    db.add_all([numbered(0), numbered(1), numbered(2)])
    db.close()
    connection = sqlite3.connect(db.path, isolation_level=None)
    connection.execute(damage)
    connection.close()
    with Database(db.path) as again:
        (found,) = list(again.check())
        assert fault in found


# --- runs --------------------------------------------------------------------------------------------------


def test_a_run_is_unfinished_until_it_ends(db: Database):
    """One whose process lives is left alone; one that was left, or whose process has gone, is taken up, once."""
    db.begin_run("one", TASK, SETTINGS)
    db.add(numbered(0, run="one"))
    run = db.run("one")
    assert run is not None
    assert ("sgemm", 1, True, None) == (run.kernel, run.trials, run.alive, run.ended)
    assert db.unfinished_run(TASK, SETTINGS) is None
    assert db.take_up_run(TASK, SETTINGS) is None
    db.leave_run("one")
    assert attrs.evolve(run, alive=False) == db.unfinished_run(TASK, SETTINGS)
    assert db.take_up_run(TASK, {**SETTINGS, "seed": 1}) is None
    assert db.take_up_run((*TASK[:4], "LLVM 99"), SETTINGS) is None
    assert "one" == db.take_up_run(TASK, SETTINGS)
    assert db.take_up_run(TASK, SETTINGS) is None
    db.end_run("one")
    db.leave_run("one")
    assert db.unfinished_run(TASK, SETTINGS) is None


def test_the_newest_unfinished_run_is_taken_up(db: Database):
    """And then the one before it."""
    for name in ("one", "two"):
        db.begin_run(name, TASK, SETTINGS)
        db.leave_run(name)
    assert ["two", "one", None] == [db.take_up_run(TASK, SETTINGS) for _ in range(3)]


def test_a_process_that_has_gone_is_not_alive():
    """By its number and its beginning, as numbers are used again."""
    seen = utc_now()
    assert store_runs.is_alive(store_runs.owner(), seen)
    machine, number, began = store_runs.owner().rsplit(" ", 2)
    assert not store_runs.is_alive(f"{machine} {number} {began}1", seen)
    for nonsense in ("", "x", "a b", f"{machine} -1 -", f"{machine} {2**70} -"):
        assert not store_runs.is_alive(nonsense, seen)
    code = (
        "import os, time; from tuner import store_runs; print(store_runs.owner(), flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        owner = child.stdout.readline().strip()
        assert str(child.pid) in owner
        assert store_runs.is_alive(owner, seen)
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert not store_runs.is_alive(owner, seen)  # a zombie that nobody has waited for
        child.wait()
    assert not store_runs.is_alive(owner, seen)


def test_a_run_of_another_machine_goes_on_until_it_is_silent():
    """Its process cannot be asked for: its last sign of life, of the last ten minutes, is what there is."""
    _, number, began = store_runs.owner().rsplit(" ", 2)
    there = f"other {number} {began}"
    now = datetime.now(UTC)
    for minutes, alive in ((0, True), (9, True), (11, False), (-11, False)):
        seen = (now - timedelta(minutes=minutes)).isoformat().replace("+00:00", "Z")
        assert alive == store_runs.is_alive(there, seen)
    assert not store_runs.is_alive(there, "no moment")


def test_a_run_of_another_machine_is_not_taken_over(db: Database, monkeypatch: pytest.MonkeyPatch):
    """Neither taken up nor pruned while it gives signs of life."""
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(platform, "node", lambda: "elsewhere")
        db.begin_run("going", TASK, SETTINGS)
    found = db.run("going")
    assert found is not None
    assert found.alive
    assert db.take_up_run(TASK, SETTINGS) is None
