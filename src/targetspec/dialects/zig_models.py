"""zig's models of CPUs: the set of each, as LLVM's CPU of the name or by itself, and which of them is the baseline.

Source: zig 0.17 (`lib/std/Target`), by its features against those of the tables.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

import attrs

# Models that LLVM does not know, as the features that zig has them bring, in LLVM's names; tuning is left out.
_OWN: dict[str, dict[str, str]] = {
    "aarch64": {
        "emag": "aes crc crypto perfmon sha2 v8a",
        "exynos_m1": "aes crc crypto perfmon sha2 v8a",
        "exynos_m2": "aes crc crypto perfmon sha2 v8a",
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
            zvbb zvfbfwma zvfh zvkng zvknha zvksc zvksg zvl1024b unaligned-scalar-mem""",
        "spacemit_x100": """rva23s64 smepmp smnpm smstateen sspm xsmtvdot zbc zbkc zfh zvfbfwma zvfh zvkng zvknha zvksc zvksg
            zvl256b unaligned-scalar-mem""",
    },
    "x86": {"i86": "32bit-mode"},
}
# Models whose sets are not clang's of the same CPU, which the tables hold: what zig adds to that one and takes away.
# Not `generic` of AArch64, to which both add the trace extensions that few machines have: the tables leave them out.
_CHANGED: dict[str, dict[str, str]] = {
    "aarch64": {"+fp16fml": "oryon_1", "-fp16fml": "ampere1 ampere1a ampere1b"},
    "arm": {
        "+fp16fml -read-tp-tpidruro": "cortex_a510 cortex_a710 neoverse_n2",
        "+fullfp16 -read-tp-tpidruro": """cortex_a76 cortex_a76ae cortex_a77 cortex_a78 cortex_a78ae cortex_a78c
            cortex_x1 cortex_x1c exynos_m4 exynos_m5""",
        "+fullfp16 +i8mm -read-tp-tpidruro": "neoverse_v1",
        "+mp -armv7s -read-tp-tpidruro": "swift",
        "+mp -read-tp-tpidruro": "cortex_a5 cortex_a9 cortex_r7 cortex_r8",
        "+mp +virtualization -read-tp-tpidruro": "cortex_a12 cortex_a15 cortex_a17 cortex_a7",
        "-armv5tej -dsp": "arm926ej_s",
        "-dsp": """arm1020e arm1022e arm10e arm1176jz_s arm1176jzf_s arm946e_s arm966e_s arm968e_s arm9e mpcore
            mpcorenovfp""",
        "-dsp -fp16 -fpregs": "cortex_m33 cortex_m35p",
        "-fp16 -fpregs": "cortex_m4",
        "-fp16 -fpregs -fpregs64": "cortex_m7",
        "-fp16 -fpregs -fpregs16 -fpregs64": "cortex_m55",
        "-fp16 -fpregs -fpregs16 -fpregs64 -pacbti": "cortex_m85",
        "-iwmmxt": "iwmmxt",
        "-read-tp-tpidruro": """cortex_a32 cortex_a35 cortex_a53 cortex_a55 cortex_a57 cortex_a72 cortex_a73 cortex_a75
            cortex_a8 cortex_r4 cortex_r4f cortex_r5 cortex_r52 cortex_r52plus cyclone exynos_m3 krait kryo
            neoverse_n1""",
        "-xscale": "xscale",
    },
    "loongarch": {"+lbt +lvz": "la464 la664"},
    # The version of PTX is that of the compiler.
    "nvptx": {
        "-ptx88": """sm_100 sm_100a sm_101 sm_101a sm_103 sm_103a sm_120 sm_120a sm_121 sm_121a sm_20 sm_21 sm_30 sm_32
            sm_35 sm_37 sm_50 sm_52 sm_53 sm_60 sm_61 sm_62 sm_70 sm_72 sm_75 sm_80 sm_86 sm_87 sm_89 sm_90 sm_90a"""
    },
    "powerpc": {"+htm": "ppc64le pwr8 pwr9"},
    "webassembly": {"-wide-arithmetic": "bleeding_edge"},
    "x86": {
        "+cx16": "athlon64_sse3 k8_sse3 opteron_sse3",
        "+soft-float": "lakemont",
        "-cx8": "c3 winchip2 winchip_c6",
        "-invpcid": "knl knm",
        "-kl": "tigerlake",
    },
}

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


@attrs.frozen
class Model:
    """What a model of zig's is: the whole set by itself (`own`), or changes of that of LLVM's CPU; signed names."""

    items: tuple[str, ...] = ()
    own: bool = False


_PLAIN = Model()


def model(family: str | None, name: str) -> Model:
    """Return a model of a family; without changes where it is as LLVM has it.

    >>> model("x86", "tigerlake")
    Model(items=('-kl',), own=False)
    """
    return _models(family).get(name, _PLAIN) if family is not None else _PLAIN


def own_models(family: str) -> tuple[str, ...]:
    """Return the models of a family that LLVM has no CPU for."""
    return tuple(_OWN.get(family, ()))


@functools.cache
def _models(family: str) -> Mapping[str, Model]:
    changed = {
        name: Model(tuple(items.split()))
        for items, names in _CHANGED.get(family, {}).items()
        for name in names.split()
    }
    own = {
        name: Model(tuple(f"+{feature}" for feature in features.split()), own=True)
        for name, features in _OWN.get(family, {}).items()
    }
    return {**changed, **own}


def baseline(arch: str, os: str) -> str:
    """Return the model that zig takes for `baseline`, for a triple's architecture and a system of zig's."""
    found = _baselines()
    return found.get(f"{arch}-{os}") or found.get(arch, "generic")


@functools.cache
def _baselines() -> dict[str, str]:
    pairs = (pair.partition("=") for pair in f"{_BASELINES} {_BASELINES_OF_SYSTEMS}".split())
    return {key: model for key, _, model in pairs}
