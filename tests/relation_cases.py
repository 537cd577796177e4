"""Pairs of targets that differ in one field, for the tests of the relation: what the field decides."""

from __future__ import annotations

from typing import Any, NamedTuple

from targetspec import CpuTarget, Target, registry

LINUX = "x86_64-linux-gnu"
HOST, BETTER_HOST = CpuTarget(triple=LINUX), CpuTarget(triple=LINUX, cpu="haswell")


class Case(NamedTuple):
    """Two targets of a kind that differ in what `code` and `machine` say; the answers there and back, for code and link."""

    kind: str
    code: dict[str, Any]
    machine: dict[str, Any]
    code_answers: str
    link_answers: str = ""
    common: dict[str, Any] = {}  # noqa: RUF012 - nobody changes it

    def targets(self) -> tuple[Target, Target]:
        """Return the two."""
        kind = registry.kind(self.kind)
        return kind(**self.common, **self.code), kind(**self.common, **self.machine)


def of_cpu(
    code: dict[str, Any], machine: dict[str, Any], code_answers: str, link: str, triple: str = LINUX
) -> Case:
    """Return the case of two processors under one triple."""
    return Case("cpu", code, machine, code_answers, link, {"triple": triple})


def of_triples(code: str, machine: str, code_answers: str, link: str) -> Case:
    """Return the case of two triples, without features and C library."""
    bare: dict[str, Any] = {"features": [], "libc": None}
    return Case("cpu", {"triple": code}, {"triple": machine}, code_answers, link, bare)


