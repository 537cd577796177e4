"""Reading documents: every fault at once, with its path, and agreement with the schema."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import targetspec
from targetspec import DocumentError
from targetspec.testing import cpu_targets

GOOD: dict[str, Any] = {"kind": "cpu", "triple": "x86_64-unknown-linux-gnu", "cpu": "znver3", "num_cores": 8}
SCHEMA = jsonschema.Draft202012Validator(targetspec.json_schema())


@given(cpu_targets())
def test_what_is_written_is_valid_and_read_back(target: targetspec.CpuTarget) -> None:
    """A written document satisfies the schema, has no problems, and reads back equal."""
    document = json.loads(targetspec.dumps(target))
    assert [] == list(SCHEMA.iter_errors(document))
    assert [] == targetspec.validate(document)
    assert target == targetspec.from_dict(document)


def test_the_published_schema_is_the_one_that_the_declarations_give(pytestconfig: pytest.Config) -> None:
    """The file beside the sources is what the declarations say today, and a valid schema."""
    published = json.loads(
        (pytestconfig.rootpath / "schemas" / "target.schema.json").read_text(encoding="utf-8")
    )
    assert published == targetspec.json_schema()
    jsonschema.Draft202012Validator.check_schema(published)


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"num_cores": True}, "$.num_cores"),
        ({"num_cores": 1.5}, "$.num_cores"),
        ({"num_cores": "8"}, "$.num_cores"),
        ({"num_cores": -1}, "$.num_cores"),
        ({"num_cores": None}, "$.num_cores"),
        ({"num_corse": 8}, "$.num_corse"),
        ({"kind": "gpu"}, "$.kind"),
        ({"kind": None}, "$.kind"),
        ({"cpu": 3}, "$.cpu"),
        ({"features": "avx2"}, "$.features"),
        ({"features": ["avx2", "avx2"]}, "$.features"),
        ({"host": "native"}, "$.host"),
        ({"host": {"kind": "cpu", "cpus": "x"}}, "$.host.cpus"),
        ({"host": {"kind": "cpu", "host": {"kind": "cpu"}}}, "$.host.host"),
        ({"static": 0}, "$.static"),
        ({"tables": 22}, "$.tables"),
        ({"tables": "22\ud800"}, "$.tables"),
    ],
)
def test_a_bad_document_is_refused_at_its_place_by_both(changes: dict[str, Any], path: str) -> None:
    """The codec and the schema both refuse, and the codec says where."""
    document = {**GOOD, **changes}
    assert [path] == [problem.path for problem in targetspec.validate(document)]
    assert list(SCHEMA.iter_errors(document))
    with pytest.raises(DocumentError) as caught:
        targetspec.from_dict(document)
    assert targetspec.validate(document) == list(caught.value.problems)


@pytest.mark.parametrize(
    ("changes", "path", "words"),
    [
        ({"cpu": "znver33"}, "$.cpu", "znver3"),
        ({"features": ["avx22"]}, "$.features[0]", "avx2"),
        ({"triple": "x86_64-unknown-linx-gnu"}, "$.triple", "linux"),
        ({"triple": "native"}, "$.triple", ""),
        ({"libc": "musl"}, "$.libc", "glibc"),
    ],
)
def test_names_that_only_the_tables_know_are_checked_too(
    changes: dict[str, Any], path: str, words: str
) -> None:
    """What the schema cannot say, the codec does, with the nearest names."""
    problems = targetspec.validate({**GOOD, **changes})
    assert [path] == [problem.path for problem in problems]
    assert words in str(problems[0])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        "[]",
        "3",
        "null",
        '{"kind": "cpu", "kind": "cpu"}',
        '{"kind": "cpu", "num_cores": NaN}',
        '{"kind": "cpu", "num_cores": 1e3}',
        '{"kind": "cpu", "num_cores": ' + "9" * 5000 + "}",
        "[" * 100_000,
        '{"kind": "cpu", "host": ' * 2000 + "1" + "}" * 2000,
        '{"kind": "cpu", "cpu": "\\ud800"}',
        " " * 2_000_000,
    ],
)
def test_hostile_texts_are_problems_and_nothing_else(text: str) -> None:
    """Bad JSON, deep nesting, huge numbers, lone surrogates: each is a problem, never another exception."""
    assert targetspec.validate(text)
    assert targetspec.validate(text.encode())
    with pytest.raises(DocumentError):
        targetspec.loads(text)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda x: (
            st.lists(x) | st.dictionaries(st.sampled_from(["kind", "cpu", "triple", "host", "features"]), x)
        ),
    )
)
def test_any_value_is_a_target_or_has_problems(value: Any) -> None:
    """No value whatever raises anything but a DocumentError."""
    document = {"kind": "cpu", **value} if isinstance(value, dict) and "kind" not in value else value
    if targetspec.validate(document):
        with pytest.raises(DocumentError):
            targetspec.from_dict(document)
    else:
        assert isinstance(targetspec.from_dict(document), targetspec.Target)


def test_all_faults_are_reported_at_once() -> None:
    """Two faults in two places make two problems."""
    document = {**GOOD, "num_cores": "8", "host": {"kind": "cpu", "static": 3}}
    assert ["$.host.static", "$.num_cores"] == sorted(p.path for p in targetspec.validate(document))


def test_a_document_of_another_table_version_is_read_verbatim() -> None:
    """Names unknown today are kept, and written again under their own version."""
    document = {**GOOD, "features": ["avx2", "from-the-future"], "tables": "99.0.0"}
    target = targetspec.from_dict(document)
    assert ["avx2", "from-the-future"] == list(target.features)  # type: ignore[attr-defined]
    assert document == target.to_dict()
    assert target == targetspec.loads(targetspec.dumps(target))
    assert targetspec.validate({**document, "tables": None})


def test_deep_nesting_is_a_fault_with_a_place_and_no_crash() -> None:
    """Hosts do not nest, so a document nested a thousand deep is refused at the first host inside a host."""
    document: dict[str, Any] = {"kind": "cpu"}
    for _ in range(3000):
        document = {"kind": "cpu", "host": document}
    assert ["$.host.host"] == [problem.path for problem in targetspec.validate(document)]
    text = '{"kind":"cpu","host":' * 300 + "{}" + "}" * 300
    assert ["$.host.host"] == [problem.path for problem in targetspec.validate(text)]


def _itself() -> list[Any]:
    loop: list[Any] = []
    loop.append(loop)
    return loop


def _deep() -> list[Any]:
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    return deep


@pytest.mark.parametrize(
    "value",
    [10**5000, _itself(), _deep(), {(1, 2): 3}, ("a",), {"a"}, b"x"],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("field", ["num_cores", "libs", "cpu"])
def test_a_value_that_no_json_has_is_shown_and_refused(field: str, value: Any) -> None:
    """A mapping made in Python may hold anything; a fault tells of it without failing itself."""
    (problem,) = targetspec.validate({"kind": "cpu", field: value})
    item = "[0]" if isinstance(value, list) and field == "libs" else ""
    assert f"$.{field}{item}" == problem.path
    assert len(str(problem)) < 300


@pytest.mark.parametrize("name", ["", "a\nb", "a b", "\n"])
def test_a_name_in_a_set_is_judged_by_itself(name: str) -> None:
    """Neither an empty name nor one with a line break passes among others."""
    for names in ([name], ["cudnn", name]):
        (problem,) = targetspec.validate({"kind": "cpu", "libs": names})
        assert f"$.libs[{len(names) - 1}]" == problem.path
