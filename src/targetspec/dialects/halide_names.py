"""Halide's names: architectures, systems, and its flags, which say things of the CPU, of devices, and to the compiler.

Source: Halide at commit abbf7ff (after version 21): its Target.cpp, the triples it hands to LLVM, and the features that
each back end asks LLVM for.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

# Architecture and bits -> the architecture of the triple.
ARCHS: Mapping[tuple[str, int], str] = {
    ("x86", 32): "i386",
    ("x86", 64): "x86_64",
    ("arm", 32): "armv7",
    ("arm", 64): "aarch64",
    ("powerpc", 32): "powerpc",
    ("powerpc", 64): "powerpc64le",
    ("hexagon", 32): "hexagon",
    ("wasm", 32): "wasm32",
    ("wasm", 64): "wasm64",
    ("riscv", 32): "riscv32",
    ("riscv", 64): "riscv64",
}
ARCH_NAMES = frozenset(arch for arch, _ in ARCHS)
# System -> the rest of the triple; "linux" is GNU's, as it is to Halide.
OSES: Mapping[str, str] = {
    "linux": "unknown-linux-gnu",
    "windows": "pc-windows-msvc",
    "osx": "apple-macosx",
    "android": "unknown-linux-android",
    "ios": "apple-ios",
    "qurt": "unknown-qurt",
    "noos": "unknown-none",
    "fuchsia": "unknown-fuchsia",
    "wasmrt": "unknown-unknown",
}
UNKNOWN_ARCH, UNKNOWN_OS = "arch_unknown", "os_unknown"
BITS = ("32", "64", "0")
WASM_RUNTIME = "wasmrt"

_TUNED = """
    amdfam10 bdver1 bdver2 bdver3 bdver4 btver1 btver2 k8 k8_sse3 znver1 znver2 znver3 znver4 znver5
