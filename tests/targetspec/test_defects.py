"""Faults that target types of other compilers had, each with the right answer here."""

from __future__ import annotations

import itertools
import json
import os
import pickle
import subprocess
import sys
from typing import Any

import pytest

import targetspec
from targetspec import (
    CompositeTarget,
    CpuTarget,
    CudaTarget,
    FieldError,
    FieldTypeError,
    HostConflictError,
    RocmTarget,
    TargetspecError,
    TargetSyntaxError,
    UnknownNameError,
)

LINUX = "x86_64-unknown-linux-gnu"
ZEN3 = CpuTarget(triple=LINUX, cpu="znver3")
HASWELL = CpuTarget(triple=LINUX, cpu="haswell")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (ZEN3, CpuTarget(triple=LINUX, cpu="znver3")),
        (ZEN3, targetspec.parse("-mcpu=znver3 -mtriple=x86_64-linux-gnu")),
        (ZEN3, targetspec.from_dict({"cpu": "znver3", "triple": LINUX, "kind": "cpu"})),
        (ZEN3.with_host(HASWELL), ZEN3.with_host(CpuTarget(triple=LINUX, cpu="haswell"))),
        (CudaTarget(arch="sm_80"), CudaTarget(arch=(8, 0))),
        (CudaTarget(arch="sm_90a", libs=["a", "b"]), CudaTarget(arch="sm_90a", libs=["b", "a", "b"])),
        (CompositeTarget(members=[ZEN3]), CompositeTarget(members=(ZEN3,))),
    ],
)
def test_equal_targets_are_equal(first: Any, second: Any) -> None:
    """Two targets made apart from the same facts are equal, one key of a dict, and one digest (not one object each)."""
    assert first == second
    assert 1 == len({first, second})
    assert first.digest == second.digest
    assert str(first) == str(second)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: CudaTarget(arch="sm_banana"), TargetspecError, "banana"),
        (lambda: CudaTarget(arch="sm_999"), UnknownNameError, "999"),
        (lambda: CudaTarget(arch="sm_91"), UnknownNameError, "sm_90"),
        (lambda: RocmTarget(target_id="gfx9999"), TargetspecError, "gfx9999"),
        (lambda: CpuTarget(triple=LINUX, cpu="nosuch"), UnknownNameError, "nosuch"),
        (lambda: CpuTarget(triple=LINUX, cpu="znver33"), UnknownNameError, "znver3"),
        (lambda: CpuTarget(triple=LINUX, cpu="apple-latest"), UnknownNameError, "apple-latest"),
        (lambda: CpuTarget(triple="arm64-apple-macos", cpu="apple-latest"), UnknownNameError, "apple-latest"),
        (lambda: CpuTarget(cpu="nosuch"), UnknownNameError, "nosuch"),
        (lambda: CpuTarget(triple=LINUX, features=["avx-512f"]), UnknownNameError, "avx512f"),
        (lambda: CpuTarget(triple=LINUX, cpu="cortex-a53"), UnknownNameError, "x86"),
        (lambda: targetspec.parse("x86_64-linux-gnu -mattr=+nosuch"), TargetSyntaxError, "nosuch"),
        (lambda: targetspec.parse(f"cpu triple={LINUX} cpu=nosuch"), TargetSyntaxError, "nosuch"),
    ],
)
def test_an_unknown_name_is_refused_when_the_target_is_made(
    make: Any, error: type[Exception], words: str
) -> None:
    """No made-up architecture, CPU or feature is taken in silence and turned into a default later."""
    with pytest.raises(error, match=words):
        make()


@pytest.mark.parametrize("value", [-4, 0, True, False, 1.0, 4.0, "4", 2**63, float("nan"), [4], b"4"])
def test_a_count_is_a_positive_whole_number(value: Any) -> None:
    """`num-cores: -4` and a bool for an int are refused in Python, in JSON and in text."""
    with pytest.raises(FieldError, match="num_cores") as caught:
        CpuTarget(num_cores=value)
    assert (type(value) is not int) == isinstance(caught.value, FieldTypeError)
    assert ["$.num_cores"] == [p.path for p in targetspec.validate({"kind": "cpu", "num_cores": value})]
    if value != "4":
        with pytest.raises(TargetSyntaxError, match="num_cores"):
            targetspec.parse(f"cpu num_cores={value}")


@pytest.mark.parametrize("value", [1, 0, "true", None])
def test_a_flag_is_no_number(value: Any) -> None:
    """1 is not True, and in Python None is not False."""
    with pytest.raises(FieldTypeError, match="static"):
        CpuTarget(static=value)


def test_an_apple_triple_is_aarch64() -> None:
    """arm64-apple-macos names AArch64, not 32-bit ARM, with its tables."""
    mac = CpuTarget(triple="arm64-apple-macos")
    assert ("aarch64", "aarch64", 64) == (mac.triple.arch, mac.family, mac.triple.pointer_bits)
    assert "neon" in mac.features
    assert CpuTarget(triple="aarch64-apple-macosx") == mac
    assert "arm" == CpuTarget(triple="armv7-linux-gnueabihf").triple.arch


@pytest.mark.parametrize("alias", ["apple-m1", "apple-a14"])
def test_an_alias_is_a_valid_cpu_name(alias: str) -> None:
    """A name that LLVM knows as an alias only is as good as the other, and the same value."""
    assert CpuTarget(triple="arm64-apple-macos", cpu="apple-a14") == CpuTarget(
        triple="arm64-apple-macos", cpu=alias
    )


