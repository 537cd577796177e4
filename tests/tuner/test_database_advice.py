"""What a store says beside exact answers: seeds from compatible targets, why there is no answer, what to deploy."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import targetspec
from record_examples import A72, EXAMPLE, FINGERPRINT, TOOLCHAIN, ZEN3, ZEN3_OTHER_LIBC, numbered
from targetspec import CpuTarget, CudaTarget
from targetspec.testing import compatible_pairs
from targetspec.testing import targets as any_targets
from tuner import build
from tuner.database import Database
from tuner.errors import KernelError, RecordError
from tuner.kernel import Kernel
from tuner.record import Outcome, Record
from tuner.space import Space
from tuner.survey import allowed

PROBLEM = EXAMPLE.problem
HASWELL = CpuTarget(triple="x86_64-unknown-linux-gnu", cpu="haswell")
ZEN4 = CpuTarget(triple="x86_64-unknown-linux-gnu", cpu="znver4")
CUDA = CudaTarget(arch="sm_80")


def emit(config: Mapping[str, Any], target: Any, problem: Any) -> str:
    """Some text, of all that it depends on."""
    return f"; {config} {target.tuning_key} {problem}"


def kernel(**more: Any) -> Kernel:
    """A kernel of this name whose code depends on everything."""
    made: dict[str, Any] = {"entry": "sgemm", "arguments": lambda problem, rng: (problem, rng)}
    return Kernel("sgemm", Space({"mc": [16, 32, 64]}), emit, **made | more)


KERNEL = kernel()


def kept(target: Any = ZEN3, mc: int = 64, **more: Any) -> Record:
    """A record as tuning KERNEL for a target makes it."""
    problem = more.get("problem", PROBLEM)
    made = {
        "fingerprint": build.fingerprint(KERNEL, target, problem),
        "toolchain": build.toolchain(),
        "config": {"mc": mc},
        "target": target,
    }
    return attrs.evolve(EXAMPLE, **made | more)


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    with Database(tmp_path / "tuner.sqlite") as opened:
        yield opened


# --- seeds -------------------------------------------------------------------------------------------------


pairs = st.one_of(st.tuples(any_targets(), any_targets()), compatible_pairs())


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(pair=pairs)
def test_lookup_answers_equal_keys_and_seeds_what_the_relation_allows(
    tmp_path_factory: pytest.TempPathFactory, pair: tuple[Any, Any]
):
    """Over any pair of targets: an answer iff the tuning keys are equal, a seed iff "schedule" does not say no."""
    there, here = pair
    record = attrs.evolve(EXAMPLE, target=there)
    key = {"toolchain": TOOLCHAIN}
    with Database(tmp_path_factory.mktemp("pair") / "a.sqlite") as db:
        db.add(record)
        answer = db.lookup("sgemm", PROBLEM, here, fingerprint=FINGERPRINT, **key)
        assert (there.tuning_key == here.tuning_key) == (answer == record)
        allowed = there.compatible(here, purpose="schedule").answer != "no"
        assert allowed == (record in db.seeds("sgemm", PROBLEM, here, **key))
        explanation = db.explain("sgemm", PROBLEM, here, fingerprint=FINGERPRINT, **key)
        assert (answer is None) == bool(explanation) == bool(explanation.fields)
        if explanation:
            assert explanation.verdict == there.compatible(here, purpose="schedule")


def test_seeds_stand_in_the_order_of_closeness(db: Database):
    """The same target first, then the same problem elsewhere, near problems before far ones, other toolchains behind."""
    near, far = {**PROBLEM, "m": 1024}, {**PROBLEM, "m": 1 << 20}
    expected = [
        kept(ZEN3, 64),
        kept(ZEN3, 32, toolchain="LLVM 1"),
        kept(ZEN3, 16, problem=near),
        kept(ZEN4, 64),
        kept(ZEN4, 32, problem=near),
        kept(ZEN3, 64, problem=far),
    ]
    db.add_all([kept(A72), kept(CUDA), *reversed(expected)])
    assert expected == list(db.seeds(KERNEL, PROBLEM, ZEN3))
    assert expected[:2] == list(db.seeds(KERNEL, PROBLEM, ZEN3, limit=2))


def test_sizes_may_lie_as_far_apart_as_numbers_can(db: Database):
    """Their quotient may be none that a float holds, and no record keeps others from being seeds."""
    sizes = (5e-324, 1.7e308, 2**63 - 1, 1, -1, 0.0, -0.0)
    db.add_all(attrs.evolve(EXAMPLE, problem={"x": size}) for size in sizes)
    for size in sizes:
        seeds = db.seeds("sgemm", {"x": size}, ZEN3)
        assert (len(sizes), size) == (len(seeds), seeds[0].problem["x"])
        assert () == db.explain("sgemm", {"x": size}, ZEN3).fields


def test_a_seed_is_good_and_fits_the_space_and_the_needs(db: Database):
    """No failure, no baseline, nothing that the space does not hold or that its needs forbid here."""
    failed = {"cost": None, "outcome": Outcome("signal", "run", "SIGSEGV")}
    db.add_all([kept(mc=16, **failed), kept(mc=32, role="baseline"), kept(mc=99)])
    assert () == db.seeds(KERNEL, PROBLEM, ZEN3)
    db.add_all([kept(mc=16, run="b"), kept(mc=64, run="b")])
    assert {16, 64} == {record.config["mc"] for record in db.seeds(KERNEL, PROBLEM, ZEN3)}
    wide = kernel(needs=lambda config, problem: {"vector_bits": 512} if config["mc"] == 64 else {})
    assert {16} == {record.config["mc"] for record in db.seeds(wide, PROBLEM, HASWELL)}
    assert {16, 64} == {record.config["mc"] for record in db.seeds(wide, PROBLEM, ZEN4)}


@pytest.mark.parametrize(
    ("stated", "told"),
    [
        (
            {"shared_memory": 1},
            "unknown need 'shared_memory' for cpu targets; cpu targets can be asked for vector_bits, num_cores, ",
        ),
        (
            {1: 2, "b": 3},
            "the name of a need must be a str, not int; cpu targets can be asked for vector_bits, ",
        ),
        ({"vector_bits": "wide"}, "must be a whole number, got 'wide' (write it without quotes"),
    ],
)
def test_needs_that_no_target_can_be_asked_name_those_that_can(db: Database, stated: Any, told: str):
    """Wherever the kernel's needs are looked at: the error is the kernel's, and says which names there are."""
    db.add(kept())
    broken = kernel(needs=lambda config, problem: stated)
    for ask in (lambda: db.seeds(broken, PROBLEM, ZEN3), lambda: db.best_for(broken, PROBLEM, ZEN4)):
        with pytest.raises(KernelError, match="needs gave what a target cannot be asked: ") as caught:
            ask()
        assert told in str(caught.value)
    with pytest.raises(KernelError, match="needs gave what a target cannot be asked: "):
        allowed(broken, PROBLEM, ZEN3)


def test_a_stated_fingerprint_is_what_explain_compares(db: Database):
    """As in a lookup, it stands for the kernel's own."""
    db.add(kept())
    assert db.lookup(KERNEL, PROBLEM, ZEN3, fingerprint="0" * 64) is None
    found = db.explain(KERNEL, PROBLEM, ZEN3, fingerprint="0" * 64)
    assert (("fingerprint",), "no record of exactly this") == (found.fields, found.note)


