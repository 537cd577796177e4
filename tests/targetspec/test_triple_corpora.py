from __future__ import annotations

import random
from typing import Any

import pytest

from targetspec import triple_facts as facts
from targetspec.errors import TargetSyntaxError, UnknownNameError
from targetspec.triple import LLVMTriple, Triple, normalize_triple, read_triple
from targetspec.triple_archs import ARCHS
from targetspec.triple_names import DARWIN_OSES

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


@pytest.mark.shared
def test_llvm_fields(corpus):
    """Each field and predicate that LLVM's own tests state comes out the same."""
    wrong = [
        (row["id"], key, value)
        for row in corpus("llvm_triple_fields")
        for key, value in row["expect"].items()
        if _expected(key, value) != _ASKED[key](read_triple(row["triple"]))
    ]
    assert wrong == []


@pytest.mark.shared
def test_llvm_normalisation(corpus):
    """Each normalisation that LLVM's own tests state comes out the same, in each of the four forms."""
    forms = {"ANY": "any", "THREE_IDENT": "three", "FOUR_IDENT": "four", "FIVE_IDENT": "five"}
    rows = corpus("llvm_triple_normalize")
    wrong = [r for r in rows if r["normalized"] != normalize_triple(r["triple"], form=forms[r["form"]])]
    assert wrong == []


@pytest.mark.shared
def test_llvm_compatibility(corpus):
    """`isCompatibleWith` answers as in LLVM's own tests, in both orders."""
    for row in corpus("llvm_triple_compat"):
        a, b = read_triple(row["a"]), read_triple(row["b"])
        assert (row["compatible"],) * 2 == (a.compatible_with(b), b.compatible_with(a)), row["id"]


@pytest.mark.shared
def test_clang_target_triples(corpus):
    """clang prints what normalisation gives, but for Hurd: its driver then puts hurd where only gnu is said."""
    rows = corpus("llvm_triples_clang22")
    wrong = [r for r in rows if r["target_triple"] != normalize_triple(r["triple"])]
    assert all("-hurd-gnu" in row["target_triple"] for row in wrong)
    assert len(wrong) < len(rows) / 100


@pytest.mark.shared
def test_the_strict_reading_of_clang_triples(corpus):
    """What clang's tests compile for parses, and names the same machine; refused are the bad names among them."""
    refused = 0
    for row in corpus("llvm_triples_clang22"):
        if row["triple"] != row["triple"].lower():
            continue  # LLVM knows lower case only; the strict reading takes either
        try:
            triple = Triple.parse(row["triple"])
        except (UnknownNameError, TargetSyntaxError):
            refused += 1
            continue
        llvm = read_triple(normalize_triple(row["triple"]))
        assert (llvm.arch, llvm.object_format) == (triple.arch, triple.object_format), row["id"]
        assert llvm.os in {triple.os, "unknown"}, row["id"]
    assert refused < 0.05 * len(corpus("llvm_triples_clang22"))


@pytest.mark.shared
def test_rustc_llvm_targets(corpus):
    """Each of rustc's llvm-targets parses, keeps its pointer width, and equals another only where LLVM's arch does."""
    texts: dict[object, str] = {}
    for row in corpus("rustc_targets"):
        triple = Triple.parse(row["llvm_target"])
        assert row["target_pointer_width"] == triple.pointer_bits, row["id"]
        assert triple == Triple.parse(str(triple))
        texts.setdefault(triple, set()).add(row["llvm_target"])
    assert [{"armv7a-none-eabihf", "armv7-unknown-none-eabihf"}] == [t for t in texts.values() if len(t) > 1]


@pytest.mark.shared
def test_rustc_names(corpus):
    """rustc's own names parse where LLVM knows the architecture, and no two of them fall together."""
    texts: dict[object, str] = {}
    for row in corpus("rustc_targets"):
        if row["name"].startswith(("riscv32", "riscv64")) or row["name"] == "armv7a-vex-v5":
            continue  # the architecture's part holds extensions, or the OS's a device: the rustc dialect reads those
        texts.setdefault(Triple.parse(row["name"]), set()).add(row["name"])
    assert [names for names in texts.values() if len(names) > 1] == []


# --- an independent reader -------------------------------------------------------------------------------


@pytest.mark.oracle
def test_llvmlite_reads_the_same_parts():
    """LLVM, by way of llvmlite, finds the same architecture, vendor, OS and environment in 3000 mixed texts."""
    targets = pytest.importorskip("llvmlite.binding.targets")
    rng = random.Random(22)
    words = [
        *{part: None for text in _MIXED for part in text.split("-")},
        "",
        "",
        "unknown",
        "none",
        "mingw32",
    ]
    for _ in range(3000):
        text = "-".join(rng.choice(words) for _ in range(rng.randint(1, 6)))
        parts, mine = targets.get_triple_parts(text), read_triple(normalize_triple(text))
        assert parts[:1] + parts[2:5] == (mine.arch, mine.vendor, mine.os, mine.environment), text


_MIXED = [
    "x86_64-apple-darwin23-macho",
    "arm64_32-apple-watchos-simulator",
    "armv7eb-suse-linux-gnueabi",
    "sie-ps5-foo-wasm",
    "thumbv6m-none-eabi",
    "i786-pc-win32-msvc19",
    "mipsisa64r6el-mti-linux-gnuabi64",
    "armm-nvidia-cuda-elf",
    "armv9.8a-oe-aix",
    "aarch64_32v8-ibm-zos-goff",
    "wasm64-wasip3-muslwali",
    "ve-img-hurd-gnux32",
    "kalimbax-csr-visionos1",
    "bar-meta-windows-coff",
    "spirv64v1.6-intel-vulkan1.3-compute",
    "dxil-shadermodel6.2-library",
    "aarch64_be-cygwin-androideabi21",
    "bpf_be-macos11",
]
