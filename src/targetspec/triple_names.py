"""Names that a triple is made of beside the architecture: vendors, operating systems, environments, formats.

Each table says what LLVM 22 knows; the `EXTRA_` ones hold what rustc, zig and the GNU tools name beyond it.
Source: LLVM 22.1 (TargetParser), rustc 1.95 target specifications, zig 0.17.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping

from targetspec.triple_archs import ARCHS, LLVM_ARCHS

VENDORS = frozenset(
    (
        "amd",
        "apple",
        "csr",
        "fsl",
        "ibm",
        "img",
        "intel",
        "mesa",
        "meta",
        "mti",
        "nvidia",
        "oe",
        "pc",
        "scei",
        "suse",
    )
)
VENDOR_ALIASES = {"sie": "scei"}
# Vendors that LLVM does not know, but that stand in triples without an operating system.
EXTRA_VENDORS = frozenset(
    (
        "esp",
        "esp32",
        "fortanix",
        "kmc",
        "nintendo",
        "openwrt",
        "redhat",
        "sony",
        "sun",
        "unikraft",
        "uwp",
        "w64",
        "win7",
        "wrs",
    )
)

_LLVM_OSES = """
    aix amdhsa amdpal bridgeos cheriotrtos cuda darwin dragonfly driverkit elfiamcu emscripten freebsd fuchsia
    haiku hermit hurd ios kfreebsd linux liteos lv2 macosx managarm mesa3d netbsd nvcl openbsd ps4 ps5 rtems
    serenity shadermodel solaris tvos uefi vulkan wasi wasip1 wasip2 wasip3 watchos windows xros zos
"""
_EXTRA_OSES = """
    ashetos cloudabi contiki espidf firmware gba helenos horizon illumos irix l4re lynxos178 minix motor nacl none nto nuttx
    opengl plan9 psp psx qurt redox solid_asp3 teeos tios trusty vexos vita vxworks wiiu xous zkvm
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
    abin32 call0 freestanding gnuabiv2 gnuabiv2hf gnuasan gnullvm gnuspe ilp32 muslspe newlib newlibeabi newlibeabihf none pthread qnx
    relibc sgx softfloat threads uclibc uclibceabi uclibceabihf v5 x32
"""
ENVIRONMENTS: dict[str, str] = {name: name for name in _LLVM_ENVIRONMENTS.split()}
EXTRA_ENVIRONMENTS: dict[str, str] = {
    **{name: name for name in _EXTRA_ENVIRONMENTS.split()},
    "androideabi": "android",
    "gnuilp32": "gnu_ilp32",
    "ohoseabi": "ohos",
    "sim": "simulator",
}

# What a triple may state. LLVM reads these at the end of a component; the order matters (xcoff ends with coff).
FORMAT_SUFFIXES = ("xcoff", "coff", "elf", "goff", "macho", "wasm", "spirv")
OBJECT_FORMATS = frozenset(FORMAT_SUFFIXES)

DARWIN_OSES = frozenset(("bridgeos", "darwin", "driverkit", "ios", "macosx", "tvos", "watchos", "xros"))
# Apple skipped from these numbers to 26 (2025): OS -> the first number skipped, and what leads from old to new.
APPLE_RENUMBERED = {"ios": (19, 7), "macosx": (16, 10), "tvos": (19, 7), "watchos": (12, 14), "xros": (3, 23)}
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


_MANY_SYSTEMS = frozenset(("aarch64", "aarch64_32", "arm", "i386", "thumb", "x86_64"))


def _native_format(arch: str, os: str) -> str:
    many = arch in _MANY_SYSTEMS or arch not in LLVM_ARCHS
    if os == "windows" and (many or arch == "mipsel"):
        return "coff"
    if os == "uefi" and many:
        return "coff"
    if os in DARWIN_OSES and (many or arch in {"powerpc", "powerpc64"}):
        return "macho"
    if os == "aix" and arch in {"powerpc", "powerpc64"}:
        return "xcoff"
    return "goff" if (os, arch) == ("zos", "s390x") else "elf"
