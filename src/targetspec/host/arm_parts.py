"""Names of Arm cores by what their main ID register says, and LLVM's name of each.

Sources: LLVM 22 (llvm/lib/TargetParser/Host.cpp), the Arm Technical Reference Manuals, Linux
(arch/arm64/include/asm/cputype.h). A design that LLVM has no CPU for is named for the reader, and has no LLVM name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

ARM, QUALCOMM, SAMSUNG = 0x41, 0x51, 0x53

IMPLEMENTERS: Mapping[int, str] = {
    0x41: "ARM",
    0x42: "Broadcom",
    0x43: "Cavium",
    0x44: "DEC",
    0x46: "Fujitsu",
    0x48: "HiSilicon",
    0x49: "Infineon",
    0x4D: "Motorola",
    0x4E: "NVIDIA",
    0x50: "APM",
    0x51: "Qualcomm",
    0x53: "Samsung",
    0x54: "Texas Instruments",
    0x56: "Marvell",
    0x61: "Apple",
    0x63: "Arm China",
    0x66: "Faraday",
    0x69: "Intel",
    0x6D: "Microsoft",
    0x70: "Phytium",
    0xC0: "Ampere",
}

_PARTS: Mapping[int, Mapping[int, str]] = {
    0x41: {
        0x926: "arm926ej-s",
        0xB02: "mpcore",
        0xB36: "arm1136j-s",
        0xB56: "arm1156t2-s",
        0xB76: "arm1176jz-s",
        0xC05: "cortex-a5",
        0xC07: "cortex-a7",
        0xC08: "cortex-a8",
        0xC09: "cortex-a9",
        0xC0D: "cortex-a12",
        0xC0E: "cortex-a17",
        0xC0F: "cortex-a15",
        0xC18: "cortex-r8",
        0xC20: "cortex-m0",
        0xC23: "cortex-m3",
        0xC24: "cortex-m4",
        0xC27: "cortex-m7",
        0xD02: "cortex-a34",
        0xD03: "cortex-a53",
        0xD04: "cortex-a35",
        0xD05: "cortex-a55",
        0xD06: "cortex-a65",
        0xD07: "cortex-a57",
        0xD08: "cortex-a72",
        0xD09: "cortex-a73",
        0xD0A: "cortex-a75",
        0xD0B: "cortex-a76",
        0xD0C: "neoverse-n1",
        0xD0D: "cortex-a77",
        0xD0E: "cortex-a76ae",
        0xD13: "cortex-r52",
        0xD14: "cortex-r82ae",
        0xD15: "cortex-r82",
        0xD16: "cortex-r52plus",
        0xD20: "cortex-m23",
        0xD21: "cortex-m33",
        0xD22: "cortex-m55",
        0xD23: "cortex-m85",
        0xD24: "cortex-m52",
        0xD40: "neoverse-v1",
        0xD41: "cortex-a78",
        0xD42: "cortex-a78ae",
        0xD43: "cortex-a65ae",
        0xD44: "cortex-x1",
        0xD46: "cortex-a510",
        0xD47: "cortex-a710",
        0xD48: "cortex-x2",
        0xD49: "neoverse-n2",
        0xD4A: "neoverse-e1",
        0xD4B: "cortex-a78c",
        0xD4C: "cortex-x1c",
        0xD4D: "cortex-a715",
        0xD4E: "cortex-x3",
        0xD4F: "neoverse-v2",
        0xD80: "cortex-a520",
        0xD81: "cortex-a720",
        0xD82: "cortex-x4",
        0xD83: "neoverse-v3ae",
        0xD84: "neoverse-v3",
        0xD85: "cortex-x925",
        0xD87: "cortex-a725",
        0xD88: "cortex-a520ae",
        0xD89: "cortex-a720ae",
        0xD8A: "c1-nano",
        0xD8B: "c1-pro",
        0xD8C: "c1-ultra",
        0xD8E: "neoverse-n3",
        0xD8F: "cortex-a320",
        0xD90: "c1-premium",
    },
    0x42: {0x0A1: "thunderxt88", 0x0AF: "thunderx2t99", 0x516: "thunderx2t99"},
    0x43: {0x0A1: "thunderxt88", 0x0AF: "thunderx2t99", 0x516: "thunderx2t99"},
    0x46: {0x001: "a64fx", 0x003: "fujitsu-monaka"},
    0x48: {0xD01: "tsv110", 0xD40: "cortex-a76"},
    0x4E: {0x000: "denver", 0x003: "denver2", 0x004: "carmel", 0x010: "olympus"},
    0x51: {
        0x001: "oryon-1",
        0x00F: "scorpion",
        0x02D: "scorpion",
        0x04D: "krait",
        0x06F: "krait",
        0x201: "kryo",
        0x205: "kryo",
        0x211: "kryo",
        0x800: "cortex-a73",
        0x801: "cortex-a53",
        0x802: "cortex-a75",
        0x803: "cortex-a55",
        0x804: "cortex-a76",
        0x805: "cortex-a55",
        0xC00: "falkor",
        0xC01: "saphira",
    },
    0x61: {
        **dict.fromkeys((0x020, 0x021, 0x022, 0x023, 0x024, 0x025, 0x028, 0x029), "apple-m1"),
        **dict.fromkeys((0x030, 0x031, 0x032, 0x033, 0x034, 0x035, 0x038, 0x039), "apple-m2"),
        **dict.fromkeys((0x048, 0x049), "apple-m3"),
    },
    0x63: {0x132: "star-mc1", 0xD25: "star-mc3"},
    0x6D: {0xD49: "neoverse-n2"},
    0xC0: {0xAC3: "ampere1", 0xAC4: "ampere1a", 0xAC5: "ampere1b", 0xAC7: "ampere1c"},
}
# Samsung tells its designs apart by variant and part together
_SAMSUNG = {
    0x1001: "exynos-m1",
    0x4001: "exynos-m2",
    0x1002: "exynos-m3",
    0x1003: "exynos-m4",
    0x1004: "exynos-m5",
}

# What LLVM tunes for where it is not the design's own name: the small cores of Kryo 2xx to 4xx go by their big ones
_LLVM_OTHER = {
    (QUALCOMM, 0x801): "cortex-a73",
    (QUALCOMM, 0x803): "cortex-a75",
    (QUALCOMM, 0x805): "cortex-a76",
}
_NOT_IN_LLVM = frozenset({"denver", "denver2", "scorpion", "exynos-m1", "exynos-m2"})

# Kernels before 4.x print one block for all cores, of whichever core ran: what is on these chips
_CHIPS: Mapping[str, tuple[str, ...]] = {
    "Exynos5410": ("cortex-a7", "cortex-a15"),
    "Exynos5420": ("cortex-a7", "cortex-a15"),
    "Exynos5422": ("cortex-a7", "cortex-a15"),
    "Exynos5430": ("cortex-a7", "cortex-a15"),
    "Exynos5433": ("cortex-a53", "cortex-a57"),
    "Exynos7420": ("cortex-a53", "cortex-a57"),
    "Kirin920": ("cortex-a7", "cortex-a15"),
    "Kirin925": ("cortex-a7", "cortex-a15"),
    "Kirin928": ("cortex-a7", "cortex-a15"),
    "MSM8956": ("cortex-a53", "cortex-a72"),
    "MSM8976": ("cortex-a53", "cortex-a72"),
    "MSM8992": ("cortex-a53", "cortex-a57"),
    "MSM8994": ("cortex-a53", "cortex-a57"),
    "MT8135": ("cortex-a7", "cortex-a15"),
    "MT8173": ("cortex-a53", "cortex-a72"),
    "MT8176": ("cortex-a53", "cortex-a72"),
    "MT6595": ("cortex-a7", "cortex-a17"),
    "MT6595M": ("cortex-a7", "cortex-a17"),
    "MT6595T": ("cortex-a7", "cortex-a17"),
    "MT6797": ("cortex-a53", "cortex-a72"),
    "MT6797M": ("cortex-a53", "cortex-a72"),
    "MT6797T": ("cortex-a53", "cortex-a72"),
    "MT6797X": ("cortex-a53", "cortex-a72"),
    "gs702c": ("cortex-a5",),  # prints no part at all
}
# LLVM names these by their small cores, since the part they print is a matter of chance
_LLVM_CHIPS = ("MSM8994", "MSM8996")


def midr_of(implementer: int, variant: int, part: int, revision: int) -> int:
    """Return the main ID register that these fields make (architecture 0xF: "see the ID registers")."""
    return implementer << 24 | variant << 20 | 0xF << 16 | part << 4 | revision


def part_name(midr: int) -> str | None:
    """Return the name of the design, None where it is not known.

    >>> part_name(0x410FD034)
    'cortex-a53'
    """
    implementer, variant, part = midr >> 24 & 0xFF, midr >> 20 & 0xF, midr >> 4 & 0xFFF
    if implementer == SAMSUNG:
        return _SAMSUNG.get(variant << 12 | part)
    return _PARTS.get(implementer, {}).get(part)


def llvm_name(midr: int) -> str | None:
    """Return LLVM's CPU for a core, None where LLVM has none.

    >>> llvm_name(0x51AF8014)
    'cortex-a73'
    """
    other = _LLVM_OTHER.get((midr >> 24 & 0xFF, midr >> 4 & 0xFFF))
    name = other or part_name(midr)
    return None if name in _NOT_IN_LLVM else name


def machine_name(midrs: Sequence[int], hardware: str) -> str | None:
    """Return LLVM's CPU for a machine whose cores are listed in order: that of the last, as LLVM has it.

    The exceptions are LLVM's too: Cortex-X925 beside A725, and chips of which one core's block stands for all.
    """
    if not midrs:
        return None
    if midrs[-1] >> 24 == ARM and hardware.endswith(_LLVM_CHIPS):
        return "cortex-a53"
    if {part_name(midr) for midr in midrs} == {"cortex-x925", "cortex-a725"}:
        return "cortex-x925"
    return llvm_name(midrs[-1])


def chip_parts(hardware: str) -> tuple[str, ...]:
    """Return the designs on a chip whose kernel may show only one of them, () for other chips.

    >>> chip_parts("Qualcomm Technologies, Inc MSM8992")
    ('cortex-a53', 'cortex-a57')
    """
    words = hardware.split()
    return _CHIPS.get(words[-1], ()) if words else ()
