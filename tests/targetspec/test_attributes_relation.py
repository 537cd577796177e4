"""Every fact that the rules of compatibility name can be stated, and is held in one place."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from targetspec import CpuTarget, Target, from_dict, registry


class Fact(NamedTuple):
    """A fact as the rules call it, a target that states it, where it is held, and what is there."""

    phrase: str
    kind: str
    stated: dict[str, Any]
    place: str
    held: Any


def _cpu(phrase: str, triple: str, place: str, held: Any, **stated: Any) -> Fact:
    return Fact(phrase, "cpu", {"triple": triple, **stated}, place, held)


LINUX = "x86_64-unknown-linux-gnu"
_DEVICE_HOST = CpuTarget(triple=LINUX)
FACTS = (
    # Of every kind.
    Fact("libraries the generated code calls", "cuda", {"libs": {"cudnn"}}, "libs", {"cudnn"}),
    Fact("a device target's host", "cuda", {"host": _DEVICE_HOST}, "host", _DEVICE_HOST),
    Fact("every member of A", "composite", {"members": [_DEVICE_HOST]}, "members", (_DEVICE_HOST,)),
    Fact(
        "max_shared_memory_per_block",
        "cuda",
        {"max_shared_memory_per_block": 20480},
        "max_shared_memory_per_block",
        20480,
    ),
    Fact("threads per block", "vulkan", {"max_threads_per_block": 1024}, "max_threads_per_block", 1024),
    Fact("warp or subgroup size", "metal", {"warp_size": 32}, "warp_size", 32),
    # Processors.
    _cpu("A CPU *name*", LINUX, "cpu", "znver3", cpu="znver3"),
    _cpu("closed *feature set*", LINUX, "features.family", "x86"),
    _cpu("Architecture family", "aarch64-linux-gnu", "family", "aarch64"),
    _cpu("pointer width", "riscv32-linux-gnu", "triple.pointer_bits", 32),
    _cpu("endianness", "powerpc64-linux-gnu", "triple.endianness", "big"),
    _cpu("object format", "x86_64-windows-msvc", "triple.object_format", "coff"),
    _cpu("OS equal", "x86_64-unknown-freebsd", "triple.os", "freebsd"),
    _cpu("*tuning*", LINUX, "tuning", {"+prefer-256-bit"}, tuning=["+prefer-256-bit"]),
    _cpu(
        "`strict-align`", "aarch64-linux-gnu", "restrictions", {"strict-align"}, restrictions=["strict-align"]
    ),
    _cpu(
        "`execute-only`", "aarch64-linux-gnu", "restrictions", {"execute-only"}, restrictions=["execute-only"]
    ),
    _cpu("soft-float", "arm-linux-gnueabi", "float_abi", "soft", float_abi="soft"),
    _cpu("float ABI (soft, softfp, hard)", "arm-linux-gnueabi", "float_abi", "softfp", float_abi="softfp"),
    _cpu("eabihf", "armv7-linux-gnueabihf", "float_abi", "hard"),
    _cpu("profile (A, R, M)", "armv7m-none-eabi", "triple.sub_arch", "v7m"),
    _cpu("unless built for fixed bits", "aarch64-linux-gnu", "vector_bits", 512, vector_bits=512),
    _cpu("lp64, lp64f, lp64d", "riscv64-linux-gnu", "abi", "lp64d", abi="lp64d"),
    _cpu("ELFv1/ELFv2", "powerpc64le-linux-gnu", "abi", "elfv2", abi="elfv2"),
    _cpu("wasm32 and wasm64", "wasm64-unknown-unknown", "triple.pointer_bits", 64),
    _cpu("wasip1, p2, p3", "wasm32-wasip2", "triple.os", "wasip2"),
    # Systems.
    _cpu("The libc is a requirement", "x86_64-linux-musl", "libc", "musl"),
    _cpu("glibc is a floor", "x86_64-linux-gnu2.17", "libc_version", "2.17"),
    _cpu("musl 1.1 and 1.2", LINUX.replace("gnu", "musl"), "libc_version", "1.2", libc_version="1.2"),
    _cpu("static code demands no libc", LINUX, "static", True, static=True),
    _cpu("Android API level", "aarch64-linux-android33", "triple.environment_version", "33"),
    _cpu("macOS deployment target", "arm64-apple-macos13.2", "triple.os_version", "13.2"),
    _cpu("gnullvm", "x86_64-pc-windows-gnullvm", "triple.environment", "gnullvm"),
    # CUDA.
    Fact("`.target X`", "cuda", {"arch": "sm_100f"}, "arch.suffix", "f"),
    Fact("PTX ISA version", "cuda", {"ptx_isa": "8.8"}, "ptx_isa", "8.8"),
    Fact("`compute_N`", "cuda", {"arch": "compute_90"}, "code_form", "ptx"),
    Fact("`sm_N-real`", "cuda", {"arch": "sm_90-real"}, "code_form", "cubin"),
    Fact("`9.0+PTX`", "cuda", {"arch": "9.0+PTX"}, "code_form", "fat"),
    Fact("`lto_N`", "cuda", {"arch": "lto_90"}, "code_form", "lto"),
    Fact("a bare `sm_N` states none", "cuda", {"arch": "sm_90"}, "code_form", None),
    # AMDGPU.
    Fact("sramecc and xnack", "rocm", {"target_id": "gfx90a:sramecc+:xnack-"}, "target_id.xnack", False),
    Fact("Wavefront size", "rocm", {"warp_size": 32}, "warp_size", 32),
    Fact("cumode", "rocm", {"cumode": True}, "cumode", True),
    Fact("code-object version", "rocm", {"code_object_version": 6}, "code_object_version", 6),
    Fact("one-way and versioned", "rocm", {"generic_version": 1}, "generic_version", 1),
    # Graphics.
    Fact("Vulkan 1.0/1.1/1.2/1.3+", "vulkan", {"api_version": "1.3"}, "api_version", "1.3"),
    Fact("SPIR-V 1.0/1.3/1.5/1.6", "vulkan", {"spirv_version": "1.6"}, "spirv_version", "1.6"),
    Fact("capabilities and", "vulkan", {"capabilities": {"Float16"}}, "capabilities", {"Float16"}),
    Fact(
        "extensions subset",
        "vulkan",
        {"extensions": {"VK_KHR_spirv_1_4"}},
        "extensions",
        {"VK_KHR_spirv_1_4"},
    ),
    Fact("language version", "metal", {"language_version": "3.1"}, "language_version", "3.1"),
    Fact("GPU family", "metal", {"gpu_family": "apple7"}, "gpu_family", "apple7"),
    Fact(
        "deployment target <= OS version",
        "metal",
        {"os": "ios", "deployment_target": "17.0"},
        "deployment_target",
        "17.0",
    ),
    Fact("macOS, iOS and simulator", "metal", {"os": "ios-simulator"}, "os", "ios-simulator"),
    Fact("OpenCL", "opencl", {"opencl_version": "3.0"}, "opencl_version", "3.0"),
    Fact("the long-double format must match", "cpu", {"long_double": "ieee128"}, "long_double", "ieee128"),
    Fact("WebGPU", "webgpu", {"extensions": {"shader-f16"}}, "extensions", {"shader-f16"}),
)


def _made(fact: Fact) -> Target:
    made: Target = registry.kind(fact.kind)(**fact.stated)
    return made


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: f"{fact.kind}-{fact.phrase}")
def test_a_fact_of_the_relation_can_be_stated(fact: Fact) -> None:
    """The target holds the fact where the list says, and JSON gives it back."""
    made = _made(fact)
    for target in (made, from_dict(made.to_dict())):
        held: Any = target
        for name in fact.place.split("."):
            held = getattr(held, name)
        assert fact.held == held


def test_roles_of_features_are_told_apart() -> None:
    """A reserved register is an abi feature of the set: it must match, where an isa feature need only be there."""
    plain = CpuTarget(triple="aarch64-linux-gnu")
    reserved = plain.evolve(features=[*plain.features, "reserve-x18"])
    assert "no" == reserved.compatible(plain).answer
    assert "no" == plain.compatible(reserved).answer


@pytest.mark.shared
@pytest.mark.parametrize("phrase", [fact.phrase for fact in FACTS])
def test_the_facts_are_those_of_the_rules(shared: Path, phrase: str) -> None:
    """Each phrase of the lists stands in the page of rules."""
    page = " ".join((shared / "compatibility.md").read_text("utf-8").split())
    assert phrase in page
