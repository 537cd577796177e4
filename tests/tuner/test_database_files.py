"""The record store's file: one that cannot be used is refused, with one clear error and nothing lost."""

from __future__ import annotations

import contextlib
import itertools
import os
import pickle
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from record_examples import A72, EXAMPLE, FINGERPRINT, TOOLCHAIN, numbered
from tuner import database, store_connection, store_place
from tuner.database import Database
from tuner.errors import DatabaseError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tuner.sqlite"


@pytest.fixture
def db(path: Path) -> Iterator[Database]:
    with Database(path) as opened:
        yield opened


def refused(path: Any) -> str:
    """The one error that opening a file gives."""
    with pytest.raises(DatabaseError) as caught:
        Database(path)
    assert str(caught.value).startswith(f"{caught.value.path}: ")
    return caught.value.message


def foreign(path: Path, *statements: str) -> bytes:
    """Make a database of another program and return its bytes."""
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()
    return path.read_bytes()


@pytest.mark.parametrize(
    ("statements", "message"),
    [
        (["CREATE TABLE songs (title)"], "of another program"),
        (["PRAGMA journal_mode = WAL", "CREATE TABLE songs (title)"], "of another program"),
        (["PRAGMA application_id = 7"], "of another program"),
        (["PRAGMA user_version = 1"], "of another program"),
        (["PRAGMA application_id = 1953853029", "PRAGMA user_version = 3"], "has schema 3, newer than 2"),
        (["PRAGMA application_id = 1953853029", "PRAGMA user_version = -1"], "is damaged: it has schema -1"),
        (["PRAGMA application_id = 1953853029", "PRAGMA user_version = 1"], "is damaged: it misses"),
        (["PRAGMA application_id = 1953853029", "PRAGMA user_version = 2"], "is damaged: it misses"),
    ],
)
def test_a_database_that_is_none_of_ours(path: Path, statements: list[str], message: str):
    """A file of another program, or of a newer version, is refused."""
    foreign(path, *statements)
    assert message in refused(path)


def test_a_file_of_another_program_stays_as_it_is(path: Path):
    """Refusing a database changes no byte of it and leaves nothing beside it."""
    before = foreign(path, "CREATE TABLE songs (title)", "INSERT INTO songs VALUES ('Air')")
    assert "of another program" in refused(path)
    assert before == path.read_bytes()
    assert [path] == list(path.parent.iterdir())


def test_a_hostile_file_is_refused(path: Path):
    """A file with our tables and a trigger beside them is refused, and the trigger never runs."""
    Database(path).close()
    foreign(path, "CREATE TRIGGER bad AFTER INSERT ON records BEGIN DELETE FROM records; END")
    assert "it also has the trigger 'bad'" in refused(path)


@pytest.mark.parametrize("content", [b"{}\n", b"SQLite format 4\0" * 100, b"\0" * 4096])
def test_a_file_that_is_no_database(path: Path, content: bytes):
    """A file of another format is refused and stays as it is."""
    path.write_bytes(content)
    assert "is no database" in refused(path)
    assert content == path.read_bytes()


@pytest.mark.parametrize("size", [10, 100, 511, 512, 4000, 4096, 10_000])
def test_a_truncated_file(path: Path, size: int):
    """A file cut off anywhere is refused, never taken for an empty one, and stays as it is."""
    with Database(path) as db:
        db.add_all(numbered(number) for number in range(100))
    content = path.read_bytes()
    path.write_bytes(content[:size])
    assert "is damaged or truncated" in refused(path)
    assert content[:size] == path.read_bytes()


@pytest.mark.parametrize("read_only", [False, True])
def test_a_table_whose_making_is_no_text(path: Path, read_only: bool):
    """SQLite's complaint repeats it, and is no text either; it is the one error of damage all the same."""
    Database(path).close()
    content = path.read_bytes()
    assert 1 == content.count(b"stderr TEXT NOT NULL")
    path.write_bytes(content.replace(b"stderr TEXT NOT NULL", b"stderr TEXT NOT NUL\xa2"))
    with pytest.raises(DatabaseError, match="is damaged or truncated"):
        Database(path, read_only=read_only)


def test_an_emptied_file_beside_its_log(path: Path):
    """An empty file with a log beside it has lost its records; one without is a new file."""
    path.touch()
    log = path.with_name(path.name + "-wal")
    log.write_bytes(b"frames")
    assert "is damaged or truncated" in refused(path)
    assert log.read_bytes() == b"frames"
    log.unlink()
    with Database(path) as db:
        assert db.add(EXAMPLE)


def test_a_damaged_page(path: Path):
    """Damage within the file gives the error when it is met, and no wrong record."""
    with Database(path) as db:
        db.add_all(numbered(number) for number in range(100))
    content = bytearray(path.read_bytes())
    content[-40_000:] = b"\xff" * 40_000
    path.write_bytes(content)
    with pytest.raises(DatabaseError, match="is damaged"), Database(path) as db:
        list(db.records())


