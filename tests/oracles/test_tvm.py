"""TVM's own reading of its JSON targets: what is refused, and that nothing that a target states is read otherwise."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from judges.judge import Row, fault_of
from judges.tvm import FILES
from oracle_review import Accepted, review

tvm: Any = pytest.importorskip("tvm", reason="apache-tvm is not installed")
pytestmark = [pytest.mark.oracle, pytest.mark.timeout(600)]
DOCUMENTS = 2_000
_CPU = {
    "mcpu": ("haswell", "znver3", "skylake-avx512", "x86-64-v3", "cortex-a72", "apple-m1"),
    "mtriple": ("x86_64-linux-gnu", "aarch64-linux-gnu", "arm64-apple-macosx14"),
    "mattr": (["+avx2"], ["+neon"], ["+fma", "-avx512f"], []),
    "num-cores": (4, 64),
    "mfloat-abi": ("hard", "soft"),
    "opt-level": (0, 3),
    "fast-math": (True, False),
    "vector-width": (128, 256),
}
_BLOCK = {
    "max_num_threads": (256, 1024),
    "max_threads_per_block": (256, 1024),
    "max_shared_memory_per_block": (16384, 49152),
    "thread_warp_size": (1, 32, 64),
}
_ATTRIBUTES: dict[str, dict[str, tuple[Any, ...]]] = {
    "llvm": _CPU,
    "c": {name: _CPU[name] for name in ("mcpu",)},
    "cuda": {**_BLOCK, "arch": ("sm_50", "sm_86", "sm_90a"), "registers_per_block": (65536,)},
    "nvptx": {"mcpu": ("sm_70", "sm_86"), "mtriple": ("nvptx64-nvidia-cuda",), "max_num_threads": (1024,)},
    "rocm": {**_BLOCK, "mcpu": ("gfx900", "gfx90a"), "mtriple": ("amdgcn-amd-amdhsa-hcc",)},
    "opencl": {**_BLOCK, "texture_spatial_limit": (16384,), "max_function_args": (128,)},
    "metal": {**_BLOCK, "max_function_args": (31,)},
    "vulkan": {
        **_BLOCK,
        "supports_float16": (True, False),
        "supports_8bit_buffer": (True, False),
        "vulkan_api_version": (4198400, 4202496),
        "max_spirv_version": (66304, 66816),
        "device_type": ("discrete", "integrated"),
    },
    "webgpu": {"max_num_threads": (256,)},
    "hexagon": {"mcpu": ("hexagonv68", "hexagonv73"), "vtcm-capacity": (4194304,), "num-cores": (4,)},
}
_EVERY = {
    "model": ("rtx3070", "unknown"),
    "device": ("arm_cpu", "adreno"),
    "libs": (["cudnn"], ["cblas", "mkl"]),
}
_WRONG: tuple[Any, ...] = (-1, 1.5, "x", True, None, ["a", 1], {"a": 1}, "", [])
_KINDS = (
    "TVM 0.27, the registrations of its kinds: it stores what it is given, of the type that is registered"
)
_UNCHECKED = Accepted("a value that no such machine has, which TVM does not look at", _KINDS)
ACCEPTED = {
    "must be from": _UNCHECKED,
    "must be one of": _UNCHECKED,
    "must be a name": _UNCHECKED,
    "is always": _UNCHECKED,
    "can only be": _UNCHECKED,
    "is no version": _UNCHECKED,
    "begins with an architecture": Accepted("an empty triple is none", _KINDS),
    "must be a whole number": Accepted("TVM takes true for 1", _KINDS),
    "must be true or false": Accepted("TVM takes any number for true", _KINDS),
}
"""What is refused here of the documents that TVM takes, by the words that say so."""


def _documents(rng: random.Random) -> Iterator[dict[str, Any]]:
    for _ in range(DOCUMENTS):
        document = _document(rng, rng.choice(tuple(_ATTRIBUTES)))
        if rng.random() < 0.2:
            document["host"] = _document(rng, "llvm")
        yield document


def _document(rng: random.Random, kind: str) -> dict[str, Any]:
    """Return a target of a kind; now and then with a value of a wrong type, or an attribute of another kind."""
    known = {**_ATTRIBUTES[kind], **_EVERY}
    document: dict[str, Any] = {"kind": kind}
    for name in rng.sample(tuple(known), rng.randint(0, min(4, len(known)))):
        document[name] = rng.choice(known[name])
    chance = rng.random()
    if chance < 0.1 and len(document) > 1:
        document[rng.choice([name for name in document if name != "kind"])] = rng.choice(_WRONG)
    elif chance < 0.2:
        name, values = rng.choice([*_ATTRIBUTES[rng.choice(tuple(_ATTRIBUTES))].items()])
        document[name] = rng.choice(values)
    return document


def _row(document: dict[str, Any]) -> Row:
    """Return what TVM says of a document, as a row of the recorded ones has it."""
    try:
        read = {"ok": json.loads(str(tvm.target.Target(document)))}
    except (ValueError, TypeError, RuntimeError, AttributeError, KeyError) as error:
        read = {"error": f"{type(error).__name__}: {error}"}
    return {"target": document, "tvm_0_27": read}


def test_what_tvm_reads():
    """Of random documents of its kinds and attributes the dialect takes those that TVM takes, and as it reads them."""
    rows = [_row(document) for document in _documents(random.Random(0))]
    assert DOCUMENTS / 2 <= sum("ok" in row["tvm_0_27"] for row in rows)
    faults = {json.dumps(row["target"]): fault_of(FILES["tvm_json_targets"], row) for row in rows}
    review({_words_of(fault): (text, fault) for text, fault in faults.items() if fault}, ACCEPTED)


def _words_of(fault: str) -> str:
    """Return the words on the list that refuse a document; all of them where there are none."""
    known = (words for words in ACCEPTED if fault.startswith("refused: ") and words in fault)
    return next(known, fault)
