"""The faults of texts: what `parse` refuses, each with its span."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from targetspec import Problem, TargetSyntaxError, UnknownNameError, parse, registry, validate_text
from targetspec.errors import TargetspecError
from targetspec.json_places import places_of
from targetspec.testing import target_strings

X86 = "x86_64-linux-gnu"


def blamed(text: str, dialect: str = "auto") -> list[str]:
    """The parts of a text that are at fault."""
    return [text[slice(*problem.span)] for problem in validate_text(text, dialect)]


def refusal(text: str) -> TargetspecError | None:
    """The error of `parse`, if any."""
    try:
        parse(text)
    except TargetspecError as error:
        return error
    return None


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (X86, []),
        (f"{X86} -mcpu=haswel -mattr=+avx9,+sse2,-foo -mtune=zzz", ["haswel", "+avx9", "foo", "zzz"]),
        (f"{X86} -mattr=+avx9 -mcpu=haswel", ["+avx9", "haswel"]),
        # The triple and the CPU say what the other words mean: without them nothing more is known.
        ("x86_64-lnux -mcpu=haswel", ["lnux"]),
        ("-O3 -mcpu=haswel -mattr=+avx2", ["haswel"]),
        ("cpu num_cores=-4 foo=3 vector_bits=x", ["-4", "foo", "x"]),
        ("cuda arch=sm_banana host=[cpu num_cores=x y=1]", ["sm_banana", "x", "y"]),
        ("composite members=[cuda arch=sm_1][cpu cpu=1 static=3]", ["sm_1", "3"]),
        ("cpu host=[cpu host=x]", ["x"]),
        ('{"kind": "cpu", "num_cores": -1, "x": 2}', ['"num_cores": -1', '"x": 2']),
        ('{"kind": "cuda", "host": {"kind": "cpu", "num_cores": "8"}}', ['"num_cores": "8"']),
        ('{"kind": "cpu",, }', [","]),
    ],
)
def test_faults_are_told_all_at_once_with_their_places(text: str, parts: list[str]) -> None:
    """As far as each is a fault whatever the others are meant to be."""
    assert parts == blamed(text)


@given(
    st.one_of(target_strings(), st.text(), st.sampled_from(registry.dialect_names()).flatmap(target_strings)),
    st.data(),
)
def test_a_text_has_faults_iff_parse_refuses_it(text: str, data: st.DataObject) -> None:
    """On texts of every dialect, changed in a place; the fault that `parse` raises is among them."""
    at = data.draw(st.integers(0, len(text)))
    text = text[:at] + data.draw(st.text(max_size=2) | st.sampled_from(["", "-", "=x", "["])) + text[at + 1 :]
    problems = validate_text(text)
    error = refusal(text)
    assert bool(problems) == (error is not None)
    if isinstance(error, TargetSyntaxError) and error.dialect != "json" and error.text == text:
        assert Problem("", error.message, error.hint, error.span) in problems
    spans = [problem.span or (-1, -1) for problem in problems]
    assert all(0 <= start <= end for start, end in spans)
    assert len(set(problems)) == len(problems)


@pytest.mark.parametrize(
    "text",
    [
        "a" * 10_000_000,
        "{" * 10_000,
        '{"kind": "cpu", "host": ' * 4000,
        '{"kind": "cpu", "host": ' * 4000 + "1" + "}" * 4000,
        f"{X86} -mattr=" + ",".join(["+nope"] * 10_000),
        "cpu " + "x=1 " * 20_000,
        "[" * 10_000,
        "cpu\udc80",
        "\0",
        " ",
        "",
        None,
        b"x86_64",
        5,
    ],
    ids=lambda text: str(text)[:20].encode("ascii", "replace").decode(),
)
@pytest.mark.timeout(20)
def test_hostile_texts_have_faults_and_nothing_else(text: object) -> None:
    """Long, deep, of another type: faults, never another exception."""
    assert validate_text(text)


def test_a_dialect_that_is_not_there_is_the_callers_error() -> None:
    """As it is of `parse`."""
    with pytest.raises(UnknownNameError, match="llvm"):
        validate_text(X86, "lvm")


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("$", '{"a": [1, {"b\\"": "}"}], "c": {}}'),
        ("$.a", '"a": [1, {"b\\"": "}"}]'),
        ("$.a[0]", "1"),
        ('$.a[1].b"', '"b\\"": "}"'),
        ("$.c.missing", '"c": {}'),
    ],
)
def test_places_in_json(path: str, part: str) -> None:
    """A member from its key to its end, an element alone, and of what is missing what should hold it."""
    text = '{"a": [1, {"b\\"": "}"}], "c": {}}'
    start, end = places_of(text, [path])[path]
    assert part == text[start:end]
