"""Devices from what nvidia-smi, rocminfo, vulkaninfo and clinfo print: real excerpts, and readers that never raise."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import targetspec
from targetspec import CudaTarget, RocmTarget
from targetspec.host import devices, nvidia_smi, rocminfo
from targetspec.host.graphics_tools import read_clinfo, read_vulkan_summary
from targetspec.host.tools import output_of

GIB = 1 << 30
MIB = 1 << 20

QUERY = """\
name, compute_cap, memory.total [MiB]
NVIDIA H100 PCIe, 9.0, 81559 MiB
NVIDIA GeForce RTX 3060 Ti, 8.6, 8192 MiB
NVIDIA GeForce GT 710, [N/A], [Not Supported]
"""
MIG_TABLE = """\
Tue Mar  5 10:21:33 2024
+---------------------------------------------------------------------------------------+
| NVIDIA-SMI 535.154.05             Driver Version: 535.154.05   CUDA Version: 12.2     |
|-----------------------------------------+----------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id        Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |         Memory-Usage | GPU-Util  Compute M. |
|                                         |                      |               MIG M. |
|=========================================+======================+======================|
|   0  NVIDIA A100-SXM4-40GB          On  | 00000000:07:00.0 Off |                   On |
| N/A   27C    P0              44W / 400W |     25MiB / 40960MiB |     N/A      Default |
|                                         |                      |              Enabled |
+-----------------------------------------+----------------------+----------------------+
|   1  NVIDIA A100-SXM4-40GB          On  | 00000000:0F:00.0 Off |                    0 |
| N/A   26C    P0              52W / 400W |      7MiB / 40960MiB |      0%      Default |
|                                         |                      |             Disabled |
+-----------------------------------------+----------------------+----------------------+
+---------------------------------------------------------------------------------------+
| MIG devices:                                                                          |
+------------------+--------------------------------+-----------+-----------------------+
| GPU  GI  CI  MIG |                   Memory-Usage |        Vol|      Shared           |
|      ID  ID  Dev |                     BAR1-Usage | SM     Unc| CE ENC  DEC  OFA  JPG |
|==================+================================+===========+=======================|
|  0    1   0   0  |              12MiB / 19968MiB  | 42      0 |  3   0    2    0    0 |
|                  |               0MiB / 32767MiB  |           |                       |
+------------------+--------------------------------+-----------+-----------------------+
|  0    5   0   1  |               6MiB /  9856MiB  | 14      0 |  1   0    0    0    0 |
|                  |               0MiB / 16383MiB  |           |                       |
+------------------+--------------------------------+-----------+-----------------------+
| Processes:                                                                            |
"""
ROCMINFO = """\
ROCk module is loaded
=====================
HSA System Attributes
=====================
Runtime Version:         1.1
==========
HSA Agents
==========
*******
Agent 1
*******
  Name:                    AMD EPYC 7742 64-Core Processor
  Marketing Name:          AMD EPYC 7742 64-Core Processor
  Device Type:             CPU
  Compute Unit:            128
  Pool Info:
    Pool 1
      Segment:                 GLOBAL; FLAGS: FINE GRAINED
      Size:                    131911004(0x7dccd5c) KB
*******
Agent 2
*******
  Name:                    gfx942
  Uuid:                    GPU-0123456789abcdef
  Marketing Name:          AMD Instinct MI300X
  Vendor Name:             AMD
  Device Type:             GPU
  Cache Info:
    L1:                      16(0x10) KB
    L2:                      8192(0x2000) KB
  Compute Unit:            104
  Wavefront Size:          64(0x40)
  Workgroup Max Size:      1024(0x400)
  Max Waves Per CU:        32(0x20)
  Pool Info:
    Pool 1
      Segment:                 GLOBAL; FLAGS: COARSE GRAINED
      Size:                    67092480(0x3ffc000) KB
    Pool 2
      Segment:                 GROUP
      Size:                    64(0x40) KB
  ISA Info:
    ISA 1
      Name:                    amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-
      Workgroup Max Size:      1024(0x400)
    ISA 2
      Name:                    amdgcn-amd-amdhsa--gfx9-4-generic:sramecc+:xnack-
