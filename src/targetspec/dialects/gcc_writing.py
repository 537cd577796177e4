"""Writing GCC's options of a CPU target."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from targetspec import cpu as facts
from targetspec.dialects import arm_extensions as arm
from targetspec.dialects import riscv
from targetspec.dialects.deltas import delta_between, delta_of, stated_fields
from targetspec.dialects.gcc_names import (
    CPUS_IN_GCC,
    FAMILIES_OF_OPTIONS,
    GCC_ONLY_FEATURES,
    LLVM_ONLY_CPUS,
    LLVM_ONLY_FEATURES,
    LONG_DOUBLE_ABIS,
    LONG_DOUBLES,
    MIPS_ABIS,
)
from targetspec.features import FeatureSet
from targetspec.kinds.cpu import CpuTarget

Unfit = list[tuple[str, str]]

_CPU_IS_MARCH = ("x86", "systemz", "mips", "loongarch")
_STRICT = {"arm": "-mno-unaligned-access"}
_NO_OPTION = "GCC has no option for it"


def written(target: CpuTarget, unfit: Unfit) -> Iterator[str]:
    """Give the words; what has none goes to `unfit`."""
    stated = dict(stated_fields(target))
    if target.triple is not None:
        yield str(target.triple)
    yield from _machine(target, unfit)
    if target.tune is not None:
        yield f"-mtune={_cpu(target.tune, 'tune', unfit)}"
    yield from _abis(target, stated)
    yield from _restrictions(target, unfit)
    if target.family == "aarch64" and target.vector_bits is not None:
        yield f"-msve-vector-bits={stated.pop('vector_bits')}"
    for name in ("triple", "cpu", "tune", "features", "restrictions", "abi", "float_abi", "long_double"):
        stated.pop(name, None)
    unfit.extend((name, _NO_OPTION) for name in stated)


def _cpu(name: str, field: str, unfit: Unfit) -> str:
    if name in LLVM_ONLY_CPUS:
        unfit.append((field, f"GCC has no CPU {name}"))
    return CPUS_IN_GCC.get(name, name)


def _machine(target: CpuTarget, unfit: Unfit) -> Iterator[str]:
    family = target.family
    option = "-march=" if family in _CPU_IS_MARCH else "-mcpu="
    name = "" if target.cpu is None else option + _cpu(target.cpu, "cpu", unfit)
    if family in arm.FAMILIES:
        yield from _arm_words(target, name, unfit)
        return
    if name:
        yield name
    delta = delta_of(target)
    if family == "riscv" and delta != () and target.features is not None:
        yield from _riscv_words(target, target.features, unfit)
    elif delta is None:
        unfit.append(("features", "no change of a CPU's set gives them"))
    else:
        for word in delta:
            yield from _option(family or "", word, unfit)


def _riscv_words(target: CpuTarget, found: FeatureSet, unfit: Unfit) -> Iterator[str]:
    # GCC knows what extensions consist of later than the extensions.
    bits = 64 if target.triple is None else target.triple.pointer_bits
    text = riscv.shortened(found, bits)
    if text is None:
        unfit.append(("features", "no ISA string gives exactly this set"))
    else:
        yield f"-march={text}"


def _option(family: str, word: str, unfit: Unfit) -> Iterator[str]:
    name = word[1:]
    if family not in FAMILIES_OF_OPTIONS or name in LLVM_ONLY_FEATURES.get(family, ()):
        unfit.append(("features", f"{word}: {_NO_OPTION}"))
        return
    spelled = facts.feature_spelling(family, name, "gcc")
    if spelled == "sse4" or spelled in GCC_ONLY_FEATURES.get(family, ()):
        spelled = name
    yield f"-m{spelled}" if word[0] == "+" else f"-mno-{spelled}"


def _arm_words(target: CpuTarget, name: str, unfit: Unfit) -> Iterator[str]:
    """Give the CPU or architecture with its modifiers, and the FPU where the architecture has none by itself."""
    delta = delta_of(target)
    if delta == ():
        yield from filter(None, (name,))
        return
    if not name and target.features is not None:
        name, delta = _of_architecture(target, target.features)
    if delta is None or not name:
        unfit.append(("features", "no change of an architecture's or a CPU's set gives them"))
        return
    known = {
        feature: spelled for spelled, feature in reversed(tuple(arm.extensions(str(target.family)).items()))
    }
    unfit.extend(("features", f"{word}: {_NO_OPTION}") for word in delta if word[1:] not in known)
    signed = [("" if word[0] == "+" else "no") + known[word[1:]] for word in delta if word[1:] in known]
    base, *fpu = name.split()
    yield "+".join([base, *signed])
    yield from fpu


def _of_architecture(target: CpuTarget, found: FeatureSet) -> tuple[str, tuple[str, ...] | None]:
    """Return the options of an architecture without modifiers, and the change from what they mean; "" for none."""
    if target.family == "aarch64":
        version = _version(found)
        base = FeatureSet.closed("aarch64", ()).with_changes([version])
        return f"-march=arm{version[:-1]}-{version[-1]}", delta_between(base, found)
    sub_arch = target.triple.sub_arch if target.triple is not None else ""
    feature = arm.architecture("arm", f"arm{sub_arch}") if sub_arch else None
    base_set = target.table_features()
    if feature is None or base_set is None:
        return "", None
    fpu = arm.fpu_in(found)
    named = arm.fpu_named(fpu)
    delta = delta_between(arm.with_fpu(base_set, fpu if named else frozenset()), found)
    return f"-march={feature}" + (f" -mfpu={named}" if named else ""), delta


def _version(found: FeatureSet) -> str:
    """Return the architecture that holds most of the others of a set."""
    versions = [name for name in found if name[0] == "v" and name[1] in "89" and name[-1] in "ar"]
    return max(versions, key=lambda name: len(facts.implied("aarch64", name)), default="v8a")


def _abis(target: CpuTarget, stated: dict[str, Any]) -> Iterator[str]:
    if target.abi is not None:
        names = {name: spelled for spelled, name in MIPS_ABIS.items()} if target.family == "mips" else {}
        yield f"-mabi={names.get(target.abi, target.abi)}"
    if "float_abi" in stated:
        soft = {"soft": "-msoft-float", "hard": "-mhard-float"}
        plain = f"-mfloat-abi={target.float_abi}"
        yield plain if target.family in (None, "arm") else soft.get(str(target.float_abi), plain)
    if target.long_double is not None:
        abis = {value: f"-mabi={name}" for name, value in LONG_DOUBLE_ABIS.items()}
        options = {value: f"-m{name}" for name, value in LONG_DOUBLES.items()}
        yield ({**options, **abis} if target.family == "powerpc" else {**abis, **options})[target.long_double]


def _restrictions(target: CpuTarget, unfit: Unfit) -> Iterator[str]:
    for name in sorted(target.restrictions):
        if name == "strict-align":
            yield _STRICT.get(str(target.family), "-mstrict-align")
        else:
            unfit.append(("restrictions", f"{name}: {_NO_OPTION}"))
