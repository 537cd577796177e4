"""Strategies for any kind, made from the declarations of its fields, with real values where a pattern says little."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from targetspec import registry
from targetspec.fields import Count, Flag, NameSet, Shape
from targetspec.gpu_cuda import arch_names
from targetspec.kinds.composite import NoNames
from targetspec.target import HostShape, MembersShape, Target
from targetspec.testing import cases
from targetspec.testing.cpu import cpu_targets
from targetspec.testing.shapes import made, shape_values, stated

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


def kind_targets(kind: str, *, hosts: bool = True, other_tables: bool = False) -> st.SearchStrategy[Target]:
    """Return targets of an installed kind: tricky ones, and any fields, with a host now and then where `hosts`.

    With `other_tables` some hold features that another version of the tables closed: pickle and JSON keep
    these, and a text does not.
    """
    pool = cases.tricky_targets(kind, other_tables=other_tables)
    if not hosts:
        pool = tuple(target.without_host() for target in pool)
    if kind == "cpu":
        return cpu_targets(hosts=hosts, other_tables=other_tables)
    drawn = _drawn_targets(kind, hosts=hosts, other_tables=other_tables)
    # One in four: the pool is there to be met, not to be all there is.
    return st.one_of(drawn, drawn, drawn, st.sampled_from(pool)) if pool else drawn


@st.composite
def _drawn_targets(draw: st.DrawFn, kind: str, *, hosts: bool, other_tables: bool) -> Target:
    cls: type[Target] = registry.kind(kind)
    fields: dict[str, Any] = {}
    for name, one in cls.specs().items():
        values = _values(kind, name, one.shape, other_tables=other_tables)
        if name == "host":
            values = values if hosts else st.none()
        fields[name] = draw(values if name in cls.required else st.none() | values)
    return made(cls, {name: value for name, value in fields.items() if value is not None})


def host_targets(*, other_tables: bool = False) -> st.SearchStrategy[Target]:
    """Return targets that can be a host, none of which has one: processors of any system, now and then a DSP."""
    pool = st.sampled_from(cases.tricky_hosts(other_tables=other_tables))
    return st.one_of(cpu_targets(hosts=False), cpu_targets(hosts=False), pool)


def _values(kind: str, name: str, shape: Shape, *, other_tables: bool) -> st.SearchStrategy[Any]:
    match shape:
        case HostShape():
            return host_targets(other_tables=other_tables)
        case MembersShape():
            return st.lists(_members(kind, other_tables=other_tables), min_size=1, max_size=3)
        case NoNames():
            return st.none()
        case NameSet():
            return _names(kind, name, shape)
    return st.sampled_from(_POOLS[kind, name]) if (kind, name) in _POOLS else shape_values(shape)


def _names(kind: str, name: str, shape: NameSet) -> st.SearchStrategy[frozenset[str]]:
    pool = _LIBRARIES if name == "libs" else _POOLS.get((kind, name))
    return st.frozensets(st.sampled_from(pool), max_size=2) if pool else shape_values(shape)


def _members(composite: str, *, other_tables: bool) -> st.SearchStrategy[Target]:
    kinds = sorted(set(registry.KINDS) - {composite, "cpu"})
    devices = st.sampled_from(kinds).flatmap(lambda kind: kind_targets(kind, hosts=False))
    return cpu_targets(hosts=False, other_tables=other_tables) | devices


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
