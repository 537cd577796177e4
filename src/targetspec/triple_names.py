"""Names that a triple is made of: architectures, operating systems, environments, object formats.

Each table says what LLVM 22 knows; the `EXTRA_` ones hold what rustc, zig and the GNU tools name beyond it.
Source: LLVM 22.1 (TargetParser), rustc 1.95 target specifications.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Mapping
from typing import NamedTuple


class ArchFacts(NamedTuple):
    """What an architecture's name alone says: pointer width in bits, byte order, feature-table family."""

    bits: int
    endianness: str
    family: str | None


def _facts(table: str) -> dict[str, ArchFacts]:
    rows = (line.split() for line in table.strip().splitlines())
    return {
        name: ArchFacts(int(bits), endianness, None if family == "-" else family)
        for bits, endianness, family, *names in rows
        for name in names
    }


LLVM_ARCHS = _facts(
    """
    64 little aarch64     aarch64
    64 big    aarch64     aarch64_be
    32 little aarch64     aarch64_32
    32 little arm         arm thumb
    32 big    arm         armeb thumbeb
    32 little x86         i386
    64 little x86         x86_64
    32 little riscv       riscv32
    64 little riscv       riscv64
    32 big    riscv       riscv32be
    64 big    riscv       riscv64be
    32 big    powerpc     powerpc
    32 little powerpc     powerpcle
    64 big    powerpc     powerpc64
    64 little powerpc     powerpc64le
    64 big    systemz     s390x
    32 little loongarch   loongarch32
    64 little loongarch   loongarch64
    32 little webassembly wasm32
    64 little webassembly wasm64
    32 little hexagon     hexagon
    32 big    mips        mips
    32 little mips        mipsel
    64 big    mips        mips64
    64 little mips        mips64el
    64 little amdgpu      amdgcn
    32 little nvptx       nvptx
    64 little nvptx       nvptx64
    16 little -           avr msp430
    32 little -           amdil arc csky dxil hsail kalimba r600 renderscript32 shave sparcel spir spirv32 tcele xcore xtensa
    64 little -           amdil64 bpfel hsail64 renderscript64 spir64 spirv spirv64 ve
    32 big    -           lanai m68k sparc tce
    64 big    -           bpfeb sparcv9
    """
)

EXTRA_ARCHS = _facts(
    """
    64 little -           alpha ia64 kvx
    32 little -           nios2 propeller sh4
    32 big    -           arceb hppa microblaze or1k sh4eb
    32 little -           microblazeel
    64 big    -           hppa64
    32 big    -           s390
    16 little -           x86_16
    """
)

ARCHS = LLVM_ARCHS | EXTRA_ARCHS

# Spelling -> (architecture, sub-architecture); ARM's many versions are read by rule, not listed.
ARCH_SPELLINGS: dict[str, tuple[str, str]] = {
    **{name: (name, "") for name in LLVM_ARCHS},
    **{f"i{n}86": ("i386", f"i{n}86") for n in "456789"},
    "amd64": ("x86_64", ""),
    "x86_64h": ("x86_64", "h"),
    "arm64": ("aarch64", ""),
    "arm64e": ("aarch64", "e"),
    "arm64ec": ("aarch64", "ec"),
    "aarch64_lfi": ("aarch64", "lfi"),
    "arm64_32": ("aarch64_32", ""),
    "xscale": ("arm", "xscale"),
    "xscaleeb": ("armeb", "xscale"),
    "ppc": ("powerpc", ""),
    "ppc32": ("powerpc", ""),
    "powerpcspe": ("powerpc", "spe"),
    "ppcle": ("powerpcle", ""),
    "ppc32le": ("powerpcle", ""),
    "ppc64": ("powerpc64", ""),
    "ppu": ("powerpc64", ""),
    "ppc64le": ("powerpc64le", ""),
    "systemz": ("s390x", ""),
    "sparc64": ("sparcv9", ""),
    "bpf": ("bpfel", ""),
    "bpf_le": ("bpfel", ""),
    "bpf_be": ("bpfeb", ""),
    "mipseb": ("mips", ""),
    "mipsallegrex": ("mips", "allegrex"),
    "mipsisa32r6": ("mips", "r6"),
    "mipsr6": ("mips", "r6"),
    "mipsallegrexel": ("mipsel", "allegrex"),
    "mipsisa32r6el": ("mipsel", "r6"),
    "mipsr6el": ("mipsel", "r6"),
    "mips64eb": ("mips64", ""),
    "mipsn32": ("mips64", "n32"),
    "mipsisa64r6": ("mips64", "r6"),
    "mips64r6": ("mips64", "r6"),
    "mipsn32r6": ("mips64", "n32r6"),
    "mipsn32el": ("mips64el", "n32"),
    "mipsisa64r6el": ("mips64el", "r6"),
    "mips64r6el": ("mips64el", "r6"),
    "mipsn32r6el": ("mips64el", "n32r6"),
    **{f"spirv1.{n}": ("spirv", f"v1.{n}") for n in "56"},
    **{f"spirv{w}v1.{n}": (f"spirv{w}", f"v1.{n}") for w in (32, 64) for n in range(7)},
    **{f"dxilv1.{n}": ("dxil", f"v1.{n}") for n in range(10)},
    **{f"kalimba{n}": ("kalimba", f"v{n}") for n in "345"},
}

