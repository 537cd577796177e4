"""The record store under several writers at once: nothing lost, nothing twice, no lock in the way."""

from __future__ import annotations

import multiprocessing
import threading
from pathlib import Path

import pytest

from record_examples import numbered, write_many
from tuner.database import Database


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tuner.sqlite"


def test_four_processes_write_at_once(path: Path):
    """Spawned writers that got a pickled database lose no record and meet no lock, while this one reads."""
    context = multiprocessing.get_context("spawn")
    with Database(path) as db:
        writers = [context.Process(target=write_many, args=(db, run, 200)) for run in "abcd"]
        for writer in writers:
            writer.start()
        seen = 0
        while any(writer.is_alive() for writer in writers):
            now = sum(1 for _ in db.records())
            assert now >= seen
            seen = now
        for writer in writers:
            writer.join()
        assert [0] * 4 == [writer.exitcode for writer in writers]
        for run in "abcd":
            assert [numbered(number, run=run) for number in range(200)] == list(db.records(run=run))


def test_threads_share_a_database(path: Path):
    """Threads add through one object at once; all records are there."""
    with Database(path) as db:
        threads = [
            threading.Thread(target=lambda run=run: [db.add(numbered(n, run=run)) for n in range(50)])
            for run in "abcd"
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for run in "abcd":
            assert [numbered(number, run=run) for number in range(50)] == list(db.records(run=run))
