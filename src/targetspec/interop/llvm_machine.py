"""A target as the strings of LLVM's target machines, which llvmlite's `create_target_machine` takes, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs

from targetspec import cpu as facts
from targetspec.errors import FieldError
from targetspec.features import FeatureSet
from targetspec.interop.llvm_faults import check_sound
from targetspec.kinds.cpu import CpuTarget
from targetspec.kinds.cpu_ground import ground_of
from targetspec.target import Target
from targetspec.triple import Triple

# What AArch64's code generator knows by name; the others of these families have one ABI for each triple.
_ABIS = {"aarch64": ("aapcs", "aapcs-soft", "darwinpcs", "pauthtest")}
_WIDE_ONLY = frozenset({"lvi-load-hardening"})
_SOFT_ABI = "aapcs-soft"
_SOFT_FLOAT = "soft-float"
# LLVM refuses code of a width that the CPU's own definition leaves open (sifive-7-series).
_WIDTH_IS_A_FEATURE = ("riscv", "loongarch")
_SIGN_AND_NAME = 2


@attrs.frozen
class LlvmTarget:
    """The strings that make a target machine of LLVM.

    `abi` is "" where the triple decides. `tune` is the CPU to schedule for, "" where it is `cpu`: LLVM takes it as
    the function attribute `tune-cpu` only.
    """

    triple: str
    cpu: str
    features: str
    abi: str = ""
    tune: str = ""


def to_llvmlite(target: Target) -> LlvmTarget:
    """Return what LLVM needs to compile for a CPU target, every name checked.

    `features` states the whole set: all that the target has, and without what LLVM's CPU of that name has
    beside. LLVM itself exits on some names that it does not know, and goes on without others.

    Raises:
        FieldError: no triple, an architecture without a table, a CPU of another width, an ABI that LLVM would pass
            over, features that LLVM ends the process on, or a kind that is no CPU.
        UnknownNameError: a name that the tables lack, such as a feature of another version of them.

    >>> to_llvmlite(CpuTarget(triple="x86_64-linux-gnu", cpu="x86-64")).cpu
    'x86-64'
    """
    if not isinstance(target, CpuTarget):
        raise FieldError(target.kind, "kind", target.kind, "is no target of LLVM's CPU code generators")
    if target.triple is None:
        raise FieldError(
            target.kind, "triple", None, "LLVM needs one", "state the triple, as in x86_64-linux-gnu"
        )
    family, cpu, features = target.family, _cpu_of(target, target.triple), target.features
    if family is None or cpu is None or features is None:
        raise FieldError(
            target.kind,
            "triple",
            str(target.triple),
            "its architecture has no table",
            "use one that list cpus has",
        )
    bits = target.triple.pointer_bits
    if bits not in facts.cpu_widths(family, cpu):
        raise FieldError(
            target.kind, "cpu", cpu, f"must be a CPU that runs {bits}-bit code, as {target.triple} is"
        )
    _check_mode(target, target.triple)
    check_sound(target, cpu, target.triple, features)
    _check_calls(target, family, features)
    signs = (*_signs(family, cpu, features, bits), *_width(family, bits), *_options(target, family))
    tune = "" if target.tune in (None, cpu) else str(target.tune)
    return LlvmTarget(str(target.triple), cpu, ",".join(signs), target.abi or "", tune)


def _cpu_of(target: CpuTarget, triple: Triple) -> str | None:
    return target.cpu or facts.baseline_cpu(triple.arch, triple.sub_arch, triple.os, triple.environment)


def _check_mode(target: CpuTarget, triple: Triple) -> None:
    """Refuse what LLVM exits on where the code is 32-bit x86."""
    names = {*(target.features or ()), *target.restrictions, *(name[1:] for name in target.tuning)}
    wide = sorted(names & _WIDE_ONLY)
    if triple.arch == "i386" and wide:
        raise FieldError(
            target.kind,
            "features",
            wide[0],
            f"is for 64-bit code, and the triple is {triple}",
            "leave it out",
        )


def _check_calls(target: CpuTarget, family: str, features: FeatureSet) -> None:
    """Refuse what LLVM would pass over: an ABI that it does not know, and float passing that it cannot do."""
    abis = _ABIS.get(family, ())
    if target.abi is not None and target.abi not in abis:
        allowed = f"one of {', '.join(abis)}" if abis else "left out: the triple decides"
        raise FieldError(target.kind, "abi", target.abi, f"must be {allowed}")
    if target.abi == _SOFT_ABI and "fp-armv8" in features:
        raise FieldError(
            target.kind, "abi", target.abi, "needs a target without floating point", "remove fp-armv8"
        )
    if target.float_abi == "softfp" or (
        target.float_abi == "soft" and family != "x86" and target.abi != _SOFT_ABI
    ):
        hint = f"state abi {_SOFT_ABI}" if _SOFT_ABI in abis else "state soft or hard"
        raise FieldError(
            target.kind, "float_abi", target.float_abi, f"LLVM has no such choice on {family}", hint
        )


def _signs(family: str, cpu: str, features: FeatureSet, bits: int) -> list[str]:
    for name in features:
        facts.canonical_feature(family, name)
    # LLVM goes from left to right: a removal takes its dependents along, so what is there comes after.
    unasked = (name for name in facts.unasked_of(family, cpu) if name not in features)
    minus = (*(facts.resolve(family, cpu, bits=bits) - features), *unasked)
    return [*(f"-{name}" for name in minus), *(f"+{name}" for name in features)]


def _width(family: str, bits: int) -> list[str]:
    """Return the name of the width where LLVM wants it said, and not every CPU's name says it."""
    return [f"+{bits}bit"] if family in _WIDTH_IS_A_FEATURE else []


