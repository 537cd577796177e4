"""Fields of the kinds: one vocabulary for limits, and what the codec and the schema refuse alike."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

import targetspec
from targetspec import registry

SHARED_LIMITS = {"max_threads_per_block", "max_shared_memory_per_block", "warp_size"}


@pytest.mark.parametrize("kind", ["cuda", "rocm", "metal", "vulkan", "opencl", "webgpu"])
def test_limits_have_the_same_names_everywhere(kind: str) -> None:
    """One vocabulary: a limit is called the same in every kind that has it, and can be a need."""
    assert set() == SHARED_LIMITS - set(registry.kind(kind).need_rules())


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
