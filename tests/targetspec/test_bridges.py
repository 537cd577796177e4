"""Layers that run code which a machine does not: only where the caller names them, and only what each is made for."""

from __future__ import annotations

import itertools
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies_relation import FAMILIES, SUBJECTS, pair, subject_target
from targetspec import CompositeTarget, CpuTarget, CudaTarget, UnknownNameError
from targetspec.compatibility import BRIDGES
from targetspec.rules import PURPOSES

each = settings(max_examples=min(5000, 3 * settings().max_examples))
seeds = st.integers(0, 2**64 - 1)
LINUX, MACOS = "x86_64-linux-gnu", "x86_64-apple-macosx13"


def cpu(triple: str, name: str | None = None, **fields: Any) -> CpuTarget:
    """Return a processor in few words."""
    return CpuTarget(triple=triple, cpu=name, **fields)


@pytest.mark.parametrize(
    ("code", "machine", "bridge", "without"),
    [
        # A 32-bit userland of the same processor.
        (cpu("i686-linux-gnu"), cpu(LINUX), "compat32", "unknown"),
        (cpu("i686-windows-msvc"), cpu("x86_64-windows-msvc"), "compat32", "unknown"),
        (cpu("i686-linux-gnu"), cpu("x86_64-linux-gnux32"), "compat32", "unknown"),
        (cpu("armv7-linux-gnueabihf"), cpu("aarch64-linux-gnu", "cortex-a72"), "compat32", "unknown"),
        (cpu("armv6-linux-gnueabi"), cpu("aarch64-linux-gnu", "cortex-a53"), "compat32", "unknown"),
        (cpu("mipsel-linux-gnu"), cpu("mips64el-linux-gnuabi64"), "compat32", "unknown"),
        (cpu("mips64el-linux-gnuabin32"), cpu("mips64el-linux-gnuabi64"), "compat32", "unknown"),
        (cpu("mipsel-linux-gnu"), cpu("mips64el-linux-gnuabin32"), "compat32", "unknown"),
        (cpu("riscv32-linux-gnu"), cpu("riscv64-linux-gnu"), "compat32", "unknown"),
        (
            cpu("riscv32-linux-gnu", abi="ilp32d", features=["i", "m"]),
            cpu("riscv64-linux-gnu", abi="lp64d"),
            "compat32",
            "unknown",
        ),
        (
            cpu("powerpc-linux-gnu", "ppc"),
            cpu("powerpc64-linux-gnu", "pwr7"),
            "compat32",
            "unknown",
        ),
        # Apple's translation.
        (cpu(MACOS), cpu("arm64-apple-macos14", "apple-m1"), "rosetta", "no"),
        (cpu(MACOS, "westmere"), cpu("arm64-apple-macos14", "apple-m1"), "rosetta", "no"),
        (cpu(MACOS, "haswell", features=["avx2"]), cpu("arm64-apple-macos15", "apple-m1"), "rosetta", "no"),
        (cpu(LINUX, "x86-64-v2"), cpu("aarch64-linux-gnu", "apple-m1"), "rosetta", "no"),
        # Emulation of a processor.
        (cpu("aarch64-linux-gnu"), cpu(LINUX), "qemu-user", "no"),
        (cpu("riscv64-linux-gnu"), cpu(LINUX), "qemu-user", "no"),
        (cpu("s390x-linux-gnu"), cpu("aarch64-linux-gnu"), "qemu-user", "no"),
        (cpu(LINUX, "x86-64-v3"), cpu(LINUX, "x86-64"), "qemu-user", "no"),
        (cpu("aarch64-linux-gnu", "neoverse-v1"), cpu("aarch64-linux-gnu"), "qemu-user", "no"),
        # Windows's programs elsewhere.
        (cpu("x86_64-windows-msvc"), cpu(LINUX), "wine", "no"),
        (cpu("x86_64-windows-gnu"), cpu(MACOS), "wine", "no"),
        (cpu("x86_64-pc-windows10.0.17763-msvc"), cpu(LINUX), "wine", "no"),
        (cpu("aarch64-windows-msvc"), cpu("aarch64-linux-gnu"), "wine", "no"),
        # A runtime of WebAssembly.
        (cpu("wasm32-wasip1"), cpu(LINUX), "wasmtime", "no"),
        (cpu("wasm32-wasip2"), cpu("arm64-apple-macos14"), "wasmtime", "no"),
    ],
)
def test_what_a_bridge_is_made_for(code: CpuTarget, machine: CpuTarget, bridge: str, without: str) -> None:
    """A yes by this bridge and no other one alone; the verdict names it, as a caution."""
    assert without == code.compatible(machine).answer
    verdict = code.compatible(machine, bridges=(bridge,))
    assert "yes" == verdict.answer, str(verdict)
    assert {bridge} == {reason.bridge for reason in verdict.reasons if reason.bridge}
    assert {"caution"} == {reason.weight for reason in verdict.reasons}
    assert f"through the bridge {bridge}" in str(verdict)
    others = set(BRIDGES) - {bridge, "qemu-user"}
    assert not code.compatible(machine, bridges=others)


