"""zig 0.17's queries as its compiler answers them, its CPUs with the features that it lists, and its lists of names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from judges.judge import Judge, Row
from targetspec import CpuTarget, FeatureSet, TargetSyntaxError, Triple, cpu, parse
from targetspec.dialects import zig_cpus, zig_models, zig_names

_TRACE = "the trace extensions, which the tables leave out of what is generic, for few machines have them"
_NO_TRIPLE = "no triple has the architecture"
QUERIES = {"zigq:aarch64-linux-gnu:generic+sve2-neon": _TRACE}
CPUS = {
    "zigcpu:aarch64:generic": _TRACE,
    "zigcpu:ez80:generic": _NO_TRIPLE,
    "zigcpu:spork8:generic": _NO_TRIPLE,
}
_SOFT_FLOAT = "soft_float"


def _read(text: str) -> CpuTarget | None:
    try:
        found: Any = parse(text, "zig")
    except TargetSyntaxError:
        return None
    return found


def _fault(text: str) -> str:
    try:
        parse(text, "zig")
    except TargetSyntaxError as error:
        return error.message
    return ""


def _faults_of_query(row: Row) -> Iterator[str]:
    """Yield what differs: whether it is read, and the architecture, system, ABI, CPU and libc that it states."""
    text = f"{row['target']} -mcpu={row['mcpu']}" if row["mcpu"] else row["target"]
    target = _read(text)
    if row.get("host_relative"):
        # It says another target on each machine, and none of its own.
        if "native" not in _fault(text):
            yield f"read as {target}"
        return
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
    if row["mcpu"] not in (None, "baseline") and not _is_model(target, row["model"]):
        yield f"cpu {target.cpu}"
    if ".gnu." in row["target"] and row.get("glibc") != target.libc_version:
        yield f"glibc {target.libc_version}"
    if row["mcpu"]:
        yield from _faults_of_features(target, row["features"])


def _is_model(target: CpuTarget, name: str) -> bool:
    """Whether a target's CPU is what zig answers: by LLVM's first name of it, or none for a model of zig's own."""
    family = target.family
    if target.cpu is None:
        return name in zig_models.own_models(str(family))
    llvm = zig_cpus.llvm_cpu(target.triple.arch, name)
    return llvm is not None and target.cpu == (cpu.canonical_cpu(family, llvm) if family else llvm)


def _faults_of_features(target: CpuTarget, listed: list[str]) -> Iterator[str]:
    """Yield the features that zig says and a target has not, and those that it has and zig does not ask for.

    Of those that sets hold: tuning comes with the CPU's name, and the width of the code with the triple. Of an AMD GPU,
    sets hold what clang may switch; the rest is its processor's name.
    """
    family, held = target.family, target.features
    if family in (None, "amdgpu") or held is None:
        return
    if _SOFT_FLOAT in listed and target.float_abi != "soft":
        yield "without soft_float"
    names = zig_cpus.features(family)
    said = {names[name] for name in listed if name in names and name != _SOFT_FLOAT}
    wanted = {name for name in said if cpu.is_listed(family, name)}
    reached = set().union(*(cpu.implied(family, name) for name in held))
    if wanted - reached:
        yield f"without {sorted(wanted - reached)}"
    beyond = set(held) - _closed(family, listed, target.triple)
    if beyond:
        yield f"with {sorted(beyond)}"


def _closed(family: str, names: list[str], triple: Triple) -> frozenset[str]:
    """Return zig's features with all that they need, under LLVM's names."""
    known = zig_cpus.features(family)
    found = {known[name] for name in zig_cpus.needed(family, frozenset(names)) if name in known}
    listed = {name for name in found if cpu.is_listed(family, name)}
    # Some features imply others together, and in code of one width.
    closed = FeatureSet.closed(family, listed).for_width(triple.pointer_bits)
    return frozenset(closed).union(*(cpu.implied(family, name) for name in found))


def _faults_of_cpu(row: Row) -> Iterator[str]:
    """Yield a CPU that is not read, and what its set has less or more than the features that zig lists for it.

    zig lists a CPU under each architecture of its family: one of the other width is refused here. A query cannot say the
    names that end in a plus.
    """
    target = _read(f"{row['arch']}-freestanding-none -mcpu={row['cpu']}")
    if target is not None:
        yield from _faults_of_features(target, row["features"])
    elif not (row["cpu"].endswith("+") or _is_of_another_width(row["arch"], row["cpu"])):
        yield "refused"


def _is_of_another_width(arch: str, name: str) -> bool:
    return "-bit" in _fault(f"{arch}-freestanding-none -mcpu={name}")


def _faults_of_list(row: Row) -> Iterator[str]:
    """Yield the names of a list that are not known."""
    if "list" not in row:
        query = f"{row['arch']}-freestanding -mcpu=baseline"
        unknown = {name for name in row["features"] if "unknown" in _fault(f"{query}+{name}")}
    elif row["list"] in ("arch", "os", "abi"):
        unknown = {name for name in row["values"] if not _is_known(row["list"], name)}
    elif row["list"] == "libc":
        unknown = {text for text in row["values"] if _read(text) is None}
    else:
        unknown = {text for text in row["values"] if _read(f"x86_64-linux-gnu.{text}") is None}
    if unknown:
        yield f"without {sorted(unknown)}"


def _is_known(what: str, name: str) -> bool:
    if what == "arch":
        return zig_names.is_arch(name)
    return name in (zig_names.OS_NAMES if what == "os" else zig_names.ABI_NAMES)


FILES = {
    "zig_queries": Judge(_faults_of_query, QUERIES, 2),
    "zig_cpus": Judge(_faults_of_cpu, CPUS, 2),
    "zig_lists": Judge(_faults_of_list, percent=2),
}
