"""Facts of the kinds metal, vulkan, opencl, webgpu and hexagon."""

from __future__ import annotations

from typing import Any

import pytest

import targetspec
from targetspec import (
    FieldError,
    FieldTypeError,
    HexagonTarget,
    MetalTarget,
    OpenCLTarget,
    Target,
    VulkanTarget,
    WebGPUTarget,
)


def macos(version: str | None, **fields: Any) -> MetalTarget:
    """Return a target for a version of macOS."""
    return MetalTarget(os="macos", deployment_target=version, **fields)


@pytest.mark.parametrize(
    ("code", "run_on", "answer"),
    [
        (macos(None, language_version="3.1"), macos("14.2"), "yes"),
        (macos(None, language_version="3.1"), macos("13.6"), "no"),
        (macos(None, language_version="2.2"), macos("10.15"), "yes"),
        (macos(None, language_version="2.3"), macos("10.15.7"), "no"),
        (macos(None, language_version="2.3"), macos("10.16"), "yes"),
        (MetalTarget(os="ios", language_version="3.2"), MetalTarget(os="ios", deployment_target="18"), "yes"),
        (macos(None, language_version="3.2"), macos(None), "unknown"),
        (macos(None, language_version="2.4"), macos("12", language_version="2.0"), "yes"),
        (macos("12"), macos("14"), "yes"),
        (macos("14"), macos("12"), "no"),
        (macos("12"), MetalTarget(os="ios", deployment_target="17"), "no"),
        (MetalTarget(os="ios"), MetalTarget(os="ios-simulator"), "no"),
        (MetalTarget(gpu_family="apple7"), MetalTarget(gpu_family="apple10"), "yes"),
        (MetalTarget(gpu_family="apple7"), MetalTarget(gpu_family="apple6"), "no"),
        (MetalTarget(gpu_family="apple7"), MetalTarget(gpu_family="metal3"), "unknown"),
        (MetalTarget(gpu_family="metal3"), MetalTarget(gpu_family="apple7"), "yes"),
        (MetalTarget(gpu_family="metal3"), MetalTarget(gpu_family="apple6"), "unknown"),
        (MetalTarget(gpu_family="metal4"), MetalTarget(gpu_family="metal3"), "no"),
        (MetalTarget(gpu_family="metal4"), MetalTarget(gpu_family="apple9"), "unknown"),
        (macos(None, gpu_family="mac1"), macos(None, gpu_family="apple8"), "yes"),
        (macos(None, gpu_family="mac2"), macos(None, gpu_family="apple6"), "unknown"),
        (MetalTarget(gpu_family="mac2"), MetalTarget(gpu_family="apple7"), "unknown"),
        (MetalTarget(gpu_family="mac2"), MetalTarget(gpu_family="mac1"), "no"),
        (VulkanTarget(spirv_version="1.5"), VulkanTarget(api_version="1.2"), "yes"),
        (VulkanTarget(spirv_version="1.5"), VulkanTarget(api_version="1.2", spirv_version="1.0"), "yes"),
        (VulkanTarget(spirv_version="1.6"), VulkanTarget(api_version="1.2.198"), "no"),
        (VulkanTarget(spirv_version="1.6"), VulkanTarget(api_version="1.4"), "yes"),
        (VulkanTarget(spirv_version="1.3"), VulkanTarget(), "unknown"),
        (VulkanTarget(api_version="1.3"), VulkanTarget(api_version="1.2"), "no"),
        (VulkanTarget(api_version="1.0", spirv_version="1.3"), VulkanTarget(api_version="1.1"), "yes"),
        (VulkanTarget(spirv_version="1.4"), VulkanTarget(api_version="1.1"), "no"),
        (
            VulkanTarget(spirv_version="1.4"),
            VulkanTarget(api_version="1.1", extensions={"VK_KHR_spirv_1_4"}),
            "yes",
        ),
        (
            VulkanTarget(spirv_version="1.5"),
            VulkanTarget(api_version="1.1", extensions={"VK_KHR_spirv_1_4"}),
            "no",
        ),
        (VulkanTarget(capabilities={"Float16"}), VulkanTarget(), "no"),
        (VulkanTarget(), VulkanTarget(capabilities={"Float16"}), "yes"),
        (VulkanTarget(capabilities={"Matrix"}), VulkanTarget(capabilities={"Shader"}), "yes"),
        (VulkanTarget(capabilities={"Shader"}), VulkanTarget(capabilities={"Matrix"}), "no"),
        (VulkanTarget(capabilities={"Shader"}), VulkanTarget(capabilities={"Shader", "Matrix"}), "yes"),
        (OpenCLTarget(opencl_version="1.2"), OpenCLTarget(opencl_version="3.0"), "yes"),
        (OpenCLTarget(extensions={"cl_khr_fp16"}), OpenCLTarget(opencl_version="3.0"), "no"),
        (WebGPUTarget(extensions={"subgroups"}), WebGPUTarget(), "no"),
        (WebGPUTarget(), WebGPUTarget(extensions={"subgroups"}, warp_size=32), "yes"),
        (HexagonTarget(version="v65"), HexagonTarget(version="v68"), "yes"),
        (HexagonTarget(version="v68"), HexagonTarget(version="v65"), "no"),
        (HexagonTarget(version="v67"), HexagonTarget(version="v67t"), "no"),
        (HexagonTarget(version="v67t"), HexagonTarget(version="v68"), "yes"),
        (HexagonTarget(version="v68"), HexagonTarget(version="v68", hvx_bytes=128), "yes"),
        (HexagonTarget(version="v68", hvx_bytes=64), HexagonTarget(version="v68", hvx_bytes=128), "no"),
        (HexagonTarget(version="v68", hvx_bytes=128), HexagonTarget(version="v68"), "unknown"),
        (HexagonTarget(extensions={"hvx-qfloat"}), HexagonTarget(), "no"),
        (OpenCLTarget(), VulkanTarget(), "no"),
    ],
)
def test_known_answers(code: Target, run_on: Target, answer: str) -> None:
    """Versions are floors, sets are subsets, systems and vector lengths are identities."""
    assert answer == code.compatible(run_on).answer


