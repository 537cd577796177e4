"""rustc 1.95's own answers for two thirds of its targets: specifications, and what it sets in `cfg`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from targetspec import CpuTarget, cpu, parse, parse_full
from targetspec.dialects.rust_cfg import cfg_of
from targetspec.dialects.rust_names import VARIANTS, rust_facts

pytestmark = pytest.mark.shared

# What rustc lists and a set here does not, by name of the feature.
ELSEWHERE = {
    "soft-float": "the field float_abi",
    "thumb-mode": "the triple's architecture",
    "crt-static": "the field static",
    "rva23u64": "a profile, whose members the set holds",
}
EXCEPTIONS = {
    "rustcfg:nvptx64-nvidia-cuda": "a processor, sm_30, is no set of older ones here",
    "rustcfg:wasm32-unknown-emscripten": "rustc adds exception-handling apart from its specification",
}
_KEYS = {
    "llvm_target": "llvm-target",
    "target_pointer_width": "target-pointer-width",
    "data_layout": "data-layout",
    "llvm_abiname": "llvm-abiname",
    "llvm_floatabi": "llvm-floatabi",
    "crt_static_default": "crt-static-default",
    "target_endian": "target-endian",
}
_FACTS = ("arch", "os", "env", "abi", "vendor", "cpu", "features", *_KEYS)


def _document(row: dict[str, Any]) -> str:
    facts = {_KEYS.get(key, key): row[key] for key in _FACTS if key in row}
    if row["data_layout"].startswith("E"):
        facts["target-endian"] = "big"
    return json.dumps(facts)


def test_every_name_is_known(corpus):
    """Each name is read and written, and says the width and CPU that rustc says."""
    for row in corpus("rustc_targets"):
        target = parse(row["name"], "rust")
        if row["name"] not in VARIANTS:
            assert row["name"] == target.format("rust")
        assert row["target_pointer_width"] == target.triple.pointer_bits, row["id"]
        assert row["data_layout"].startswith("E") == (target.triple.endianness == "big"), row["id"]
        wanted = row.get("cpu")
        if wanted is not None and target.family is not None:
            wanted = cpu.canonical_cpu(target.family, wanted)
        assert wanted == target.cpu, row["id"]


def test_specifications_are_their_names(corpus):
    """A specification is the target of its name but for what the rows leave out."""
    for row in corpus("rustc_targets"):
        target = parse_full(_document(row), "rust").target
        assert parse(row["name"], "rust").evolve(static=target.static) == target, row["id"]


def _lacking(row: dict[str, Any]) -> set[str]:
    target = parse(row["name"], "rust")
    if target.features is None or target.family is None:
        return set()
    held = {*target.features, *target.restrictions, *(name[1:] for name in target.tuning)}
    if target.cpu is not None:
        held |= cpu.tuning_of(target.family, target.cpu)
    named = [name for name in row["cfg"].get("target_feature", ()) if name not in ELSEWHERE]
    return {name for name in named if not _held(target, held, cpu.feature_alias(target.family, name, "rust"))}


def _held(target: CpuTarget, held: set[str], name: str | None) -> bool:
    return name in held or (
        name is not None and cpu.is_listed(target.family, name) and name in target.features
    )


def test_parts_are_what_rustc_calls_them(corpus):
    """The parts of the triple, the ABI and the byte order are those that rustc sets."""
    for row in corpus("rustc_cfg"):
        name = VARIANTS.get(row["name"], (row["name"],))[0]
        facts, stated = rust_facts(name), row["cfg"]
        wanted = tuple(stated[f"target_{part}"] for part in ("os", "env", "abi", "vendor"))
        assert wanted == tuple(cfg_of(facts)), row["id"]
        assert stated["target_endian"] == facts.triple.endianness, row["id"]
        assert stated["target_pointer_width"] == str(facts.triple.pointer_bits), row["id"]


def test_features_are_there(corpus):
    """What rustc says to be enabled is in the set."""
    for row in corpus("rustc_cfg"):
        assert (row["id"] in EXCEPTIONS) == bool(_lacking(row)), (row["id"], _lacking(row))
