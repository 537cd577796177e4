"""zig's names of architectures, systems, ABIs and Windows versions, and what a triple has for each.

Source: zig 0.17 (`zig targets`, and the triples it hands to LLVM).
"""

from __future__ import annotations

import functools

from targetspec.triple import Triple
from targetspec.triple_archs import ARCHS, known_arch

# Where a triple has another name; zig's other names are those of triples. ez80 and spork8 have no triple.
_ARCHS = {"x86": "i386", "sparc64": "sparcv9"}
_SAME_ARCHS = """
    aarch64 aarch64_be alpha amdgcn arc arceb arm armeb avr bpfeb bpfel csky hexagon hppa hppa64 kalimba kvx lanai
    loongarch32 loongarch64 m68k m88k microblaze microblazeel mips mipsel mips64 mips64el msp430 nvptx nvptx64 or1k
    powerpc powerpcle powerpc64 powerpc64le propeller riscv32 riscv32be riscv64 riscv64be s390x sh sheb sparc spirv32
    spirv64 thumb thumbeb ve wasm32 wasm64 x86_16 x86_64 xcore xtensa xtensaeb
"""
ARCH_NAMES: dict[str, str] = {**{name: name for name in _SAME_ARCHS.split()}, **_ARCHS}
WITHOUT_TRIPLE = frozenset(("ez80", "spork8"))

# zig's system: a triple's OS and vendor, and its environment where the system settles that as well.
_VENDORS = {
    "apple": ("driverkit", "ios", "maccatalyst", "macos", "tvos", "visionos", "watchos"),
    "amd": ("amdhsa", "amdpal"),
    "mesa": ("mesa3d",),
    "nvidia": ("cuda", "nvcl"),
    "scei": ("ps4", "ps5"),
}
_OSES = {
    "freestanding": "none",
    "other": "unknown",
    "native": "unknown",
    "opencl": "unknown",
    "maccatalyst": "ios",
    "macos": "macosx",
    "visionos": "xros",
    "3ds": "horizon",
    "switch": "horizon",
    "ps3": "lv2",
}
# By what may follow the name: nothing, or a version of numbers. The versions of Windows have names.
PLAIN_OSES = frozenset(
    """ashetos emscripten freestanding gba haiku illumos managarm mesa3d native other plan9 ps3 ps4 ps5 psx
    serenity""".split()  # noqa: SIM905 - a table of words
)
NUMBERED_OSES = frozenset(
    """3ds amdhsa amdpal contiki cuda dragonfly driverkit freebsd fuchsia hermit hurd ios linux maccatalyst macos
    netbsd nvcl openbsd opencl opengl psp rtems switch tios tvos uefi visionos vita vulkan wasi watchos wiiu""".split()  # noqa: SIM905
)
OS_NAMES = PLAIN_OSES | NUMBERED_OSES | {"windows"}

_ABIS = """
    none gnu gnuabin32 gnuabi64 gnueabi gnueabihf gnuf32 gnusf gnux32 eabi eabihf abin32 x32 ilp32 android androideabi
    musl muslabin32 muslabi64 musleabi musleabihf muslf32 muslsf muslx32 msvc itanium simulator ohos ohoseabi call0
"""
ABI_NAMES = frozenset(_ABIS.split())
_ENVIRONMENTS = {"androideabi": "android", "ohoseabi": "ohos"}
# What a system says of it where no ABI is stated; Windows without one is MinGW to zig.
_FIXED = {"maccatalyst": "macabi", "opencl": "opencl", "windows": "gnu"}
# Elsewhere `none` is what a system has, or nothing at all.
_NONE_IS_STATED = frozenset(("linux", "windows"))

