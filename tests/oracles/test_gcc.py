"""GCC's own closures on x86, and the levels of the psABI: a set of CPUs and of features that is not LLVM's."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from oracle_review import Accepted, review
from targetspec import CpuTarget, cpu, detect_host

pytestmark = pytest.mark.oracle
REVIEWED = "12"
LOADER = Path("/lib64/ld-linux-x86-64.so.2")
_NOT_IN_ARCH = "LLVM 22 release notes of earlier versions: processor names no longer imply it, for few machines turn it on"
_TREMONT = "LLVM 22 X86.td, TRMFeatures; the ISA extensions reference lists them for Tremont parts, some of them fused off"
_GCC_12 = "GCC 12 i386.h, PTA_ constants"
CPUS = {
    ("gcc", "avx512vp2intersect", "sapphirerapids"): Accepted("only Tiger Lake has it; GCC 13 took it away", "GCC 13 release notes"),
    ("gcc", "cldemote", "alderlake"): Accepted("a hint that the client parts do not report", "LLVM 22 X86.td, ADLFeatures"),
    ("gcc", "cldemote", "tremont"): Accepted("as waitpkg", _TREMONT),
    ("gcc", "movdir64b", "tremont"): Accepted("as waitpkg", _TREMONT),
    ("gcc", "movdiri", "tremont"): Accepted("as waitpkg", _TREMONT),
    ("gcc", "waitpkg", "tremont"): Accepted("LLVM leaves it out of the name, so that code for it runs on all", _TREMONT),
    **{
        ("gcc", "sgx", name): Accepted("turned on by firmware, and no compiler emits it", _NOT_IN_ARCH)
        for name in ["alderlake", "cannonlake", "cascadelake", "cooperlake", "goldmont-plus", "icelake-client", "icelake-server", "sapphirerapids", "skylake", "skylake-avx512", "tigerlake", "tremont"]
    },
    ("gcc", "xsave", "btver1"): Accepted("Bobcat has no AVX, and no XSAVE", "AMD family 14h BKDG, CPUID Fn0000_0001"),
    ("ours", "aes", "knl"): Accepted("Knights Landing has AES; GCC leaves it out", "Intel ISA extensions reference"),
    ("ours", "aes", "knm"): Accepted("as knl", "Intel ISA extensions reference"),
    **{
        ("ours", "prfchw", name): Accepted("comes with 3DNow!, which GCC has as a feature of its own", _GCC_12)
        for name in ["athlon-fx", "athlon64", "athlon64-sse3", "k8", "k8-sse3", "opteron", "opteron-sse3"]
    },
    **{
        ("ours", "shstk", name): Accepted("GCC has it as an option (-fcf-protection), not of a processor", _GCC_12)
        for name in ("alderlake", "sapphirerapids", "tigerlake")
    },
}  # fmt: skip
"""Who alone has a feature in the set of a CPU."""

_WIDER = "GCC 12 i386-common.cc: AVX512F brings AVX2 alone; every machine with it has both, and LLVM relies on that"
_LOOSE = "GCC 12 i386-common.cc: the wide forms of it are there with AVX only; LLVM has one feature for both"
_TILES = "GCC 12 i386-common.cc lets the parts stand alone; a tile must be configured with amx-tile"
_AVX512 = [
    "avx512bf16",
    "avx512bitalg",
    "avx512bw",
    "avx512cd",
    "avx512dq",
    "avx512f",
    "avx512fp16",
    "avx512ifma",
    "avx512vbmi",
    "avx512vbmi2",
    "avx512vl",
    "avx512vnni",
    "avx512vp2intersect",
    "avx512vpopcntdq",
]
CLOSURES = {
    **{("ours", name, extra): Accepted("LLVM's AVX-512 needs it", _WIDER) for name in _AVX512 for extra in ("f16c", "fma")},
    ("ours", "avx512bitalg", "avx512bw"): Accepted("its masks are of bytes and words", "LLVM 22 X86.td, FeatureBITALG"),
    ("ours", "avx512vbmi2", "avx512bw"): Accepted("its masks are of bytes and words", "LLVM 22 X86.td, FeatureVBMI2"),
    ("gcc", "avx512vp2intersect", "avx512dq"): Accepted("it uses no instruction of it", "LLVM 22 X86.td, FeatureVP2INTERSECT"),
    ("ours", "amx-bf16", "amx-tile"): Accepted("no tile without it", _TILES),
    ("ours", "amx-int8", "amx-tile"): Accepted("no tile without it", _TILES),
    ("gcc", "amx-tile", "xsave"): Accepted("the system needs it, code does not", "LLVM 22 X86.td, FeatureAMXTILE"),
    **{("ours", "vaes", extra): Accepted("vaes needs AVX2 and aes", _LOOSE) for extra in ["aes", "avx", "avx2", "crc32", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3", "xsave"]},
    **{("ours", "vpclmulqdq", extra): Accepted("vpclmulqdq needs AVX and pclmul", _LOOSE) for extra in ["avx", "crc32", "pclmul", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3", "xsave"]},
}  # fmt: skip
"""Who alone has a feature in what another one brings."""


def _gcc(*options: str) -> str:
    command = ["gcc", *options, "-Q", "--help=target"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@functools.cache
def _names() -> dict[str, str]:
    """Return LLVM's names of the options that this GCC has for features; skips where its answers are not reviewed."""
    if shutil.which("gcc") is None:
        pytest.skip("no gcc is installed")
    words = {word: subprocess.run(["gcc", word], capture_output=True, text=True, check=True).stdout.strip() for word in ("-dumpversion", "-dumpmachine")}  # fmt: skip
    if words["-dumpversion"].partition(".")[0] != REVIEWED or not words["-dumpmachine"].startswith("x86_64"):
        pytest.skip(f"the list of disagreements is for GCC {REVIEWED} of x86-64, and this is {words}")
    options = re.findall(r"^\s+-m(\S+)\s+\[(?:en|dis)abled\]", _gcc(), re.MULTILINE)
    known = {option: cpu.feature_alias("x86", option, "gcc") for option in options}
    return {option: name for option, name in known.items() if name and cpu.is_listed("x86", name)}