def test_only_what_can_change_timing_stands_in_the_way(db: Database):
    """The C library follows from the triple, and is no part of what a record is looked up by."""
    gnu, musl = (CpuTarget(triple=f"x86_64-unknown-linux-{libc}", cpu="znver3") for libc in ("gnu", "musl"))
    assert gnu.tuning_key != musl.tuning_key
    db.add(kept(gnu))
    fields = db.explain(KERNEL, PROBLEM, musl).fields
    assert "triple" in fields
    assert "libc" not in fields


def test_a_default_says_what_there_is_no_record_of(db: Database):
    """Of this problem, or of the kernel at all."""
    assert "no record of it" in db.best_for(KERNEL, PROBLEM, ZEN3).reason
    db.add(kept(problem={"m": 1, "n": 1, "k": 1}))
    assert "no good record of this problem" in db.best_for(KERNEL, PROBLEM, ZEN3).reason


@pytest.mark.parametrize("wrong", ["", "ab12", "A" * 64, "0" * 65, 7, b"0" * 64])
def test_a_fingerprint_that_is_none_is_an_error(db: Database, wrong: Any):
    """Rather than a question that nothing answers; the report's short form is none either."""
    db.add(kept())
    for ask in (
        lambda: db.lookup(KERNEL, PROBLEM, ZEN3, fingerprint=wrong),
        lambda: db.explain(KERNEL, PROBLEM, ZEN3, fingerprint=wrong),
        lambda: list(db.records(fingerprint=wrong)),
    ):
        with pytest.raises(RecordError, match=r"^\$\.fingerprint: must be "):
            ask()


