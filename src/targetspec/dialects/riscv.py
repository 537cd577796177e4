"""ISA strings of RISC-V, as `-march` and device trees write them.

    isa     = ("rv32" | "rv64") ("i" | "e" | "g") [version] { ["_"] ext } | profile { "_" ext }
    ext     = letter [version] | ("z" | "s" | "x") name [version]
    version = major ["p" minor]
    profile = "rva22u64", "rva23u64", "rvb23u64" ...

Single letters may follow each other; behind a name of several letters stands an underscore or the end. Any order is
read, and nothing may be stated twice; `g` is `imafd_zicsr_zifencei`. What is not ratified states its version. Written is
the whole closed set with versions in the canonical order: `rv64i2p1_m2p0_zmmul1p0`. Source: the ISA manual's chapter on
naming, and LLVM's reader, which the refusals follow.

    rv64gc    rv64imafdc_zicsr_zifencei_zba1p0    rva23u64_zfh
"""

from __future__ import annotations

import functools

from targetspec.cpu import cpu_widths
from targetspec.dialects.deltas import stated_fields
from targetspec.dialects.riscv_isa import Isa, Reader, feature_set
from targetspec.dialects.riscv_names import EXPERIMENTAL, features, place_of, version_of
from targetspec.dialects.words import Source, split_words
from targetspec.errors import NotRepresentableError, TargetSyntaxError
from targetspec.features import FeatureSet
from targetspec.kinds.cpu import CpuTarget
from targetspec.parsing import Parsed
from targetspec.target import Target

NAME = "riscv"
PATTERN = r"^[\s\u001c-\u001f\u0085]*rv[a-z0-9_]+[\s\u001c-\u001f\u0085]*$"
"""What every text matches that is read here, as a regular expression of JSON Schema."""

_FAMILY = "riscv"
_ANY_WIDTH = 64


def parse(text: str) -> Parsed:
    """Read the target of an ISA string; TargetSyntaxError says what is wrong where."""
    source = Source(text, NAME)
    words = split_words(text)
    if len(words) != 1:
        raise source.fault(words[1] if words else None, "an ISA string is one word, such as rv64gc")
    return Parsed(target_of(source, Reader(source).read(words[0])), (), NAME)


def target_of(source: Source, isa: Isa) -> CpuTarget:
    """Return the target of what an ISA string says; TargetSyntaxError for extensions that exclude each other."""
    return CpuTarget(triple=f"riscv{isa.bits}", features=feature_set(source, isa))


def format(target: Target, *, lossy: bool = False) -> str:  # noqa: A001 - the name of every dialect's writer
    """Return the canonical ISA string; NotRepresentableError for what it cannot say, unless `lossy`."""
    if not isinstance(target, CpuTarget):
        raise NotRepresentableError(NAME, (("kind", f"{target.kind}: an ISA string is of a cpu target"),))
    found = target.features
    if found is None or found.family != _FAMILY:
        raise NotRepresentableError(NAME, (("features", "not those of a RISC-V processor"),))
    unfit = [(name, "an ISA string states extensions only") for name, _ in stated_fields(target)]
    unfit = [(name, why) for name, why in unfit if name not in ("triple", "features")]
    bits = _width(target)
    if str(target.triple) != f"riscv{bits}-unknown-unknown":
        unfit.append(("triple", f"an ISA string says riscv{bits} and nothing more"))
    text = written(found, bits)
    if not says(text, found):
        unfit.append(("features", "no ISA string gives exactly this set"))
    if unfit and not lossy:
        raise NotRepresentableError(NAME, tuple(unfit))
    return text


def _width(target: CpuTarget) -> int:
    """Return the pointer width: the triple's, else the widest of the CPU's."""
    if target.triple is not None:
        return target.triple.pointer_bits
    return _ANY_WIDTH if target.cpu is None else max(cpu_widths(_FAMILY, target.cpu))


def written(found: FeatureSet, bits: int) -> str:
    """Return the extensions of a set in the canonical order, with their versions, behind a pointer width."""
    names = (name.removeprefix(EXPERIMENTAL) for name in found)
    # Half the distance is within the whole; LLVM has the two unrelated, and states one of them.
    names = (name for name in names if name != "za128rs" or "za64rs" not in found.names)
    listed = sorted((name for name in names if name in features()), key=place_of)
    base = [] if {"i", "e"} & found.names else ["i"]
    return f"rv{bits}" + "_".join(f"{name}{version_of(name)}" for name in (*base, *listed))


def shortened(found: FeatureSet, bits: int) -> str | None:
    """Return the string with few names, without versions where they may be left out; None where none says the set."""
    return _shortened(found, bits) if says(written(found, bits), found) else None


@functools.lru_cache(maxsize=256)
def _shortened(found: FeatureSet, bits: int) -> str:
    names = [name.removeprefix(EXPERIMENTAL) for name in found]
    listed = sorted((name for name in names if name in features()), key=place_of)
    for name in reversed([name for name in listed if len(name) > 1]):
        fewer = [other for other in listed if other != name]
        if says(_joined(fewer, bits), found):
            listed = fewer
    return _joined(listed, bits)


def _joined(names: list[str], bits: int) -> str:
    """Return the string of extensions in their order: single letters joined, versions where they must be stated."""
    spelled = [name if features()[name] == name else f"{name}{version_of(name)}" for name in names]
    letters = "".join(name for name in spelled if len(name) == 1)
    return "_".join([f"rv{bits}{letters or 'i'}", *(name for name in spelled if len(name) > 1)])


def says(text: str, found: FeatureSet) -> bool:
    """Whether an ISA string gives exactly a set."""
    source = Source(text, NAME)
    try:
        return feature_set(source, Reader(source).read(split_words(text)[0])) == found
    except TargetSyntaxError:
        return False
