"""Facts of CUDA: spellings, order, and which code runs on which device."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import pytest

import targetspec
from targetspec import CudaTarget, FieldError, FieldTypeError, UnknownNameError
from targetspec.gpu_cuda import CODE_FORMS, CudaArch, CudaCode, arch_names, cubin_runs, ptx_runs, read_code


def cuda(arch: Any, **fields: Any) -> CudaTarget:
    """Return a target in few words."""
    return CudaTarget(arch=arch, **fields)


@pytest.mark.parametrize(
    ("spelling", "arch", "form"),
    [
        ("sm_90a", "sm_90a", None),
        ("9.0a", "sm_90a", None),
        ("90a", "sm_90a", None),
        ("10.0f", "sm_100f", None),
        ((9, 0), "sm_90", None),
        ((12, 1), "sm_121", None),
        ("compute_90a", "sm_90a", "ptx"),
        ("90-virtual", "sm_90", "ptx"),
        ("90a-real", "sm_90a", "cubin"),
        ("sm_90a-real", "sm_90a", "cubin"),
        ("9.0+PTX", "sm_90", "fat"),
        ("lto_90", "sm_90", "lto"),
    ],
)
def test_every_spelling_is_one_value(spelling: Any, arch: str, form: str | None) -> None:
    """A spelling says the architecture, and some say the form of the code."""
    assert CudaCode(CudaArch.parse(arch), form) == read_code(spelling)
    assert cuda(arch, code_form=form) == cuda(spelling)
    assert arch == str(cuda(spelling).arch)


@pytest.mark.parametrize(
    ("spelling", "near"),
    [
        ("sm_banana", "sm_"),
        ("sm_999", "sm_121"),
        ("80a", "sm_80"),
        ("sm_90f", "sm_90"),
        ("sm_9", "sm_2"),
        ("", "sm_"),
        ("compute_90-real", "sm_90"),
        ("SM_90", "sm_90"),
        ((1, 5), "sm_2"),
        ("9.0 a", "sm_90"),
    ],
)
def test_what_does_not_exist_is_refused_with_the_nearest(spelling: Any, near: str) -> None:
    """There is no such architecture, and the error says which there are."""
    with pytest.raises(UnknownNameError) as caught:
        cuda(spelling)
    assert any(name.startswith(near) for name in caught.value.near)
    assert caught.value == pickle.loads(pickle.dumps(caught.value))


@pytest.mark.parametrize("wrong", [90, 9.0, True, ["sm_90"], (9, 0.0), (9,)])
def test_a_wrong_type_is_refused(wrong: Any) -> None:
    """A number is no architecture: 10.0 and 100 would be guesses."""
    with pytest.raises(FieldTypeError):
        cuda(wrong)


def test_there_is_no_default() -> None:
    """Nothing stated is nothing known."""
    assert CudaTarget().arch is None
    assert {"kind": "cuda"} == CudaTarget().to_dict()


def test_a_form_is_stated_once() -> None:
    """A spelling and code_form must not contradict each other, and a document keeps them apart."""
    assert cuda("compute_90") == cuda("sm_90", code_form="ptx")
    with pytest.raises(FieldError, match="says ptx"):
        cuda("compute_90", code_form="cubin")
    assert {"kind": "cuda", "arch": "sm_90", "code_form": "ptx"} == cuda("90-virtual").to_dict()
    problems = targetspec.validate({"kind": "cuda", "arch": "compute_90"})
    assert ["$.arch"] == [problem.path for problem in problems]


def test_architectures_sort_as_numbers() -> None:
    """10.0 comes after 9.0, and `a` after `f` after plain."""
    names = ["sm_90", "sm_90a", "sm_100", "sm_100f", "sm_100a", "sm_121"]
    assert names == [str(arch) for arch in sorted(map(CudaArch.parse, reversed(names)))]
    assert CudaArch.parse("9.0") < CudaArch.parse("10.0f")
    assert CudaArch.parse("90a").capability == (9, 0)


@pytest.mark.parametrize(
    ("code", "device", "answer"),
    [
        ("compute_50", "sm_90", "yes"),
        ("compute_90", "sm_80", "no"),
        ("compute_90", "sm_100a", "yes"),
        ("compute_90a", "sm_90a", "yes"),
        ("compute_90a", "sm_90", "unknown"),
        ("compute_90a", "sm_100a", "no"),
        ("compute_100f", "sm_103a", "yes"),
        ("compute_100f", "sm_107f", "yes"),
        ("compute_103f", "sm_100a", "no"),
        ("compute_100f", "sm_110a", "no"),
        ("compute_100f", "sm_120a", "no"),
        ("compute_101f", "sm_110a", "yes"),
        ("compute_120f", "sm_121a", "yes"),
        ("compute_100a", "sm_100f", "unknown"),
        ("80-real", "sm_86", "yes"),
        ("80-real", "sm_89", "yes"),
        ("86-real", "sm_80", "no"),
        ("80-real", "sm_90a", "no"),
        ("100-real", "sm_103", "yes"),
        ("80-real", "sm_87", "no"),
        ("87-real", "sm_89", "no"),
        ("72-real", "sm_75", "no"),
        ("87-real", "sm_87", "yes"),
        ("90a-real", "sm_90a", "yes"),
        ("100f-real", "sm_103a", "yes"),
        ("8.0+PTX", "sm_90a", "yes"),
        ("8.6+PTX", "sm_80", "no"),
        ("lto_80", "sm_80", "unknown"),
        ("sm_80", "sm_86", "yes"),
        ("sm_80", "sm_90a", "unknown"),
        ("sm_86", "sm_80", "no"),
        ("sm_90", "sm_90a", "yes"),
        ("sm_90a", "sm_90", "unknown"),
        ("sm_90", "compute_90", "unknown"),
        ("compute_90", "90-real", "no"),
        ("compute_80", "compute_90", "yes"),
        (None, "sm_90", "unknown"),
        ("sm_90", None, "unknown"),
        (None, None, "yes"),
    ],
)
def test_known_answers(code: Any, device: Any, answer: str) -> None:
    """PTX goes forward, machine code within a generation, `f` within a family, `a` nowhere else."""
    assert answer == cuda(code).compatible(cuda(device)).answer


@pytest.mark.parametrize(
    ("isa", "driver", "device", "answer"),
    [
        (None, None, "sm_90a", "yes"),
        ("8.0", None, "sm_90a", "yes"),
        ("8.4", None, "sm_90a", "unknown"),
        ("8.4", "8.4", "sm_90a", "yes"),
        ("8.4", "8.3", "sm_90a", "no"),
        ("8.4", "8.10", "sm_90a", "yes"),
    ],
)
def test_the_driver_must_know_the_ptx(isa: Any, driver: Any, device: str, answer: str) -> None:
    """A driver has at least the PTX ISA with which its device appeared; versions compare as numbers."""
    code = cuda("compute_80", ptx_isa=isa)
    verdict = code.compatible(cuda(device, ptx_isa=driver))
    assert answer == verdict.answer
    if answer == "no":
        assert ("ptx_isa", "8.4") == verdict.reasons[0].repair


def test_machine_code_asks_for_no_ptx_isa() -> None:
    """The version of PTX matters to PTX alone; a fat binary falls back on its machine code."""
    for spelling in ("80-real", "8.0+PTX"):
        assert cuda(spelling, ptx_isa="9.0").compatible(cuda("sm_86", ptx_isa="8.0"))
    assert not cuda("8.0+PTX", ptx_isa="9.0").compatible(cuda("sm_90a", ptx_isa="8.0"))


@pytest.mark.parametrize(
    ("one", "other", "answer"),
    [
        (cuda(None, code_form="ptx", ptx_isa="8.0"), cuda(None, code_form="ptx", ptx_isa="9.0"), "yes"),
        (cuda(None, code_form="ptx"), cuda("compute_80"), "unknown"),
        (cuda("compute_80"), cuda(None, code_form="ptx"), "unknown"),
        (cuda(None, code_form="cubin"), cuda("80-real"), "unknown"),
        (cuda("lto_80", ptx_isa="8.0"), cuda("lto_80", ptx_isa="9.0"), "yes"),
        (cuda("lto_80", ptx_isa="9.0"), cuda("lto_80", ptx_isa="8.0"), "no"),
        (cuda("lto_80"), cuda("lto_90"), "unknown"),
        (cuda("lto_80"), cuda(None, code_form="lto"), "unknown"),
        (cuda("8.0+PTX"), cuda("8.6+PTX"), "yes"),
        (cuda("8.0+PTX"), cuda("9.0+PTX"), "no"),
    ],
)
def test_code_beside_code_of_its_form(one: CudaTarget, other: CudaTarget, answer: str) -> None:
    """What states no architecture is like itself only; an intermediate is for its own until it is linked; both parts count."""
    assert answer == one.compatible(other).answer


def test_a_fat_binary_may_need_its_ptx() -> None:
    """Where its machine code does not run, and the driver is not known to read its PTX, nothing is known of it."""
    fat, later = cuda("8.0+PTX", ptx_isa="9.0"), cuda("sm_90a")
    assert "unknown" == fat.compatible(later).answer
    assert ["yes", "no"] == [fat.compatible(cuda("sm_90a", ptx_isa=isa)).answer for isa in ("9.1", "8.8")]
    assert "unknown" == cuda("8.0", ptx_isa="9.0").compatible(later).answer


def test_a_ptx_isa_before_the_architecture_is_refused() -> None:
    """Nobody has PTX 7.0 for sm_90."""
    with pytest.raises(FieldError, match=r"sm_90a appeared in PTX ISA 8\.0"):
        cuda("sm_90a", ptx_isa="7.8")


def test_the_whole_relation_is_a_preorder() -> None:
    """Over every architecture in every form, with and without a PTX ISA: reflexive and transitive."""
    few = ("sm_80", "sm_86", "sm_87", "sm_90", "sm_90a", "sm_100", "sm_100f", "sm_103", "sm_103a", "sm_110f")
    targets = [
        cuda(arch, code_form=form, ptx_isa=isa)
        for arch in (*few, None)
        for form in (None, *CODE_FORMS)
        for isa in (None, "9.0")
    ]
    runs = [{j for j, b in enumerate(targets) if a.compatible(b)} for a in targets]
    for i, reached in enumerate(runs):
        assert i in reached
        assert set().union(*(runs[j] for j in reached)) == reached


def test_both_ways_of_running_are_orders_on_architectures() -> None:
    """What machine code runs on, its PTX does; each architecture runs its own code."""
    archs = [CudaArch.parse(name) for name in arch_names()]
    for code, device in itertools.product(archs, archs):
        if cubin_runs(code, device):
            assert ptx_runs(code, device)
    assert all(ptx_runs(arch, arch) and cubin_runs(arch, arch) for arch in archs)


def test_a_cuda_target_is_small_to_send() -> None:
    """A pickled target with its limits and a host stays well under a kilobyte."""
    host = targetspec.CpuTarget(triple="x86_64-unknown-linux-gnu")
    target = cuda("sm_90a", max_threads_per_block=1024, registers_per_block=65536, warp_size=32)
    assert len(pickle.dumps(target)) < 500
    assert target.with_host(host) == pickle.loads(pickle.dumps(target.with_host(host)))