@pytest.mark.parametrize(
    ("code", "machine", "bridge", "answer"),
    [
        (cpu("x86_64-linux-gnux32"), cpu(LINUX), "compat32", "unknown"),
        (cpu(LINUX), cpu("i686-linux-gnu"), "compat32", "no"),
        (cpu("armv7-linux-gnueabihf"), cpu("arm64-apple-macos14"), "compat32", "no"),
        (cpu("armebv7-linux-gnueabihf"), cpu("aarch64-linux-gnu"), "compat32", "no"),
        (cpu("armv7-linux-gnueabihf", "cortex-a32", features=["aes"]), cpu("aarch64-linux-gnu", "cortex-a53", features=[]), "compat32", "no"),
        (cpu("mips-linux-gnu"), cpu("mips64el-linux-gnuabi64"), "compat32", "no"),
        (cpu("i686-linux-gnu"), cpu("aarch64-linux-gnu"), "compat32", "no"),
        (cpu("armv7-linux-gnueabi", float_abi="soft"), cpu("armv7-linux-gnueabi", float_abi="softfp"), "compat32", "no"),
        (cpu("powerpc64le-linux-gnu", long_double="ieee128"), cpu("powerpc64le-linux-gnu", long_double="ibm128"), "compat32", "no"),
        (cpu("i686-linux-musl"), cpu(LINUX), "compat32", "no"),
        (cpu("i686-linux-gnu", "haswell"), cpu(LINUX), "compat32", "no"),
        (cpu(MACOS, "haswell"), cpu("arm64-apple-macos14", "apple-m1"), "rosetta", "no"),
        (cpu(MACOS, "skylake-avx512"), cpu("arm64-apple-macos15", "apple-m1"), "rosetta", "no"),
        (cpu("i686-apple-macosx10.14"), cpu("arm64-apple-macos14"), "rosetta", "no"),
        (cpu(LINUX), cpu("arm64-apple-macos14"), "rosetta", "no"),
        (cpu("x86_64-unknown-freebsd"), cpu("aarch64-unknown-freebsd"), "rosetta", "no"),
        (cpu("x86_64-apple-macosx15"), cpu("arm64-apple-macos14"), "rosetta", "no"),
        (cpu("arm64-apple-macos14"), cpu(MACOS), "rosetta", "no"),
        (cpu(LINUX, "x86-64-v4"), cpu("aarch64-linux-gnu"), "qemu-user", "no"),
        (cpu(LINUX), cpu("aarch64-unknown-freebsd"), "qemu-user", "no"),
        (cpu(MACOS), cpu("arm64-apple-macos14"), "qemu-user", "no"),
        (cpu("aarch64-linux-musl"), cpu(LINUX), "qemu-user", "no"),
        (cpu("x86_64-windows-msvc"), cpu("aarch64-linux-gnu"), "wine", "no"),
        (cpu("x86_64-windows-msvc", "haswell"), cpu(LINUX), "wine", "no"),
        (cpu(LINUX), cpu("x86_64-windows-msvc"), "wine", "no"),
        (cpu("x86_64-windows-msvc"), cpu("x86_64-unknown-openbsd"), "wine", "no"),
        (cpu("wasm32-unknown-unknown"), cpu(LINUX), "wasmtime", "no"),
        (cpu("wasm32-wasip1", features=["fp16"]), cpu(LINUX), "wasmtime", "no"),
        (cpu("wasm32-wasip1"), cpu("wasm32-wasip2"), "wasmtime", "no"),
        (cpu("wasm32-wasip1"), cpu("wasm64-wasip1"), "compat32", "no"),
        (cpu(LINUX), cpu("wasm32-wasip1"), "wasmtime", "no"),
        (cpu(LINUX, libs={"mkl"}), cpu(LINUX), "qemu-user", "no"),
    ],
)  # fmt: skip
def test_what_a_bridge_is_not_made_for(code: CpuTarget, machine: CpuTarget, bridge: str, answer: str) -> None:
    """A layer changes nothing beyond its pairs, its instruction sets and its rules."""
    assert answer == code.compatible(machine, bridges=(bridge,)).answer


