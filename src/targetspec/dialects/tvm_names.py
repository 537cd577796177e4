"""TVM's names: its kinds and the attributes of each, from version 0.6 to 0.27, and what each is here.

Every attribute that a kind of TVM takes, or has taken, is in `attributes(kind)`. TVM counts in bytes, threads and
cores as we do, so that a number needs no conversion. What it derives by itself (`feature.has_sve` from the triple,
`sm_50` where no device is found) is not stated by anyone and is not here.

Source: TVM's registrations of target kinds and of target tags, and its Vulkan runtime for what the flags mean.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Literal, NamedTuple

Reads = Literal[
    "number",  # a whole number
    "text",  # a text as it stands
    "names",  # a list of names
    "changes",  # a list of signed features
    "flag",  # true puts `adds` into the set `field`; false says that they are not there
    "mask",  # a number whose bits are the names in `adds`, lowest first, in the set `field`
    "vulkan-version",  # a number: major << 22 | minor << 12 | patch
    "spirv-version",  # a number: major << 16 | minor << 8
    "target",  # a target: a dict, a kind, or the name of a tag
    "targets",  # a list of those
    "said",  # what the kind says by itself: the values in `adds`, and no other
    "option",  # no fact of a machine: a leftover
]


class Attribute(NamedTuple):
    """What an attribute of TVM is here: how its value is read, our field, the names it stands for, or a reason."""

    reads: Reads
    field: str = ""
    adds: tuple[str, ...] = ()
    reason: str = ""


KINDS: Mapping[str, str] = {
    "llvm": "cpu",
    "c": "cpu",
    "cuda": "cuda",
    "nvptx": "cuda",
    "rocm": "rocm",
    "opencl": "opencl",
    "metal": "metal",
    "vulkan": "vulkan",
    "webgpu": "webgpu",
    "hexagon": "hexagon",
    "composite": "composite",
}
"""Our kind for each of TVM's."""

_BYOC = "a code generator inside TVM, beside the kind of the device: state that kind, and the name in libs"
_FPGA = "an FPGA's toolchain: there is no kind for it"
REFUSED_KINDS: Mapping[str, str] = {
    "ethos-u": "an NPU: there is no kind for it",
    "ext_dev": "a device of somebody's own, VTA for one: there is no kind for it",
    "trn": "AWS Trainium: there is no kind for it",
    "sdaccel": _FPGA,
    "aocl": _FPGA,
    "aocl_sw_emu": _FPGA,
    "stackvm": "TVM's own interpreter, not a machine",
    "hybrid": "TVM's script printer, not a machine",
    "opengl": "removed from TVM: there is no kind for it",
    "micro_dev": "removed from TVM: state the kind c and the board's CPU",
    "cmsis-nn": _BYOC,
    "cublas": _BYOC,
    "cudnn": _BYOC,
    "cutlass": _BYOC,
    "tensorrt": _BYOC,
    "clml": _BYOC,
    "mrvl": _BYOC,
    "ccompiler": _BYOC,
    "test": "a kind of TVM's own tests",
    "example_target_hook": "a kind of TVM's own tests",
    "TestStringKind": "a kind of TVM's own tests",
}
"""Why there is no target here for a kind of TVM's."""

RENAMED: Mapping[str, str] = {
    "target": "mtriple",
    "shared_memory_per_block": "max_shared_memory_per_block",
    "target_host": "host",
}
"""Attributes by their old names: `-target` until 0.6, `shared_memory_per_block` in 0.8, a composite's `target_host` in 0.7."""


def _number(field: str) -> Attribute:
    return Attribute("number", field)


def _option(reason: str) -> Attribute:
    return Attribute("option", reason=reason)


_SCHEDULES = "names the schedules to choose from, not a machine"
_RUNTIME = "an option of TVM's runtime"
_EMIT = "an option of TVM's code generator"
_MATH = "how exact arithmetic must be: an option of the compiler"

