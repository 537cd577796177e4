"""The record store: what it keeps, what it answers, and what it says when it cannot."""

from __future__ import annotations

import itertools
import pickle
import sqlite3
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from record_examples import (
    A72,
    EXAMPLE,
    FINGERPRINT,
    TOOLCHAIN,
    ZEN3,
    ZEN3_OTHER_LIBC,
    numbered,
    records,
    targets,
)
from tuner import database, store_connection
from tuner.database import Database
from tuner.errors import DatabaseError, RecordError
from tuner.record import Outcome, Record

PROBLEM = EXAMPLE.problem


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tuner.sqlite"


@pytest.fixture
def db(path: Path) -> Iterator[Database]:
    with Database(path) as opened:
        yield opened


def look(db: Database, target: Any = ZEN3, **changes: Any) -> Record | None:
    """Look the example's task up, or one that differs from it in something."""
    key = {"kernel": "sgemm", "problem": PROBLEM, "toolchain": TOOLCHAIN, "fingerprint": FINGERPRINT}
    return db.lookup(target=target, **(key | changes))


# --- keeping -----------------------------------------------------------------------------------------------


def test_what_was_added_is_there_when_opened_again(path: Path):
    """Records come back equal, in the order they were added, failures too."""
    failed = attrs.evolve(
        EXAMPLE, outcome=Outcome("signal", "run", "SIGSEGV", "a\0b\u2028"), cost=None, times=()
    )
    with Database(path) as db:
        assert db.add(EXAMPLE)
        assert db.add_all([failed, numbered(1, target=A72)]) == 2
    with Database(path) as db:
        assert [EXAMPLE, failed, numbered(1, target=A72)] == list(db.records())


def test_an_equal_record_is_kept_once(db: Database):
    """Adding a record that is there changes nothing and says so."""
    assert db.add(EXAMPLE)
    assert not db.add(Record.loads(EXAMPLE.dumps()))
    assert db.add_all([EXAMPLE, numbered(1), numbered(1)]) == 1
    assert [EXAMPLE, numbered(1)] == list(db.records())


def test_all_or_none(db: Database):
    """Where one of several records cannot be kept, none is."""
    with pytest.raises(RecordError, match="must be a Record"):
        db.add_all([EXAMPLE, "no record"])
    assert [] == list(db.records())


def test_records_are_chosen_by_what_they_hold(db: Database):
    """Each filter leaves the records that are equal in it, and no others."""
    wrong = attrs.evolve(EXAMPLE, outcome=Outcome("wrong", "check", "a[0]"), cost=None)
    other = numbered(1, kernel="saxpy", target=A72, run="other", role="final", problem={"n": 1})
    db.add_all([EXAMPLE, wrong, other])
    assert [other] == list(db.records("saxpy")) == list(db.records(problem={"n": 1}))
    assert [other] == list(db.records(run="other")) == list(db.records(role="final"))
    assert [wrong] == list(db.records(kind="wrong"))
    assert [EXAMPLE, wrong] == list(db.records(target=ZEN3_OTHER_LIBC))
    assert [EXAMPLE] == list(db.records("sgemm", problem=PROBLEM, target=ZEN3, kind="ok"))
    assert [] == list(db.records(problem={"n": True}))


def test_reading_goes_on_while_records_are_added(db: Database, monkeypatch: pytest.MonkeyPatch):
    """An iterator gives what was there when it was made, however many records come in meanwhile."""
    monkeypatch.setattr(database, "_CHUNK", 3)
    before = [numbered(number) for number in range(8)]
    db.add_all(before)
    seen = []
    for record in db.records():
        seen.append(record)
        db.add(attrs.evolve(record, run="another"))
    assert before == seen


def test_runs_in_the_order_of_their_beginning(db: Database):
    """Runs are named once, oldest first, and can be chosen like records."""
    db.add_all([numbered(0, run="b"), numbered(0, run="a", kernel="saxpy"), numbered(1, run="b")])
    assert ("b", "a") == db.runs()
    assert ("a",) == db.runs("saxpy")
    assert () == db.runs(target=A72)