def test_features_in_any_order_are_equal() -> None:
    """The order and repetition of features never reach equality, text, JSON or digest, in any notation."""
    names = ("avx2", "fma", "vaes")
    built = {CpuTarget(triple=LINUX, features=order) for order in itertools.permutations(names)}
    built |= {
        targetspec.parse(f"x86_64-linux-gnu -mattr={','.join(f'+{name}' for name in order)}")
        for order in itertools.permutations((*names, "avx2", "sse2"))
    }
    documents = [
        {"kind": "cpu", "triple": LINUX, "features": list(order)} for order in itertools.permutations(names)
    ]
    assert 1 == len({targetspec.from_dict(document).digest for document in documents})
    assert 1 == len({target.without_host() for target in map(targetspec.from_dict, documents)})
    # A stated whole set is no change of the baseline, so the two notations give one value each.
    assert (
        2 == len(built) == len({target.digest for target in built}) == len({str(target) for target in built})
    )


def test_composites_round_trip() -> None:
    """JSON, text and pickle give a composite back with its members in order and its host."""
    first = CompositeTarget(members=[CudaTarget(arch="sm_80", libs=["cudnn"]), ZEN3], host=HASWELL)
    for again in (
        targetspec.loads(targetspec.dumps(first)),
        targetspec.parse(str(first)),
        pickle.loads(pickle.dumps(first)),
    ):
        assert first == again
        assert ["cuda", "cpu"] == [member.kind for member in again.members]
        assert HASWELL == again.host
    assert first != first.evolve(members=first.members[::-1])


def test_a_misspelt_feature_look_up_raises() -> None:
    """A look-up that can only ever be false is an error, and an absent feature that exists is plainly absent."""
    assert "avx2" in ZEN3.features
    assert "avx512f" not in ZEN3.features
    for name in ("avx-2", "avx22", "AVX2 ", "neon", ""):
        with pytest.raises(UnknownNameError):
            name in ZEN3.features  # noqa: B015 - the look-up is what is tested
    with pytest.raises(AttributeError):
        _ = ZEN3.has_avx22


def test_a_host_can_be_removed() -> None:
    """Once given, a host is no part of the target for ever."""
    assert ZEN3 == ZEN3.with_host(HASWELL).without_host()
    assert ZEN3.host is None
    assert "host" not in ZEN3.with_host(HASWELL).without_host().to_dict()


def test_a_different_host_conflicts_and_an_equal_one_does_not() -> None:
    """A second host neither replaces the first in silence nor is dropped in silence, wherever it comes from."""
    held = CudaTarget(arch="sm_80").with_host(HASWELL)
    assert held == held.with_host(CpuTarget(triple="x86_64-linux-gnu", cpu="core-avx2"))
    with pytest.raises(HostConflictError):
        held.with_host(ZEN3)
    text = str(held)
    assert held == targetspec.parse(text, host=HASWELL) == targetspec.parse(text, host=str(HASWELL))
    with pytest.raises(HostConflictError):
        targetspec.parse(text, host=ZEN3)
    with pytest.raises(HostConflictError):
        CompositeTarget(members=[held], host=ZEN3)
    assert HASWELL == CompositeTarget(members=[held], host=HASWELL).host
    assert ZEN3 == held.with_host(ZEN3, replace=True).host


def test_a_library_makes_targets_unequal_and_compatible_one_way() -> None:
    """Code that calls cudnn runs where cudnn is, and code that does not runs there too."""
    plain, with_library = CudaTarget(arch="sm_80"), CudaTarget(arch="sm_80", libs={"cudnn"})
    assert plain != with_library
    assert plain.digest != with_library.digest
    assert "yes" == plain.compatible(with_library).answer
    assert "no" == with_library.compatible(plain).answer
    assert ["libs"] == [reason.field for reason in with_library.compatible(plain).reasons]


def test_a_library_is_a_set_of_names_and_no_text() -> None:
    """The letters of one name are not six libraries."""
    with pytest.raises(FieldTypeError, match="list"):
        CudaTarget(arch="sm_80", libs="cudnn")


def test_a_target_makes_the_trip_through_a_spawned_process() -> None:
    """A process that has imported nothing of ours unpickles a target with its host, and sends an equal one back."""
    target = CompositeTarget(members=[CudaTarget(arch="sm_90a", libs=["cudnn"]), ZEN3], host=HASWELL)
    program = "import pickle, sys; sys.stdout.buffer.write(pickle.dumps(pickle.load(sys.stdin.buffer)))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=pickle.dumps(target),
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "random"},
    )
    again = pickle.loads(done.stdout)
    assert target == again
    assert (hash(target), target.digest) == (hash(again), again.digest)


def test_nothing_stated_is_nothing_guessed() -> None:
    """No default architecture, CPU, thread count or host appears, and equality tells not stated from stated."""
    assert {"kind": "cuda"} == CudaTarget().to_dict()
    assert {"kind": "cpu"} == CpuTarget().to_dict()
    assert CudaTarget() != CudaTarget(arch="sm_50")
    assert CpuTarget(triple=LINUX).cpu is None
    assert "unknown" == CudaTarget().compatible(CudaTarget(arch="sm_90")).answer


def test_unknown_on_both_sides_does_not_make_facts_equal() -> None:
    """A fact that neither side states never turns a difference elsewhere into a yes."""
    assert (
        "no"
        == CpuTarget(triple=LINUX, cpu="haswell").compatible(CpuTarget(triple=LINUX, cpu="nehalem")).answer
    )
    assert "unknown" == CpuTarget(cpu="generic").compatible(CpuTarget(triple=LINUX)).answer


def test_a_target_in_a_file_is_read_as_json_only() -> None:
    """What is written is data: one object of plain members, which reads the same after any other program's rewriting."""
    target = CudaTarget(arch="sm_90a", host=ZEN3)
    document = json.loads(targetspec.dumps(target))
    assert target == targetspec.loads(json.dumps(document, indent=3, sort_keys=False, ensure_ascii=False))
