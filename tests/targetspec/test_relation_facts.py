"""What the relation knows of each kind, whole: versions that bring others, what may be needed, and which fields decide."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from relation_cases import CASES, Case
from targetspec import (
    CompositeTarget,
    CpuTarget,
    CudaTarget,
    HexagonTarget,
    MetalTarget,
    RocmTarget,
    VulkanTarget,
    registry,
)
from targetspec.features import FeatureSet
from targetspec.rules import PURPOSES, attribute, both_ways, floor

# Apple, Metal Shading Language Specification: the first system with each version of the language.
MACOS = {
    "1.1": "10.11",
    "1.2": "10.12",
    "2.0": "10.13",
    "2.1": "10.14",
    "2.2": "10.15",
    "2.3": "11",
    "2.4": "12",
    "3.0": "13",
    "3.1": "14",
    "3.2": "15",
    "4.0": "26",
}
IOS = {
    "1.0": "8",
    "1.1": "9",
    "1.2": "10",
    "2.0": "11",
    "2.1": "12",
    "2.2": "13",
    "2.3": "14",
    "2.4": "15",
    "3.0": "16",
    "3.1": "17",
    "3.2": "18",
    "4.0": "26",
}
SYSTEMS = [
    (os, language, version)
    for os, table in (("macos", MACOS), ("ios", IOS), ("tvos", IOS))
    for language, version in table.items()
]


@pytest.mark.parametrize(("os", "language", "version"), SYSTEMS)
def test_a_system_brings_a_version_of_metal(os: str, language: str, version: str) -> None:
    """Code runs on the first system with its language and on later ones, and not on the last one before it."""
    code = MetalTarget(os=os, language_version=language)
    *ahead, last = version.split(".")
    before = ".".join((*ahead, str(int(last) - 1), "99"))
    for there, answer in ((version, "yes"), (f"{version}.1", "yes"), ("99", "yes"), (before, "no")):
        oldest = language == {"macos": "1.1"}.get(os, "1.0")
        expected = "unknown" if oldest and answer == "no" else answer
        assert expected == code.compatible(MetalTarget(os=os, deployment_target=there)).answer, there


@pytest.mark.parametrize("os", ["maccatalyst", "visionos", "ios-simulator", "tvos-simulator"])
def test_of_other_systems_nothing_is_known_to_bring_metal(os: str) -> None:
    """Their versions are numbers of their own: the language there must be stated."""
    code = MetalTarget(os=os, language_version="1.0")
    assert "unknown" == code.compatible(MetalTarget(os=os, deployment_target="99")).answer
    assert code.compatible(MetalTarget(os=os, language_version="2.0"))


@pytest.mark.parametrize(
    ("os", "family", "implied"),
    [
        ("macos", "apple7", {"apple7", "apple1", "metal3", "mac2", "mac1"}),
        ("maccatalyst", "apple7", {"apple7", "metal3", "mac2"}),
        ("ios", "apple7", {"apple7", "metal3"}),
        (None, "apple9", {"apple9", "metal3"}),
        ("macos", "apple6", {"apple6"}),
        ("ios", "apple6", {"apple6"}),
        ("macos", "metal3", {"metal3"}),
        ("macos", "mac2", {"mac2", "mac1"}),
    ],
)
def test_what_a_gpu_family_implies(os: str | None, family: str, implied: set[str]) -> None:
    """Apple's line, from its seventh family on, has what Metal 3 asks for, and on a Mac what the Mac's line does."""
    there = MetalTarget(os=os, gpu_family=family)
    lines = ("apple1", "apple6", "apple7", "apple9", "common2", "mac1", "mac2", "metal3", "metal4")
    runs = {one for one in lines if MetalTarget(os=os, gpu_family=one).compatible(there)}
    assert implied <= runs
    assert {one.rstrip("0123456789") for one in implied} == {one.rstrip("0123456789") for one in runs}


_BLOCK = {"max_threads_per_block", "max_num_threads", "max_shared_memory_per_block"}
_GRID = {*_BLOCK, "max_block_size_x", "max_block_size_y", "max_block_size_z"}
_BUFFERS = {"max_uniform_buffer_bytes", "max_storage_buffer_bytes", "max_storage_buffers"}
_REGISTERS = {"max_threads_per_core", "registers_per_block", "l2_cache_bytes"}
_IMAGES = {"image_base_address_alignment", "texture_spatial_limit", "texture_depth_limit"}
_COMMON = {"memory_bytes", "num_cores"}
NEEDS = {
    "cpu": {
        *("vector_bits", "vector_registers", "num_cores"),
        *("l1d_cache_bytes", "l2_cache_bytes", "l3_cache_bytes"),
    },
    "cuda": {
        *(*_BLOCK, *_REGISTERS, *_COMMON, "warp_size"),
        *("registers_per_thread", "max_shared_memory_per_core"),
    },
    "hexagon": {"max_num_threads", "vtcm_bytes", "l2_cache_bytes", "num_cores"},
    "metal": {*_BLOCK, *_COMMON, "warp_size", "max_function_args"},
    "opencl": {*_GRID, *_COMMON, *_IMAGES, "warp_size", "max_function_args"},
    "rocm": {*_BLOCK, *_REGISTERS, *_COMMON, "warp_size"},
    "vulkan": {*_GRID, *_COMMON, *_BUFFERS, "warp_size", "max_push_constants_bytes"},
    "webgpu": {*_GRID, *_BUFFERS, "warp_size"},
}


@pytest.mark.parametrize("kind", sorted(set(registry.KINDS) - {"composite"}))
def test_what_a_configuration_may_need_of_a_kind(kind: str) -> None:
    """The limits that can be stated as needs, and no other."""
    assert NEEDS[kind] == set(registry.kind(kind).need_rules())


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_a_field_that_decides_is_declared_to(case: Case) -> None:
    """Where a change of one field changes an answer, its declaration has a rule: documents and repairs go by that.

    A CPU's name stands for features, which have it.
    """
    first, _ = case.targets()
    changed = [*{*case.code, *case.machine} - {"cpu"}]
    if len(changed) == 1 and "yy" != case.code_answers:
        assert first.specs()[changed[0]].rules["code"], changed


@pytest.mark.parametrize("case", CASES, ids=repr)
@pytest.mark.parametrize("purpose", PURPOSES)
def test_each_rule_is_met_by_the_target_itself(case: Case, purpose: str) -> None:
    """What a target demands by one rule is what it promises by the same: the relation counts on it."""
    for target in case.targets():
        for rule in target.rules(purpose):
            assert "yes" == rule.decide(rule.demand(target), rule.promise(target)), rule.label


def test_a_form_of_code_is_mended_for_linking_too() -> None:
    """Objects that differ in their form alone: another form of the one makes them go together."""
    one, other = CudaTarget(arch="compute_80"), CudaTarget(arch="sm_80", code_form="cubin")
    (reason,) = one.compatible(other, purpose="link").reasons
    assert ("code_form", "ptx") == reason.repair
    assert one.compatible(other.evolve(code_form="ptx"), purpose="link")


def test_a_composite_names_the_members_that_fit_nothing() -> None:
    """Of several members the reason names those that stand in the way; where all fit, those that are to be measured again."""
    host, gpu, amd = (
        CpuTarget(triple="x86_64-linux-gnu"),
        CudaTarget(arch="sm_90a"),
        RocmTarget(target_id="gfx90a"),
    )
    there = CompositeTarget(members=[host, gpu])
    (reason,) = CompositeTarget(members=[host, amd]).compatible(there).reasons
    assert (f"[{amd}]", f"[{host}] [{gpu}]") == (reason.needed, reason.available)
    (reason,) = CompositeTarget(members=[host]).compatible(there, purpose="schedule").reasons
    assert (f"[{host}]", "re-measure") == (reason.needed, reason.weight)


def test_no_statement_lifts_what_a_cpu_lacks_by_design() -> None:
    """A tiny core is one, whether its target says so besides or not; a core that is only said to be tiny can be another."""
    elf = "hexagon-unknown-elf"
    code = CpuTarget(triple=elf, cpu="hexagonv65")
    for there, repair in (
        (CpuTarget(triple=elf, cpu="hexagonv71t", restrictions={"tinycore"}), None),
        (CpuTarget(triple=elf, cpu="hexagonv71t"), None),
        (CpuTarget(triple=elf, cpu="hexagonv71", restrictions={"tinycore"}), ("restrictions", frozenset())),
    ):
        reasons = {reason.field: reason.repair for reason in code.compatible(there).reasons}
        assert repair == reasons["restrictions"]


def test_hexagon_runs_older_vectors() -> None:
    """A vector extension of the code's version or later runs it; an older one can be replaced, one not stated be told."""
    code = HexagonTarget(hvx_bytes=128, hvx_version="v66")
    for there, answer in (("v66", "yes"), ("v68", "yes"), ("v65", "no"), (None, "unknown")):
        machine = HexagonTarget(hvx_bytes=128, hvx_version=there)
        verdict = code.compatible(machine)
        assert answer == verdict.answer
        for reason in verdict.reasons:
            assert "hvx_version" == reason.field
            assert (("hvx_version", "v66") if answer == "no" else None) == reason.repair


