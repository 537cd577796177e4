"""One binary for a fleet, the best of several candidates, and targets for shared caches."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import targetspec
from targetspec import CpuTarget, FieldError, NoCommonTargetError, Target, common, parse
from targetspec.matching import best_match, ordered
from targetspec.testing import compatible_pairs, cpu_targets, targets, triples

X86 = "x86_64-unknown-linux-gnu"


@given(compatible_pairs())
def test_code_for_the_common_target_runs_on_both_and_is_as_good_as_the_lesser(
    pair: tuple[Target, Target],
) -> None:
    """Where one's code runs on the other, the code of the common target runs on both, and the one's runs on it."""
    lesser, greater = pair
    if lesser.kind != greater.kind:
        return
    found = common(lesser, greater)
    assert found.compatible(lesser)
    assert found.compatible(greater)
    assert lesser.compatible(found)


@given(st.data())
def test_processors_of_one_system_share_what_both_have(data: st.DataObject) -> None:
    """Of two processors of one triple the common target runs on both, in either order, or there is a reason."""
    triple = data.draw(triples())
    first, second = (data.draw(cpu_targets(triple=triple, hosts=False)) for _ in range(2))
    try:
        found, other_way = common(first, second), common(second, first)
    except NoCommonTargetError:
        return
    for one in (found, other_way):
        assert one.compatible(first)
        assert one.compatible(second)
    assert found.compatible(other_way)
    assert other_way.compatible(found)


@given(targets())
def test_a_target_alone_is_common_with_itself(target: Target) -> None:
    """One target, once or twice, is its own common target."""
    assert target == common(target) == common(target, target)


@given(targets(), targets())
def test_kinds_have_nothing_in_common(first: Target, second: Target) -> None:
    """Different kinds have no common target, and the error names them."""
    assume(first.kind != second.kind)
    with pytest.raises(NoCommonTargetError) as caught:
        common(first, second)
    assert ("kind", (first.kind, second.kind)) == (caught.value.field, caught.value.values)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (
            ("x86_64-linux-gnu -mcpu=skylake", "x86_64-linux-gnu -mcpu=haswell"),
            f"cpu triple={X86} cpu=haswell",
        ),
        (("x86_64-linux-gnu2.31", "x86_64-linux-gnu2.17"), f"cpu triple={X86} libc_version=2.17"),
        (("aarch64-apple-macosx14", "aarch64-apple-macosx11"), "cpu triple=aarch64-apple-macosx11"),
        (("cpu libs=blas,cudnn", "cpu libs=cudnn,nccl"), "cpu libs=cudnn"),
        (("cpu num_cores=4", "cpu num_cores=2"), "cpu num_cores=2"),
        (("cpu num_cores=4", "cpu"), "cpu"),
        (("sm_80", "sm_86"), "cuda arch=sm_80"),
        (("sm_75", "sm_80"), "cuda arch=sm_75 code_form=ptx"),
        (("sm_90a", "sm_80"), "cuda arch=sm_80 code_form=ptx"),
        (
            ("cuda arch=sm_80 ptx_isa=8.0", "cuda arch=sm_90 ptx_isa=8.5"),
            "cuda arch=sm_80 code_form=ptx ptx_isa=8.0",
        ),
        (("90a-real", "90-real"), "cuda arch=sm_90 code_form=cubin"),
        (("gfx90a:xnack+", "gfx90a"), "rocm target_id=gfx90a"),
        (("gfx900", "gfx906"), "rocm target_id=gfx9-generic"),
        (("vulkan api_version=1.3", "vulkan api_version=1.1 extensions=VK_KHR_x"), "vulkan api_version=1.1"),
        (
            (
                "cuda arch=sm_80 host=[cpu triple=x86_64-linux-gnu cpu=skylake]",
                "cuda arch=sm_86 host=[cpu triple=x86_64-linux-gnu cpu=haswell]",
            ),
            f"cuda arch=sm_80 host=[cpu triple={X86} cpu=haswell]",
        ),
    ],
)
def test_what_a_fleet_shares(texts: tuple[str, str], expected: str) -> None:
    """The common target of real pairs, in either order."""
    for pair in itertools.permutations(map(parse, texts)):
        assert expected == str(common(*pair))


@pytest.mark.parametrize(
    ("texts", "field"),
    [
        (("aarch64-linux-gnu", "x86_64-linux-gnu"), "triple"),
        (("gfx900", "gfx1030"), "target_id"),
        (("armv7-linux-gnueabi -mfloat-abi=soft", "armv7-linux-gnueabi -mfloat-abi=hard"), "float_abi"),
    ],
)
def test_what_shares_nothing_says_so(texts: tuple[str, str], field: str) -> None:
    """The error names the field that stands in the way."""
    with pytest.raises(NoCommonTargetError) as caught:
        common(*map(parse, texts))
    assert field == caught.value.field


@pytest.mark.shared
def test_halides_runtime_compatible_targets(corpus) -> None:  # type: ignore[no-untyped-def]
    """What Halide takes for the target of a runtime that serves two, but for what is listed with its reason."""
    rows = [row for row in corpus("halide_relations") if row["relation"] == "runtime_compatible"]
    assert set(HALIDE_EXCEPTIONS) == {row["id"] for row in rows if not _agrees(row)}


def _agrees(row: dict[str, str]) -> bool:
    expected = row["result"] and parse(row["result"], "halide")
    try:
        found = common(*(parse(row[name], "halide") for name in ("a", "b")))
    except NoCommonTargetError:
        return not expected
    return bool(expected and found.compatible(expected) and expected.compatible(found))


_MERGED = "Halide merges a device and a processor alone; kinds of target never mix here"
_UNSTATED = "what is not stated is not known to be less; Halide takes it for the least"
HALIDE_EXCEPTIONS = {
    "hlgcd:x86-64-linux-cuda|x86-64-linux": _MERGED,
    "hlgcd:x86-64-linux-vulkan|x86-64-linux": _MERGED,
    "hlgcd:x86-64-linux-cuda-cuda_capability_50|x86-64-linux-cuda": _UNSTATED,
    "hlgcd:hexagon-32-qurt-hvx_v62|hexagon-32-qurt": _UNSTATED,
    "hlgcd:hexagon-32-qurt-hvx_v62-hvx|hexagon-32-qurt-hvx": _UNSTATED,
    "hlgcd:x86-64-linux-cuda-cuda_capability_50|x86-64-linux-cuda-cuda_capability_30": (
        "only PTX for 3.0 runs on 5.0 as well, and the common target says so"
    ),
    "hlgcd:arm-64-linux-armv82a-armv83a|arm-64-linux-armv87a-armv8a": (
        "v8.7 and v8.3 share v8.3; Halide keeps the flags that both texts name"
    ),
}


# -- the best of several ------------------------------------------------------------------------------


@given(st.lists(targets(), max_size=5), targets())
def test_the_best_match_is_usable_and_none_is_missed(candidates: list[Target], run_on: Target) -> None:
    """What is chosen can be used; where nothing is chosen nothing could be; all that can be used are ordered."""
    usable = [one for one in candidates if one.compatible(run_on)]
    best = best_match(candidates, run_on=run_on)
    assert (best is None) == (not usable)
    assert best is None or best.compatible(run_on)
    assert sorted(map(id, usable)) == sorted(map(id, ordered(candidates, run_on=run_on)))


@given(st.lists(targets(), max_size=4), targets())
def test_an_equal_candidate_is_the_best(candidates: list[Target], run_on: Target) -> None:
    """What was built for the very target is chosen."""
    assert run_on == best_match([*candidates, run_on], run_on=run_on)


@given(compatible_pairs())
def test_the_greater_of_two_that_run_is_the_best(pair: tuple[Target, Target]) -> None:
    """Of two candidates that run on a third the one that the other's code runs on comes first."""
    lesser, greater = pair
    if not greater.compatible(lesser):
        assert greater == best_match([lesser, greater], run_on=greater)


