"""zig 0.17's queries as its compiler answers them, its CPUs with the features that it lists, and its lists of names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from judges.judge import Judge, Row
from targetspec import CpuTarget, TargetSyntaxError, cpu, parse
from targetspec.dialects import zig_cpus, zig_names
from targetspec.triple_archs import ARCHS

_NO_FEATURES = frozenset({"crypto", "32bit", "64bit"})
"""Names for others together, and widths, which are the architecture's."""
_NATIVE = "zig asks the machine; a text alone does not say what that is"
QUERIES = {
    "zigq:aarch64-linux-gnu:generic+sve2-neon": "the trace extensions, which the tables leave out of what is generic",
    "zigq:native:": _NATIVE,
    "zigq:native-native:": _NATIVE,
    "zigq:x86_64-linux-gnu:native": _NATIVE,
}

_DIFFERING = {
    "clang adds the trace extensions to what is generic; the tables leave them out": """
        aarch64:generic
    """,
    "clang has no half precision in this CPU's set": """
        aarch64:oryon_1 aarch64_be:oryon_1 arm:cortex_a510 arm:cortex_a710 armeb:cortex_a510
        armeb:neoverse_n2 thumb:cortex_a710 thumbeb:cortex_a510 thumbeb:cortex_a710
    """,
    "clang leaves these to the back end": """
        arm:cortex_a12 arm:cortex_a5 arm:cortex_a9 arm:cortex_r8 arm:swift armeb:cortex_a12
        armeb:cortex_a15 armeb:cortex_a17 armeb:cortex_a7 armeb:cortex_a9 armeb:swift
        thumb:cortex_a15 thumb:cortex_r8 thumb:swift thumbeb:cortex_a12 thumbeb:cortex_a7
        thumbeb:cortex_r8 thumbeb:swift
    """,
    "clang takes half precision away with the FPU that it has by default": """
        arm:cortex_a76ae arm:cortex_a77 arm:cortex_a78ae arm:cortex_x1 arm:cortex_x1c arm:exynos_m4
        arm:exynos_m5 arm:neoverse_v1 armeb:cortex_a76 armeb:cortex_a78 armeb:cortex_x1c
        armeb:exynos_m4 armeb:exynos_m5 thumb:cortex_a76ae thumb:cortex_a77 thumb:cortex_a78
        thumb:cortex_a78ae thumb:cortex_x1 thumb:cortex_x1c thumb:exynos_m4 thumb:exynos_m5
        thumbeb:cortex_a76 thumbeb:cortex_a77 thumbeb:cortex_x1 thumbeb:exynos_m4 thumbeb:exynos_m5
    """,
    "no triple has the architecture": """
        ez80:generic spork8:generic
    """,
    "clang's set of the CPU is without them": """
        loongarch32:la464 loongarch32:la664 loongarch64:la464
    """,
    "a float ABI, which is a field of its own": """
        mips:r3000a mipsel:r3000a mips64:r3000a mips64el:r3000a x86:lakemont
    """,
    "tuning of a CPU that LLVM has not": """
        riscv32:spacemit_a100 riscv64be:spacemit_a100 riscv64be:spacemit_x100
    """,
    "clang's set of the CPU is without it": """
        x86:athlon64_sse3 x86:k8_sse3 x86:opteron_sse3 x86_64:athlon64_sse3 x86_64:opteron_sse3
    """,
}
"""CPUs whose sets are not as zig lists them, by the reason: mostly that clang, whose sets the tables hold, and zig differ."""
CPUS = {f"zigcpu:{name}": why for why, names in _DIFFERING.items() for name in names.split()}
_NO_TABLE = "alpha arc arceb avr bpfeb bpfel csky hppa kvx m68k msp430 spirv32 spirv64 ve xtensa xtensaeb"
LISTS = {f"zigfeat:{arch}": "there is no table of this architecture" for arch in _NO_TABLE.split()}


def _family(arch: str) -> str | None:
    name = zig_names.ARCH_NAMES.get(arch, arch)
    return ARCHS[name].family if name in ARCHS else None


def _read(text: str) -> CpuTarget | None:
    try:
        found: Any = parse(text, "zig")
    except TargetSyntaxError:
        return None
    return found


