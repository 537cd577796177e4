"""Read what vulkaninfo (its summary) and clinfo print of GPUs; processors that pose as such fall away."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

VULKANINFO = ("vulkaninfo", "--summary")
CLINFO = ("clinfo",)

_GPU = re.compile(r"GPU\d{1,3}:")
_FIELD = re.compile(r"\s*(\w{1,40})\s*=\s*(.{0,200})")
_API = re.compile(r"(\d{1,2}\.\d{1,3})(?:\.\d{1,5})?|\d{1,12} \((\d{1,2}\.\d{1,3})(?:\.\d{1,5})?\)", re.ASCII)
_TYPES = {
    "DISCRETE_GPU": "discrete",
    "INTEGRATED_GPU": "integrated",
    "VIRTUAL_GPU": "virtual",
    "OTHER": "other",
}
_OPENCL = re.compile(r"OpenCL (\d{1,2}\.\d{1,2})\b", re.ASCII)
_CLINFO_LINE = re.compile(r"  (\S(?:.{0,60}?\S)?)(?: {2,}| *\t+)(\S.{0,8000})")
_NUMBER = re.compile(r"(\d{1,18})(?: \(.*\))?", re.ASCII)

Fields = Mapping[str, object]


def read_vulkan_summary(text: str) -> tuple[Fields, ...]:
    """Return the fields of a Vulkan target for each GPU: the version of the API, the model and the sort of device."""
    return tuple(fields for block in _gpus(text) if (fields := _vulkan(block)))


def _gpus(text: str) -> Iterator[dict[str, str]]:
    block: dict[str, str] = {}
    for line in text.splitlines():
        if _GPU.fullmatch(line.strip()):
            yield block
            block = {"": line}
        elif block and (found := _FIELD.fullmatch(line)):
            block.setdefault(found[1], found[2].strip())
    yield block


def _vulkan(block: Mapping[str, str]) -> Fields:
    kind = _TYPES.get(block.get("deviceType", "").removeprefix("PHYSICAL_DEVICE_TYPE_"))
    if kind is None:
        return {}
    api = _API.fullmatch(block.get("apiVersion", ""))
    stated = {
        "api_version": (api[1] or api[2]) if api else None,
        "model": block.get("deviceName"),
        "device_type": kind,
    }
    return {name: value for name, value in stated.items() if value}


def read_clinfo(text: str) -> tuple[Fields, ...]:
    """Return the fields of an OpenCL target for each GPU that clinfo lists."""
    return tuple(fields for block in _devices(text) if (fields := _opencl(block)))


def _devices(text: str) -> Iterator[dict[str, str]]:
    block: dict[str, str] = {}
    for line in text.splitlines():
        found = _CLINFO_LINE.fullmatch(line.rstrip())
        if found and found[1] == "Device Name":
            yield block
            block = {}
        if found:
            block.setdefault(found[1], found[2].strip())
    yield block


def _opencl(block: Mapping[str, str]) -> Fields:
    if "GPU" not in block.get("Device Type", "") or "Device Name" not in block:
        return {}
    version = _OPENCL.match(block.get("Device Version", ""))
    stated: dict[str, object] = {
        "opencl_version": version[1] if version else None,
        "model": block["Device Name"],
        "extensions": frozenset(
            word for word in block.get("Device Extensions", "").split() if word.startswith("cl_")
        ),
        "max_threads_per_block": _number(block.get("Max work group size")),
        "max_shared_memory_per_block": _number(block.get("Local memory size")),
        "memory_bytes": _number(block.get("Global memory size")),
        "num_cores": _number(block.get("Max compute units")),
    }
    return {name: value for name, value in stated.items() if value}


def _number(text: str | None) -> int | None:
    found = _NUMBER.fullmatch(text or "")
    return int(found[1]) or None if found else None
