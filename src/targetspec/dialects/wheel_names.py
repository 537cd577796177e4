"""Names in platform tags of wheels: architectures as each system's tags spell them, and what triples call them."""

from __future__ import annotations

from typing import Any

from targetspec.errors import NotRepresentableError
from targetspec.triple import Triple

_SAME_IN_A_TRIPLE = "aarch64 i686 loongarch64 mips mips64 ppc ppc64 ppc64le riscv32 riscv64 s390x x86_64"
# What tags for Linux (`uname -m`) call an architecture -> how a triple spells it.
LINUX_ARCHS = {
    **{name: name for name in _SAME_IN_A_TRIPLE.split()},
    "armv5tel": "armv5te",
    "armv6l": "armv6",
    "armv7l": "armv7",
    "armv8l": "armv8",
    "i386": "i386",
}
# The longest number in a tag.
_DIGITS = 4
HARD_FLOAT = frozenset(("armv6l", "armv7l", "armv8l"))
LEGACY = {"manylinux1": "2.5", "manylinux2010": "2.12", "manylinux2014": "2.17"}
WINDOWS = {"win32": "i686", "win_amd64": "x86_64", "win_arm32": "armv7", "win_arm64": "aarch64"}
# Binaries for several processors, in the order in which their parts are listed here.
MAC_FORMATS = {
    "universal2": ("arm64", "x86_64"),
    "intel": ("x86_64", "i386"),
    "fat": ("i386", "ppc"),
    "fat3": ("x86_64", "i386", "ppc"),
    "fat64": ("x86_64", "ppc64"),
    "universal": ("x86_64", "i386", "ppc64", "ppc"),
}
IOS_DEVICES = {
    "arm64_iphoneos": "aarch64",
    "arm64_iphonesimulator": "aarch64-simulator",
    "x86_64_iphonesimulator": "x86_64-simulator",
}
ANDROID_ABIS = {"arm64_v8a": "aarch64", "armeabi_v7a": "armv7", "x86": "i686", "x86_64": "x86_64"}
_MAC_ARCHS = {
    "aarch64": "arm64",
    "x86_64": "x86_64",
    "i386": "i386",
    "powerpc": "ppc",
    "powerpc64": "ppc64",
}
_NAME_OF: dict[str, dict[str, str]] = {
    "linux": {Triple.parse(f"{arch}-linux").arch_name: name for name, arch in LINUX_ARCHS.items()},
    "android": {arch: name for name, arch in ANDROID_ABIS.items()},
    "windows": {arch: name for name, arch in WINDOWS.items()},
    "macosx": _MAC_ARCHS,
    "ios": _MAC_ARCHS,
    "emscripten": {"wasm32": "wasm32"},
}


def arch_name(target: Any) -> str | None:
    """Return what tags for a target's system call its architecture, None where they have no name for it."""
    triple = target.triple
    if triple is None:
        return None
    system = "android" if triple.environment == "android" else triple.os
    return _NAME_OF.get(system, {}).get(triple.arch_name)


def ios_device(triple: Triple) -> str | None:
    """Return what tags call an iPhone or its simulator."""
    device = "-".join(filter(None, (triple.arch_name, triple.environment)))
    return next((name for name, known in IOS_DEVICES.items() if known == device), None)


def numbers(version: str) -> tuple[int, int]:
    """Return major and minor of a version, 0 where it is not stated; NotRepresentableError for one that no tag has."""
    major, _, rest = version.partition(".")
    minor = rest.partition(".")[0] or "0"
    if len(major) > _DIGITS or len(minor) > _DIGITS or not (major + minor).isdecimal():
        raise NotRepresentableError("wheel", (("triple", f"no tag has the version {version[:80]!r}"),))
    return int(major), int(minor)
