"""The relation: known answers for processors, needs, and what may be asked; its laws stand in test_laws."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import pytest

import targetspec
from targetspec import CpuTarget, CudaTarget, HostConflictError, UnknownNameError, VulkanTarget
from targetspec.rules import PURPOSES

LINUX = "x86_64-unknown-linux-gnu"


def cpu(name: str | None, triple: str = LINUX, **fields: Any) -> CpuTarget:
    """Return a target in few words."""
    return CpuTarget(triple=triple, cpu=name, **fields)


@pytest.mark.parametrize(
    ("built_for", "run_on", "answer"),
    [
        (cpu("haswell"), cpu("znver3"), "yes"),
        (cpu("znver3"), cpu("haswell"), "no"),
        (cpu("x86-64-v3"), cpu("haswell"), "yes"),
        (cpu("x86-64-v4"), cpu("skylake-avx512"), "yes"),
        (cpu("x86-64-v4"), cpu("znver3"), "no"),
        (cpu(None), cpu("x86-64-v2"), "yes"),
        (cpu("haswell"), cpu("haswell", "x86_64-unknown-linux-musl"), "no"),
        (cpu("haswell", libc_version="2.17"), cpu("haswell", libc_version="2.36"), "yes"),
        (cpu("haswell", libc_version="2.36"), cpu("haswell", libc_version="2.4"), "no"),
        (cpu("haswell", libc_version="2.36"), cpu("haswell"), "unknown"),
        (cpu("haswell", static=True), cpu("haswell", "x86_64-unknown-linux-musl"), "yes"),
        (cpu("haswell"), cpu("haswell", "x86_64-pc-windows-msvc"), "no"),
        (cpu("haswell"), cpu("haswell", "x86_64-pc-linux-gnu"), "yes"),
        (cpu("i686", "i686-unknown-linux-gnu"), cpu("haswell"), "unknown"),
        (cpu("haswell"), cpu("haswell", "i686-unknown-linux-gnu"), "no"),
        (cpu("cortex-a53", "aarch64-linux-gnu"), cpu("cortex-a72", "aarch64-linux-gnu"), "yes"),
        (cpu("cortex-a72", "aarch64-linux-gnu"), cpu("haswell"), "no"),
        (cpu("apple-m1", "arm64-apple-macos13"), cpu("apple-m1", "arm64-apple-macos14"), "yes"),
        (cpu("apple-m1", "arm64-apple-macos14"), cpu("apple-m1", "arm64-apple-macos13"), "no"),
        (cpu("apple-m1", "arm64-apple-macos14"), cpu("apple-m1", "arm64-apple-darwin23"), "yes"),
        (cpu("apple-m1", "arm64-apple-ios17"), cpu("apple-m1", "arm64-apple-ios17-simulator"), "no"),
        (cpu("haswell", libs={"cudnn"}), cpu("haswell"), "no"),
        (cpu("haswell"), cpu("haswell", libs={"cudnn"}), "yes"),
    ],
)
def test_known_answers_for_code(built_for: CpuTarget, run_on: CpuTarget, answer: str) -> None:
    """Facts of the families, checked against their makers' rules."""
    assert answer == built_for.compatible(run_on).answer


def test_the_bridge_compat32_is_named_in_the_verdict() -> None:
    """32-bit code on a 64-bit machine is a yes only where the caller vouches for the userland."""
    verdict = cpu("i686", "i686-unknown-linux-gnu").compatible(cpu("haswell"), bridges=("compat32",))
    assert verdict
    assert {"compat32"} == {reason.bridge for reason in verdict.reasons}
    with pytest.raises(UnknownNameError, match="compat32"):
        cpu("haswell").compatible(cpu("haswell"), bridges=("compat23",))


def test_schedule_is_looser_in_isa_and_states_what_to_measure() -> None:
    """A tuned configuration is worth trying on another CPU of the family; needs alone block."""
    verdict = cpu("znver4").compatible(cpu("haswell"), purpose="schedule")
    assert verdict
    assert {"cpu", "features"} == {reason.field for reason in verdict.reasons}
    assert {"re-measure"} == {reason.weight for reason in verdict.reasons}
    needy = cpu("znver4").compatible(cpu("haswell"), purpose="schedule", needs={"vector_bits": 512})
    assert "no" == needy.answer
    assert not cpu("znver4").compatible(cpu("cortex-a72", "aarch64-linux-gnu"), purpose="schedule")


def test_needs_are_checked() -> None:
    """A need that no field or derived fact answers is an error with the nearest names."""
    with pytest.raises(UnknownNameError, match="vector_bits"):
        cpu("znver4").compatible(cpu("znver4"), needs={"vector_bit": 512})
    with pytest.raises(ValueError, match="whole number"):
        cpu("znver4").compatible(cpu("znver4"), needs={"vector_bits": "512"})
    assert cpu("znver4").compatible(cpu("znver4"), needs={"vector_registers": 32})
    assert not cpu("znver4").compatible(cpu("znver3"), purpose="schedule", needs={"vector_registers": 32})


ELSEWHERE = """
import pickle, sys
plain, device = pickle.load(sys.stdin.buffer)
answers = plain.compatible(plain).answer, device.compatible(device, purpose="link").answer
sys.stdout.buffer.write(pickle.dumps((plain, device, device.with_host(plain), answers)))
"""


