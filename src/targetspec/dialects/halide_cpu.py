"""The CPU of Halide's strings: what architecture, bits, system and flags make of it, and back."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import attrs

from targetspec.cpu import feature_names
from targetspec.dialects import halide_names as names
from targetspec.features import FeatureSet
from targetspec.fields import Refused
from targetspec.kinds.cpu import CpuTarget
from targetspec.triple import Triple

_BASE_CPUS = {("powerpc", 32): "ppc32", ("powerpc", 64): "ppc64"}
# What Halide asks LLVM for on each architecture without any flag.
_ALWAYS = {
    ("x86", 32): ("sse2",),
    ("arm", 32): ("neon",),
    ("powerpc", 32): ("altivec",),
    ("powerpc", 64): ("altivec",),
    ("riscv", 32): ("m", "a", "f", "d", "c"),
    ("riscv", 64): ("m", "a", "f", "d", "c"),
}
_WASM = ("sign-ext", "nontrapping-fptoint")
_APPLE_SILICON = "v8.4a"
_AVX10, _NO_NEON, _ARMV7S, _MVP = "avx10_1", "no_neon", "armv7s", "wasm_mvponly"
# The widths of AVX10.1's vectors, and the flag that each brings; LLVM 22 has only the widest as a feature.
_AVX10_WIDTHS = ((512, "avx512_sapphirerapids"), (256, "avx2"))
_AVX10_BITS = 512


@attrs.frozen
class HalideCPU:
    """Architecture, bits and system as Halide names them, LLVM's name of what to tune for, and bits of a vector."""

    arch: str
    bits: int
    os: str
    tune: str | None = None
    vector_bits: int | None = None

    @property
    def known(self) -> tuple[str, int]:
        """What Halide's tables are by."""
        return self.arch, self.bits


def cpu_of(
    machine: HalideCPU, flags: frozenset[str], host: CpuTarget | None
) -> tuple[CpuTarget, frozenset[str]]:
    """Return the CPU, and the flags of it that say nothing LLVM has a name for; `host` is this machine, where it is.

    Raises what construction raises.
    """
    width = None if flags.isdisjoint(_BY_WIDTH) else machine.vector_bits
    base = host or _base(machine.arch, machine.bits, machine.os, flags & _OPTIONS)
    features, unused = _features_with(base.features, machine.known, width, flags)
    stated = {"features": features, "tune": machine.tune, "vector_bits": machine.vector_bits}
    fields = {name: value for name, value in stated.items() if value not in (None, getattr(base, name))}
    return (_evolved(base, fields) if fields else base), unused


def _evolved(base: CpuTarget, fields: dict[str, Any]) -> CpuTarget:
    """Return a CPU with some fields changed, of which only the bits of a vector may be wrong."""
    try:
        CpuTarget.specs()["vector_bits"].shape.check(fields.get("vector_bits", _AVX10_BITS))
    except Refused:
        return base.evolve(**fields)
    return CpuTarget.of_checked({**_fields_of(base), **fields})


@functools.lru_cache(maxsize=256)
def _fields_of(cpu: CpuTarget) -> Mapping[str, Any]:
    return {name: getattr(cpu, name) for name in cpu.specs()}


@functools.lru_cache(maxsize=1024)
def _features_with(
    base: FeatureSet | None, known: tuple[str, int], width: int | None, flags: frozenset[str]
) -> tuple[FeatureSet | None, frozenset[str]]:
    """Return a set with what flags add to it, and the flags that say nothing LLVM has a name for."""
    brought, unused = _brought(known, width, flags)
    if base is None:
        return None, unused
    named = flags & names.FEATURES[known].keys()
    features = _changed(base, known, width, names.with_implied(named | brought) - unused)
    if _NO_NEON in flags and known == ("arm", 32):
        features = features.with_changes(remove=["neon"])
    return features, unused


