"""A target in the terms of other tools' calls: what llvmlite's `create_target_machine` takes."""

from __future__ import annotations

import attrs

from targetspec import cpu as facts
from targetspec.errors import FieldError
from targetspec.kinds.cpu import CpuTarget
from targetspec.target import Target


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
        FieldError: no triple, an architecture without a table, no features, or a kind that is no CPU.
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
    family, cpu = target.family, _cpu_of(target)
    if family is None or cpu is None or target.features is None:
        hint = "no table has its CPUs and features"
        raise FieldError(
            target.kind, "triple", str(target.triple), "names an architecture that is not known here", hint
        )
    return LlvmTarget(
        str(target.triple), cpu, ",".join(_signs(target, family, cpu)), target.abi or "", target.tune or ""
    )


def _cpu_of(target: CpuTarget) -> str | None:
    if target.cpu is not None or target.triple is None:
        return target.cpu
    return facts.baseline_cpu(target.triple.arch, target.triple.sub_arch)


def _signs(target: CpuTarget, family: str, cpu: str) -> list[str]:
    features = target.features
    if features is None or target.triple is None:
        return []
    for name in features:
        facts.canonical_feature(family, name)
    bits = target.triple.pointer_bits
    # LLVM goes from left to right: a removal takes its dependents along, so what is there comes after.
    minus = [f"-{name}" for name in facts.resolve(family, cpu, bits=bits) - features]
    plus = [f"+{name}" for name in features]
    kept = [f"+{name}" for name in sorted(target.restrictions)]
    soft = (
        ["+soft-float"] if target.float_abi == "soft" and "soft-float" in facts.feature_names(family) else []
    )
    return [*minus, *plus, *sorted(target.tuning), *kept, *soft]