# (architecture, sub-architecture) -> the spelling that is written; the first listed wins.
ARCH_TEXTS: dict[tuple[str, str], str] = {}
for _text, _parts in ARCH_SPELLINGS.items():
    ARCH_TEXTS.setdefault(_parts, _text)


def _arm_versions() -> dict[str, str]:
    """ARM's architecture versions in LLVM's order, each with the sub-architecture that LLVM takes it for."""
    old = {"v4": "", "v4t": "v4t", "v5t": "v5", "v5te": "v5te", "v5tej": "v5te", "v6": "v6", "v6k": "v6k"}
    seven = {"v6t2": "v6t2", "v6kz": "v6k", "v6-m": "v6m", "v7-a": "v7", "v7ve": "v7ve", "v7-r": "v7"}
    eight = {"v7-m": "v7m", "v7e-m": "v7em", "v8-a": "v8", **{f"v8.{n}-a": f"v8.{n}a" for n in range(1, 10)}}
    nine = {"v9-a": "v9", **{f"v9.{n}-a": f"v9.{n}a" for n in range(1, 8)}}
    rest = {name: name.replace("-", "") for name in ("v8-r", "v8-m.base", "v8-m.main", "v8.1-m.main")}
    odd = {"iwmmxt": "v5te", "iwmmxt2": "v5te", "xscale": "v5te", "v7s": "v7s", "v7k": "v7k"}
    return old | seven | eight | nine | rest | odd


ARM_VERSIONS = _arm_versions()

# What may stand for a version in an architecture's name -> the version in LLVM's own spelling.
ARM_SYNONYMS = {
    **{name.replace("-", ""): name for name in ARM_VERSIONS if "-" in name},
    "v5": "v5t",
    "v5e": "v5te",
    "v6j": "v6",
    "v6hl": "v6k",
    "v6sm": "v6-m",
    "v6z": "v6kz",
    "v6zk": "v6kz",
    **dict.fromkeys(("v7", "v7l", "v7hl"), "v7-a"),
    **dict.fromkeys(("v8", "v8l", "aarch64", "arm64"), "v8-a"),
    "v9": "v9-a",
}

# The sub-architecture of a version: as it is spelled in a triple, `a` left out where it is the plain one.
ARM_SUB_ARCHS = {
    name: {"v7-a": "v7", "v8-a": "v8", "v9-a": "v9"}.get(name, name.replace("-", ""))
    for name in ARM_VERSIONS
    if name.startswith("v")
}
# Forms that Linux (`uname -m`: l for little) and rustc write, and LLVM reads as plain ARM.
ARM_SUB_ARCHS |= {
    "v4l": "v4",
    "v4tl": "v4t",
    "v5tel": "v5te",
    "v5tejl": "v5tej",
    "v6l": "v6",
    "v7neon": "v7neon",
}

VENDORS = frozenset("amd apple csr fsl ibm img intel mesa meta mti nvidia oe pc scei suse".split())
VENDOR_ALIASES = {"sie": "scei"}
# Vendors that LLVM does not know, but that stand in triples without an operating system.
EXTRA_VENDORS = frozenset(
    "esp esp32 fortanix kmc nintendo openwrt redhat sony sun unikraft uwp w64 win7 wrs".split()
)

