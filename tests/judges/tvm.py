"""TVM's own target strings, JSON targets and tags."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import attrs

from judges.judge import Judge, Row
from targetspec import TargetSyntaxError, parse, parse_full, tag
from targetspec.dialects.tvm_names import REFUSED_KINDS

STRINGS = {
    "llvm -keys=arm_cpu -mattr=v8.4a,+dotprod": "a feature without its sign",
    "llvm -device=abc, def": "no target of TVM's either: a test of a function that rewrites texts",
}
"""What of the string form is refused here and stands in TVM's tests or documents as good, in the sample or not."""

JSONS = {
    '{"device": "riscv_cpu", "kind": "llvm", "mattr": ["+64bit", "+a", "+c", "+d", "+f", "+m"], '
    '"mcpu": "generic-rv32", "mtriple": "riscv32-linux-gnu"}': "asks for 64 bits of a 32-bit processor",
}
"""Where TVM 0.27 and this dialect part about JSON."""

TAGS = {"riscv/spacemit-k3": "LLVM 22 has no CPU spacemit-x100"}
"""What of TVM's tags no table here can say."""

DROPPED = ("from_device",)
"""What TVM takes out of a target that states it: it asks for detection."""


def text_of(row: Row) -> str:
    """Return a row's target as a user passes it."""
    return row["target"] if isinstance(row["target"], str) else json.dumps(row["target"])


def refusal(text: str) -> TargetSyntaxError | None:
    """Return the error of a text that is refused."""
    try:
        parse(text, "tvm")
    except TargetSyntaxError as error:
        return error
    return None


# What TVM takes as it stands; whether LLVM has all names that are known here, and these have all of LLVM's, is judged
# by clang's own lists.
_UNCHECKED = re.compile(r"""[-"](mcpu|mtriple|target|arch|mattr|mabi|mfloat-abi)(?:[ =]|":\s*)[^=:\s]*\Z""")
_NO_SUCH_NAME = re.compile(r"unknown |no architecture has |[a-z-]+ must be ")
_CUT = re.compile(r"-[a-z-]+[ =]\Z")
_CPU_KINDS = ("llvm", "c")


def reasoned(error: TargetSyntaxError, read: Mapping[str, Any] = MappingProxyType({})) -> bool:
    """Say whether a text that TVM takes is refused for what sets the two apart by design.

    It names a kind that has no counterpart here; or a CPU, triple or feature that nothing has, which TVM does not look
    at; it is the beginning of a text whose end a program puts in; or the host that TVM has read is no CPU.
    """
    before, named = error.text[: error.span[0]], error.text[slice(*error.span)]
    return (
        named in REFUSED_KINDS
        or bool(_NO_SUCH_NAME.match(error.message) and _UNCHECKED.search(before))
        or _CUT.search(error.text) is not None
        or (
            "cannot be a host" in error.message and read.get("host", {}).get("kind", "llvm") not in _CPU_KINDS
        )
    )


def as_written(text: str) -> dict[str, Any]:
    """Return the document that a parsed text is written as."""
    found: dict[str, Any] = json.loads(parse_full(text, "tvm").format())
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
    """Say whether a target and its leftovers, their text forgotten, are written as the same target and options."""
    got = attrs.evolve(parse_full(text, "tvm"), text="")
    again = attrs.evolve(parse_full(got.format(), "tvm"), text="")
    return got.target == again.target and got.format() == again.format()


_FOR_TESTS = {"single": "model", "array": "keys"}
"""The attributes of a kind of TVM's own tests, and others of their type."""


def _faults_of_string(row: Row) -> Iterator[str]:
    """Yield what differs: whether it is read, for what reason not, and what it states of what TVM reads."""
    if "expected" in row:
        yield from _faults_of_values(row)
        return
    text, why = text_of(row), refusal(text_of(row))
    if row.get("valid") is False:
        if why is None or ("reason" in row and "cl-opt" not in why.message):
            yield f"refused for {why!r}"
    elif why is not None:
        yield from () if reasoned(why) else (f"refused: {why.message}",)
    else:
        yield from _faults_of_reading(text, row.get("tvm_0_27", {}).get("ok", {}))
        if "json_equivalent" in row:
            yield from _faults_of_equivalent(text, row["json_equivalent"])


def _faults_of_reading(text: str, read: Mapping[str, Any]) -> Iterator[str]:
    """Yield what differs of all that a text states, and whether its written form is the same target."""
    if read:
        yield from unlike(as_written(text), read)
    if not means_the_same(text):
        yield "written as something else"


def _faults_of_equivalent(text: str, document: Mapping[str, Any]) -> Iterator[str]:
    """Yield what differs of the document that TVM's authors put in a string's place."""
    if parse(text, "tvm") != parse(json.dumps(document), "tvm"):
        yield "another target than its document's"
    if as_written(text) != document:
        yield f"written as {as_written(text)}"


def _faults_of_values(row: Row) -> Iterator[str]:
    """Yield what differs of quoting and hosts; no attribute of any kind has lists of lists."""
    for name, value in row["expected"].get("attrs", {}).items():
        instead = _FOR_TESTS.get(name, name)
        text = row["target"].replace("TestStringKind", "llvm").replace(f"-{name}=", f"-{instead}=")
        if name != "nested-array" and value != as_written(text)[instead]:
            yield f"{name} {as_written(text)[instead]!r}"


# TVM's text of a composite is no JSON: it was read, and how is not known.
_UNPRINTED = "JSONDecodeError"


def _faults_of_json(row: Row) -> Iterator[str]:
    """Yield what differs from TVM 0.27: whether it is read, and all that it states; not what TVM fills in by itself."""
    text, judged = text_of(row), row["tvm_0_27"]
    why = refusal(json.dumps(row["target"]) if isinstance(row["target"], str) else text)
    read = judged.get("ok", {})
    if "error" in judged and not judged["error"].startswith(_UNPRINTED):
        yield from () if why else ("read",)
    elif why is not None:
        yield from () if reasoned(why, read) else (f"refused: {why.message}",)
    else:
        yield from _faults_of_reading(text, read)


def _faults_of_tag(row: Row) -> Iterator[str]:
    """Yield what differs of a tag from the target that TVM prints for it."""
    why = refusal(row["tag"])
    if why is not None and row["target"]["kind"] in REFUSED_KINDS:
        yield from () if repr(row["target"]["kind"]) in why.message else (why.message,)
        return
    text = json.dumps(row["target"])
    if not parse(row["tag"], "tvm") == parse(text, "tvm") == tag(row["tag"]):
        yield "another target"
    yield from unlike(as_written(text), row["target"])


def _ids(prefix: str, listed: Mapping[str, str]) -> dict[str, str]:
    return {f"{prefix}:{text}": why for text, why in listed.items()}


FILES = {
    "tvm_cli_targets": Judge(_faults_of_string, _ids("tvmcli", STRINGS), 2),
    "tvm_json_targets": Judge(_faults_of_json, _ids("tvmjson", JSONS), 2),
    "tvm_tags": Judge(_faults_of_tag, _ids("tvmtag", TAGS), 2),
}
