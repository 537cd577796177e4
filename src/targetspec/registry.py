"""The one place that resolves names late: kinds, dialects, the public names, and what a Target needs from above.

Late, because a program that only compares targets should not pay for parsers, tables and JSON. Names of
this package are found in the tables below; entry points (groups `targetspec.kinds`, `targetspec.dialects`)
are read only when some other name is asked for.
"""

from __future__ import annotations

import functools
import importlib
import sys
from typing import Any

from targetspec.errors import RegistrationError, UnknownNameError, nearest, wrong_type

KINDS = {
    "composite": "targetspec.kinds.composite:CompositeTarget",
    "cpu": "targetspec.kinds.cpu:CpuTarget",
    "cuda": "targetspec.kinds.cuda:CudaTarget",
    "hexagon": "targetspec.kinds.hexagon:HexagonTarget",
    "metal": "targetspec.kinds.metal:MetalTarget",
    "opencl": "targetspec.kinds.opencl:OpenCLTarget",
    "rocm": "targetspec.kinds.rocm:RocmTarget",
    "vulkan": "targetspec.kinds.vulkan:VulkanTarget",
    "webgpu": "targetspec.kinds.webgpu:WebGPUTarget",
}
DIALECTS = {
    "targetspec": "targetspec.dialects.native",
    "gnu": "targetspec.dialects.gnu",
    "halide": "targetspec.dialects.halide",
    "rust": "targetspec.dialects.rust",
    "llvm": "targetspec.dialects.llvm",
    "riscv": "targetspec.dialects.riscv",
    "gcc": "targetspec.dialects.gcc",
    "tvm": "targetspec.dialects.tvm",
    "zig": "targetspec.dialects.zig",
    "wheel": "targetspec.dialects.wheel",
    "go": "targetspec.dialects.go",
    "oci": "targetspec.dialects.oci",
    "amdgpu": "targetspec.dialects.amdgpu",
    "cuda": "targetspec.dialects.cuda",
}
PUBLIC = {
    "CompositeTarget": "targetspec.kinds.composite",
    "CpuTarget": "targetspec.kinds.cpu",
    "CudaTarget": "targetspec.kinds.cuda",
    "DocumentError": "targetspec.errors",
    "FeatureConflictError": "targetspec.errors",
    "FeatureRoleError": "targetspec.errors",
    "FeatureSet": "targetspec.features",
    "FieldError": "targetspec.errors",
    "FieldTypeError": "targetspec.errors",
    "HexagonTarget": "targetspec.kinds.hexagon",
    "HostConflictError": "targetspec.errors",
    "MetalTarget": "targetspec.kinds.metal",
    "NoCommonTargetError": "targetspec.errors",
    "NotRepresentableError": "targetspec.errors",
    "OpenCLTarget": "targetspec.kinds.opencl",
    "Parsed": "targetspec.parsing",
    "Problem": "targetspec.errors",
    "Reason": "targetspec.compatibility",
    "RegistrationError": "targetspec.errors",
    "RocmTarget": "targetspec.kinds.rocm",
    "Target": "targetspec.target",
    "TargetSyntaxError": "targetspec.errors",
    "TargetspecError": "targetspec.errors",
    "Triple": "targetspec.triple",
    "UnknownNameError": "targetspec.errors",
    "Verdict": "targetspec.compatibility",
    "VulkanTarget": "targetspec.kinds.vulkan",
    "WebGPUTarget": "targetspec.kinds.webgpu",
    "best_match": "targetspec.matching",
    "common": "targetspec.meets",
    "detect_devices": "targetspec.host.devices",
    "detect_host": "targetspec.host.detected",
    "diff": "targetspec.target",
    "dumps": "targetspec.target",
    "from_dict": "targetspec.codec",
    "json_schema": "targetspec.schemas",
    "loads": "targetspec.codec",
    "normalize_triple": "targetspec.triple",
    "parse": "targetspec.parsing",
    "parse_full": "targetspec.parsing",
    "tag": "targetspec.tags",
    "validate": "targetspec.codec",
    "validate_text": "targetspec.text_faults",
}
_GROUPS = {"kind": "targetspec.kinds", "dialect": "targetspec.dialects"}
_resolved: dict[tuple[str, str], Any] = {}