_EARLY_WINDOWS = {
    "nt4": (0x04000000, "4.0"),
    "win2k": (0x05000000, "5.0"),
    "xp": (0x05010000, "5.1"),
    "ws2003": (0x05020000, "5.2"),
    "vista": (0x06000000, "6.0"),
    "win7": (0x06010000, "6.1"),
    "win8": (0x06020000, "6.2"),
    "win8_1": (0x06030000, "6.3"),
}
_BUILDS = """
    win10=10240 win10_th2=10586 win10_rs1=14393 win10_rs2=15063 win10_rs3=16299 win10_rs4=17134 win10_rs5=17763
    win10_19h1=18362 win10_vb=18363 win10_mn=19041 win10_fe=19042 win10_co=19043 win10_ni=19044 win10_cu=19045
    win11_zn=22000 win11_ga=22621 win11_ge=22631 win11_dt=26100 win11_br=26200 win11_kr=28000
"""
_FIRST_BUILD = 0x0A000000
_VERSIONS = {name: version for name, (_, version) in _EARLY_WINDOWS.items()} | {
    name: f"10.0.{build}" for name, _, build in (pair.partition("=") for pair in _BUILDS.split())
}
_NUMBERS = [number for number, _ in _EARLY_WINDOWS.values()]
_NUMBERED = dict(zip((*_NUMBERS, *range(_FIRST_BUILD, _FIRST_BUILD + 64)), _VERSIONS.values(), strict=False))
_WINDOWS_NAMES = {version: name for name, version in _VERSIONS.items()}


def windows_version(text: str) -> str | None:
    """Return the version that a name, or a number as in `NTDDI_VERSION`, stands for: `win7` is 6.1."""
    if text in _VERSIONS:
        return _VERSIONS[text]
    try:
        return _NUMBERED.get(int(text, 0)) if text.isascii() and len(text) <= len("0x0A000000") else None
    except ValueError:
        return None


def windows_name(version: str) -> str | None:
    """Return the name of a version of Windows; None where zig has none."""
    return _WINDOWS_NAMES.get(version)


@functools.cache
def os_facts(os: str) -> tuple[str, str]:
    """Return a triple's OS and vendor for a system of zig's."""
    vendor = next((vendor for vendor, oses in _VENDORS.items() if os in oses), "unknown")
    return _OSES.get(os, os), vendor


def environment(os: str, abi: str | None) -> str:
    """Return a triple's environment for a system and an ABI, None where none is stated."""
    if abi is None or abi == "none":
        fixed = _FIXED.get(os, "")
        return "none" if abi == "none" and os in _NONE_IS_STATED else fixed
    return _ENVIRONMENTS.get(abi, abi)


# -- writing ------------------------------------------------------------------------------------------


def arch_name(triple: Triple) -> str | None:
    """Return zig's name of a triple's architecture; None where it has none, or the triple names a variant of it."""
    return _archs_written().get(triple.arch)


@functools.cache
def _archs_written() -> dict[str, str]:
    return {triple: name for name, triple in ARCH_NAMES.items()}


def os_name(triple: Triple) -> str | None:
    """Return zig's name of a triple's system; None where it has none."""
    if triple.os == "ios" and triple.environment == "macabi":
        return "maccatalyst"
    if (triple.os, triple.environment) == ("unknown", "opencl"):
        return "opencl"
    if triple.os == "horizon":
        return "3ds" if ARCHS[triple.arch].family == "arm" else "switch"
    names = {
        name: zig
        for zig, name in _OSES.items()
        if zig not in ("native", "opencl", "maccatalyst", "3ds", "switch")
    }
    found = names.get(triple.os, triple.os)
    return found if found in OS_NAMES else None


def abi_name(triple: Triple) -> str | None:
    """Return zig's name of a triple's environment, "" where none is stated; None where zig has none."""
    if triple.environment in ("", "macabi", "opencl"):
        return ""
    arm = ARCHS[triple.arch].family == "arm"
    name = (
        f"{triple.environment}eabi"
        if arm and triple.environment in ("android", "ohos")
        else triple.environment
    )
    return name if name in ABI_NAMES else None


def is_arch(name: str) -> bool:
    """Whether zig has an architecture of this name."""
    return name in WITHOUT_TRIPLE or (name in ARCH_NAMES and known_arch(ARCH_NAMES[name]) is not None)
