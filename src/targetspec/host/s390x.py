"""What an IBM Z Linux machine can use: the machine type, the `features` and `facilities` lines, and HWCAP.

Sources: Linux, arch/s390/include/asm/elf.h and arch/s390/kernel/processor.c (bits and names); z/Architecture
Principles of Operation, "Facility indications" (numbers of facilities).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from targetspec.host.auxv import HWCAP, names_of_bits
from targetspec.host.cpuinfo import Block, common_words, first_value, words
from targetspec.host.facts import Capture, Identity, Processor

HWCAP_NAMES = words(
    "esan3 zarch stfle msa ldisp eimm dfp edat etf3eh highgprs te vx vxd vxe gs vxe2 vxp sort dflt vxp2 nnpa pcimio sie"
)
_FEATURES: Mapping[str, str] = {
    "te": "transactional-execution",
    "vx": "vector",
    "vxd": "vector-packed-decimal",
    "vxe": "vector-enhancements-1",
    "gs": "guarded-storage",
    "vxe2": "vector-enhancements-2",
    "vxp": "vector-packed-decimal-enhancement",
    "sort": "enhanced-sort",
    "dflt": "deflate-conversion",
    "vxp2": "vector-packed-decimal-enhancement-2",
    "nnpa": "nnp-assist",
}
# What the facility list shows beyond HWCAP; what needs the kernel to save registers is left to HWCAP
_FACILITIES: Mapping[int, str] = {
    37: "fp-extension",
    45: "distinct-ops fast-serialization high-word interlocked-access1 load-store-on-cond population-count",
    48: "dfp-zoned-conversion",
    49: "execution-hint load-and-trap miscellaneous-extensions processor-assist",
    53: "load-and-zero-rightmost-byte load-store-on-cond-2",
    57: "message-security-assist-extension5",
    58: "miscellaneous-extensions-2",
    61: "miscellaneous-extensions-3",
    66: "reset-reference-bits-multiple",
    76: "message-security-assist-extension3",
    77: "message-security-assist-extension4",
    78: "enhanced-dat-2",
    80: "dfp-packed-conversion",
    84: "miscellaneous-extensions-4",
    86: "message-security-assist-extension12",
    145: "insert-reference-bits-multiple",
    146: "message-security-assist-extension8",
    155: "message-security-assist-extension9",
    193: "bear-enhancement",
    194: "reset-dat-protection",
    196: "processor-activity-instrumentation",
    201: "concurrent-functions",
}
# Machine types, and the newest LLVM CPU that each is
_MACHINES: Mapping[str, tuple[int, ...]] = {
    "z10": (2097, 2098),
    "z196": (2817, 2818),
    "zEC12": (2827, 2828),
    "z13": (2964, 2965),
    "z14": (3906, 3907),
    "z15": (8561, 8562),
    "z16": (3931, 3932),
    "z17": (9175, 9176),
}
_BEFORE_VECTORS = ("z10", "z196", "zEC12")


def read_s390x(capture: Capture, blocks: tuple[Block, ...]) -> Processor:
    """Return the processor; a name that stands for vectors takes the kernel's word that a program may use them."""
    listed = common_words(blocks, "features")
    held = frozenset(names_of_bits(capture.auxv.get(HWCAP, 0), HWCAP_NAMES)) or listed
    machine = machine_type(capture.files.get("/proc/cpuinfo", ""))
    identity = Identity(
        vendor=first_value(blocks, "vendor_id"),
        model=machine,
        brand=f"IBM machine type {machine}" if machine else None,
        cpu=s390x_cpu_name(machine, vectors="vx" in held),
    )
    features = s390x_features(held, common_words(blocks, "facilities"))
    return Processor(identity=identity, features=features, notes=tuple(_notes(identity, features, machine)))


def machine_type(cpuinfo: str) -> int | None:
    """Return the machine type that the first processor's line states.

    >>> machine_type("processor 0: version = FF,  identification = 059C88,  machine = 3931")
    3931
    """
    found = re.search(r"^processor\s+\d+\s*:.*\bmachine = (\d{4})\b", cpuinfo, re.MULTILINE | re.ASCII)
    return int(found[1]) if found else None


def s390x_cpu_name(machine: int | None, *, vectors: bool) -> str | None:
    """Return LLVM's name of a machine type; without vectors none that stands for them."""
    name = next((name for name, types in _MACHINES.items() if machine in types), None)
    return name if vectors or name is None or name in _BEFORE_VECTORS else "zEC12"


def s390x_features(names: frozenset[str], facilities: frozenset[str]) -> frozenset[str]:
    """Return LLVM's features for names of HWCAP and numbers of facilities."""
    listed = (_FACILITIES[number] for number in _FACILITIES if str(number) in facilities)
    return frozenset(_FEATURES[name] for name in names & _FEATURES.keys()).union(*map(words, listed))


def _notes(identity: Identity, features: frozenset[str], machine: int | None) -> Iterator[str]:
    if identity.cpu is None:
        yield f"LLVM has no name for the machine type {machine or 'that /proc/cpuinfo does not state'}"
    if not features:
        yield "neither HWCAP nor a features line: no features are stated"
