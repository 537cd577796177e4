"""Errors as values: what they carry, how they compare and travel, what they suggest, and where they point."""

from __future__ import annotations

import copy
import inspect
import pickle
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import targetspec
from targetspec import (
    CpuTarget,
    CudaTarget,
    Problem,
    Target,
    TargetspecError,
    TargetSyntaxError,
    UnknownNameError,
)
from targetspec import cpu as tables
from targetspec import errors as module
from targetspec.testing import tricky_targets, written_targets

HOST = CpuTarget(triple="x86_64-linux-gnu", cpu="haswell")
# One of each class, and the same with its first datum changed.
EXAMPLES: dict[str, tuple[tuple[Any, ...], Any]] = {
    "UnknownNameError": (("CPU", "znver33", ("znver3",), "x86"), "feature"),
    "FeatureConflictError": (("riscv", "f", "zfinx", "they exclude each other"), "x86"),
    "FeatureRoleError": (("x86", "fast-bextr", "tuning"), "arm"),
    "FieldError": (("cpu", "num_cores", -4, "must be from 1 to 9", "count them"), "cuda"),
    "FieldTypeError": (("cpu", "num_cores", True, "must be a whole number", ""), "cuda"),
    "HostConflictError": ((HOST, HOST.evolve(num_cores=4)), HOST.evolve(num_cores=5)),
    "TargetSyntaxError": (("cpu x", (4, 5), "expected key=value", "add =", "targetspec"), "cpu xy"),
    "NoCommonTargetError": (("triple", ("x86_64-linux-gnu", "aarch64-linux-gnu")), "cpu"),
    "NotRepresentableError": (("llvm", (("num_cores", "has no option"),), True), "tvm"),
    "DocumentError": (((Problem("$.kind", "must name the kind"),),), ()),
    "RegistrationError": (("npu", "is claimed twice"), "tpu"),
}


def subclasses(cls: type[Any]) -> set[type[Any]]:
    """Return all classes below one."""
    return {cls for one in cls.__subclasses__() for cls in (one, *subclasses(one))}


OURS = sorted(
    (cls for cls in subclasses(TargetspecError) if cls.__module__ == module.__name__),
    key=lambda cls: cls.__name__,
)


def test_every_error_class_has_an_example() -> None:
    """A new class gets its example above, and so its tests below."""
    assert set(EXAMPLES) == {cls.__name__ for cls in OURS}


