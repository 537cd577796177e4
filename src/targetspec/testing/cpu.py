"""Strategies for processors: ordinary ones and tricky ones, such as aliases, removed features and 32-bit code."""

from __future__ import annotations

from typing import Any, cast

from hypothesis import strategies as st

from targetspec import cpu as tables
from targetspec.errors import FeatureConflictError, TargetspecError
from targetspec.fields import Count
from targetspec.kinds.cpu import CpuTarget
from targetspec.kinds.cpu_abis import ABIS
from targetspec.target import Target
from targetspec.testing.cases import tricky_targets
from targetspec.testing.shapes import counts, made
from targetspec.triple import Triple

# Where LLVM has no choice of ABIs any name is taken.
_ANY_ABI = ("sysv", "lp64")
_TRIPLES = (
    "x86_64-unknown-linux-gnu",
    "x86_64-unknown-linux-musl",
    "x86_64-pc-windows-msvc",
    "x86_64-pc-windows-gnu",
    "x86_64-apple-macosx13.0",
    "x86_64-unknown-linux-gnux32",
    "x86_64h-apple-macosx",
    "x86_64-unknown-freebsd14.0",
    "i686-unknown-linux-gnu",
    "i386-unknown-none-elf",
    "aarch64-unknown-linux-gnu",
    "aarch64-unknown-linux-android24",
    "aarch64-pc-windows-msvc",
    "arm64-apple-macos14",
    "arm64-apple-ios17.0-simulator",
    "arm64e-apple-ios",
    "arm64_32-apple-watchos",
    "aarch64_be-unknown-linux-gnu",
    "aarch64-unknown-none",
)
_OTHER_FAMILIES = (
    "armv7-unknown-linux-gnueabihf",
    "armv6k-unknown-linux-gnueabi",
    "thumbv7em-none-eabihf",
    "armebv7r-none-eabi",
    "riscv64-unknown-linux-gnu",
    "riscv32-unknown-none-elf",
    "powerpc64le-unknown-linux-gnu",
    "powerpc-unknown-linux-gnu",
    "s390x-unknown-linux-gnu",
    "loongarch64-unknown-linux-gnu",
    "mips64el-unknown-linux-gnuabi64",
    "mipsel-unknown-linux-gnu",
    "wasm32-unknown-wasi",
    "hexagon-unknown-linux-musl",
    "sparc64-unknown-linux-gnu",
    "avr-unknown-none",
)
_CACHES = ("l1d_cache_bytes", "l2_cache_bytes", "l3_cache_bytes", "cache_line_bytes")
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
    """Return triples of many architectures and systems; half of them are x86 or AArch64, and few have no table."""
    ours = st.sampled_from(_TRIPLES)
    return (ours | ours | st.sampled_from(_OTHER_FAMILIES)).map(Triple.parse)


def cpu_names(family: str) -> st.SearchStrategy[str]:
    """Return CPU names of a family, common ones as often as all others; aliases are among them."""
    known = tables.cpu_names(family, aliases=True)
    return st.sampled_from(_COMMON_CPUS.get(family, known[:1])) | st.sampled_from(known)


def _fits(triple: Triple, cpu: str) -> bool:
    widths = tables.cpu_widths(str(triple.family), cpu)
    return triple.pointer_bits in widths or max(widths) > triple.pointer_bits


def cpu_targets(
    *, triple: Triple | None = None, hosts: bool = True, other_tables: bool = False
) -> st.SearchStrategy[CpuTarget]:
    """Return processors, of one triple where given, with a host now and then where `hosts`.

    With `other_tables` some hold features that another version of the tables closed.
    """
    drawn = _drawn_targets(triple, hosts=hosts)
    if triple is not None:
        return drawn
    pool = st.sampled_from(tricky_targets("cpu", other_tables=other_tables))
    few = st.one_of(_without_triple(), pool if hosts else pool.map(Target.without_host))
    return st.one_of(drawn, drawn, drawn, few)