# What every kind takes.
_EVERY: Mapping[str, Attribute] = {
    "tag": _option("the name that the rest was looked up by"),
    "keys": _option(_SCHEDULES),
    "device": _option(_SCHEDULES),
    "model": Attribute("text", "model"),
    "libs": Attribute("names", "libs"),
    "host": Attribute("target", "host"),
    "from_device": _option("asks for detection"),
    "target_device_type": _option(_RUNTIME),
}
# What kinds took until version 0.9.
_SYSTEM_LIB: Mapping[str, Attribute] = {"system-lib": _option(_RUNTIME)}
_PROGRAM: Mapping[str, Attribute] = {
    **_SYSTEM_LIB,
    "runtime": _option(_RUNTIME),
    "link-params": _option(_RUNTIME),
    "unpacked-api": _option(_RUNTIME),
    "interface-api": _option(_RUNTIME),
}
_THREADS: Mapping[str, Attribute] = {
    **_SYSTEM_LIB,
    "max_num_threads": _number("max_num_threads"),
    "thread_warp_size": _number("warp_size"),
}
_BLOCK: Mapping[str, Attribute] = {
    **_THREADS,
    "max_threads_per_block": _number("max_threads_per_block"),
    "max_shared_memory_per_block": _number("max_shared_memory_per_block"),
}
_CPU: Mapping[str, Attribute] = {
    **_PROGRAM,
    "mcpu": Attribute("text", "cpu"),
}
_LLVM: Mapping[str, Attribute] = {
    **_CPU,
    "mattr": Attribute("changes", "features"),
    "mtriple": Attribute("text", "triple"),
    "num-cores": _number("num_cores"),
    "mabi": Attribute("text", "abi"),
    "mfloat-abi": Attribute("text", "float_abi"),
    "vector-width": _number("vector_bits"),
    "opt-level": _option("how hard the compiler tries"),
    "fast-math": _option(_MATH),
    "fast-math-nnan": _option(_MATH),
    "fast-math-ninf": _option(_MATH),
    "fast-math-nsz": _option(_MATH),
    "fast-math-arcp": _option(_MATH),
    "fast-math-contract": _option(_MATH),
    "fast-math-reassoc": _option(_MATH),
    "cl-opt": _option("options of LLVM itself"),
    "jit": _option("which loader TVM uses"),
}
_C: Mapping[str, Attribute] = {
    **_CPU,
    "executor": _option(_RUNTIME),
    "march": _option("handed to the C compiler, whose names differ by compiler"),
    "workspace-byte-alignment": _option(_EMIT),
    "constants-byte-alignment": _option(_EMIT),
}
_CUDA: Mapping[str, Attribute] = {
    **_BLOCK,
    "arch": Attribute("text", "arch"),
    "mcpu": Attribute("text", "arch"),
    "registers_per_block": _number("registers_per_block"),
    "l2_cache_size_bytes": _number("l2_cache_bytes"),
}
_NVPTX: Mapping[str, Attribute] = {
    **_THREADS,
    "mcpu": Attribute("text", "arch"),
    "mtriple": Attribute("said", adds=("nvptx64-nvidia-cuda",), reason="what the kind says by itself"),
}
_ROCM: Mapping[str, Attribute] = {
    **_BLOCK,
    "mcpu": Attribute("text", "target_id"),
    "mattr": Attribute("changes", "target_id"),
    "mtriple": Attribute("text", "os"),
}
_OPENCL: Mapping[str, Attribute] = {
    **_BLOCK,
    "device": Attribute("text", "device"),
    "max_function_args": _number("max_function_args"),
    "texture_spatial_limit": _number("texture_spatial_limit"),
    "texture_depth_limit": _number("texture_depth_limit"),
    "image_base_address_alignment": _number("image_base_address_alignment"),
}
_METAL: Mapping[str, Attribute] = {**_BLOCK, "max_function_args": _number("max_function_args")}


def _capability(*names: str) -> Attribute:
    return Attribute("flag", "capabilities", names)


def _extension(*names: str) -> Attribute:
    return Attribute("flag", "extensions", names)