_OLD, _NEW = (MetalTarget(os="macos", deployment_target=version) for version in ("14", "26"))


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        (
            MetalTarget(language_version="3.0"),
            MetalTarget(language_version="3.1"),
            ("Metal 3.0", "Metal 3.1"),
        ),
        (
            MetalTarget(language_version="3.1"),
            MetalTarget(language_version="3.0"),
            ("Metal 3.1", "Metal 3.0"),
        ),
        # macOS 14 brings 3.1, and macOS 26 brings 4.0.
        (
            _NEW.evolve(language_version="3.2"),
            _OLD,
            ("Metal 3.2 with system version 26.0", "Metal 3.1 with system version 14.0"),
        ),
        (
            _OLD,
            _NEW.evolve(language_version="3.2"),
            ("Metal 3.1 with system version 14.0", "Metal 3.2 with system version 26.0"),
        ),
    ],
)
def test_a_reason_against_linking_says_what_each_side_has(
    one: MetalTarget, other: MetalTarget, said: tuple[str, str]
) -> None:
    """The first is said to be needed and the second to be there; of each what the other lacks, or has too little of."""
    reasons = {reason.field: reason for reason in one.compatible(other, purpose="link").reasons}
    reason = reasons["language_version"]
    assert said == (reason.needed, reason.available)


