"""The rules of the relation for processors, with their sources."""

from __future__ import annotations

import functools
from typing import Any

from targetspec import cpu as facts
from targetspec.errors import FeatureConflictError
from targetspec.features import FeatureSet
from targetspec.kinds.cpu_arch import ARCH, family_of, promised_to, within_mode
from targetspec.kinds.cpu_bridges import over
from targetspec.kinds.cpu_optional import OPTIONAL_FEATURES
from targetspec.rules import (
    NOT_STATED,
    Answer,
    Rule,
    at_most,
    contains,
    equal,
    same,
    show,
    show_difference,
    take_over,
    version_key,
    worst,
)
from targetspec.triple import Triple

# What an environment says beside the C library, which is a requirement of its own.
_KINDS_OF_ENVIRONMENT = ("simulator", "macabi", "android", "ohos", "pauthtest")
# How floating point is passed, where that is not a field's to say: LoongArch's, RISC-V's, MIPS's, PowerPC's SPE.
_FLOATS_OF_ENVIRONMENT = ("sf", "f32", "spe")
_C_LIBRARIES = ("gnu", "musl")
# What wasip1 was called before there was another.
_FORMER = {"darwin": "macosx", "wasi": "wasip1"}
_MACOS = ("darwin", "macosx")
_WITH_API_LEVEL = ("android", "ohos")


def _system(target: Any) -> tuple[Any, ...] | None:
    triple = target.triple
    if triple is None:
        return None
    os = None if triple.os == "unknown" else _FORMER.get(triple.os, triple.os)
    return (os, triple.object_format, _kind_of_environment(triple.environment))


def _kind_of_environment(environment: str) -> str:
    kinds = [kind for kind in _KINDS_OF_ENVIRONMENT if environment.startswith(kind)]
    if environment.startswith(_C_LIBRARIES):
        kinds += [floats for floats in _FLOATS_OF_ENVIRONMENT if environment.endswith(floats)]
    return kinds[0] if kinds else ""


def _same_system(need: Any, have: Any) -> Answer:
    if need is None or have is None:
        return equal(need, have)
    return worst(equal(a, b) for a, b in zip(need, have, strict=True))


def _say_system(need: Any, have: Any) -> tuple[str, str]:
    return _name_system(need), _name_system(have)


def _name_system(system: Any) -> str:
    if system is None:
        return NOT_STATED
    os, object_format, environment = system
    return f"{' '.join(filter(None, (os or 'a system not stated', environment)))} with {object_format}"


def _its_triple(built_for: Any, run_on: Any) -> tuple[str, Any] | None:
    """Take over the triple; none where that would change the mode of the processor, of which more than this follows."""
    is_of_one = ARCH.decide(ARCH.demand(built_for), ARCH.promise(run_on)) == "yes"
    return ("triple", built_for.triple) if is_of_one else None


SYSTEM = Rule(
    label="triple.os",
    statement="operating system and object format must be equal",
    source="LLVM Triple::isCompatibleWith",
    decide=_same_system,
    demand=_system,
    promise=_system,
    say=_say_system,
    repair=_its_triple,
    advice="state the operating system on both sides",
    bridge=over("triple.os"),
)


def _os_version(target: Any) -> tuple[int, ...] | None:
    triple = target.triple
    if triple is None:
        return None
    return version_key(triple.macos_version if triple.os in _MACOS else triple.os_version)


def _api_level(target: Any) -> tuple[int, ...] | None:
    triple = target.triple
    if triple is None or not triple.environment.startswith(_WITH_API_LEVEL):
        return None
    return version_key(triple.environment_version)


OS_FLOOR = Rule(
    label="triple.os_version",
    statement="the system's version must be at least the one that the code was built for",
    source="deployment targets",
    decide=at_most,
    demand=_os_version,
    promise=_os_version,
    repair=_its_triple,
    advice="state the version of the system that runs it, in its triple",
    bridge=over("triple.os_version"),
)

