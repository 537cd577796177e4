"""The kind `vulkan`: a device under Vulkan, or SPIR-V for one."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs

from targetspec.fields import Count, NameSet, Refused, Version, spec
from targetspec.gpu_spirv import PATTERN, canonical, declared, nearest_capabilities
from targetspec.kinds.device import (
    GridTarget,
    PlainName,
    chosen,
    device,
    limit,
    model,
    names,
    warp_size,
)
from targetspec.rules import Answer, Rule, at_most, lifting, show, subset, version_key, worst
from targetspec.target import frozen_names

_VULKAN = "Vulkan specification, versions and required limits"
_SPIRV = "Vulkan specification, appendix on the SPIR-V environment"
# Any vendor may add one: the prefix, the vendor's tag, the name.
_EXTENSION = r"(?:VK|SPV)_[A-Z][A-Z0-9]*_[A-Za-z0-9_]+"
_DEVICE_TYPES = ("discrete", "integrated", "virtual", "cpu", "other")
_OPERATIONS = (
    r"(?:basic|vote|arithmetic|ballot|shuffle|shuffle-relative|clustered|quad|rotate|rotate-clustered)"
)
Versions = tuple[tuple[int, ...] | None, tuple[int, ...] | None]
# The SPIR-V that each version of Vulkan takes, newest first.
_BROUGHT = (("1.3", "1.6"), ("1.2", "1.5"), ("1.1", "1.3"), ("1.0", "1.0"))

_BROUGHT_BY_EXTENSIONS = {"VK_KHR_spirv_1_4": "1.4"}


def _demanded(target: Any) -> Versions:
    return version_key(target.api_version), version_key(target.spirv_version)


def _promised(target: Any) -> Versions:
    """Return the version of Vulkan, and the newest SPIR-V that is stated, that it takes, or that extensions bring."""
    api, stated = _demanded(target)
    known = ((version_key(first), version_key(spirv)) for first, spirv in _BROUGHT)
    brought = next((spirv for first, spirv in known if at_most(first, api) == "yes"), None)
    added = (
        version_key(spirv) for name, spirv in _BROUGHT_BY_EXTENSIONS.items() if name in target.extensions
    )
    return api, max(filter(None, (stated, brought, *added)), default=None)


def _serve(need: Versions, have: Versions) -> Answer:
    return worst(map(at_most, need, have))


def _say(need: Versions, have: Versions) -> tuple[str, str]:
    return _written(need), _written(have)


def _written(versions: Versions) -> str:
    named = zip(("Vulkan", "SPIR-V"), versions, strict=True)
    return " with ".join(f"{name} {show(version)}" for name, version in named if version) or show(None)


def _repair(built_for: Any, run_on: Any) -> tuple[str, Any] | None:
    need = _demanded(built_for)
    tried = (
        *(("api_version", built_for.api_version), ("spirv_version", built_for.spirv_version)),
        *(("api_version", api) for api, _ in reversed(_BROUGHT)),
    )
    return lifting(run_on, tried, lambda mended: _serve(need, _promised(mended)))


_VERSIONS = Rule(
    label="api_version",
    statement="the versions of Vulkan and SPIR-V must be at least the code's; each Vulkan brings a SPIR-V",
    source=f"{_VULKAN}; {_SPIRV}",
    decide=_serve,
    demand=_demanded,
    promise=_promised,
    say=_say,
    repair=_repair,
    advice="state api_version and spirv_version of the target that runs it",
)


@attrs.frozen
class _Capabilities(NameSet):
    """Capabilities under the names that SPIR-V's grammar lists them by: the core's, and any vendor's."""

    pattern: str = PATTERN
    what: str = "capability name"

    def check(self, value: Any) -> frozenset[str]:
        """Accept older names as well."""
        return frozenset(map(canonical, super().check(value)))

    def refusal(self, refused: Refused, name: Any) -> Refused:
        """Offer names that are near."""
        if refused.wrong_type:
            return refused
        near = nearest_capabilities(name)
        hint = (
            f"did you mean {' or '.join(near)}?" if near else "names of vendors end in their tag, such as NV"
        )
        return Refused(f"{name[:80]!r} is no capability of SPIR-V", hint)


def _declared(target: Any) -> frozenset[str]:
    return declared(target.capabilities)


# The code's own list need not be closed: what it declares implicitly is there wherever the list is.
_CAPABILITIES = attrs.evolve(subset("capabilities", _SPIRV), promise=_declared)


@attrs.frozen(eq=False, repr=False, kw_only=True)
class VulkanTarget(GridTarget):
    """A device under Vulkan, or SPIR-V for one.

    `capabilities` are SPIR-V's (`Float16`, `StorageBuffer16BitAccess`), `extensions` Vulkan's and SPIR-V's.

    Raises FieldError, FieldTypeError.

    >>> VulkanTarget(spirv_version="1.5").compatible(VulkanTarget(api_version="1.2")).answer
    'yes'
    """

    kind: ClassVar[str] = "vulkan"
    about: ClassVar[str] = "A device under Vulkan, or SPIR-V for one."

    api_version: str | None = attrs.field(
        default=None, metadata=spec(Version(), "the version of Vulkan", code=(_VERSIONS,))
    )
    spirv_version: str | None = attrs.field(
        default=None, metadata=spec(Version(), "the version of SPIR-V", code=(_VERSIONS,))
    )
    capabilities: frozenset[str] = attrs.field(
        default=frozenset(),
        converter=frozen_names,
        metadata=spec(_Capabilities(), "capabilities of SPIR-V, such as Float16", code=(_CAPABILITIES,)),
    )
    extensions: frozenset[str] = names(
        "extension", "extensions of Vulkan and SPIR-V", (subset("extensions", _VULKAN),), _EXTENSION
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
    driver_name: str | None = attrs.field(default=None, metadata=spec(PlainName(), "the name of the driver"))
    driver_version: int | None = attrs.field(
        default=None,
        metadata=spec(Count(0, 2**32 - 1), "the driver's version, packed into a number as its maker does"),
    )
    warp_size: int | None = warp_size()
    max_push_constants_bytes: int | None = limit("max_push_constants_bytes")
    max_uniform_buffer_bytes: int | None = limit("max_uniform_buffer_bytes")
    max_storage_buffer_bytes: int | None = limit("max_storage_buffer_bytes")
    max_storage_buffers: int | None = limit("max_storage_buffers")
    memory_bytes: int | None = limit("memory_bytes")
    num_cores: int | None = limit("num_cores")