def _faults_of_query(row: Row) -> Iterator[str]:
    """Yield what differs: whether it is read, and the architecture, system, ABI, CPU and libc that it states."""
    target = _read(f"{row['target']} -mcpu={row['mcpu']}" if row["mcpu"] else row["target"])
    if target is None or not row["valid"]:
        if (target is not None) != row["valid"]:
            yield "refused" if row["valid"] else f"read as {target}"
        return
    # What zig fills in is no part of what the text says: the ABI, and the baseline.
    triple = target.triple
    said = (zig_names.arch_name(triple), zig_names.os_name(triple))
    if said != (row["arch"], row["os"]):
        yield f"{said}"
    if len(row["target"].split("-")) > 2 and (zig_names.abi_name(triple) or "none") != row["abi"]:
        yield f"abi {zig_names.abi_name(triple)}"
    if row["mcpu"] not in (None, "baseline") and zig_cpus.zig_cpu(target.family, target.cpu) != row["model"]:
        yield f"cpu {target.cpu}"
    if ".gnu." in row["target"] and row.get("glibc") != target.libc_version:
        yield f"glibc {target.libc_version}"
    lacking = _lacking(target, row["features"]) if row["mcpu"] else ()
    if lacking:
        yield f"without {lacking}"


def _lacking(target: CpuTarget, features: list[str]) -> list[str]:
    """Return the features of zig's, of those that are listed in sets here, that a target has not."""
    family = target.family
    # Of an AMD GPU, sets hold what clang may switch; the rest is its processor's name.
    if family in (None, "amdgpu") or target.features is None:
        return []
    names = zig_cpus.features(family)
    meant = [(name, names[name]) for name in features if name in names]
    return [name for name, ours in meant if cpu.is_listed(family, ours) and ours not in target.features]


def _faults_of_cpu(row: Row) -> Iterator[str]:
    """Yield a CPU that is not read, and the features that zig lists for it and its set has not.

    zig lists a CPU under each architecture of its family: one of the other width is refused here. A query cannot say the
    names that end in a plus.
    """
    target = _read(f"{row['arch']}-freestanding-none -mcpu={row['cpu']}")
    if target is None:
        if not (row["cpu"].endswith("+") or _is_of_another_width(row["arch"], row["cpu"])):
            yield "refused"
        return
    lacking = set(_lacking(target, row["features"])) - _NO_FEATURES
    if lacking:
        yield f"without {sorted(lacking)}"


def _is_of_another_width(arch: str, name: str) -> bool:
    family, triple = _family(arch), zig_names.ARCH_NAMES.get(arch, arch)
    if family is None or arch in zig_names.WITHOUT_TRIPLE:
        return False
    llvm = zig_cpus.llvm_cpu(family, name)
    if llvm is None:
        own = zig_cpus.OWN_CPUS.get(family, {}).get(name, "")
        return ("32bit" in own.split()) != (ARCHS[triple].bits == 32)
    return ARCHS[triple].bits not in cpu.cpu_widths(family, llvm)


def _faults_of_list(row: Row) -> Iterator[str]:
    """Yield the names of a list that are not known."""
    if "list" not in row:
        unknown = set(row["features"]) - _known(row["arch"])
    elif row["list"] in ("arch", "os", "abi"):
        unknown = {name for name in row["values"] if not _is_known(row["list"], name)}
    elif row["list"] == "libc":
        unknown = {text for text in row["values"] if _read(text) is None}
    else:
        unknown = {text for text in row["values"] if _read(f"x86_64-linux-gnu.{text}") is None}
    if unknown:
        yield f"without {sorted(unknown)}"


def _known(arch: str) -> frozenset[str]:
    family = _family(arch)
    if family is None or family not in cpu.family_names():
        return frozenset()
    return frozenset(zig_cpus.features(family)) | zig_cpus.OWN_FEATURES.get(family, frozenset())


def _is_known(what: str, name: str) -> bool:
    if what == "arch":
        return zig_names.is_arch(name)
    return name in (zig_names.OS_NAMES if what == "os" else zig_names.ABI_NAMES)


FILES = {
    "zig_queries": Judge(_faults_of_query, QUERIES, 2),
    "zig_cpus": Judge(_faults_of_cpu, CPUS, 2),
    "zig_lists": Judge(_faults_of_list, LISTS, 2),
}