def test_an_edited_kernel_is_seeded_by_what_it_was(db: Database):
    """Its fingerprint is another one, so there is no answer; the old configurations are worth trying."""
    db.add(kept())
    edited = attrs.evolve(KERNEL, passes="O1")
    assert db.lookup(edited, PROBLEM, ZEN3) is None
    assert (kept(),) == db.seeds(edited, PROBLEM, ZEN3)


def test_another_kernels_records_are_no_seeds(db: Database):
    """Only those of the same name."""
    db.add(kept(kernel="saxpy"))
    assert () == db.seeds(KERNEL, PROBLEM, ZEN3)


# --- explanations ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "fields", "told"),
    [
        ({"target": HASWELL}, {"cpu", "features"}, "asked for haswell, the record has znver3"),
        ({"target": A72}, {"triple", "cpu", "features", "host"}, "of one architecture family"),
        ({"target": CUDA}, {"kind"}, "asked for cuda, the record has cpu"),
        ({"problem": {**PROBLEM, "m": 7}}, {"problem.m"}, "asked for 7, the record has 512"),
        ({"problem": {**PROBLEM, "m": 512.0}}, {"problem.m"}, "asked for 512.0, the record has 512"),
        ({"problem": {"m": 512, "n": 512}}, {"problem.k"}, "asked for nothing, the record has 512"),
        ({"toolchain": "LLVM 99"}, {"toolchain"}, "asked for LLVM 99"),
        ({"kernel": attrs.evolve(KERNEL, passes="O1")}, {"fingerprint"}, "the kernel was edited"),
        (
            {"kernel": attrs.evolve(KERNEL, passes="O1"), "toolchain": "LLVM 99", "target": ZEN4},
            {"fingerprint", "toolchain", "cpu", "features"},
            "the kernel was edited",
        ),
    ],
)
def test_an_explanation_names_what_stands_in_the_way(
    db: Database, asked: dict[str, Any], fields: set[str], told: str
):
    """Each field in which the nearest record differs, with the relation's own reasons; a libc floor is none."""
    db.add(kept(ZEN3_OTHER_LIBC))
    question = {"kernel": KERNEL, "problem": PROBLEM, "target": ZEN3} | asked
    explanation = db.explain(**question)
    assert explanation
    assert fields == set(explanation.fields)
    assert told in str(explanation)
    assert explanation.nearest == kept(ZEN3_OTHER_LIBC)
    assert explanation.verdict == ZEN3_OTHER_LIBC.compatible(question["target"], purpose="schedule")


def test_the_nearest_record_is_the_one_with_the_fewest_differences(db: Database):
    """A near problem on the same target tells more than another target and toolchain."""
    near = kept(ZEN3, problem={**PROBLEM, "m": 1024})
    db.add_all([kept(A72, problem={**PROBLEM, "m": 511}), kept(HASWELL, toolchain="LLVM 1"), near])
    assert near == db.explain(KERNEL, PROBLEM, ZEN3).nearest


def test_where_there_is_nothing_near_the_kernels_are_named(db: Database):
    """An empty file, and one that has other kernels."""
    assert "it is empty" in str(db.explain(KERNEL, PROBLEM, ZEN3))
    db.add(kept(kernel="saxpy"))
    explanation = db.explain(KERNEL, PROBLEM, ZEN3)
    assert "no record of a kernel 'sgemm'" in str(explanation)
    assert "it has records of saxpy" in str(explanation)
    assert (None, ()) == (explanation.nearest, explanation.fields)


def test_what_is_answered_and_what_has_failed_so_far(db: Database):
    """An explanation of an answer is false; where all trials failed they are counted."""
    db.add(kept(cost=None, outcome=Outcome("timeout", "run", "took more than 1 s")))
    assert "no trial has succeeded: 1 timeout (took more than 1 s)" in str(db.explain(KERNEL, PROBLEM, ZEN3))
    db.add(kept())
    explanation = db.explain(KERNEL, PROBLEM, ZEN3)
    assert not explanation
    assert kept() == explanation.answer
    assert "its fingerprint was not stated" in str(
        db.explain("sgemm", PROBLEM, ZEN3, toolchain=build.toolchain())
    )


# --- deployment --------------------------------------------------------------------------------------------


