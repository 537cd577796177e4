"""The width and the number of vector registers."""

from __future__ import annotations

import pytest

from targetspec import CpuTarget
from targetspec.cpu import feature_names
from targetspec.kinds.cpu_vectors import VECTOR_WIDTHS


@pytest.mark.parametrize(
    ("triple", "cpu", "bits", "registers"),
    [
        ("x86_64-linux-gnu", "haswell", 256, 16),
        ("x86_64-linux-gnux32", "znver4", 512, 32),
        ("i686-linux-gnu", "haswell", 256, 8),
        ("i686-linux-gnu", "i586", 64, 8),
        ("aarch64-linux-gnu", "a64fx", 128, 32),
        ("armv7-linux-gnueabihf", None, 128, 16),
        ("armv6-linux-gnueabihf", None, 64, 16),
        ("thumbv8.1m.main-none-eabi", "cortex-m55", 128, 8),
        ("powerpc64le-linux-gnu", "pwr9", 128, 64),
        ("powerpc-linux-gnu", "g4", 128, 32),
        ("s390x-linux-gnu", "z13", 128, 32),
        ("s390x-linux-gnu", "z10", 64, 16),
        ("loongarch64-linux-gnu", "la464", 256, 32),
        ("loongarch64-linux-gnu", None, 128, 32),
        ("mips64el-linux-gnuabi64", "i6400", 128, 32),
        ("riscv64-linux-gnu", None, 64, 32),
        ("riscv64-linux-gnu", "spacemit-x60", 256, 32),
        ("wasm32-unknown-unknown", None, 64, 16),
        ("lanai", None, 64, 16),
    ],
)
def test_vectors_of_a_cpu(triple, cpu, bits, registers):
    """What LLVM's cost model counts on for code of a triple and a CPU."""
    target = CpuTarget(triple=triple, cpu=cpu)
    assert (bits, registers) == (target.native_vector_bits, target.vector_registers)


def test_features_asked_for_count():
    """Vectors come with a feature, whatever the CPU is called."""
    wide = CpuTarget(triple="wasm32-unknown-unknown", features=["simd128"])
    assert (None, None) == (CpuTarget().native_vector_bits, CpuTarget(num_cores=2).vector_registers)
    assert (128, 16) == (wide.native_vector_bits, wide.vector_registers)
    long = CpuTarget(triple="hexagon-unknown-elf", features=["v68", "hvxv68", "hvx-length128b"])
    assert (1024, 32) == (long.native_vector_bits, long.vector_registers)


@pytest.mark.parametrize("family", sorted(VECTOR_WIDTHS))
def test_widths_are_listed_widest_first_by_known_names(family):
    """The first that is there is the widest."""
    rows = VECTOR_WIDTHS[family]
    assert [bits for _, bits in rows] == sorted((bits for _, bits in rows), reverse=True)
    assert {name for name, _ in rows} <= set(feature_names(family))