API_LEVEL = Rule(
    label="triple.environment_version",
    statement="the system's API level must be at least the one that the code was built for",
    source="Android API levels",
    decide=at_most,
    demand=_api_level,
    promise=_api_level,
    say=lambda need, have: (show(need).removesuffix(".0"), show(have).removesuffix(".0")),
    repair=_its_triple,
    advice="state the API level of the system that runs it, in its triple: android24",
)


def _platform(target: Any) -> tuple[Triple | None, str | None]:
    return target.triple, family_of(target)


def _linkable(need: tuple[Triple | None, str | None], have: tuple[Triple | None, str | None]) -> Answer:
    one, other = need[0], have[0]
    if one is None or other is None:
        return worst(map(equal, need, have))
    same = one.llvm_compatible(other) and one.os == other.os and one.environment == other.environment
    return "yes" if same else "no"


LINK = Rule(
    label="triple",
    statement="objects must agree on architecture, system and environment",
    source="LLVM Triple::isCompatibleWith",
    decide=_linkable,
    demand=_platform,
    promise=_platform,
    say=lambda need, have: (show(need[0] or need[1]), show(have[0] or have[1])),
    advice="state the triple on both sides",
)


def _whole_set(target: Any) -> FeatureSet | None:
    """Return the set closed with today's tables, as construction closes it for the width of the code."""
    features: FeatureSet | None = target.features
    if features is None or features.tables == facts.TABLES_VERSION:
        return features
    return _closed_today(features, target.triple and target.triple.pointer_bits)


# A set is looked at again and again, for every pair that its target is in.
@functools.lru_cache(maxsize=4096)
def _closed_today(features: FeatureSet, bits: int | None) -> FeatureSet:
    known = features.reclosed()
    try:
        return known if bits is None else known.for_width(bits)
    except FeatureConflictError:
        return known


@functools.lru_cache(maxsize=4096)
def _with_role(features: FeatureSet | None, wanted: str) -> frozenset[str] | None:
    if features is None:
        return None
    # A name that today's tables lack has no role: it must be there like an isa feature, as `_has_features` sees to.
    listed = features.names.intersection(facts.feature_names(features.family))
    return frozenset(name for name in listed if facts.role(features.family, name) == wanted)


def _mended(built_for: Any, run_on: Any) -> tuple[str, Any] | None:
    """Return the runner's set with all that the code has, and without the abi features that it has not."""
    need, have = _whole_set(built_for), _whole_set(run_on)
    if need is None or have is None or need.family != have.family:
        return None
    try:
        return "features", have.with_changes(remove=_abi(have) - _abi(need)).union(need)
    except FeatureConflictError:
        return None


def _abi_of(target: Any) -> frozenset[str] | None:
    return _with_role(_whole_set(target), "abi")


def _abi(features: FeatureSet) -> frozenset[str]:
    return _with_role(features, "abi") or frozenset()


def _has_features(need: FeatureSet | None, have: FeatureSet | None) -> Answer:
    if need is None or have is None:
        return "yes" if need is have else "unknown"
    return "yes" if need <= have or _has_isa(need, have) else "no"


def _has_isa(need: FeatureSet, have: FeatureSet) -> bool:
    """Whether the instructions are there in the mode of the code; what changes the calls has a rule of its own."""
    there = promised_to(need.family, have)
    if there is None:
        return False
    calls = _abi(need)
    return bool(need <= there or (calls and calls.issuperset(need - there)))


FEATURES = Rule(
    label="features",
    statement="every feature that the code may use must be there",
    source="the closed feature set decides, not the CPU's name",
    decide=_has_features,
    demand=_whole_set,
    promise=_whole_set,
    say=show_difference,
    repair=_mended,
    advice="state a CPU or the features on both sides",
    apart=True,
    bridge=over("features"),
    caution=OPTIONAL_FEATURES,
)