AARCH64 = "aarch64-linux-gnu"
RISCV = "riscv64-unknown-elf"
# Answers: y(es), n(o), u(nknown), to the machine and back.
CASES = (
    of_cpu({"libs": {"mkl"}}, {}, "ny", "yy"),
    of_cpu({"features": []}, {"features": ["avx2"]}, "yn", "yy"),
    of_cpu({"abi": "lp64"}, {"abi": "lp64d"}, "nn", "nn", RISCV),
    of_cpu({"abi": "lp64"}, {}, "uu", "uu", RISCV),
    of_cpu({"float_abi": "soft"}, {"float_abi": "hard"}, "nn", "nn", "armv7-none-eabi"),
    of_cpu({"float_abi": "soft"}, {}, "uu", "uu", "armv7-none-eabi"),
    of_cpu({"long_double": "ieee128"}, {"long_double": "ibm128"}, "nn", "nn", "powerpc64le-linux-gnu"),
    of_cpu({"long_double": "ieee128"}, {}, "uu", "uu", "powerpc64le-linux-gnu"),
    of_cpu({"vector_bits": 256}, {"vector_bits": 128}, "nn", "yy", AARCH64),
    of_cpu({"vector_bits": 256}, {}, "uy", "yy", AARCH64),
    of_cpu({"restrictions": ["strict-align"]}, {}, "yn", "yy", AARCH64),
    of_cpu({"libc_version": "2.17"}, {"libc_version": "2.36"}, "yn", "yy"),
    of_cpu({"libc_version": "2.4"}, {"libc_version": "2.36"}, "yn", "yy"),
    of_cpu({"libc_version": "2.17"}, {}, "uy", "yy"),
    of_cpu({"libc": "glibc"}, {"libc": "musl"}, "nn", "yy", "x86_64-unknown-linux"),
    of_cpu({"static": True}, {}, "yu", "yy"),
    of_cpu({"cpu": "haswell", "tune": "znver3"}, {"cpu": "haswell"}, "yy", "yy"),
    of_cpu({"num_cores": 4, "model": "a"}, {"l2_cache_bytes": 1}, "yy", "yy"),
    of_cpu({"features": ["reserve-x18"]}, {"features": []}, "nn", "nn", AARCH64),
    of_triples("x86_64-linux-gnu", "x86_64-windows-msvc", "nn", "nn"),
    of_triples("x86_64-linux-gnu", "x86_64-linux-gnux32", "nu", "nn"),
    of_triples("x86_64-linux-musl", "x86_64-linux-gnu", "nn", "nn"),
    of_triples("aarch64-linux-gnu", "aarch64_be-linux-gnu", "nn", "nn"),
    of_triples("armv7-none-eabi", "armebv7-none-eabi", "nn", "nn"),
    of_triples("powerpc-linux-gnu", "powerpc64-linux-gnu", "un", "nn"),
    of_triples("powerpc64-linux-gnu", "powerpc64le-linux-gnu", "nn", "nn"),
    of_triples("wasm32-unknown-unknown", "wasm64-unknown-unknown", "nn", "nn"),
    of_triples("wasm32-wasip1", "wasm32-wasip2", "nn", "nn"),
    of_triples("x86_64-apple-darwin23", "x86_64-apple-macosx14.0", "yy", "nn"),
    of_triples("x86_64-apple-macosx10.15", "x86_64-apple-macosx11", "yn", "yy"),
    of_triples("aarch64-linux-android21", "aarch64-linux-gnu", "nn", "nn"),
    of_triples("aarch64-linux-ohos", "aarch64-linux-musl", "nn", "nn"),
    of_triples("arm64-apple-ios-macabi", "arm64-apple-ios", "nn", "nn"),
    of_triples("x86_64-unknown-none-elf", "x86_64-linux-gnu", "nn", "nn"),
    of_triples("x86_64-unknown-unknown-elf", "x86_64-linux-gnu", "uu", "nn"),
    of_triples("x86_64-unknown-freebsd13", "x86_64-unknown-freebsd14", "yn", "yy"),
    of_triples("x86_64-unknown-freebsd13", "x86_64-unknown-freebsd", "uy", "yy"),
    of_triples("powerpc-linux-gnu", "powerpc64le-linux-gnu", "nn", "nn"),
    of_triples("aarch64-linux-ohos10", "aarch64-linux-ohos12", "yn", "yy"),
    of_triples("x86_64-apple-macosx10.16", "x86_64-apple-macosx11", "yy", "yy"),
    of_triples("arm64-windows-msvc", "arm64ec-windows-msvc", "nn", "nn"),
    of_triples("arm64-apple-ios17-simulator", "arm64-apple-ios17", "nn", "nn"),
    Case(
        "cpu",
        {"triple": "aarch64-linux-android"},
        {"triple": "aarch64-linux-gnu"},
        "nn",
        "nn",
        {"static": True},
    ),
    Case(
        "cpu",
        {"triple": "aarch64-linux-ohos"},
        {"triple": "aarch64-linux-musl"},
        "nn",
        "nn",
        {"static": True},
    ),
    Case(
        "cpu",
        {"triple": "aarch64-linux-pauthtest"},
        {"triple": "aarch64-linux-musl"},
        "nn",
        "nn",
        {"static": True},
    ),
    Case("cpu", {"triple": LINUX, "cpu": "haswell"}, {"cpu": "haswell"}, "uu", "uu"),
    Case("cpu", {"cpu": "haswell"}, {"cpu": "apple-m1"}, "nn", "nn"),
    Case("cpu", {}, {}, "yy", "yy"),
    Case("cpu", {"cpu": "generic"}, {"cpu": "haswell"}, "uu", "uu"),
    # Devices: linking is code both ways.
    Case("cuda", {"libs": {"cudnn"}}, {}, "ny", "nn"),
    Case("cuda", {"host": HOST}, {"host": BETTER_HOST}, "yn", "nn"),
    Case("cuda", {"host": HOST}, {}, "uy", "uu"),
    Case("cuda", {"arch": "sm_80"}, {}, "uu", "uu"),
    Case("cuda", {"code_form": "ptx"}, {"code_form": "cubin"}, "nn", "nn", {"arch": "sm_80"}),
    Case("cuda", {"code_form": "ptx"}, {}, "yu", "uu", {"arch": "sm_80"}),
    Case("cuda", {"ptx_isa": "8.0"}, {"ptx_isa": "8.8"}, "yn", "nn", {"arch": "sm_80", "code_form": "ptx"}),
    Case("cuda", {"max_threads_per_block": 64}, {"max_threads_per_block": 32}, "yy", "yy"),
    Case("rocm", {"target_id": "gfx90a"}, {"target_id": "gfx90a:xnack+"}, "yu", "uu"),
    Case("rocm", {"target_id": "gfx90a:xnack-"}, {"target_id": "gfx90a:xnack+"}, "nn", "nn"),
    Case("rocm", {"target_id": "gfx90a:sramecc-"}, {"target_id": "gfx90a:sramecc+"}, "nn", "nn"),
    Case("rocm", {"target_id": "gfx9-generic"}, {"target_id": "gfx906"}, "yn", "nn"),
    Case("rocm", {"target_id": "gfx906"}, {}, "uu", "uu"),
    Case("rocm", {"warp_size": 32}, {"warp_size": 64}, "nn", "nn"),
    Case("rocm", {"warp_size": 32}, {}, "uu", "uu"),
    Case("rocm", {"cumode": True}, {"cumode": False}, "nn", "nn"),
    Case("rocm", {"code_object_version": 5}, {"code_object_version": 6}, "nn", "nn"),
    Case("rocm", {"generic_version": 2}, {"generic_version": 1}, "yn", "nn"),
    Case("rocm", {"os": "amdhsa"}, {"os": "amdpal"}, "nn", "nn"),
    Case("metal", {"os": "macos"}, {"os": "ios"}, "nn", "nn"),
    Case("metal", {"language_version": "3.0"}, {"language_version": "3.1"}, "yn", "nn"),
    Case("metal", {"deployment_target": "13"}, {"deployment_target": "14"}, "yn", "nn", {"os": "macos"}),
    Case("metal", {"gpu_family": "apple7"}, {"gpu_family": "apple9"}, "yn", "nn"),
    Case("metal", {"gpu_family": "apple7"}, {}, "uy", "uu"),
    Case("metal", {"warp_size": 32}, {"warp_size": 64}, "yy", "yy"),
    Case("vulkan", {"api_version": "1.2"}, {"api_version": "1.3"}, "yn", "nn"),
    Case("vulkan", {"spirv_version": "1.5"}, {"spirv_version": "1.6"}, "yn", "nn"),
    Case("vulkan", {"capabilities": {"Float16"}}, {}, "ny", "nn"),
    Case("vulkan", {"extensions": {"VK_KHR_16bit_storage"}}, {}, "ny", "nn"),
    Case("vulkan", {"subgroup_operations": {"ballot"}}, {}, "ny", "nn"),
    Case("vulkan", {"device_type": "cpu"}, {"device_type": "other"}, "yy", "yy"),
    Case("opencl", {"opencl_version": "1.2"}, {"opencl_version": "3.0"}, "yn", "nn"),
    Case("opencl", {"extensions": {"cl_khr_fp16"}}, {}, "ny", "nn"),
    Case("webgpu", {"extensions": {"shader-f16"}}, {}, "ny", "nn"),
    Case("hexagon", {"version": "v66"}, {"version": "v68"}, "yn", "nn"),
    Case("hexagon", {"version": "v66"}, {}, "uu", "uu"),
    Case("hexagon", {"hvx_bytes": 64}, {"hvx_bytes": 128}, "nn", "nn", {"version": "v68"}),
    Case("hexagon", {"hvx_bytes": 64}, {}, "uy", "uu"),
    Case(
        "hexagon",
        {"hvx_version": "v65"},
        {"hvx_version": "v66"},
        "yn",
        "nn",
        {"version": "v68", "hvx_bytes": 128},
    ),
    Case("hexagon", {"extensions": {"hvx-qfloat"}}, {}, "ny", "nn"),
)
