"""What all dialects share: which one a text is in, hosts, and errors."""

from __future__ import annotations

import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from targetspec import (
    CpuTarget,
    FieldTypeError,
    HostConflictError,
    TargetSyntaxError,
    UnknownNameError,
    detect_host,
    dumps,
    parse,
    parse_full,
)
from targetspec.fields import LONGEST_DOCUMENT

X86 = "x86_64-unknown-linux-gnu"
TARGET = CpuTarget(triple=X86, cpu="haswell")
_PIECES = [
    "cpu",
    " ",
    "=",
    "[",
    "]",
    "host=",
    "features=",
    "+",
    "-",
    ",",
    "avx",
    "haswell",
    "-mcpu=",
    "-mattr=",
    X86,
]
_PIECES += [
    "triple=",
    "{",
    "}",
    '"kind"',
    ":",
    "native",
    "1",
    "libs=",
    "-mtriple",
    "\N{SNOWMAN}",
    "\ud800",
    "\x1f",
]


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        (str(TARGET), "targetspec"),
        (TARGET.format("llvm"), "llvm"),
        (dumps(TARGET), "json"),
        (" " + json.dumps(TARGET.to_dict(), indent=2), "json"),
        ("-mcpu=haswell", "llvm"),
        (X86, "llvm"),
    ],
)
def test_the_dialect_is_told_by_the_text(text, dialect):
    """Each written form is recognised, and read in its own dialect too."""
    assert dialect == parse_full(text).dialect
    assert parse(text) == parse(text, dialect)


def test_native_is_this_machine():
    """The word stands for the machine under auto, and is no kind where our own form is asked for."""
    assert detect_host() == parse("native") == parse(" native\n")
    with pytest.raises(TargetSyntaxError):
        parse("native", "targetspec")


def test_a_parsed_text_is_written_again_in_its_dialect():
    """Parsed.format gives a text that reads as the same."""
    for text in (f"{X86} -mcpu=haswell -O2", str(TARGET), dumps(TARGET)):
        parsed = parse_full(text)
        assert parsed == parse_full(parsed.format())
        assert parsed == pickle.loads(pickle.dumps(parsed))


def test_a_host_beside_the_text():
    """A host is a target or a text, fits where the text has none or an equal one, and conflicts otherwise."""
    host = CpuTarget(triple=X86, cpu="znver3")
    expected = TARGET.with_host(host)
    assert expected == parse(str(TARGET), host=host) == parse(str(TARGET), host=str(host))
    assert expected == parse(str(expected), host=host)
    with pytest.raises(HostConflictError):
        parse(str(expected), host=X86)


def test_a_host_that_cannot_be_one_is_an_error():
    """A host with a host is refused, and a text of one points at that text."""
    nested = str(TARGET.with_host(TARGET))
    with pytest.raises(TargetSyntaxError) as caught:
        parse(X86, host=nested)
    assert nested == caught.value.text
    with pytest.raises(FieldTypeError):
        parse(X86, host=3)


@pytest.mark.parametrize("text", [None, b"x86_64", 3, ["x86_64"]])
def test_a_text_is_a_str(text):
    """Anything else is a TypeError that says so."""
    with pytest.raises(FieldTypeError, match="must be a str"):
        parse(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        (" \n", "empty"),
        (f"{X86}\0", "NUL"),
        ("x" * (LONGEST_DOCUMENT + 1), "characters"),
        ("{", "JSON"),
        ("{} {}", "JSON"),
        ('{"kind": "cpu", "num_cores": true}', "num_cores"),
        ('{"kind": "cpu", "cpu": "haswel"}', "haswel"),
        ('{"a":' * 20_000, "nested"),
        ("{" + "9" * 10_000, "JSON"),
        ("cpu host=[" * 9_000, "closed"),
    ],
)
def test_bad_texts_say_what_is_wrong(text, words):
    """Every bad text is a TargetSyntaxError that says what is wrong, pickles, and points into the text."""
    with pytest.raises(TargetSyntaxError) as caught:
        parse(text)
    assert words in f"{caught.value.message} {caught.value.hint}"
    assert caught.value == pickle.loads(pickle.dumps(caught.value))
    start, end = caught.value.span
    assert 0 <= start <= len(text)
    assert start <= end


def test_an_unknown_dialect_has_its_nearest_names():
    """A dialect that nobody has is not guessed."""
    with pytest.raises(UnknownNameError) as caught:
        parse(X86, "lvm")
    assert ("dialect", ("llvm", "tvm")) == (caught.value.what, caught.value.near)


@given(
    st.lists(st.sampled_from(_PIECES), max_size=12).map("".join),
    st.sampled_from(["auto", "targetspec", "llvm", "json"]),
)
def test_no_text_raises_anything_else(text, dialect):
    """A text is a target, which then writes itself, or a TargetSyntaxError with a printable message."""
    try:
        target = parse(text, dialect)
    except TargetSyntaxError as error:
        shown = str(error)
        assert shown.startswith(error.message)  # noqa: PT017 - any other exception is a failure
    else:
        assert target == parse(str(target))


def test_an_architecture_alone_needs_no_look_at_what_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Entry points are slow to read, so a word that is an architecture is never looked up among kinds."""

    def never() -> tuple[str, ...]:
        raise AssertionError("looked up")

    monkeypatch.setattr("targetspec.registry.kind_names", never)
    assert "cpu triple=x86_64-unknown-unknown" == str(parse("x86_64"))