*** Done ***
"""
VULKAN = """\
==========
VULKANINFO
==========
Devices:
========
GPU0:
\tapiVersion         = 1.3.255
\tdriverVersion      = 545.29.6.0
\tdeviceType         = PHYSICAL_DEVICE_TYPE_DISCRETE_GPU
\tdeviceName         = NVIDIA GeForce RTX 4090
GPU1:
\tapiVersion         = 4206830 (1.3.238)
\tdeviceType         = PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU
\tdeviceName         = Intel(R) UHD Graphics 770 (ADL-S GT1)
GPU2:
\tapiVersion         = 1.3.255
\tdeviceType         = PHYSICAL_DEVICE_TYPE_CPU
\tdeviceName         = llvmpipe (LLVM 15.0.7, 256 bits)
"""
CLINFO = """\
Number of platforms                               2
  Platform Name                                   NVIDIA CUDA
Number of devices                                 1
  Device Name                                     NVIDIA GeForce RTX 3090
  Device Version                                  OpenCL 3.0 CUDA
  Device OpenCL C Version                         OpenCL C 1.2
  Device Type                                     GPU
  Max compute units                               82
  Max work group size                             1024
  Global memory size                              25438126080 (23.69GiB)
  Local memory size                               49152 (48KiB)
  Device Extensions                               cl_khr_global_int32_base_atomics cl_khr_fp64
  Platform Name                                   Portable Computing Language
  Device Name                                     pthread-AMD EPYC
  Device Type                                     CPU
"""


def test_a_device_has_the_most_specific_architecture_of_its_capability():
    """A device of capability 9.0 runs sm_90a code, so it is described so; one without a suffix is plain."""
    assert [f"sm_{name}" for name in ("90a", "86", "100a", "121a")] == [
        devices.most_specific(capability) for capability in ((9, 0), (8, 6), (10, 0), (12, 1))
    ]
    assert devices.most_specific((99, 9)) is None


def test_several_gpus_of_a_query():
    """Each line is a device, in order; what is not supported is not stated."""
    assert (
        CudaTarget(arch="sm_90a", model="NVIDIA H100 PCIe", memory_bytes=81559 * MIB, warp_size=32),
        CudaTarget(arch="sm_86", model="NVIDIA GeForce RTX 3060 Ti", memory_bytes=8 * GIB, warp_size=32),
        CudaTarget(model="NVIDIA GeForce GT 710", warp_size=32),
    ) == devices.cuda_devices(QUERY)


def test_a_banner_is_no_device():
    """Lines before the header, and what a driver says of a column it does not know, are no devices."""
    noisy = f"WARNING: infoROM is corrupted at gpu 0000:02:00.0\n{QUERY}\n"
    assert devices.cuda_devices(noisy) == devices.cuda_devices(QUERY)
    assert devices.cuda_devices('Field "compute_cap" is not a valid field to query.\n') == ()
    assert devices.cuda_devices("NVIDIA-SMI has failed because it couldn't communicate with the driver") == ()
    assert devices.cuda_devices("No devices were found\n", "No devices were found\n") == ()


def test_an_old_driver_says_no_capability_and_the_name_does():
    """Without compute_cap the whole name tells the capability."""
    (target,) = devices.cuda_devices("name, memory.total [MiB]\nTesla V100-PCIE-16GB, 16160 MiB\n")
    assert (str(target.arch), target.memory_bytes) == ("sm_70", 16160 * MIB)


@pytest.mark.parametrize(
    ("name", "capability"),
    [
        ("NVIDIA A100-SXM4-80GB", (8, 0)),
        ("NVIDIA A10G", (8, 6)),
        ("NVIDIA L40S", (8, 9)),
        ("NVIDIA RTX 6000 Ada Generation", (8, 9)),
        ("NVIDIA GH200 480GB", (9, 0)),
        ("NVIDIA B200", (10, 0)),
        ("NVIDIA GeForce RTX 5090", (12, 0)),
        ("Tesla T4", (7, 5)),
        ("Tesla K80", (3, 7)),
        ("NVIDIA TITAN X (Pascal)", (6, 1)),
        ("GeForce GTX TITAN X", (5, 2)),
        ("GeForce GTX 1080 Ti", (6, 1)),
        ("Quadro P2000", (6, 1)),
        ("NVIDIA Made Up 9000", None),
        ("GeForce GTX TIT...", None),
    ],
)
def test_names_of_chips(name, capability):
    """A whole name tells the capability where it is known; a cut one tells nothing."""
    assert capability == nvidia_smi.capability_of(name)


def test_instances_stand_for_a_split_gpu():
    """MIG's instances have the arch of their GPU and memory and cores of their own; the other GPU is whole."""
    first, second, whole = devices.cuda_devices("", MIG_TABLE)
    assert (first.memory_bytes, first.num_cores) == (19968 * MIB, 42)
    assert (second.memory_bytes, second.num_cores) == (9856 * MIB, 14)
    assert (whole.memory_bytes, whole.num_cores) == (40960 * MIB, None)
    assert {str(target.arch) for target in (first, second, whole)} == {"sm_80"}
    assert {target.ptx_isa for target in (first, second, whole)} == {"8.2"}
    query = "name, compute_cap, memory.total [MiB]\n" + "NVIDIA A100-SXM4-40GB, 8.0, 40960 MiB\n" * 2
    assert devices.cuda_devices(query, MIG_TABLE) == (first, second, whole)


