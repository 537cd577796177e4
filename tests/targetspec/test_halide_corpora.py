"""Halide's own strings and relations, at commit abbf7ff: what is valid and canonical there, where version 21 knew it."""

from __future__ import annotations

from typing import Any

import pytest

from targetspec import CpuTarget, Target, TargetSyntaxError, parse, parse_full
from targetspec.dialects import halide_names

pytestmark = pytest.mark.shared

# Flags of version 21's successor count, and a machine without a GPU does not.
NO_DEVICE = "needs the GPU runtime on the machine"
EXCEPTIONS = {
    "hl:x86-32-linux-sse41-fma": "LLVM's fma brings avx, and with it vectors of 256 bits",
    "hl:x86-64-linux-avx10_1-vector_bits_256-x86apx": "Halide computes this width without the flags that avx10_1 brings",
}
_BITS = {"uint8_t": 8, "int16_t": 16, "uint32_t": 32, "float": 32}
_VECTORS_OF = {"arm": "neon", "powerpc": "altivec", "webassembly": "simd128"}


def _valid(row: dict[str, Any]) -> bool:
    if row.get("note", "").startswith(NO_DEVICE):
        return True
    return bool(row.get("valid_head", row["valid_21_0_0"]))


def _float_bytes(target: Target) -> int:
    """Return the bytes of a vector of floats, 4 where there are only single ones."""
    cpu: Any = target if isinstance(target, CpuTarget) else target.host
    if cpu.family == "hexagon":
        return 4
    if cpu.vector_bits is not None or cpu.family not in _VECTORS_OF:
        return int(cpu.native_vector_bits) // 8
    return 16 if _VECTORS_OF[cpu.family] in cpu.features else 4


def test_valid_strings_are_read_and_others_refused(corpus):
    """What Halide takes for a string is one here, and nothing else."""
    for row in corpus("halide_targets"):
        if _valid(row):
            assert parse(row["target"], "halide"), row["id"]
        else:
            with pytest.raises(TargetSyntaxError):
                parse(row["target"], "halide")


def test_canonical_strings(corpus):
    """A string and its canonical form are one target, written as the canonical form without what its flags bring."""
    for row in corpus("halide_targets"):
        if "canonical" not in row:
            continue
        parsed = parse_full(row["target"], "halide")
        again = parse_full(row["canonical"], "halide")
        assert (parsed.target, sorted(parsed.leftovers)) == (again.target, sorted(again.leftovers)), row["id"]
        written = parsed.target.format("halide")
        assert parsed.target == parse(written, "halide"), row["id"]
        assert set(written.split("-")) | {*parsed.leftovers} <= _closed(row["canonical"]), row["id"]


def _closed(text: str) -> frozenset[str]:
    flags = halide_names.with_implied(frozenset(text.split("-")))
    return flags | {"avx"} if "fma" in flags else flags | {"avx2"} if "avx10_1" in flags else flags


def test_the_width_of_vectors(corpus):
    """The widest vector of floats is as long as Halide says."""
    wrong = {
        row["id"]
        for row in corpus("halide_targets")
        if "natural_vector_bytes" in row
        and row["natural_vector_bytes"]["f32"] != _float_bytes(parse(row["target"], "halide"))
    }
    assert set(EXCEPTIONS) == wrong


def test_what_flags_bring(corpus):
    """A string, the same with all that its flags bring, and the same without, are one target."""
    for row in corpus("halide_relations"):
        if row["relation"] != "implied_features":
            continue
        target = parse(row["target"], "halide")
        assert target == parse(row["with_implied"], "halide") == parse(row["minimal"], "halide"), row["id"]
        parsed = parse_full(row["minimal"], "halide")
        words = {*target.format("halide").split("-"), *parsed.leftovers}
        assert set(row["minimal"].split("-")) == words, row["id"]


def test_lanes_of_vectors(corpus):
    """Lanes of 32-bit floats, and of integers but for AVX without AVX2, fill the widest vector."""
    for row in corpus("halide_relations"):
        if row["relation"] != "natural_vector_size":
            continue
        target = parse(row["target"], "halide")
        floats = row["type"] == "float" or "avx" not in row["target"] or "avx2" in row["target"]
        bits = 8 * _float_bytes(target) if floats else 128
        assert row["lanes"] * _BITS[row["type"]] == bits, row["id"]
