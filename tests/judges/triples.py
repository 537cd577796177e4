"""Triples as LLVM's own tests and clang have them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from judges.judge import Judge, Row
from targetspec import triple_facts as facts
from targetspec.errors import TargetSyntaxError, UnknownNameError
from targetspec.triple import LLVMTriple, Triple, normalize_triple, read_triple
from targetspec.triple_archs import ARCHS
from targetspec.triple_names import DARWIN_OSES

HURD = "clang's driver puts hurd where only gnu is said, and normalisation does not"
LISTED = {
    f"tri:{text}": HURD
    for text in (
        "armv7-unknown-unknown-gnueabi",
        "mips-unknown-gnu",
        "x86_64-pc-gnu",
        "x86_64-unknown-unknown-gnu",
    )
}
_FORMS = {"ANY": "any", "THREE_IDENT": "three", "FOUR_IDENT": "four", "FIVE_IDENT": "five"}
_ARCH_NAMES = {
    "x86": "i386",
    "ppc": "powerpc",
    "ppc64": "powerpc64",
    "systemz": "s390x",
    "UnknownArch": "unknown",
}
_NAMES = {
    "ImaginationTechnologies": "img",
    "MipsTechnologies": "mti",
    "OpenEmbedded": "oe",
    "Freescale": "fsl",
    "HermitCore": "hermit",
    "Win32": "windows",
    "OpenHOS": "ohos",
    "GNUILP32": "gnu_ilp32",
}
_SUB_ARCHS = {
    "NoSubArch": "",
    "AArch64SubArch_arm64e": "e",
    "AArch64SubArch_arm64ec": "ec",
    "PPCSubArch_spe": "spe",
}


def _name(value: str) -> str:
    return "unknown" if value.startswith("Unknown") else _NAMES.get(value, value.lower())


def _sub_arch(value: str) -> str:
    return _SUB_ARCHS.get(value) or value.partition("_")[2].replace("_", ".").replace("v1", "v1.").replace(
        "..", "."
    )


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def _macos_before(triple: LLVMTriple, *numbers: int) -> bool:
    have = [int(n) for n in Triple.parse(triple.text).macos_version.split(".")]
    return [*have, 0, 0][:3] < list(numbers)


_ASKED = {
    "Arch": lambda t: t.arch,
    "SubArch": lambda t: t.sub_arch,
    "Vendor": lambda t: t.vendor,
    "OS": lambda t: t.os,
    "Environment": lambda t: t.environment,
    "ObjectFormat": lambda t: t.object_format.upper(),
    "ArchName": lambda t: t.names[0],
    "VendorName": lambda t: t.names[1],
    "OSName": lambda t: t.names[2],
    "EnvironmentName": lambda t: t.names[3],
    "OSVersion": lambda t: _dotted(t.os_version),
    "iOSVersion": lambda t: _dotted(facts.ios_version(t)),
    "VulkanVersion": lambda t: _dotted(facts.vulkan_version(t)),
    "DXILVersion": lambda t: _dotted(facts.dxil_version(t)),
    "isArch64Bit": lambda t: t.arch in ARCHS and ARCHS[t.arch].bits == 64,
    "isArch32Bit": lambda t: t.arch in ARCHS and ARCHS[t.arch].bits == 32,
    "isArch16Bit": lambda t: t.arch in ARCHS and ARCHS[t.arch].bits == 16,
    "isLittleEndian": lambda t: ARCHS[t.arch].endianness == "little",
    "isMacOSX": lambda t: t.os in {"darwin", "macosx"},
    "isiOS": lambda t: t.os in {"ios", "tvos"},
    "isXROS": lambda t: t.os == "xros",
    "isBridgeOS": lambda t: t.os == "bridgeos",
    "isDriverKit": lambda t: t.os == "driverkit",
    "isOSDarwin": lambda t: t.os in DARWIN_OSES,
    "isSimulatorEnvironment": lambda t: t.environment == "simulator",
    "isMacCatalystEnvironment": lambda t: t.environment == "macabi",
    "isAndroid": lambda t: t.environment == "android",
    "isArmT32": facts.is_t32,
    "isArmMClass": facts.is_m_profile,
    "isTime64ABI": facts.is_time64,
    "isHardFloatABI": facts.is_hard_float,
    "supportsCOMDAT": facts.supports_comdat,
    "isMacOSXVersionLT(11, 1, 0)": lambda t: _macos_before(t, 11, 1, 0),
    "isMacOSXVersionLT(11, 0, 0)": lambda t: _macos_before(t, 11, 0, 0),
    "isMacOSXVersionLT(10, 15, 0)": lambda t: _macos_before(t, 10, 15, 0),
    "isMacOSXVersionGE(11, 1, 0)": lambda t: not _macos_before(t, 11, 1, 0),
    "isMacOSXVersionGE(11, 0, 0)": lambda t: not _macos_before(t, 11, 0, 0),
    "isMacOSXVersionGE(10, 15, 0)": lambda t: not _macos_before(t, 10, 15, 0),
}


def _expected(key: str, value: Any) -> Any:
    if key == "Arch":
        return _ARCH_NAMES.get(value, value)
    if key == "SubArch":
        return "r6" if value == "MipsSubArch_r6" else _sub_arch(value)
    return _name(value) if key in {"Vendor", "OS", "Environment"} else value


def _faults_of_fields(row: Row) -> Iterator[str]:
    """Yield each field and predicate that comes out otherwise."""
    triple = read_triple(row["triple"])
    for key, value in row["expect"].items():
        if _expected(key, value) != _ASKED[key](triple):
            yield f"{key} {_ASKED[key](triple)!r}, not {value!r}"


def _faults_of_form(row: Row) -> Iterator[str]:
    """Yield the normalised text where it is another."""
    got = normalize_triple(row["triple"], form=_FORMS[row["form"]])
    if got != row["normalized"]:
        yield got


def _faults_of_pair(row: Row) -> Iterator[str]:
    """Yield an answer of either order that is another."""
    a, b = read_triple(row["a"]), read_triple(row["b"])
    for got in (a.compatible_with(b), b.compatible_with(a)):
        if got != row["compatible"]:
            yield f"compatible is {got}"


def _faults_of_clang(row: Row) -> Iterator[str]:
    """Yield a normalised text that clang prints otherwise, and a strict reading that names another machine."""
    normal = normalize_triple(row["triple"])
    if normal != row["target_triple"]:
        yield normal
    triple = strict(row["triple"])
    if triple is None:
        return
    llvm = read_triple(normal)
    if (llvm.arch, llvm.object_format) != (triple.arch, triple.object_format):
        yield f"{triple.arch} {triple.object_format}"
    if llvm.os not in {triple.os, "unknown"}:
        yield triple.os


def strict(text: str) -> Triple | None:
    """Return the strict reading; None where it refuses, and for capitals, which LLVM does not know."""
    if text != text.lower():
        return None
    try:
        return Triple.parse(text)
    except (UnknownNameError, TargetSyntaxError):
        return None


FILES = {
    "llvm_triple_fields": Judge(_faults_of_fields),
    "llvm_triple_normalize": Judge(_faults_of_form),
    "llvm_triple_compat": Judge(_faults_of_pair),
    "llvm_triples_clang22": Judge(_faults_of_clang, LISTED, 2),
}
