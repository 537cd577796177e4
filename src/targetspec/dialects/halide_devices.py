"""The devices among Halide's flags: each becomes a target of its kind, with the CPU as its host."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from targetspec.gpu_cuda import CudaArch
from targetspec.kinds.cuda import CudaTarget
from targetspec.kinds.hexagon import HexagonTarget
from targetspec.kinds.metal import MetalTarget
from targetspec.kinds.opencl import OpenCLTarget
from targetspec.kinds.vulkan import VulkanTarget
from targetspec.kinds.webgpu import WebGPUTarget
from targetspec.target import Target

_CAPABILITY = "cuda_capability_"
_CAPABILITIES = (30, 32, 35, 50, 61, 70, 75, 80, 86, 89, 90, 100, 120)
_CUDA: Mapping[str, str] = {f"{_CAPABILITY}{n}": f"sm_{n}" for n in _CAPABILITIES}
_VULKAN: Mapping[str, str] = {"vk_v10": "1.0", "vk_v12": "1.2", "vk_v13": "1.3"}
_SPIRV: Mapping[str, str] = {
    "vk_int8": "Int8",
    "vk_int16": "Int16",
    "vk_int64": "Int64",
    "vk_float16": "Float16",
    "vk_float64": "Float64",
}
_OPENCL: Mapping[str, str] = {
    "cl_doubles": "cl_khr_fp64",
    "cl_half": "cl_khr_fp16",
    "cl_atomics64": "cl_khr_int64_base_atomics",
}
_HEXAGON: Mapping[str, str] = {f"hvx_v{n}": f"v{n}" for n in (62, 65, 66, 68)}
_HVX = ("hvx", "hvx_128")
_HVX_BYTES = 128

# The flag that makes a device, and the flags that say something of it; for Hexagon any one makes it.
DEVICES: Mapping[str, frozenset[str]] = {
    "cuda": frozenset(_CUDA),
    "hexagon": frozenset((*_HVX, *_HEXAGON)),
    "metal": frozenset(),
    "opencl": frozenset(_OPENCL),
    "vulkan": frozenset((*_VULKAN, *_SPIRV)),
    "webgpu": frozenset(),
}
DEVICE_FLAGS = frozenset(name for name in DEVICES if name != "hexagon").union(*DEVICES.values())


def _lowest(names: Mapping[str, str], flags: frozenset[str]) -> str | None:
    """Return what the first of the flags, lowest first, says: Halide takes several for a lower bound."""
    return next((value for name, value in names.items() if name in flags), None)


def _values(names: Mapping[str, str], flags: frozenset[str]) -> frozenset[str]:
    return frozenset(value for name, value in names.items() if name in flags)


def devices_of(flags: frozenset[str], *, hexagon: bool) -> Iterator[Target]:
    """Give the devices that flags name, in the order of their names; `hexagon` where the architecture is one."""
    if "cuda" in flags:
        arch = _lowest(_CUDA, flags)
        yield CudaTarget(arch=None if arch is None else CudaArch.parse(arch))
    if hexagon or flags & DEVICES["hexagon"]:
        yield HexagonTarget(
            version=_lowest(_HEXAGON, flags), hvx_bytes=_HVX_BYTES if flags & {*_HVX} else None
        )
    if "metal" in flags:
        yield MetalTarget()
    if "opencl" in flags:
        yield OpenCLTarget(extensions=_values(_OPENCL, flags))
    if "vulkan" in flags:
        yield VulkanTarget(api_version=_lowest(_VULKAN, flags), capabilities=_values(_SPIRV, flags))
    if "webgpu" in flags:
        yield WebGPUTarget()


def idle_flags(flags: Iterable[str], *, hexagon: bool) -> frozenset[str]:
    """Return the flags that say something of a device which no flag names, and so nothing."""
    named = frozenset(flags)
    made = {
        name
        for name in DEVICES
        if name in named or (name == "hexagon" and (hexagon or named & DEVICES[name]))
    }
    return frozenset().union(*(named & more for name, more in DEVICES.items() if name not in made))


def flags_of(device: Target, unfit: list[tuple[str, str]]) -> Iterator[str]:
    """Give the flags that say a device; the fields that none says go to `unfit`."""
    if device.kind not in DEVICES:
        unfit.append(("kind", f"Halide has no devices of the kind {device.kind}"))
        return
    if device.kind != "hexagon":
        yield device.kind
    said = dict(_said(device))
    for field in device.specs():
        value = getattr(device, field)
        implied = device.implied().get(field, device.defaults()[field])
        if field == "host" or value == implied:
            continue
        flags, rest = _flags_of_value(said.get(field, {}), value)
        yield from flags
        if rest:
            unfit.append((field, f"Halide has no flag for {rest} of {device.kind}"))


def _said(device: Any) -> Iterator[tuple[str, Any]]:
    """Give, for each field that has flags, its values and their flags."""
    if device.kind == "cuda":
        yield "arch", {value: (name,) for name, value in _CUDA.items()}
    elif device.kind == "opencl":
        yield "extensions", {value: (name,) for name, value in _OPENCL.items()}
    elif device.kind == "vulkan":
        yield "api_version", {value: (name,) for name, value in _VULKAN.items()}
        yield "capabilities", {value: (name,) for name, value in _SPIRV.items()}
    elif device.kind == "hexagon":
        yield "version", {value: (name,) for name, value in _HEXAGON.items()}
        yield "hvx_bytes", {str(_HVX_BYTES): _HVX}


def _flags_of_value(known: Mapping[str, tuple[str, ...]], value: Any) -> tuple[list[str], str]:
    """Return the flags for a value, or for the members of a set, and what has none."""
    parts = sorted(value) if isinstance(value, frozenset) else [str(value)]
    flags = [flag for part in parts for flag in known.get(part, ())]
    return flags, ", ".join(part for part in parts if part not in known)
