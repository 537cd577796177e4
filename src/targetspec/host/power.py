"""What a POWER Linux machine can use: the `cpu` line of /proc/cpuinfo, and the bits of HWCAP.

Sources: Linux, arch/powerpc/include/uapi/asm/cputable.h (bits); Power ISA 2.06 to 3.1 (what a version demands).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from targetspec.host.auxv import HWCAP, HWCAP2
from targetspec.host.cpuinfo import Block, first_value, words
from targetspec.host.facts import Capture, Identity, Processor

_CPUS = {
    "PPC970FX": "970",
    "PPC970MP": "970",
    "PPC970": "970",
    "POWER3": "pwr3",
    "POWER4": "pwr4",
    "POWER4+": "pwr4",
    "POWER5": "pwr5",
    "POWER5+": "pwr5x",
    "POWER6": "pwr6",
    "POWER7": "pwr7",
    "POWER7+": "pwr7",
    "POWER8": "pwr8",
    "POWER8E": "pwr8",
    "POWER8NVL": "pwr8",
    "POWER9": "pwr9",
    "POWER10": "pwr10",
    "POWER11": "pwr11",
    "A2": "a2",
    "e500": "e500",
    "e500v2": "e500",
    "e500mc": "e500mc",
    "e5500": "e5500",
    "7400": "7400",
    "7410": "7400",
    "7447": "7400",
    "7447A": "7450",
    "7448": "7450",
    "7450": "7450",
    "7455": "7450",
    "604": "604",
    "604e": "604e",
    "750": "750",
    "750FX": "750",
}
# Each bit and the features that a program may use where it is set; a version of the ISA brings what it demands
_2_06 = (
    "isa-v206-instructions bpermd cmpb extdiv fcpsgn fpcvt fprnd fre fres frsqrte frsqrtes fsqrt isel ldbrx lfiwax"
    " mfocrf popcntd stfiwx 64bit-support"
)
_2_07 = "isa-v207-instructions icbt partword-atomics quadword-atomics"
_BITS: tuple[tuple[int, int, str], ...] = (
    (HWCAP, 0x1000_0000, "altivec"),
    (HWCAP, 0x0800_0000, "fpu hard-float"),
    (HWCAP, 0x4000_0000, "64bit-support"),
    (HWCAP, 0x0080_0000, "spe"),
    (HWCAP, 0x0000_0080, "vsx"),
    (HWCAP, 0x0000_1000, "cmpb fcpsgn fprnd fre fres frsqrte frsqrtes fsqrt lfiwax mfocrf stfiwx"),  # 2.05
    (HWCAP, 0x0000_0100, _2_06),
    (HWCAP2, 0x8000_0000, f"{_2_06} {_2_07}"),
    (HWCAP2, 0x4000_0000, "htm"),
    (HWCAP2, 0x0800_0000, "isel"),
    (HWCAP2, 0x0200_0000, "crypto"),
    (HWCAP2, 0x0080_0000, f"{_2_06} {_2_07} isa-v30-instructions"),
    (HWCAP2, 0x0040_0000, "float128"),
    (
        HWCAP2,
        0x0004_0000,
        f"{_2_06} {_2_07} isa-v30-instructions isa-v31-instructions prefix-instrs pcrelative-memops",
    ),
    (HWCAP2, 0x0002_0000, "mma paired-vector-memops"),
)
# With VSX, each version adds vector instructions of its own, which have no bit
_VECTORS = (
    ("isa-v207-instructions", "power8-altivec power8-vector direct-move"),
    ("isa-v30-instructions", "power9-altivec power9-vector"),
    ("isa-v31-instructions", "power10-vector"),
)


def read_power(capture: Capture, blocks: tuple[Block, ...]) -> Processor:
    """Return the processor; without HWCAP no features are stated, but the name."""
    brand = first_value(blocks, "cpu")
    identity = Identity(
        vendor="IBM" if _is_ibm(brand) else None, brand=brand, cpu=power_cpu_name(brand or "")
    )
    features = power_features(capture.auxv.get(HWCAP, 0), capture.auxv.get(HWCAP2, 0))
    return Processor(identity=identity, features=features, notes=tuple(_notes(identity, features)))


def power_cpu_name(cpu: str) -> str | None:
    """Return LLVM's name for the `cpu` line, None where it has none.

    >>> power_cpu_name("POWER8E (raw), altivec supported")
    'pwr8'
    """
    found = re.match(r"[A-Za-z0-9+]+", cpu)
    return _CPUS.get(found[0]) if found else None


def power_features(hwcap: int, hwcap2: int) -> frozenset[str]:
    """Return LLVM's names of what the bits of HWCAP and HWCAP2 allow."""
    values = {HWCAP: hwcap, HWCAP2: hwcap2}
    found = {name for entry, bit, names in _BITS if values[entry] & bit for name in words(names)}
    if "vsx" in found:
        found.update(name for version, names in _VECTORS if version in found for name in words(names))
    return frozenset(found)


def _is_ibm(brand: str | None) -> bool:
    return (brand or "").startswith(("POWER", "PPC970", "A2"))


def _notes(identity: Identity, features: frozenset[str]) -> Iterator[str]:
    if identity.cpu is None:
        yield f"LLVM has no name for the processor {identity.brand or 'that /proc/cpuinfo does not name'}"
    if not features:
        yield "HWCAP was not read: no features are stated, and the processor's name stands for them"