@pytest.mark.parametrize(
    ("code", "machine", "said"),
    [
        ("aarch64-linux-android24", "aarch64-linux-android21", ("24", "21")),
        ("arm64-apple-macosx14", "arm64-apple-macosx13.5", ("14.0", "13.5")),
        ("x86_64-unknown-freebsd14", "x86_64-unknown-freebsd", ("14.0", "not stated")),
    ],
)
def test_versions_are_said_as_people_write_them(code: str, machine: str, said: tuple[str, str]) -> None:
    """API levels are plain numbers, and other versions have two parts at least."""
    reasons = CpuTarget(triple=code).compatible(CpuTarget(triple=machine)).reasons
    (reason,) = [one for one in reasons if "version" in one.field]
    assert said == (reason.needed, reason.available)


def test_what_every_code_of_a_width_has_is_in_sets_of_other_tables_too() -> None:
    """A set from elsewhere is closed for the relation as one of today's is: with what the width of its code implies."""
    triple = "loongarch64-unknown-linux-gnu"
    listed = FeatureSet.verbatim("loongarch", ["scq"], "99.0.0")
    there = CpuTarget(triple=triple, cpu="generic-la64", features=listed)
    for code in (CpuTarget(triple=triple, features=["scq"]), there):
        assert ("yes", ()) == (code.compatible(there).answer, code.compatible(there).reasons)
    assert CpuTarget(triple=triple, features=[]).compatible(there)
    assert "no" == CpuTarget(triple=triple, features=["lasx"]).compatible(there).answer


@pytest.mark.parametrize("purpose", ["code", "link"])
@pytest.mark.parametrize(("one", "other"), [(["reserve-x18", "sve"], []), ([], ["reserve-x18", "sve"])])
def test_features_that_must_be_equal_are_mended(purpose: Any, one: list[str], other: list[str]) -> None:
    """The repair gives the runner the code's calling convention, and for running all that the code uses as well."""
    first, second = (CpuTarget(triple="aarch64-linux-gnu", features=names) for names in (one, other))
    reasons = [reason for reason in first.compatible(second, purpose=purpose).reasons if reason.repair]
    assert "features (abi)" in {reason.field for reason in reasons}
    for reason in reasons:
        assert first.compatible(second.evolve(**dict([reason.repair])), purpose=purpose)


