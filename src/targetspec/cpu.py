"""Facts of CPUs and their features by family: names, sets, roles, what implies what."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Collection, Iterable
from typing import cast

from targetspec.cpu_tables import FAMILIES, TABLES_VERSION, Role, baselines, cpu_index, descriptions, table
from targetspec.errors import FeatureConflictError, UnknownNameError, nearest
from targetspec.feature_aliases import WORLDS, from_llvm, to_llvm
from targetspec.features import FeatureSet
from targetspec.triple_names import DARWIN_OSES

__all__ = [
    "TABLES_VERSION",
    "FeatureSet",
    "Role",
    "baseline_cpu",
    "baseline_features",
    "canonical_cpu",
    "canonical_feature",
    "cpu_names",
    "cpu_widths",
    "dependents",
    "describe",
    "families_of_cpu",
    "family_knowing",
    "family_names",
    "feature_alias",
    "feature_names",
    "feature_spelling",
    "has_cpu",
    "has_feature",
    "implied",
    "inverse_of",
    "is_listed",
    "patches",
    "resolve",
    "role",
    "tuning_of",
    "unasked_of",
]

# How ARM passes arguments, the narrower first: the one name is in the other.
_CONVENTIONS = ("eabihf", "eabi")
# The architectures that share their baselines with another.
_SAME_BASELINE = {
    **dict.fromkeys(("armeb", "thumb", "thumbeb"), "arm"),
    "aarch64_be": "aarch64",
    "riscv32be": "riscv32",
    "riscv64be": "riscv64",
}


def family_names() -> tuple[str, ...]:
    """Return the names of the tables."""
    return FAMILIES


def cpu_names(family: str, *, aliases: bool = False) -> tuple[str, ...]:
    """Return the CPUs of a family, sorted; with `aliases` the other names they go by as well."""
    held = table(family)
    return tuple(sorted([*held.cpus, *(held.cpu_aliases if aliases else ())]))


def canonical_cpu(family: str, name: str) -> str:
    """Return the name that LLVM defines a CPU by.

    Raises:
        UnknownNameError: no such CPU.

    >>> canonical_cpu("x86", "core-avx2")
    'haswell'
    """
    return table(family).canonical_cpu(name)


def has_cpu(family: str, name: str) -> bool:
    """Say whether today's table of a family has a CPU, by any of its names."""
    held = table(family)
    return name in held.cpus or name in held.cpu_aliases


def has_feature(family: str, name: str) -> bool:
    """Say whether today's table of a family has a feature, by any of its names."""
    try:
        table(family).canonical(name)
    except UnknownNameError:
        return False
    return True


def family_knowing(names: Collection[str]) -> str | None:
    """Return the family that has most of some names of features; None where there is no such one.

    >>> family_knowing(["avx2", "sse", "from-the-future"])
    'x86'
    """
    known = {family: sum(name in table(family).features for name in names) for family in FAMILIES}
    most = max(known.values())
    first, *others = [family for family, count in known.items() if count == most]
    return first if most and not others else None


def families_of_cpu(name: str) -> tuple[str, ...]:
    """Return the families that have a CPU of this name, without reading their tables.

    >>> families_of_cpu("cortex-a53")
    ('aarch64', 'arm')
    """
    return cpu_index().get(name, ())


def baseline_cpu(arch: str, sub_arch: str = "", os: str = "", environment: str = "") -> str | None:
    """Return the CPU that clang takes for a triple when none is stated; None where nothing is taken.

    >>> baseline_cpu("x86_64"), baseline_cpu("arm", "v7", "freebsd")
    ('x86-64', 'cortex-a8')
    """
    words = _baseline(arch, sub_arch, os, environment)
    return words[0] if words else None


def baseline_features(arch: str, sub_arch: str = "", os: str = "", environment: str = "") -> tuple[str, ...]:
    """Return what a triple adds to the set of its baseline CPU: ARM's architecture, RISC-V's extensions.

    For RISC-V, without an operating system, clang takes no floating point.

    >>> baseline_features("riscv64", os="linux")
    ('a', 'c', 'd', 'f', 'm', 'zaamo', 'zalrsc', 'zca', 'zcd', 'zicsr', 'zmmul')
    """
    return _baseline(arch, sub_arch, os, environment)[1:]


@functools.lru_cache(maxsize=1024)
def _baseline(arch: str, sub_arch: str, os: str, environment: str) -> tuple[str, ...]:
    """Return the entry that says most of what is stated: the version comes first, then the system, then the convention."""
    known = baselines()
    words = (
        (_SAME_BASELINE.get(arch, arch),),
        (sub_arch, ""),
        (*_systems(os), ""),
        (next((name for name in _CONVENTIONS if name in environment), ""), ""),
    )
    keys = (" ".join(filter(None, key)) for key in itertools.product(*words))
    return tuple(next((known[key] for key in keys if key in known), "").split())


def _systems(os: str) -> tuple[str, ...]:
    if os in {"", "none", "unknown"}:
        return ()
    return (os, "darwin", "os") if os in DARWIN_OSES else (os, "os")