"""
TUNES: Mapping[str, str] = {f"tune_{name}": name.replace("_", "-") for name in _TUNED.split()}
"""Halide's names of processors to tune for, and LLVM's; `tune_generic` beside them states nothing."""

TUNE_GENERIC = "tune_generic"
VECTOR_BITS = "vector_bits_"


def _flags(table: str) -> dict[str, tuple[str, ...]]:
    rows = (line.split() for line in table.strip().splitlines())
    return {name: tuple(features) for name, *features in rows}


# Flag -> LLVM's features, without those that come by the flags it implies. In the order in which flags imply others.
_X86 = _flags(
    """
    sse41 sse4.1
    avx avx
    f16c f16c
    fma fma
    fma4 fma4
    avx2 avx2
    avx512 avx512f avx512cd
    avx512_skylake avx512vl avx512bw avx512dq
    avx512_cannonlake avx512ifma avx512vbmi
    avx512_zen4 avx512bf16 avx512vnni avx512bitalg avx512vbmi2
    avxvnni avxvnni
    avx512_zen5
    avx512_sapphirerapids amx-int8 amx-bf16
    avx10_1 avx10.1
    x86apx egpr push2pop2 ppx ndd
    """
)
_VERSIONS = tuple(f"armv8{n or ''}a" for n in range(10))
_AARCH64 = {
    "armv8a": ("v8a",),
    **{f"armv8{n}a": (f"v8.{n}a",) for n in range(1, 10)},
    "arm_fp16": ("fullfp16",),
    "arm_dot_prod": ("dotprod",),
    "sve": ("sve",),
    "sve2": ("sve2",),
    "sme2": ("sme2",),
}
_ARM = {**{name: _AARCH64[name] for name in (*_VERSIONS, "arm_fp16", "arm_dot_prod")}, "armv8a": ("v8",)}
FEATURES: Mapping[tuple[str, int], Mapping[str, tuple[str, ...]]] = {
    ("x86", 32): _X86,
    ("x86", 64): _X86,
    ("arm", 32): _ARM,
    ("arm", 64): _AARCH64,
    ("powerpc", 32): _flags("vsx vsx\npower_arch_2_07 power8-altivec direct-move"),
    ("powerpc", 64): _flags("vsx vsx\npower_arch_2_07 power8-altivec direct-move"),
    ("wasm", 32): _flags(
        "wasm_simd128 simd128\nwasm_bulk_memory bulk-memory\nwasm_threads atomics bulk-memory mutable-globals"
    ),
    ("wasm", 64): _flags(
        "wasm_simd128 simd128\nwasm_bulk_memory bulk-memory\nwasm_threads atomics bulk-memory mutable-globals"
    ),
    ("riscv", 32): _flags("rvv v"),
    ("riscv", 64): _flags("rvv v"),
    ("hexagon", 32): {},
}
IMPLIED: Mapping[str, tuple[str, ...]] = {
    "avx": ("sse41",),
    "avx2": ("f16c", "fma", "avx"),
    "avx512": ("avx2",),
    "avx512_knl": ("avx512",),
    "avx512_skylake": ("avx512",),
    "avx512_cannonlake": ("avx512_skylake",),
    "avx512_zen4": ("avx512_cannonlake",),
    "avx512_zen5": ("avx512_zen4", "avxvnni"),
    "avx512_sapphirerapids": ("avx512_zen4", "avxvnni"),
    **{_VERSIONS[n]: (_VERSIONS[n - 1],) for n in range(1, 10)},
    "arm_fp16": ("armv82a",),
    "sve": ("arm_fp16",),
    "sve2": ("arm_dot_prod", "arm_fp16"),
    "sme2": ("arm_dot_prod", "arm_fp16"),
}
"""Flag -> the flags that it brings directly, as in Halide; all are of the CPU."""

# What changes the CPU in another way than by adding features, or says nothing that LLVM has a feature for.
ODD_FLAGS: Mapping[str, frozenset[str]] = {
    "x86": frozenset(("avx512_knl",)),
    "arm": frozenset(("armv7s", "no_neon")),
    "wasm": frozenset(("wasm_mvponly",)),
}
STREAMING_LENGTHS = tuple(f"sme_svl{bits}" for bits in (128, 256, 512, 1024, 2048))
SOFT_FLOAT, SIMULATOR = "soft_float_abi", "simulator"

_COMPILER = """
    asan c_plus_plus_name_mangling check_unsafe_promises debug egl embed_bitcode enable_backtraces enable_llvm_loop_opt
    fuzz_float_stores hexagon_dma jit large_buffers llvm_large_code_model msan no_asserts no_bounds_query no_runtime
    profile profile_by_timer sanitizer_coverage semihosting spirv strict_float trace_all trace_loads trace_pipeline
    trace_realizations trace_stores tsan user_context
"""
# Direct3D 12 is a device of which there is no kind.
_DIRECT3D = ("d3d12compute", *(f"hlsl_sm6{n}" for n in range(10)))
COMPILER = frozenset((*_COMPILER.split(), *_DIRECT3D))
"""Flags that say nothing of a CPU or of a device that has a kind: they are leftovers."""


def with_implied(flags: frozenset[str]) -> frozenset[str]:
    """Return the flags with all that they bring.

    >>> sorted(with_implied(frozenset({"avx2"})))
    ['avx', 'avx2', 'f16c', 'fma', 'sse41']
    """
    found, todo = set(flags), list(flags)
    while todo:
        more = [name for name in IMPLIED.get(todo.pop(), ()) if name not in found]
        found.update(more)
        todo.extend(more)
    return frozenset(found)


def minimal(flags: frozenset[str]) -> frozenset[str]:
    """Return the flags without those that others bring."""
    return flags.difference(*(with_implied(frozenset((name,))) - {name} for name in flags))


@functools.cache
def arch_of_flag(name: str) -> frozenset[str]:
    """Return the architectures that a flag of the CPU is for; empty for any other name."""
    own = {arch for (arch, _), flags in FEATURES.items() if name in flags}
    odd = {arch for arch, flags in ODD_FLAGS.items() if name in flags}
    return frozenset(own | odd | ({"arm"} if name in STREAMING_LENGTHS else set()))
