"""The devices of this machine as targets, from what their makers' tools print."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from targetspec.errors import TargetspecError
from targetspec.gpu_cuda import arch_names
from targetspec.host.graphics_tools import CLINFO, VULKANINFO, read_clinfo, read_vulkan_summary
from targetspec.host.nvidia_smi import (
    LIST,
    OLD_QUERY,
    QUERY,
    TABLE,
    NvidiaGpu,
    read_gpus,
    read_ptx_isa,
    read_query,
)
from targetspec.host.rocminfo import COMMAND, NAMES_ONLY, RocmAgent, read_names, read_rocminfo
from targetspec.host.tools import output_of
from targetspec.kinds.cuda import CudaTarget
from targetspec.kinds.opencl import OpenCLTarget
from targetspec.kinds.rocm import RocmTarget
from targetspec.kinds.vulkan import VulkanTarget
from targetspec.target import Target

_Kind = TypeVar("_Kind", bound=Target)
_SECONDS = 10.0
_WARP = 32


def detect_devices() -> tuple[Target, ...]:
    """Return the GPUs of this machine, as nvidia-smi, rocminfo, vulkaninfo and clinfo show them.

    CUDA devices come first, in the order of nvidia-smi, then those of ROCm, Vulkan and OpenCL: one GPU can be there
    under several. A GPU that MIG has split is its instances. A tool that is missing or fails shows none; what a tool
    does not say is not stated. The targets have no host.
    """
    return tuple(_devices())


def _devices() -> Iterator[Target]:
    yield from _nvidia()
    yield from rocm_devices(*(output_of(command, seconds=_SECONDS) for command in (COMMAND, *NAMES_ONLY)))
    for fields in read_vulkan_summary(output_of(VULKANINFO, seconds=_SECONDS)):
        yield _made(VulkanTarget, fields)
    for fields in read_clinfo(output_of(CLINFO, seconds=_SECONDS)):
        yield _made(OpenCLTarget, fields)


def _nvidia() -> tuple[CudaTarget, ...]:
    table = output_of(TABLE, seconds=_SECONDS)
    if not table:
        return ()
    query = output_of(QUERY, seconds=_SECONDS)
    if not read_query(query):
        query = output_of(OLD_QUERY, seconds=_SECONDS)
    return cuda_devices(query, table, output_of(LIST, seconds=_SECONDS))


def cuda_devices(query: str, table: str = "", listing: str = "") -> tuple[CudaTarget, ...]:
    r"""Return the CUDA devices of nvidia-smi's answers: the query's, the table it prints by itself, and its list (-L).

    >>> str(cuda_devices("name, compute_cap\nNVIDIA H100 PCIe, 9.0")[0].arch)
    'sm_90a'
    """
    isa = read_ptx_isa(table)
    return tuple(_made(CudaTarget, _cuda_fields(gpu, isa)) for gpu in read_gpus(query, table, listing))


def _cuda_fields(gpu: NvidiaGpu, isa: str | None) -> Mapping[str, Any]:
    return {
        "arch": most_specific(gpu.capability) if gpu.capability else None,
        "model": gpu.name,
        "memory_bytes": gpu.memory_bytes,
        "num_cores": gpu.num_cores,
        "warp_size": _WARP,  # of every CUDA device so far
        "ptx_isa": isa,
    }


def most_specific(capability: tuple[int, int]) -> str | None:
    """Return the architecture that describes a device of a capability best, None where the tables have none.

    >>> most_specific((9, 0)), most_specific((8, 6)), most_specific((99, 0))
    ('sm_90a', 'sm_86', None)
    """
    plain = f"sm_{capability[0]}{capability[1]}"
    names = [name for name in (f"{plain}a", f"{plain}f", plain) if name in arch_names()]
    return names[0] if names else None


def rocm_devices(rocminfo: str, *names: str) -> tuple[RocmTarget, ...]:
    """Return the ROCm devices of rocminfo's text; where it shows none, of the first list of names that has any."""
    agents = read_rocminfo(rocminfo) or next(filter(None, map(read_names, names)), ())
    return tuple(_made(RocmTarget, _rocm_fields(agent)) for agent in agents)


def _rocm_fields(agent: RocmAgent) -> Mapping[str, Any]:
    return {
        "target_id": agent.target_id,
        "os": "amdhsa",
        "model": agent.model,
        "warp_size": agent.wavefront_size,
        "max_threads_per_block": agent.max_threads_per_block,
        "max_shared_memory_per_block": agent.lds_bytes,
        "l2_cache_bytes": agent.l2_cache_bytes,
        "memory_bytes": agent.memory_bytes,
        "num_cores": agent.num_cores,
    }


def _made(kind: type[_Kind], fields: Mapping[str, Any]) -> _Kind:
    """Make a target of the fields, one by one: one that a strange device states oddly is left out."""
    target = kind()
    for name, value in fields.items():
        if value is None:
            continue
        try:
            target = target.evolve(**{name: value})
        except TargetspecError:
            continue
    return target
