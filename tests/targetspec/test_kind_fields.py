"""No fact of a machine is without a field: those that the relation needs, and those that TVM states."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest

import targetspec
from targetspec import registry

FACTS = {
    "cuda": {
        "arch",
        "code_form",
        "ptx_isa",
        "registers_per_block",
        "l2_cache_bytes",
        "warp_size",
        "num_cores",
    },
    "rocm": {"target_id", "warp_size", "cumode", "code_object_version", "generic_version"},
    "metal": {"language_version", "gpu_family", "os", "deployment_target"},
    "vulkan": {"api_version", "spirv_version", "capabilities", "extensions", "subgroup_operations"},
    "opencl": {"opencl_version", "extensions", "warp_size", "max_function_args"},
    "webgpu": {"extensions", "warp_size", "max_storage_buffer_bytes"},
    "hexagon": {"version", "hvx_bytes", "hvx_version", "vtcm_bytes", "extensions"},
    "composite": {"members"},
    "cpu": {"triple", "features", "abi", "float_abi", "vector_bits", "libc", "libc_version", "static"},
}
SHARED_LIMITS = {"max_threads_per_block", "max_shared_memory_per_block", "warp_size"}

# What TVM calls a field, by kind where one name stands for several.
RENAMED: dict[str, str | dict[str, str]] = {
    "thread_warp_size": "warp_size",
    "l2_cache_size_bytes": "l2_cache_bytes",
    "vtcm-capacity": "vtcm_bytes",
    "num-cores": "num_cores",
    "device_name": "model",
    "devices": "members",
    "mcpu": {"rocm": "target_id", "hexagon": "version"},
    "mattr": {"hexagon": "extensions", "rocm": ""},
    "supports_subgroups": "extensions",
    "supports_float16": "capabilities",
    "supports_int8": "capabilities",
    "supports_int64": "capabilities",
    "supports_8bit_buffer": "capabilities",
    "supports_16bit_buffer": "capabilities",
    "supports_storage_buffer_storage_class": "extensions",
}
# What is no fact of a machine, with the reason.
NO_FACT = {
    "kind": "the kind itself",
    "tag": "the name that the fields were looked up by",
    "keys": "names of schedules",
    "from_device": "asks for detection",
    "llvm-options": "options of the compiler",
    "supports_int32": "so on every Vulkan device",
    "supports_float32": "so on every Vulkan device",
}
NO_FACT_OF = {
    ("hexagon", "mtriple"): "follows from the kind",
    ("rocm", "mattr"): "the one case, dotprod, is no feature of LLVM",
    ("cuda", "device"): "made-up names of schedules, tracing and some_device",
}


@pytest.mark.parametrize("kind", sorted(FACTS))
def test_every_fact_of_the_relation_is_a_field(kind: str) -> None:
    """What decides a verdict can be stated."""
    assert set() == FACTS[kind] - set(registry.kind(kind).specs())


@pytest.mark.parametrize("kind", ["cuda", "rocm", "metal", "vulkan", "opencl", "webgpu"])
def test_limits_have_the_same_names_everywhere(kind: str) -> None:
    """One vocabulary: a limit is called the same in every kind that has it, and can be a need."""
    assert set() == SHARED_LIMITS - set(registry.kind(kind).need_rules())


@pytest.mark.shared
@pytest.mark.parametrize("name", ["tvm_tags", "tvm_json_targets", "tvm_cli_targets"])
def test_every_attribute_that_tvm_states_is_a_field(
    name: str, corpus: Callable[[str], list[dict[str, Any]]]
) -> None:
    """An attribute of a device in TVM's targets has a field here, or a reason why it is no fact of a machine."""
    stated = {pair for row in corpus(name) for pair in _attributes(row["target"])}
    assert stated
    assert set() == {pair for pair in stated if not _has_field(*pair)}


def _attributes(target: Any) -> set[tuple[str, str]]:
    if isinstance(target, str):
        kind, *words = target.split() or [""]
        names = {found[1] for word in words if (found := re.match(r"-+([A-Za-z][\w.-]*)", word))}
    else:
        kind, names = str(target.get("kind")), set(target)
    return {(kind, name) for name in names} if kind in registry.KINDS else set()


def _has_field(kind: str, name: str) -> bool:
    if name in NO_FACT or (kind, name) in NO_FACT_OF:
        return True
    renamed = RENAMED.get(name, name)
    field = renamed if isinstance(renamed, str) else renamed.get(kind, "")
    return field in registry.kind(kind).specs()


BAD: tuple[tuple[dict[str, Any], str], ...] = (
    ({"kind": "cuda", "arch": "sm_999"}, "$.arch"),
    ({"kind": "cuda", "arch": "90"}, "$.arch"),
    ({"kind": "cuda", "arch": 90}, "$.arch"),
    ({"kind": "cuda", "code_form": "elf"}, "$.code_form"),
    ({"kind": "cuda", "max_threads_per_block": -1}, "$.max_threads_per_block"),
    ({"kind": "cuda", "max_threads_per_block": True}, "$.max_threads_per_block"),
    ({"kind": "cuda", "warp_size": 64}, "$.warp_size"),
    ({"kind": "cuda", "ptx_isa": "8.x"}, "$.ptx_isa"),
    ({"kind": "cuda", "model": " x"}, "$.model"),
    ({"kind": "rocm", "target_id": "gfx90a:xnack"}, "$.target_id"),
    ({"kind": "rocm", "warp_size": 48}, "$.warp_size"),
    ({"kind": "rocm", "cumode": 1}, "$.cumode"),
    ({"kind": "metal", "gpu_family": "gpu7"}, "$.gpu_family"),
    ({"kind": "vulkan", "capabilities": ["Int8", "Int8"]}, "$.capabilities"),
    ({"kind": "vulkan", "capabilities": "Int8"}, "$.capabilities"),
    ({"kind": "webgpu", "extensions": ["Shader F16"]}, "$.extensions[0]"),
    ({"kind": "hexagon", "version": "hexagonv68"}, "$.version"),
    ({"kind": "hexagon", "hvx_bytes": True}, "$.hvx_bytes"),
    ({"kind": "opencl", "warpsize": 32}, "$.warpsize"),
    ({"kind": "cuda", "host": {"kind": "cuda"}}, "$.host.kind"),
)


@pytest.mark.parametrize(("document", "path"), BAD)
def test_codec_and_schema_refuse_the_same(document: dict[str, Any], path: str) -> None:
    """A bad document is refused at its place by the codec, and by the schema."""
    assert [path] == [problem.path for problem in targetspec.validate(document)]
    assert list(jsonschema.Draft202012Validator(targetspec.json_schema()).iter_errors(document))
