"""Options that say more of a machine than one name: -march, modifiers of -mcpu, -mfpu and -mthumb.

    -march=armv8.2-a+sve+nocrypto    an architecture of Arm, and its extensions
    -mcpu=cortex-a710+nosve          a CPU of Arm, and its extensions
    -march=rv64gc_zba                an ISA string or profile of RISC-V
    -mfpu=neon-vfpv4 -mthumb         of 32-bit Arm

An architecture of 32-bit Arm goes into the triple, where clang has it too. Where no triple is stated, the one
architecture that knows all the names is taken, its system unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from targetspec import cpu as facts
from targetspec.dialects import arm_extensions as arm
from targetspec.dialects.gcc_arm import gcc_extensions
from targetspec.dialects.riscv_isa import Reader, feature_set
from targetspec.dialects.words import Source, Word
from targetspec.errors import nearest
from targetspec.features import FeatureSet
from targetspec.kinds.cpu_ground import ground_of
from targetspec.triple import Triple

PLACES = ("march", "fpu", "thumb", "arm")
_OF_ARM = PLACES[1:]
CPU_BY_MARCH = ("x86", "systemz", "mips", "loongarch")
"""Where -march names a CPU."""

_M_PROFILES = ("v6m", "v7m", "v7em", "v8m.base", "v8m.main", "v8.1m.main")


@attrs.frozen
class Machine:
    """What the options settle: fields of a target, and the set that further options change, None where they say none."""

    fields: Mapping[str, Any]
    features: FeatureSet | None = None


def read(source: Source, places: Mapping[str, Word], *, gcc: bool = False) -> Machine:
    """Return what the options at some places settle; TargetSyntaxError where they contradict or are not known.

    `gcc` reads Arm's architectures and extensions as GCC does: those of 32 bits without an FPU.
    """
    fields: dict[str, Any] = {name: word.text for name, word in places.items() if name not in PLACES}
    if "thumb" in places and "arm" in places:
        raise source.fault(places["arm"], "-marm and -mthumb exclude each other", "state one of the two")
    triple = source.reading(places, lambda: Triple.parse(fields["triple"])) if "triple" in fields else None
    if triple is None and not _says_more(places):
        return Machine(fields)
    family = triple.family if triple is not None else _family(source, places)
    if triple is None and (family == "riscv" or family in arm.FAMILIES):
        triple = Triple.parse(_arch_of(family, places))
    if triple is not None:
        fields["triple"] = triple
    if family in arm.FAMILIES:
        return _arm(source, fields, dict(places), gcc=gcc)
    return (_riscv if family == "riscv" else _named)(source, fields, dict(places))


def _says_more(places: Mapping[str, Word]) -> bool:
    """Whether some option says more than the name of a CPU."""
    return any(name in places for name in PLACES) or ("cpu" in places and "+" in places["cpu"].text)


# -- which architecture -------------------------------------------------------------------------------


def _family(source: Source, places: Mapping[str, Word]) -> str | None:
    """Return the one family that knows the names; None where plain names of CPUs are left to the target."""
    march = places.get("march")
    if march is not None and march.text.startswith("rv"):
        return "riscv"
    found = [family for family in arm.FAMILIES if _knows(family, places)]
    if len(found) > 1:
        word = march or places["cpu"]
        hint = "state the triple, or an extension that only one of them has"
        raise source.fault(word, f"{word.text!r} is one of {' and of '.join(found)}", hint)
    if found:
        return found[0]
    return _named_family(places)


def _named_family(places: Mapping[str, Word]) -> str | None:
    for name in ("march", "cpu"):
        if name in places:
            known = facts.families_of_cpu(places[name].text)
            if name == "march":
                known = tuple(family for family in known if family in CPU_BY_MARCH)
            if len(known) == 1:
                return known[0]
    return None


def _knows(family: str, places: Mapping[str, Word]) -> bool:
    if family == "aarch64" and not places.keys().isdisjoint(_OF_ARM):
        return False
    known = []
    for name in ("march", "cpu"):
        if name in places:
            base, *modifiers = places[name].text.lower().split("+")
            names_it = (
                arm.architecture(family, base) if name == "march" else family in facts.families_of_cpu(base)
            )
            known.append(bool(names_it) and all(arm.known_modifier(family, one) for one in modifiers))
    return bool(known) and all(known)


def _arch_of(family: str, places: Mapping[str, Word]) -> str:
    if family == "riscv":
        text = places["march"].text if "march" in places else "rv64"
        return "riscv32" if text.startswith("rv32") or "u32" in text.partition("_")[0] else "riscv64"
    return family


# -- RISC-V -------------------------------------------------------------------------------------------


def _riscv(source: Source, fields: dict[str, Any], places: dict[str, Word]) -> Machine:
    march = places.get("march")
    _refuse(source, places, "riscv")
    if march is None:
        return Machine(fields)
    isa = Reader(source).read(march)
    bits = fields["triple"].pointer_bits
    if isa.bits != bits:
        raise source.fault(march, f"the ISA string is of {isa.bits} bits, and the triple of {bits}")
    return Machine(fields, feature_set(source, isa))


# -- Arm ----------------------------------------------------------------------------------------------


def _arm(source: Source, fields: dict[str, Any], places: dict[str, Word], *, gcc: bool) -> Machine:
    family = str(fields["triple"].family)
    if family == "aarch64":
        _refuse(source, places, family)
    march, march_modifiers = _split(places.get("march"))
    cpu, cpu_modifiers = _split(places.get("cpu"))
    _set_isa(source, fields, places)
    found = None if march is None else _architecture(source, fields, family, march)
    if march is None or cpu is not None:
        found = _of_cpu(source, fields, cpu, march, family)
    words = (*march_modifiers, *cpu_modifiers)
    if found is None or not (words or march or "fpu" in places):
        return Machine(fields)
    own_fpu = arm.fpu_in(found) if family == "arm" else frozenset[str]()
    more: Mapping[str, frozenset[str]] = {}
    if gcc and march is not None:
        more = gcc_extensions(family, march.text)
        found = arm.with_fpu(found, frozenset()) if family == "arm" and cpu is None else found
    based = _with_fpu(source, found, places.get("fpu"))
    named = {f"modifier {index}": word for index, word in enumerate(words)}
    return Machine(fields, source.reading(named, lambda: arm.modified(source, based, words, own_fpu, more)))


def _of_cpu(
    source: Source, fields: dict[str, Any], cpu: Word | None, march: Word | None, family: str
) -> FeatureSet | None:
    """Return the set of the CPU, or of the triple's baseline; the CPU must have the architecture."""
    if cpu is not None:
        fields["cpu"] = cpu.text
    found: FeatureSet | None = source.reading(
        {"cpu": cpu} if cpu else {}, lambda: ground_of(fields["triple"], fields.get("cpu")).features
    )
    feature = arm.architecture(family, march.text) if march else None
    if found is not None and feature is not None and feature not in found and fields["cpu"] != "generic":
        message = f"the CPU {fields['cpu']!r} has not the architecture {march.text if march else ''!r}"
        raise source.fault(cpu, message, "state one of the two")
    return found