@pytest.mark.parametrize(
    ("code", "run_on", "repair"),
    [
        (VulkanTarget(api_version="1.3"), VulkanTarget(api_version="1.2"), ("api_version", "1.3")),
        (VulkanTarget(api_version="1.4"), VulkanTarget(api_version="1.2.198"), ("api_version", "1.4")),
        (VulkanTarget(spirv_version="1.6"), VulkanTarget(spirv_version="1.5"), ("spirv_version", "1.6")),
        (
            VulkanTarget(api_version="1.1", spirv_version="1.6"),
            VulkanTarget(api_version="1.0"),
            ("api_version", "1.3"),
        ),
        (VulkanTarget(api_version="1.1", spirv_version="1.9"), VulkanTarget(api_version="1.0"), None),
        (macos(None, language_version="3.1"), macos("13.6"), ("language_version", "3.1")),
        (macos("14"), macos("12"), ("deployment_target", "14.0")),
        (macos("14", language_version="3.1"), macos("12"), ("deployment_target", "14.0")),
        (macos("14", language_version="3.2"), macos("12"), ("deployment_target", "15")),
        (macos("10.14", language_version="2.2"), macos("10.12"), ("deployment_target", "10.15")),
        (macos("14", language_version="5.0"), macos("12"), None),
        (
            MetalTarget(os="ios", deployment_target="12", language_version="2.2"),
            MetalTarget(os="ios", deployment_target="11"),
            ("deployment_target", "13"),
        ),
    ],
)
def test_one_change_mends_both_versions(code: Target, run_on: Target, repair: Any) -> None:
    """Vulkan and SPIR-V, Metal and the system, share one rule, whose repair lifts the no by itself, or is none."""
    (reason,) = code.compatible(run_on).reasons
    assert repair == reason.repair
    if repair is not None:
        assert "no" != code.compatible(run_on.evolve(**dict([repair]))).answer


def test_linking_offers_no_repair_that_fails() -> None:
    """Taking over the older Vulkan would lose the SPIR-V that it brought, so nothing is offered."""
    code, other = VulkanTarget(api_version="1.0", spirv_version="1.3"), VulkanTarget(api_version="1.1")
    (reason,) = code.compatible(other, purpose="link").reasons
    assert ("blocks", None) == (reason.weight, reason.repair)


