"""A target in the terms of other tools' calls: what llvmlite's `create_target_machine` takes."""

from __future__ import annotations

import attrs

from targetspec import cpu as facts
from targetspec.errors import FieldError
from targetspec.features import FeatureSet
from targetspec.kinds.cpu import CpuTarget
from targetspec.target import Target
from targetspec.triple import Triple

# What AArch64's code generator knows by name; the others of these families have one ABI for each triple.
_ABIS = {"aarch64": ("aapcs", "aapcs-soft", "darwinpcs", "pauthtest")}
_WIDE_ONLY = frozenset({"lvi-load-hardening"})
_SOFT_ABI = "aapcs-soft"


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
            over, or a kind that is no CPU.
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
    _check_calls(target, family, features)
    signs = (*_signs(family, cpu, features, bits), *_options(target, family))
    return LlvmTarget(str(target.triple), cpu, ",".join(signs), target.abi or "", target.tune or "")


def _cpu_of(target: CpuTarget, triple: Triple) -> str | None:
    return target.cpu or facts.baseline_cpu(triple.arch, triple.sub_arch)


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
    minus = facts.resolve(family, cpu, bits=bits) - features
    return [*(f"-{name}" for name in minus), *(f"+{name}" for name in features)]


def _options(target: CpuTarget, family: str) -> list[str]:
    soft = ["+soft-float"] if target.float_abi == "soft" and family == "x86" else []
    return [*sorted(target.tuning), *(f"+{name}" for name in sorted(target.restrictions)), *soft]