def _options(target: CpuTarget, family: str) -> list[str]:
    soft = ["+soft-float"] if target.float_abi == "soft" and family == "x86" else []
    return [*sorted(target.tuning), *(f"+{name}" for name in sorted(target.restrictions)), *soft]


# -- and back -----------------------------------------------------------------------------------------


def from_llvmlite(triple: str, cpu: str = "", features: str = "", abi: str = "", tune: str = "") -> CpuTarget:
    """Return the target of LLVM's strings, in the order in which `LlvmTarget` has them; "" states nothing.

    `features` is read as LLVM does, from left to right: a name brings what it implies, and one that is removed takes
    along what needs it. Each name is checked.

    Raises:
        FieldError: a feature without a sign, features where no table has the CPU, `native` for a CPU.
        UnknownNameError: a CPU or feature that the tables lack.
        FeatureConflictError: features that exclude each other.
        TargetSyntaxError: no triple.

    >>> from_llvmlite("x86_64-linux-gnu", "haswell", "-avx2").features <= from_llvmlite(
    ...     "x86_64-linux-gnu", "haswell"
    ... ).features
    True
    """
    fields: dict[str, Any] = {"triple": Triple.parse(triple), "abi": abi or None}
    for name, value in (("cpu", cpu), ("tune", tune)):
        if value == "native":
            hint = "ask llvmlite for the name: get_host_cpu_name()"
            raise FieldError("cpu", name, value, "names no CPU: it means another one on each machine", hint)
        fields[name] = value or None
    if not features:
        return CpuTarget(**fields)
    ground = ground_of(fields["triple"], fields["cpu"])
    if ground.family is None or ground.features is None:
        hint = "use a triple and a CPU that list cpus has"
        raise FieldError("cpu", "features", features, "no table has the set that these change", hint)
    return CpuTarget(**fields, **_fields_of(ground.family, ground.features, _signed(features)))


def _signed(features: str) -> list[str]:
    signs = [sign.strip() for sign in features.split(",") if sign.strip()]
    for sign in signs:
        if sign[0] not in "+-" or len(sign) < _SIGN_AND_NAME:
            raise FieldError("cpu", "features", sign, "must be +name or -name", f"write +{sign.lstrip('+-')}")
    return signs


def _fields_of(family: str, base: FeatureSet, signs: Iterable[str]) -> dict[str, Any]:
    """Return the features, tuning, restrictions and soft float that signed names lead to; a later one wins."""
    names, last = set(base), dict[str, str]()
    for sign in signs:
        name = facts.canonical_feature(family, sign[1:])
        if name == _SOFT_FLOAT or facts.role(family, name) in ("tuning", "inverse"):
            last[name] = sign[0]
        elif sign[0] == "+":
            names |= FeatureSet.closed(family, (name,)).names
        else:
            names -= facts.dependents(family, name)
    found = _by_role(family, last)
    return found if names == base.names else {**found, "features": FeatureSet.closed(family, names)}


def _by_role(family: str, last: dict[str, str]) -> dict[str, Any]:
    tuning = {sign + name for name, sign in last.items() if facts.role(family, name) == "tuning"}
    kept = {name for name, sign in last.items() if sign == "+" and facts.role(family, name) == "inverse"}
    found: dict[str, Any] = {"tuning": frozenset(tuning), "restrictions": frozenset(kept)}
    if _SOFT_FLOAT in last:
        found["float_abi"] = "soft" if last[_SOFT_FLOAT] == "+" else "hard"
    return found