_ABI_FEATURES = Rule(
    label="features (abi)",
    statement="features that change the calling convention must be equal",
    source="LLVM must-match features",
    decide=equal,
    demand=_abi_of,
    promise=_abi_of,
    repair=_mended,
    advice="state the features on both sides",
)
ABI_FEATURES = within_mode(_ABI_FEATURES)
LINKED_FEATURES = _ABI_FEATURES
"""The same for objects, which are of one mode."""

# Instructions were removed, and their encodings given to others, so that neither side's code runs on the other.
_BREAKS = {"mips": ("mips32r6", "Release 6", "the releases before 6")}


def _generation(target: Any) -> str | None:
    if target.family not in _BREAKS:
        return ""
    features = _whole_set(target)
    if features is None:
        return None
    since, new, old = _BREAKS[target.family]
    return new if since in features else old


GENERATION = Rule(
    label="features (generation)",
    statement="code for MIPS Release 6 and code for the releases before it do not run on each other's processors",
    source="MIPS Architecture For Programmers, volume I-A, revision 6; lld's tree of MIPS architectures",
    decide=equal,
    demand=_generation,
    promise=_generation,
    advice="state a CPU or the features on both sides",
    bridge=over("features (generation)"),
)

# A restriction that is the design's own, and not a choice of whoever compiles for it.
_DESIGNED = frozenset({"tinycore"})


def _by_design(target: Any) -> frozenset[str]:
    """Return what a CPU's name says: Hexagon's tiny cores lack what their versions have."""
    if target.family != "hexagon" or target.cpu is None:
        return frozenset()
    # A CPU that only other tables have says nothing.
    if not facts.has_cpu(target.family, target.cpu):
        return frozenset()
    return facts.inverse_of(target.family, target.cpu) & _DESIGNED


def _restrictions(target: Any) -> frozenset[str]:
    stated: frozenset[str] = target.restrictions
    return stated | _by_design(target)


def _unrestricted(built_for: Any, run_on: Any) -> tuple[str, Any] | None:
    """Return the restrictions that the code keeps to as well; no statement lifts those of a CPU's design."""
    if not _by_design(run_on) <= _restrictions(built_for):
        return None
    return "restrictions", run_on.restrictions & _restrictions(built_for)


RESTRICTIONS = Rule(
    label="restrictions",
    statement="the code must keep to all that the runner asks for",
    source="LLVM inverse features: strict-align, execute-only, tinycore",
    decide=contains,
    demand=_restrictions,
    promise=_restrictions,
    say=lambda need, have: (f"code that keeps to {show(have - need)}", f"code that keeps to {show(need)}"),
    repair=_unrestricted,
    bridge=over("restrictions"),
)

VECTOR_BITS = Rule(
    label="vector_bits",
    statement="code fixed to a vector length runs on that length only",
    source="SVE: code is length-agnostic unless built for fixed bits",
    decide=lambda need, have: "yes" if need is None else equal(need, have),
    demand=lambda target: target.vector_bits,
    promise=lambda target: target.vector_bits,
    repair=take_over("vector_bits"),
    advice="state vector_bits of the target that runs it",
    bridge=over("vector_bits"),
)

NEEDS_VECTOR_BITS = Rule(
    label="needs.vector_bits",
    statement="vectors must be at least this wide",
    source="stated need",
    decide=at_most,
    demand=lambda target: target.vector_bits,
    promise=lambda target: target.native_vector_bits,
)

NEEDS_VECTOR_REGISTERS = Rule(
    label="needs.vector_registers",
    statement="there must be at least this many vector registers",
    source="stated need",
    decide=at_most,
    demand=lambda target: target.vector_registers,
    promise=lambda target: target.vector_registers,
)


def calls(name: str, source: str) -> Rule:
    """Return the rule that a field of the calling convention must be equal, for code on one machine."""
    return within_mode(same(name, source))