LIST = """\
GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-11111111-2222-3333-4444-555555555555)
  MIG 3g.20gb     Device  0: (UUID: MIG-aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee)
  MIG 1g.10gb     Device  1: (UUID: MIG-aaaaaaaa-bbbb-cccc-dddd-ffffffffffff)
GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-66666666-2222-3333-4444-555555555555)
"""


def test_the_list_names_instances():
    """The table tells the size of an instance, the list its profile; the list alone tells who there is."""
    assert [
        "NVIDIA A100-SXM4-40GB MIG 3g.20gb",
        "NVIDIA A100-SXM4-40GB MIG 1g.10gb",
        "NVIDIA A100-SXM4-40GB",
    ] == [target.model for target in devices.cuda_devices("", MIG_TABLE, LIST)]
    assert [19968 * MIB, 9856 * MIB, 40960 * MIB] == [
        target.memory_bytes for target in devices.cuda_devices("", MIG_TABLE, LIST)
    ]
    assert ["sm_80"] * 3 == [str(target.arch) for target in devices.cuda_devices("", "", LIST)]


def test_a_name_that_the_table_cuts_is_whole_in_the_list():
    """The list stands before the table."""
    table = "|   0  Tesla V100-SXM2...  Off  | 00000000:15:00.0 Off |                    0 |\n"
    (cut,) = devices.cuda_devices("", table)
    (whole,) = devices.cuda_devices("", table, "GPU 0: Tesla V100-SXM2-32GB (UUID: GPU-1)\n")
    assert (cut.model, cut.arch) == (None, None)
    assert (whole.model, str(whole.arch)) == ("Tesla V100-SXM2-32GB", "sm_70")


def test_compilers_know_names_of_agents():
    """Where rocminfo is missing, the names of amdgpu-arch are the devices."""
    assert ("gfx90a:sramecc+:xnack-", "gfx1100") == tuple(
        str(target.target_id)
        for target in devices.rocm_devices("", "", "gfx000\ngfx90a:sramecc+:xnack-\ngfx1100\n")
    )


def test_a_split_gpu_without_instances_is_no_device():
    """Programs see none of it."""
    bare = MIG_TABLE.partition(
        "+---------------------------------------------------------------------------------------+\n| MIG"
    )[0]
    assert [gpu.mig for gpu in nvidia_smi.read_gpus("", bare)] == [False]


def test_agents_of_rocminfo():
    """The processor agent is none; the GPU has the settings of its ISA, its own numbers, and no second ISA."""
    expected = RocmTarget(
        target_id="gfx942:sramecc+:xnack-",
        os="amdhsa",
        model="AMD Instinct MI300X",
        warp_size=64,
        max_threads_per_block=1024,
        max_shared_memory_per_block=64 << 10,
        l2_cache_bytes=8 << 20,
        memory_bytes=67092480 << 10,
        num_cores=104,
    )
    assert (expected,) == devices.rocm_devices(ROCMINFO)
    assert (expected, expected) == devices.rocm_devices(
        ROCMINFO + ROCMINFO.partition("Agent 1\n*******\n")[2]
    )
    (agent,) = rocminfo.read_rocminfo(ROCMINFO)
    assert agent.also_runs == ("gfx9-4-generic:sramecc+:xnack-",)


