"""Where an Arm kernel's list of capabilities is known to be wrong, and what is true there."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

_V8_1_AND_UP = frozenset({"atomics", "asimdrdm", "fphp", "asimdhp"})
_DIVIDES = frozenset({"idiva", "idivt"})
_RDM = frozenset({"asimdrdm"})


def corrected(names: frozenset[str], designs: AbstractSet[str], hardware: str) -> frozenset[str]:
    """Return the capabilities that every core of these designs has.

    Krait divides, and its kernels (3.4) do not say so. Android's emulator divides in ARM state whatever processor it
    names. Cortex-A55 and A75 round-and-double (Armv8.1), and kernel 4.9 has no name for that. The Exynos 9810 lists
    what only its small cores have: Exynos M3 is an Armv8.0 design.

    >>> sorted(corrected(frozenset({"neon"}), {"krait"}, ""))
    ['idiva', 'idivt', 'neon']
    """
    if designs == {"krait"}:
        return names | _DIVIDES
    if hardware == "Goldfish" and designs == {"cortex-a8"}:
        return names | {"idiva"}
    if "atomics" in names and designs == {"cortex-a55", "cortex-a75"}:
        return names | _RDM
    return names - _V8_1_AND_UP if "exynos-m3" in designs else names