def test_release_6_of_mips_is_another_instruction_set() -> None:
    """Neither runs or links with code of the releases before it, whatever the conventions; those go upward among themselves."""
    triple = "mips64el-linux-gnuabi64"
    old, older, new = (CpuTarget(triple=triple, cpu=name) for name in ("mips64r5", "mips64r2", "mips64r6"))
    for one, other, said in (
        (old, new, ("the releases before 6", "Release 6")),
        (new, old, ("Release 6", "the releases before 6")),
    ):
        for purpose in ("code", "link"):
            reasons = {reason.field: reason for reason in one.compatible(other, purpose=purpose).reasons}
            reason = reasons["features (generation)"]
            assert (*said, "blocks") == (reason.needed, reason.available, reason.weight)
    assert ("yes", ()) == (older.compatible(old).answer, older.compatible(old).reasons)
    assert ["features"] == [reason.field for reason in old.compatible(older).reasons]


@pytest.mark.parametrize(
    ("api", "spirv", "beyond"),
    [
        ("1.0", "1.0", "1.1"),
        ("1.1", "1.3", "1.4"),
        ("1.2", "1.5", "1.6"),
        ("1.3", "1.6", "1.7"),
        ("1.4", "1.6", "1.7"),
    ],
)
def test_a_version_of_vulkan_brings_one_of_spirv(api: str, spirv: str, beyond: str) -> None:
    """It takes that version and older ones, and newer ones only where they are stated."""
    there = VulkanTarget(api_version=api)
    assert "yes" == VulkanTarget(spirv_version=spirv).compatible(there).answer
    assert "no" == VulkanTarget(spirv_version=beyond).compatible(there).answer
    assert "yes" == VulkanTarget(spirv_version=beyond).compatible(there.evolve(spirv_version=beyond)).answer


@pytest.mark.parametrize(
    ("code", "machine", "said"),
    [
        (CpuTarget(triple="aarch64-linux-gnu", vector_bits=256), CpuTarget(triple="aarch64-linux-gnu"), "vector_bits: needs 256, not stated there ("),
        (CpuTarget(cpu="haswell"), CpuTarget(triple="x86_64-linux"), "triple.os: not stated, there is linux with elf ("),
        (CpuTarget(triple="x86_64-linux"), CpuTarget(triple="x86_64-unknown-unknown"), "triple.os: needs linux with elf, there is a system not stated with elf ("),
        (CpuTarget(triple="arm64-apple-ios15-macabi"), CpuTarget(triple="arm64-apple-ios15"), "triple.os: needs ios macabi with macho, there is ios with macho ("),
    ],
)  # fmt: skip
def test_what_is_not_stated_is_said_in_words(code: CpuTarget, machine: CpuTarget, said: str) -> None:
    """Without placeholders and stray blanks."""
    assert any(str(reason).startswith(said) for reason in code.compatible(machine).reasons), code.compatible(
        machine
    )


