"""What each field decides, one at a time: known answers for each purpose, and what mends a no."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from relation_cases import AARCH64, BETTER_HOST, CASES, HOST, LINUX, RISCV, Case, of_cpu, of_triples
from targetspec import CpuTarget, Triple, registry
from targetspec.features import FeatureSet
from targetspec.gpu_amd import TargetId
from targetspec.rules import PURPOSES, always, at_most, best, contains, equal, within, worst


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_what_a_field_decides(case: Case) -> None:
    """The answers to a pair that differs in one field, there and back."""
    first, second = case.targets()
    for purpose, answers in (("code", case.code_answers), ("link", case.link_answers)):
        there = first.compatible(second, purpose=purpose).answer
        back = second.compatible(first, purpose=purpose).answer
        assert answers == there[0] + back[0], purpose


@pytest.mark.parametrize("case", [case for case in CASES if "family" not in repr(case)], ids=repr)
def test_schedules_travel_and_say_what_moves_timings(case: Case) -> None:
    """Within a family no field stands in the way of a tuned configuration; what can move its timings is to be measured again."""
    first, second = case.targets()
    verdict = first.compatible(second, purpose="schedule")
    families = {
        getattr(one, "family", None) or getattr(getattr(one, "triple", None), "arch", None)
        for one in (first, second)
    }
    if len(families) > 1:
        assert not verdict
        return
    differing = {
        name
        for name, one in first.specs().items()
        if one.tunes and getattr(first, name) != getattr(second, name)
    }
    assert verdict
    assert differing == {reason.field for reason in verdict.reasons}
    assert {reason.weight for reason in verdict.reasons} <= {"re-measure"}


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_what_mends_a_no_is_a_field_of_the_code(case: Case) -> None:
    """A no that one field makes is lifted by a change of the field that differs, or by nothing."""
    first, second = case.targets()
    for reason in first.compatible(second).reasons:
        assert reason.repair is None or reason.weight == "blocks"
        if reason.repair is not None:
            name, value = reason.repair
            assert name in {*case.code, *case.machine}
            assert "no" != first.compatible(second.evolve(**{name: value})).answer


@pytest.mark.parametrize(
    ("case", "repair"),
    [
        (of_cpu({"libs": {"mkl"}}, {"libs": {"cblas"}}, "", ""), ("libs", frozenset({"mkl", "cblas"}))),
        (of_cpu({"abi": "lp64"}, {"abi": "lp64d"}, "", "", RISCV), ("abi", "lp64")),
        (of_cpu({"vector_bits": 256}, {"vector_bits": 128}, "", "", AARCH64), ("vector_bits", 256)),
        (of_cpu({}, {"restrictions": ["strict-align"]}, "", "", AARCH64), ("restrictions", frozenset())),
        (of_cpu({"libc_version": "2.36"}, {"libc_version": "2.17"}, "", ""), ("libc_version", "2.36")),
        (of_triples("x86_64-unknown-freebsd", "x86_64-unknown-netbsd", "", ""), ("triple", Triple.parse("x86_64-unknown-freebsd"))),
        (of_triples("x86_64-apple-macosx14", "x86_64-apple-macosx13", "", ""), ("triple", Triple.parse("x86_64-apple-macosx14"))),
        (of_triples("aarch64-linux-android30", "aarch64-linux-android21", "", ""), ("triple", Triple.parse("aarch64-linux-android30"))),
        (of_triples("powerpc-linux-gnu", "powerpc64le-linux-gnu", "", ""), None),
        (of_cpu({"features": ["avx2"]}, {"features": ["sse2"]}, "", ""), ("features", FeatureSet.closed("x86", ["avx2"]))),
        (of_cpu({"libc": "glibc"}, {"libc": "musl"}, "", "", "x86_64-unknown-freebsd"), None),
        (of_cpu({"float_abi": "soft"}, {"float_abi": "hard"}, "", "", "armv7-none-eabi"), ("float_abi", "soft")),
        (of_cpu({"long_double": "64"}, {"long_double": "ieee128"}, "", "", "powerpc64le-linux-gnu"), ("long_double", "64")),
        (Case("rocm", {"target_id": "gfx90a:xnack+"}, {"target_id": "gfx90a:xnack-:sramecc+"}, ""), ("target_id", TargetId.parse("gfx90a:sramecc+:xnack+"))),
        (Case("rocm", {"target_id": "gfx906"}, {"target_id": "gfx90a"}, ""), None),
        (Case("cuda", {"code_form": "cubin"}, {"code_form": "ptx"}, "", "", {"arch": "sm_80"}), ("code_form", "cubin")),
        (Case("cuda", {"ptx_isa": "8.8"}, {"ptx_isa": "8.0"}, "", "", {"arch": "sm_80", "code_form": "ptx"}), ("ptx_isa", "8.8")),
        (Case("cuda", {"arch": "sm_90-real"}, {"arch": "sm_80"}, ""), None),
        (Case("cuda", {"host": BETTER_HOST}, {"host": HOST}, ""), ("host", BETTER_HOST)),
        (Case("rocm", {"warp_size": 32}, {"warp_size": 64}, ""), ("warp_size", 32)),
        (Case("rocm", {"generic_version": 1}, {"generic_version": 2}, ""), ("generic_version", 1)),
        (Case("metal", {"gpu_family": "apple9"}, {"gpu_family": "apple7"}, ""), ("gpu_family", "apple9")),
        (Case("metal", {"os": "ios"}, {"os": "macos"}, ""), None),
        (Case("vulkan", {"api_version": "1.3"}, {"api_version": "1.1"}, ""), ("api_version", "1.3")),
        (Case("vulkan", {"spirv_version": "1.6"}, {"spirv_version": "1.5"}, ""), ("spirv_version", "1.6")),
        (Case("vulkan", {"capabilities": {"Int8"}}, {"capabilities": {"Int64"}}, ""), ("capabilities", frozenset({"Int8", "Int64"}))),
        (Case("opencl", {"opencl_version": "3.0"}, {"opencl_version": "1.2"}, ""), ("opencl_version", "3.0")),
        (Case("hexagon", {"version": "v68"}, {"version": "v66"}, ""), None),
        (Case("hexagon", {"hvx_bytes": 64}, {"hvx_bytes": 128}, "", "", {"version": "v68"}), ("hvx_bytes", 64)),
    ],
    ids=lambda value: repr(value) if isinstance(value, Case) else str(value and value[0]),
)  # fmt: skip
def test_what_mends_a_no(case: Case, repair: tuple[str, Any] | None) -> None:
    """The repair of the one blocking reason, which makes a yes of it."""
    first, second = case.targets()
    (reason,) = first.compatible(second).reasons
    assert repair == reason.repair
    if repair is not None:
        name, value = repair
        assert first.compatible(second.evolve(**{name: value}))


@pytest.mark.parametrize(
    ("decide", "answers"),
    [
        (equal, {(1, 1): "yes", (1, 2): "no", (2, 1): "no", (None, None): "yes", (None, 1): "unknown", (1, None): "unknown"}),
        (at_most, {(1, 1): "yes", (1, 2): "yes", (2, 1): "no", (None, None): "yes", (None, 1): "yes", (1, None): "unknown"}),
        (always, {(1, 2): "yes", (2, 1): "yes", (None, 1): "yes"}),
    ],
    ids=lambda value: getattr(value, "__name__", "answers"),
)  # fmt: skip
def test_deciders_of_values(decide: Any, answers: dict[tuple[Any, Any], str]) -> None:
    """What a decider makes of values, and of what is not stated."""
    assert answers == {pair: decide(*pair) for pair in answers}


def test_deciders_of_sets() -> None:
    """A subset is within, a superset contains; an unknown set is like itself only."""
    small, large = frozenset("a"), frozenset("ab")
    assert ["yes", "yes", "no"] == [within(small, small), within(small, large), within(large, small)]
    assert ["yes", "no", "yes"] == [contains(small, small), contains(small, large), contains(large, small)]
    for decide in (within, contains):
        assert ["yes", "unknown", "unknown"] == [decide(None, None), decide(small, None), decide(None, small)]


def test_products_and_choices() -> None:
    """A product is as good as its worst part and a choice as good as its best; what cannot matter is not asked."""

    def answers(*words: str) -> Any:
        yield from words
        raise AssertionError("asked for more")

    assert "no" == worst(answers("yes", "unknown", "no"))
    assert "yes" == best(answers("no", "unknown", "yes"))
    assert ["unknown", "unknown", "yes", "no"] == [
        worst(["yes", "unknown", "yes"]),
        best(["no", "unknown", "no"]),
        worst([]),
        best([]),
    ]


@pytest.mark.parametrize("kind", sorted(registry.KINDS))
@pytest.mark.parametrize("purpose", PURPOSES)
def test_kinds_never_mix(kind: str, purpose: Any) -> None:
    """A target of another kind is a no, of which the kind is the reason, and no bridge or need changes that."""
    cls = registry.kind(kind)
    one = cls(members=[registry.kind("opencl")()]) if kind == "composite" else cls()
    other = registry.kind("webgpu" if kind != "webgpu" else "opencl")()
    verdict = one.compatible(other, purpose=purpose, bridges=("wine", "qemu-user"))
    assert "no" == verdict.answer
    assert ["members" if kind == "composite" else "kind"] == [reason.field for reason in verdict.reasons]


LIMITS = [
    (kind, name)
    for kind in sorted(registry.KINDS)
    if kind != "composite"
    for name in sorted(registry.kind(kind).need_rules())
    if name not in ("warp_size", "vector_bits", "vector_registers")
]


@pytest.mark.parametrize(("kind", "name"), LIMITS, ids="-".join)
@pytest.mark.parametrize("purpose", PURPOSES)
def test_a_need_is_a_floor_of_its_limit(kind: str, name: str, purpose: Any) -> None:
    """A limit above or at the need meets it, one below does not, and of one not stated nothing is known; nothing mends it."""
    cls = registry.kind(kind)
    for there, answer in ((9, "yes"), (8, "yes"), (7, "no"), (None, "unknown")):
        target = cls(**{name: there})
        verdict = target.compatible(target, purpose=purpose, needs={name: 8})
        assert answer == verdict.answer
        reasons = [reason for reason in verdict.reasons if reason.weight in ("blocks", "undecided")]
        assert ([] if answer == "yes" else [f"needs.{name}"]) == [reason.field for reason in reasons]
        assert {None} >= {reason.repair for reason in reasons}
        assert all(name in reason.advice for reason in reasons if reason.weight == "undecided")


@pytest.mark.parametrize(
    "kind", [kind for kind in sorted(registry.KINDS) if "warp_size" in registry.kind(kind).specs()]
)
def test_a_needed_warp_size_is_exact(kind: str) -> None:
    """A configuration is written for one number of threads in step."""
    cls = registry.kind(kind)
    stated = {"extensions": {"subgroups"}} if kind == "webgpu" else {}
    sizes = (32,) if kind == "cuda" else (32, 64)
    for there, need in itertools.product((*sizes, None), sizes):
        machine = cls(warp_size=there, **(stated if there else {}))
        verdict = machine.compatible(machine, purpose="schedule", needs={"warp_size": need})
        assert ("unknown" if there is None else "yes" if there == need else "no") == verdict.answer


@pytest.mark.parametrize(
    ("name", "needs", "answer"),
    [
        ("haswell", {"vector_bits": 256}, "yes"),
        ("haswell", {"vector_bits": 128}, "yes"),
        ("haswell", {"vector_bits": 512}, "no"),
        ("haswell", {"vector_registers": 16}, "yes"),
        ("haswell", {"vector_registers": 8}, "yes"),
        ("haswell", {"vector_registers": 17}, "no"),
        ("skylake-avx512", {"vector_bits": 512, "vector_registers": 32}, "yes"),
    ],
)
def test_vectors_that_are_needed(name: str, needs: dict[str, int], answer: str) -> None:
    """The widths and numbers of vector registers are floors, and follow from the instruction set."""
    target = CpuTarget(triple=LINUX, cpu=name)
    for purpose in PURPOSES:
        assert answer == target.compatible(target, purpose=purpose, needs=needs).answer


def test_a_need_of_a_composite_is_met_by_one_member() -> None:
    """The best of the members that know the need decides; members that do not know it are not asked."""
    cuda, cpu, composite = (registry.kind(name) for name in ("cuda", "cpu", "composite"))
    both = composite(members=[cpu(triple=LINUX, num_cores=4), cuda(num_cores=100), cuda()])
    for needs, answer in (
        ({"num_cores": 100}, "yes"),
        ({"num_cores": 101}, "unknown"),
        ({"vector_bits": 64}, "yes"),
    ):
        assert answer == both.compatible(both, needs=needs).answer
    stated = composite(members=[cpu(triple=LINUX, num_cores=4), cuda(num_cores=100)])
    verdict = stated.compatible(stated, needs={"num_cores": 101})
    assert "no" == verdict.answer
    assert ["needs.num_cores"] == [reason.field for reason in verdict.reasons if reason.weight == "blocks"]


@pytest.mark.parametrize(
    ("code", "machine", "fields"),
    [
        ({}, {"triple": LINUX}, ["triple.arch", "triple.os", "features", "features (abi)"]),
        ({"triple": LINUX}, {}, ["triple.arch", "triple.os", "libc", "features", "features (abi)"]),
        ({"triple": LINUX, "cpu": "haswell"}, {"cpu": "haswell"}, ["triple.arch", "triple.os", "libc"]),
        ({"triple": "arm64-apple-macos14"}, {"cpu": "apple-m1"}, ["triple.arch", "triple.os", "triple.os_version"]),
        ({"triple": "aarch64-linux-android21"}, {"cpu": "apple-m1"}, ["triple.arch", "triple.os", "triple.environment_version", "libc"]),
        ({"abi": "lp64"}, {}, ["abi"]),
        ({"vector_bits": 128}, {}, ["vector_bits"]),
    ],
)  # fmt: skip
def test_what_is_undecided(code: dict[str, Any], machine: dict[str, Any], fields: list[str]) -> None:
    """An unknown names each fact that is not stated, and no other."""
    verdict = CpuTarget(**code).compatible(CpuTarget(**machine))
    assert "unknown" == verdict.answer
    assert sorted(fields) == sorted(reason.field for reason in verdict.reasons)
    assert {"undecided"} == {reason.weight for reason in verdict.reasons}
    assert all("state" in reason.advice for reason in verdict.reasons)


@pytest.mark.parametrize(
    ("code", "machine", "fields"),
    [
        ({"triple": "armebv7-none-eabi"}, {"triple": "aarch64-unknown-none-elf"}, {"triple.arch"}),
        ({"cpu": "haswell"}, {"cpu": "apple-m1"}, {"triple.arch", "features"}),
        ({"triple": LINUX}, {"triple": "x86_64-linux-android"}, {"triple.os", "libc"}),
        ({"triple": LINUX, "cpu": "haswell"}, {"triple": LINUX}, {"features"}),
    ],
)
def test_what_blocks(code: dict[str, Any], machine: dict[str, Any], fields: set[str]) -> None:
    """A no names each rule that says so."""
    reasons = CpuTarget(**code).compatible(CpuTarget(**machine)).reasons
    assert fields <= {reason.field for reason in reasons if reason.weight == "blocks"}


def test_another_family_has_no_repair() -> None:
    """A set of one family cannot be mended into one of another."""
    reasons = CpuTarget(cpu="haswell").compatible(CpuTarget(cpu="apple-m1")).reasons
    assert {None} == {reason.repair for reason in reasons}


def test_a_system_of_another_width_is_no_repair() -> None:
    """To take over the triple would change the mode, whose calls were not compared; of one width it is a repair."""
    code = CpuTarget(triple="i686-unknown-linux-gnu", float_abi="soft")
    freebsd = CpuTarget(triple="x86_64-unknown-freebsd14", float_abi="softfp")
    verdict = code.compatible(freebsd)
    assert ("no", {None}) == (verdict.answer, {reason.repair for reason in verdict.reasons})
    narrow = code.compatible(freebsd.evolve(triple="i686-unknown-freebsd14", cpu=None, features=None))
    assert {("triple", code.triple), ("float_abi", "soft")} <= {reason.repair for reason in narrow.reasons}


def test_an_unstated_form_of_code_matches_what_is_not_stated() -> None:
    """Values of abi that neither side states are no reason."""
    one = CpuTarget(triple=LINUX)
    assert () == one.compatible(one.evolve(model="other")).reasons


def test_sets_of_other_tables_are_closed_for_the_relation() -> None:
    """What a name implies counts for each rule, though the document that the set came from does not list it."""
    sse, avx = (FeatureSet.closed("x86", ["sse2"]), FeatureSet.verbatim("x86", ["avx2"], "99.0.0"))
    assert CpuTarget(triple=LINUX, features=sse).compatible(CpuTarget(triple=LINUX, features=avx))
    assert (
        "no" == CpuTarget(triple=LINUX, features=avx).compatible(CpuTarget(triple=LINUX, features=sse)).answer
    )
    whole = CpuTarget(triple="mips64el-linux-gnuabi64", features=FeatureSet.closed("mips", ["i6400"]))
    listed = whole.evolve(features=FeatureSet.verbatim("mips", ["i6400"], "99.0.0"))
    for purpose in PURPOSES:
        assert "yes" == whole.compatible(listed, purpose=purpose).answer
        assert "yes" == listed.compatible(whole, purpose=purpose).answer