def test_what_to_deploy_and_on_what_ground(db: Database):
    """The exact record; else that of a target whose code runs here, the nearest; else the kernel's default."""
    first = db.best_for(KERNEL, PROBLEM, ZEN4)
    assert ("default", {"mc": 16}, None) == (first.ground, first.config, first.record)
    assert "no record of it" in first.reason
    db.add_all([kept(A72, 16, cost=1e-9), kept(HASWELL, 32, cost=1e-6), kept(ZEN3, 64)])
    near = db.best_for(KERNEL, PROBLEM, ZEN4)
    assert ("compatible", {"mc": 64}, ZEN3, kept(ZEN3, 64)) == (
        near.ground, near.config, near.target, near.record,
    )  # fmt: skip
    assert "for cpu triple=x86_64-unknown-linux-gnu cpu=znver3, whose code runs here" in str(near)
    exact = db.best_for(KERNEL, PROBLEM, ZEN3_OTHER_LIBC)
    assert ("exact", {"mc": 64}) == (exact.ground, exact.config)


def test_what_does_not_run_here_or_is_edited_is_not_deployed(db: Database):
    """A wider machine's record, and one of a kernel that emits other code today, give way to the default."""
    db.add(kept(ZEN4))
    choice = db.best_for(KERNEL, PROBLEM, HASWELL)
    assert ("default", HASWELL) == (choice.ground, choice.target)
    assert "none of its 1 recorded tasks can be used here; the nearest: cpu " in choice.reason
    db.add(kept(HASWELL, 32, fingerprint="0" * 64))
    assert "default" == db.best_for(KERNEL, PROBLEM, HASWELL).ground
    assert "default" == db.best_for(KERNEL, {**PROBLEM, "m": 1}, ZEN4).ground


WIDE = kernel(needs=lambda config, problem: {"vector_bits": 512} if config["mc"] == 64 else {})


def test_what_this_machine_cannot_hold_hides_no_other_configuration(db: Database):
    """Of a task the best configuration is used that the needs allow here, be it a trial that no final beats."""
    db.add_all([kept(HASWELL, 64, cost=1e-6), kept(HASWELL, 32, cost=2e-6), kept(HASWELL, 16, cost=3e-6)])
    chosen = db.best_for(WIDE, PROBLEM, ZEN3)
    assert ("compatible", {"mc": 32}, kept(HASWELL, 32, cost=2e-6)) == (
        chosen.ground, chosen.config, chosen.record,
    )  # fmt: skip
    assert {"mc": 64} == db.best_for(WIDE, PROBLEM, ZEN4).config
    db.add(kept(HASWELL, 64, cost=4e-6, role="final"))
    assert {"mc": 64} == db.best_for(WIDE, PROBLEM, ZEN4).config
    assert {"mc": 32} == db.best_for(WIDE, PROBLEM, ZEN3).config
    assert [32, 16] == [record.config["mc"] for record in db.seeds(WIDE, PROBLEM, HASWELL)]


@pytest.mark.parametrize("target", [HASWELL, ZEN3], ids=["compatible", "exact"])
def test_a_configuration_that_the_space_holds_no_more_is_not_deployed(db: Database, target: Any):
    """As seeds are, the record is chosen among those in the space of today."""
    db.add_all([kept(target, 99, cost=1e-6), kept(target, 32, cost=2e-6)])
    assert {"mc": 32} == db.best_for(KERNEL, PROBLEM, ZEN3).config


def test_needs_that_came_later_count_for_the_exact_record_too(db: Database):
    """They are no part of a fingerprint: a record made before them is looked up, and not deployed."""
    db.add_all([kept(ZEN3, 64, cost=1e-6), kept(ZEN3, 32, cost=2e-6)])
    chosen = db.best_for(WIDE, PROBLEM, ZEN3)
    assert ("exact", {"mc": 32}) == (chosen.ground, chosen.config)
    assert kept(ZEN3, 64, cost=1e-6) == db.lookup(WIDE, PROBLEM, ZEN3)


def test_a_record_of_another_toolchain_is_said_to_be_one(db: Database):
    """It is of this very target, and no exact record all the same."""
    db.add(kept(ZEN3, toolchain="LLVM 99"))
    chosen = db.best_for(KERNEL, PROBLEM, ZEN3)
    assert ("compatible", {"mc": 64}) == (chosen.ground, chosen.config)
    assert (
        f"measured for this very target, in run 20260131-1 with LLVM 99, where this is {build.toolchain()}"
        in (chosen.reason)
    )


COUNTED = itertools.count()


def choosy_emit(config: Mapping[str, Any], target: Any, problem: Any) -> str:
    """Give another text each time for one target; else tell the order in which the problem came."""
    if target.tuning_key == HASWELL.tuning_key:
        return f"; {next(COUNTED)}"
    return f"; {config} {target.tuning_key} {list(problem)}"


