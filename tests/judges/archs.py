"""Platforms of containers, target ids of AMD's GPUs, architectures of NVIDIA's, tags of wheels and levels of Go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

import targetspec
from judges.judge import Judge, Row
from targetspec import CpuTarget, Target, cpu
from targetspec.dialects import oci
from targetspec.dialects.wheel import accepted_tags
from targetspec.errors import TargetSyntaxError
from targetspec.gpu_cuda import CudaArch, arch_names
from targetspec.matching import best_match, ordered
from targetspec.parsing import Parsed, parse_full

_VERSION = (
    "the system that runs it states no version: unknown here, and containerd compares it on Windows only"
)
LISTED = {
    "oci:TestOnly:windows/amd64:windows(10.0.17763)/amd64": _VERSION,
    "oci:TestOnlyStrict:windows/amd64:windows(10.0.17763)/amd64": _VERSION,
}


def _platform(text: str) -> Target | None:
    try:
        return targetspec.parse(text, "oci")
    except TargetSyntaxError:
        return None


def _oci_answer(row: Row) -> bool:
    """Only asks the relation with a 32-bit userland; OnlyStrict asks for the same platform, of which a version is a floor."""
    host, image = _platform(row["host"]), _platform(row["image"])
    if host is None or image is None:
        return False
    if row["matcher"] == "Only":
        return bool(image.compatible(host, bridges=("compat32",)))
    return _unversioned(image) == _unversioned(host) and bool(image.compatible(host))


def _unversioned(target: Any) -> Any:
    return target.evolve(triple=attrs.evolve(target.triple, os_version=""))


def _faults_of_platform(row: Row) -> Iterator[str]:
    """Yield what differs from containerd: what matches, what is written, and what is refused."""
    if "matcher" in row:
        if _oci_answer(row) != row["match"]:
            yield f"match is {not row['match']}"
    elif "input" not in row:
        if row["formatted"] != oci.format_parsed(parse_full(row["formatted"], "oci")):
            yield "not written as it was"
    elif not row.get("valid", True) or "skipped_upstream" in row:
        if _platform(row["input"]) is not None:
            yield f"read as {_platform(row['input'])}"
    else:
        yield from _faults_of_written(row)


def _faults_of_written(row: Row) -> Iterator[str]:
    """A platform is written as containerd writes it, its own machine's architecture being amd64 here."""
    bare = row["platform"]["Architecture"] == "<defaultArch>"
    if bare and _platform(row["input"]) is not None:
        yield "read without an architecture"
    expected = row["formatted"]
    if expected.startswith("path.Join("):
        parts = [part.strip(' "') for part in expected[len("path.Join(") : -1].split(",")]
        names = {"defaultOS": "", "defaultArch": "amd64", "defaultVariant": ""}
        expected = "/".join(filter(None, (names.get(part, part) for part in parts)))
    # armel has no other name without a system.
    expected = {"arm/v6": "armel"}.get(expected, expected)
    written = oci.format_parsed(parse_full(row["input"] + "/amd64" if bare else row["input"], "oci"))
    if expected != written:
        yield f"written as {written}"


def _faults_of_target_id(row: Row) -> Iterator[str]:
    """Yield what differs from clang's reading of a target id, or from LLVM's rule of what runs where."""
    if "compatible" in row:
        code, device = (targetspec.parse(row[name], "amdgpu") for name in ("code_for", "runs_on"))
        if row["compatible"] != bool(code.compatible(device)):
            yield f"compatible is {not row['compatible']}"
        return
    try:
        target = targetspec.parse(row.get("target_id") or row["hip_offload_arch"], "amdgpu")
    except TargetSyntaxError as error:
        if row["valid"]:
            yield f"refused: {error.message}"
        return
    signs = {True: "+", False: "-"}
    stated = [(name, getattr(target.target_id, name)) for name in ("sramecc", "xnack")]
    features = [signs[on] + name for name, on in stated if on is not None]
    if not row["valid"] or (row["processor"], row["features"]) != (target.processor, features):
        yield f"read as {target}"


def _device(text: str) -> Target:
    """A device is described by the most specific architecture of its capability."""
    number = CudaArch.parse(text).number
    names = [name for name in arch_names() if CudaArch.parse(name).number == number]
    return targetspec.parse(names[-1], "cuda")


def _faults_of_cuda(row: Row) -> Iterator[str]:
    """Yield an architecture that is written otherwise, and code that runs elsewhere than the guide says."""
    if "arch" in row:
        if row["arch"] != targetspec.parse(row["arch"], "cuda").format("cuda"):
            yield "written otherwise"
        return
    code = targetspec.parse(row["code_for"], "cuda").evolve(code_form=row["code_kind"])
    if row["compatible"] != bool(code.compatible(_device(row["device"]))):
        yield f"compatible is {not row['compatible']}"


