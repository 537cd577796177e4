"""Capabilities of SPIR-V: names, what they declare implicitly, and their older names."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import targetspec
from targetspec import FieldError, VulkanTarget
from targetspec.gpu_spirv import CORE, PATTERN, _table, canonical, declared

NAMES = sorted([*_table().implies, *_table().aliases])
sets = st.frozensets(st.sampled_from(NAMES), max_size=4)


def test_the_table_holds_the_core_and_only_names_of_vendors_beside() -> None:
    """The core's names are those without a tag, every known name is taken, and what is declared is known."""
    tagged = [name for name in NAMES if re.search(r"[A-Z]{2,}$", name)]
    assert set(CORE) == set(NAMES) - set(tagged)
    assert all(re.fullmatch(PATTERN, name) for name in NAMES)
    assert {canonical(name) for name in declared(NAMES)} <= _table().implies.keys()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Matrix", {"Matrix"}),
        ("Shader", {"Matrix", "Shader"}),
        ("GeometryPointSize", {"Geometry", "GeometryPointSize", "Matrix", "Shader"}),
        ("Vector16", {"Kernel", "Vector16"}),
        ("Int64Atomics", {"Int64", "Int64Atomics"}),
        ("PhysicalStorageBufferAddressesEXT", {"Matrix", "PhysicalStorageBufferAddresses", "Shader"}),
        ("RayTraversalPrimitiveCullingKHR", {"RayTraversalPrimitiveCullingKHR"}),
        ("MadeUpXYZ", {"MadeUpXYZ"}),
    ],
)
def test_what_a_capability_declares(name, expected):
    """The grammar's implicit declarations, closed; of two that either will do neither is taken for granted."""
    assert expected == declared([name])


@given(sets, sets)
def test_code_runs_where_all_that_it_declares_is_there(need, have):
    """The relation is that of the closed sets, and leaves out what follows."""
    code, device = VulkanTarget(capabilities=need), VulkanTarget(capabilities=have)
    assert (declared(need) <= declared(have)) == bool(code.compatible(device))
    assert code.compatible(VulkanTarget(capabilities=declared(need)))
    assert VulkanTarget(capabilities=declared(need)).compatible(code)


def test_an_older_name_is_the_same_capability():
    """Names of before a capability came into the core, and into another vendor's hands, are read."""
    new = VulkanTarget(capabilities={"ShaderNonUniform"})
    assert new == VulkanTarget(capabilities={"ShaderNonUniformEXT"})
    assert new == targetspec.parse("vulkan capabilities=ShaderNonUniformEXT")
    assert new == targetspec.loads('{"kind": "vulkan", "capabilities": ["ShaderNonUniformEXT"]}')


@pytest.mark.parametrize(
    ("name", "near"),
    [("Flaot16", "Float16"), ("int64", "Int64"), ("StorageBuffer16bitAccess", "StorageBuffer16")],
)
def test_unknown_names_of_the_core_are_refused_with_the_nearest(name, near):
    """A name without a vendor's tag is the core's, and misspelt."""
    with pytest.raises(FieldError, match=f"'{name}' is no capability.*did you mean.*{near}"):
        VulkanTarget(capabilities={"Shader", name})
    document = {"kind": "vulkan", "capabilities": ["Shader", name]}
    assert ["$.capabilities[1]"] == [problem.path for problem in targetspec.validate(document)]
