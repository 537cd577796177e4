"""No fact of a machine is missing here: every attribute of TVM's has a field or a reason, in every version of it."""

from __future__ import annotations

import pytest

from targetspec import registry
from targetspec.dialects import tvm_names

# What each kind of TVM takes, and has taken, by its registrations from version 0.7 to 0.27.
_RUNTIME = {"system-lib", "runtime", "link-params", "unpacked-api", "interface-api"}
_MATH = {
    "fast-math",
    *(f"fast-math-{name}" for name in ["nnan", "ninf", "nsz", "arcp", "contract", "reassoc"]),
}
_THREADS = {"max_num_threads", "thread_warp_size"}
_BLOCK = {*_THREADS, "max_threads_per_block", "max_shared_memory_per_block"}
_SUPPORTS = {
    *("supports_float16", "supports_float32", "supports_float64", "supports_int8", "supports_int16"),
    *("supports_int32", "supports_int64", "supports_8bit_buffer", "supports_16bit_buffer"),
    *("supports_storage_buffer_storage_class", "supports_push_descriptor", "supports_dedicated_allocation"),
    *("supports_integer_dot_product", "supports_cooperative_matrix", "supported_subgroup_operations"),
}
_EVERYWHERE = {"kind", "tag", "keys", "device", "model", "libs", "host", "from_device", "target_device_type"}
TAKEN = {
    "llvm": {
        *("mattr", "mcpu", "mtriple", "mfloat-abi", "mabi", "num-cores", "opt-level", "cl-opt", "jit"),
        *("vector-width", *_RUNTIME, *_MATH),
    },
    "c": {
        *("mcpu", "march", "executor", "workspace-byte-alignment", "constants-byte-alignment"),
        *_RUNTIME,
    },
    "cuda": {
        *("mcpu", "arch", "registers_per_block", "l2_cache_size_bytes", "shared_memory_per_block"),
        *("system-lib", *_BLOCK),
    },
    "nvptx": {"mcpu", "mtriple", "system-lib", *_THREADS},
    "rocm": {"mcpu", "mtriple", "mattr", "system-lib", *_BLOCK},
    "opencl": {
        *(
            "texture_spatial_limit",
            "texture_depth_limit",
            "max_function_args",
            "image_base_address_alignment",
        ),
        *("system-lib", *_BLOCK),
    },
    "metal": {"max_function_args", "system-lib", *_BLOCK},
    "vulkan": {
        *("mattr", "max_block_size_x", "max_block_size_y", "max_block_size_z", "max_push_constants_size"),
        *("max_uniform_buffer_range", "max_storage_buffer_range", "max_per_stage_descriptor_storage_buffer"),
        *("device_type", "device_name", "driver_name", "driver_version", "vulkan_api_version"),
        *("max_spirv_version", "system-lib", *_BLOCK, *_SUPPORTS),
    },
    "webgpu": {
        *("max_num_threads", "supports_subgroups", "thread_warp_size", "max_shared_memory_per_block"),
        "system-lib",
    },
    "hexagon": {
        *("mattr", "mcpu", "mtriple", "llvm-options", "num-cores", "vtcm-capacity", "system-lib"),
        "link-params",
    },
    "composite": {"devices", "target_host"},
}
NO_TARGET = {
    *("aocl", "aocl_sw_emu", "ccompiler", "clml", "cmsis-nn", "cublas", "cudnn", "cutlass", "ethos-u"),
    *("example_target_hook", "ext_dev", "hybrid", "mrvl", "opengl", "sdaccel", "stackvm", "tensorrt", "test"),
    "trn",
}
_ATTRIBUTES = [(kind, name) for kind in sorted(TAKEN) for name in sorted(TAKEN[kind] | _EVERYWHERE)]


def test_every_kind_of_tvm_is_ours_or_has_a_reason() -> None:
    """All of TVM's kinds are known, each in one of two lists; ours exist, and refusals say why."""
    assert set() == set(TAKEN) ^ set(tvm_names.KINDS)
    assert set() == NO_TARGET - set(tvm_names.REFUSED_KINDS)
    assert set() == set(tvm_names.KINDS) & set(tvm_names.REFUSED_KINDS)
    assert set() == set(tvm_names.KINDS.values()) - set(registry.KINDS)
    assert all(tvm_names.REFUSED_KINDS.values())


@pytest.mark.parametrize(("kind", "name"), _ATTRIBUTES)
def test_every_attribute_has_a_field_or_a_reason(kind: str, name: str) -> None:
    """An attribute is a field of our kind, or its entry says why it is none."""
    if name == "kind":
        return
    one = tvm_names.attributes(kind)[tvm_names.RENAMED.get(name, name)]
    if one.reads in ("option", "said"):
        assert ("", True) == (one.field, bool(one.reason))
    else:
        assert one.field in registry.kind(tvm_names.KINDS[kind]).specs()


@pytest.mark.parametrize("kind", sorted(tvm_names.KINDS))
def test_the_table_has_no_stray_entries(kind: str) -> None:
    """The table has what TVM registers for a kind, by present names, and nothing else."""
    present = {tvm_names.RENAMED.get(name, name) for name in TAKEN[kind] | _EVERYWHERE} - {"kind"}
    assert present == set(tvm_names.attributes(kind))
    assert set() == set(tvm_names.RENAMED) & present


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (kind, name)
        for kind in sorted(tvm_names.KINDS)
        for name, one in sorted(tvm_names.attributes(kind).items())
        if one.reads in ("flag", "mask")
    ],
)
def test_names_that_flags_stand_for_are_values_of_their_field(kind: str, name: str) -> None:
    """A field takes the names that a flag, or a bit of a mask, puts into it, and distinct flags add distinct names."""
    one = tvm_names.attributes(kind)[name]
    added = {added for added in one.adds if added}
    assert added
    made = registry.kind(tvm_names.KINDS[kind])(**{one.field: added})
    assert added == getattr(made, one.field)
    others = (other for key, other in tvm_names.attributes(kind).items() if key != name)
    assert not any(added & set(other.adds) for other in others if other.field == one.field)