def test_a_kernel_without_a_fingerprint_for_a_neighbour_is_a_reason(db: Database):
    """It stands in the explanation, and another record, or the default, is chosen."""
    only = attrs.evolve(KERNEL, emit=choosy_emit)
    db.add(kept(HASWELL))
    explained = db.explain(only, PROBLEM, ZEN3)
    assert {"cpu", "features", "fingerprint"} <= set(explained.fields)
    assert "two different texts" in str(explained)
    chosen = db.best_for(only, PROBLEM, ZEN3)
    assert "default" == chosen.ground
    assert "two different texts" in chosen.reason


def test_an_equal_problem_is_one_in_any_order(db: Database):
    """Also where what is emitted follows the order of its names."""
    only = attrs.evolve(KERNEL, emit=choosy_emit)
    turned = dict(reversed(list(dict(PROBLEM).items())))
    assert list(turned) != list(dict(PROBLEM))
    assert db.fingerprint(only, dict(PROBLEM), ZEN3) == Database(db.path).fingerprint(only, turned, ZEN3)
    db.add(kept(ZEN3, fingerprint=db.fingerprint(only, PROBLEM, ZEN3)))
    assert db.lookup(only, turned, ZEN3) is not None


def test_an_import_says_so(db: Database):
    """Its fingerprint is none of ours: that is no sign of an edited kernel."""
    db.add(kept(ZEN3, fingerprint="0" * 64, quality={"source": "t4"}))
    assert "it was imported from t4" in str(db.explain(KERNEL, PROBLEM, ZEN3))
    assert "default" == db.best_for(KERNEL, PROBLEM, ZEN3).ground


def test_machines_of_one_key_are_told_apart(db: Database):
    """Their tuning keys being equal, they share a task; code for one of them runs here, the others' does not."""
    newer = HASWELL.evolve(libc="glibc", libc_version="2.38")
    here = ZEN3.evolve(libc="glibc", libc_version="2.31")
    assert HASWELL.tuning_key == newer.tuning_key
    assert not newer.compatible(here)
    db.add_all([kept(newer, 64, cost=1e-6, problem=PROBLEM), kept(HASWELL, 32, cost=2e-6)])
    chosen = db.best_for(KERNEL, PROBLEM, here)
    assert ("compatible", {"mc": 32}) == (chosen.ground, chosen.config)


def test_each_configuration_of_a_target_is_one_seed(db: Database):
    """What several runs found alike stands once, with its least cost, and leaves room for others."""
    db.add_all([kept(ZEN3, 64, run=f"r{n}", cost=(1 + n) * 1e-6) for n in range(30)])
    db.add_all([kept(ZEN3, 32, cost=1e-4), kept(ZEN3, 16, cost=1e-3)])
    assert [(64, 1e-6), (32, 1e-4), (16, 1e-3)] == [
        (record.config["mc"], record.cost) for record in db.seeds(KERNEL, PROBLEM, ZEN3)
    ]


def test_the_default_fits_the_machine(db: Database):
    """The first configuration whose needs are met; an error where there is none."""
    choosy = kernel(needs=lambda config, problem: {"vector_bits": 512 if config["mc"] == 16 else 256})
    assert {"mc": 32} == db.best_for(choosy, PROBLEM, HASWELL).config
    with pytest.raises(KernelError, match=r"(?s)no configuration fits .*vector_bits"):
        db.best_for(kernel(needs=lambda config, problem: {"vector_bits": 512}), PROBLEM, HASWELL)


def test_deployment_is_here_unless_stated(db: Database):
    """None is this machine."""
    here = targetspec.detect_host()
    db.add(kept(here, 32))
    assert ("exact", {"mc": 32}) == (
        db.best_for(KERNEL, PROBLEM).ground,
        db.best_for(KERNEL, PROBLEM).config,
    )


def test_a_record_answers_on_another_machine(db: Database, tmp_path: Path):
    """After JSON, in a file that is merged in elsewhere, an equal target is answered, and no other."""
    with Database(tmp_path / "other.sqlite") as other:
        other.add(Record.loads(kept().dumps()))
    assert 1 == db.merge(tmp_path / "other.sqlite")
    assert kept() == db.lookup(KERNEL, PROBLEM, CpuTarget(cpu="znver3", triple="x86_64-linux-gnu"))
    for target in (A72, CUDA, HASWELL):
        assert db.lookup(KERNEL, PROBLEM, target) is None
    assert db.lookup(KERNEL, PROBLEM, ZEN3, toolchain="LLVM 99") is None
    assert numbered(0) != kept()
