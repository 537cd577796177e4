"""Laws and facts of target values: equality, copies, digest, host, construction."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import targetspec
from targetspec import (
    CpuTarget,
    FeatureConflictError,
    FieldError,
    FieldTypeError,
    HostConflictError,
    UnknownNameError,
)
from targetspec.fields import canonical_json
from targetspec.testing import cpu_targets, hosts, targets

ZEN3 = {"triple": "x86_64-unknown-linux-gnu", "cpu": "znver3"}


@given(targets())
def test_copies_are_equal_in_all_they_say(target: CpuTarget) -> None:
    """Pickle, copy, deepcopy and JSON give back an equal value with an equal hash, digest and text."""
    for again in (
        pickle.loads(pickle.dumps(target)),
        copy.copy(target),
        copy.deepcopy(target),
        targetspec.loads(targetspec.dumps(target)),
        targetspec.from_dict(target.to_dict()),
        targetspec.parse(str(target)),
    ):
        assert target == again
        assert (hash(target), target.digest, str(target)) == (hash(again), again.digest, str(again))


@given(targets(), targets())
def test_equal_iff_same_text_and_digest(first: CpuTarget, second: CpuTarget) -> None:
    """Equality, the canonical JSON, the text, the digest and an empty diff all say the same."""
    same = first == second
    assert same == (str(first) == str(second))
    assert same == (first.digest == second.digest)
    assert same == (canonical_json(first._document()) == canonical_json(second._document()))
    assert same == (targetspec.diff(first, second) == ())


@given(targets(), hosts(), hosts())
def test_a_host_can_be_set_and_removed_and_conflicts_only_when_different(
    target: CpuTarget, first: CpuTarget, second: CpuTarget
) -> None:
    """An equal host joins quietly, a different one raises unless it replaces."""
    bare = target.without_host()
    assert bare.host is None
    held = bare.with_host(first)
    assert first == held.host
    assert held == held.with_host(copy.deepcopy(first))
    assert bare == held.without_host()
    if first != second:
        with pytest.raises(HostConflictError) as caught:
            held.with_host(second)
        assert (first, second) == (caught.value.existing, caught.value.offered)
        assert second == held.with_host(second, replace=True).host


def test_aliases_of_triples_cpus_and_features_are_one_value() -> None:
    """What is the same under two names is equal, and says so in the same words."""
    first = CpuTarget(triple="arm64-apple-macos", cpu="apple-m1")
    assert first == CpuTarget(triple="aarch64-apple-macosx", cpu="apple-a14")
    skx = CpuTarget(triple="x86_64-linux-gnu", cpu="skx")
    assert skx == CpuTarget(triple="x86_64-unknown-linux-gnu", cpu="skylake-avx512")


def test_a_redundant_feature_changes_nothing_and_order_never_matters() -> None:
    """A stated set is closed and has no order."""
    plain = CpuTarget(**ZEN3)
    names = list(plain.features or ())
    assert plain == CpuTarget(**ZEN3, features=names) == CpuTarget(**ZEN3, features=names[::-1])
    assert plain == targetspec.parse("x86_64-linux-gnu -mcpu=znver3 -mattr=+avx2")


def test_libraries_make_targets_unequal() -> None:
    """Exact equality sees the libraries that code calls."""
    assert CpuTarget(**ZEN3) != CpuTarget(**ZEN3, libs={"cudnn"})


def test_one_fact_has_one_place() -> None:
    """A tune equal to the CPU is none; what the triple says of libc and float ABI is filled in, not kept twice."""
    assert CpuTarget(**ZEN3, tune="znver3").tune is None
    assert CpuTarget(**ZEN3) == CpuTarget(**ZEN3, libc="glibc")
    assert "libc" not in CpuTarget(**ZEN3, libc="glibc").to_dict()


@pytest.mark.parametrize(
    ("fields", "error", "words"),
    [
        ({"num_cores": True}, FieldTypeError, "whole number"),
        ({"num_cores": 1.0}, FieldTypeError, "whole number"),
        ({"num_cores": "4"}, FieldTypeError, "whole number"),
        ({"num_cores": -4}, FieldError, "from 1 to"),
        ({"num_cores": 0}, FieldError, "from 1 to"),
        ({"cpu": "znver33"}, UnknownNameError, "znver3"),
        ({"cpu": 3}, FieldTypeError, "CPU name"),
        ({"features": ["avx3"]}, UnknownNameError, "avx"),
        ({"features": "avx2"}, FieldTypeError, "set of feature name"),
        ({"libs": "cudnn"}, FieldTypeError, "list"),
        ({"libc": "musl"}, FieldError, "the triple says glibc"),
        ({"static": 1}, FieldTypeError, "true or false"),
        ({"host": "x86_64"}, FieldTypeError, "must be a target"),
        ({"triple": 5}, FieldTypeError, "triple"),
        ({"triple": "x86_64-unknown-linx-gnu"}, ValueError, "linux"),
        ({"tuning": ["+avx2"]}, FieldError, "isa"),
    ],
)
def test_bad_fields_are_refused_with_their_place(
    fields: dict[str, Any], error: type[Exception], words: str
) -> None:
    """A wrong type, a value out of range and an unknown name each get an error that says what is allowed."""
    with pytest.raises(error, match=words):
        CpuTarget(**{**ZEN3, **fields})


def test_a_host_does_not_nest() -> None:
    """A host that has a host itself is refused."""
    host = CpuTarget(**ZEN3)
    with pytest.raises(FieldError, match="do not nest"):
        CpuTarget(**ZEN3, host=host.with_host(host))


def test_a_foreign_type_is_not_equal_and_a_field_cannot_be_set() -> None:
    """Comparison with something else is quietly false; a target is frozen all the way down."""
    target = CpuTarget(**ZEN3)
    assert target != "x86_64"
    assert target.__eq__(1) is NotImplemented
    with pytest.raises(AttributeError):
        target.cpu = "znver2"  # type: ignore[misc]
    assert isinstance(target.libs, frozenset)


def test_a_misspelt_feature_lookup_raises() -> None:
    """A look-up answers only for names that exist."""
    target = CpuTarget(**ZEN3)
    assert target.features is not None
    assert "avx512f" not in target.features
    with pytest.raises(UnknownNameError, match="avx2"):
        "avx22" in target.features  # noqa: B015 - the look-up is what is tested


def test_evolve_implies_anew_what_was_implied() -> None:
    """A new CPU brings its own features, unless they were stated apart."""
    target = CpuTarget(**ZEN3)
    assert CpuTarget(**{**ZEN3, "cpu": "haswell"}) == target.evolve(cpu="haswell")
    assert "musl" == target.evolve(triple="x86_64-unknown-linux-musl").libc
    with pytest.raises(FieldError, match="num_cores"):
        target.evolve(num_core=3)


@given(cpu_targets())
def test_tuning_key_ignores_only_what_cannot_change_code(target: CpuTarget) -> None:
    """A libc floor changes the digest and not the tuning key; a CPU's name changes both."""
    if target.libc is None:
        return
    newer = target.evolve(libc_version="9.99")
    assert target.digest != newer.digest
    assert target.tuning_key == newer.tuning_key
    assert target.tuning_key != target.evolve(num_cores=77 if target.num_cores != 77 else 78).tuning_key


