"""Tuning with a store: interrupted runs go on, seeds come first, and a store that fails ends the run or not, as asked."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import attrs
import pytest

import small_kernels
import targetspec
from record_examples import EXAMPLE
from small_kernels import MIXED, PROBLEM
from tuner import build, identity, store_connection
from tuner.database import Database
from tuner.errors import DatabaseError
from tuner.executors import Local, Replay
from tuner.session import tune

HERE = str(Path(small_kernels.__file__).parent)
COSTS = {(step, fault): float(step) for step in (1, 2, 4, 8) for fault in ("none", "wrong", "error", "exit")}
TUNE = """
import sys
sys.path.insert(0, sys.argv[1])
from small_kernels import MIXED, PROBLEM
from tuner.session import tune
tune(MIXED, PROBLEM, budget=16, database=sys.argv[2], progress=False)
"""


@pytest.fixture(autouse=True)
def one_witness(monkeypatch: pytest.MonkeyPatch) -> None:
    """These kernels are sound: no need for several interpreters to say so."""
    monkeypatch.setattr(identity, "_WITNESSES", 1)


def trials(path: Path) -> list[Any]:
    """The trials in a file that may not be there yet."""
    try:
        with Database(path, read_only=True) as db:
            return list(db.records(role="trial"))
    except DatabaseError:
        return []


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_an_interrupted_run_goes_on(tmp_path: Path, how: int):
    """Killed or by Ctrl-C: nothing is measured twice, the run is one, and its budget counts what was done."""
    path = tmp_path / "a.sqlite"
    with subprocess.Popen(
        [sys.executable, "-c", TUNE, HERE, str(path)], stderr=subprocess.DEVNULL
    ) as process:
        while len(trials(path)) < 4 and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(how)
        process.wait()
    before = trials(path)
    assert 4 <= len(before) < 16
    result = tune(MIXED, PROBLEM, budget=16, database=path, progress=False)
    with Database(path) as db:
        (name,) = db.runs()
        run = db.run(name)
        assert run is not None
        assert (True, 16, False) == (run.ended is not None, run.trials, run.alive)
        assert list(result.records) == list(db.records(role="trial"))
        assert 1 == len(list(db.records(role="baseline")))
    assert before == list(result.records[: len(before)])
    assert list(range(16)) == [record.number for record in result.records]
    assert 16 == len({record.config for record in result.records})
    assert result.best is not None
    assert result.best.config["fault"] == "none"
    result.function()


class StopError(Exception):
    """What ends a run from within."""


def stopping(after: int) -> Any:
    """Costs of MIXED that end the run after some trials."""
    left = iter(range(after))

    def cost(config: Any) -> float:
        if next(left, None) is None:
            raise StopError
        return COSTS[tuple(config.values())]

    return Replay(cost)


def test_fresh_starts_anew_and_keeps_the_old(tmp_path: Path):
    """Another seed or strategy is another run too; the old run stays for who asks for it again."""
    path = tmp_path / "a.sqlite"
    with pytest.raises(StopError):
        tune(MIXED, PROBLEM, budget=16, database=path, progress=False, executor=stopping(2))
    more: dict[str, Any] = {"database": path, "progress": False, "executor": Replay(COSTS), "budget": 4}
    old = trials(path)
    assert old
    fresh = tune(MIXED, PROBLEM, fresh=True, **more)
    other = tune(MIXED, PROBLEM, seed=1, **more)
    again = tune(MIXED, PROBLEM, **more)
    assert {record.run for record in old} == {record.run for record in again.records}
    assert 3 == len({result.records[0].run for result in (fresh, other, again)})
    assert old == list(again.records[: len(old)])
    with Database(path) as db:
        assert [True] * 3 == [attrs.asdict(db.run(name))["ended"] is not None for name in db.runs()]
        assert 4 == len(tune(MIXED, PROBLEM, **more).records)
        assert 4 == len(db.runs())


def test_a_smaller_budget_hides_nothing_that_is_known(tmp_path: Path):
    """All trials of the run count, so that the best is what a lookup gives."""
    path = tmp_path / "a.sqlite"
    with pytest.raises(StopError):
        tune(MIXED, PROBLEM, budget=16, database=path, progress=False, executor=stopping(9))
    known = trials(path)
    least = min(record.cost for record in known if record.cost is not None)
    result = tune(MIXED, PROBLEM, budget=1, database=path, progress=False, executor=Replay(COSTS))
    assert known == list(result.records)
    assert result.best is not None
    assert least == result.best.cost


def test_what_was_replayed_says_so(tmp_path: Path):
    """No record with a cost out of a table passes for a measurement."""
    result = tune(
        MIXED, PROBLEM, budget=16, database=tmp_path / "a.sqlite", progress=False, executor=Replay(COSTS)
    )
    good = [record for record in result.records if record.outcome.kind == "ok"]
    assert good
    assert all(record.quality["replayed"] is True for record in good)


def test_two_tunings_at_once_do_not_share_a_run(tmp_path: Path):
    """A run whose process lives is not taken up."""
    path = tmp_path / "a.sqlite"
    with Database(path) as db:
        here = targetspec.detect_host()
        task = (
            "mixed",
            build.fingerprint(MIXED, here, PROBLEM),
            '{"n":64}',
            here.tuning_key,
            build.toolchain(),
        )
        db.begin_run("alive", task, {"strategy": "default", "seed": 0})
        result = tune(MIXED, PROBLEM, budget=2, database=db, progress=False, executor=Replay(COSTS))
        assert {"alive"}.isdisjoint(record.run for record in result.records)


def test_seeds_are_tried_first(tmp_path: Path):
    """The best of a compatible target is the first trial; what the space does not hold is left out."""
    here = targetspec.detect_host()
    there = here.evolve(num_cores=77)
    seed = attrs.evolve(
        EXAMPLE, kernel="mixed", problem={"n": 128}, target=there, config={"step": 4, "fault": "none"}
    )
    with Database(tmp_path / "a.sqlite") as db:
        strange = [{"step": step, "fault": "none"} for step in (3, 5, 7, 9, 11)]  # all of them better
        db.add(seed)
        db.add_all(
            attrs.evolve(seed, number=step, cost=1e-9, config=config) for step, config in enumerate(strange)
        )
        more: dict[str, Any] = {"progress": False, "executor": Replay(COSTS), "budget": 3}
        assert seed.config == tune(MIXED, PROBLEM, database=db, **more).records[0].config
        other = tune(MIXED, PROBLEM, seed=7, **more)
        assert seed.config != other.records[0].config


def test_a_store_that_fails_ends_the_run_or_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A disk that is full: one clear error, and what was reported stays; with keep_going a warning, once."""
    with Database(tmp_path / "a.sqlite") as db:
        pages = f"PRAGMA max_page_count = {14 + 3}"
        db._store.read(lambda connection: connection.execute(pages).fetchone())
        noisy = attrs.evolve(MIXED, name="noisy")
        more: dict[str, Any] = {"budget": 16, "database": db, "progress": False, "executor": Replay(COSTS)}
        filler = attrs.evolve(EXAMPLE, quality={"filler": "x" * 3000})
        with pytest.raises(DatabaseError, match="no room left"):
            db.add_all(attrs.evolve(filler, number=number) for number in range(100))
        for number in range(100):
            try:
                db.add(attrs.evolve(filler, number=number))
            except DatabaseError:
                break
        with pytest.raises(DatabaseError, match="no room left"):
            tune(noisy, PROBLEM, **more)
        with pytest.warns(RuntimeWarning, match="no room left.*; the run goes on") as caught:
            result = tune(noisy, PROBLEM, keep_going=True, **more)
        assert (16, 1) == (len(result.records), len(caught))
        assert number == len(list(db.records("sgemm")))
    monkeypatch.setattr(store_connection, "PATIENCE", 0.1)
    lock = sqlite3.connect(tmp_path / "a.sqlite", isolation_level=None)
    lock.execute("BEGIN EXCLUSIVE")
    with pytest.raises(DatabaseError, match="is locked by another program"):
        tune(MIXED, PROBLEM, budget=1, database=tmp_path / "a.sqlite", progress=False, executor=Local())
    lock.close()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no database at all", "is no database but some other file"),
        (b"SQLite format 3\0" + bytes(84), "is damaged or truncated"),
    ],
)
def test_a_store_that_cannot_be_opened_ends_the_run_or_not(tmp_path: Path, content: bytes, message: str):
    """The same as one that fails later; the file stays as it is."""
    path = tmp_path / "a.sqlite"
    path.write_bytes(content)
    more: dict[str, Any] = {"budget": 4, "database": path, "progress": False, "executor": Replay(COSTS)}
    with pytest.raises(DatabaseError, match=message):
        tune(MIXED, PROBLEM, **more)
    with pytest.warns(RuntimeWarning, match=f"{message}.*; the run goes on") as caught:
        assert 4 == len(tune(MIXED, PROBLEM, keep_going=True, **more).records)
    assert (1, content) == (len(caught), path.read_bytes())
