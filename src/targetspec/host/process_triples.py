"""The triple of the running process, from the kernel's name of the machine and what the process says of itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from targetspec.host.facts import Capture

_WIDE = 64
_X86_64 = frozenset({"x86_64", "amd64", "x64"})
_X86 = re.compile(r"i[3-6]86|i86pc|bepc|x86")
_ARM_64 = frozenset({"aarch64", "arm64", "aarch64_be"})
_ARM_32 = re.compile(r"armv[4-9]\w*")
# The kernel's name, and the architecture of a 64-bit and of a 32-bit process
_OTHERS: Mapping[str, tuple[str, str]] = {
    "ppc64le": ("powerpc64le", "powerpcle"),
    "ppc64": ("powerpc64", "powerpc"),
    "ppc": ("powerpc", "powerpc"),
    "s390x": ("s390x", "s390"),
    "riscv64": ("riscv64", "riscv32"),
    "riscv32": ("riscv32", "riscv32"),
    "loongarch64": ("loongarch64", "loongarch32"),
    "mips64": ("mips64", "mips"),
    "mips": ("mips64", "mips"),
}


def process_arch(capture: Capture) -> str:
    """Return the architecture of the running process: the kernel's name of the machine, its width from the process.

    >>> process_arch(Capture(machine="aarch64", pointer_bits=32))
    'armv7'
    """
    machine, wide = capture.machine.lower(), capture.pointer_bits == _WIDE
    if machine in _X86_64 or _X86.fullmatch(machine):
        return "x86_64" if wide or capture.multiarch.endswith("x32") else "i686"
    if machine in _ARM_64 or _ARM_32.fullmatch(machine):
        if wide:
            return "aarch64" if capture.byte_order == "little" else "aarch64_be"
        return _arm_arch(machine)
    if machine in _OTHERS:
        arch = _OTHERS[machine][not wide]
        return f"{arch}el" if arch.startswith("mips") and capture.byte_order == "little" else arch
    return machine or "unknown"


def _arm_arch(machine: str) -> str:
    version = re.match(r"armv([4-6])(te)?", machine)
    return f"armv{version[1]}{version[2] or ''}" if version else "armv7"


def process_triple(arch: str, libc: str | None, multiarch: str = "") -> str:
    """Return the triple of a Linux process; without a known C library it names no environment."""
    environment = {"glibc": "gnu", "musl": "musl"}.get(libc or "", "")
    suffix = re.search(r"(?:gnu|musl)(eabihf|eabi|x32|abi64|abin32|sf|f32)$", multiarch)
    if environment and suffix:
        environment += suffix[1]
    return "-".join(filter(None, (arch, "unknown-linux", environment)))


def system_triple(capture: Capture, arch: str, libc: str | None) -> str:
    """Return the triple of a process on any system."""
    if capture.system == "linux":
        android = re.fullmatch(r"bionic (\d+)", capture.libc_text)
        return (
            f"{arch}-unknown-linux-android{android[1]}"
            if android
            else process_triple(arch, libc, capture.multiarch)
        )
    return _TRIPLES.get(capture.system, _plain)(arch, capture)


def _mac(arch: str, capture: Capture) -> str:
    stated = re.match(r"\d{1,3}(?:\.\d{1,3}){0,2}", capture.system_version, re.ASCII)
    return f"{arch}-apple-macosx{stated[0] if stated else macos_version(capture.release)}"


def macos_version(darwin: str) -> str:
    """Return the version of macOS that a release of its kernel belongs to, "" where it is none.

    >>> macos_version("23.5.0"), macos_version("18.7.0"), macos_version("25.0.0")
    ('14', '10.14', '26')
    """
    found = re.match(r"(\d{1,2})\.", darwin, re.ASCII)
    if found is None:
        return ""
    major = int(found[1])
    if major < _DARWIN_OF_11:
        return f"10.{major - 4}"
    return str(major - 9 if major < _DARWIN_OF_26 else major + 1)


_DARWIN_OF_11, _DARWIN_OF_26 = 20, 25


def _windows(arch: str, capture: Capture) -> str:
    # the process's own ABI decides, which its interpreter's compiler says
    return f"{arch}-w64-windows-gnu" if capture.multiarch == "mingw" else f"{arch}-pc-windows-msvc"


def _freebsd(arch: str, capture: Capture) -> str:
    version = re.match(r"\d+(\.\d+)?", capture.system_version or capture.release, re.ASCII)
    return f"{arch}-unknown-freebsd{version[0] if version else ''}"


def _solaris(arch: str, capture: Capture) -> str:
    minor = re.fullmatch(r"5\.(\d{1,3})", capture.release, re.ASCII)
    return f"{arch}-pc-solaris2.{minor[1]}" if minor else f"{arch}-pc-solaris"


def _plain(arch: str, capture: Capture) -> str:
    system = re.fullmatch(r"[a-z][a-z0-9]{0,20}", capture.system)
    return f"{arch}-unknown-{system[0] if system else 'unknown'}"


_TRIPLES: Mapping[str, Callable[[str, Capture], str]] = {
    "darwin": _mac,
    "windows": _windows,
    "freebsd": _freebsd,
    "sunos": _solaris,
}