_LLVM_OSES = """
    aix amdhsa amdpal bridgeos cheriotrtos cuda darwin dragonfly driverkit elfiamcu emscripten freebsd fuchsia
    haiku hermit hurd ios kfreebsd linux liteos lv2 macosx managarm mesa3d netbsd nvcl openbsd ps4 ps5 rtems
    serenity shadermodel solaris tvos uefi vulkan wasi wasip1 wasip2 wasip3 watchos windows xros zos
"""
_EXTRA_OSES = """
    cloudabi contiki espidf firmware helenos horizon illumos irix l4re lynxos178 minix motor nacl none nto nuttx
    plan9 psp psx qurt redox solid_asp3 teeos trusty vexos vita vxworks xous zkvm
"""
# Every spelling -> the name it stands for. LLVM reads a prefix, and takes what follows for a version.
OSES: dict[str, str] = {
    **{name: name for name in _LLVM_OSES.split()},
    "macos": "macosx",
    "visionos": "xros",
    "win32": "windows",
}
EXTRA_OSES: dict[str, str] = {
    **{name: name for name in _EXTRA_OSES.split()},
    "3ds": "horizon",
    "freestanding": "none",
    "netbsdelf": "netbsd",
    "switch": "horizon",
    "unknown": "unknown",
}
# Systems that are an environment on Windows; the digits that may follow (mingw32) say nothing.
WINDOWS_SYSTEMS = {"mingw": "gnu", "cygwin": "cygnus", "msys": "cygnus"}

_LLVM_ENVIRONMENTS = """
    amplification android anyhit callable closesthit code16 compute coreclr cygnus domain eabi eabihf geometry gnu
    gnu_ilp32 gnuabi64 gnuabin32 gnueabi gnueabihf gnueabihft64 gnueabit64 gnuf32 gnuf64 gnusf gnut64 gnux32 hull
    intersection itanium library llvm macabi mesh miss mlibc msvc mtia musl muslabi64 muslabin32 musleabi musleabihf
    muslf32 muslsf muslwali muslx32 ohos opencl pauthtest pixel raygeneration rootsignature simulator vertex
"""
_EXTRA_ENVIRONMENTS = """
    freestanding gnuabiv2 gnuabiv2hf gnuasan gnullvm gnuspe ilp32 muslspe newlib newlibeabi newlibeabihf none pthread qnx
    relibc sgx softfloat threads uclibc uclibceabi uclibceabihf v5
"""
ENVIRONMENTS: dict[str, str] = {name: name for name in _LLVM_ENVIRONMENTS.split()}
EXTRA_ENVIRONMENTS: dict[str, str] = {
    **{name: name for name in _EXTRA_ENVIRONMENTS.split()},
    "androideabi": "android",
    "gnuilp32": "gnu_ilp32",
    "ohoseabi": "ohos",
    "sim": "simulator",
}

# LLVM reads these at the end of a component; the order matters (xcoff ends with coff).
FORMAT_SUFFIXES = ("xcoff", "coff", "elf", "goff", "macho", "wasm", "spirv")
OBJECT_FORMATS = frozenset((*FORMAT_SUFFIXES, "dxcontainer"))

DARWIN_OSES = frozenset("bridgeos darwin driverkit ios macosx tvos watchos xros".split())
VERSION = re.compile(r"\d+(?:\.\d+)*(?:\.x|_iosock)?")
_LONGEST = max(map(len, itertools.chain(OSES, EXTRA_OSES, ENVIRONMENTS, EXTRA_ENVIRONMENTS)))


def longest_prefix(text: str, names: Mapping[str, str]) -> tuple[str, str] | None:
    """Return what the longest known prefix of `text` stands for, and the rest; None without one."""
    for end in range(min(len(text), _LONGEST), 0, -1):
        name = names.get(text[:end])
        if name is not None:
            return name, text[end:]
    return None


def object_format_suffix(text: str) -> str:
    """Return the object format that `text` ends with, "" without one."""
    return next((name for name in FORMAT_SUFFIXES if text.endswith(name)), "")


def default_object_format(arch: str, os: str) -> str:
    """Return the object format of code for an architecture and system, as LLVM derives it."""
    family = ARCHS[arch].family if arch in ARCHS else None
    if arch.startswith("spirv"):
        return "spirv"
    if family == "webassembly":
        return "wasm"
    if arch == "dxil":
        return "dxcontainer"
    return _native_format(arch, os)


_MANY_SYSTEMS = frozenset("aarch64 aarch64_32 arm i386 thumb unknown x86_64".split())