def _enabled(*options: str) -> frozenset[str]:
    on = re.findall(r"^\s+-m(\S+)\s+\[enabled\]", _gcc(*options), re.MULTILINE)
    return frozenset(_names()[option] for option in on if option in _names())


def _ours(name: str, *add: str) -> frozenset[str]:
    return cpu.resolve("x86", name, add).names & frozenset(_names().values())


def _apart(key: str, gcc: frozenset[str], ours: frozenset[str]) -> dict[tuple[str, str], str]:
    return {**{("gcc", one): key for one in gcc - ours}, **{("ours", one): key for one in ours - gcc}}


def test_every_cpu_of_gcc():
    """The set of each CPU that both know is the same, of the features that both know."""
    _names()
    done = subprocess.run(
        ["gcc", "-march=x", "-c", "-xc", "/dev/null"], capture_output=True, text=True, check=False
    )
    listed = re.search(r"valid arguments to .*? are: ([^;\n]*)", done.stderr)
    assert listed is not None
    both = [name for name in listed[1].split() if name in cpu.cpu_names("x86", aliases=True)]
    assert len(both) > 50
    found = {}
    for name in both:
        for (who, feature), key in _apart(name, _enabled(f"-march={name}"), _ours(name)).items():
            found[who, feature, key] = who
    review(found, CPUS)


def test_every_feature_of_gcc():
    """What a feature brings along is the same, on x86-64."""
    assert len(_names()) > 75
    base, found = _ours("x86-64"), {}
    for option, name in sorted(_names().items()):
        gcc, ours = _enabled("-march=x86-64", f"-m{option}") - base, _ours("x86-64", name) - base
        for (who, feature), key in _apart(name, gcc, ours).items():
            found[who, key, feature] = who
    review(found, CLOSURES)


@pytest.mark.parametrize(
    ("level", "before", "added"),
    [
        ("x86-64-v2", "x86-64", "cx16 sahf popcnt crc32 sse3 sse4.1 sse4.2 ssse3"),
        ("x86-64-v3", "x86-64-v2", "avx avx2 bmi bmi2 f16c fma lzcnt movbe xsave"),
        ("x86-64-v4", "x86-64-v3", "avx512f avx512bw avx512cd avx512dq avx512vl"),
    ],
)
def test_levels_are_the_sets_of_the_psabi(level, before, added):
    """Each level adds what the psABI's table of micro-architecture levels lists, and nothing else; GCC agrees."""
    ours = {name: cpu.resolve("x86", name).names for name in (level, before)}
    assert set(added.split()) == ours[level] - ours[before]
    assert _enabled(f"-march={level}") == _ours(level)


def test_levels_of_this_machine():
    """The loader of glibc and the verdict agree on which levels this machine runs."""
    if not LOADER.exists():
        pytest.skip("no x86-64 glibc loader here")
    said = subprocess.run([str(LOADER), "--help"], capture_output=True, text=True, check=True).stdout
    levels = re.findall(r"(x86-64-v\d)( \(supported)?", said)
    if not levels:
        pytest.skip("this loader does not print levels")
    host = detect_host()
    assert {level: bool(supported) for level, supported in levels} == {
        level: bool(CpuTarget(triple=host.triple, cpu=level).compatible(host)) for level, _ in levels
    }