def test_filtered_lines_of_rocminfo():
    """`rocminfo | grep gfx` of two GPUs is two GPUs."""
    lines = "  Name:                    gfx1100\n      Name:                    amdgcn-amd-amdhsa--gfx1100\n"
    assert ["gfx1100", "gfx1100"] == [agent.target_id for agent in rocminfo.read_rocminfo(lines * 2)]
    assert ["gfx1100", "gfx1036"] == [
        agent.target_id for agent in rocminfo.read_rocminfo(lines + lines.replace("gfx1100", "gfx1036"))
    ]


def test_an_unknown_processor_states_less():
    """What LLVM has no name for is a device without its target id."""
    (target,) = devices.rocm_devices(ROCMINFO.replace("gfx942", "gfx999"))
    assert (target.target_id, target.model) == (None, "AMD Instinct MI300X")


def test_vulkan_and_opencl_devices():
    """GPUs only: what runs on the processor is none."""
    assert (
        {"api_version": "1.3", "model": "NVIDIA GeForce RTX 4090", "device_type": "discrete"},
        {
            "api_version": "1.3",
            "model": "Intel(R) UHD Graphics 770 (ADL-S GT1)",
            "device_type": "integrated",
        },
    ) == read_vulkan_summary(VULKAN)
    (fields,) = read_clinfo(CLINFO)
    assert {
        "opencl_version": "3.0",
        "model": "NVIDIA GeForce RTX 3090",
        "extensions": frozenset({"cl_khr_global_int32_base_atomics", "cl_khr_fp64"}),
        "max_threads_per_block": 1024,
        "max_shared_memory_per_block": 49152,
        "memory_bytes": 25438126080,
        "num_cores": 82,
    } == fields


TEXTS = (QUERY, MIG_TABLE, LIST, ROCMINFO, VULKAN, CLINFO)


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """Draw a real text with pieces cut, doubled or replaced by anything."""
    text = draw(st.sampled_from(TEXTS))
    for _ in range(draw(st.integers(1, 6))):
        first, second = sorted(draw(st.tuples(*(st.integers(0, len(text)),) * 2)))
        piece = draw(
            st.sampled_from(("", text[first:second] * 2, "[N/A]", "\n", ":", "\0")) | st.text(max_size=9)
        )
        text = text[:first] + piece + text[second:]
    return text


@given(text=mutated() | st.text(), table=mutated())
def test_readers_take_anything(text, table):
    """Whatever a tool prints, there are targets, of what could be read."""
    assert all(type(target) is CudaTarget for target in devices.cuda_devices(text, table, table + text))
    assert all(type(target) is RocmTarget for target in devices.rocm_devices(text, table))
    assert all(fields for fields in read_vulkan_summary(text) + read_clinfo(text))


# --- the tools themselves ---

posix = pytest.mark.skipif(sys.platform == "win32", reason="the tools here are shell scripts")


def script(folder: Path, name: str, text: str) -> None:
    """Write an executable script."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


@posix
def test_devices_of_the_tools_that_are_there(tmp_path, monkeypatch):
    """Tools are found on the path; those that are missing or fail show no devices."""
    (tmp_path / "query").write_text(QUERY)
    (tmp_path / "table").write_text("| NVIDIA-SMI 550.54  Driver Version: 550.54  CUDA Version: 12.4 |\n")
    (tmp_path / "agents").write_text(ROCMINFO)
    script(
        tmp_path,
        "nvidia-smi",
        f'case "$1" in "") /bin/cat {tmp_path}/table;; *) /bin/cat {tmp_path}/query;; esac',
    )
    script(tmp_path, "rocminfo", f"/bin/cat {tmp_path}/agents")
    script(tmp_path, "vulkaninfo", f"echo {VULKAN!r}; exit 1")
    monkeypatch.setenv("PATH", str(tmp_path))
    found = targetspec.detect_devices()
    assert [target.kind for target in found] == ["cuda", "cuda", "cuda", "rocm"]
    assert found[0].ptx_isa == "8.4"
    assert all(target.host is None for target in found)


@posix
def test_no_tools_no_devices(tmp_path, monkeypatch):
    """An empty path gives an empty tuple."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert targetspec.detect_devices() == ()


@posix
def test_a_tool_that_hangs_is_left(tmp_path, monkeypatch):
    """After its time a tool counts as missing; what it printed does not."""
    script(tmp_path, "slow", "echo text; exec /bin/sleep 60")
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert output_of(("slow",), seconds=0.2) == ""
    assert output_of(("absent-tool",), seconds=0.2) == ""
