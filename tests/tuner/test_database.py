"""The record store: what it keeps, what it answers, and what it says when it cannot."""

from __future__ import annotations

import itertools
import pickle
import tempfile
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
from tuner import build, database
from tuner.database import Database
from tuner.errors import RecordError
from tuner.kernel import Kernel
from tuner.record import Outcome, Record
from tuner.space import Space

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


@pytest.mark.parametrize("method", ["best", "records", "runs", "prune"])
def test_there_are_the_same_filters_everywhere(db: Database, method: str):
    """Each method takes them all, a filter that is None chooses nothing, and one that there is not is named."""
    db.add_all([EXAMPLE, numbered(1, kernel="saxpy")])
    stated = {
        "toolchain": TOOLCHAIN,
        "fingerprint": FINGERPRINT,
        "run": EXAMPLE.run,
        "role": "trial",
        "kind": "ok",
    }
    choose = getattr(db, method)
    for wrong in ("cpu", "tuning_key", "1; DROP TABLE records"):
        with pytest.raises(
            TypeError, match=f"cannot be chosen by '{wrong}'; they can by kernel, problem, target"
        ):
            choose(**{wrong: "x"})
    with pytest.raises(RecordError, match="must be a targetspec"):
        choose(target="x86_64")
    found = choose("sgemm", problem=PROBLEM, target=ZEN3, **stated)
    expected = {"best": EXAMPLE, "runs": (EXAMPLE.run,), "prune": 1}
    assert (expected.get(method, [EXAMPLE])) == (list(found) if method == "records" else found)
    assert not list(db.records("sgemm", problem={"n": 1})) + list(db.runs("sgemm", kind="wrong"))
    assert 1 <= len(list(db.records(kind=None, run=None)))


@pytest.mark.parametrize("method", ["best", "records", "runs", "prune"])
@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("kernel", "\udcff", "kernel: must be Unicode text without lone surrogates"),
        ("toolchain", "\udcff", "toolchain: must be Unicode text without lone surrogates"),
        ("fingerprint", 5, "fingerprint: must be a text, got 5 of type int"),
        ("run", ["a"], "run: must be a text, got .'a'. of type list"),
        ("role", "best", "role: must be one of trial, baseline, final, got 'best'"),
        ("kind", "fail", "kind: must be one of ok, error, signal, exit, timeout, memory, wrong, got 'fail'"),
        pytest.param(
            "kind", 10**5000, "kind: must be a text, got a int of no sane size of type int", id="huge"
        ),
    ],
)
def test_a_filter_that_no_record_could_meet_is_an_error(
    db: Database, method: str, name: str, value: Any, message: str
):
    """It says what is allowed; to find nothing, silently, would hide a mistake."""
    with pytest.raises(RecordError, match=message):
        getattr(db, method)(**{name: value})


def test_names_that_no_record_could_have_are_errors(db: Database):
    """In what is asked of one task or run, too."""
    with pytest.raises(RecordError, match=r"\$.kernel: must be Unicode text"):
        look(db, kernel="\udcff")
    with pytest.raises(RecordError, match=r"\$.toolchain: must be a text, got 5"):
        look(db, toolchain=5)
    with pytest.raises(RecordError, match=r"\$.run: must be Unicode text"):
        db.run("\udcff")