def test_digest_is_the_same_under_other_hash_seeds() -> None:
    """A spawned interpreter with another hash seed computes the digest that this one does."""
    target = CpuTarget(**ZEN3, libs={"a", "b", "c"}, host=CpuTarget(**ZEN3))
    code = "import sys, pickle; print(pickle.loads(sys.stdin.buffer.read()).digest)"
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            input=pickle.dumps(target),
            capture_output=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        assert target.digest == done.stdout.decode().strip()


def test_golden_digests_of_version_1() -> None:
    """The digests of version 1 never change: stored records are found by them."""
    host = CpuTarget(triple="aarch64-unknown-linux-gnu", features=["neon"], num_cores=4)
    target = CpuTarget(
        triple="x86_64-unknown-linux-gnu", cpu="haswell", features=["avx2"], libs={"cblas"}, host=host
    )
    assert GOLDEN == (host.digest, target.digest)


GOLDEN = (
    "59fce205b715308d44d0e55443025aaad1a476634c40345062e4b7bffd6546d4",
    "047caa6e7eb92db4deaa17b79c546483434b8d00580163993d92edcb99701095",
)


def test_errors_travel_and_compare() -> None:
    """Every error survives pickle with its data and its text."""
    with pytest.raises(UnknownNameError) as caught:
        CpuTarget(**{**ZEN3, "cpu": "znver33"})
    again = pickle.loads(pickle.dumps(caught.value))
    assert caught.value == again
    assert str(caught.value) == str(again)


