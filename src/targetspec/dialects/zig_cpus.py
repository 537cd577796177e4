"""zig's names of CPUs and features, and LLVM's: those of LLVM with `_` for `-` and `.`, but for the ones listed here.

Source: zig 0.17 (`lib/std/Target`).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from types import MappingProxyType

from targetspec import cpu as tables
from targetspec.triple_archs import ARCHS

_PUNCTUATION = re.compile(r"[-.]")
_ARM_ARCH = re.compile(r"armv([0-9][a-z0-9.]*)(-[a-z].*)?")

# Features whose names differ otherwise; ARM's are read by rule.
_FEATURES = {
    "aarch64": {"contextidr_el2": "CONTEXTIDREL2"},
    "amdgpu": {
        "ds128": "enable-ds128",
        "flat_scratch": "enable-flat-scratch",
        "prt_strict_null": "enable-prt-strict-null",
    },
}
# What zig has, and LLVM does not: kernel-mode and removed extensions, and workarounds of its own.
OWN_FEATURES = {
    "arm": frozenset(("v2", "v2a", "v3", "v3m")),
    "mips": frozenset(("notraps",)),
    "webassembly": frozenset(("nontrapping_bulk_memory_len0",)),
    "x86": frozenset(
        (
            "3dnow",
            "3dnowa",
            "avx512er",
            "avx512pf",
            "bsf_bsr_0_clobbers_result",
            "prefetchwt1",
            "smap",
            "smep",
        )
    ),
}
# CPUs that LLVM does not know, as the features that zig has them bring, in LLVM's names; tuning is left out.
OWN_CPUS: dict[str, dict[str, str]] = {
    "aarch64": {
        "emag": "crc aes sha2 perfmon v8a",
        "exynos_m1": "crc aes sha2 perfmon v8a",
        "exynos_m2": "crc aes sha2 perfmon v8a",
        "xgene1": "perfmon v8a",
    },
    "arm": {"baseline": "armv7-a", "exynos_m1": "armv8-a", "exynos_m2": "armv8-a"},
    "loongarch": {
        "la32rv1_0": "32bit ual",
        "la32v1_0": "32bit 32s d ual",
        "la64v1_0": "64bit lsx ual",
        "la64v1_1": "64bit div32 frecipe lam-bh lamcas ld-seq-sa lsx scq ual",
    },
    "mips": {"allegrex": "mips2 single-float", "r3000a": "mips1 soft-float"},
    "riscv": {
        "baseline_rv32": "a c d i m",
        "baseline_rv64": "a c d i m",
        "spacemit_a100": """a b c i m smepmp smnpm smstateen ssccptr sscofpmf sscounterenw ssnpm sspm sstc sstvala sstvecd
            ssu64xl supm svade svbare svinval svnapot svpbmt v za64rs zawrs zbc zbkc zcb zcmop zfa zfh zic64b zicbom
            zicbop zicboz ziccamoa ziccif zicclsm ziccrse zicntr zicond zifencei zihintntl zihintpause zihpm zimop zkt
            zvbb zvfbfwma zvfh zvkng zvknha zvksc zvksg zvl1024b""",
        "spacemit_x100": """rva23s64 smepmp smnpm smstateen sspm xsmtvdot zbc zbkc zfh zvfbfwma zvfh zvkng zvknha zvksc zvksg
            zvl256b""",
    },
    "x86": {"i86": ""},
}
# LLVM's names of CPUs of architectures without a table, where zig's differ.
_OTHER_CPUS = {f"myriad2_{n}": f"myriad2.{n}" for n in (1, 2, 3)} | {"xs1b_generic": "xs1b-generic"}

# What zig takes for `baseline`, by architecture; LLVM's CPU, or one of OWN_CPUS. Systems that depart from it follow.
_BASELINES = """
    aarch64=generic aarch64_be=generic alpha=ev6 amdgcn=gfx906 arm=baseline armeb=baseline avr=avr2 bpfeb=v3 bpfel=v3
    csky=ck810 hexagon=hexagonv68 hppa=pa_7300lc hppa64=pa_8000 i386=pentium4 kvx=coolidge_v2 lanai=v11
    loongarch32=la32v1_0 loongarch64=la64v1_0 m68k=M68030 mips=mips32r2 mipsel=mips32r2 mips64=mips64r2
    mips64el=mips64r2 msp430=msp430 nvptx=sm_52 nvptx64=sm_52 powerpc=ppc powerpcle=ppc powerpc64=ppc64
    powerpc64le=ppc64le propeller=p1 riscv32=baseline_rv32 riscv32be=baseline_rv32 riscv64=baseline_rv64
    riscv64be=baseline_rv64 s390x=arch11 sparc=v8 sparcv9=ultrasparc thumb=baseline thumbeb=baseline wasm32=lime1
    wasm64=lime1 x86_16=i86 x86_64=x86_64 xcore=xs1b_generic xtensa=esp32 xtensaeb=generic
