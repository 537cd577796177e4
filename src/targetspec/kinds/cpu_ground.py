"""What the triple and the CPU of a target settle between them: the table, the set of features, the C library."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from typing import Any

import attrs

from targetspec import cpu as facts
from targetspec.cpu_tables import cpu_index
from targetspec.errors import FieldError, UnknownNameError, nearest
from targetspec.features import FeatureSet
from targetspec.triple import Triple

_LIBC_OF = {"gnu": "glibc", "musl": "musl", "android": "bionic", "newlib": "newlib", "uclibc": "uclibc"}
_GNU_WITHOUT_GLIBC = ("windows", "mingw", "cygwin")


@attrs.frozen(eq=False)
class Ground:
    """What a triple and a CPU settle between them, whatever else a target states.

    `family` is the table, `cpu` the CPU by LLVM's name, `base` that CPU or the triple's baseline, None where no table
    has it, `features` its set, `libc` the triple's C library, `implied` the values of the fields that follow.
    """

    family: str | None
    cpu: str | None
    base: str | None
    features: FeatureSet | None
    libc: str | None
    implied: Mapping[str, Any]


# Asked for at every construction, and made of immutable values only.
@functools.lru_cache(maxsize=4096)
def ground_of(triple: Triple | None, cpu: str | None, *, foreign: str | None = None) -> Ground:
    """Return what a triple and a CPU settle; raise UnknownNameError, or FieldError for a CPU of another width.

    `foreign` is the family of a set that other tables closed: a CPU that only these have settles nothing more.
    """
    family = _family(triple, cpu)
    if foreign is not None and triple is None and is_unheard_of(cpu):
        family = foreign
    if foreign is not None and not (family is None or cpu is None or facts.has_cpu(family, cpu)):
        return Ground(family, cpu, None, None, _implied_by(triple).get("libc"), _implied_by(triple))
    if cpu is not None:
        cpu = canonical_cpu(triple, family, cpu)
    if triple is not None and cpu is not None and family is not None:
        _check_width(family, cpu, triple)
    base, extras = cpu, tuple[str, ...]()
    if cpu is None and triple is not None:
        named = (triple.arch, triple.sub_arch, triple.os, triple.environment)
        base, extras = facts.baseline_cpu(*named), facts.baseline_features(*named)
    features = None
    if base is not None and family is not None:
        bits = max(facts.cpu_widths(family, base)) if triple is None else triple.pointer_bits
        # A CPU of the other width is let through where it may run this one as well: the set is for the code's.
        features = (
            facts.resolve(family, base, bits=bits).union(FeatureSet.closed(family, extras)).for_width(bits)
        )
    implied = _implied_by(triple)
    if features is not None:
        implied["features"] = features
    return Ground(family, cpu, base, features, implied.get("libc"), implied)


def _implied_by(triple: Triple | None) -> dict[str, Any]:
    if triple is None:
        return {}
    return {"libc": _implied_libc(triple), "float_abi": _implied_float_abi(triple)}


def _family(triple: Triple | None, cpu: str | None) -> str | None:
    if triple is not None:
        return triple.family if triple.family in facts.family_names() else None
    families = facts.families_of_cpu(cpu) if cpu is not None else ()
    return families[0] if len(families) == 1 else None


def is_unheard_of(cpu: str | None) -> bool:
    """Say whether no table has a CPU."""
    return cpu is not None and not facts.families_of_cpu(cpu)


def foreign_family(triple: Triple | None, cpu: str | None, names: Collection[str]) -> str | None:
    """Return the family of a set of names that other tables closed; None where nothing tells it.

    Of a CPU that no table has, without a triple, the names tell: those of the one family that knows most of them.
    """
    if triple is None and is_unheard_of(cpu):
        return facts.family_knowing(names)
    return _family(triple, cpu)


def canonical_cpu(triple: Triple | None, family: str | None, cpu: str) -> str:
    """Return LLVM's name of a CPU; the name as it is where no one table has it."""
    if family is not None:
        return facts.canonical_cpu(family, cpu)
    if triple is None and not facts.families_of_cpu(cpu):
        raise UnknownNameError("CPU", cpu, nearest(cpu, cpu_index()))
    return cpu


def _check_width(family: str, cpu: str, triple: Triple) -> None:
    widths = facts.cpu_widths(family, cpu)
    if triple.pointer_bits not in widths and max(widths) < triple.pointer_bits:
        allowed = " and ".join(str(bits) for bits in widths)
        raise FieldError("cpu", "cpu", cpu, f"runs {allowed}-bit code, and the triple is {triple}")


def _implied_libc(triple: Triple) -> str | None:
    if triple.os in _GNU_WITHOUT_GLIBC:
        return None
    return next((libc for start, libc in _LIBC_OF.items() if triple.environment.startswith(start)), None)


def _implied_float_abi(triple: Triple) -> str | None:
    if triple.family != "arm" or "eabi" not in triple.environment:
        return None
    return "hard" if "eabihf" in triple.environment else None
