"""rustc 1.95's own answers for two thirds of its targets: specifications, and what it sets in `cfg`."""

from __future__ import annotations

import json
from collections.abc import Iterator

from judges.judge import Judge, Row
from targetspec import CpuTarget, cpu, parse, parse_full
from targetspec.dialects.rust_cfg import cfg_of
from targetspec.dialects.rust_names import VARIANTS, rust_facts

# What rustc lists and a set here does not, by name of the feature.
ELSEWHERE = {
    "soft-float": "the field float_abi",
    "thumb-mode": "the triple's architecture",
    "crt-static": "the field static",
    "rva23u64": "a profile, whose members the set holds",
}
LISTED = {
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


def _document(row: Row) -> str:
    facts = {_KEYS.get(key, key): row[key] for key in _FACTS if key in row}
    if row["data_layout"].startswith("E"):
        facts["target-endian"] = "big"
    return json.dumps(facts)


def _lacking(row: Row) -> set[str]:
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


def _faults_of_target(row: Row) -> Iterator[str]:
    """Yield what differs: the name as written, width, byte order and CPU; the specification is the name's target."""
    target = parse(row["name"], "rust")
    if row["name"] not in VARIANTS and row["name"] != target.format("rust"):
        yield f"written as {target.format('rust')}"
    if row["target_pointer_width"] != target.triple.pointer_bits:
        yield f"{target.triple.pointer_bits} bits"
    if row["data_layout"].startswith("E") != (target.triple.endianness == "big"):
        yield target.triple.endianness
    wanted = row.get("cpu")
    if wanted is not None and target.family is not None:
        wanted = cpu.canonical_cpu(target.family, wanted)
    if wanted != target.cpu:
        yield f"cpu {target.cpu}"
    stated = parse_full(_document(row), "rust").target
    if target.evolve(static=stated.static) != stated:
        yield f"its specification is {stated}"


def _faults_of_cfg(row: Row) -> Iterator[str]:
    """Yield parts of the triple, the ABI and the byte order that rustc sets otherwise, and features that are not there."""
    facts, stated = rust_facts(VARIANTS.get(row["name"], (row["name"],))[0]), row["cfg"]
    wanted = tuple(stated[f"target_{part}"] for part in ("os", "env", "abi", "vendor"))
    if wanted != tuple(cfg_of(facts)):
        yield f"cfg {cfg_of(facts)}"
    width, order = stated["target_pointer_width"], stated["target_endian"]
    if (order, width) != (facts.triple.endianness, str(facts.triple.pointer_bits)):
        yield f"{facts.triple.endianness} {facts.triple.pointer_bits}"
    lacking = _lacking(row)
    if lacking:
        yield f"without {sorted(lacking)}"


FILES = {"rustc_targets": Judge(_faults_of_target), "rustc_cfg": Judge(_faults_of_cfg, LISTED)}