_ALWAYS = Attribute("said", adds=("true", "True", "1"), reason="so on every Vulkan device")
# The bits of VkSubgroupFeatureFlagBits.
_SUBGROUP_BITS = (
    *("basic", "vote", "arithmetic", "ballot", "shuffle", "shuffle-relative", "clustered", "quad"),
    *("", "rotate", "rotate-clustered"),
)
_VULKAN: Mapping[str, Attribute] = {
    **_BLOCK,
    "device": Attribute("text", "device"),
    "supports_float16": _capability("Float16"),
    "supports_float32": _ALWAYS,
    "supports_float64": _capability("Float64"),
    "supports_int8": _capability("Int8"),
    "supports_int16": _capability("Int16"),
    "supports_int32": _ALWAYS,
    "supports_int64": _capability("Int64"),
    "supports_8bit_buffer": _capability("StorageBuffer8BitAccess"),
    "supports_16bit_buffer": _capability("StorageBuffer16BitAccess"),
    "supports_integer_dot_product": _extension("VK_KHR_shader_integer_dot_product"),
    "supports_cooperative_matrix": _extension("VK_NV_cooperative_matrix"),
    "supports_storage_buffer_storage_class": _extension("VK_KHR_storage_buffer_storage_class"),
    "supports_push_descriptor": _extension("VK_KHR_descriptor_update_template", "VK_KHR_push_descriptor"),
    "supports_dedicated_allocation": _extension(
        "VK_KHR_dedicated_allocation", "VK_KHR_get_memory_requirements2"
    ),
    "supported_subgroup_operations": Attribute("mask", "subgroup_operations", _SUBGROUP_BITS),
    "max_block_size_x": _number("max_block_size_x"),
    "max_block_size_y": _number("max_block_size_y"),
    "max_block_size_z": _number("max_block_size_z"),
    "max_push_constants_size": _number("max_push_constants_bytes"),
    "max_uniform_buffer_range": _number("max_uniform_buffer_bytes"),
    "max_storage_buffer_range": _number("max_storage_buffer_bytes"),
    "max_per_stage_descriptor_storage_buffer": _number("max_storage_buffers"),
    "device_type": Attribute("text", "device_type"),
    "device_name": Attribute("text", "model"),
    "driver_name": Attribute("text", "driver_name"),
    "driver_version": _number("driver_version"),
    "vulkan_api_version": Attribute("vulkan-version", "api_version"),
    "max_spirv_version": Attribute("spirv-version", "spirv_version"),
    "mattr": _option("taken by TVM and never read"),
}
_WEBGPU: Mapping[str, Attribute] = {
    **_THREADS,
    "supports_subgroups": _extension("subgroups"),
    "max_shared_memory_per_block": _number("max_shared_memory_per_block"),
}
_HEXAGON: Mapping[str, Attribute] = {
    **_SYSTEM_LIB,
    "link-params": _option(_RUNTIME),
    "mcpu": Attribute("text", "version"),
    # hvxvNN is hvx_version, hvx-lengthNNNb is hvx_bytes, the rest is extensions.
    "mattr": Attribute("changes", "extensions"),
    "mtriple": Attribute("said", adds=("hexagon",), reason="what the kind says by itself"),
    "num-cores": _number("num_cores"),
    "vtcm-capacity": _number("vtcm_bytes"),
    "llvm-options": _option("options of LLVM itself"),
}
_COMPOSITE: Mapping[str, Attribute] = {
    "devices": Attribute("targets", "members"),
    "model": _option("a composite has no model: its members do"),
    "libs": _option("libraries belong to the members"),
}
_OF_KIND: Mapping[str, Mapping[str, Attribute]] = {
    "llvm": _LLVM,
    "c": _C,
    "cuda": _CUDA,
    "nvptx": _NVPTX,
    "rocm": _ROCM,
    "opencl": _OPENCL,
    "metal": _METAL,
    "vulkan": _VULKAN,
    "webgpu": _WEBGPU,
    "hexagon": _HEXAGON,
    "composite": _COMPOSITE,
}


@functools.cache
def attributes(kind: str) -> Mapping[str, Attribute]:
    """Return what each attribute of a kind of TVM is here, by its present name; KeyError for a kind not in KINDS."""
    return {**_EVERY, **_OF_KIND[kind]}
