"""Documents of version 1, which every later version reads to the same digest: stored records are found by it.

No line of the files under `golden` is ever changed once a version is released: a difference here is a cache that
nobody finds again. What a later version can say besides goes into new entries.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import targetspec
from targetspec import registry

FILES = sorted((Path(__file__).parent / "golden").glob("*.json"))
ENTRIES = [entry for path in FILES for entry in json.loads(path.read_text(encoding="utf-8"))]
SCHEMA = jsonschema.Draft202012Validator(targetspec.json_schema())
# Two of them again, so that no edit of a file alone moves a digest.
TYPED_IN = {
    "one feature more, and a library": "6967a3d338a6ca0fae0e0089be6e1cc7636c106765901001a289a65aa2336013",
    "a library and a host": "202552b6d393b30e943220056b4ae94f6f75c174798fca7ac0100a046e93c5a7",
}


def ident(entry: dict[str, Any]) -> str:
    """Return the name that a test goes by."""
    return f"{entry['document']['kind']}: {entry['name']}"


@pytest.mark.parametrize("entry", ENTRIES, ids=ident)
def test_a_document_of_version_1_is_read_to_the_same_digest(entry: dict[str, Any]) -> None:
    """Digest and tuning key are those that were typed in, and the document is valid and written as it was read."""
    document = entry["document"]
    assert [] == targetspec.validate(document)
    assert [] == list(SCHEMA.iter_errors(document))
    target = targetspec.from_dict(copy.deepcopy(document))
    assert entry["digest"] == target.digest
    assert entry["tuning_key"] == target.tuning_key
    assert document == target.to_dict()


def test_every_kind_hosts_libraries_and_other_tables_are_covered() -> None:
    """The files hold each kind of ours, and each way of nesting, under one digest each."""
    documents = [entry["document"] for entry in ENTRIES]
    assert (
        set(registry.KINDS) == {document["kind"] for document in documents} == {path.stem for path in FILES}
    )
    assert (
        len(ENTRIES)
        == len({entry["digest"] for entry in ENTRIES})
        == len({ident(entry) for entry in ENTRIES})
    )
    assert {"cpu", "cuda", "rocm", "metal", "vulkan", "hexagon", "composite"} <= {
        document["kind"] for document in documents if "host" in document
    }
    assert {"cpu", "hexagon"} == {document["host"]["kind"] for document in documents if "host" in document}
    assert any("libs" in document for document in documents)
    assert any(document.get("tables") == "99.0.0" for document in documents)


def test_the_digests_that_are_typed_in_here_too() -> None:
    """A file and this page agree."""
    assert TYPED_IN == {entry["name"]: entry["digest"] for entry in ENTRIES if entry["name"] in TYPED_IN}