@settings(max_examples=20)
@given(drawn=st.lists(records(), max_size=5))
def test_any_records_come_back(tmp_path_factory: pytest.TempPathFactory, drawn: list[Record]):
    """Whatever the records hold, they come back equal and with the same text."""
    with Database(tmp_path_factory.mktemp("any") / "tuner.sqlite") as db:
        db.add_all(drawn)
        unique = {record.dumps(): record for record in drawn}
        assert list(unique.values()) == list(db.records())
        assert list(unique) == [record.dumps() for record in db.records()]


# --- answering ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {"target": A72},
        {"kernel": "sgemm2"},
        {"problem": {**PROBLEM, "m": 513}},
        {"problem": {**PROBLEM, "m": 512.0}},
        {"problem": {**PROBLEM, "batch": 1}},
        {"problem": {"m": 512, "n": 512}},
        {"toolchain": "llvmlite 0.50.0, LLVM 22.1.1"},
        {"fingerprint": "0" * 64},
    ],
)
def test_another_task_is_never_answered(db: Database, changes: dict[str, Any]):
    """A lookup that differs from the record in one thing only finds nothing."""
    db.add(EXAMPLE)
    assert look(db) == EXAMPLE
    assert look(db, **changes) is None


def test_what_cannot_change_timing_does_not_matter(db: Database):
    """A target with an equal tuning key is answered, and the order of a problem's members is no matter."""
    db.add(EXAMPLE)
    assert look(db, ZEN3_OTHER_LIBC) == EXAMPLE
    assert look(db, problem={name: PROBLEM[name] for name in "nmk"}) == EXAMPLE


few = {
    "kernel": st.sampled_from(["sgemm", "saxpy"]),
    "problem": st.sampled_from([{"n": 1}, {"n": 1.0}, {"n": True}]),
    "target": targets,
    "toolchain": st.sampled_from(["LLVM 21", "LLVM 22"]),
    "fingerprint": st.sampled_from([FINGERPRINT, "0" * 64]),
}


def key_of(record: Record) -> tuple[Any, ...]:
    """What must be equal for a lookup to be answered."""
    return record.kernel, record.problem, record.target.tuning_key, record.toolchain, record.fingerprint


@settings(max_examples=50)
@given(one=records(outcome=st.just(Outcome("ok")), role=st.just("trial"), **few), other=records(**few))
def test_lookup_answers_iff_the_keys_are_equal(
    tmp_path_factory: pytest.TempPathFactory, one: Record, other: Record
):
    """A record answers the query of another's task exactly when all five parts of the key are equal."""
    with Database(tmp_path_factory.mktemp("iff") / "tuner.sqlite") as db:
        db.add(one)
        query = {field: getattr(other, field) for field in few}
        assert (key_of(one) == key_of(other)) == (db.lookup(**query) is not None)


def ranked(*, cost: float, role: str = "trial", run: str = "a", **members: Any) -> Record:
    """A good record by what decides which is best."""
    return attrs.evolve(EXAMPLE, cost=cost, role=role, run=run, **members)


EARLY = Outcome("ok", stopped_early=True)


@pytest.mark.parametrize(
    "candidates",
    [
        [ranked(cost=1.0), ranked(cost=2.0)],
        [ranked(cost=2.0, role="final"), ranked(cost=3.0, role="final"), ranked(cost=1.0)],
        [ranked(cost=1.0), ranked(cost=2.0, role="final", run="b")],
        [ranked(cost=1.5, role="final"), ranked(cost=1.8, run="b"), ranked(cost=1.0)],
        [ranked(cost=2.0), ranked(cost=1.0, role="baseline")],
        [ranked(cost=2.0), ranked(cost=1.0, outcome=EARLY)],
        [ranked(cost=1.0, outcome=EARLY), ranked(cost=2.0, outcome=EARLY)],
        [ranked(cost=1.0, created="2026-01-01T00:00:00Z"), ranked(cost=1.0)],
        [ranked(cost=2.0, role="final", target=ZEN3_OTHER_LIBC), ranked(cost=1.0)],
    ],
    ids=[
        "the lowest cost", "finals before trials of the run", "but not of another run",
        "nor do they hide those of another run", "a baseline is no configuration", "rough costs last",
        "rough costs where there is nothing else", "the earliest of equals", "finals of an equal tuning key",
    ],
)  # fmt: skip
def test_which_record_is_best(db: Database, candidates: list[Record]):
    """The first of these is the best, in whatever order they were added."""
    db.add_all(candidates)
    assert candidates[0] == look(db)
    with Database(str(db.path) + "2") as other:
        other.add_all(reversed(candidates))
        assert candidates[0] == look(other) == other.best("sgemm") == other.best()


