"""LLVM features of an Arm Linux process, from the names of the kernel's hardware capabilities.

Source of the names and bits: Linux, Documentation/arch/arm64/elf_hwcaps.rst and arch/arm/include/uapi/asm/hwcap.h.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping

from targetspec.cpu_tables import table
from targetspec.host.auxv import HWCAP, HWCAP2, HWCAP3, names_of_bits
from targetspec.host.cpuinfo import words

AARCH64_BITS: Mapping[int, tuple[str, ...]] = {
    HWCAP: words(
        "fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm jscvt fcma lrcpc dcpop sha3 sm3"
        " sm4 asimddp sha512 sve asimdfhm dit uscat ilrcpc flagm ssbs sb paca pacg gcs cmpbr fprcvt f8mm8 f8mm4 svef16mm"
        " sveeltperm sveaes2 svebfscale sve2p2 sme2p2 smesbitperm smeaes smesfexpa smestmop smesmop4"
    ),
    HWCAP2: words(
        "dcpodp sve2 sveaes svepmull svebitperm svesha3 svesm4 flagm2 frint svei8mm svef32mm svef64mm svebf16 i8mm bf16"
        " dgh rng bti mte ecv afp rpres mte3 sme smei16i64 smef64f64 smei8i32 smef16f32 smeb16f32 smef32f32 smefa64 wfxt"
        " ebf16 sveebf16 cssc rprfm sve2p1 sme2 sme2p1 smei16i32 smebi32i32 smeb16b16 smef16f16 mops hbc sveb16b16"
        " lrcpc3 lse128 fpmr lut faminmax f8cvt f8fma f8dp4 f8dp2 f8e4m3 f8e5m2 smelutv2 smef8f16 smef8f32 smesf8fma"
        " smesf8dp4 smesf8dp2 poe"
    ),
    HWCAP3: words("mtefar mtestoreonly lsfe ls64"),
}
ARM_BITS: Mapping[int, tuple[str, ...]] = {
    HWCAP: words(
        "swp half thumb 26bit fastmult fpa vfp edsp java iwmmxt crunch thumbee neon vfpv3 vfpv3d16 tls vfpv4 idiva idivt"
        " vfpd32 lpae evtstrm fphp asimdhp asimddp asimdfhm asimdbf16 i8mm"
    ),
    HWCAP2: words("aes pmull sha1 sha2 crc32 sb ssbs"),
}

# An LLVM feature and the capabilities that it takes, all of them
AARCH64_FEATURES: Mapping[str, str] = {
    "fp-armv8": "fp",
    "neon": "asimd",
    "aes": "aes pmull",
    "sha2": "sha1 sha2",
    "crc": "crc32",
    "lse": "atomics",
    "fullfp16": "fphp asimdhp",
    "rdm": "asimdrdm",
    "jsconv": "jscvt",
    "complxnum": "fcma",
    "rcpc": "lrcpc",
    "ccpp": "dcpop",
    "sha3": "sha3 sha512",
    "sm4": "sm3 sm4",
    "dotprod": "asimddp",
    "fp16fml": "asimdfhm",
    "dit": "dit",
    "lse2": "uscat",
    "rcpc-immo": "ilrcpc",
    "flagm": "flagm",
    "ssbs": "ssbs",
    "sb": "sb",
    "pauth": "paca pacg",
    "gcs": "gcs",
    "cmpbr": "cmpbr",
    "fprcvt": "fprcvt",
    "f8f16mm": "f8mm8",
    "f8f32mm": "f8mm4",
    "sve-f16f32mm": "svef16mm",
    "sve-aes2": "sveaes2",
    "sve-bfscale": "svebfscale",
    "sve2p2": "sve2p2",
    "sme2p2": "sme2p2",
    "ssve-bitperm": "smesbitperm",
    "ssve-aes": "smeaes",
    "ssve-fexpa": "smesfexpa",
    "sme-tmop": "smestmop",
    "sme-mop4": "smesmop4",
    "ccdp": "dcpodp",
    "sve": "sve",
    "sve2": "sve2",
    "sve-aes": "sveaes svepmull",
    "sve-bitperm": "svebitperm",
    "sve-sha3": "svesha3",
    "sve-sm4": "svesm4",
    "altnzcv": "flagm2",
    "fptoint": "frint",
    "f32mm": "svef32mm",
    "f64mm": "svef64mm",
    "i8mm": "i8mm",
    "bf16": "bf16",
    "rand": "rng",
    "bti": "bti",
    "mte": "mte",
    "ecv": "ecv",
    "sme": "sme",
    "sme-i16i64": "smei16i64",
    "sme-f64f64": "smef64f64",
    "sme-fa64": "smefa64",
    "wfxt": "wfxt",
    "cssc": "cssc",
    "sve2p1": "sve2p1",
    "sme2": "sme2",
    "sme2p1": "sme2p1",
    "sme-b16b16": "smeb16b16",
    "sme-f16f16": "smef16f16",
    "mops": "mops",
    "hbc": "hbc",
    "sve-b16b16": "sveb16b16",
    "rcpc3": "lrcpc3",
    "lse128": "lse128",
    "lut": "lut",
    "faminmax": "faminmax",
    "fp8": "f8cvt",
    "fp8fma": "f8fma",
    "fp8dot4": "f8dp4",
    "fp8dot2": "f8dp2",
    "sme-lutv2": "smelutv2",
    "sme-f8f16": "smef8f16",
    "sme-f8f32": "smef8f32",
    "ssve-fp8fma": "smesf8fma",
    "ssve-fp8dot4": "smesf8dp4",
    "ssve-fp8dot2": "smesf8dp2",
    "lsfe": "lsfe",
    "ls64": "ls64",
}
_ARM: Mapping[str, str] = {
    "vfp2": "vfp",
    "vfp3": "vfpv3 vfpd32",
    "vfp3d16": "vfpv3",
    "vfp4": "vfpv4 vfpd32",
    "vfp4d16": "vfpv4",
    "d32": "vfpd32",
    "neon": "neon",
    "hwdiv-arm": "idiva",
    "hwdiv": "idivt",
    "dsp": "edsp",
    "aes": "aes pmull",
    "sha2": "sha1 sha2",
    "crc": "crc32",
    "fullfp16": "fphp asimdhp",
    "dotprod": "asimddp",
    "fp16fml": "asimdfhm",
    "bf16": "asimdbf16",
    "i8mm": "i8mm",
    "sb": "sb",
}

# The versions whose every demand that a program could notice is met; what only a kernel could notice (PAN, VHE, RAS
# ...) is taken as met with them. Source: Arm ARM, A2 ("Armv8.x architecture extensions"), the mandatory features.
_V8_STEPS: tuple[tuple[str, str], ...] = (
    ("v8.1a", "crc32 atomics asimdrdm"),
    ("v8.2a", "dcpop"),
    ("v8.3a", "jscvt fcma lrcpc paca pacg"),
    ("v8.4a", "asimddp flagm uscat ilrcpc dit"),
    ("v8.5a", "flagm2 frint sb dcpodp bti"),
    ("v8.6a", "i8mm bf16 ecv"),
    ("v8.7a", "wfxt"),
    ("v8.8a", "mops hbc"),
    ("v8.9a", "cssc"),
)
_VERSIONS_OF_ARM = {"5": "armv5te", "6": "armv6", "7": "armv7-a", "8": "armv8-a"}
_V9_BASE, _V9_NEEDS = "v8.5a", frozenset({"sve2", "fphp", "asimdhp"})
_V9_STEPS = (("v9a", "v8.5a"), ("v9.1a", "v8.6a"), ("v9.2a", "v8.7a"), ("v9.3a", "v8.8a"), ("v9.4a", "v8.9a"))


def capabilities(auxv: Mapping[int, int], bits: Mapping[int, tuple[str, ...]]) -> frozenset[str]:
    """Return the names of the capabilities that an auxiliary vector has."""
    return frozenset(
        name for entry, names in bits.items() for name in names_of_bits(auxv.get(entry, 0), names)
    )


def aarch64_features(names: frozenset[str]) -> frozenset[str]:
    """Return LLVM's features for capabilities, with the architecture versions that they add up to.

    >>> sorted(aarch64_features(frozenset({"fp", "asimd", "crc32"})))
    ['crc', 'fp-armv8', 'neon', 'v8a']
    """
    return _met(AARCH64_FEATURES, names) | frozenset(_versions(names))


def arm_features(names: frozenset[str]) -> frozenset[str]:
    """Return LLVM's features of a 32-bit Arm process for capabilities."""
    if "neon" in names or "vfpv4" in names:
        # kernels before 3.11 do not print vfpd32; Advanced SIMD has all 32 registers, and v4 without it says vfpv3d16
        names = names if "vfpv3d16" in names else names | {"vfpd32"}
    return _met(_ARM, names)