def test_a_damaged_record(db: Database):
    """A record that does not read gives an error with its number."""
    db.add_all([EXAMPLE, numbered(1)])
    db._store.write(lambda connection: connection.execute("UPDATE records SET config = '[' WHERE id = 2"))
    found = db.records()
    assert next(found) == EXAMPLE
    with pytest.raises(DatabaseError, match="cannot read record 2: "):
        next(found)


NONSENSE: list[Any] = ["nonsense", "[" * 100_000, "{}", b"\xff\xfe", '{"a": NaN}', 5]


@pytest.mark.parametrize("value", NONSENSE, ids=lambda value: repr(value)[:12])
@pytest.mark.parametrize(
    "column",
    ["targets.document", "tasks.problem", "records.config", "records.times", "records.quality", "records.number",
     "records.cost", "records.stopped_early", "runs.settings"],
)  # fmt: skip
def test_nonsense_in_a_column(path: Path, column: str, value: Any):
    """Whatever somebody else wrote there, each question gets an answer or the one error, and a check goes through."""
    task = ("sgemm", FINGERPRINT, EXAMPLE.problem.text, EXAMPLE.target.tuning_key, TOOLCHAIN)
    table, name = column.split(".")
    with Database(path) as db:
        db.add(EXAMPLE)
        db.begin_run("a", task, {"seed": 0})
        db.leave_run("a")
        change = f"UPDATE {table} SET {name} = ?"  # noqa: S608 - the names above
        db._store.write(lambda connection: connection.execute(change, (value,)))
        asked = (EXAMPLE.problem, EXAMPLE.target)
        questions: list[Callable[[], object]] = [
            db.best,
            lambda: list(db.records()),
            lambda: db.lookup("sgemm", *asked, fingerprint=FINGERPRINT, toolchain=TOOLCHAIN),
            lambda: db.seeds("sgemm", *asked),
            lambda: str(db.explain("sgemm", {"n": 1}, A72, fingerprint=FINGERPRINT)),
            lambda: db.run("a"),
            lambda: db.unfinished_run(task, {"seed": 0}),
            lambda: db.take_up_run(task, {"seed": 0}),
            lambda: db.prune("saxpy", keep=1),
        ]
        for question in questions:
            with contextlib.suppress(DatabaseError):
                question()
        # Runs may well have no settings.
        assert list(db.check()) or (column, value) == ("runs.settings", "{}")


def test_bytes_that_are_no_text_do_not_stop_a_check(db: Database):
    """The record is named, and the one behind it is looked at too."""
    db.add_all([numbered(0), numbered(1), numbered(2)])
    wrong = "UPDATE records SET stderr = CAST(? AS TEXT) WHERE id = 2"
    db._store.write(lambda connection: connection.execute(wrong, (b"\xff",)))
    db._store.write(lambda connection: connection.execute("UPDATE records SET number = 7 WHERE id = 3"))
    assert ["record 2", "record 3"] == [fault.partition(":")[0] for fault in db.check()]
    with pytest.raises(DatabaseError, match="Could not decode"):
        list(db.records())


def test_a_newer_version_meanwhile(path: Path):
    """One that takes the file over while it is open is met by an error, and nothing is written beside it."""
    with Database(path) as db:
        db.add(EXAMPLE)
        foreign(path, "PRAGMA user_version = 99")
        questions: list[Callable[[], object]] = [
            lambda: db.add(numbered(1)),
            db.best,
            lambda: db.end_run("a"),
        ]
        for question in questions:
            with pytest.raises(DatabaseError, match="has schema 99, newer than 2"):
                question()
        foreign(path, "PRAGMA user_version = 2")
        assert [EXAMPLE] == list(db.records())


def test_any_name_of_a_file(tmp_path: Path):
    """Signs of addresses, bytes that are no text, two slashes before it: written and read alone."""
    names = ["a?mode=ro#b%41.sqlite", "größe ☃", os.fsdecode(b"\xff\xfe"), "//double"]
    for number, name in enumerate(names):
        path = f"/{tmp_path}/{number}" if name.startswith("//") else os.path.join(tmp_path, name)  # noqa: PTH118
        with Database(path) as db:
            db.add(EXAMPLE)
        with Database(path, read_only=True) as db:
            assert [EXAMPLE] == list(db.records())


def test_places_that_hold_no_file(tmp_path: Path):
    """A folder, a folder that is not there and a path that is none are refused, each with what to do."""
    assert "is a folder" in refused(tmp_path)
    assert "there is no folder" in refused(tmp_path / "none" / "tuner.sqlite")
    assert [] == list(tmp_path.iterdir())
    assert "there is no folder" in refused(Path(__file__) / "tuner.sqlite")
    assert "cannot be opened: " in refused(tmp_path / ("x" * 300))
    for path in ("", ":memory:", "a\0b"):
        assert "is no path of a file" in refused(path)
    assert "is no text" in refused(b"tuner.sqlite")


@pytest.mark.parametrize(("synchronous", "number"), [("NORMAL", 1), ("FULL", 2)])
def test_synchronous_is_one_of_two(path: Path, synchronous: Any, number: int):
    """The two levels are SQLite's, and are kept through pickling."""
    with (
        Database(path, synchronous=synchronous) as db,
        pickle.loads(pickle.dumps(db)) as copy,
    ):
        assert synchronous == copy.synchronous
        got = copy._store.read(lambda connection: connection.execute("PRAGMA synchronous").fetchone())
        assert (number,) == got