@pytest.mark.parametrize("cls", OURS, ids=lambda cls: cls.__name__)
def test_an_error_carries_its_data_equals_by_value_and_travels(cls: type[Any]) -> None:
    """Its arguments are its attributes; a copy of any kind is equal with an equal hash and text; other data are not."""
    arguments, other = EXAMPLES[cls.__name__]
    error = cls(*arguments)
    names = list(inspect.signature(cls).parameters)
    assert arguments == error.args == tuple(getattr(error, name) for name in names)
    pickles = [pickle.dumps(error, protocol) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
    for again in (cls(*arguments), copy.copy(error), copy.deepcopy(error), *map(pickle.loads, pickles)):
        assert error == again
        assert type(error) is type(again)
        assert (hash(error), str(error), repr(error)) == (hash(again), str(again), repr(again))
    assert error != cls(other, *arguments[1:])
    assert NotImplemented is error.__eq__(ValueError(*arguments))
    assert isinstance(error, ValueError)
    assert all(
        str(one) in str(error)
        for one in arguments
        if type(one) is str and one not in {"tuning", "targetspec"}
    )


def test_errors_of_two_classes_are_not_equal() -> None:
    """The same data under another class are another error."""
    arguments = EXAMPLES["FieldError"][0]
    assert targetspec.FieldError(*arguments) != targetspec.FieldTypeError(*arguments)


def error_of(call: Callable[..., Any], *arguments: Any) -> Any:
    """Return the error of this package that a call raises, or None."""
    try:
        call(*arguments)
    except TargetspecError as error:
        return error
    return None


def letters_changed(names: list[str], count: int, seed: int) -> list[tuple[str, str]]:
    """Return names of four letters and more with one letter changed, dropped, doubled, or swapped with the next."""
    chance = random.Random(seed)
    found: list[tuple[str, str]] = []
    while len(found) < count:
        name = chance.choice(names)
        at = chance.randrange(len(name) - 1)
        letter = chance.choice("abcdefghijklmnopqrstuvwxyz0123456789")
        wrong = chance.choice(
            (
                name[:at] + letter + name[at + 1 :],
                name[:at] + name[at + 1 :],
                name[:at] + name[at] + name[at:],
                name[:at] + name[at + 1] + name[at] + name[at + 2 :],
            )
        )
        if wrong not in names:
            found.append((name, wrong))
    return found


@pytest.mark.parametrize("what", ["CPU", "feature"])
@pytest.mark.parametrize("family", ["x86", "aarch64", "arm", "riscv"])
def test_a_name_with_one_wrong_letter_suggests_the_right_one(family: str, what: str) -> None:
    """At least nine in ten such names of four letters and more are suggested, and mostly as the first."""
    all_names = tables.cpu_names(family, aliases=True) if what == "CPU" else tables.feature_names(family)
    pairs = letters_changed([name for name in all_names if len(name) > 3], 40, seed=7)
    canonical = tables.canonical_cpu if what == "CPU" else tables.canonical_feature
    missed, first = [], 0
    for name, wrong in pairs:
        error = error_of(canonical, family, wrong)
        if error is None:
            continue  # another name after all, in another spelling
        assert (what, wrong, family) == (error.what, error.name, error.scope)
        assert len(error.near) <= 3
        assert all(near in str(error) for near in error.near)
        missed += [] if name in error.near else [(name, wrong, error.near)]
        first += error.near[:1] == (name,)
    assert len(missed) <= len(pairs) // 10, missed
    assert first >= len(pairs) // 2


@pytest.mark.parametrize(
    ("make", "near"),
    [
        (lambda: targetspec.parse("x", dialect="lvm"), "llvm"),
        (lambda: targetspec.json_schema("targets"), "target"),
        (lambda: HOST.compatible(HOST, purpose="codes"), "code"),
        (lambda: HOST.compatible(HOST, needs={"num_core": 3}), "num_cores"),
        (lambda: HOST.compatible(HOST, bridges=["compat_32"]), "compat32"),
        (lambda: HOST.format("lvm"), "llvm"),
        (lambda: CudaTarget(arch="sm_91"), "sm_90"),
    ],
)
def test_every_unknown_name_comes_with_the_nearest(make: Any, near: str) -> None:
    """Dialects, schemas, purposes, needs, bridges and architectures suggest as CPUs do."""
    with pytest.raises(UnknownNameError) as caught:
        make()
    assert near in caught.value.near
    assert caught.value == pickle.loads(pickle.dumps(caught.value))


@pytest.mark.parametrize(
    ("make", "near"),
    [
        (lambda: HOST.evolve(num_core=3), "num_cores"),
        (lambda: targetspec.parse("cpu num_core=3"), "num_cores"),
        (lambda: targetspec.from_dict({"kind": "cpu", "num_core": 3}), "num_cores"),
        (lambda: targetspec.from_dict({"kind": "cudaa"}), "cuda"),
        (lambda: targetspec.parse("opencll num_cores=3", "targetspec"), "opencl"),
    ],
)
def test_every_other_wrong_name_says_the_nearest_in_its_text(make: Any, near: str) -> None:
    """Fields and kinds are suggested where a text or a document misspells them."""
    with pytest.raises(TargetspecError, match=near):
        make()


@st.composite
def damaged_texts(draw: st.DrawFn) -> tuple[str, str]:
    """Draw a dialect, and a text of its with a few letters removed, replaced or put in."""
    dialect, text, _ = draw(written_targets())
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(text)))
        gone = draw(st.integers(0, 3))
        text = text[:at] + draw(st.text("ab9 =-+,[]._:%\n\u00e9\u2003\x00", max_size=2)) + text[at + gone :]
    return dialect, text


@given(damaged_texts())
def test_a_text_error_points_into_the_text(drawn: tuple[str, str]) -> None:
    """A damaged text is a target nevertheless, or its error has a span inside it, travels, and shows itself."""
    dialect, text = drawn
    for asked in (dialect, "auto"):
        error = error_of(targetspec.parse, text, asked)
        if error is None:
            assert isinstance(targetspec.parse(text, asked), Target)
            continue
        assert TargetSyntaxError is type(error)
        start, end = error.span
        assert 0 <= start <= end <= len(text)
        assert start < end or start == len(text)
        assert text == error.text
        assert error.message in str(error)
        assert error == pickle.loads(pickle.dumps(error))


@given(written_targets(), st.data())
def test_the_error_of_a_text_that_breaks_off_points_into_it(
    written: tuple[str, str, Target], data: st.DataObject
) -> None:
    """What is missing at the end is an empty span there; everything else has a length."""
    dialect, text, _ = written
    text = text[: data.draw(st.integers(0, len(text)) | st.sampled_from(ends_of_fields(text)))]
    error = error_of(targetspec.parse, text, dialect)
    if error is not None:
        start, end = error.span
        assert 0 <= start <= end <= len(text)
        assert start < end or start == len(text)


def ends_of_fields(text: str) -> list[int]:
    """Return where a text could break off after a sign, a comma, a bracket or an equals sign."""
    return [at + 1 for at, letter in enumerate(text) if letter in "=,[+-:"] or [len(text)]


@given(st.data())
def test_a_host_conflict_carries_both_hosts_wherever_it_travels(data: st.DataObject) -> None:
    """The error holds the targets themselves, and says both."""
    first, second = data.draw(st.permutations(tricky_targets("cpu")))[:2]
    error = targetspec.HostConflictError(first, second)
    again = pickle.loads(pickle.dumps(error))
    assert (first, second) == (again.existing, again.offered)
    assert error == again
    assert str(first) in str(again)
    assert str(second) in str(again)