def test_macos_10_16_is_11() -> None:
    """The name that old programs are given is the same version."""
    assert macos("11") == macos("10.16")


def test_spellings_of_hexagon_are_one_value() -> None:
    """LLVM's name of the CPU is the version; the vectors are of the core's version unless stated."""
    dsp = HexagonTarget(version="hexagonv73", hvx_bytes=128)
    assert dsp == HexagonTarget(version="v73", hvx_bytes=128, hvx_version="v73")
    assert {"kind": "hexagon", "version": "v73", "hvx_bytes": 128} == dsp.to_dict()
    assert dsp == dsp.with_host(HexagonTarget(version="v73")).without_host()


def test_extensions_of_any_vendor_are_taken() -> None:
    """The sets of extensions are open: a name of the registry's form is one, whoever's it is."""
    vulkan = {"VK_AMDX_shader_enqueue", "VK_MADEUP_thing", "SPV_INTEL_2d_block_io"}
    assert vulkan == VulkanTarget(extensions=vulkan).extensions
    opencl = {"cl_APPLE_SetMemObjectDestructor", "cles_khr_int64", "__opencl_c_fp64"}
    assert opencl == OpenCLTarget(extensions=opencl).extensions


def test_families_across_lines_are_transitive() -> None:
    """A yes and a yes make a yes for every three families and systems."""
    families = ("apple6", "apple7", "apple9", "mac1", "mac2", "common3", "metal3", "metal4", None)
    targets = [MetalTarget(os=os, gpu_family=family) for os in ("macos", "ios", None) for family in families]
    runs = {one: [other for other in targets if one.compatible(other)] for one in targets}
    assert all(runs[one] for one in targets)
    for one in targets:
        for other in runs[one]:
            assert set() == set(runs[other]) - set(runs[one])


def test_names_with_spaces_survive_the_text() -> None:
    """A device's name is kept as its driver writes it."""
    target = VulkanTarget(model="AMD Radeon [RX 7900] 100% (TM)", device_type="discrete")
    assert " " not in str(target).split("model=")[1].split(" device_type")[0]
    assert target == targetspec.parse(str(target))


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: WebGPUTarget(warp_size=32), FieldError),
        (lambda: WebGPUTarget(max_threads_per_block=2.5), FieldTypeError),
        (lambda: MetalTarget(deployment_target="14"), FieldError),
        (lambda: MetalTarget(gpu_family="apple"), FieldError),
        (lambda: MetalTarget(gpu_family="mac7"), FieldError),
        (lambda: MetalTarget(os="darwin"), FieldError),
        (lambda: VulkanTarget(api_version=1.3), FieldTypeError),
        (lambda: VulkanTarget(capabilities="Float16"), FieldTypeError),
        (lambda: VulkanTarget(subgroup_operations={"banana"}), FieldError),
        (lambda: VulkanTarget(model=" x"), FieldError),
        (lambda: VulkanTarget(extensions={"KHR_16bit_storage"}), FieldError),
        (lambda: VulkanTarget(extensions={"cl_khr_fp16"}), FieldError),
        (lambda: OpenCLTarget(extensions={"khr_fp16"}), FieldError),
        (lambda: OpenCLTarget(extensions={"VK_KHR_16bit_storage"}), FieldError),
        (lambda: OpenCLTarget(max_threads_per_block=-1), FieldError),
        (lambda: OpenCLTarget(max_threads_per_block=True), FieldTypeError),
        (lambda: HexagonTarget(version="v99"), FieldError),
        (lambda: HexagonTarget(hvx_bytes=256), FieldError),
        (lambda: HexagonTarget(hvx_bytes=True), FieldTypeError),
        (lambda: HexagonTarget(version="v5", hvx_bytes=128), FieldError),
        (lambda: HexagonTarget(hvx_version="v68"), FieldError),
    ],
)
def test_what_cannot_be_is_refused(make: Any, error: type[Exception]) -> None:
    """A wrong type, an unknown word, and a fact without the one that it needs."""
    with pytest.raises(error):
        make()