def cpu_widths(family: str, cpu: str) -> tuple[int, ...]:
    """Return the pointer widths, in bits, that a CPU runs code of: `(32,)` for i686, `(32, 64)` for haswell."""
    held = table(family)
    row = held.cpus[held.canonical_cpu(cpu)]
    return tuple(int(bits) for bits in row.get("bits", held.bits).split())


def feature_names(family: str) -> tuple[str, ...]:
    """Return the features of a family, of all roles, sorted."""
    return tuple(sorted(table(family).features))


def canonical_feature(family: str, name: str) -> str:
    """Return LLVM's name of a feature.

    Raises:
        UnknownNameError: no such feature.

    >>> canonical_feature("x86", "sse4_1")
    'sse4.1'
    """
    return table(family).canonical(name)


def role(family: str, feature: str) -> Role:
    """Return whether a feature is "isa", "tuning", "inverse" or "abi"."""
    held = table(family)
    return cast("Role", held.features[held.canonical(feature)]["role"])


def is_listed(family: str, feature: str) -> bool:
    """Say whether sets list a feature: not tuning and inverse ones, nor what the triple states or a group stands for."""
    held = table(family)
    row = held.features[held.canonical(feature)]
    return row["role"] in ("isa", "abi") and "field" not in row


def describe(family: str, feature: str) -> str:
    """Return a sentence on what a feature is."""
    return descriptions(family)[canonical_feature(family, feature)]


def feature_alias(family: str, name: str, world: str) -> str | None:
    """Return LLVM's name of what a world calls a feature; None where LLVM has no such feature.

    The worlds are "linux" (the flags of /proc/cpuinfo), "rust", "gcc" (clang's options too) and "llvm" (old names).

    Raises:
        UnknownNameError: no such family or world.

    >>> feature_alias("x86", "abm", "linux")
    'lzcnt'
    """
    found = to_llvm(family, _world(world)).get(name, name)
    return found if found in table(family).features else None


def feature_spelling(family: str, feature: str, world: str) -> str:
    """Return what a world writes for a feature; LLVM's own name where the two agree.

    Raises:
        UnknownNameError: no such family, feature or world.

    >>> feature_spelling("x86", "lzcnt", "linux")
    'abm'
    """
    name = canonical_feature(family, feature)
    return from_llvm(family, _world(world)).get(name, name)


def _world(world: str) -> str:
    if world not in WORLDS:
        raise UnknownNameError("world", world, nearest(world, WORLDS))
    return world


def implied(family: str, feature: str) -> frozenset[str]:
    """Return all that a feature implies, itself included."""
    held = table(family)
    name = held.canonical(feature)
    return frozenset((name, *held.unmask(held.reach(name)))) if name in held.bit else frozenset((name,))


def dependents(family: str, feature: str) -> frozenset[str]:
    """Return all that implies a feature, itself included: what goes when it goes."""
    held = table(family)
    name = held.canonical(feature)
    return frozenset((name, *held.unmask(held.down(name)))) if name in held.bit else frozenset((name,))


def tuning_of(family: str, cpu: str) -> frozenset[str]:
    """Return the tuning features that come with a CPU's name."""
    held = table(family)
    return frozenset(held.cpus[held.canonical_cpu(cpu)].get("tuning", "").split())


def inverse_of(family: str, cpu: str) -> frozenset[str]:
    """Return the restrictions (inverse features) that come with a CPU's name."""
    held = table(family)
    return frozenset(held.cpus[held.canonical_cpu(cpu)].get("inverse", "").split())


def unasked_of(family: str, cpu: str) -> tuple[str, ...]:
    """Return what LLVM gives a CPU's name and sets here have only where it is asked for, sorted: POWER9's htm."""
    held = table(family)
    return tuple(held.cpus[held.canonical_cpu(cpu)].get("less", "").split())


def patches(family: str) -> dict[str, str]:
    """Return where the table departs from clang: the entry ("cpu znver3", "feature sse2") and the reason."""
    return dict(table(family).patched)


def resolve(
    family: str, cpu: str, add: Iterable[str] = (), remove: Iterable[str] = (), *, bits: int = 64
) -> FeatureSet:
    """Return a CPU's features with some added and some removed, closed.

    `bits` is the pointer width of the code. What is added brings all it implies; what is removed takes along all that
    implies it.

    Raises:
        UnknownNameError: no such family, CPU or feature.
        FeatureConflictError: what is added implies what is removed.
        FeatureRoleError: a tuning or an inverse feature.

    >>> resolve("x86", "haswell", remove=["avx"]) <= resolve("x86", "haswell")
    True
    """
    held = table(family)
    remove = tuple(remove)
    mask = held.change(held.cpu_mask(cpu, bits), add, remove)
    found = held.fit(mask, held.width_of(cpu, bits))
    for name in remove:
        if held.bit[held.canonical(name)] & found:
            raise FeatureConflictError(family, f"-{name}", f"{bits}bit", f"{bits}-bit code has {name}")
    return FeatureSet.of_mask(family, found)