@pytest.mark.parametrize("number", [-1, True, 1.0, "1", None, pytest.param(-(10**5000), id="huge")])
def test_a_number_of_records_is_one_from_0(db: Database, number: Any):
    """How many seeds there may be, and how many records are kept."""
    with pytest.raises(ValueError, match="limit must be an int from 0, got"):
        db.seeds("sgemm", PROBLEM, ZEN3, limit=number)
    with pytest.raises(ValueError, match="keep must be an int from 0, got"):
        db.prune(keep=number)
    db.add(EXAMPLE)
    assert 1 == len(db.seeds("sgemm", PROBLEM, ZEN3, limit=1 << 70, toolchain=TOOLCHAIN))
    assert 0 == len(db.seeds("sgemm", PROBLEM, ZEN3, limit=0, toolchain=TOOLCHAIN))
    assert 0 == db.prune(keep=1 << 70)


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
        [ranked(cost=1.0), ranked(cost=2.0, role="final", problem={"n": 1})],
    ],
    ids=[
        "the lowest cost", "finals before trials of the run", "but not of another run",
        "nor do they hide those of another run", "a baseline is no configuration", "rough costs last",
        "rough costs where there is nothing else", "the earliest of equals", "finals of an equal tuning key", "finals of another problem hide nothing",
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


@pytest.mark.parametrize("differing", ["config", "problem"])
def test_ties_do_not_depend_on_the_order_of_writing(tmp_path: Path, differing: str):
    """Of records alike in all that decides, of one task or of several, every order of writing gives the same."""
    alike = [ranked(cost=1.0, **{differing: {"mc": mc}}) for mc in (1, 2, 3)]
    answers = set()
    for number, order in enumerate(itertools.permutations(alike)):
        with Database(tmp_path / str(number)) as db:
            db.add_all(order)
            answers.add(db.best("sgemm"))
    assert len(answers) == 1


def test_the_earliest_of_equals_in_several_tasks(db: Database):
    """Where records of several tasks cost the same, the earliest is the best."""
    late = [ranked(cost=1.0, problem={"n": n}) for n in range(3)]
    early = ranked(cost=1.0, problem={"n": 3}, created="2026-01-01T00:00:00Z")
    db.add_all([*late, early])
    assert early == db.best()


def test_the_tables_of_a_target_are_kept(db: Database):
    """Equal targets read with other tables are equal, yet each record keeps the version it came with."""
    target = EXAMPLE.target.to_dict()
    old = Record.from_dict(numbered(1).to_dict() | {"target": target | {"tables": "1.0"}})
    db.add_all([EXAMPLE, old])
    assert numbered(1) == old
    assert not db.add(numbered(1))
    assert [EXAMPLE.dumps(), old.dumps()] == [record.dumps() for record in db.records()]
    assert old.to_dict()["target"]["tables"] == "1.0"


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
    db.add(EXAMPLE)
    nothing: Any = None
    key = {"fingerprint": FINGERPRINT, "toolchain": TOOLCHAIN}
    for ask in (db.lookup, db.explain):
        # As filters they would choose everything.
        with pytest.raises(TypeError, match=r"a kernel is a tuner\.Kernel or its name, not None"):
            ask(nothing, PROBLEM, ZEN3, **key)
        with pytest.raises(RecordError, match=r"\$\.problem: must be a mapping"):
            ask("sgemm", nothing, ZEN3, **key)
        with pytest.raises(RecordError, match=r"\$\.target: must be a targetspec.Target, got None"):
            ask("sgemm", PROBLEM, nothing, **key)
    with pytest.raises(TypeError, match=r"a tuner\.Kernel is needed, not 'sgemm'"):
        db.best_for("sgemm", PROBLEM, ZEN3)  # type: ignore[arg-type]


def test_the_key_is_made_where_it_is_not_stated(db: Database):
    """With a kernel alone, the toolchain is today's and the fingerprint that of what the kernel emits."""

    def kernel(text: str) -> Kernel:
        return Kernel(
            "noop",
            Space({"unroll": [1, 2]}),
            lambda config, target, problem: f"; {text} {config} {target.digest} {problem}",
            entry="noop",
            arguments=lambda problem, rng: (problem, rng),
        )

    fingerprint = build.fingerprint(kernel("first"), ZEN3, PROBLEM)
    kept = attrs.evolve(EXAMPLE, kernel="noop", fingerprint=fingerprint, toolchain=build.toolchain())
    db.add(kept)
    assert kept == db.lookup(kernel("first"), PROBLEM, ZEN3)
    assert db.lookup(kernel("edited"), PROBLEM, ZEN3) is None
    assert db.lookup(kernel("first"), PROBLEM, ZEN3, toolchain="another") is None
    assert [kept] == list(db.records(kernel("edited")))


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
        copy = pickle.loads(pickle.dumps(self.db))
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
