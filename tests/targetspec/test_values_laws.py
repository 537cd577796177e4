"""Laws of values that hold for every kind, with hosts, libraries and composites."""

from __future__ import annotations

import copy
import hashlib
import json
import pickle
from typing import Any, ClassVar

import attrs
import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import targetspec
from strategies_values import changed, near_pairs, plain, shuffled
from targetspec import FeatureSet, Target, Triple, registry
from targetspec.gpu_amd import TargetId
from targetspec.gpu_cuda import CudaArch
from targetspec.kinds.device import names
from targetspec.testing import hosts, kind_targets, targets, tricky_targets, written_targets

SCHEMA = jsonschema.Draft202012Validator(targetspec.json_schema())
ATOMS = (str, int, bool, type(None), FeatureSet, Triple, CudaArch, TargetId)
any_targets = targets(other_tables=True)
kinds = pytest.mark.parametrize("kind", sorted(registry.KINDS))
few = settings(max_examples=max(10, settings().max_examples // 4))


def said(target: Target) -> tuple[Any, ...]:
    """Return all that a target says of itself that must not depend on how it came about."""
    return hash(target), target.digest, target.tuning_key, str(target), targetspec.dumps(target), repr(target)


@kinds
@few
@given(data=st.data())
def test_json_gives_back_the_target_and_satisfies_the_schema(kind: str, data: st.DataObject) -> None:
    """What is written is valid for the schema and the validator, and is read as an equal target that writes the same."""
    target = data.draw(kind_targets(kind, other_tables=True))
    text = targetspec.dumps(target)
    document = json.loads(text)
    assert [] == list(SCHEMA.iter_errors(document))
    assert [] == targetspec.validate(text) == targetspec.validate(document)
    for again in (
        targetspec.loads(text),
        targetspec.loads(text.encode()),
        targetspec.loads(targetspec.dumps(target, indent=2)),
        targetspec.from_dict(target.to_dict()),
        targetspec.from_dict(data.draw(shuffled(document))),
        targetspec.parse(text),
    ):
        assert target == again
        assert said(target) == said(again)


@kinds
@few
@given(data=st.data())
def test_copies_are_equal_in_all_they_say(kind: str, data: st.DataObject) -> None:
    """Every protocol of pickle, copy and deepcopy give an equal target, one key of a dict, with its tables' version."""
    target = data.draw(kind_targets(kind, other_tables=True))
    pickles = [pickle.dumps(target, protocol) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
    said(target)  # fills every cache, and none may travel
    pickles += [pickle.dumps(target, protocol) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
    for again in (
        *map(pickle.loads, pickles),
        copy.copy(target),
        copy.deepcopy([target])[0],
        target.evolve(),
    ):
        assert target == again
        assert not target != again  # noqa: SIM202 - the operator of its own
        assert type(target) is type(again)
        assert said(target) == said(again)
        assert {target: 1} == {again: 1}


@kinds
@few
@given(data=st.data())
def test_the_text_is_read_back(kind: str, data: st.DataObject) -> None:
    """Parsing what a target prints gives the target, by whichever name the dialect is asked for."""
    target = data.draw(kind_targets(kind))
    assert target == targetspec.parse(str(target)) == targetspec.parse(f"{target:targetspec}", "targetspec")
    assert str(target) == target.format() == f"{target}" == str(targetspec.parse(str(target)))
    assert str(target).isascii()
    assert str(target).isprintable()


@given(near_pairs())
def test_equal_iff_same_json_iff_same_text_iff_same_digest(pair: tuple[Target, Target]) -> None:
    """Every way to ask whether two targets are the same gives one answer, however little they differ."""
    first, second = pair
    same = first == second
    assert same == (second == first)
    assert same == (plain(first.to_dict()) == plain(second.to_dict()))
    assert same == (str(first) == str(second))
    assert same == (first.digest == second.digest)
    assert same == (targetspec.diff(first, second) == ())
    assert same == (len({first, second}) == 1)
    if same:
        assert said(first) == said(second)


@given(st.data())
def test_one_different_field_makes_a_different_target(data: st.DataObject) -> None:
    """Two targets are equal exactly where every field is."""
    first = data.draw(any_targets)
    second = data.draw(changed(first))
    differing = {name for name in first.specs() if getattr(first, name) != getattr(second, name)}
    assert (first == second) == (not differing)
    assert len(differing) == len(targetspec.diff(first, second))


@given(any_targets)
def test_the_digest_is_sha256_over_the_canonical_json(target: Target) -> None:
    """The digest can be computed by anyone from the document: sorted, without blanks, in ASCII, without tables."""
    text = json.dumps(plain(target.to_dict()), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    assert hashlib.sha256(text.encode("ascii")).hexdigest() == target.digest


@given(any_targets)
def test_a_field_set_to_what_it_is_changes_nothing(target: Target) -> None:
    """Evolving any field to its own value, and all of them at once, gives an equal target."""
    values = {name: getattr(target, name) for name in target.specs()}
    for name, value in values.items():
        assert target == target.evolve(**{name: value})
    assert target == target.evolve(**values) == type(target)(**values)
    assert said(target) == said(type(target)(**values))


@given(any_targets)
def test_nothing_else_is_equal(target: Target) -> None:
    """A target leaves comparison with anything else to the other side, and has no order."""
    for other in (
        str(target),
        target.digest,
        target.to_dict(),
        target.host,
        None,
        1,
        object(),
        Target,
        (target,),
    ):
        if other is not target.host or other is None or other.kind != target.kind:
            assert NotImplemented is target.__eq__(other)
            assert target != other
    with pytest.raises(TypeError):
        target < target  # type: ignore[operator]  # noqa: B015, PLR0124 - the operator is what is tested


def mutable_parts(value: Any) -> list[Any]:
    """Return what is reached from a value that could be changed."""
    if isinstance(value, Target):
        held = [getattr(value, name) for name in value.specs()]
        return [part for one in held for part in mutable_parts(one)] + (
            [value] if hasattr(value, "__dict__") else []
        )
    if type(value) in (tuple, frozenset):
        return [part for one in value for part in mutable_parts(one)]
    return [] if type(value) in ATOMS else [value]


@given(any_targets)
def test_a_target_is_immutable_all_the_way_down(target: Target) -> None:
    """No field can be set or deleted, no attribute added, and no field holds anything that could be changed."""
    assert [] == mutable_parts(target)
    before = said(target)
    for name in (*target.specs(), "kind", "host_capable", "nonesuch"):
        with pytest.raises(AttributeError):
            setattr(target, name, None)
        with pytest.raises(AttributeError):
            delattr(target, name)
    document = target.to_dict()
    document.clear()
    assert before == said(target)


@given(any_targets)
def test_a_document_is_the_callers_own(target: Target) -> None:
    """Whoever changes a document that a target gave changes neither the target nor its next document."""
    before = copy.deepcopy(target.to_dict())
    for value in target.to_dict().values():
        if isinstance(value, dict | list):
            value.clear()
    assert before == target.to_dict()
    assert targetspec.from_dict(before) == target


def test_what_was_given_may_change_afterwards() -> None:
    """Containers given to a constructor are copied, not kept."""
    features, libs = ["avx2"], {"cudnn"}
    cpu = targetspec.CpuTarget(triple="x86_64-linux-gnu", features=features, libs=libs)
    members: list[Target] = [cpu]
    both = targetspec.CompositeTarget(members=members)
    before = cpu.to_dict(), both.to_dict()
    features.append("avx512f")
    libs.clear()
    members.append(cpu)
    assert before == (cpu.to_dict(), both.to_dict())


@given(any_targets, hosts(other_tables=True), hosts(other_tables=True))
def test_a_host_is_set_once_replaced_on_purpose_and_removed(
    target: Target, first: Target, second: Target
) -> None:
    """An equal host joins quietly, a different one conflicts unless it replaces, and none is left when it is removed."""
    bare = target.without_host()
    assert bare.host is None
    assert bare == bare.without_host()
    held = bare.with_host(first)
    assert held == held.with_host(pickle.loads(pickle.dumps(first))) == bare.evolve(host=first)
    assert bare == held.without_host()
    assert (first == second) == (held == bare.with_host(second))
    assert second == held.with_host(second, replace=True).host
    if first != second:
        with pytest.raises(targetspec.HostConflictError) as caught:
            held.with_host(second)
        assert (first, second) == (caught.value.existing, caught.value.offered)


@given(written_targets())
def test_every_dialect_reads_what_it_writes(written: tuple[str, str, Target]) -> None:
    """What a dialect wrote means one target, which it writes without loss as a text that means the same."""
    dialect, text, target = written
    assert target == targetspec.parse(text, dialect)
    assert target == targetspec.parse(target.format(dialect), dialect)


def test_the_pool_holds_what_it_promises() -> None:
    """Every kind, nothing stated in each that allows it, hosts of other kinds, and sets of other tables are there."""
    pool = tricky_targets(other_tables=True)
    assert set(registry.KINDS) == {target.kind for target in pool}
    empty = {target.kind for target in pool if {"kind": target.kind} == target.to_dict()}
    assert set(registry.KINDS) - {"composite"} == empty
    assert {"cpu", "hexagon"} == {target.host.kind for target in pool if target.host is not None}
    assert set(tricky_targets()) < set(pool)
    assert any("99.0.0" in targetspec.dumps(target) for target in pool)


def test_equal_targets_have_one_text_whichever_tables_closed_them() -> None:
    """The version of the tables is no part of equality, and so none of the text."""
    today = targetspec.CpuTarget(triple="x86_64-unknown-linux-gnu", cpu="znver3")
    older = targetspec.from_dict({**today.to_dict(), "tables": "19.1.0"})
    assert today == older
    assert str(today) == str(older)


@attrs.frozen(eq=False, repr=False, kw_only=True)
class LaterWebGPU(targetspec.WebGPUTarget):
    """What a later version may make of a kind: one set of names more, which nobody states yet."""

    kind: ClassVar[str] = "webgpu"

    more: frozenset[str] = names("name", "what is new", ())


@pytest.mark.parametrize("attribute", ["digest", "tuning_key"])
def test_a_field_that_a_later_version_adds_changes_no_key_of_old_targets(
    attribute: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A field at its default is part of no key, so that records outlive new fields."""
    monkeypatch.setitem(registry.KINDS, "webgpu", f"{__name__}:LaterWebGPU")
    assert getattr(targetspec.WebGPUTarget(), attribute) == getattr(LaterWebGPU(), attribute)


@pytest.mark.parametrize(
    ("cpu", "removed"),
    [("a64fx", "v8.2a"), ("ampere1", "v8.5a"), ("ampere1", "ccdp"), ("cortex-a78", "v8.2a")],
)
def test_a_set_without_a_version_is_closed_and_comes_back(cpu: str, removed: str) -> None:
    """What a CPU has without one version of the architecture, and what needs it, is written and read as that set."""
    features = targetspec.CpuTarget(triple="aarch64-linux-gnu", cpu=cpu).features.with_changes(
        remove=[removed]
    )
    assert features == FeatureSet.closed("aarch64", list(features))
    target = targetspec.CpuTarget(triple="aarch64-linux-gnu", cpu=cpu, features=features)
    assert target == targetspec.loads(targetspec.dumps(target)) == targetspec.parse(str(target))


@kinds
@few
@given(data=st.data())
def test_the_text_is_that_of_the_document(kind: str, data: st.DataObject) -> None:
    """It is put together out of the fields' own texts, and is what any encoder makes of `to_dict` with sorted keys."""
    target = data.draw(kind_targets(kind, other_tables=True))
    assert json.dumps(target.to_dict(), sort_keys=True) == targetspec.dumps(target)
