"""TVM's own target strings, JSON targets and tags."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

from judges.judge import Judge, Row
from targetspec import TargetSyntaxError, parse, parse_full, tag
from targetspec.dialects import tvm
from targetspec.dialects.tvm_names import REFUSED_KINDS

UNCHECKED = "TVM takes a name that nothing has"
NO_HOST = "TVM takes a GPU for the host of a program"
CUT = "the beginning of a text, cut where the program puts in a value"
STRINGS = {
    "llvm -mcpu=dummy -mtriple=x86_64-linux-gnu": UNCHECKED,
    "llvm -mtriple=x86_64-linux-gnu -mcpu=dummy": UNCHECKED,
    "rocm -mattr=+dotprod": "LLVM has no such feature of AMD's GPUs, and ignores it with a warning",
    "llvm -mtriple ": CUT,
    "llvm -mtriple=aarch64-linux-gnu -mattr=": CUT,
    "llvm -target ": CUT,
    "llvm -mcpu arm64": UNCHECKED,
    "llvm -device=arm_cpu -mattr=+fp": UNCHECKED,
    "llvm -mattr=+fma+avx2": "two features run together",
    "llvm -keys=arm_cpu -mattr=v8.4a,+dotprod": "a feature without its sign",
    "llvm -target=asmjs-unknown-emscripten -system-lib": "an architecture of a fork of LLVM, gone since 2019",
    "llvm -device=abc, def": "no target of TVM's either: a test of a function that rewrites texts",
}
"""What of the string form is refused here and stands in TVM's tests or documents as good, in the sample or not."""

KINDS = {
    text: REFUSED_KINDS[text.split()[0]]
    for text in (
        "sdaccel -device=",
        "ethos-u -accelerator_config=ethos-u55-256, c, cmsis-nn",
        "ethos-u -accelerator_config=ethos-u55-256, c -mcpu=cortex-m55",
        "ext_dev -device=vta -keys=cpu -model=ultra96",
        "ext_dev -device=vta -keys=cpu -model=sim",
        "ext_dev -device=vta -keys=cpu -model=pynq_1x16_i8w8a32_15_15_18_17",
        "ext_dev -device=vta -keys=cpu -model=pynq_4x8_i8w8a32_15_16_16_18",
    )
}
"""Kinds of TVM that have no counterpart."""

JSONS = {
    '{"kind": "llvm", "mcpu": "dummy", "mtriple": "x86_64-linux-gnu"}': UNCHECKED,
    '{"kind": "llvm", "mcpu": "nosuch"}': UNCHECKED,
    '{"kind": "llvm", "mtriple": "foo-bar-baz"}': UNCHECKED,
    '{"arch": "sm_999", "kind": "cuda"}': UNCHECKED,
    '{"kind": "cuda", "mcpu": "dummy_mcpu"}': UNCHECKED,
    '{"kind": "llvm", "mfloat-abi": "medium"}': "refused by TVM when it comes to use it",
    '{"host": "nvidia/jetson-nano", "kind": "llvm"}': NO_HOST,
    '{"host": "nvidia/jetson-nano", "kind": "cuda"}': NO_HOST,
    '{"device": "riscv_cpu", "kind": "llvm", "mattr": ["+64bit", "+a", "+c", "+d", "+f", "+m"], '
    '"mcpu": "generic-rv32", "mtriple": "riscv32-linux-gnu"}': "asks for 64 bits of a 32-bit processor",
    '{"devices": ["cuda", "opencl"], "host": {"kind": "llvm"}, "kind": "composite"}': (
        "TVM makes the target, and fails to print it"
    ),
}
"""Where TVM 0.27 and this dialect part about JSON."""

TAGS = {
    "aws/trn1/trn1.2xlarge": "there is no kind for AWS Trainium",
    "aws/trn1/trn1.32xlarge": "there is no kind for AWS Trainium",
    "riscv/spacemit-k3": "LLVM 22 has no CPU spacemit-x100",
}
"""What of TVM's tags no kind or table here can say."""

DROPPED = ("from_device",)
"""What TVM takes out of a target that states it: it asks for detection."""


