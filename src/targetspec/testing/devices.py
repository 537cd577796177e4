"""Strategies for any kind, made from the declarations of its fields, with real values where a pattern says little."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from targetspec import registry
from targetspec.errors import FieldError
from targetspec.fields import Choice, Count, Flag, NameSet, Shape, Text, Version
from targetspec.gpu_cuda import arch_names
from targetspec.kinds.composite import NoNames
from targetspec.target import HostShape, MembersShape, Target
from targetspec.testing.cpu import cpu_targets

# Few values of each, so that two draws often meet.
_POOLS: dict[tuple[str, str], tuple[Any, ...]] = {
    ("cuda", "arch"): (*arch_names(), "compute_90a", "9.0+PTX", "80-real", "lto_90", (10, 0)),
    ("cuda", "ptx_isa"): ("7.8", "8.8", "9.5"),
    ("rocm", "target_id"): (
        *("gfx90a", "gfx90a:xnack+", "gfx90a:xnack-", "gfx90a:xnack-:sramecc+", "gfx942", "gfx9-4-generic"),
        *("gfx9-4-generic:xnack+", "gfx9-generic", "gfx906:sramecc-", "fiji", "gfx803", "gfx10-1-generic"),
        *("gfx1010:xnack+", "gfx10-3-generic", "gfx1030", "gfx1031", "gfx11-generic", "gfx1151", "gfx1250"),
    ),
    ("rocm", "warp_size"): (32, 64),
    ("metal", "gpu_family"): ("apple4", "apple7", "apple9", "mac2", "metal3"),
    ("metal", "language_version"): ("2.4", "3.0", "3.1", "3.2"),
    ("metal", "deployment_target"): ("10.16", "11", "12.3", "13", "14.2", "17"),
    ("metal", "os"): ("macos", "macos", "ios", "ios-simulator"),
    ("vulkan", "api_version"): ("1.0", "1.1", "1.2.198", "1.3", "1.4"),
    ("vulkan", "spirv_version"): ("1.0", "1.3", "1.5", "1.6"),
    ("vulkan", "capabilities"): ("Float16", "Int8", "Int64", "StorageBuffer16BitAccess"),
    ("vulkan", "extensions"): ("VK_KHR_16bit_storage", "SPV_KHR_16bit_storage"),
    ("vulkan", "subgroup_operations"): ("basic", "ballot", "shuffle-relative"),
    ("opencl", "opencl_version"): ("1.2", "2.0", "3.0"),
    ("opencl", "extensions"): ("cl_khr_fp16", "__opencl_c_subgroups"),
    ("webgpu", "extensions"): ("shader-f16", "subgroups", "timestamp-query"),
    ("hexagon", "version"): ("v60", "v65", "v67", "v67t", "v68", "hexagonv73"),
    ("hexagon", "hvx_bytes"): (64, 128),
    ("hexagon", "extensions"): ("hvx-qfloat", "hvx-ieee-fp"),
}
_LIBRARIES = ("cudnn", "miopen", "clml")
_FREE = (Count, Flag)


def shape_values(shape: Shape) -> st.SearchStrategy[Any]:
    """Return values that a shape accepts; None for a shape of another package that is none of ours."""
    match shape:
        case Count():
            found: st.SearchStrategy[Any] = st.integers(shape.minimum, min(shape.maximum, 1 << 20))
        case Flag():
            found = st.booleans()
        case Choice():
            found = st.sampled_from(shape.words)
        case NameSet():
            found = st.frozensets(st.from_regex(shape.pattern, fullmatch=True), max_size=3)
        case Version():
            found = st.sampled_from(("1.0", "1.2", "2.17", "3.0"))
        case Text():
            found = st.from_regex(shape.pattern, fullmatch=True)
        case _:
            found = st.none()
    return found


@st.composite
def kind_targets(draw: st.DrawFn, kind: str, *, hosts: bool = True) -> Target:
    """Return targets of an installed kind, each field stated now and then, with a host where `hosts`."""
    cls: type[Target] = registry.kind(kind)
    fields = {name: draw(_field(kind, name, one.shape, hosts=hosts)) for name, one in cls.specs().items()}
    return made(cls, {name: value for name, value in fields.items() if value is not None})


def _field(kind: str, name: str, shape: Shape, *, hosts: bool) -> st.SearchStrategy[Any]:
    match shape:
        case HostShape():
            return st.none() | cpu_targets(hosts=False) if hosts else st.none()
        case MembersShape():
            return st.lists(_members(kind), min_size=1, max_size=3)
        case NoNames():
            return st.none()
        case NameSet():
            return _names(kind, name, shape)
    pool = st.sampled_from(_POOLS[kind, name]) if (kind, name) in _POOLS else shape_values(shape)
    return st.none() | pool


def _names(kind: str, name: str, shape: NameSet) -> st.SearchStrategy[frozenset[str]]:
    pool = _LIBRARIES if name == "libs" else _POOLS.get((kind, name))
    return st.frozensets(st.sampled_from(pool), max_size=2) if pool else shape_values(shape)


def _members(composite: str) -> st.SearchStrategy[Target]:
    kinds = sorted(set(registry.KINDS) - {composite, "cpu"})
    devices = st.sampled_from(kinds).flatmap(lambda kind: kind_targets(kind, hosts=False))
    return cpu_targets(hosts=False) | devices


def made(cls: type[Target], fields: dict[str, Any]) -> Target:
    """Return the target of some fields, without those that do not go with the others."""
    while True:
        try:
            return cls(**fields)
        except FieldError as error:
            if error.field not in fields:
                raise
            fields = {name: value for name, value in fields.items() if name != error.field}


@st.composite
def compatible_device_pairs(draw: st.DrawFn, kind: str) -> tuple[Target, Target]:
    """Return pairs of one kind of which code for the first runs on the second."""
    first = draw(kind_targets(kind, hosts=False))
    changes: dict[str, Any] = {}
    if not first.is_composite:
        changes["libs"] = first.libs | draw(st.frozensets(st.just("extra")))
    for name, one in first.specs().items():
        if isinstance(one.shape, _FREE) and not one.rules["code"]:
            changes[name] = draw(st.none() | shape_values(one.shape))
    second = made(type(first), {**stated(first), **changes})
    other = draw(kind_targets(kind, hosts=False))
    return (first, other) if first.compatible(other) else (first, second)


def stated(target: Target) -> dict[str, Any]:
    """Return the fields of a target that are not implied by others."""
    implied = target.implied()
    values = {name: getattr(target, name) for name in target.specs()}
    return {name: value for name, value in values.items() if value is not None and value != implied.get(name)}
