"""Halide's own strings and relations, at commit abbf7ff: what is valid and canonical there, where version 21 knew it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from judges.judge import Judge, Row
from targetspec import CpuTarget, Target, TargetSyntaxError, parse, parse_full
from targetspec.dialects import halide_names

# Flags of version 21's successor count, and a machine without a GPU does not.
NO_DEVICE = "needs the GPU runtime on the machine"
_BITS = {"uint8_t": 8, "int16_t": 16, "uint32_t": 32, "float": 32}
_WIDEST_SCALAR = 64
# What LLVM's features bring that Halide's flags of their names do not: wider vectors than Halide counts by its flags.
_WIDER = {"fma": ("avx",), "avx10_1": ("avx2",)}


def _valid(row: Row) -> bool:
    if row.get("note", "").startswith(NO_DEVICE):
        return True
    return bool(row.get("valid_head", row["valid_21_0_0"]))


def _float_bytes(target: Target) -> int:
    """Return the bytes of a vector of floats, 4 where there are only single ones."""
    cpu: Any = target if isinstance(target, CpuTarget) else target.host
    if cpu.family == "hexagon":
        return 4
    bits = int(cpu.native_vector_bits)
    return bits // 8 if bits > _WIDEST_SCALAR else 4


def _closed(text: str) -> frozenset[str]:
    """Return the flags of a string with what Halide has them bring, and what LLVM's features of their names do."""
    flags = halide_names.with_implied(frozenset(text.split("-")))
    return flags.union(*(more for name, more in _WIDER.items() if name in flags))


def _faults_of_string(row: Row) -> Iterator[str]:
    """Yield what differs: whether it is a string at all, its canonical form, and the width of its vectors."""
    try:
        target = parse(row["target"], "halide")
    except TargetSyntaxError as error:
        if _valid(row):
            yield f"refused: {error.message}"
        return
    if not _valid(row):
        yield f"read as {target}"
    if "canonical" in row:
        yield from _faults_of_form(row)
    if "natural_vector_bytes" in row:
        yield from _faults_of_width(row, _float_bytes(target))


def _faults_of_width(row: Row, ours: int) -> Iterator[str]:
    """Vectors are as wide as Halide says; wider where a feature of LLVM brings more than the flag, and never narrower."""
    theirs = row["natural_vector_bytes"]["f32"]
    brought = _closed(row["target"]) - halide_names.with_implied(frozenset(row["target"].split("-")))
    if ours != theirs and not (brought and ours > theirs):
        yield f"vectors of {ours} bytes"


def _faults_of_form(row: Row) -> Iterator[str]:
    """A string and its canonical form are one target, written as the form without what its flags bring."""
    parsed, again = (parse_full(row[name], "halide") for name in ("target", "canonical"))
    if (parsed.target, sorted(parsed.leftovers)) != (again.target, sorted(again.leftovers)):
        yield f"not its canonical form {row['canonical']}"
    written = parsed.target.format("halide")
    if parsed.target != parse(written, "halide"):
        yield f"written as {written}, which is another target"
    if not set(written.split("-")) | {*parsed.leftovers} <= _closed(row["canonical"]):
        yield f"written as {written}"


def _faults_of_relation(row: Row) -> Iterator[str]:
    """Yield what differs of what flags bring, of the lanes of vectors, and of the common target."""
    if row["relation"] == "implied_features":
        yield from _faults_of_implied(row)
    elif row["relation"] == "natural_vector_size":
        # Integers of AVX without AVX2 fill half a vector.
        whole = row["type"] == "float" or "avx" not in row["target"] or "avx2" in row["target"]
        bits = 8 * _float_bytes(parse(row["target"], "halide")) if whole else 128
        if row["lanes"] * _BITS[row["type"]] != bits:
            yield f"{bits} bits"
    else:
        yield from _faults_of_runtime(row)


def _faults_of_runtime(row: Row) -> Iterator[str]:
    """One runtime serves two strings where the parts before the flags agree; it has the flags that both have, and any device.

    What is a flag of the CPU, of a device, and none of the target is the reading's answer.
    """
    a, b = (parse_full(row[name], "halide") for name in ("a", "b"))
    one, other = (_cpu(parsed.target) for parsed in (a, b))
    if row["result"] is None:
        if a.target.compatible(b.target) and b.target.compatible(a.target):
            yield "each runs on the other"
        return
    result = parse_full(row["result"], "halide")
    both = _cpu(result.target)
    if not (both.compatible(one) and both.compatible(other)):
        yield f"{both} does not run on both"
    if {a.target.kind, b.target.kind} - {"cpu"} != {result.target.kind} - {"cpu"}:
        yield f"{result.target.kind} is of neither"


def _cpu(target: Target) -> Any:
    return target if isinstance(target, CpuTarget) else target.host


def _faults_of_implied(row: Row) -> Iterator[str]:
    target = parse(row["target"], "halide")
    if not target == parse(row["with_implied"], "halide") == parse(row["minimal"], "halide"):
        yield "not one target"
    words = {*target.format("halide").split("-"), *parse_full(row["minimal"], "halide").leftovers}
    if set(row["minimal"].split("-")) != words:
        yield f"written with {sorted(words)}"


FILES = {"halide_targets": Judge(_faults_of_string), "halide_relations": Judge(_faults_of_relation)}