def text_of(row: Row) -> str:
    """Return a row's target as a user passes it."""
    return row["target"] if isinstance(row["target"], str) else json.dumps(row["target"])


def refused(text: str) -> str:
    """Return why a text is refused, empty where it is read."""
    try:
        parse(text, "tvm")
    except TargetSyntaxError as error:
        return error.message
    return ""


def as_written(text: str) -> dict[str, Any]:
    """Return the document of a parsed text that has kept its text."""
    got = parse_full(text, "tvm")
    kept = SimpleNamespace(target=got.target, leftovers=got.leftovers, dialect="tvm", text=text)
    found: dict[str, Any] = json.loads(tvm.format_parsed(kept))  # type: ignore[arg-type]
    return found


def unlike(stated: Mapping[str, Any], read: Mapping[str, Any]) -> list[str]:
    """Return the attributes that are stated and that TVM reads otherwise."""
    found: list[str] = []
    for name, value in stated.items():
        if isinstance(value, dict) and isinstance(read.get(name), dict):
            found += [f"{name}.{inner}" for inner in unlike(value, read[name])]
        elif name not in DROPPED and value != read.get(name):
            found.append(name)
    return found


def means_the_same(text: str) -> bool:
    """Say whether the written form of a text is the same target with the same options."""
    got = parse_full(text, "tvm")
    again = parse_full(tvm.format_parsed(got), "tvm")
    return got.target == again.target and tvm.format_parsed(got) == tvm.format_parsed(again)


_FOR_TESTS = {"single": "model", "array": "keys"}
"""The attributes of a kind of TVM's own tests, and others of their type."""


def _faults_of_string(row: Row) -> Iterator[str]:
    """Yield what differs: whether it is read, for what reason not, and what it states of what TVM reads."""
    text = text_of(row)
    if "expected" in row:
        yield from _faults_of_values(row)
        return
    why = refused(text)
    if row.get("valid") is False:
        if not why or ("reason" in row and "cl-opt" not in why):
            yield f"refused for {why!r}"
    elif why:
        yield f"refused: {why}"
    elif not means_the_same(text):
        yield "written as something else"
    elif "tvm_0_27" in row:
        yield from unlike(as_written(text), row["tvm_0_27"].get("ok", {}))


def _faults_of_values(row: Row) -> Iterator[str]:
    """Yield what differs of quoting and hosts; no attribute of any kind has lists of lists."""
    for name, value in row["expected"].get("attrs", {}).items():
        instead = _FOR_TESTS.get(name, name)
        text = row["target"].replace("TestStringKind", "llvm").replace(f"-{name}=", f"-{instead}=")
        if name != "nested-array" and value != as_written(text)[instead]:
            yield f"{name} {as_written(text)[instead]!r}"


def _faults_of_json(row: Row) -> Iterator[str]:
    """Yield what differs from TVM 0.27: whether it is read, and all that it states."""
    text, judged = text_of(row), row["tvm_0_27"]
    why = refused(json.dumps(row["target"]) if isinstance(row["target"], str) else text)
    if "error" in judged:
        if not why:
            yield "read"
    elif why:
        yield f"refused: {why}"
    else:
        yield from unlike(as_written(text), judged["ok"])
        if not means_the_same(text):
            yield "written as something else"


def _faults_of_tag(row: Row) -> Iterator[str]:
    """Yield what differs of a tag from the target that TVM prints for it."""
    text = json.dumps(row["target"])
    if not parse(row["tag"], "tvm") == parse(text, "tvm") == tag(row["tag"]):
        yield "another target"
    yield from unlike(as_written(text), row["target"])


def _ids(prefix: str, listed: Mapping[str, str]) -> dict[str, str]:
    return {f"{prefix}:{text}": why for text, why in listed.items()}


FILES = {
    "tvm_cli_targets": Judge(_faults_of_string, _ids("tvmcli", STRINGS | KINDS), 2),
    "tvm_json_targets": Judge(_faults_of_json, _ids("tvmjson", JSONS), 2),
    "tvm_tags": Judge(_faults_of_tag, _ids("tvmtag", TAGS), 2),
}