@pytest.mark.parametrize(
    ("code", "machine", "bridges"),
    [
        (cpu("x86_64-windows-msvc"), cpu("arm64-apple-macos14", "apple-m1"), ("wine", "rosetta")),
        (cpu("x86_64-windows-msvc"), cpu("aarch64-linux-gnu"), ("wine", "qemu-user")),
        (cpu("i686-windows-msvc"), cpu(LINUX), ("wine", "compat32")),
    ],
)
def test_two_layers_at_once(code: CpuTarget, machine: CpuTarget, bridges: tuple[str, ...]) -> None:
    """Code that is foreign in two ways needs both layers, in any order, and the verdict names both."""
    verdict = code.compatible(machine, bridges=bridges)
    assert verdict
    assert set(bridges) == {reason.bridge for reason in verdict.reasons if reason.bridge}
    assert verdict == code.compatible(machine, bridges=reversed(bridges))
    for one in bridges:
        assert not code.compatible(machine, bridges=(one,))


STRICT = cpu("aarch64-linux-gnu", restrictions={"strict-align"})


@pytest.mark.parametrize(
    ("code", "machine", "bridge", "field"),
    [
        (cpu("riscv64-linux-gnu", abi="lp64d"), cpu(LINUX), "qemu-user", "abi"),
        (cpu("mipsel-linux-gnu"), cpu(LINUX), "qemu-user", "features (abi)"),
        (cpu("mipsel-linux-gnu"), cpu(LINUX), "qemu-user", "features (generation)"),
        (cpu("armv7-linux-gnueabihf"), cpu(LINUX), "qemu-user", "float_abi"),
        (cpu("powerpc64le-linux-gnu", long_double="ieee128"), cpu(LINUX), "qemu-user", "long_double"),
        (cpu("aarch64-linux-gnu", vector_bits=256), cpu(LINUX), "qemu-user", "vector_bits"),
        (cpu(LINUX), STRICT, "qemu-user", "restrictions"),
        (cpu("wasm32-wasip1", abi="x"), cpu(LINUX), "wasmtime", "abi"),
        (cpu("x86_64-pc-windows10.0.17763-msvc"), cpu(LINUX), "wine", "triple.os_version"),
    ],
)
def test_the_rules_that_a_layer_covers(code: CpuTarget, machine: CpuTarget, bridge: str, field: str) -> None:
    """What stands in the way of each is made up for, and is named with the layer."""
    verdict = code.compatible(machine, bridges=(bridge,))
    assert verdict, str(verdict)
    assert field in {reason.field for reason in verdict.reasons if reason.bridge == bridge}


_TRANSLATED = ("aes", "pclmul", "ssse3", "sse4.2", "popcnt", "cx16")
_EMULATED = (
    *(
        "adx",
        "aes",
        "avx2",
        "bmi2",
        "clflushopt",
        "clwb",
        "fma",
        "fsgsbase",
        "pclmul",
        "pku",
        "prfchw",
        "rdpid",
    ),
    *("rdrnd", "rdseed", "sha", "sse4a", "movbe"),
)
_SHARED = ("aes", "crc", "dotprod", "fp-armv8", "fullfp16", "neon", "sha2")


