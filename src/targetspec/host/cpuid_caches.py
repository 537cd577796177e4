"""Read the sizes of caches from CPUID."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping

from targetspec.host.cpuid import EAX, EBX, ECX, EDX, register
from targetspec.host.facts import Caches, Leaves

Cache = tuple[int, str, int, int]
"""Level, "Data" | "Instruction" | "Unified", bytes, bytes of a line."""

_KINDS = {1: "Data", 2: "Instruction", 3: "Unified"}
_K, _M = 1 << 10, 1 << 20

# Leaf 2's one-byte descriptors, of data caches; the rest tell of TLBs, trace caches and prefetch (Intel SDM, CPUID)
_LINE_32: Mapping[int, tuple[int, int]] = {
    0x0A: (1, 8 * _K),
    0x0C: (1, 16 * _K),
    **{0x41 + step: (2, 128 * _K << step) for step in range(5)},
    **{0x82 + step: (2, 256 * _K << step) for step in range(4)},
}
_LINE_64: Mapping[int, tuple[int, int]] = {
    0x0D: (1, 16 * _K),
    0x0E: (1, 24 * _K),
    0x2C: (1, 32 * _K),
    0x60: (1, 16 * _K),
    0x66: (1, 8 * _K),
    0x67: (1, 16 * _K),
    0x68: (1, 32 * _K),
    0x48: (2, 3 * _M),
    0x4E: (2, 6 * _M),
    0x78: (2, 1 * _M),
    **{0x79 + step: (2, 128 * _K << step) for step in range(5)},
    0x7F: (2, 512 * _K),
    0x80: (2, 512 * _K),
    0x86: (2, 512 * _K),
    0x87: (2, 1 * _M),
    0x22: (3, 512 * _K),
    0x23: (3, 1 * _M),
    0x25: (3, 2 * _M),
    0x29: (3, 4 * _M),
    0x46: (3, 4 * _M),
    0x47: (3, 8 * _M),
    0x4A: (3, 6 * _M),
    0x4B: (3, 8 * _M),
    0x4C: (3, 12 * _M),
    0x4D: (3, 16 * _M),
}
_SEE_LEAF_4 = 0xFF


def read_cpuid_caches(leaves: Leaves) -> Caches:
    """Return the sizes that the CPU itself states."""
    data = {level: (size, line) for level, kind, size, line in cache_levels(leaves) if kind != "Instruction"}
    size = {level: pair[0] for level, pair in data.items()}
    line = data.get(1, (0, 0))[1]
    return Caches(l1d=size.get(1), l2=size.get(2), l3=size.get(3), line=line or None)


def cache_levels(leaves: Leaves) -> tuple[Cache, ...]:
    """Return each cache that the CPU lists.

    Leaf 4 (Intel) and 0x8000001D (AMD) list them one by one; older AMD parts have 0x80000005 and 6, older Intel
    parts the descriptors of leaf 2.
    """
    for found in (_listed(leaves, 4), _listed(leaves, 0x8000_001D), _old_amd(leaves), _old_intel(leaves)):
        levels = tuple(found)
        if levels:
            return levels
    return ()


def cache_descriptors(leaves: Leaves) -> tuple[int, ...]:
    """Return leaf 2's descriptors in order, those of TLBs among them."""
    words = [register(leaves, 2, 0, which) for which in (EAX, EBX, ECX, EDX)]
    # the top bit marks a register that has none, and the lowest byte is the number of calls it takes
    packed = struct.pack("<4I", *(0 if word >> 31 else word for word in words))
    return tuple(byte for byte in packed[1:] if byte not in {0, _SEE_LEAF_4})


def _listed(leaves: Leaves, leaf: int) -> Iterator[Cache]:
    for subleaf in range(16):
        eax, ebx, sets = (register(leaves, leaf, subleaf, which) for which in (EAX, EBX, ECX))
        if eax & 0x1F not in _KINDS:
            return
        line, partitions, ways = (ebx & 0xFFF) + 1, (ebx >> 12 & 0x3FF) + 1, (ebx >> 22) + 1
        yield eax >> 5 & 7, _KINDS[eax & 0x1F], line * partitions * ways * (sets + 1), line


def _old_amd(leaves: Leaves) -> Iterator[Cache]:
    rows = (
        (1, "Data", 0x8000_0005, ECX, 24, _K),
        (1, "Instruction", 0x8000_0005, EDX, 24, _K),
        (2, "Unified", 0x8000_0006, ECX, 16, _K),
        (3, "Unified", 0x8000_0006, EDX, 18, _M // 2),
    )
    for level, kind, leaf, which, shift, unit in rows:
        value = register(leaves, leaf, 0, which)
        if value >> shift:
            yield level, kind, (value >> shift) * unit, value & 0xFF


def _old_intel(leaves: Leaves) -> Iterator[Cache]:
    for table, line in ((_LINE_32, 32), (_LINE_64, 64)):
        for descriptor in cache_descriptors(leaves):
            if descriptor in table:
                level, size = table[descriptor]
                yield level, "Data" if level == 1 else "Unified", size, line