@pytest.mark.parametrize(
    ("code", "machine", "advice"),
    [
        ({"arch": "compute_90a"}, {"arch": "sm_90"}, "state the most specific arch of the device, sm_90a"),
        ({"arch": "compute_101a"}, {"arch": "sm_110"}, "state the most specific arch of the device, sm_110a"),
        ({"arch": "sm_90a"}, {"arch": "sm_90"}, "state the most specific arch of the device, sm_90a"),
        ({"arch": "sm_80"}, {"arch": "sm_90"}, "state code_form of the code, ptx or cubin"),
        ({"arch": "sm_80"}, {"arch": "compute_80"}, "state code_form of the code, ptx or cubin"),
        ({"arch": "lto_80"}, {"arch": "sm_90"}, "state the code that the linker makes of it"),
        ({}, {"arch": "sm_90"}, "state arch on both sides"),
        (
            {"arch": "compute_80", "ptx_isa": "9.0"},
            {"arch": "sm_90"},
            "state ptx_isa of the device, the newest that its driver takes",
        ),
    ],
)
def test_what_is_missing_of_cuda_code_is_named(
    code: dict[str, Any], machine: dict[str, Any], advice: str
) -> None:
    """And nothing else; the whole reason is short enough to read."""
    (reason,) = CudaTarget(**code).compatible(CudaTarget(**machine)).reasons
    assert advice == reason.advice
    assert 50 > len(str(reason).split())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("loongarch64-linux-gnusf", "loongarch64-linux-gnu"),
        ("loongarch64-linux-gnuf32", "loongarch64-linux-gnu"),
        ("loongarch64-linux-muslsf", "loongarch64-linux-musl"),
        ("mips-linux-gnusf", "mips-linux-gnu"),
        ("powerpc-linux-gnuspe", "powerpc-linux-gnu"),
    ],
)
def test_environments_that_pass_floats_in_different_ways_are_apart(one: str, other: str) -> None:
    """Neither runs on the other, for the libraries there are called in another way."""
    first, second = CpuTarget(triple=one), CpuTarget(triple=other)
    for code, machine in ((first, second), (second, first)):
        assert "no" == code.compatible(machine).answer
        assert "no" == code.compatible(machine, purpose="link").answer
    assert first.compatible(CpuTarget(triple=one))


def test_wasi_is_what_wasip1_was_called() -> None:
    """Its code runs where wasip1's does, both ways, and wasip2 is another."""
    former, first, second = (CpuTarget(triple=f"wasm32-{os}") for os in ("wasi", "wasip1", "wasip2"))
    assert former.compatible(first)
    assert first.compatible(former)
    assert "no" == former.compatible(second).answer


def test_a_floor_orders_versions_by_their_numbers() -> None:
    """2.9 is less than 2.10, and 9.0 than 10.0, also for kinds of other packages."""
    rule = floor("firmware", "manual")
    pairs = [("2.9", "2.10"), ("9.0", "10.0"), ("2.17", "2.17"), ("2", "2.0")]
    assert ["yes"] * 4 == [rule.decide(need, have) for need, have in pairs]
    assert ["no", "no"] == [rule.decide(need, have) for have, need in pairs[:2]]
    assert "unknown" == rule.decide("2.9", None)


def test_what_says_of_both_ways_says_it_of_the_way_that_is_not_open() -> None:
    """The advice is that of the rule for the two values which it could not decide on."""
    rule = attrs.evolve(
        floor("size", "manual"), advice=lambda need, have: f"{need} on {have}", demand=attribute("asks")
    )
    told = both_ways(rule, ("size",)).advice
    assert callable(told)
    assert "3 on None" == told((3, 1), (2, None))
    assert "5 on None" == told((None, None), (5, 7))


def test_an_armv8_processor_runs_armv7_code_whatever_its_other_instruction_set_keeps_to() -> None:
    """Lengths of scalable vectors and restrictions are of AArch64; a kernel of 64 bits has no calls of the old ABI."""
    code = CpuTarget(triple="armv7-linux-gnueabihf", vector_bits=128)
    machine = CpuTarget(triple="aarch64-linux-gnu", cpu="cortex-a72", restrictions=["strict-align"])
    assert "no" == code.compatible(machine).answer
    assert code.compatible(machine, bridges="compat32")
    old = CpuTarget(triple="armv7-linux-gnueabihf", abi="apcs-gnu")
    plain = machine.evolve(restrictions=())
    assert "no" == old.compatible(plain).answer == old.compatible(plain, bridges="compat32").answer


@pytest.mark.parametrize("machine", ["aarch64-linux-gnu", "bpfel-linux-gnu", "x86_64-linux-gnu"])
@pytest.mark.parametrize("code", ["i686-linux-gnu", "sparc-linux-gnu", "mipsel-linux-gnu"])
def test_a_narrower_mode_is_one_of_the_same_family(code: str, machine: str) -> None:
    """Of architectures without a table too: that neither has one makes them no family."""
    verdict = CpuTarget(triple=code).compatible(CpuTarget(triple=machine), bridges="compat32")
    blocking = {reason.field for reason in verdict.reasons if reason.weight == "blocks"}
    assert ("triple.arch" in blocking) == ((code, machine) != ("i686-linux-gnu", "x86_64-linux-gnu"))