@pytest.mark.parametrize(
    ("features", "code", "machine", "bridge"),
    [
        (_TRANSLATED, "x86_64-apple-darwin22", cpu("arm64-apple-macos14"), "rosetta"),
        ((*_TRANSLATED, "avx2", "fma", "bmi2"), MACOS, cpu("arm64-apple-macos15"), "rosetta"),
        (_TRANSLATED, LINUX, cpu("aarch64-linux-gnu"), "rosetta"),
        (_EMULATED, LINUX, cpu("aarch64-linux-gnu"), "qemu-user"),
        (("sve2", "sme", "mte"), "aarch64-linux-gnu", cpu(LINUX), "qemu-user"),
        (_SHARED, "armv8-linux-gnueabihf", cpu("aarch64-linux-gnu", "cortex-a76"), "compat32"),
        (("simd128", "atomics"), "wasm32-wasip1", cpu(LINUX), "wasmtime"),
    ],
)
def test_the_instructions_that_a_layer_has(
    features: tuple[str, ...], code: str, machine: CpuTarget, bridge: str
) -> None:
    """Each alone is a yes by the layer."""
    for feature in features:
        assert cpu(code, features=[feature]).compatible(machine, bridges=(bridge,)), feature


@pytest.mark.parametrize(
    ("features", "code", "machine", "bridge"),
    [
        (("avx", "fma", "movbe", "sha", "adx"), MACOS, cpu("arm64-apple-macos14"), "rosetta"),
        (("avx512f", "sha", "adx", "vaes", "sse4a"), MACOS, cpu("arm64-apple-macos15"), "rosetta"),
        (("avx512f", "vaes", "xop", "amx-tile"), LINUX, cpu("aarch64-linux-gnu"), "qemu-user"),
        (("sme2",), "aarch64-linux-gnu", cpu(LINUX), "qemu-user"),
        (_SHARED, "armv8-linux-gnueabihf", cpu("aarch64-linux-gnu", features=[]), "compat32"),
        (("fp16",), "wasm32-wasip1", cpu(LINUX), "wasmtime"),
    ],
)
def test_the_instructions_that_a_layer_lacks(
    features: tuple[str, ...], code: str, machine: CpuTarget, bridge: str
) -> None:
    """Each alone is a no in spite of the layer, for what it has is known."""
    for feature in features:
        assert "no" == cpu(code, features=[feature]).compatible(machine, bridges=(bridge,)).answer, feature


@pytest.mark.parametrize(
    ("code", "systems", "bridge"),
    [
        ("aarch64-unknown-{}", ("linux-gnu", "freebsd", "netbsd", "openbsd"), "qemu-user"),
        ("x86_64-windows-msvc", ("linux-gnu", "freebsd", "macosx", "darwin"), "wine"),
        ("wasm32-wasip1", ("linux-gnu", "freebsd", "macosx", "windows-msvc", "netbsd"), "wasmtime"),
    ],
)
def test_the_systems_that_a_layer_is_for(code: str, systems: tuple[str, ...], bridge: str) -> None:
    """The layer is there on each of them."""
    for system in systems:
        there = cpu(f"x86_64-unknown-{system}")
        assert cpu(code.format(system)).compatible(there, bridges=(bridge,)), system


@pytest.mark.parametrize("missing", ["triple", "features"])
def test_a_layer_needs_to_know_what_it_is_for(missing: str) -> None:
    """Without a triple, or features, on one side no layer is a yes."""
    code, there = cpu("aarch64-linux-gnu"), cpu(LINUX)
    bare = CpuTarget() if missing == "triple" else cpu("sparc64-unknown-linux-gnu")
    for first, second in ((code, bare), (bare, there)):
        verdict = first.compatible(second, bridges=BRIDGES)
        assert not verdict or missing == "features"
    for name in ("rosetta", "wasmtime", "qemu-user"):
        assert not bare.compatible(there, bridges=(name,))


