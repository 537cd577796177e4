"""Read CPUID's answers: identity, and the features that the operating system lets programs use."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping

from targetspec.host.cpuinfo import words
from targetspec.host.facts import Leaves

EAX, EBX, ECX, EDX = range(4)
BASIC, EXTENDED = 0, 0x8000_0000

# (leaf, subleaf, register) to the bits that stand for LLVM features. Sources: Intel SDM volume 2 (CPUID), AMD APM
# volume 3 appendix E; names and the choice of bits as in LLVM 22.
_APX = ("egpr", "push2pop2", "ppx", "ndd", "ccmp", "nf", "cf", "zu")
_BITS: Mapping[tuple[int, int, int], Mapping[int, tuple[str, ...]]] = {
    (1, 0, EDX): {
        0: ("x87",),
        8: ("cx8",),
        15: ("cmov",),
        23: ("mmx",),
        24: ("fxsr",),
        25: ("sse",),
        26: ("sse2",),
    },
    (1, 0, ECX): {
        0: ("sse3",),
        1: ("pclmul",),
        9: ("ssse3",),
        12: ("fma",),
        13: ("cx16",),
        19: ("sse4.1",),
        20: ("sse4.2", "crc32"),
        22: ("movbe",),
        23: ("popcnt",),
        25: ("aes",),
        26: ("xsave",),
        28: ("avx",),
        29: ("f16c",),
        30: ("rdrnd",),
    },
    (7, 0, EBX): {
        0: ("fsgsbase",),
        2: ("sgx",),
        3: ("bmi",),
        5: ("avx2",),
        8: ("bmi2",),
        10: ("invpcid",),
        11: ("rtm",),
        16: ("avx512f",),
        17: ("avx512dq",),
        18: ("rdseed",),
        19: ("adx",),
        21: ("avx512ifma",),
        23: ("clflushopt",),
        24: ("clwb",),
        28: ("avx512cd",),
        29: ("sha",),
        30: ("avx512bw",),
        31: ("avx512vl",),
    },
    (7, 0, ECX): {
        1: ("avx512vbmi",),
        4: ("pku",),  # bit 4 says that the system turned it on, bit 3 only that it could
        5: ("waitpkg",),
        6: ("avx512vbmi2",),
        8: ("gfni",),
        9: ("vaes",),
        10: ("vpclmulqdq",),
        11: ("avx512vnni",),
        12: ("avx512bitalg",),
        14: ("avx512vpopcntdq",),
        22: ("rdpid",),
        25: ("cldemote",),
        27: ("movdiri",),
        28: ("movdir64b",),
        29: ("enqcmd",),
    },
    (7, 0, EDX): {
        8: ("avx512vp2intersect",),
        14: ("serialize",),
        16: ("tsxldtrk",),
        18: ("pconfig",),
        22: ("amx-bf16",),
        23: ("avx512fp16",),
        24: ("amx-tile",),
        25: ("amx-int8",),
    },
    (7, 1, EAX): {
        0: ("sha512",),
        1: ("sm3",),
        2: ("sm4",),
        3: ("raoint",),
        4: ("avxvnni",),
        5: ("avx512bf16",),
        7: ("cmpccxadd",),
        21: ("amx-fp16",),
        22: ("hreset",),
        23: ("avxifma",),
        31: ("movrs",),
    },
    (7, 1, EDX): {
        4: ("avxvnniint8",),
        5: ("avxneconvert",),
        8: ("amx-complex",),
        10: ("avxvnniint16",),
        14: ("prefetchi",),
        15: ("usermsr",),
        21: _APX,
    },
    (0xD, 1, EAX): {0: ("xsaveopt",), 1: ("xsavec",), 3: ("xsaves",)},
    (0x14, 0, EBX): {4: ("ptwrite",)},
    (0x1E, 1, EAX): {4: ("amx-fp8",), 6: ("amx-tf32",), 7: ("amx-avx512",), 8: ("amx-movrs",)},
    (0x8000_0001, 0, ECX): {
        0: ("sahf",),
        5: ("lzcnt",),
        6: ("sse4a",),
        8: ("prfchw",),
        11: ("xop",),
        15: ("lwp",),
        16: ("fma4",),
        21: ("tbm",),
        29: ("mwaitx",),
    },
    (0x8000_0001, 0, EDX): {29: ("64bit",)},
    (0x8000_0008, 0, EBX): {0: ("clzero",), 4: ("rdpru",), 9: ("wbnoinvd",)},
}

# What needs register state that the system saves on a switch: the bits of XCR0, then the features (SDM volume 1, 13.3)
_AVX_STATE, _AVX512_STATE, _AMX_STATE, _APX_STATE = 0x6, 0xE6, 0x6_0000, 0x8_0000
_OSXSAVE = 1 << 27
_NEEDS_AVX = frozenset(
    words(
        "avx avx2 fma f16c xop fma4 vaes vpclmulqdq xsave xsaveopt xsavec xsaves avxvnni avxifma avxvnniint8"
        " avxvnniint16 avxneconvert sha512 sm3 sm4"
    )
)


def saved_state(leaves: Leaves, xcr0: int | None) -> int:
    """Return the XCR0 bits that hold: none without OSXSAVE, or where XCR0 was not captured."""
    return (xcr0 or 0) if register(leaves, 1, 0, ECX) & _OSXSAVE else 0


def needs_state(feature: str) -> int:
    """Return the XCR0 bits without which a feature of the CPU is of no use."""
    if feature.startswith("amx-"):
        return _AMX_STATE
    if feature in _APX:
        return _APX_STATE
    if feature.startswith(("avx512", "avx10")):
        return _AVX512_STATE
    return _AVX_STATE if feature in _NEEDS_AVX else 0


def usable_features(leaves: Leaves, xcr0: int | None) -> frozenset[str]:
    """Return LLVM's names of the features that the CPU has and the system saves the state of."""
    missing = ~saved_state(leaves, xcr0)
    found = [name for name, needed in _stated(leaves) if not needed & missing]
    return frozenset(found) if _AVX512_STATE & missing else frozenset(found) | _avx10(leaves)


