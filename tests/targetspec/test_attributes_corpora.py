"""Every attribute that real targets of TVM state is known: strings since 2019, dicts, and tags."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from targetspec.dialects import tvm_names

pytestmark = pytest.mark.shared

# What rows hold that TVM itself never took: (kind, attribute), and why the row is there.
NEVER_TAKEN = {
    ("llvm", "foo"): "a row of TVM's tests that it refuses",
    ("nosuch", ""): "a row of TVM's tests that it refuses",
    ("aot", ""): "an executor, not a kind: refused",
    ("LLVM", ""): "kinds are written in small letters: refused",
    ("x86_64-linux-gnu", ""): "a triple, not a kind: refused",
    ("[]", ""): "not a kind: refused",
    ("3", ""): "not a kind: refused",
}
_OPTION = re.compile(r"(?<!\S)--?([A-Za-z][\w.-]*)")
_DERIVED = "feature."


def _stated(target: Any) -> Iterator[tuple[str, str]]:
    """Give (kind, attribute) of a target and of those within it; ("kind", "") says that the kind is meant."""
    if isinstance(target, dict):
        yield from _in_dict(target)
    elif (isinstance(target, str) and "/" in target.split()[0]) or (
        isinstance(target, str) and target.lstrip().startswith("{")
    ):
        return
    else:
        kind, *words = str(target).split()
        yield kind, ""
        yield from ((kind, name) for name in _OPTION.findall(re.sub(r"'[^']*'", "", " ".join(words))))


def _in_dict(target: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for inner in (target.get("host"), *target.get("devices", ())):
        if inner is not None:
            yield from _stated(inner)
    if "kind" not in target:
        return
    yield target["kind"], ""
    yield from ((target["kind"], name) for name in target if not name.startswith(_DERIVED))


def _known(kind: str, name: str) -> bool:
    if kind in tvm_names.REFUSED_KINDS:
        return True
    if kind not in tvm_names.KINDS:
        return name != ""  # the kind's own entry, ("kind", ""), says it
    return name in ("", "kind") or tvm_names.RENAMED.get(name, name) in tvm_names.attributes(kind)


@pytest.mark.parametrize("name", ["tvm_tags", "tvm_json_targets", "tvm_cli_targets"])
def test_every_attribute_in_the_corpora_is_known(
    name: str, corpus: Callable[[str], list[dict[str, Any]]]
) -> None:
    """Each attribute of each row has its entry, or the row is listed as refused."""
    stated = {pair for row in corpus(name) for pair in _stated(row["target"])}
    assert 20 < len(stated)
    assert set() == {pair for pair in stated if not _known(*pair)} - set(NEVER_TAKEN)


def test_what_was_never_taken_is_in_the_corpora_and_not_known(
    corpus: Callable[[str], list[dict[str, Any]]],
) -> None:
    """The list has no entry that is known, and none that no row states."""
    rows = [row for name in ("tvm_json_targets", "tvm_cli_targets") for row in corpus(name)]
    stated = {pair for row in rows for pair in _stated(row["target"])}
    assert set() == set(NEVER_TAKEN) - {pair for pair in stated if not _known(*pair)}


def test_canonical_forms_state_nothing_unknown(corpus: Callable[[str], list[dict[str, Any]]]) -> None:
    """What TVM itself prints of a row has entries too, the defaults that it fills in among them."""
    printed = (row["tvm_0_27"].get("ok") for row in corpus("tvm_json_targets"))
    stated = {pair for target in printed if isinstance(target, dict) for pair in _stated(target)}
    assert 40 < len(stated)
    assert set() == {pair for pair in stated if not _known(*pair)}
