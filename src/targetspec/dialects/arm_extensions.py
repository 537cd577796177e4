"""Arm's architectures, their extensions and FPUs, as -march, -mcpu and -mfpu of clang and GCC name them.

A modifier `+name` asks for an extension with all that it needs, `+noname` takes it away with all that needs it, each in
its turn: `armv8-a+sve+nosve` has no SVE. What `crypto` and `fp16` mean depends on the version, which the tables know.
Sources: LLVM 22.1 (`--print-supported-extensions`, its target parsers), the manual of GCC 14.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from targetspec.cpu_tables import table
from targetspec.dialects.words import Source, Word
from targetspec.errors import nearest
from targetspec.features import FeatureSet
from targetspec.triple_archs import arm_version, split_arm

FAMILIES = ("aarch64", "arm")

# A name that LLVM's feature has as well stands alone.
_EXTENSIONS = {
    "aarch64": """
        aes bf16 brbe bti btie cmh cmpbr cpa crc crypto cssc d128 dit dotprod f16f32dot f16f32mm f16mm f32mm f64mm
        f8f16mm f8f32mm faminmax fcma=complxnum flagm fp=fp-armv8 fp16=fullfp16 fp16fml fp8 fp8dot2 fp8dot4 fp8fma
        fprcvt gcie gcs hbc i8mm ite jscvt=jsconv ls64 lscp lse lse128 lsfe lsui lut memtag=mte mops mops-go mpamv2
        mtetc occmo pauth pauth-lr pcdphint pmuv3=perfmon poe2 pops predres predres2=specres2 profile=spe ras rasv2
        rcpc rcpc3 rdm rdma=rdm rng=rand sb sha2 sha3 simd=neon sm4 sme sme-b16b16 sme-f16f16 sme-f64f64 sme-f8f16
        sme-f8f32 sme-fa64 sme-i16i64 sme-lutv2 sme-mop4 sme-tmop sme2 sme2p1 sme2p2 sme2p3 ssbs ssve-aes
        ssve-bitperm ssve-fexpa ssve-fp8dot2 ssve-fp8dot4 ssve-fp8fma sve sve-aes sve-aes2 sve-b16b16 sve-b16mm
        sve-bfscale sve-bitperm sve-f16f32mm sve-sha3 sve-sm4 sve2 sve2-aes sve2-bitperm sve2-sha3 sve2-sm4 sve2p1
        sve2p2 sve2p3 tev the tlbid tlbiw wfxt
    """,
    "arm": """
        aes bf16 cdecp0 cdecp1 cdecp2 cdecp3 cdecp4 cdecp5 cdecp6 cdecp7 crc crypto dotprod dsp fp16=fullfp16
        fp16fml i8mm lob mve mve.fp pacbti ras sb sha2 simd=neon fp= fp.dp=
    """,
}
# An FPU: its version, and whether it has 32 registers, double precision, Neon (n) and cryptography (c).
_FPUS = {
    "none": (0, ""),
    "softvfp": (0, ""),
    "vfp": (2, "d"),
    "vfpv2": (2, "d"),
    "vfpv3": (3, "wd"),
    "vfpv3-fp16": (3, "wdh"),
    "vfpv3-d16": (3, "d"),
    "vfpv3-d16-fp16": (3, "dh"),
    "vfpv3xd": (3, ""),
    "vfpv3xd-fp16": (3, "h"),
    "vfpv4": (4, "wd"),
    "vfpv4-d16": (4, "d"),
    "fpv4-sp-d16": (4, ""),
    "fpv5-d16": (5, "d"),
    "fpv5-sp-d16": (5, ""),
    "fp-armv8": (5, "wd"),
    "fp-armv8-fullfp16-d16": (6, "d"),
    "fp-armv8-fullfp16-sp-d16": (6, ""),
    "neon": (3, "wdn"),
    "neon-fp16": (3, "wdhn"),
    "neon-vfpv4": (4, "wdn"),
    "neon-fp-armv8": (5, "wdn"),
    "crypto-neon-fp-armv8": (5, "wdnc"),
}
_FPU_SYNONYMS = {
    "vfp2": "vfpv2",
    "vfp3": "vfpv3",
    "vfp4": "vfpv4",
    "vfp3-d16": "vfpv3-d16",
    "vfp4-d16": "vfpv4-d16",
    "fp4-sp-d16": "fpv4-sp-d16",
    "vfpv4-sp-d16": "fpv4-sp-d16",
    "fp4-dp-d16": "vfpv4-d16",
    "fpv4-dp-d16": "vfpv4-d16",
    "fp5-sp-d16": "fpv5-sp-d16",
    "fp5-dp-d16": "fpv5-d16",
    "fpv5-dp-d16": "fpv5-d16",
    "neon-vfpv3": "neon",
}
_VERSION_NAMES = {2: "vfp2", 3: "vfp3", 4: "vfp4", 5: "fp-armv8"}
_LOWEST_HALF, _FULL_HALF = 4, 6
_FPU_FEATURES = frozenset(
    f"{name}{kind}" for name in _VERSION_NAMES.values() for kind in ("", "d16", "d16sp", "sp")
) - {"vfp2d16", "vfp2d16sp"} | {"fp16", "fullfp16", "fp64", "d32", "neon", "sha2", "aes"}

_REGISTERS = {"fpregs", "fpregs16", "fpregs64"}


@functools.cache
def extensions(family: str) -> Mapping[str, str]:
    """Return LLVM's feature for each extension that -march may add; "" for what depends on the architecture."""
    pairs = (item.partition("=") for item in _EXTENSIONS[family].split())
    return {name: feature if equals else name for name, equals, feature in pairs}


