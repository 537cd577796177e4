"""Where an Arm kernel's list of capabilities is known to be wrong, and what is true there."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

_V8_1_AND_UP = frozenset({"atomics", "asimdrdm", "fphp", "asimdhp"})
_DIVIDES = frozenset({"idiva", "idivt"})
_RDM = frozenset({"asimdrdm"})
_DOT = frozenset({"asimddp"})
_WITH_DOT = frozenset({"cortex-a55", "cortex-a76", "cortex-a77"})
_FIRST_A55, _FIRST_KRAIT = 0x410FD050, 0x511F04D0


def corrected(
    names: frozenset[str], designs: AbstractSet[str], hardware: str, midrs: Sequence[int] = ()
) -> frozenset[str]:
    """Return the capabilities that every core of these designs has.

    Krait divides, and its kernels (3.4) do not say so. Android's emulator divides in ARM state whatever processor it
    names. Cortex-A55, A75, A76 and A77 round-and-double (Armv8.1), and all but A75 and the first A55 have dot products
    (Armv8.2); kernel 4.9, which does not list `cpuid` either, has no name for them. The Exynos 9810 lists what only its
    small cores have: Exynos M3 is an Armv8.0 design. The first Krait's Advanced SIMD computes wrongly (Chromium, issue
    341598), so it is not to be used.

    >>> sorted(corrected(frozenset({"neon"}), {"krait"}, ""))
    ['idiva', 'idivt', 'neon']
    """
    if _FIRST_KRAIT in midrs:
        return (names | _DIVIDES) - {"neon"}
    if designs == {"krait"}:
        return names | _DIVIDES
    if hardware == "Goldfish" and designs == {"cortex-a8"}:
        return names | {"idiva"}
    if "atomics" in names and designs == {"cortex-a55", "cortex-a75"}:
        return names | _RDM
    if "atomics" in names and "cpuid" not in names and designs and designs <= _WITH_DOT:
        return names | _RDM if any(midr & ~0xF == _FIRST_A55 for midr in midrs) else names | _RDM | _DOT
    return names - _V8_1_AND_UP if "exynos-m3" in designs else names