def _stated(leaves: Leaves) -> Iterator[tuple[str, int]]:
    for place, bits in _WITH_STATE:
        value = register(leaves, *place)
        if value:
            for mask, names in bits:
                if value & mask:
                    yield from names


_WITH_STATE = tuple(
    (
        place,
        tuple((1 << bit, tuple((name, needs_state(name)) for name in names)) for bit, names in bits.items()),
    )
    for place, bits in _BITS.items()
)


def _avx10(leaves: Leaves) -> frozenset[str]:
    if not register(leaves, 7, 1, EDX) >> 19 & 1:
        return frozenset()
    version = register(leaves, 0x24, 0, EBX) & 0xFF
    return frozenset(f"avx10.{minor}" for minor in (1, 2) if version >= minor)


def register(leaves: Leaves, leaf: int, subleaf: int, which: int) -> int:
    """Return a register, 0 beyond what the CPU answers: some repeat their last leaf there."""
    base = EXTENDED if leaf >= EXTENDED else BASIC
    if leaf > leaves.get((base, 0), (0, 0, 0, 0))[EAX]:
        return 0
    if leaf == 7 and subleaf > leaves.get((7, 0), (0, 0, 0, 0))[EAX]:  # noqa: PLR2004
        return 0
    return leaves.get((leaf, subleaf), (0, 0, 0, 0))[which] & 0xFFFF_FFFF


def is_virtual(leaves: Leaves) -> bool:
    """Return whether the CPU says that a hypervisor runs it."""
    return bool(register(leaves, 1, 0, ECX) >> 31)


def vendor(leaves: Leaves) -> str | None:
    """Return the twelve letters of the maker ("GenuineIntel"), None where the CPU has none."""
    _, ebx, ecx, edx = leaves.get((0, 0), (0, 0, 0, 0))
    return _text(ebx, edx, ecx) or None


def brand(leaves: Leaves) -> str | None:
    """Return the marketing name."""
    words_of = [register(leaves, 0x8000_0002 + place // 4, 0, place % 4) for place in range(12)]
    return _text(*words_of).strip() or None


def _text(*words: int) -> str:
    data = struct.pack(f"<{len(words)}I", *(word & 0xFFFF_FFFF for word in words))
    return data.partition(b"\0")[0].decode("ascii", "replace")


def signature(leaves: Leaves) -> tuple[int, int, int]:
    """Return the family, model and stepping, the extended fields added where the architecture says so.

    >>> signature({(0, 0): (1, 0, 0, 0), (1, 0): (0x000906A4, 0, 0, 0)})
    (6, 154, 4)
    """
    eax = register(leaves, 1, 0, EAX) or register(leaves, 0x8000_0001, 0, EAX)
    family, model = eax >> 8 & 0xF, eax >> 4 & 0xF
    if family in {6, 15}:
        model |= (eax >> 16 & 0xF) << 4
    return family + (eax >> 20 & 0xFF if family == 15 else 0), model, eax & 0xF  # noqa: PLR2004
