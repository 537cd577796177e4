"""How wide the vector registers of a processor are, and how many code can use: by its features."""

from __future__ import annotations

from typing import Any

# Widest first; what scalable vectors add is counted only where `vector_bits` states their length, or, on RISC-V, a feature
# their least one. Source: getRegisterBitWidth of LLVM's TargetTransformInfo; for MIPS the manual of MSA, which LLVM's
# cost model leaves out.
VECTOR_WIDTHS = {
    "x86": (("avx512f", 512), ("avx", 256), ("sse", 128)),
    "aarch64": (("neon", 128),),
    "arm": (("neon", 128), ("mve", 128)),
    "hexagon": (("hvx-length128b", 1024), ("hvx-length64b", 512)),
    "loongarch": (("lasx", 256), ("lsx", 128)),
    "mips": (("msa", 128),),
    "powerpc": (("altivec", 128), ("vsx", 128)),
    "riscv": tuple((f"zvl{1 << power}b", 1 << power) for power in range(16, 6, -1)),
    "systemz": (("vector", 128),),
    "webassembly": (("simd128", 128),),
}
_FEWER_BY_MODE = "i386"
# How many there are with a feature, and without any. Source: getNumberOfRegisters there; of WebAssembly, a guess of it.
_VECTOR_REGISTERS = {
    _FEWER_BY_MODE: (("", 8),),
    "x86": (("avx512f", 32), ("", 16)),
    "arm": (("neon", 16), ("mve", 8), ("", 16)),
    "powerpc": (("vsx", 64), ("", 32)),
    "systemz": (("vector", 32), ("", 16)),
    **dict.fromkeys(("aarch64", "hexagon", "loongarch", "mips", "riscv"), (("", 32),)),
}


def native_vector_bits(target: Any) -> int | None:
    """Return the width of the widest vector register that a target's features give, in bits, 64 without any.

    None where the target states no architecture.
    """
    if _states_no_architecture(target):
        return None
    there = target.features or ()
    return next((bits for feature, bits in VECTOR_WIDTHS.get(target.family, ()) if feature in there), 64)


def vector_registers(target: Any) -> int | None:
    """Return how many registers of `native_vector_bits` code can use: 8 in 32-bit mode of x86, 64 with VSX; None likewise."""
    if _states_no_architecture(target):
        return None
    narrow = target.triple is not None and target.triple.arch == _FEWER_BY_MODE
    rows = _VECTOR_REGISTERS.get(_FEWER_BY_MODE if narrow else target.family, (("", 16),))
    there = target.features or ()
    return next(count for feature, count in rows if not feature or feature in there)


def _states_no_architecture(target: Any) -> bool:
    # A triple of an architecture without tables has no family.
    return target.family is None and target.triple is None