"""
_BASELINES_OF_SYSTEMS = """
    aarch64-haiku=cortex_a55 aarch64-driverkit=apple_m1 aarch64-maccatalyst=apple_m1 aarch64-macos=apple_m1
    aarch64-ios=apple_a7 aarch64-tvos=apple_a7 aarch64-visionos=apple_m2 aarch64-watchos=apple_s4
    aarch64-switch=cortex_a57 arm-3ds=mpcore arm-vita=cortex_a9 arm-gba=arm7tdmi thumb-vita=cortex_a9
    thumb-gba=arm7tdmi mipsel-psx=r3000a mipsel-psp=allegrex mips64-openbsd=octeon powerpc-openbsd=750
    powerpc-wiiu=750 powerpc64-linux=pwr8 powerpc64-freebsd=pwr8 powerpc64-openbsd=pwr9 sparc-linux=v9
    x86_64-driverkit=nehalem x86_64-maccatalyst=nehalem x86_64-macos=core2 x86_64-ps4=btver2 x86_64-ps5=znver2
"""


def family_of(arch: str) -> str | None:
    """Return the table of a triple's architecture, None where there is none."""
    family = ARCHS[arch].family
    return family if family in tables.family_names() else None


def baseline_model(arch: str, os: str) -> str:
    """Return the model that zig takes for `baseline`, for a triple's architecture and a system of zig's."""
    found = _baselines()
    return found.get(f"{arch}-{os}") or found.get(arch, "generic")


@functools.cache
def _baselines() -> dict[str, str]:
    pairs = (pair.partition("=") for pair in f"{_BASELINES} {_BASELINES_OF_SYSTEMS}".split())
    return {key: model for key, _, model in pairs}


@functools.cache
def cpus(family: str) -> Mapping[str, str]:
    """Return zig's names of the CPUs of a family, each with LLVM's."""
    return MappingProxyType({_underscored(name): name for name in tables.cpu_names(family, aliases=True)})


@functools.cache
def features(family: str) -> Mapping[str, str]:
    """Return zig's names of the features of a family, each with LLVM's."""
    own = {name: zig for zig, name in _FEATURES.get(family, {}).items()}
    return MappingProxyType(
        {own.get(name) or _feature_name(family, name): name for name in tables.feature_names(family)}
    )


@functools.cache
def written_features(family: str) -> Mapping[str, str]:
    """Return LLVM's names of features, each with zig's."""
    return MappingProxyType({name: zig for zig, name in features(family).items()})


def llvm_cpu(family: str | None, name: str) -> str | None:
    """Return LLVM's name of a CPU; None where LLVM has none. Where there is no table, any name is taken."""
    return _OTHER_CPUS.get(name, name) if family is None else cpus(family).get(name)


def zig_cpu(family: str | None, name: str) -> str:
    """Return zig's name of a CPU."""
    return name if family is None and name not in _OTHER_CPUS.values() else _underscored(name)


def _underscored(name: str) -> str:
    return _PUNCTUATION.sub("_", name)


def _feature_name(family: str, name: str) -> str:
    """Return zig's name: on ARM, an architecture has LLVM's name of the version, and the version one of its own."""
    if family != "arm":
        return _underscored(name)
    arch = _ARM_ARCH.fullmatch(name)
    if arch:
        return f"v{arch[1]}{_underscored_profile(arch[2] or '')}".replace(".", "_")
    return f"has_{_underscored(name)}" if name[0] == "v" and name[1].isdigit() else _underscored(name)


def _underscored_profile(profile: str) -> str:
    """Return how zig writes an ARM profile: `-a` as `a`, `-m.base` as `m`, `-m.main` as `m_main`."""
    return profile.removeprefix("-").removesuffix(".base").replace(".", "_")
