"""The rules of the relation for architectures, and for what each mode of one has of its own: calls, and instructions.

A wide processor may have a narrower mode beside its own (32-bit x86, MIPS, AArch32 of ARMv8-A). Whether the system has a
userland for it is not stated in a target; its calls are its own, and are not compared with those of the wide one.
"""

from __future__ import annotations

import functools
from typing import Any

import attrs

from targetspec import cpu as facts
from targetspec.features import FeatureSet
from targetspec.kinds.cpu_bridges import ONE_WIDTH_EACH, over
from targetspec.rules import Answer, Rule, equal, show, worst
from targetspec.triple import Triple

# 64-bit kernels have no calls of ARM's old ABI. Source: Linux, CONFIG_OABI_COMPAT of arm, which arm64 has not.
NO_KERNEL_HAS = ("apcs-gnu",)
# What both instruction sets of an ARMv8-A processor have or lack together.
_SHARED_BY_ARMV8 = ("aes", "crc", "dotprod", "fp-armv8", "fullfp16", "neon", "sha2")
# The instructions that c and f imply together differ between 32 and 64 bits.
_IMPLIED_BY_WIDTH = ("riscv",)


def _arch(target: Any) -> tuple[Any, ...] | None:
    triple = target.triple
    if triple is None:
        return None if target.family is None else (target.family, None, None, None, None)
    return (
        triple.family or triple.arch,
        triple.pointer_bits,
        triple.endianness,
        _variant(triple),
        _narrower(triple),
    )


def _variant(triple: Triple) -> str:
    """Return what sets code apart within a family and width: x86's and MIPS's mode, Apple's and Windows's ABI."""
    if triple.family == "x86":
        return triple.arch
    if triple.family == "mips":
        return "n32" if "abin32" in triple.environment else ""
    return triple.sub_arch if triple.arch == "aarch64" else ""


def _narrower(triple: Triple) -> str:
    """Return the other family that processors may have a mode of; Apple's have none."""
    return "arm" if triple.arch == "aarch64" and not triple.is_darwin else ""


def _same_variant(need: str | None, have: str | None) -> Answer:
    # A system for arm64e runs arm64 as well; no other variant runs another.
    return "yes" if (need, have) == ("", "e") else equal(need, have)


def _same_arch(need: Any, have: Any) -> Answer:
    if need is None or have is None:
        return equal(need, have)
    if is_narrow_on_wide(need, have):
        return "unknown"
    return worst([*map(equal, need[:3], have[:3]), _same_variant(need[3], have[3])])


# Code with pointers of 32 bits in each mode of 64-bit processors, and the older mode beside it.
_OLDER_MODES = (("i386", "x86_64"), ("", "n32"))


def is_narrow_on_wide(need: Any, have: Any) -> bool:
    """Whether the processor has another, wider mode than the code, and the system may offer the narrower one too."""
    if need is None or have is None or need[0] in ONE_WIDTH_EACH:
        return False
    if need[0] not in (have[0], have[4]) or need[2] != have[2]:
        return False
    return (need[1], have[1]) == (32, 64) or (have[1] == 32 and (need[3], have[3]) in _OLDER_MODES)  # noqa: PLR2004


def _say_arch(need: Any, have: Any) -> tuple[str, str]:
    return _name_arch(need), _name_arch(have)


def _name_arch(arch: Any) -> str:
    if arch is None or arch[1] is None:
        return show(arch and arch[0])
    family, bits, endianness, variant, _ = arch
    return " ".join(filter(None, (family, variant, f"{bits}-bit {endianness}-endian")))


def _advice(need: Any, have: Any) -> str:
    if not is_narrow_on_wide(need, have):
        return "state the triple on both sides"
    if need[3] == "x86_64":
        return "state the x32 triple of the system that runs it, if its kernel has x32"
    return "state a triple of 32 bits for a system of 32 bits, or name the bridge compat32, if there is a 32-bit userland"


ARCH = Rule(
    label="triple.arch",
    statement="architecture family, pointer width and byte order must be equal",
    source="LLVM Triple::isCompatibleWith; 32-bit code needs a 32-bit userland",
    decide=_same_arch,
    demand=_arch,
    promise=_arch,
    say=_say_arch,
    advice=_advice,
    bridge=over("triple.arch"),
)


def family_of(target: Any) -> str | None:
    """Return the family of a target's code, or the architecture of a triple that has no table."""
    return target.family or (target.triple.arch if target.triple is not None else None)


FAMILY = Rule(
    label="triple.arch",
    statement="must be of one architecture family",
    source="a schedule is compiled anew, for the same family",
    decide=equal,
    demand=family_of,
    promise=family_of,
    advice="state the triple on both sides",
)


def within_mode(rule: Rule) -> Rule:
    """Return the rule of a convention of calls, for code on one machine: a userland of another width has its own."""

    def decide(need: Any, have: Any) -> Answer:
        if is_narrow_on_wide(need[0], have[0]):
            return "no" if need[1] in NO_KERNEL_HAS else "yes"
        return rule.decide(need[1], have[1])

    return attrs.evolve(
        rule,
        decide=decide,
        demand=lambda target: (_arch(target), rule.demand(target)),
        promise=lambda target: (_arch(target), rule.promise(target)),
        say=lambda need, have: rule.say(need[1], have[1]),
        bridge=over(rule.label),
    )


def promised_to(family: str, have: FeatureSet) -> FeatureSet | None:
    """Return what a machine's features come to for code of a family, in its narrowest mode; None for a foreign one.

    >>> promised_to("arm", facts.resolve("aarch64", "cortex-a72")).family
    'arm'
    """
    if (family, have.family) == ("arm", "aarch64"):
        return _armv8(tuple(name for name in _SHARED_BY_ARMV8 if name in have))
    if family != have.family:
        return None
    return have.for_width(32) if family in _IMPLIED_BY_WIDTH else have


@functools.lru_cache(maxsize=64)
def _armv8(shared: tuple[str, ...]) -> FeatureSet:
    bare = facts.resolve("arm", "cortex-a53", remove=_SHARED_BY_ARMV8)
    return bare.with_changes(add=shared)