def public(name: str) -> Any:
    """Return what a public name of `targetspec` stands for; raise AttributeError."""
    module = PUBLIC.get(name)
    if module is None:
        raise AttributeError(f"module 'targetspec' has no attribute {name!r}")
    return getattr(importlib.import_module(module), name)


def kind(name: str) -> Any:
    """Return the class of a kind; raise UnknownNameError, or RegistrationError for a bad extension."""
    return _find("kind", name, KINDS)


def dialect(name: str) -> Any:
    """Return the module, or object, with `parse` and `format` of a dialect; raise UnknownNameError."""
    return _find("dialect", name, DIALECTS)


def kind_names() -> tuple[str, ...]:
    """Return the names of all installed kinds, sorted."""
    return tuple(sorted({*KINDS, *_entry_points("kind")}))


def dialect_names() -> tuple[str, ...]:
    """Return the names of all installed dialects, sorted."""
    return tuple(sorted({*DIALECTS, *_entry_points("dialect")}))


def layer_above(module: str) -> Any:
    """Return a module of a layer above the caller's, for the methods of Target that need one."""
    return importlib.import_module(f"targetspec.{module}")


def _find(what: str, name: str, ours: dict[str, str]) -> Any:
    if type(name) is not str:
        raise wrong_type(f"targetspec.{what}", "the name", name, f"that of a {what}, a str")
    found = _resolved.get((what, name))
    if found is None:
        found = _load(ours[name]) if name in ours else _load_foreign(what, name, ours)
        _resolved[what, name] = found
    return found


def _load(place: str) -> Any:
    module, _, attribute = place.partition(":")
    loaded = importlib.import_module(module)
    return getattr(loaded, attribute) if attribute else loaded


def _load_foreign(what: str, name: str, ours: dict[str, str]) -> Any:
    points = _entry_points(what)
    if name not in points:
        raise UnknownNameError(what, name, nearest(name, [*ours, *points]) or tuple(sorted([*ours, *points])))
    try:
        found = points[name].load()
    except Exception as error:
        # Whatever the other package raises when it is imported.
        fault = f"{type(error).__name__}: {error}"
        raise RegistrationError(name, f"{points[name].value} cannot be loaded: {fault}") from error
    fault = _fault_of_kind(found, name) if what == "kind" else _fault_of_dialect(found)
    if fault:
        raise RegistrationError(name, f"the entry point gives {found!r}, {fault}"[:500])
    return found


def _fault_of_kind(found: Any, name: str) -> str:
    """Return why what a package offers is no kind; empty where it is one."""
    target = public("Target")
    if not (isinstance(found, type) and issubclass(found, target)):
        return "which is no class of targets"
    return "" if getattr(found, "kind", None) == name else f"whose kind is not {name!r}"


def _fault_of_dialect(found: Any) -> str:
    missing = [name for name in ("parse", "format") if not callable(getattr(found, name, None))]
    return f"which has no {' and no '.join(missing)}" if missing else ""


def _entry_points(what: str) -> dict[str, Any]:
    return _entry_points_on(what, tuple(sys.path))


@functools.lru_cache(maxsize=4)
def _entry_points_on(what: str, path: tuple[str, ...]) -> dict[str, Any]:  # noqa: ARG001 - where they are looked for
    # importlib.metadata costs 50 ms to import: most programs never ask for a name that is not ours.
    metadata = importlib.import_module("importlib.metadata")
    found: dict[str, Any] = {}
    for point in metadata.entry_points(group=_GROUPS[what]):
        if point.name in (KINDS if what == "kind" else DIALECTS):
            raise RegistrationError(
                point.name, f"{point.value} claims the name of a {what} of targetspec itself"
            )
        if point.name in found and found[point.name].value != point.value:
            raise RegistrationError(point.name, f"claimed by {found[point.name].value} and by {point.value}")
        found[point.name] = point
    return found
