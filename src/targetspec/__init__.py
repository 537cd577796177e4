"""What a compiler compiles for: exact, immutable targets, a compatibility relation, dialects, and JSON.

Every public name is loaded when it is first used, so that the import stays cheap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from targetspec import registry

if TYPE_CHECKING:
    from targetspec.codec import from_dict, loads, validate
    from targetspec.compatibility import Reason, Verdict
    from targetspec.errors import (
        DocumentError,
        FeatureConflictError,
        FeatureRoleError,
        FieldError,
        FieldTypeError,
        HostConflictError,
        NoCommonTargetError,
        NotRepresentableError,
        Problem,
        RegistrationError,
        TargetspecError,
        TargetSyntaxError,
        UnknownNameError,
    )
    from targetspec.features import FeatureSet
    from targetspec.host.detected import detect_host
    from targetspec.host.devices import detect_devices
    from targetspec.kinds.composite import CompositeTarget
    from targetspec.kinds.cpu import CpuTarget
    from targetspec.kinds.cuda import CudaTarget
    from targetspec.kinds.hexagon import HexagonTarget
    from targetspec.kinds.metal import MetalTarget
    from targetspec.kinds.opencl import OpenCLTarget
    from targetspec.kinds.rocm import RocmTarget
    from targetspec.kinds.vulkan import VulkanTarget
    from targetspec.kinds.webgpu import WebGPUTarget
    from targetspec.matching import best_match
    from targetspec.meets import common
    from targetspec.parsing import Parsed, parse, parse_full
    from targetspec.schemas import json_schema
    from targetspec.tags import tag
    from targetspec.target import Target, diff, dumps
    from targetspec.text_faults import validate_text
    from targetspec.triple import Triple, normalize_triple

__version__ = "0.1.0"

__all__ = [
    "CompositeTarget",
    "CpuTarget",
    "CudaTarget",
    "DocumentError",
    "FeatureConflictError",
    "FeatureRoleError",
    "FeatureSet",
    "FieldError",
    "FieldTypeError",
    "HexagonTarget",
    "HostConflictError",
    "MetalTarget",
    "NoCommonTargetError",
    "NotRepresentableError",
    "OpenCLTarget",
    "Parsed",
    "Problem",
    "Reason",
    "RegistrationError",
    "RocmTarget",
    "Target",
    "TargetSyntaxError",
    "TargetspecError",
    "Triple",
    "UnknownNameError",
    "Verdict",
    "VulkanTarget",
    "WebGPUTarget",
    "best_match",
    "common",
    "detect_devices",
    "detect_host",
    "diff",
    "dumps",
    "from_dict",
    "json_schema",
    "loads",
    "normalize_triple",
    "parse",
    "parse_full",
    "tag",
    "validate",
    "validate_text",
]


def __getattr__(name: str) -> Any:
    value = registry.public(name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
