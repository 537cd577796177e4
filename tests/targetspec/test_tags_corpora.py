"""TVM's target tags, as TVM 0.27 prints them: every fact of a row is in the tag's value, and nothing more."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from targetspec import CpuTarget, HexagonTarget, Target, UnknownNameError, parse, registry, tag
from targetspec.dialects import tvm_names

pytestmark = pytest.mark.shared

Corpus = Callable[[str], list[dict[str, Any]]]

EXCEPTIONS = (
    "tvmtag:aws/trn1/trn1.2xlarge",
    "tvmtag:aws/trn1/trn1.32xlarge",
    "tvmtag:riscv/spacemit-k3",
)
# Where TVM derives something wrong: it takes a triple that says arm64 for 32-bit Arm.
WRONG_FEATURES = {
    ("apple/m1-gpu", "is_aarch64"),
    ("apple/m1-gpu-restricted", "is_aarch64"),
    ("apple/m2-gpu", "is_aarch64"),
    ("arm/mate10", "is_aarch64"),
}
_FEATURES = {
    "has_asimd": "neon",
    "has_dotprod": "dotprod",
    "has_fp16_simd": "fullfp16",
    "has_matmul_i8": "i8mm",
    "has_sve": "sve",
    "has_sme": "sme",
}
_OF_AARCH64_ALONE = ("has_sve", "has_sme")


def _fields(row: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Give our fields and values of a target as TVM prints it, `mattr` aside."""
    names = tvm_names.attributes(row["kind"])
    for name, value in row.items():
        if name in ("kind", "mattr") or name.startswith("feature."):
            continue
        one = names[name]
        if one.reads == "said":
            assert str(value) in one.adds
        elif one.reads == "target":
            yield one.field, _expected(value)
        elif one.reads != "option":
            assert one.reads in ("number", "text")
            yield one.field, value


def _expected(row: dict[str, Any]) -> Target:
    kind = registry.kind(tvm_names.KINDS[row["kind"]])
    fields = dict(_fields(row))
    changes = row.get("mattr", [])
    if kind is CpuTarget and changes:
        asked = CpuTarget(**fields).request_features([name[1:] for name in changes if name[0] == "+"], [])
        fields["features"] = asked
        assert all(name[0] == "+" and asked is not None and name[1:] in asked for name in changes)
    elif kind is HexagonTarget:
        fields.update(_vectors(changes))
    made: Target = kind(**fields)
    return made


def _vectors(changes: list[str]) -> dict[str, Any]:
    """Return the fields that a Hexagon's features are: +hvxv68, +hvx-length128b, +hvx-qfloat, -hvx-ieee-fp."""
    version, length, *rest = changes
    asked = {name[1:] for name in rest if name[0] == "+"}
    return {
        "hvx_version": version.removeprefix("+hvx"),
        "hvx_bytes": int(length.removeprefix("+hvx-length").removesuffix("b")),
        "extensions": asked,
    }


def test_a_tag_states_what_its_row_states_and_nothing_more(corpus: Corpus) -> None:
    """Each row, read attribute by attribute, equals the value of its tag."""
    rows = [row for row in corpus("tvm_tags") if row["id"] not in EXCEPTIONS]
    assert 190 < len(rows)
    for row in rows:
        assert (row["tag"], _expected(row["target"])) == (row["tag"], tag(row["tag"]))


def test_the_dialect_reads_a_row_as_its_tag(corpus: Corpus) -> None:
    """What TVM prints of a tag, read as a text of TVM's, is the tag's value: two readings that share no code."""
    for row in corpus("tvm_tags"):
        if row["id"] not in EXCEPTIONS:
            assert (row["tag"], tag(row["tag"])) == (row["tag"], parse(json.dumps(row["target"]), "tvm"))


def test_exceptions_are_refused(corpus: Corpus) -> None:
    """The list of exceptions names rows of the corpus that have no value."""
    rows = {row["id"]: row for row in corpus("tvm_tags")}
    for one in EXCEPTIONS:
        with pytest.raises(UnknownNameError):
            tag(rows[one]["tag"])


def test_what_tvm_derives_holds_here_but_for_a_list(corpus: Corpus) -> None:
    """`feature.*` of a tag agrees with the features of its value, and is wrong in the listed places only."""
    wrong = set()
    for row in corpus("tvm_tags"):
        derived = row["target"].get("host", row["target"])
        if "feature.is_aarch64" in derived:
            target = tag(row["tag"])
            cpu = target if target.host is None else target.host
            wrong |= {(row["tag"], name) for name in _disagreements(derived, cpu)}
    assert WRONG_FEATURES == wrong


def _disagreements(derived: dict[str, Any], cpu: Any) -> Iterator[str]:
    if derived["feature.is_aarch64"] != (cpu.family == "aarch64"):
        yield "is_aarch64"
    for name, ours in _FEATURES.items():
        there = (cpu.family == "aarch64" or name not in _OF_AARCH64_ALONE) and ours in cpu.features
        if derived[f"feature.{name}"] != there:
            yield name
