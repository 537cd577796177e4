"""The names of ABIs, by family: what `abi` may say where a family's conventions of calls are known."""

from __future__ import annotations

from collections.abc import Mapping

from targetspec.errors import UnknownNameError, nearest

# LLVM 22's names of target ABIs, and behind the bar what GCC has beside them. The other families have no choice of
# their own in LLVM, so that what a name means there is not known.
_NAMES = """
aarch64: aapcs aapcs-soft darwinpcs pauthtest | lp64 ilp32
arm: aapcs aapcs-linux aapcs-vfp aapcs16 apcs-gnu | atpcs iwmmxt
loongarch: ilp32s ilp32f ilp32d lp64s lp64f lp64d
mips: n32 n64 o32 | eabi o64
powerpc: elfv1 elfv1-qpx elfv2 vec-default vec-extabi | altivec no-altivec spe no-spe
riscv: ilp32 ilp32e ilp32f ilp32d lp64 lp64e lp64f lp64d
"""
ABIS: Mapping[str, tuple[str, ...]] = {
    family: tuple(names.replace("|", "").split())
    for family, _, names in (line.partition(": ") for line in _NAMES.strip().splitlines())
}


def check_abi(family: str | None, name: str) -> None:
    """Refuse a name that is no ABI of a family. Raises UnknownNameError.

    >>> check_abi("riscv", "lp46d")
    Traceback (most recent call last):
        ...
    targetspec.errors.UnknownNameError: unknown ABI 'lp46d' for riscv; did you mean 'lp64d', 'lp64' or 'lp64f'?
    """
    known = ABIS.get(family or "")
    if known is not None and name not in known:
        raise UnknownNameError("ABI", name, nearest(name, known) or known, str(family))
