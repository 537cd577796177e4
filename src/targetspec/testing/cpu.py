"""Strategies for processors: ordinary ones and tricky ones, such as aliases, removed features and 32-bit code."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from targetspec import cpu as tables
from targetspec.errors import TargetspecError
from targetspec.kinds.cpu import CpuTarget
from targetspec.triple import Triple

_TRIPLES = (
    "x86_64-unknown-linux-gnu",
    "x86_64-unknown-linux-musl",
    "x86_64-pc-windows-msvc",
    "x86_64-apple-macosx13.0",
    "x86_64-unknown-linux-gnux32",
    "i686-unknown-linux-gnu",
    "aarch64-unknown-linux-gnu",
    "aarch64-unknown-linux-android24",
    "arm64-apple-macos14",
    "arm64-apple-ios17.0-simulator",
    "aarch64_be-unknown-linux-gnu",
    "aarch64-unknown-none",
)
_COMMON_CPUS = {
    "x86": (
        "x86-64-v2",
        "x86-64-v3",
        "x86-64-v4",
        "haswell",
        "skylake",
        "skylake-avx512",
        "znver2",
        "znver3",
        "znver4",
    ),
    "aarch64": (
        "generic",
        "cortex-a53",
        "cortex-a72",
        "cortex-a710",
        "neoverse-n1",
        "neoverse-v1",
        "apple-m1",
    ),
}


def triples() -> st.SearchStrategy[Triple]:
    """Return triples of the families that have tables."""
    return st.sampled_from([Triple.parse(text) for text in _TRIPLES])


def cpu_names(family: str) -> st.SearchStrategy[str]:
    """Return CPU names of a family, common ones as often as all others; aliases are among them."""
    known = tables.cpu_names(family, aliases=True)
    return st.sampled_from(_COMMON_CPUS.get(family, known[:1])) | st.sampled_from(known)


def _fits(triple: Triple | None, cpu: str) -> bool:
    if triple is None or triple.family is None:
        return len(tables.families_of_cpu(cpu)) == 1
    widths = tables.cpu_widths(triple.family, cpu)
    return triple.pointer_bits in widths or max(widths) > triple.pointer_bits


@st.composite
def cpu_targets(draw: st.DrawFn, *, triple: Triple | None = None, hosts: bool = True) -> CpuTarget:
    """Return processors, of one triple where given, with a host now and then where `hosts`."""
    at = draw(triples()) if triple is None else triple
    family = str(at.family)
    name = draw(st.none() | cpu_names(family).filter(lambda cpu: _fits(at, cpu)))
    fields: dict[str, Any] = {"triple": at, "cpu": name, "features": draw(_changed(at, name))}
    fields["tune"] = draw(st.none() | st.none() | cpu_names(family))
    for count in ("num_cores", "l1d_cache_bytes", "l2_cache_bytes", "l3_cache_bytes"):
        fields[count] = draw(st.none() | st.integers(1, 1 << 30))
    fields["vector_bits"] = draw(st.none() | st.none() | st.sampled_from((128, 256, 512)))
    if at.environment.startswith(("gnu", "musl")) and at.os == "linux":
        fields["libc_version"] = draw(st.none() | st.sampled_from(("1.2", "2.17", "2.36", "2.4")))
        fields["static"] = draw(st.booleans())
    fields["libs"] = draw(st.frozensets(st.sampled_from(("cblas", "cudnn", "mkl", "libstdc++")), max_size=2))
    if hosts:
        fields["host"] = draw(st.none() | cpu_targets(hosts=False))
    return CpuTarget(**fields)


@st.composite
def _changed(draw: st.DrawFn, triple: Triple, cpu: str | None) -> tables.FeatureSet | None:
    """Draw None, or the CPU's set with a few features added and removed."""
    bare = CpuTarget(triple=triple, cpu=cpu)
    if bare.features is None or draw(st.booleans()):
        return None
    family = str(triple.family)
    names = st.sampled_from([n for n in tables.feature_names(family) if tables.role(family, n) == "isa"])
    changed = bare.features
    for add, name in draw(st.lists(st.tuples(st.booleans(), names), max_size=3)):
        try:
            changed = changed.with_changes(add=[name]) if add else changed.with_changes(remove=[name])
        except TargetspecError:
            continue
    return changed


@st.composite
def compatible_cpu_pairs(draw: st.DrawFn) -> tuple[CpuTarget, CpuTarget]:
    """Return pairs of which code for the first runs on the second."""
    base = draw(cpu_targets(hosts=False))
    better = base
    if base.features is not None and base.triple is not None:
        family = str(base.triple.family)
        extra = draw(st.lists(st.sampled_from(tables.feature_names(family)), max_size=3))
        better = base.evolve(features=_grown(base.features, family, extra))
    return base, better.evolve(num_cores=draw(st.none() | st.integers(1, 64)))


def _grown(features: tables.FeatureSet, family: str, extra: list[str]) -> tables.FeatureSet:
    """Add those isa features whose closure brings no abi feature along."""
    grown = features
    for name in extra:
        if any(tables.role(family, part) != "isa" for part in tables.implied(family, name)):
            continue
        grown = grown.with_changes(add=[name])
    return grown
