"""Imports of files that have something in common: what a store holds afterwards is each record, as often as it was."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import targetspec
from record_examples import numbered
from tuner.database import Database
from tuner.errors import DatabaseError
from tuner.interchange import repeats
from tuner.interchange.files import import_records
from tuner.record import Record

GPU = targetspec.CudaTarget(arch="sm_86")
STATED = {"target": GPU, "kernel": "saxpy", "problem": {"n": 1024}}


def autotvm(folder: Path, contents: list[int]) -> Path:
    """A log whose lines tell these apart, and in which every third one failed."""
    lines = [
        {
            "input": ["llvm -mcpu=skylake", "dense", [], {}],
            "config": {"index": one},
            "result": [[0.5], 7 * (one % 3 == 2), 1.0, 1.6e9],
            "version": 0.2,
            "tvm_version": "0.8.0",
        }
        for one in contents
    ]
    return _written(folder / "log", "".join(f"{json.dumps(line)}\n" for line in lines))


def metaschedule(folder: Path, contents: list[int]) -> Path:
    """A database, likewise; its workloads are as many as are named."""
    _written(folder / "database_workload.json", '["1", "a"]\n["2", "b"]\n')
    lines = [
        [one % 2, [[one, []], None if one % 3 == 2 else [0.5], "llvm -mcpu=skylake", []]] for one in contents
    ]
    return _written(
        folder / "database_tuning_record.json", "".join(f"{json.dumps(line)}\n" for line in lines)
    )


def kernel_tuner(folder: Path, contents: list[int]) -> Path:
    """A cache that is still open."""
    entries = [f'"{place}": {{"a": {one}, "time": 1.5}},\n' for place, one in enumerate(contents)]
    head = (
        '{"device_name": "d", "kernel_name": "k", "problem_size": 8, "tune_params_keys": ["a"], "cache": {\n'
    )
    return _written(folder / "cache", head + "".join(entries))


def t4(folder: Path, contents: list[int]) -> Path:
    """Results, whose schema stands behind them."""
    results = [
        {"configuration": {"a": one}, "invalidity": "correct", "times": {"runtimes": [1]}} for one in contents
    ]
    return _written(folder / "t4", json.dumps({"results": results, "schema_version": "1.0.0"}))


def own(folder: Path, contents: list[int]) -> Path:
    """JSON Lines."""
    return _written(folder / "lines", "".join(f"{numbered(one).dumps()}\n" for one in contents))


def _written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


FOREIGN = [autotvm, metaschedule, kernel_tuner, t4]


def _bare(record: Record) -> Record:
    return attrs.evolve(record, number=0)


@pytest.mark.parametrize("write", [*FOREIGN, own], ids=lambda write: write.__name__)
def test_a_file_that_has_grown_adds_what_is_new(tmp_path: Path, write: Callable[[Path, list[int]], Path]):
    """However often it is read while it grows, the store is the same as after the whole of it at once."""
    contents = list(range(6))
    with Database(tmp_path / "a.sqlite") as one, Database(tmp_path / "b.sqlite") as other:
        for length in (2, 3, 3, 6, 6):
            found = import_records(one, write(tmp_path, contents[:length]), **STATED)
            assert (length, 0) == (found.added + found.known, found.refused)
            assert length == len(list(one.records()))
        import_records(other, write(tmp_path, contents), **STATED)
        assert list(other.records()) == list(one.records())


@pytest.mark.parametrize("write", FOREIGN, ids=lambda write: write.__name__)
@settings(max_examples=12, deadline=None)
@given(files=st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=6), min_size=1, max_size=3))
def test_a_store_holds_each_record_as_often_as_a_file_did(
    tmp_path_factory: pytest.TempPathFactory, write: Callable[[Path, list[int]], Path], files: list[list[int]]
):
    """In whatever order files are read, and the lines stand in them; so merged and edited ones add their own alone."""
    folder = tmp_path_factory.mktemp("again")
    expected: Counter[int] = Counter()
    for contents in files:
        expected |= Counter(contents)
    counts = []
    for name, order in (("a", files), ("b", [contents[::-1] for contents in files[::-1]])):
        with Database(folder / f"{name}.sqlite") as db:
            for contents in order:
                found = import_records(db, write(folder, contents), **STATED)
                assert len(contents) == found.added + found.known
            counts.append(Counter(map(_bare, db.records())))
    assert counts[0] == counts[1]
    assert sorted(expected.values()) == sorted(counts[0].values())


def test_what_is_stated_beside_a_file_is_part_of_its_records(tmp_path: Path):
    """The same cache for another target is other records."""
    path = kernel_tuner(tmp_path, [1, 2])
    with Database(tmp_path / "a.sqlite") as db:
        assert 2 == import_records(db, path, target=GPU).added
        assert 2 == import_records(db, path, target=targetspec.CudaTarget(arch="sm_80")).added
        assert (0, 2) == attrs.astuple(import_records(db, path, target=GPU))[1:3]


def test_only_records_are_numbered():
    """By the equal ones before them; all else passes."""
    record = numbered(0)
    found = repeats.told_apart(record if number % 2 else None for number in range(4))
    assert [None, record, None, attrs.evolve(record, number=1)] == list(found)


def test_no_room_to_count_is_one_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Of files, with the path that was to be read."""

    def full(*_: Any) -> Any:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(repeats, "_numbered", full)
    path = autotvm(tmp_path, [1])
    with (
        Database(tmp_path / "a.sqlite") as db,
        pytest.raises(DatabaseError, match=r"log: cannot be read: .* full"),
    ):
        import_records(db, path)
