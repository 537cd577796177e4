"""zig's names of CPUs and features, and LLVM's: those of LLVM with `_` for `-` and `.`, but for the ones listed here.

Source: zig 0.17 (`lib/std/Target`).
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from targetspec import cpu as tables
from targetspec.dialects.zig_names import ARCH_NAMES
from targetspec.packaged import packaged
from targetspec.triple_archs import ARCHS

_PUNCTUATION = re.compile(r"[-.]")
_ARM_ARCH = re.compile(r"armv([0-9][a-z0-9.]*)(-[a-z].*)?")

# Features whose names differ otherwise; ARM's are read by rule.
_FEATURES = {
    "aarch64": {"contextidr_el2": "CONTEXTIDREL2"},
    "amdgpu": {
        "ds128": "enable-ds128",
        "flat_scratch": "enable-flat-scratch",
        "prt_strict_null": "enable-prt-strict-null",
    },
}
# LLVM's names of CPUs of architectures without a table, where zig's differ.
_OTHER_CPUS = {f"myriad2_{n}": f"myriad2.{n}" for n in (1, 2, 3)} | {"xs1b_generic": "xs1b-generic"}


def family_of(arch: str) -> str | None:
    """Return the table of a triple's architecture, None where there is none."""
    family = ARCHS[arch].family
    return family if family in tables.family_names() else None


@functools.cache
def cpus(family: str) -> Mapping[str, str]:
    """Return zig's names of the CPUs of a family, each with LLVM's."""
    names = {_underscored(name): name for name in tables.cpu_names(family, aliases=True)}
    return MappingProxyType({zig: name for zig, name in names.items() if zig in _listed(family).cpus})


@functools.cache
def features(family: str) -> Mapping[str, str]:
    """Return zig's names of the features of a family, each with LLVM's."""
    own = {name: zig for zig, name in _FEATURES.get(family, {}).items()}
    names = {own.get(name) or _feature_name(family, name): name for name in tables.feature_names(family)}
    return MappingProxyType({zig: name for zig, name in names.items() if zig in _listed(family).features})


def is_own_feature(arch: str, name: str) -> bool:
    """Whether a feature is one that zig alone has, or that no table has: kernel modes, removed extensions, workarounds."""
    family = family_of(arch)
    return name in _listed(arch).features and (family is None or name not in features(family))


@functools.lru_cache(maxsize=1024)
def needed(family: str, names: frozenset[str], refused: frozenset[str] = frozenset()) -> frozenset[str]:
    """Return zig's names of features with all that they need, but for what would bring back LLVM's refused ones."""
    needs, llvm = _listed(family).needs, features(family)
    found, fresh = set[str](), names
    while fresh:
        found |= fresh
        near = {other for one in fresh for other in needs.get(one, "").split()} - found
        fresh = frozenset(
            one for one in near if one not in llvm or refused.isdisjoint(tables.implied(family, llvm[one]))
        )
    return frozenset(found)


class _Listed(NamedTuple):
    """zig's names of CPUs and features, and what features need directly."""

    cpus: frozenset[str] = frozenset()
    features: frozenset[str] = frozenset()
    needs: Mapping[str, str] = MappingProxyType({})


def _listed(key: str) -> _Listed:
    """Return the names that zig has of an architecture, or of a family with a table."""
    return _all_listed().get(key, _Listed())


@functools.cache
def _all_listed() -> dict[str, _Listed]:
    document = json.loads(packaged("zig.json"))
    found: dict[str, _Listed] = {}
    for archs, entry in document.items():
        names = _Listed(
            frozenset(entry["cpus"].split()), frozenset(entry["features"].split()), entry["needs"]
        )
        for arch in (ARCH_NAMES[zig] for zig in archs.split() if zig in ARCH_NAMES):
            found[arch] = found[family_of(arch) or arch] = names
    return found


@functools.cache
def written_features(family: str) -> Mapping[str, str]:
    """Return LLVM's names of features, each with zig's."""
    return MappingProxyType({name: zig for zig, name in features(family).items()})


def llvm_cpu(arch: str, name: str) -> str | None:
    """Return LLVM's name of a CPU of a triple's architecture; None where LLVM, or zig where there is no table, has none."""
    family = family_of(arch)
    if family is not None:
        return cpus(family).get(name)
    return _OTHER_CPUS.get(name, name) if name in _listed(arch).cpus else None


def cpu_names(arch: str) -> frozenset[str]:
    """Return zig's names of the CPUs of a triple's architecture."""
    return _listed(arch).cpus


def feature_names(arch: str) -> frozenset[str]:
    """Return zig's names of the features of a triple's architecture."""
    return _listed(arch).features


def zig_cpu(arch: str, name: str) -> str | None:
    """Return zig's name of a CPU of a triple's architecture by LLVM's; None where zig has none."""
    own = {llvm: zig for zig, llvm in _OTHER_CPUS.items()}
    found = _underscored(name) if family_of(arch) else own.get(name, name)
    return found if found in _listed(arch).cpus else None


def _underscored(name: str) -> str:
    return _PUNCTUATION.sub("_", name)


def _feature_name(family: str, name: str) -> str:
    """Return zig's name: on ARM, an architecture has LLVM's name of the version, and the version one of its own."""
    if family != "arm":
        return _underscored(name)
    arch = _ARM_ARCH.fullmatch(name)
    if arch:
        return f"v{arch[1]}{_underscored_profile(arch[2] or '')}".replace(".", "_")
    return f"has_{_underscored(name)}" if name[0] == "v" and name[1].isdigit() else _underscored(name)


def _underscored_profile(profile: str) -> str:
    """Return how zig writes an ARM profile: `-a` as `a`, `-m.base` as `m`, `-m.main` as `m_main`."""
    return profile.removeprefix("-").removesuffix(".base").replace(".", "_")
