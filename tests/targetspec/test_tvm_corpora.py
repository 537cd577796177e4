"""TVM's own target strings, JSON targets and tags: each row is right, or listed with a reason."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from targetspec import TargetSyntaxError, parse, parse_full, tag
from targetspec.dialects import tvm
from targetspec.dialects.tvm_names import REFUSED_KINDS

pytestmark = pytest.mark.shared

Row = Mapping[str, Any]
Corpus = Callable[[str], list[dict[str, Any]]]

UNCHECKED = "TVM takes a name that nothing has"
NO_HOST = "TVM takes a GPU for the host of a program"
CUT = "the beginning of a text, cut where the program puts in a value"
STRINGS = {
    "llvm -mcpu=dummy -mtriple=x86_64-linux-gnu": UNCHECKED,
    "llvm -mtriple=x86_64-linux-gnu -mcpu=dummy": UNCHECKED,
    "rocm -mattr=+dotprod": "LLVM has no such feature of AMD's GPUs, and ignores it with a warning",
    "cuda --host nvidia/jetson-nano": NO_HOST,
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

JSONS = {
    '{"kind": "llvm", "mtriple": "x86_64-linux-gnu", "mcpu": "dummy"}': UNCHECKED,
    '{"kind": "llvm", "mcpu": "nosuch"}': UNCHECKED,
    '{"kind": "llvm", "mtriple": "foo-bar-baz"}': UNCHECKED,
    '{"kind": "cuda", "arch": "sm_999"}': UNCHECKED,
    '{"kind": "cuda", "mcpu": "dummy_mcpu"}': UNCHECKED,
    '{"kind": "llvm", "mfloat-abi": "medium"}': "refused by TVM when it comes to use it",
    '{"kind": "llvm", "host": "nvidia/jetson-nano"}': NO_HOST,
    '{"kind": "cuda", "host": "nvidia/jetson-nano"}': NO_HOST,
    '{"kind": "llvm", "device": "riscv_cpu", "mtriple": "riscv32-linux-gnu", "mcpu": "generic-rv32", '
    '"mattr": ["+64bit", "+a", "+c", "+d", "+f", "+m"]}': "asks for 64 bits of a 32-bit processor",
    '{"kind": "composite", "host": {"kind": "llvm"}, "devices": ["cuda", "opencl"]}': (
        "TVM makes the target, and fails to print it"
    ),
    '"llvm -mcpu=skylake"': "the string form, which TVM has read until 0.20",
    '"llvm "': "the string form, which TVM has read until 0.20",
}
"""Where TVM 0.27 and this dialect part about JSON."""

WITHOUT_TARGET = {
    "aws/trn1/trn1.2xlarge": "no kind",
    "aws/trn1/trn1.32xlarge": "no kind",
    "riscv/spacemit-k3": "a CPU newer than LLVM's table",
}
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


def test_every_string_is_read_or_refused_as_tvm_does(corpus: Corpus) -> None:
    """A string of TVM's tests, documents and logs is read unless its kind has no target here, or it is listed."""
    wrong = []
    for row in corpus("tvm_cli_targets"):
        text = text_of(row)
        bad = row.get("valid") is False or text.split()[0] in REFUSED_KINDS or text in STRINGS
        if bool(refused(text)) != bad or not (bad or means_the_same(text)):
            wrong.append(text)
    assert [] == wrong


def test_options_that_tvm_refuses_are_refused_for_their_reason(corpus: Corpus) -> None:
    """The rows that state a reason are about the values of LLVM's options, and so is the error."""
    for row in corpus("tvm_cli_targets"):
        if "reason" in row:
            assert "cl-opt" in refused(text_of(row))


def test_strings_are_written_as_tvm_reads_their_json(corpus: Corpus) -> None:
    """What a string states is in its JSON as TVM reads what its own authors rewrote it to."""
    wrong = {}
    for row in corpus("tvm_cli_targets"):
        text = text_of(row)
        if "tvm_0_27" in row and not refused(text):
            wrong[text] = unlike(as_written(text), row["tvm_0_27"]["ok"])
    assert {} == {text: names for text, names in wrong.items() if names}
    assert 50 < len(wrong)


def test_values_that_the_tests_of_tvm_expect(corpus: Corpus) -> None:
    """What TVM's tests expect of quoting and of hosts; its test kind's attributes are read as others of their type."""
    instead = {"single": "model", "array": "keys"}
    for row in corpus("tvm_cli_targets"):
        expected = row.get("expected", {}).get("attrs", {})
        for name, value in expected.items():
            text = (
                row["target"]
                .replace("TestStringKind", "llvm")
                .replace(f"-{name}=", f"-{instead.get(name, name)}=")
            )
            if name != "nested-array":  # no attribute of a kind has such lists
                assert value == as_written(text)[instead.get(name, name)]


def test_every_json_target_is_read_as_tvm_does(corpus: Corpus) -> None:
    """A JSON target is read where TVM 0.27 reads it, with the same values of all that it states, or it is listed."""
    wrong = []
    for row in corpus("tvm_json_targets"):
        text, judged = text_of(row), row["tvm_0_27"]
        listed = JSONS.keys() & {text, json.dumps(row["target"])}
        agrees = bool(refused(text)) == ("error" in judged)
        if "ok" in judged and not refused(text):
            stated = unlike(as_written(text), judged["ok"])
            agrees = not stated and means_the_same(text)
        if agrees == bool(listed):
            wrong.append(text)
    assert [] == wrong


def test_texts_within_json_are_judged_as_tvm_does(corpus: Corpus) -> None:
    """A target that is a JSON string is a kind, a tag or a JSON document, and nothing else."""
    for row in corpus("tvm_json_targets"):
        if isinstance(row["target"], str):
            assert bool(refused(json.dumps(row["target"]))) == ("error" in row["tvm_0_27"])


def test_every_tag_is_what_tvm_has(corpus: Corpus) -> None:
    """A tag alone is the target that TVM prints for it, but for what no kind or table here can say."""
    rows = corpus("tvm_tags")
    assert {row["tag"] for row in rows if refused(row["tag"])} <= set(WITHOUT_TARGET)
    for row in rows:
        if row["tag"] not in WITHOUT_TARGET:
            text = json.dumps(row["target"])
            assert parse(row["tag"], "tvm") == parse(text, "tvm") == tag(row["tag"])
            assert [] == unlike(as_written(text), row["target"])


def test_lists_hold_what_is_wrong_only(corpus: Corpus) -> None:
    """No row is listed that would be right without the list."""
    strings = {row["target"] for row in corpus("tvm_cli_targets")}
    for text in STRINGS.keys() & strings:
        assert refused(text)
    jsons = {json.dumps(row["target"]): row for row in corpus("tvm_json_targets")}
    for name in JSONS.keys() & jsons.keys():
        row = jsons[name]
        assert bool(refused(text_of(row))) != ("error" in row["tvm_0_27"])