@pytest.mark.parametrize(
    ("code", "machine"),
    [
        (cpu("i686-linux-gnu", abi="x"), cpu(LINUX)),
        (cpu("i686-linux-gnu", float_abi="soft"), cpu(LINUX, float_abi="hard")),
        (cpu("i686-linux-gnu", long_double="64"), cpu(LINUX, long_double="80")),
        (cpu("mipsel-linux-gnu", abi="o32"), cpu("mips64el-linux-gnuabi64", abi="n64")),
        (cpu("armv7-linux-gnueabihf"), cpu("aarch64-linux-gnu", abi="aapcs")),
    ],
)
def test_the_calls_of_a_userland_of_another_width_are_not_those_of_the_wide_one(
    code: CpuTarget, machine: CpuTarget
) -> None:
    """Whether there is such a userland is all that is undecided, and no layer but it makes up for anything."""
    (reason,) = code.compatible(machine).reasons
    assert ("triple.arch", "undecided") == (reason.field, reason.weight)
    assert "compat32" in reason.advice
    (taken,) = code.compatible(machine, bridges=("compat32",)).reasons
    assert ("triple.arch", "compat32") == (taken.field, taken.bridge)


@pytest.mark.parametrize(
    ("code", "machine"),
    [
        (cpu("armv7-linux-gnueabihf", "cortex-m7"), cpu("aarch64-linux-gnu")),
        (cpu("armv7s-apple-ios10"), cpu("arm64-apple-ios10")),
        (cpu("mips64el-linux-gnuabin32"), cpu("mipsel-linux-gnu")),
        (cpu("riscv32-linux-gnu", features=["i", "m", "a", "zcmp"]), cpu("riscv64-linux-gnu")),
        (cpu("armebv7-linux-gnueabihf"), cpu("aarch64-linux-gnu")),
    ],
)
def test_what_no_narrower_mode_runs(code: CpuTarget, machine: CpuTarget) -> None:
    """A no, with the bridge and without."""
    assert {"no"} == {code.compatible(machine, bridges=bridges).answer for bridges in ((), ("compat32",))}


def test_x32_is_told_what_it_needs() -> None:
    """Its code runs on kernels that have it, and no 32-bit userland is one."""
    (reason,) = cpu("x86_64-linux-gnux32").compatible(cpu(LINUX)).reasons
    assert "x32" in reason.advice
    assert "compat32" not in reason.advice


def test_a_userland_of_another_width_has_its_own_calls_and_no_instructions() -> None:
    """What its code uses must be there beside what sets the two conventions apart."""
    machine, code = cpu("mips64el-linux-gnuabi64"), cpu("mipsel-linux-gnu")
    wider = code.evolve(features=code.features.with_changes(add=["msa"]))
    assert code.compatible(machine, bridges=("compat32",))
    assert "no" == wider.compatible(machine, bridges=("compat32",)).answer
    assert wider.compatible(
        machine.evolve(features=machine.features.with_changes(add=["msa"])), bridges=("compat32",)
    )


@pytest.mark.parametrize("abi", ["apcs-gnu", "aapcs"])
def test_a_kernel_has_no_calls_of_the_old_abi(abi: str) -> None:
    """64-bit kernels run ARM's programs of the present ABI only."""
    old = cpu("armv7-linux-gnueabi", abi=abi)
    verdict = old.compatible(cpu("aarch64-linux-gnu"), bridges=("compat32",))
    assert (abi == "aapcs") == bool(verdict)
    assert {"apcs-gnu": ["abi"], "aapcs": []}[abi] == [one.field for one in verdict.reasons if not one.bridge]


def test_a_bridge_reaches_the_host_of_a_device_and_the_members_of_a_composite() -> None:
    """Code for the host, and each member, takes the layers that the caller has; reasons name them."""
    code, machine = cpu("i686-linux-gnu"), cpu(LINUX)
    device = CudaTarget(arch="compute_80", host=code), CudaTarget(arch="sm_90a", host=machine)
    members = CompositeTarget(members=[code]), CompositeTarget(members=[CudaTarget(arch="sm_90a"), machine])
    whole = CompositeTarget(members=[device[0]]), CompositeTarget(members=[device[1]])
    for first, second in (device, members, whole, (code, members[1])):
        assert "unknown" == first.compatible(second).answer
        verdict = first.compatible(second, bridges=("compat32",))
        assert verdict
        assert ["compat32"] == [reason.bridge for reason in verdict.reasons]