@st.composite
def _drawn_targets(draw: st.DrawFn, triple: Triple | None, *, hosts: bool) -> CpuTarget:
    at = draw(triples()) if triple is None else triple
    fields: dict[str, Any] = {"triple": at}
    if at.family in tables.family_names():
        fields |= draw(_instruction_sets(at))
    for count in (*_CACHES, "num_cores"):
        fields[count] = draw(st.none() | counts(Count()))
    fields["vector_bits"] = draw(st.none() | st.none() | st.sampled_from((32, 128, 256, 512, 1 << 16)))
    fields["abi"] = draw(st.none() | st.none() | st.sampled_from(ABIS.get(at.family or "", _ANY_ABI)))
    fields["float_abi"] = draw(st.none() | st.none() | st.sampled_from(("soft", "softfp", "hard")))
    fields["libc"] = draw(st.none() | st.none() | st.sampled_from(("glibc", "musl", "newlib")))
    fields["libc_version"] = draw(st.none() | st.sampled_from(("1.2", "2.17", "2.36", "2.4")))
    fields["static"] = draw(st.booleans())
    fields["libs"] = draw(st.frozensets(st.sampled_from(("cblas", "cudnn", "mkl", "libstdc++")), max_size=2))
    if hosts:
        fields["host"] = draw(st.none() | cpu_targets(hosts=False))
    return cast(
        "CpuTarget", made(CpuTarget, {name: value for name, value in fields.items() if value is not None})
    )


@st.composite
def _instruction_sets(draw: st.DrawFn, triple: Triple) -> dict[str, Any]:
    """Draw a CPU or none, and what is stated beside it of features, tuning and restrictions."""
    family = str(triple.family)
    fitting = cpu_names(family).filter(lambda cpu: _fits(triple, cpu))
    name = draw(st.none() | fitting)
    fields: dict[str, Any] = {"cpu": name, "features": draw(_changed(triple, name))}
    fields["tune"] = draw(st.none() | st.none() | cpu_names(family))
    signs = st.sampled_from(("+", "-"))
    for field, role in (("tuning", "tuning"), ("restrictions", "inverse")):
        known = [one for one in tables.feature_names(family) if tables.role(family, one) == role]
        some = draw(st.none() | st.frozensets(st.sampled_from(known), max_size=2)) if known else None
        if some and field == "tuning":
            some = frozenset(draw(signs) + one for one in some)
        fields[field] = some
    return fields


def _without_triple() -> st.SearchStrategy[CpuTarget]:
    """Return processors of which no triple is known, and where one table has the name, features nevertheless."""
    names = [name for family in ("x86", "aarch64", "riscv") for name in tables.cpu_names(family)]
    return st.sampled_from(names).map(lambda name: CpuTarget(cpu=name))


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
            more = changed.with_changes(add=[name]) if add else changed.with_changes(remove=[name])
            bare.evolve(features=more)  # raises for what contradicts the triple
        except TargetspecError:
            continue
        changed = more
    return changed


@st.composite
def compatible_cpu_pairs(draw: st.DrawFn) -> tuple[CpuTarget, CpuTarget]:
    """Return pairs of which code for the first runs on the second."""
    base = draw(cpu_targets(hosts=False))
    better = base
    if base.features is not None and base.triple is not None:
        family = str(base.triple.family)
        extra = draw(st.lists(st.sampled_from(tables.feature_names(family)), max_size=3))
        better = base.evolve(features=_grown(base, family, extra))
    return base, better.evolve(num_cores=draw(st.none() | st.integers(1, 64)))


def _grown(base: CpuTarget, family: str, extra: list[str]) -> tables.FeatureSet | None:
    """Add those isa features that code of the triple can have, and whose closure brings no abi feature along."""
    grown = base
    for name in extra:
        if any(tables.role(family, part) != "isa" for part in tables.implied(family, name)):
            continue
        try:
            grown = grown.evolve(features=grown.features and grown.features.with_changes(add=[name]))
        except FeatureConflictError:
            continue
    return grown.features
