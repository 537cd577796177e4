"""The kind `vulkan`: a device under Vulkan, or SPIR-V for one."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs

from targetspec.fields import Version, spec, version_key
from targetspec.kinds.device import DeviceTarget, chosen, device, limit, model, names, warp_size
from targetspec.rules import floor, subset

_VULKAN = "Vulkan specification, versions and required limits"
_SPIRV = "Vulkan specification, appendix on the SPIR-V environment"
_DEVICE_TYPES = ("discrete", "integrated", "virtual", "cpu", "other")
_OPERATIONS = (
    r"(?:basic|vote|arithmetic|ballot|shuffle|shuffle-relative|clustered|quad|rotate|rotate-clustered)"
)
# The SPIR-V that each version of Vulkan takes, newest first.
_BROUGHT = (((1, 3), "1.6"), ((1, 2), "1.5"), ((1, 1), "1.3"), ((1,), "1.0"))


def _promised_spirv(target: Any) -> tuple[int, ...] | None:
    """Return the newer of the SPIR-V that is stated and the one that the version of Vulkan takes."""
    api = version_key(target.api_version)
    brought = next((spirv for first, spirv in _BROUGHT if api is not None and api >= first), None)
    found = (version_key(target.spirv_version), version_key(brought))
    return max(filter(None, found), default=None)


@attrs.frozen(eq=False, repr=False, kw_only=True)
class VulkanTarget(DeviceTarget):
    """A device under Vulkan, or SPIR-V for one.

    `capabilities` are SPIR-V's (`Float16`, `StorageBuffer16BitAccess`), `extensions` Vulkan's and SPIR-V's.

    Raises FieldError, FieldTypeError.

    >>> VulkanTarget(spirv_version="1.5").compatible(VulkanTarget(api_version="1.2")).answer
    'yes'
    """

    kind: ClassVar[str] = "vulkan"

    api_version: str | None = attrs.field(
        default=None,
        metadata=spec(
            Version(),
            "the version of Vulkan",
            code=(
                floor(
                    "api_version",
                    _VULKAN,
                    demand=lambda target: version_key(target.api_version),
                    promise=lambda target: version_key(target.api_version),
                ),
            ),
        ),
    )
    spirv_version: str | None = attrs.field(
        default=None,
        metadata=spec(
            Version(),
            "the version of SPIR-V",
            code=(
                floor(
                    "spirv_version",
                    _SPIRV,
                    demand=lambda target: version_key(target.spirv_version),
                    promise=_promised_spirv,
                ),
            ),
        ),
    )
    capabilities: frozenset[str] = names(
        "capability", "capabilities of SPIR-V, such as Float16", (subset("capabilities", _SPIRV),)
    )
    extensions: frozenset[str] = names(
        "extension", "extensions of Vulkan and SPIR-V", (subset("extensions", _VULKAN),)
    )
    subgroup_operations: frozenset[str] = names(
        "subgroup operation",
        "what the threads of a subgroup can do together",
        (subset("subgroup_operations", _VULKAN),),
        _OPERATIONS,
    )
    device: str | None = device()
    model: str | None = model()
    device_type: str | None = chosen(_DEVICE_TYPES, "what sort of device it is")
    max_threads_per_block: int | None = limit("max_threads_per_block")
    max_num_threads: int | None = limit("max_num_threads")
    max_block_size_x: int | None = limit("max_block_size_x")
    max_block_size_y: int | None = limit("max_block_size_y")
    max_block_size_z: int | None = limit("max_block_size_z")
    max_shared_memory_per_block: int | None = limit("max_shared_memory_per_block")
    warp_size: int | None = warp_size()
    max_push_constants_bytes: int | None = limit("max_push_constants_bytes")
    max_uniform_buffer_bytes: int | None = limit("max_uniform_buffer_bytes")
    max_storage_buffer_bytes: int | None = limit("max_storage_buffer_bytes")
    max_storage_buffers: int | None = limit("max_storage_buffers")
    memory_bytes: int | None = limit("memory_bytes")
    num_cores: int | None = limit("num_cores")