def test_a_composite_names_only_the_bridges_that_its_members_take() -> None:
    """A layer that is there and that no member needs is not among the reasons."""
    code = CompositeTarget(members=[cpu("i686-linux-gnu"), cpu(LINUX)])
    verdict = code.compatible(CompositeTarget(members=[cpu(LINUX)]), bridges=("compat32", "wine"))
    assert verdict
    assert ["compat32"] == [reason.bridge for reason in verdict.reasons]


@pytest.mark.parametrize("name", ["compat23", "", "Rosetta", "qemu", "compat32 "])
def test_unknown_bridges_are_errors(name: str) -> None:
    """A layer that nobody knows is an error with the nearest names, for each purpose and whatever is compared."""
    for purpose in PURPOSES:
        with pytest.raises(UnknownNameError, match="bridge"):
            cpu(LINUX).compatible(cpu(LINUX), purpose=purpose, bridges=(name,))
    with pytest.raises(UnknownNameError):
        CudaTarget().compatible(cpu(LINUX), bridges=(name,))


def test_one_bridge_may_be_a_plain_name() -> None:
    """A single name stands for a list of one; names twice are names once."""
    code, machine = cpu("i686-linux-gnu"), cpu(LINUX)
    wanted = code.compatible(machine, bridges=["compat32"])
    assert wanted == code.compatible(machine, bridges="compat32")
    assert wanted == code.compatible(machine, bridges=["compat32", "compat32"])
    assert ("compat32",) == wanted.bridges


@pytest.mark.parametrize("subject", SUBJECTS)
@each
@given(seed=seeds)
def test_a_bridge_only_ever_helps(subject: str, seed: int) -> None:
    """More layers never make an answer worse, never matter for a link or a schedule, and are named where they matter."""
    rng = Random(seed)
    first, second = pair(rng, subject, "code", rng.choice(("no", "unknown", "yes")))
    order = ("no", "unknown", "yes")
    few = tuple(name for name in BRIDGES if rng.random() < 0.5)
    answers = [first.compatible(second, bridges=names).answer for names in ((), few, BRIDGES)]
    assert answers == sorted(answers, key=order.index)
    verdict = first.compatible(second, bridges=BRIDGES)
    named = {name for reason in verdict.reasons for name in reason.bridge.split(", ") if name}
    assert named <= set(BRIDGES)
    assert (answers[0] != "yes" and verdict.answer == "yes") <= bool(named)
    assert all(reason.weight == "caution" for reason in verdict.reasons if reason.bridge)
    for purpose in ("link", "schedule"):
        plain = first.compatible(second, purpose=purpose)
        assert plain.answer == first.compatible(second, purpose=purpose, bridges=BRIDGES).answer
        assert not [
            reason
            for reason in first.compatible(second, purpose=purpose, bridges=BRIDGES).reasons
            if reason.bridge
        ]


@each
@given(seed=seeds)
def test_a_bridge_to_another_family_covers_no_more_than_it_says(seed: int) -> None:
    """Of two processors of any families a layer that is named makes up for nothing beside system, architecture and calls."""
    rng = Random(seed)
    first, second = (subject_target(rng, rng.choice(FAMILIES)).without_host() for _ in range(2))
    verdict = first.compatible(second, bridges=BRIDGES)
    covered = {reason.field for reason in verdict.reasons if reason.bridge}
    assert not covered & {"libs", "libc", "triple.environment_version", "host"}
    assert {reason.field for reason in verdict.reasons if reason.weight == "blocks"}.isdisjoint(covered)


def test_bridges_that_are_there_are_those_that_are_known() -> None:
    """Each of the layers makes at least one pair of ordinary machines a yes."""
    code = [
        cpu(text)
        for text in ("i686-linux-gnu", MACOS, "aarch64-linux-gnu", "x86_64-windows-msvc", "wasm32-wasip1")
    ]
    there = [cpu(LINUX), cpu("arm64-apple-macos14", "apple-m1")]
    useful = {
        name
        for name in BRIDGES
        if any(
            a.compatible(b, bridges=(name,)) for a, b in itertools.product(code, there) if not a.compatible(b)
        )
    }
    assert set(BRIDGES) == useful
