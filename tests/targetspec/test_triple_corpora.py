"""Triples of other projects: what the rows of a file are together, and LLVM itself beside mixed texts."""

from __future__ import annotations

import random

import pytest

from judges.triples import strict
from targetspec.triple import Triple, normalize_triple, read_triple


@pytest.mark.shared
def test_the_strict_reading_takes_what_clang_compiles_for(corpus):
    """Of the triples in clang's tests it refuses the bad names, which are few."""
    texts = [
        row["triple"] for row in corpus("llvm_triples_clang22") if row["triple"] == row["triple"].lower()
    ]
    assert sum(strict(text) is None for text in texts) < 0.05 * len(texts)


@pytest.mark.shared
def test_rustc_llvm_targets(corpus):
    """Each of rustc's llvm-targets parses, keeps its pointer width, and equals another only where LLVM's arch does."""
    texts: dict[object, str] = {}
    for row in corpus("rustc_targets"):
        triple = Triple.parse(row["llvm_target"])
        assert row["target_pointer_width"] == triple.pointer_bits, row["id"]
        assert triple == Triple.parse(str(triple))
        texts.setdefault(triple, set()).add(row["llvm_target"])
    assert [{"armv7a-none-eabihf", "armv7-unknown-none-eabihf"}] == [t for t in texts.values() if len(t) > 1]


@pytest.mark.shared
def test_rustc_names(corpus):
    """rustc's own names parse where LLVM knows the architecture, and no two of them fall together."""
    texts: dict[object, str] = {}
    for row in corpus("rustc_targets"):
        if row["name"].startswith(("riscv32", "riscv64")) or row["name"] == "armv7a-vex-v5":
            continue  # the architecture's part holds extensions, or the OS's a device: the rustc dialect reads those
        texts.setdefault(Triple.parse(row["name"]), set()).add(row["name"])
    assert [names for names in texts.values() if len(names) > 1] == []


# --- an independent reader -------------------------------------------------------------------------------


@pytest.mark.oracle
def test_llvmlite_reads_the_same_parts():
    """LLVM, by way of llvmlite, finds the same architecture, vendor, OS and environment in 3000 mixed texts."""
    targets = pytest.importorskip("llvmlite.binding.targets")
    rng = random.Random(22)
    words = [
        *{part: None for text in _MIXED for part in text.split("-")},
        "",
        "",
        "unknown",
        "none",
        "mingw32",
    ]
    for _ in range(3000):
        text = "-".join(rng.choice(words) for _ in range(rng.randint(1, 6)))
        parts, mine = targets.get_triple_parts(text), read_triple(normalize_triple(text))
        assert parts[:1] + parts[2:5] == (mine.arch, mine.vendor, mine.os, mine.environment), text


_MIXED = [
    "x86_64-apple-darwin23-macho",
    "arm64_32-apple-watchos-simulator",
    "armv7eb-suse-linux-gnueabi",
    "sie-ps5-foo-wasm",
    "thumbv6m-none-eabi",
    "i786-pc-win32-msvc19",
    "mipsisa64r6el-mti-linux-gnuabi64",
    "armm-nvidia-cuda-elf",
    "armv9.8a-oe-aix",
    "aarch64_32v8-ibm-zos-goff",
    "wasm64-wasip3-muslwali",
    "ve-img-hurd-gnux32",
    "kalimbax-csr-visionos1",
    "bar-meta-windows-coff",
    "spirv64v1.6-intel-vulkan1.3-compute",
    "dxil-shadermodel6.2-library",
    "aarch64_be-cygwin-androideabi21",
    "bpf_be-macos11",
]