def test_unknown_is_better_than_none_where_it_is_allowed() -> None:
    """A candidate whose answer is unknown is taken only where that is asked for, and after every yes."""
    unsure, sure = parse("x86_64-linux-gnu"), parse("cpu")
    assert best_match([unsure], run_on=parse("cpu")) is None
    assert unsure == best_match([unsure], run_on=parse("cpu"), allow_unknown=True)
    assert sure == best_match([unsure, sure], run_on=parse("cpu"), allow_unknown=True)


def test_images_come_as_containerd_picks_them() -> None:
    """What needs no bridge comes first, then what uses more of the machine."""
    images = [parse(text, "oci") for text in ("linux/arm/v6", "linux/arm/v7", "linux/arm64", "linux/amd64")]
    machine = parse("linux/arm64", "oci")
    found = ordered(images, run_on=machine, bridges=("compat32",))
    assert [images[2], images[1], images[0]] == list(found)


@pytest.mark.parametrize(
    ("machine", "order"),
    [
        ("linux/amd64/v3", "linux/amd64/v3 linux/amd64/v2 linux/amd64 linux/386"),
        ("linux/amd64", "linux/amd64 linux/386"),
        ("linux/386", "linux/386"),
        ("linux/arm/v8", "linux/arm/v8 linux/arm/v7 linux/arm/v6 linux/arm/v5"),
        ("linux/arm/v6", "linux/arm/v6 linux/arm/v5"),
        (
            "linux/arm64/v9.1",
            "linux/arm64/v9.1 linux/arm64/v8.6 linux/arm64/v8.5 linux/arm64/v8.1 linux/arm64 linux/arm/v8 linux/arm/v7 linux/arm/v6 linux/arm/v5",
        ),
        ("linux/arm64/v9", "linux/arm64/v9 linux/arm64/v8.5 linux/arm64/v8.1 linux/arm64 linux/arm/v8 linux/arm/v7 linux/arm/v6 linux/arm/v5"),
        ("linux/arm64", "linux/arm64 linux/arm/v8 linux/arm/v7 linux/arm/v6 linux/arm/v5"),
        ("windows/amd64", "windows/amd64 windows/386"),
    ],
)  # fmt: skip
def test_all_images_that_run_and_no_other_come_in_containerds_order(machine: str, order: str) -> None:
    """Whatever the order given: the machine's own variant, older ones, and those for a 32-bit userland of it."""
    texts = {
        *order.split(),
        *(
            "linux/amd64/v4",
            "linux/arm64/v9.2",
            "linux/s390x",
            "freebsd/amd64",
            "darwin/arm64",
            "windows/arm64",
        ),
    }
    for listed in (sorted(texts), sorted(texts, reverse=True)):
        images = {text: parse(text, "oci") for text in listed}
        found = ordered(images.values(), run_on=parse(machine, "oci"), bridges="compat32")
        assert [images[text] for text in order.split()] == list(found)


