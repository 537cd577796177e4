"""Halide's own reading of its strings: what is valid, which two are one target, and how wide its vectors are."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from judges.halide import FILES
from judges.judge import Row, fault_of
from oracle_review import Accepted, review

halide: Any = pytest.importorskip("halide", reason="halide is not installed")
pytestmark = pytest.mark.oracle
STRINGS = 3_000
# Halide 21's own words; those that only its successor has are no question for it. A flag of another architecture is
# taken there and refused here, and so is a system that has none of the architecture's programs.
_ARCHS = {
    "x86": (("32", "64"), ("linux", "windows", "osx", "android"), ("sse41", "avx", "f16c", "fma", "x86apx")),
    "arm": (("32", "64"), ("linux", "osx", "android", "ios", "windows", "noos"), ("arm", "sve")),
    "powerpc": (("32", "64"), ("linux",), ("vsx", "power")),
    "hexagon": (("32",), ("qurt", "noos"), ("hvx",)),
    "wasm": (("32",), ("wasmrt",), ("wasm",)),
    "riscv": (("32", "64"), ("linux", "noos"), ("rvv",)),
}
_OF_NO_ARCH = (
    "cuda",
    "opencl",
    "metal",
    "vulkan",
    "webgpu",
    "debug",
    "profile",
    "asan",
    "msan",
    "tsan",
    "jit",
)
_WITH_LENGTH = ("sve", "sve2", "rvv")
_TUNES = ("tune_haswell", "tune_znver3", "tune_generic", "tune_k8_sse3")
_LLVM = "LLVM 22, X86.td and PPC.td"
_BROUGHT = {"f16c": "avx", "fma4": "avx", "avxvnni": "avx2", "power_arch_2_07": "vsx"}
ACCEPTED = {
    **{
        flag: Accepted(f"LLVM's feature of the name brings {brought}, and Halide's flag does not", _LLVM)
        for flag, brought in _BROUGHT.items()
    },
    "rvv": Accepted(
        "the V extension has vectors of 128 bits at least; Halide counts none of no stated length", "RISC-V V"
    ),
}
"""Flags that say more here than to Halide: the string that is written names what they bring as well."""


def _flags() -> tuple[str, ...]:
    """Return the flags that are valid by themselves."""
    named = (name.lower() for name in dir(halide.TargetFeature) if not name.startswith("_"))
    return tuple(
        sorted({name for name in named if halide.Target.validate_target_string(f"x86-64-linux-{name}")})
    )


def _strings(rng: random.Random) -> Iterator[str]:
    """Yield strings in any order of words; some with a word that is none, or twice, or without one that must be there."""
    flags = _flags()
    for _ in range(STRINGS):
        arch = rng.choice(tuple(_ARCHS))
        bits, systems, starts = _ARCHS[arch]
        own = [name for name in flags if name.startswith(starts)]
        words = rng.sample([*own, *_OF_NO_ARCH], rng.randint(0, 4))
        if arch == "x86" and rng.random() < 0.3:
            words.append(rng.choice(_TUNES))
        if {"avx512_zen4", "avxvnni"} <= {*words}:
            # Zen 5's flag is these two, and is written.
            words.append("avx512_zen5")
        words += [brought for flag, brought in _BROUGHT.items() if flag in words]
        if not {*words}.isdisjoint(_WITH_LENGTH):
            words.append(f"vector_bits_{rng.choice((128, 256, 512))}")
        words = [arch, rng.choice(bits), rng.choice(systems), *words]
        if rng.random() < 0.2:
            words = rng.choice(
                (words[1:], words[:1] + words[2:], [*words, words[-1]], [*words, "avx3"], [*words, ""])
            )
        if rng.random() < 0.1:
            rng.shuffle(words)
        yield "-".join(words)


def _row(text: str) -> Row:
    """Return what Halide says of a string, as a row of the recorded ones has it."""
    if not halide.Target.validate_target_string(text):
        return {"target": text, "valid_21_0_0": False}
    try:
        target = halide.Target(text)
    except halide.HalideError:
        # Good words that do not go together: what a compiler of it says, and not the string.
        return {"target": text, "valid_21_0_0": True}
    return {
        "target": text,
        "valid_21_0_0": True,
        "canonical": str(target),
        "natural_vector_bytes": {"f32": 4 * target.natural_vector_size(halide.Float(32))},
    }


def test_what_halide_reads():
    """Of random strings of its words the dialect takes those that Halide takes, as the same targets and vectors."""
    rows = [_row(text) for text in _strings(random.Random(0))]
    taken = sum(row["valid_21_0_0"] for row in rows)
    assert STRINGS / 3 <= taken <= STRINGS - 100
    faults = {row["target"]: fault_of(FILES["halide_targets"], row) for row in rows}
    assert {} == {text: fault for text, fault in faults.items() if fault}


def test_what_each_flag_says():
    """Alone on its architecture a flag is what it is to Halide, the list aside."""
    found = {}
    for arch, (bits, systems, starts) in _ARCHS.items():
        for flag in (name for name in _flags() if name.startswith(starts)):
            fault = fault_of(FILES["halide_targets"], _row(f"{arch}-{bits[-1]}-{systems[0]}-{flag}"))
            if fault:
                found[flag] = fault
    review(found, ACCEPTED)