def test_there_is_no_third_level(path: Path):
    """Another level is refused before there is a file."""
    with pytest.raises(ValueError, match='must be "NORMAL" or "FULL"'):
        Database(path, synchronous="OFF")  # type: ignore[arg-type]
    assert not path.exists()


def test_an_interrupted_transaction_leaves_nothing(db: Database, monkeypatch: pytest.MonkeyPatch):
    """Ctrl-C in the midst of adding keeps none of the records, and adding goes on afterwards."""
    insert = database.store_rows.insert

    def interrupted(connection: sqlite3.Connection, row: Any) -> int:
        insert(connection, row)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(database.store_rows, "insert", interrupted)
        with pytest.raises(KeyboardInterrupt):
            db.add_all([EXAMPLE, numbered(1)])
    assert [] == list(db.records())
    assert db.add(EXAMPLE)


def test_a_full_disk_loses_nothing(db: Database):
    """Where there is no room the error says so; what was reported stays, and adding goes on when there is."""

    def limit(pages: int) -> None:
        db._store.read(lambda connection: connection.execute(f"PRAGMA max_page_count = {pages}").fetchone())

    limit(40)
    added: list[object] = []
    numbers = itertools.count()
    with pytest.raises(DatabaseError, match="has no room left on its disk"):
        added.extend(record for record in map(numbered, numbers) if db.add(record))
    assert added
    assert added == list(db.records())
    limit(1 << 30)
    assert db.add(numbered(1000))
    with Database(db.path) as again:
        assert [*added, numbered(1000)] == list(again.records())


def test_a_deleted_or_replaced_file_is_noticed(path: Path):
    """What is reported after the file was deleted is not lost without a word."""
    with Database(path) as db:
        db.add(EXAMPLE)
        path.rename(path.with_name("moved"))
        with pytest.raises(DatabaseError, match="was deleted or replaced"):
            db.add(numbered(1))
        Database(path).close()
        with pytest.raises(DatabaseError, match="was deleted or replaced"):
            db.add(numbered(1))


def test_closed_is_closed(path: Path):
    """A closed database says that it is; closing twice is fine, and its file is one file."""
    db = Database(path)
    db.add(EXAMPLE)
    db.close()
    db.close()
    assert [path] == list(path.parent.iterdir())
    with pytest.raises(DatabaseError, match="is closed"):
        db.add(EXAMPLE)


@pytest.mark.parametrize("mode", ["NORMAL", "EXCLUSIVE"])
def test_a_locked_file(path: Path, monkeypatch: pytest.MonkeyPatch, mode: str):
    """A file that stays locked gives one error after a while; one that is freed in time gives none."""
    monkeypatch.setattr(store_connection, "_ATTEMPT", 0.01)
    with Database(path) as db:
        db.add(EXAMPLE)
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute(f"PRAGMA locking_mode = {mode}")
    other.execute("BEGIN EXCLUSIVE")
    other.execute("DELETE FROM records WHERE number = 7")
    monkeypatch.setattr(store_connection, "PATIENCE", 0.1)
    with pytest.raises(DatabaseError, match="is locked by another program"), Database(path) as db:
        db.add(numbered(1))
    monkeypatch.setattr(store_connection, "PATIENCE", 60.0)
    freeing = threading.Timer(0.2, other.close)
    freeing.start()
    with Database(path) as db:
        assert db.add(numbered(1))
        assert [EXAMPLE, numbered(1)] == list(db.records())
    freeing.join()


# --- the default file --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {}, "home/.local/share"),
        ("linux", {"XDG_DATA_HOME": "{}/data"}, "data"),
        ("linux", {"XDG_DATA_HOME": "relative"}, "home/.local/share"),
        ("linux", {"XDG_DATA_HOME": ""}, "home/.local/share"),
        ("darwin", {"XDG_DATA_HOME": "{}/data"}, "home/Library/Application Support"),
        ("win32", {"LOCALAPPDATA": "{}/local"}, "local"),
        ("win32", {}, "home/AppData/Local"),
    ],
)
def test_the_default_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, platform: str, variables: dict[str, str], expected: str
):
    """The default file is in the user's data folder, as each platform has it; asking makes nothing."""
    monkeypatch.setattr(store_place.sys, "platform", platform)
    monkeypatch.setattr(store_place.Path, "home", lambda: tmp_path / "home")
    for name in ("XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value.format(tmp_path))
    assert tmp_path / expected / "targetspec" / "tuner.sqlite" == store_place.default_path()
    assert [] == list(tmp_path.iterdir())


def test_no_home_no_default(monkeypatch: pytest.MonkeyPatch):
    """Where there is no home folder the error says to give a path."""

    def home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(store_place.sys, "platform", "linux")
    monkeypatch.setattr(store_place.Path, "home", home)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    with pytest.raises(DatabaseError, match="give a path"):
        store_place.default_path()