def architecture(family: str, name: str) -> str | None:
    """Return the feature of an architecture that -march names; None where the family has no such version.

    >>> architecture("aarch64", "armv8.2a"), architecture("arm", "armv7")
    ('v8.2a', 'armv7-a')
    """
    version = _version(name)
    if not version:
        return None
    if family == "arm":
        feature = version if version in ("iwmmxt", "iwmmxt2", "xscale") else f"arm{version}"
    elif version[1] in "89" and "-m" not in version:
        feature = version.replace("-", "")
    else:
        return None
    return feature if feature in table(family).features else None


def sub_architecture(name: str) -> str:
    """Return how a 32-bit triple spells the version that -march names: `armv7-a` -> `armv7a`."""
    version = _version(name)
    if version.startswith("iwmmxt"):
        return "armv5te"
    return f"arm{version.replace('-', '')}" if version.startswith("v") else version


def _version(name: str) -> str:
    if name in ("iwmmxt", "iwmmxt2", "xscale"):
        return name
    parts = split_arm(name)
    if parts is None or not name.startswith("armv"):
        return ""
    return arm_version(parts[1])


def known_modifier(family: str, name: str) -> bool:
    """Whether an architecture or CPU of the family may be modified by a name, `no` in front or not."""
    known = extensions(family)
    return (
        name in known or (family == "arm" and name in _FPUS) or (name.startswith("no") and name[2:] in known)
    )


def modified(
    source: Source,
    found: FeatureSet,
    modifiers: Iterable[Word],
    default_fpu: frozenset[str] = frozenset(),
    more: Mapping[str, frozenset[str]] = MappingProxyType({}),
) -> FeatureSet:
    """Return a set with modifiers applied in their order; TargetSyntaxError for one that is not known.

    `default_fpu` are the features of the FPU that the architecture or CPU has by itself, for `fp`; `more` are names
    that mean something else here, or nothing to clang, with what they add.
    """
    known = extensions(found.family)
    for word in modifiers:
        name = word.text
        if name in more:
            found = found.with_changes(add=more[name])
        elif name in known:
            found = found.with_changes(add=_meant(known[name], name, default_fpu))
        elif name.startswith("no") and name[2:] in known:
            found = _without(found, known[name[2:]], name[2:])
        else:
            near = nearest(name.removeprefix("no"), known)
            hint = f"did you mean {' or '.join(f'+{one}' for one in near)}?" if near else ""
            raise source.fault(word, f"unknown extension {name!r} for {found.family}", hint)
    return found


def _meant(feature: str, name: str, default_fpu: frozenset[str]) -> Iterable[str]:
    if feature:
        return (feature,)
    return default_fpu if name == "fp" else default_fpu | fpu_of_double(default_fpu)


def fpu_of_double(features: frozenset[str]) -> frozenset[str]:
    """Return what an FPU of single precision lacks of the same one with double precision."""
    version = max(
        (number for number, name in _VERSION_NAMES.items() if f"{name}d16sp" in features), default=0
    )
    return fpu_features_of(version, "d") if version else frozenset()


def _without(found: FeatureSet, feature: str, name: str) -> FeatureSet:
    if feature:
        return found.with_changes(remove=(feature,))
    return with_fpu(found, frozenset()) if name == "fp" else found.with_changes(remove=("fp64", "d32"))


def fpu_names() -> tuple[str, ...]:
    """Return what -mfpu may be, sorted."""
    return tuple(sorted([*_FPUS, *_FPU_SYNONYMS]))


def fpu_features(name: str) -> frozenset[str] | None:
    """Return what an FPU of 32-bit Arm has, as LLVM's features; None where there is no such FPU.

    >>> sorted(fpu_features("fpv4-sp-d16"))
    ['fp16', 'vfp2sp', 'vfp3d16sp', 'vfp4d16sp']
    """
    found = _FPUS.get(_FPU_SYNONYMS.get(name, name))
    return None if found is None else fpu_features_of(*found)


def fpu_named(features: frozenset[str]) -> str | None:
    """Return the name of the FPU that has exactly some features; None where none has."""
    return next(
        (name for name, found in _FPUS.items() if found[0] and fpu_features_of(*found) == features), None
    )


def fpu_features_of(version: int, traits: str) -> frozenset[str]:
    """Return the features of an FPU by version, and traits: w 32 registers, d double, h half, n Neon, c cryptography."""
    found: set[str] = set()
    for number, name in _VERSION_NAMES.items():
        if number > version:
            continue
        found.add("vfp2sp" if number == 2 else f"{name}d16sp")  # noqa: PLR2004 - it always has 16 registers
        if "d" in traits:
            found.add("vfp2" if number == 2 else f"{name}d16")  # noqa: PLR2004
        if "w" in traits and number > 2:  # noqa: PLR2004
            found |= {name, f"{name}sp"}
    if version >= _LOWEST_HALF or "h" in traits:
        found.add("fp16")
    if version >= _FULL_HALF:
        found.add("fullfp16")
    more = {"d": ("fp64",), "w": ("d32",), "n": ("neon",), "c": ("sha2", "aes")}
    return frozenset(found.union(*(more.get(trait, ()) for trait in traits)))


def with_fpu(found: FeatureSet, wanted: frozenset[str]) -> FeatureSet:
    """Return a set with its FPU exchanged for another."""
    bare = found.with_changes(remove=_FPU_FEATURES - wanted)
    # The registers were covered by what has gone, and are there by name now.
    return FeatureSet.closed(found.family, bare.names - _REGISTERS).with_changes(add=wanted)


def fpu_in(found: FeatureSet) -> frozenset[str]:
    """Return the features of a set that are of its FPU."""
    return found.names & _FPU_FEATURES