# -- shared caches ------------------------------------------------------------------------------------


def test_generalising_leaves_out_what_is_of_one_machine() -> None:
    """Two machines of a fleet share one target, and its code runs on both."""
    first = CpuTarget(triple="x86_64-linux-gnu2.31", cpu="znver3", num_cores=8, l2_cache_bytes=1 << 19)
    second = CpuTarget(triple="x86_64-linux-gnu2.36", cpu="skylake-avx512", num_cores=2)
    shared = first.generalise("x86-64-v3")
    assert CpuTarget(triple=X86, cpu="x86-64-v3") == shared == second.generalise("x86-64-v3")
    assert shared.compatible(first)
    device = targetspec.CudaTarget(arch="sm_80", host=first)
    assert device.with_host(shared, replace=True) == device.generalise("x86-64-v3")


def test_generalising_to_what_does_not_run_here_is_refused() -> None:
    """A CPU with more than this one has is no more general."""
    with pytest.raises(FieldError, match="avx512"):
        CpuTarget(triple="x86_64-linux-gnu", cpu="znver3").generalise("x86-64-v4")
    with pytest.raises(FieldError, match="host"):
        targetspec.CudaTarget(arch="sm_80").generalise("x86-64-v3")


@pytest.mark.parametrize(
    ("machine", "nearest_first"),
    [
        # One fact is undecided, then two.
        ("x86_64-unknown-unknown", ["cpu triple=x86_64-unknown-linux-none", "x86_64-linux-gnu"]),
        # What asks for less runs wherever the other does.
        ("x86_64-linux-gnu", ["cpu triple=x86_64-linux-gnu libc_version=2.17", "cpu triple=x86_64-linux-gnu libc_version=2.28"]),
        ("cuda arch=sm_90a", ["cuda arch=sm_80 code_form=ptx ptx_isa=8.6", "cuda arch=sm_80 code_form=ptx ptx_isa=8.8"]),
        # Alike in both, and of another number of fields.
        ("aarch64-linux-gnu", ["cpu triple=aarch64-linux-gnu vector_bits=256", "cpu triple=aarch64-linux-gnu num_cores=2 vector_bits=128"]),
    ],
)  # fmt: skip
def test_of_several_unknowns_the_nearest_is_taken(machine: str, nearest_first: list[str]) -> None:
    """Whatever the order given: fewer facts undecided, then what asks for less, then fewer fields that differ."""
    candidates = [parse(text) for text in nearest_first]
    run_on = parse(machine)
    assert {"unknown"} == {one.compatible(run_on).answer for one in candidates}
    for given_order in (candidates, candidates[::-1]):
        assert candidates == list(ordered(given_order, run_on=run_on, allow_unknown=True))