@given(cpu_targets(hosts=False), st.sampled_from(["targetspec", "llvm"]))
def test_format_is_readable_again_where_it_names_no_loss(target: CpuTarget, dialect: str) -> None:
    """What a dialect writes without complaint reads back as the same target; a complaint names the fields."""
    try:
        text = target.format(dialect)
    except targetspec.NotRepresentableError as error:
        lost = {name for name, _ in error.fields}
    else:
        assert target == targetspec.parse(text, dialect)
        lost = set()
    assert lost <= set(target.specs())
    assert dialect == "llvm" or not lost


def test_a_difference_shows_both_values_and_of_sets_what_each_has_alone() -> None:
    """Numbers and flags are shown as they are, and never as their difference."""
    first = CpuTarget(num_cores=4, static=True, libs={"a", "b"})
    second = CpuTarget(num_cores=8, libs={"b", "c"}, cpu="cortex-a53")
    expected = ("cpu: not stated | cortex-a53", "num_cores: 4 | 8", "static: True | False", "libs: a | c")
    assert expected == targetspec.diff(first, second)


@pytest.mark.parametrize("host", [None, "native", 1])
def test_what_is_no_target_is_no_host(host: Any) -> None:
    """The type is at fault, and not a conflict with the host that is there."""
    target = CpuTarget(triple="x86_64-linux-gnu", host=CpuTarget(triple="x86_64-linux-gnu"))
    with pytest.raises(FieldTypeError, match="must be a target"):
        target.with_host(host)


def test_an_error_can_be_shown_whatever_value_it_is_about() -> None:
    """A number too long for Python to write is described, and the error travels."""
    with pytest.raises(FieldError, match="16610 bits") as caught:
        CpuTarget(num_cores=10**5000)
    assert caught.value == pickle.loads(pickle.dumps(caught.value))
    with pytest.raises(FieldError, match="16610 bits"):
        CpuTarget().compatible(CpuTarget(), needs={"vector_bits": 10**5000})


def test_tuning_and_restrictions_are_settled_at_construction() -> None:
    """They hold LLVM's names, and of tuning only what departs from the CPU's."""
    assert CpuTarget(**ZEN3) == CpuTarget(**ZEN3, tuning={"+fast-bextr", "-slow-3ops-lea"})
    assert {"-fast-bextr"} == CpuTarget(**ZEN3, tuning={"-fast_bextr"}).tuning
    arm = CpuTarget(triple="aarch64-linux-gnu", restrictions={"strict_align"})
    assert arm == CpuTarget(triple="aarch64-linux-gnu", restrictions={"strict-align"})
    with pytest.raises(FeatureConflictError, match="at once"):
        CpuTarget(**ZEN3, tuning={"+fast-bextr", "-fast_bextr"})


def test_the_version_of_the_c_library_has_one_place() -> None:
    """A version in the triple moves to libc_version, and a different one beside it is an error."""
    target = CpuTarget(triple="x86_64-linux-gnu2.17")
    assert target == CpuTarget(triple="x86_64-linux-gnu", libc_version="2.17")
    assert target == CpuTarget(triple="x86_64-linux-gnu2.17", libc_version="2.17")
    assert "x86_64-unknown-linux-musl1.2" != str(CpuTarget(triple="x86_64-linux-musl1.2").triple)
    assert "24" == CpuTarget(triple="aarch64-linux-android24").triple.environment_version
    with pytest.raises(FieldError, match=r"the triple says 2\.17"):
        CpuTarget(triple="x86_64-linux-gnu2.17", libc_version="2.36")


@pytest.mark.parametrize(
    ("triple", "present"),
    [
        ("riscv64-unknown-linux-gnu", {"m", "a", "f", "d", "c"}),
        ("armv7-unknown-linux-gnueabihf", {"armv7-a"}),
        ("x86_64-unknown-linux-gnu", {"sse2"}),
        ("aarch64-unknown-linux-gnu", {"neon"}),
    ],
)
def test_a_triple_without_a_cpu_has_what_its_architecture_says(triple: str, present: set[str]) -> None:
    """The baseline is clang's for the architecture and system, and can be changed like any CPU's set."""
    target = CpuTarget(triple=triple)
    assert present <= set(target.features or ())
    name = max(present)
    less = targetspec.parse(f"{triple} -mattr=-{name}")
    assert name not in set(less.features or ())  # type: ignore[attr-defined]
    assert less == targetspec.parse(str(less))