def _native_format(arch: str, os: str) -> str:
    if os == "windows" and (arch in _MANY_SYSTEMS or arch == "mipsel"):
        return "coff"
    if os == "uefi" and arch in _MANY_SYSTEMS:
        return "coff"
    if os in DARWIN_OSES and (arch in _MANY_SYSTEMS or arch in {"powerpc", "powerpc64"}):
        return "macho"
    if os == "aix" and arch in {"powerpc", "powerpc64"}:
        return "xcoff"
    return "goff" if (os, arch) == ("zos", "s390x") else "elf"


def split_arm(name: str) -> tuple[str, str] | None:
    """Split an ARM architecture's name into its architecture and the rest: `armv7eb` -> (`armeb`, `v7`).

    None where LLVM knows no such form. The rest is a version, not checked, or "".
    """
    head = next((head for head in _ARM_ISAS if name.startswith(head)), "")
    if not head or (head.startswith("aarch64") and "eb" in name):
        return None
    rest = name[len(head) :]
    if head == "aarch64":
        rest = rest.removeprefix("_be")
    elif not head.startswith("aarch64"):
        rest = rest[2:] if rest.startswith("eb") else rest.removesuffix("eb")
    if "eb" in rest or (len(rest) > 1 and not (rest[0] == "v" and rest[1] in "0123456789")):
        return None
    big = name.startswith(("armeb", "thumbeb", "aarch64_be")) or name.endswith("eb")
    return _ARM_ISAS[head][big], rest


_ARM_ISAS = {
    **dict.fromkeys(("arm64_32", "arm64e", "arm64", "aarch64_32", "aarch64"), ("aarch64", "aarch64_be")),
    "arm": ("arm", "armeb"),
    "thumb": ("thumb", "thumbeb"),
}


def arm_version(rest: str) -> str:
    """Return the architecture version, in LLVM's spelling, that an abbreviation stands for; "" without one."""
    name = ARM_SYNONYMS.get(rest, rest)
    return next((known for known in ARM_VERSIONS if f"arm{known}".endswith(name)), "") if name else ""


@functools.lru_cache(maxsize=512)
def read_arch(name: str) -> tuple[str, str]:
    """Return LLVM's architecture and sub-architecture for a name; ("unknown", "") for one it does not know."""
    if name in ARCH_SPELLINGS:
        arch, sub = ARCH_SPELLINGS[name]
        return arch, _llvm_sub_arch(sub)
    if name.startswith("kalimba"):
        return "kalimba", ""
    return _read_arm(name)


def _llvm_sub_arch(sub: str) -> str:
    if sub.endswith("r6"):
        return "r6"
    if sub == "xscale":
        return "v5te"
    return "" if sub in {"h", "n32", "allegrex"} or sub.startswith("i") else sub


def _read_arm(name: str) -> tuple[str, str]:
    parts = split_arm(name)
    if parts is None:
        return "unknown", ""
    arch, rest = parts
    if arch.startswith("thumb") and rest.startswith(("v2", "v3")):
        return "unknown", ""
    version = arm_version(rest)
    if version == "v6-m":
        arch = "thumbeb" if arch in {"armeb", "thumbeb", "aarch64_be"} else "thumb"
    return arch, ARM_VERSIONS.get(version, "")


def spell_arch(arch: str, sub_arch: str) -> str:
    """Return how a triple writes an architecture: (`arm`, `v7`) -> `armv7`, (`mips`, `r6`) -> `mipsisa32r6`."""
    return ARCH_TEXTS.get((arch, sub_arch)) or arch + sub_arch


def known_arch(name: str) -> tuple[str, str] | None:
    """Return the architecture and the sub-architecture of a name that is spelled right, None for others."""
    if name in ARCH_SPELLINGS:
        return ARCH_SPELLINGS[name]
    if name in EXTRA_ARCHS:
        return name, ""
    parts = split_arm(name)
    if parts is None:
        return None
    return _known_arm(*parts)


def _known_arm(arch: str, rest: str) -> tuple[str, str] | None:
    sub = ARM_SUB_ARCHS.get(ARM_SYNONYMS.get(rest, rest)) if rest else ""
    if sub is None:
        return None
    if arch.startswith("aarch64"):
        return _known_aarch64(arch, sub)
    if sub == "v6m":
        return ("thumbeb" if arch.endswith("eb") else "thumb"), sub
    return arch, sub


def _known_aarch64(arch: str, sub: str) -> tuple[str, str] | None:
    """AArch64 begins with version 8, which is the plain one, and has no M profile."""
    if sub in {"", "v8"}:
        return arch, ""
    return (arch, sub) if sub[1] in "89" and "m" not in sub else None
