"""A text whose dialect is not stated means what it means in its own, or the error says which dialects differ."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judges.files import paths_in, rows_of
from targetspec import TargetSyntaxError, parse, parse_full

# Where each dialect's texts are, and how many of a hundred are LLVM's triples as well, and then mean what LLVM says:
# rustc and zig fill in CPUs and features, and GNU's tools a system.
FILES: tuple[tuple[str, str, str, int], ...] = (
    ("amdgpu_target_ids", "target_id", "amdgpu", 0),
    ("config_sub", "alias", "gnu", 45),
    ("config_sub_run", "alias", "gnu", 12),
    ("cuda_archs", "arch", "cuda", 0),
    ("halide_targets", "target", "halide", 0),
    ("llvm_triples_clang22", "triple", "llvm", 0),
    ("llvm_triple_fields", "triple", "llvm", 0),
    ("llvm_triple_normalize", "triple", "llvm", 0),
    ("oci_platforms", "input", "oci", 13),
    ("riscv_isa", "isa", "riscv", 0),
    ("rustc_targets", "name", "rust", 80),
    ("tvm_cli_targets", "target", "tvm", 0),
    ("tvm_json_targets", "target", "tvm", 0),
    ("tvm_tags", "tag", "tvm", 0),
    ("zig_queries", "target", "zig", 15),
)
# What both of two dialects read, and each otherwise.
DIFFER = {"armbe", "armel", "nvptx", "nvptx -mcpu=sm_20"}
# A word that is a kind is our own form.
KINDS = {"hexagon"}


def _text(row: Any, field: str) -> str | None:
    value = row.get(field)
    if field == "target" and row.get("mcpu"):
        return f"{value} -mcpu={row['mcpu']}"
    return json.dumps(value) if isinstance(value, dict) else value


def _outcome(text: str, dialect: str) -> str:
    """Say "own", "llvm", "differ", or what else came of a text without a dialect; "" where its own refuses it."""
    try:
        own = parse(text, dialect)
    except TargetSyntaxError:
        return ""
    try:
        parsed = parse_full(text)
    except TargetSyntaxError as error:
        return "differ" if "state the dialect" in error.hint else f"refused: {error.message}"
    if parsed.target == own:
        return "own"
    return parsed.dialect if parsed.target == parse(text, parsed.dialect) else "something else"


@pytest.mark.shared
@pytest.mark.parametrize(("name", "field", "dialect", "most"), FILES)
def test_real_texts_mean_the_same_without_their_dialect(
    shared: Path, name: str, field: str, dialect: str, most: int
) -> None:
    """The same target, or LLVM's where it is LLVM's text as well, or an error that names the two that differ."""
    texts = (_text(row, field) for row in rows_of(paths_in(shared / "corpora")[name]))
    outcomes = {text: _outcome(text, dialect) for text in texts if text}
    read = {text: outcome for text, outcome in outcomes.items() if outcome}
    listed = dict.fromkeys(DIFFER, "differ") | dict.fromkeys(KINDS, "targetspec")
    other = {text: outcome for text, outcome in read.items() if outcome not in ("own", "llvm")}
    assert len(read) > 5
    assert {} == {text: outcome for text, outcome in other.items() if outcome != listed.get(text)}
    assert sum(outcome == "llvm" for outcome in read.values()) <= most * len(read) / 100


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("x86_64-linux-gnu -mcpu=haswell", "llvm"),
        ("aarch64-linux-gnu -mcpu=cortex-a710+nosve", "llvm"),
        ("x86_64-linux-gnu -mcpu=x86_64_v3-avx2", "zig"),
        ("x86-linux-gnu -mcpu=i686", "zig"),
        ("x86_64-linux-gnu.2.17", "zig"),
        ("nvptx64-cuda -mcpu=sm_80", "llvm"),
        ("llvm ", "tvm"),
        ("armhf", "oci"),
        ("linux/arm64", "oci"),
        ("nvidia/jetson-nano", "tvm"),
        ("rv64gc", "riscv"),
        ("sm_90a", "cuda"),
        ("9.0+PTX", "cuda"),
        ("gfx90a:xnack+", "amdgpu"),
        ("manylinux_2_17_x86_64", "wheel"),
        ("GOARCH=arm64", "go"),
        ("x86-64-linux-avx2", "halide"),
        ("aarch64-linux-gnu-gcc -march=armv8.2-a", "gcc"),
        ("x86_64-unknown-linux-gnu -C target-cpu=haswell", "rust"),
        ("cpu cpu=haswell", "targetspec"),
    ],
)
def test_texts_are_recognised(text: str, dialect: str) -> None:
    """By their shape, or by the one dialect that reads them."""
    assert dialect == parse_full(text).dialect
    assert parse(text, dialect) == parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "x86_64-unknown-linux-gnu -mcpu=haswel",
        "x86_64-linux-gnu -mcpu=haswel",
        "x86_64-unknown-linux-gnu -mcpu=x86_64_v3",
        "x86_64-linux-gnu -mcpu=x86_64_v33",
        "x86_64-linux-gnu -mattr=+avx3",
        "x86_64-lnux",
    ],
)
def test_a_slip_is_refused_by_the_dialect_that_it_looks_like(text: str) -> None:
    """And read by no other, that would take it for none of its business."""
    with pytest.raises(TargetSyntaxError) as caught:
        parse(text)
    assert "llvm" == caught.value.dialect


@pytest.mark.parametrize("text", sorted(DIFFER))
def test_two_meanings_are_an_error_that_names_them(text: str) -> None:
    """Each of the two can be asked for by its name."""
    with pytest.raises(TargetSyntaxError, match="state the dialect") as caught:
        parse(text)
    one, other = caught.value.hint.removeprefix("state the dialect: ").split(" or ")
    assert parse(text, one) != parse(text, other)