def _brought(
    known: tuple[str, int], width: int | None, flags: frozenset[str]
) -> tuple[frozenset[str], frozenset[str]]:
    """Return the flags that odd ones bring, and those that only they themselves say."""
    brought, unused = set[str](), {name for name in flags if name in names.STREAMING_LENGTHS}
    if "avx512_knl" in flags:
        brought.add("avx512")
        unused.add("avx512_knl")
    if _AVX10 in flags:
        bits = width or 0
        brought.update(name for least, name in _AVX10_WIDTHS if bits >= least)
        unused.update(() if bits >= _AVX10_BITS else (_AVX10,))
    if _NO_NEON in flags and known[1] != 32:  # noqa: PLR2004 - 64-bit ARM always has NEON
        unused.add(_NO_NEON)
    if names.SOFT_FLOAT in flags and known not in _SOFT_FLOAT:
        unused.add(names.SOFT_FLOAT)
    if _ARMV7S in flags and known[1] != 32:  # noqa: PLR2004 - a version of 32-bit ARM
        unused.add(_ARMV7S)
    return frozenset(brought), frozenset(unused)


_SOFT_FLOAT = {("arm", 32): None, ("riscv", 32): "ilp32", ("riscv", 64): "lp64"}
# What a number of bits changes the features of.
_BY_WIDTH = (_AVX10, "rvv")
_IN_AVX10 = names.with_implied(frozenset(("avx512_sapphirerapids",)))
_OPTIONS = frozenset((names.SOFT_FLOAT, names.SIMULATOR, _ARMV7S, _MVP))


def _changed(
    base: FeatureSet, known: tuple[str, int], vector_bits: int | None, flags: frozenset[str]
) -> FeatureSet:
    table = names.FEATURES[known]
    added = [feature for name in sorted(flags) for feature in table.get(name, ())]
    length = f"zvl{vector_bits}b"
    if "rvv" in flags and length in feature_names("riscv"):
        added.append(length)
    return base.with_changes(added) if added else base


@functools.lru_cache(maxsize=256)
def _base(arch: str, bits: int, os: str, options: frozenset[str]) -> CpuTarget:
    """Return the CPU of a string without flags that bring features."""
    soft = names.SOFT_FLOAT in options
    triple = _triple(arch, bits, os, options)
    float_abi = None
    if (arch, bits) == ("arm", 32):
        float_abi = "soft" if soft else "hard" if os == "noos" else None
    cpu = "mvp" if _MVP in options else _BASE_CPUS.get((arch, bits))
    abi = _SOFT_FLOAT.get((arch, bits)) if soft else None
    target = CpuTarget(triple=triple, cpu=cpu, float_abi=float_abi, abi=abi)
    added = list(_ALWAYS.get((arch, bits), ()))
    if arch == "wasm" and cpu is None:
        added += _WASM
    if (arch, bits, os) == ("arm", 64, "osx"):
        added.append(_APPLE_SILICON)
    if not added or target.features is None:
        return target
    removed = ("vsx", "power8-altivec", "direct-move") if arch == "powerpc" else ()
    return target.evolve(features=target.features.with_changes(added, removed))


def _triple(arch: str, bits: int, os: str, options: frozenset[str]) -> Triple:
    machine = "armv7s" if _ARMV7S in options and bits == 32 else names.ARCHS[arch, bits]  # noqa: PLR2004
    rest = names.OSES[os]
    if (arch, bits, os) == ("arm", 32, "linux"):
        rest += "eabi" if names.SOFT_FLOAT in options else "eabihf"
    return Triple.parse(f"{machine}-{rest}{'-simulator' if names.SIMULATOR in options else ''}")


# -- back ---------------------------------------------------------------------------------------------

_ARCHS = {arch: known for known, arch in names.ARCHS.items()} | dict.fromkeys(("arm", "thumb"), ("arm", 32))
_OSES = {
    "linux": "linux",
    "windows": "windows",
    "macosx": "osx",
    "darwin": "osx",
    "ios": "ios",
    "qurt": "qurt",
    "none": "noos",
    "fuchsia": "fuchsia",
}
_TUNES = {name: token for token, name in names.TUNES.items()}


def machine_of(cpu: CpuTarget) -> HalideCPU | None:
    """Return what Halide calls a CPU's architecture and system; None where it has no name for one of them."""
    triple = cpu.triple
    if triple is None:
        return None
    known, os = _ARCHS.get(triple.arch), _OSES.get(triple.os)
    if triple.environment == "android":
        os = "android"
    if known is not None and known[0] == "wasm":
        os = names.WASM_RUNTIME if triple.os == "unknown" else None
    if known is None or os is None:
        return None
    tune = cpu.tune if cpu.tune in _TUNES else None
    return HalideCPU(*known, os, tune, cpu.vector_bits)


