"""Schemas and the readers agree: on good documents, on mutated ones, and on target strings."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import targetspec
from targetspec import DocumentError, TargetSyntaxError, UnknownNameError, registry
from targetspec.schemas import NAMES, UNSAID, format_checker, json_schema
from targetspec.target_strings import ANY_TEXT, formats
from targetspec.testing import targets, written_targets

SCHEMA = jsonschema.Draft202012Validator(json_schema())
STRINGS = jsonschema.Draft202012Validator(json_schema("target-string"))
CHECKED = jsonschema.Draft202012Validator(json_schema("target-string"), format_checker=format_checker())
LINUX = "x86_64-unknown-linux-gnu"
GOOD: dict[str, Any] = {"kind": "cpu", "triple": LINUX, "cpu": "znver3", "num_cores": 8}


def schema_paths(document: Any) -> set[str]:
    """The places that the schema refuses; a key that should not be there is its own place."""
    found = set()
    for error in SCHEMA.iter_errors(document):
        if error.validator == "additionalProperties":
            extra = set(error.instance) - set(error.schema["properties"])
            found |= {f"{error.json_path}.{key}" for key in extra}
        elif error.validator == "required":
            found.add(f"{error.json_path}.{error.message.split(chr(39))[1]}")
        else:
            found.add(error.json_path)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_the_published_schemas_are_the_ones_that_the_declarations_give(
    pytestconfig: pytest.Config, name: str
) -> None:
    """The files beside the sources are what `targetspec schema --write schemas` writes today, each a valid schema."""
    published = json.loads((pytestconfig.rootpath / "schemas" / f"{name}.schema.json").read_text("utf-8"))
    assert published == json_schema(name)
    assert f"urn:targetspec:schema:{name}:1" == published["$id"]
    jsonschema.Draft202012Validator.check_schema(published)


def test_an_unknown_schema_is_an_unknown_name() -> None:
    """With the names that there are."""
    with pytest.raises(UnknownNameError, match="'target-string'"):
        json_schema("target-strings")


def objects(schema: Any) -> list[dict[str, Any]]:
    """All parts of a schema."""
    if isinstance(schema, list):
        return [found for one in schema for found in objects(one)]
    return [schema, *objects(list(schema.values()))] if isinstance(schema, dict) else []


def test_each_kind_is_closed_described_and_anchored() -> None:
    """So that an editor can complete a target file, explain each field, and refuse what is none."""
    for cls in map(registry.kind, registry.kind_names()):
        held = json_schema()["$defs"][cls.kind]
        assert held["additionalProperties"] is False
        assert ["kind", *cls.specs(), "tables"] == list(held["properties"])
        assert all(one["description"] for one in held["properties"].values())
    patterns = [one["pattern"] for one in objects(json_schema()) if isinstance(one.get("pattern"), str)]
    assert patterns
    assert [] == [pattern for pattern in patterns if not (pattern[0] == "^" and pattern[-1] == "$")]


def test_an_editor_is_offered_the_names_of_the_tables_and_may_use_others() -> None:
    """A document of other tables, or of an architecture without one, has names that are not listed."""
    offered = json_schema()["$defs"]
    assert {"haswell", "cortex-a53"} <= {*offered["cpu-name"]["enum"]}
    assert "avx2" in offered["feature-name"]["enum"]
    assert [] == list(SCHEMA.iter_errors({"kind": "cpu", "triple": "sparc64-linux-gnu", "cpu": "niagara4"}))


@given(targets(other_tables=True))
def test_the_schema_accepts_every_target(target: targetspec.Target) -> None:
    """What is written has no problems, in the schema or in the reader."""
    document = json.loads(targetspec.dumps(target))
    assert [] == list(SCHEMA.iter_errors(document))
    assert [] == targetspec.validate(document) == targetspec.validate(targetspec.dumps(target))
    assert target == targetspec.from_dict(document)


BAD: list[Any] = [
    None,
    True,
    1.5,
    -1,
    float("nan"),
    "",
    "\ud800",
    "no such",
    [],
    [[]],
    ["-"],
    {},
    {"kind": "cuda"},
    10**30,
]


@given(targets(), st.data())
def test_what_the_schema_refuses_the_reader_refuses_at_the_same_place(
    target: targetspec.Target, data: st.DataObject
) -> None:
    """On one key of a good document that is gone, extra, or holds another type of value."""
    document = json.loads(targetspec.dumps(target))
    key = data.draw(st.sampled_from([*document, *type(target).specs(), "extra"]))
    if data.draw(st.booleans()):
        document.pop(key, None)
    else:
        document[key] = data.draw(st.sampled_from(BAD))
    problems = targetspec.validate(document)
    said = schema_paths(document)
    assert bool(said) <= bool(problems)
    told = {problem.path for problem in problems}
    # The schema points into an array of names, and at the kind of a host or member; the reader at the whole.
    assert all(
        path in told or path.rpartition("[")[0] in told or path.removesuffix(".kind") in told for path in said
    )
    if problems:
        with pytest.raises(DocumentError) as caught:
            targetspec.from_dict(document)
        assert problems == list(caught.value.problems)


EXAMPLES: dict[str, Any] = {
    "one as a fraction": '{"kind": "cpu", "num_cores": 1.0}',
    "key twice": '{"kind": "cpu", "kind": "cpu"}',
    "line break at the end": '{"kind": "cpu", "cpu": "generic\\n"}',
    "length of a text": '{"kind": "cpu"}' + " " * 10_000_000,
    "length of a set": json.dumps({"kind": "cuda", "libs": [f"{n:0200}" for n in range(100)]}),
    "unknown name": json.dumps({**GOOD, "cpu": "znver33"}),
    "no such triple": '{"kind": "cpu", "triple": "x86_64-lnux"}',
    "names that exclude each other": '{"kind": "rocm", "target_id": "gfx90a:xnack+:xnack-"}',
    "fields that contradict each other": json.dumps({**GOOD, "libc": "musl"}),
    "field that needs another": '{"kind": "cpu", "libc_version": "2.17"}',
    "feature in the wrong field": json.dumps({**GOOD, "tuning": ["+avx2"]}),
}


def test_each_thing_that_a_schema_cannot_say_is_refused_by_the_reader() -> None:
    """The written list is whole: for each entry an example that the schema takes and `validate` refuses."""
    assert set(UNSAID) == set(EXAMPLES)
    for name, text in EXAMPLES.items():
        assert [] == list(SCHEMA.iter_errors(json.loads(text))), name
        assert targetspec.validate(text), name


def nested(depth: int) -> str:
    return '{"kind": "cpu", "host": ' * depth + "1" + "}" * depth


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('{"kind": "cpu", "cpu": "' + "a" * 10_000_000 + '"}', "$"),
        (nested(10_000), "$"),
        ("[" * 10_000 + "]" * 10_000, "$"),
        ('{"kind": "cpu", "num_cores": NaN}', "$"),
        ('{"kind": "cpu", "cpu": "\\ud800"}', "$.cpu"),
        ('{"kind": "cuda", "host": {"kind": "cuda"}}', "$.host.kind"),
        ('{"kind": "cpu", "num_cores": true}', "$.num_cores"),
        ('{"kind": "composite"}', "$.members"),
        ("{}", "$.kind"),
    ],
    ids=lambda value: value[:40],
)
def test_hostile_documents_are_refused_alike(text: str, path: str) -> None:
    """By `validate` and `loads` with the same problems, at the same place."""
    problems = targetspec.validate(text)
    assert path in {problem.path for problem in problems} | {"$.host.host" if "host" in text else path}
    with pytest.raises(DocumentError) as caught:
        targetspec.loads(text)
    assert problems == list(caught.value.problems)


@given(written_targets())
def test_the_pattern_of_a_dialect_takes_what_the_dialect_writes(written: tuple[str, str, Any]) -> None:
    """So does the schema of any target string, where the text tells its dialect."""
    dialect, text, _ = written
    one = jsonschema.Draft202012Validator({**json_schema("target-string")["$defs"][dialect]})
    assert [] == list(one.iter_errors(text))
    assert [] == list(STRINGS.iter_errors(text))
    assert formats()[f"target-string-{dialect}"](text)


@pytest.mark.parametrize("text", ["x86_64-lnux", "cpu cpu=haswel", "native", " native ", "", "{}", "a\0b"])
def test_the_format_refuses_what_is_no_target(text: str) -> None:
    """With the error of `parse` as the cause; what means another target on each machine is refused too."""
    (error,) = (one for one in CHECKED.iter_errors(text) if one.validator == "format")
    assert isinstance(error.cause, TargetSyntaxError)


def test_a_format_says_nothing_of_what_is_no_string() -> None:
    """As JSON Schema has it; the schema's type refuses it."""
    assert {True} == {check(3) for check in formats().values()}
    assert list(CHECKED.iter_errors(3))
    assert [] == list(CHECKED.iter_errors(LINUX))


def test_a_format_checker_leaves_those_of_others_alone() -> None:
    """Formats are registered with the one that is returned, not with all."""
    assert "target-string" in format_checker().checkers
    assert "target-string" not in jsonschema.FormatChecker.checkers


@pytest.mark.shared
def test_patterns_take_every_text_of_the_corpora_that_is_read(corpus: Callable[..., Any]) -> None:
    """A pattern is a superset of what its dialect reads, white space around it included."""
    texts = [row["target"] for row in corpus("tvm_cli_targets")[::3] if isinstance(row["target"], str)]
    texts += [row["triple"] for row in corpus("llvm_triples_clang22")[::12]]
    texts += [row["name"] for row in corpus("rustc_targets")[::12]]
    texts += [row["target"] for row in corpus("halide_targets")[::2]]
    definitions = json_schema("target-string")["$defs"]
    stated = [name for name, one in definitions.items() if one["pattern"] != ANY_TEXT]
    assert {"targetspec", "llvm", "json"} <= set(stated)
    for name in stated:
        one = jsonschema.Draft202012Validator(definitions[name])
        for text in (f"{space}{text}{space}" for text in texts for space in ("", " \x1c")):
            if not targetspec.validate_text(text, name):
                assert [] == list(one.iter_errors(text))
