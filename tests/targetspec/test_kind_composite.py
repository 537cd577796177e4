"""Composites: their members, host and texts, and how they fit each other and single targets."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import targetspec
from targetspec import (
    CompositeTarget,
    CpuTarget,
    CudaTarget,
    FieldError,
    FieldTypeError,
    HostConflictError,
    MetalTarget,
    RocmTarget,
    Target,
)
from targetspec.rules import PURPOSES
from targetspec.testing import cpu_targets, device_targets

HOST = CpuTarget(triple="x86_64-unknown-linux-gnu", cpu="haswell")
BETTER = CpuTarget(triple="x86_64-unknown-linux-gnu", cpu="skylake")
PTX, GPU = CudaTarget(arch="compute_80"), CudaTarget(arch="sm_90a", max_shared_memory_per_block=65536)


def together(*members: Target, **fields: Any) -> CompositeTarget:
    """Return a composite in few words."""
    return CompositeTarget(members=members, **fields)


def test_equal_hosts_of_members_are_the_composites() -> None:
    """A host is lifted from the members that have it; the members then have none."""
    lifted = together(PTX.with_host(HOST), RocmTarget(target_id="gfx90a"), MetalTarget(host=HOST))
    assert HOST == lifted.host
    assert [None, None, None] == [member.host for member in lifted.members]
    assert lifted == together(PTX, RocmTarget(target_id="gfx90a"), MetalTarget(), host=HOST)
    assert together(PTX) == together(PTX.with_host(HOST)).without_host()


def test_different_hosts_conflict() -> None:
    """Two hosts, of members or of a member and the composite, are an error that names both."""
    with pytest.raises(HostConflictError) as caught:
        together(PTX.with_host(HOST), GPU.with_host(BETTER))
    assert (HOST, BETTER) == (caught.value.existing, caught.value.offered)
    with pytest.raises(HostConflictError):
        together(PTX.with_host(HOST), host=BETTER)


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({}, FieldError),
        ({"members": []}, FieldError),
        ({"members": PTX}, FieldTypeError),
        ({"members": ["cuda"]}, FieldTypeError),
        ({"members": [CompositeTarget(members=[PTX])]}, FieldError),
        ({"members": [PTX], "libs": {"cudnn"}}, FieldError),
    ],
)
def test_what_is_no_composite_is_refused(fields: dict[str, Any], error: type[Exception]) -> None:
    """It is not empty, does not nest, holds targets only, and has no libraries of its own."""
    with pytest.raises(error):
        CompositeTarget(**fields)


def test_order_and_libraries_of_members_count() -> None:
    """The members are a sequence, each with its libraries."""
    assert together(PTX, GPU) != together(GPU, PTX)
    assert together(PTX) != together(PTX.evolve(libs={"cudnn"}))


def test_the_text_holds_members_in_brackets() -> None:
    """Each member and the host are written as they are alone."""
    target = together(PTX, HOST, host=BETTER)
    assert f"composite members=[{PTX}][{HOST}] host=[{BETTER}]" == str(target)
    assert target == targetspec.parse(str(target))


@pytest.mark.parametrize(
    "text",
    [
        "composite",
        "composite members=cuda",
        "composite members=[]",
        "composite members=[cuda][composite members=[cuda]]",
        "composite members=[cuda] libs=cudnn",
        "cuda host=[cpu][cpu]",
        "composite members=[cuda",
    ],
)
def test_bad_texts_are_refused(text: str) -> None:
    """A text that is no composite is a syntax error with a span."""
    with pytest.raises(targetspec.TargetSyntaxError):
        targetspec.parse(text)


@pytest.mark.parametrize(
    ("document", "path"),
    [
        ({"kind": "composite"}, "$.members"),
        ({"kind": "composite", "members": []}, "$.members"),
        ({"kind": "composite", "members": {}}, "$.members"),
        (
            {"kind": "composite", "members": [{"kind": "cuda"}, {"kind": "cuda", "arc": 1}]},
            "$.members[1].arc",
        ),
        ({"kind": "composite", "members": [{"kind": "composite", "members": []}]}, "$.members[0].kind"),
        ({"kind": "composite", "members": [{"kind": "cuda"}], "libs": ["cudnn"]}, "$.libs"),
        ({"kind": "cuda", "host": {"kind": "composite", "members": []}}, "$.host.kind"),
    ],
)
def test_bad_documents_are_refused_at_their_place(document: dict[str, Any], path: str) -> None:
    """The codec says where, and the schema refuses too."""
    assert [path] == [problem.path for problem in targetspec.validate(document)]
    assert list(jsonschema.Draft202012Validator(targetspec.json_schema()).iter_errors(document))


def test_a_document_that_nests_without_end_is_a_problem() -> None:
    """Composites in composites are refused at the first, however many follow."""
    text = '{"kind": "composite", "members": [' * 300 + "]}" * 300
    assert ["$.members[0].kind"] == [problem.path for problem in targetspec.validate(text)]
    document: dict[str, Any] = {"kind": "cuda"}
    for _ in range(5000):
        document = {"kind": "composite", "members": [document]}
    assert ["$.members[0].kind"] == [problem.path for problem in targetspec.validate(document)]


@pytest.mark.parametrize(
    ("code", "run_on", "answer"),
    [
        (PTX, together(GPU, HOST), "yes"),
        (together(PTX, HOST), together(BETTER, GPU), "yes"),
        (together(PTX, HOST), GPU, "no"),
        (together(PTX), GPU, "yes"),
        (together(PTX, BETTER), together(HOST, GPU), "no"),
        (MetalTarget(), together(GPU), "no"),
        (CudaTarget(arch="compute_90a"), together(CudaTarget(arch="sm_90")), "unknown"),
        (PTX.with_host(HOST), together(GPU, host=BETTER), "yes"),
        (PTX.with_host(BETTER), together(GPU, host=HOST), "no"),
        (PTX.with_host(HOST), together(GPU), "unknown"),
    ],
)
def test_known_answers(code: Target, run_on: Target, answer: str) -> None:
    """Every member needs one that it fits, and the hosts are compared with each other."""
    assert answer == code.compatible(run_on).answer


def test_linking_compares_hosts_both_ways() -> None:
    """Otherwise a composite between two devices would link those whose hosts do not go together."""
    first, second = PTX.with_host(HOST), PTX.with_host(BETTER)
    assert "yes" == first.compatible(together(first), purpose="link").answer
    assert "no" == first.compatible(together(second), purpose="link").answer
    assert "no" == together(first).compatible(second, purpose="link").answer


@pytest.mark.parametrize("target", [HOST, PTX, GPU, together(HOST, GPU)])
def test_linking_compares_hosts_of_every_kind(target: Target) -> None:
    """A host that is stated must be of use both ways, beside a processor as beside a device or several targets."""
    one, other = target.with_host(HOST), target.with_host(BETTER)
    assert "yes" == one.compatible(one.evolve(), purpose="link").answer
    assert ("no", "no") == tuple(
        a.compatible(b, purpose="link").answer for a, b in ((one, other), (other, one))
    )
    assert "unknown" == one.compatible(target, purpose="link").answer
    assert "unknown" == target.compatible(one, purpose="link").answer


def test_the_repair_adds_what_is_missing() -> None:
    """Members that fit nothing are added to the composite that runs it; a single target has no repair."""
    (reason,) = together(PTX, HOST).compatible(together(GPU)).reasons
    assert ("members", (GPU, HOST)) == reason.repair
    (reason,) = together(PTX, HOST).compatible(GPU).reasons
    assert None is reason.repair


def test_one_member_must_meet_a_need() -> None:
    """A need is of the member that it is about."""
    both = together(GPU, HOST)
    assert both.compatible(both, needs={"max_shared_memory_per_block": 65536, "vector_bits": 256})
    assert "no" == both.compatible(both, needs={"max_shared_memory_per_block": 65537}).answer
    with pytest.raises(targetspec.UnknownNameError):
        both.compatible(both, needs={"vtcm_bytes": 1})


def test_a_bridge_reaches_the_members() -> None:
    """What the caller vouches for holds for each member."""
    old = CpuTarget(triple="i686-unknown-linux-gnu")
    assert "unknown" == old.compatible(together(HOST)).answer
    assert old.compatible(together(HOST), bridges=("compat32",))


@settings(max_examples=max(10, settings().max_examples // 4))
@given(st.data(), st.sampled_from(PURPOSES))
def test_transitive_among_composites_and_single_targets(data: st.DataObject, purpose: Any) -> None:
    """Composites, made of a few targets, and these targets alone are in one order."""
    singles = [
        *data.draw(st.lists(device_targets().filter(lambda t: not t.is_composite), min_size=2, max_size=3))
    ]
    singles.append(data.draw(cpu_targets()))
    mixed = [CompositeTarget(members=[one]) for one in singles]
    mixed.append(CompositeTarget(members=[one.without_host() for one in singles]))
    drawn = [*singles, *mixed]
    runs = [{j for j, b in enumerate(drawn) if a.compatible(b, purpose=purpose)} for a in drawn]
    for i, reached in enumerate(runs):
        assert i in reached
        assert set().union(*(runs[j] for j in reached)) == reached


def test_documents_of_members_keep_their_tables() -> None:
    """A member's document says which tables closed its features; the digest does not depend on it."""
    target = together(HOST)
    assert targetspec.loads(targetspec.dumps(target)) == target
    assert "tables" in target.to_dict()["members"][0]
    assert "tables" not in json.dumps(target._document())