def flags_of_cpu(cpu: CpuTarget, unfit: list[tuple[str, str]]) -> tuple[list[str], set[str], list[str]]:
    """Return the tokens before the flags, the flags, and those behind; what has none goes to `unfit`."""
    machine = machine_of(cpu)
    if machine is None:
        unfit.append(("triple", f"Halide has no name for {cpu.triple or 'an unstated one'}"))
        return [], set(), []
    flags = _options_of(cpu, machine) | _features_of(cpu, machine)
    made, _ = cpu_of(machine, frozenset(flags), None)
    unfit.extend(
        (field, "Halide has no flag for it")
        for field in cpu.specs()
        if field != "host" and getattr(made, field) != getattr(cpu, field)
    )
    words = [machine.arch, str(machine.bits), machine.os, *(_TUNES[name] for name in (machine.tune,) if name)]
    last = [] if cpu.vector_bits is None else [f"{names.VECTOR_BITS}{cpu.vector_bits}"]
    return words, flags, last


def _options_of(cpu: CpuTarget, machine: HalideCPU) -> set[str]:
    """Return the flags that change more than the set of features."""
    triple, found = cpu.triple, set[str]()
    if triple is not None and triple.sub_arch == "v7s":
        found.add(_ARMV7S)
    if triple is not None and (machine.os, triple.environment) == ("ios", "simulator"):
        found.add(names.SIMULATOR)
    soft_abi = _SOFT_FLOAT.get(machine.known)
    soft = cpu.float_abi == "soft" if machine.known == ("arm", 32) else soft_abi in {cpu.abi} - {None}
    if soft:
        found.add(names.SOFT_FLOAT)
    if machine.arch == "wasm" and cpu.cpu == "mvp":
        found.add(_MVP)
    return found


def _features_of(cpu: CpuTarget, machine: HalideCPU) -> set[str]:
    """Return the fewest flags for what the CPU has beyond that of a string without flags."""
    base = _base(machine.arch, machine.bits, machine.os, frozenset(_options_of(cpu, machine)))
    if base.features is None or cpu.features is None or base.features.family != cpu.features.family:
        return set()
    there = cpu.features
    gone = {_NO_NEON} if machine.known == ("arm", 32) and "neon" not in there else set[str]()
    found = {
        name
        for name in names.FEATURES[machine.known]
        if _adds(base.features, machine.known, name) and _closed(machine.known, name) <= there
    }
    if (cpu.vector_bits or 0) < _AVX10_BITS:
        found.discard(_AVX10)
    return gone | _fewest(found)


@functools.lru_cache(maxsize=256)
def _closed(known: tuple[str, int], flag: str) -> FeatureSet:
    """Return all that a flag stands for, in LLVM's features."""
    flags = names.with_implied(frozenset((flag,)))
    table = names.FEATURES[known]
    family = _family(known)
    return FeatureSet.closed(family, [feature for name in flags for feature in table[name]])


@functools.lru_cache(maxsize=256)
def _adds(base: FeatureSet, known: tuple[str, int], flag: str) -> bool:
    return not _closed(known, flag) <= base


def _family(known: tuple[str, int]) -> str:
    return str(Triple.parse(f"{names.ARCHS[known]}-unknown-none").family)


# What LLVM's features bring beyond Halide's flags, and flags that say no more than a greater one does.
_BROUGHT = {
    "avx10_1": ("avx512_sapphirerapids", "avx512_zen5"),
    "avx512_sapphirerapids": ("avx512_zen5",),
    "sve2": ("sve",),
    **{f"armv8{n}a": ("arm_dot_prod",) for n in range(4, 10)},
}


def _fewest(flags: set[str]) -> set[str]:
    """Drop the flags that others bring, in Halide or in LLVM's tables."""
    brought = frozenset(more for name in flags for more in _BROUGHT.get(name, ()))
    return set(names.minimal(frozenset(flags)) - brought - (_IN_AVX10 if _AVX10 in flags else frozenset()))