def test_no_failure_is_an_answer(db: Database):
    """Failed trials and baselines alone answer nothing, and failed finals hide no trial."""
    failed = {"outcome": Outcome("timeout", "run"), "cost": None}
    db.add_all([attrs.evolve(EXAMPLE, **failed), ranked(cost=1.0, role="baseline", run="b")])
    assert look(db) is None
    db.add_all([EXAMPLE, attrs.evolve(EXAMPLE, role="final", **failed)])
    assert look(db) == EXAMPLE


def test_ties_do_not_depend_on_the_order_of_writing(tmp_path: Path):
    """Of records alike in all that decides, every order of writing gives the same one."""
    alike = [ranked(cost=1.0, config={"mc": mc}) for mc in (1, 2, 3)]
    answers = set()
    for number, order in enumerate(itertools.permutations(alike)):
        with Database(tmp_path / str(number)) as db:
            db.add_all(order)
            answers.add(look(db))
    assert len(answers) == 1


def test_the_best_of_a_run(db: Database):
    """`best` chooses among the records of one run where asked to."""
    db.add_all([ranked(cost=1.0), ranked(cost=2.0, run="b"), ranked(cost=3.0, run="b")])
    assert ranked(cost=2.0, run="b") == db.best(run="b")
    assert db.best(run="c") is None


def test_bad_questions(db: Database):
    """A question that cannot be one is refused, not answered with None."""
    with pytest.raises(TypeError, match="needs its fingerprint"):
        db.lookup("sgemm", PROBLEM, ZEN3)
    with pytest.raises(RecordError, match=r"\$\.target: must be a targetspec.Target, got 'native'"):
        look(db, "native")
    with pytest.raises(RecordError, match=r"\$\.problem\.m: must be an integer"):
        look(db, problem={"m": None})


def test_the_key_is_made_where_it_is_not_stated(db: Database, monkeypatch: pytest.MonkeyPatch):
    """With a kernel alone, the toolchain is today's and the fingerprint is the kernel's for this task."""
    asked = []

    class Kernel:
        name = "sgemm"

    def fingerprint(*arguments: Any) -> str:
        asked.append(arguments)
        return FINGERPRINT

    monkeypatch.setattr(database.build, "fingerprint", fingerprint)
    monkeypatch.setattr(database.build, "toolchain", lambda: TOOLCHAIN)
    db.add(EXAMPLE)
    kernel = Kernel()
    assert db.lookup(kernel, PROBLEM, ZEN3) == EXAMPLE
    assert [(kernel, ZEN3, PROBLEM)] == asked


# --- a model -----------------------------------------------------------------------------------------------


def rank(record: Record) -> tuple[Any, ...]:
    return record.outcome.stopped_early, record.cost, record.created, record.identity


