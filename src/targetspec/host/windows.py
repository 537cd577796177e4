"""Capture what a Windows machine says of itself: CPUID, IsProcessorFeaturePresent, the registry, who emulates whom."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from typing import Any

from targetspec.host.facts import Capture
from targetspec.host.machine_code import run_cpuid
from targetspec.host.windows_features import NUMBERS

_KEY = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
_VALUES = ("ProcessorNameString", "VendorIdentifier", "Identifier", "CP 4000")
_MACHINES = {0x014C: "x86", 0x01C4: "ARM", 0x8664: "AMD64", 0xAA64: "ARM64"}
_X86 = frozenset({"AMD64", "x86"})


def capture() -> Capture:
    """Return the running machine's own answers; it never raises, and what it cannot ask is absent."""
    kernel: Any = getattr(ctypes, "windll", None) and ctypes.windll.kernel32  # type: ignore[attr-defined]
    machine = process_machine(sys.version)
    leaves, xcr0, notes = run_cpuid() if machine in _X86 else ({}, None, ())
    native = _native_machine(kernel)
    return Capture(
        machine=machine,
        pointer_bits=64 if sys.maxsize > 1 << 32 else 32,
        system="windows",
        system_version=_version(),
        leaves=leaves,
        xcr0=xcr0,
        multiarch="mingw" if "GCC" in sys.version or "Clang" in sys.version else "",
        affinity=os.cpu_count(),
        registry=dict(_registry()),
        present=frozenset(
            number for number in NUMBERS if kernel and kernel.IsProcessorFeaturePresent(number)
        ),
        emulated_on=native if native not in {"", machine} and (machine in _X86) != (native in _X86) else "",
        notes=notes,
    )


def process_machine(version: str) -> str:
    """Return the machine that this interpreter was compiled for, from its own version text.

    >>> process_machine("3.12.4 [MSC v.1940 64 bit (ARM64)]")
    'ARM64'
    """
    if "(ARM64)" in version or "aarch64" in version:
        return "ARM64"
    return "ARM" if "(ARM)" in version else "AMD64" if sys.maxsize > 1 << 32 else "x86"


def _native_machine(kernel: Any) -> str:
    process, native = ctypes.c_ushort(0), ctypes.c_ushort(0)
    try:
        here = ctypes.c_void_p(-1)
        if not kernel.IsWow64Process2(here, ctypes.byref(process), ctypes.byref(native)):
            return ""
    except (AttributeError, OSError):
        return ""
    return _MACHINES.get(native.value, "")


def _version() -> str:
    ask = getattr(sys, "getwindowsversion", None)
    found = ask() if ask is not None else None
    return f"{found.major}.{found.minor}.{found.build}" if found else ""


def _registry() -> Iterator[tuple[str, str]]:
    try:
        import winreg  # noqa: PLC0415 - Windows alone has it
    except ImportError:
        return
    registry: Any = winreg
    try:
        with registry.OpenKey(registry.HKEY_LOCAL_MACHINE, _KEY) as key:
            for name in _VALUES:
                try:
                    yield name, str(registry.QueryValueEx(key, name)[0])
                except OSError:
                    continue
    except OSError:
        return