def _split(word: Word | None) -> tuple[Word | None, tuple[Word, ...]]:
    if word is None:
        return None, ()
    first, *others = Word(word.text.lower(), word.start).items("+")
    return first, tuple(others)


def _architecture(source: Source, fields: dict[str, Any], family: str, name: Word) -> FeatureSet:
    """Return the set of an architecture, which on 32-bit Arm becomes the triple's own."""
    feature = arm.architecture(family, name.text)
    if feature is None:
        names = [one for one in facts.feature_names(family) if one.startswith(("armv", "v8", "v9"))]
        spelled = [one if one.startswith("arm") else f"arm{one[:-1]}-{one[-1]}" for one in names]
        near = nearest(name.text, spelled)
        hint = f"did you mean {' or '.join(near)}?" if near else ""
        raise source.fault(name, f"{name.text!r} is no architecture of {family}", hint)
    if family == "aarch64":
        return FeatureSet.closed(family, ()).with_changes([feature])
    fields["triple"] = _with_version(source, fields["triple"], name, feature)
    found = ground_of(fields["triple"], None).features
    if found is None or feature not in found:
        found = FeatureSet.closed(family, ()).with_changes([feature])
    return found


def _with_version(source: Source, triple: Triple, name: Word, feature: str) -> Triple:
    made = Triple.parse(arm.sub_architecture(name.text))
    stated = arm.architecture("arm", f"arm{triple.sub_arch}") if triple.sub_arch else None
    if stated is not None and stated not in facts.implied("arm", feature):
        hint = "state the version once"
        raise source.fault(
            name, f"the triple's architecture {triple.arch_name} is not within {name.text!r}", hint
        )
    big = triple.endianness == "big"
    thumb = triple.arch.startswith("thumb") or made.sub_arch in _M_PROFILES
    arch = ("thumb" if thumb else "arm") + ("eb" if big else "")
    return attrs.evolve(triple, arch=arch, sub_arch=made.sub_arch)


def _set_isa(source: Source, fields: dict[str, Any], places: Mapping[str, Word]) -> None:
    """Make the triple's architecture thumb where -mthumb asks for it."""
    triple: Triple = fields["triple"]
    is_thumb = triple.arch.startswith("thumb")
    if "thumb" in places and not is_thumb:
        fields["triple"] = attrs.evolve(triple, arch=triple.arch.replace("arm", "thumb"))
    if "arm" in places and is_thumb:
        raise source.fault(places["arm"], f"the triple is of {triple.arch_name}, and -marm says otherwise")


def _with_fpu(source: Source, found: FeatureSet, name: Word | None) -> FeatureSet:
    if name is None or name.text == "auto":
        return found
    wanted = arm.fpu_features(name.text)
    if wanted is None:
        near = nearest(name.text, arm.fpu_names())
        hint = f"did you mean {' or '.join(near)}?" if near else ""
        raise source.fault(name, f"unknown FPU {name.text!r}", hint)
    return arm.with_fpu(found, wanted)


# -- the others ---------------------------------------------------------------------------------------


def _named(source: Source, fields: dict[str, Any], places: dict[str, Word]) -> Machine:
    """Take -march for the CPU where it names one."""
    triple: Triple | None = fields.get("triple")
    family = triple.family if triple is not None else _named_family(places)
    _refuse(source, places, family)
    march, cpu = places.get("march"), places.get("cpu")
    if march is None:
        return Machine(fields)
    if family not in CPU_BY_MARCH:
        hint = "state -mcpu=, and -mattr= for what it has beside"
        what = f"no CPU of {family}" if family else "neither an architecture nor a CPU"
        raise source.fault(march, f"-march={march.text} names {what}", hint)
    if cpu is not None and cpu.text != march.text:
        raise source.fault(march, f"-march and -mcpu name two CPUs, {march.text!r} and {cpu.text!r}")
    fields["cpu"] = march.text
    return Machine(fields)


def _refuse(source: Source, places: Mapping[str, Word], family: str | None) -> None:
    for name in _OF_ARM:
        if name in places:
            hint = f"{family} has no such option" if family else "state the triple"
            raise source.fault(places[name], f"-m{name} is an option of 32-bit Arm", hint)