class Model(RuleBasedStateMachine):
    """The store behaves as a dict from identity to record does."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.db = Database(Path(self.folder.name) / "tuner.sqlite")
        self.kept: dict[bytes, Record] = {}

    small = records(**few, run=st.sampled_from("ab"), cost=st.none(), outcome=st.just(Outcome("exit", "run")))
    good = records(
        **few, run=st.sampled_from("ab"), cost=st.sampled_from([1.0, 2.0]), outcome=st.just(Outcome("ok"))
    )

    @rule(record=small | good)
    def add(self, record: Record) -> None:
        assert self.db.add(record) == (record.identity not in self.kept)
        self.kept.setdefault(record.identity, record)

    @rule(several=st.lists(good, max_size=3))
    def add_all(self, several: list[Record]) -> None:
        new = {record.identity: record for record in several if record.identity not in self.kept}
        assert len(new) == self.db.add_all(several)
        self.kept.update(new)

    @rule(data=st.data())
    def add_again(self, data: st.DataObject) -> None:
        if self.kept:
            assert not self.db.add(data.draw(st.sampled_from(list(self.kept.values()))))

    @rule()
    def reopen(self) -> None:
        path = self.db.path
        self.db.close()
        self.db = Database(path)

    @rule()
    def travel(self) -> None:
        copy = pickle.loads(pickle.dumps(self.db))  # noqa: S301
        self.db.close()
        self.db = copy

    @rule(record=good)
    def lookup(self, record: Record) -> None:
        fits = [kept for kept in self.kept.values() if key_of(kept) == key_of(record)]
        good = [kept for kept in fits if kept.outcome.kind == "ok" and kept.role != "baseline"]
        raced = {kept.run for kept in good if kept.role == "final"}
        best = [kept for kept in good if kept.role == "final" or kept.run not in raced]
        expected = min(best, key=rank, default=None)
        assert expected == self.db.lookup(**{field: getattr(record, field) for field in few})

    @rule(run=st.sampled_from("ab"))
    def records_of(self, run: str) -> None:
        assert [kept for kept in self.kept.values() if kept.run == run] == list(self.db.records(run=run))

    @invariant()
    def all_there(self) -> None:
        assert list(self.kept.values()) == list(self.db.records())
        assert tuple(dict.fromkeys(kept.run for kept in self.kept.values())) == self.db.runs()

    def teardown(self) -> None:
        self.db.close()
        self.folder.cleanup()


TestModel = Model.TestCase
TestModel.settings = settings(max_examples=15, stateful_step_count=20, deadline=None)


# --- files that cannot be used -----------------------------------------------------------------------------


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
        (["PRAGMA application_id = 1953853029", "PRAGMA user_version = 2"], "has schema 2, newer than 1"),
        (["PRAGMA application_id = 1953853029", "PRAGMA user_version = -1"], "is damaged: it has schema -1"),
        (["PRAGMA application_id = 1953853029", "PRAGMA user_version = 1"], "is damaged: it misses"),
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


def test_synchronous_is_one_of_two(path: Path):
    """The two levels are kept through pickling; another one is refused."""
    with Database(path, synchronous="FULL") as db, pickle.loads(pickle.dumps(db)) as copy:  # noqa: S301
        assert copy.synchronous == "FULL"
        assert copy._store.read(lambda connection: connection.execute("PRAGMA synchronous").fetchone()) == (
            2,
        )
    with pytest.raises(ValueError, match='must be "NORMAL" or "FULL"'):
        Database(path, synchronous="OFF")  # type: ignore[arg-type]


def test_a_full_disk_loses_nothing(db: Database):
    """Where there is no room the error says so; what was reported stays, and adding goes on when there is."""

    def limit(pages: int) -> None:
        db._store.read(lambda connection: connection.execute(f"PRAGMA max_page_count = {pages}").fetchone())

    limit(40)
    added = []
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
    monkeypatch.setattr(database.sys, "platform", platform)
    monkeypatch.setattr(database.Path, "home", lambda: tmp_path / "home")
    for name in ("XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value.format(tmp_path))
    assert tmp_path / expected / "targetspec" / "tuner.sqlite" == database.default_path()
    assert [] == list(tmp_path.iterdir())


def test_no_home_no_default(monkeypatch: pytest.MonkeyPatch):
    """Where there is no home folder the error says to give a path."""

    def home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(database.sys, "platform", "linux")
    monkeypatch.setattr(database.Path, "home", home)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    with pytest.raises(DatabaseError, match="give a path"):
        database.default_path()