def _machine(row: Row) -> Target:
    if row["os"] == "macos":
        return CpuTarget(triple=f"{row['arch']}-apple-macosx{row['version']}")
    stem = {
        "ios": f"ios_{row.get('version')}",
        "android": f"android_{row.get('api')}",
        "linux": f"manylinux_{row.get('glibc')}",
    }
    return targetspec.parse(f"{stem[row['os']]}_{row['arch']}".replace(".", "_"), "wheel")


def _faults_of_tags(row: Row) -> Iterator[str]:
    """The tags that a machine accepts begin with the row's; its length is that of the whole list where it says one."""
    found = [tag for tag in accepted_tags(_machine(row)) if not tag.startswith("linux_")]
    expected = row["accepted_tags_in_order"]
    if expected != found[: len(expected)]:
        yield f"tags {found[: len(expected)]}"
    if row["os"] != "ios" and row.get("n", len(expected)) != len(found):
        yield f"{len(found)} tags"


# What the psABI calls features that no compiler has a name for, or another one.
_PSABI = {"cmpxchg16b": "cx16", "lahf-sahf": "sahf", "bmi1": "bmi", "fpu": "x87"}
_SYSTEMS_OWN = frozenset({"osfxsr", "sce", "osxsave"})


def _faults_of_misc(row: Row) -> Iterator[str]:
    """Yield what differs of wheels' tags, of the levels of x86-64, and of what runs on a level of Go."""
    if "accepted_tags_in_order" in row:
        yield from _faults_of_tags(row)
    elif "level" in row:
        wanted = {_PSABI.get(name, name) for name in row["all"]} - _SYSTEMS_OWN
        lacking = wanted - set(cpu.resolve("x86", row["level"], bits=64))
        if lacking:
            yield f"without {sorted(lacking)}"
    else:
        code, machine = (targetspec.parse(row[name], "go") for name in ("code_for", "runs_on"))
        if row["compatible"] != bool(code.compatible(machine)):
            yield f"compatible is {not row['compatible']}"


def _faults_of_order(row: Row) -> Iterator[str]:
    """Yield what differs where the system alone must match, and in the order of several candidates.

    containerd orders those that do not match as well; of those that run the relation's order is the same.
    """
    host = parse_full(row["host"], "oci")
    if "matcher" in row:
        if row["match"] != _same_system(parse_full(row["image"], "oci"), host):
            yield f"match is {not row['match']}"
        return
    rank = _rank_of_systems if "OnlyOS" in row["id"] else _rank_of_features
    by_system = sorted(row["candidates"], key=lambda text: rank(parse_full(text, "oci"), host))
    if row["best_first"] != by_system:
        yield f"the order is {by_system}"
    machine = _compared(host.target)
    usable = ordered(
        [_compared(parse_full(text, "oci").target) for text in row["candidates"]], run_on=machine
    )
    if usable[0] != best_match(usable, run_on=machine):
        yield "the first is not the best"
    best_first = [_compared(parse_full(text, "oci").target) for text in row["best_first"]]
    if [target for target in best_first if target in usable] != [*usable]:
        yield f"what runs is {[*map(str, usable)]}"


def _compared(target: Any) -> Any:
    """Return what containerd compares of a platform: the version of the system is none of it, but on Windows."""
    return target if target.triple.os == "windows" else _unversioned(target)


def _same_system(image: Parsed, host: Parsed) -> bool:
    """The features of a system are leftovers of its platform, and an image needs all of its own."""
    return image.target.triple.os == host.target.triple.os and {*image.leftovers} <= {*host.leftovers}


def _rank_of_systems(image: Parsed, host: Parsed) -> tuple[bool, bool]:
    return not _same_system(image, host), image.target != host.target


def _rank_of_features(image: Parsed, host: Parsed) -> tuple[bool, int]:
    triple, there = image.target.triple, host.target.triple
    return (triple.os, triple.arch) != (there.os, there.arch), -len({*image.leftovers} & {*host.leftovers})


FILES = {
    "oci_platforms": Judge(_faults_of_platform, LISTED),
    "oci_more": Judge(_faults_of_order),
    "amdgpu_target_ids": Judge(_faults_of_target_id),
    "cuda_archs": Judge(_faults_of_cuda),
    "misc_compat": Judge(_faults_of_misc),
}