def arm_version(machine: str) -> frozenset[str]:
    """Return the feature of the version that the kernel's name of a 32-bit machine says: armv7l is an Armv7-A.

    >>> arm_version("armv7l"), arm_version("aarch64")
    (frozenset({'armv7-a'}), frozenset())
    """
    version = re.match(r"armv([5-8])", machine)
    return frozenset({_VERSIONS_OF_ARM[version[1]]}) if version else frozenset()


@functools.cache
def unlisted() -> frozenset[str]:
    """Return the AArch64 features that no capability stands for: much of debugging, tracing and virtualisation."""
    names = table("aarch64").names
    versions = {name for name in names if name[0] == "v" and name.endswith("a")}
    return frozenset(names).difference(AARCH64_FEATURES, versions)


@functools.cache
def unlisted_on_arm() -> frozenset[str]:
    """Return the features of 32-bit Arm that no capability stands for, versions of the architecture among them."""
    return frozenset(table("arm").names).difference(_ARM)


def _met(features: Mapping[str, str], names: frozenset[str]) -> frozenset[str]:
    return frozenset(feature for feature, needed in features.items() if names.issuperset(needed.split()))


def _versions(names: frozenset[str]) -> list[str]:
    versions = ["v8a"]
    for version, needed in _V8_STEPS:
        if not names.issuperset(needed.split()):
            break
        versions.append(version)
    if names >= _V9_NEEDS:
        versions += [newer for newer, older in _V9_STEPS if older in versions]
    return versions