def test_a_target_that_was_in_another_process_is_the_same() -> None:
    """After a trip to a spawned interpreter and back targets are equal and compatible both ways, and equal hosts join."""
    plain = cpu("znver3", libc_version="2.17", num_cores=8)
    device = CudaTarget(arch="sm_90a", host=plain, libs={"cudnn"})
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE],
        input=pickle.dumps((plain, device)),
        capture_output=True,
        check=True,
    )
    again, back, joined, answers = pickle.loads(done.stdout)
    assert ("yes", "yes") == answers
    assert (plain, device, device) == (again, back, joined)
    for one, other in ((plain, again), (again, plain), (device, back), (back, device)):
        for purpose in PURPOSES:
            assert one.compatible(other, purpose=purpose)
    assert device == back.with_host(plain) == device.without_host().with_host(again)
    with pytest.raises(HostConflictError):
        device.with_host(plain.evolve(num_cores=16))


@pytest.mark.parametrize("make", [CpuTarget, CudaTarget, VulkanTarget])
def test_libraries_set_targets_apart_one_way_only(make: Any) -> None:
    """libs={cudnn} against none: unequal, and compatible from none to cudnn only, with the repair that adds it."""
    plain, with_library = make(), make(libs={"cudnn"})
    assert plain != with_library
    assert plain.compatible(with_library)
    (reason,) = with_library.compatible(plain).reasons
    assert ("libs", "cudnn", "blocks") == (reason.field, reason.needed, reason.weight)
    assert ("libs", frozenset({"cudnn"})) == reason.repair


def test_missing_features_are_named() -> None:
    """A no names each feature that the code needs and the machine lacks."""
    guest = targetspec.parse(f"{LINUX} -mcpu=znver3 -mattr=-pku")
    verdict = cpu("znver3").compatible(guest)
    assert "no" == verdict.answer
    assert "pku" == verdict.reasons[0].needed
    assert guest.compatible(guest)


def test_a_bad_question_is_an_error() -> None:
    """Purposes are three, and the other side must be a target."""
    with pytest.raises(UnknownNameError, match="code"):
        cpu("znver3").compatible(cpu("znver3"), purpose="codes")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="must be a Target"):
        cpu("znver3").compatible("x86_64")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("built_for", "run_on", "answer"),
    [
        ("x86_64-linux-gnux32", "i686-linux-gnu", "no"),
        ("x86_64-linux-gnux32", "x86_64-linux-gnu", "unknown"),
        ("i686-linux-gnu", "x86_64-linux-gnux32", "unknown"),
        ("arm64-apple-macos14", "arm64e-apple-macos14", "yes"),
        ("arm64e-apple-macos14", "arm64-apple-macos14", "no"),
        ("arm64ec-windows-msvc", "arm64-windows-msvc", "no"),
        ("aarch64-linux-pauthtest", "aarch64-linux-gnu", "no"),
        ("x86_64-linux-gnu2.17", "x86_64-linux-gnu2.36", "yes"),
        ("x86_64-linux-gnu2.36", "x86_64-linux-gnu2.4", "no"),
        ("x86_64-linux-gnu2.17", "x86_64-linux-gnu", "unknown"),
        ("x86_64-windows-msvc19.33", "x86_64-windows-msvc19.11", "yes"),
        ("aarch64-linux4.4-android30", "aarch64-linux5.10-android21", "no"),
        ("aarch64-linux-android30", "aarch64-linux-android21", "no"),
        ("aarch64-linux-android21", "aarch64-linux-android30", "yes"),
        ("aarch64-linux-android21", "aarch64-linux-android", "unknown"),
        ("arm64-apple-darwin", "arm64-apple-macos14", "yes"),
        ("arm64-apple-darwin23", "arm64-apple-darwin", "unknown"),
    ],
)
def test_known_answers_for_triples(built_for: str, run_on: str, answer: str) -> None:
    """What modes, ABIs and versions in a triple mean: each kind of version is compared with its own kind only."""
    name = "x86-64-v2" if built_for.startswith("x86_64") else None
    first, second = cpu(name, built_for), cpu("znver3" if name else None, run_on)
    first, second = (one.evolve(features=[]) for one in (first, second))
    assert answer == first.compatible(second).answer


def test_a_32_bit_userland_has_no_x32() -> None:
    """The bridge compat32 is for code of the 32-bit mode."""
    x32 = cpu(None, "x86_64-linux-gnux32")
    assert "unknown" == x32.compatible(cpu("znver3"), bridges=("compat32",)).answer


def test_an_old_c_library_is_mended_by_a_newer_one() -> None:
    """A version has a repair; another C library has none."""
    needs_new = cpu("haswell", libc_version="2.36")
    (reason,) = needs_new.compatible(cpu("haswell", libc_version="2.17")).reasons
    assert ("libc_version", "2.36") == reason.repair
    (reason,) = needs_new.compatible(cpu("haswell", "x86_64-linux-musl")).reasons
    assert reason.repair is None


def test_reasons_say_versions_and_restrictions_in_words() -> None:
    """A version is written as one, and a restriction says which code would do."""
    (reason,) = cpu(None, "x86_64-linux5.10-gnu").compatible(cpu(None, "x86_64-linux5.4-gnu")).reasons
    assert ("5.10", "5.4") == (reason.needed, reason.available)
    strict = cpu(None, "aarch64-linux-gnu", restrictions={"strict-align"})
    (reason,) = strict.without_host().evolve(restrictions=set()).compatible(strict).reasons
    assert ("code that keeps to strict-align", "code that keeps to nothing") == (
        reason.needed,
        reason.available,
    )
