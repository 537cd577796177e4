r"""What a Windows machine can use: CPUID, IsProcessorFeaturePresent, and the registry's key of the first processor.

Sources: Microsoft, "IsProcessorFeaturePresent function" and winnt.h (numbers); the registry of
HKLM\HARDWARE\DESCRIPTION\System\CentralProcessor\0 (values; `CP 4000` is an Arm processor's main ID register).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from targetspec.host.arm_features import AARCH64_FEATURES, aarch64_features, unlisted
from targetspec.host.arm_parts import IMPLEMENTERS, machine_name, part_name
from targetspec.host.cpuid import is_virtual, usable_features
from targetspec.host.cpuid_caches import read_cpuid_caches
from targetspec.host.cpuinfo import read_number, words
from targetspec.host.facts import Capture, Identity, Processor, Topology
from targetspec.host.x86 import UNLISTED, answered_identity, named, x86_level

_X86_PRESENT: Mapping[int, str] = {
    2: "cx8",
    3: "mmx",
    6: "sse",
    10: "sse2",
    13: "sse3",
    14: "cx16",
    17: "xsave",
    22: "fsgsbase",
    28: "rdrnd",
    33: "rdpid",
    36: "ssse3",
    37: "sse4.1",
    38: "sse4.2",
    39: "avx",
    40: "avx2",
    41: "avx512f",
    60: "bmi2",
}
# The capabilities, by Linux's names, that a number says
_ARM_PRESENT: Mapping[int, str] = {
    18: "fp",
    19: "asimd",
    29: "fp asimd",
    30: "aes pmull sha1 sha2",
    31: "crc32",
    34: "atomics",
    43: "asimddp",
    44: "jscvt",
    45: "lrcpc",
    46: "sve",
    47: "sve2",
    48: "sve2p1",
    49: "sveaes",
    50: "svepmull",
    51: "svebitperm",
    52: "svebf16",
    54: "sveb16b16",
    55: "svesha3",
    56: "svesm4",
    57: "svei8mm",
    58: "svef32mm",
    59: "svef64mm",
    62: "uscat",
    64: "sha3",
    65: "sha512",
    66: "i8mm",
    67: "fphp asimdhp",
    68: "bf16",
    70: "sme",
    71: "sme2",
    72: "sme2p1",
    73: "sme2p2",
    74: "smeaes",
    75: "smesbitperm",
    78: "smesf8dp2",
    79: "smesf8dp4",
    80: "smesf8fma",
    81: "smef8f32",
    82: "smef8f16",
    83: "smef16f16",
    84: "smeb16b16",
    85: "smef64f64",
    86: "smei16i64",
    87: "smelutv2",
    88: "smefa64",
}
NUMBERS = tuple(sorted(_X86_PRESENT.keys() | _ARM_PRESENT.keys()))
"""What to ask IsProcessorFeaturePresent about."""

_IDENTIFIER = re.compile(r"Family (\d{1,4}) Model (\d{1,4}) Stepping (\d{1,4})", re.ASCII)
_MIDR = "CP 4000"


def read_windows(capture: Capture, arch: str) -> tuple[Processor, Topology]:
    """Return the processor and the caches of a process on Windows."""
    if arch in {"x86_64", "i686"}:
        caches = read_cpuid_caches(capture.leaves)
        return _read_x86(capture), Topology(num_threads=capture.affinity, caches=caches)
    return _read_arm(capture), Topology(num_threads=capture.affinity)


def _read_x86(capture: Capture) -> Processor:
    asked = frozenset(name for number, name in _X86_PRESENT.items() if number in capture.present)
    # the system denies what it does not save, and CPUID tells far more
    features = usable_features(capture.leaves, capture.xcr0) if capture.leaves else asked
    if capture.leaves and capture.present:
        features -= {_X86_PRESENT[number] for number in (39, 40, 41) if number not in capture.present}
    if capture.pointer_bits == 32:  # noqa: PLR2004
        features -= {"64bit"}
    identity = named(answered_identity(capture.leaves) or registry_identity(capture.registry), features)
    notes = tuple(_x86_notes(capture, identity, features))
    return Processor(identity=identity, features=features, unlisted=UNLISTED, notes=notes)


def registry_identity(values: Mapping[str, str]) -> Identity:
    """Return what the values of the processor's key say.

    >>> registry_identity({"Identifier": "Intel64 Family 6 Model 69 Stepping 1"}).model
    69
    """
    found = _IDENTIFIER.search(values.get("Identifier", ""))
    family, model, stepping = (int(number) for number in found.groups()) if found else (None, None, None)
    vendor = values.get("VendorIdentifier", "").strip()
    if not vendor and "," in values.get("Identifier", ""):
        vendor = values["Identifier"].rpartition(",")[2].strip()
    brand = values.get("ProcessorNameString", "").strip()
    return Identity(vendor=vendor or None, family=family, model=model, stepping=stepping, brand=brand or None)


def _read_arm(capture: Capture) -> Processor:
    held = {name for number in capture.present for name in words(_ARM_PRESENT.get(number, ""))}
    features = aarch64_features(frozenset(held)) if held else frozenset()
    midr = read_number(capture.registry.get(_MIDR))
    midrs = (midr & 0xFFFF_FFFF,) if midr and midr > 0 else ()
    parts = tuple(part_name(one) or f"{one:#010x}" for one in midrs)
    identity = Identity(
        vendor=IMPLEMENTERS.get(midrs[0] >> 24) if midrs else None,
        brand=capture.registry.get("ProcessorNameString", "").strip() or None,
        midrs=midrs,
        parts=parts,
        cpu=machine_name(midrs, ""),
    )
    notes = [] if features else ["IsProcessorFeaturePresent was not asked: no features are stated"]
    if identity.cpu is None:
        notes.append(f"LLVM has no name for {identity.brand or 'a processor that does not say its model'}")
    # Windows has a number for few things; of the rest the model's name tells
    shown = aarch64_features(frozenset(name for names in _ARM_PRESENT.values() for name in words(names)))
    unseen = unlisted().union(AARCH64_FEATURES.keys() - shown)
    return Processor(identity=identity, features=features, unlisted=unseen, notes=tuple(notes))


def _x86_notes(capture: Capture, identity: Identity, features: frozenset[str]) -> Iterator[str]:
    if not capture.leaves:
        yield "CPUID was not run: features that Windows does not list are not stated"
    if not features:
        yield "IsProcessorFeaturePresent was not asked either: no features are stated"
    if is_virtual(capture.leaves):
        yield "virtualised: the hypervisor may hide features that this model has elsewhere"
    if identity.cpu is None:
        level = x86_level(features) or "no psABI level"
        yield f"LLVM has no name for {identity.brand or 'the processor'}; the features reach {level}"
