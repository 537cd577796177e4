"""Capture what a Linux machine says of itself: small reads, none of which may fail loudly."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator

from targetspec.host.auxv import read_auxv
from targetspec.host.cpuinfo import read_number
from targetspec.host.facts import Capture
from targetspec.host.libc import musl_loader
from targetspec.host.machine_code import run_cpuid
from targetspec.host.sysfs import CPU_ROOT, processors, read_cpu_list
from targetspec.registry import layer_above

_CACHE_FILES = ("level", "size", "coherency_line_size")  # the last is the same for all
_CACHE_INDICES = 8
_KINDS = ("/sys/devices/cpu_core/cpus", "/sys/devices/cpu_atom/cpus")
_CONTAINER_MARKS = ("/.dockerenv", "/run/.containerenv")
_MAX_TEXT, _PIECE = 1 << 24, 1 << 16
_X86 = re.compile(r"x86_64|amd64|i[3-6]86")


def capture() -> Capture:
    """Return the running machine's own answers; it never raises, and what it cannot read is absent."""
    name = os.uname()
    bits = 64 if sys.maxsize > 1 << 32 else 32
    on_x86 = _X86.fullmatch(name.machine) is not None
    files = dict(_read_all(("/proc/cpuinfo", f"{CPU_ROOT}/present")))
    if "GenuineIntel" in files.get("/proc/cpuinfo", ""):
        files.update(_read_all(_KINDS))
    files.update(_processor_files(files, on_x86=on_x86))
    # each CPUID costs a trap under a hypervisor, and the kernel's list of caches is the one that counts
    with_caches = not any("/cache/" in path for path in files)
    leaves, xcr0, notes = run_cpuid(with_caches=with_caches) if on_x86 else ({}, None, ())
    on_riscv = name.machine.startswith("riscv")
    return Capture(
        machine=name.machine,
        pointer_bits=bits,
        byte_order=sys.byteorder,
        release=name.release,
        files=files,
        auxv=read_auxv(_read_bytes("/proc/self/auxv"), pointer_bits=bits),
        leaves=leaves,
        xcr0=xcr0,
        affinity=len(os.sched_getaffinity(0)),
        libc_text=_bionic_text() or _libc_text(),
        multiarch=getattr(sys.implementation, "_multiarch", ""),
        hwprobe=layer_above("host.hwprobe").run_hwprobe() if on_riscv else {},
        notes=(*notes, *_surroundings()),
    )


def _processor_files(files: dict[str, str], *, on_x86: bool) -> Iterator[tuple[str, str]]:
    numbers = processors(files)
    if not numbers:
        yield from _read_all((f"{CPU_ROOT}/possible",))
    if "\ncore id" not in files.get("/proc/cpuinfo", ""):
        # a file for each core: /proc/cpuinfo of x86 has said it all
        yield from _sibling_files(numbers)
    if not on_x86:
        yield from _read_all(f"{CPU_ROOT}/cpu{number}/regs/identification/midr_el1" for number in numbers)
    for number in _one_of_each_kind(files):
        yield from _cache_files(number)


def _sibling_files(numbers: tuple[int, ...]) -> Iterator[tuple[str, str]]:
    seen: set[int] = set()
    for number in numbers:
        if number not in seen:
            for path, text in _read_all((f"{CPU_ROOT}/cpu{number}/topology/thread_siblings_list",)):
                yield path, text
                seen.update(read_cpu_list(text))


def _one_of_each_kind(files: dict[str, str]) -> Iterable[int]:
    """Return the first processor of each kind that the kernel tells apart, the very first where it tells none."""
    kinds = [read_cpu_list(files[path])[:1] for path in _KINDS if path in files]
    return sorted({number for kind in kinds for number in kind}) or processors(files)[:1] or (0,)


def _cache_files(number: int) -> Iterator[tuple[str, str]]:
    for index in range(_CACHE_INDICES):
        folder = f"{CPU_ROOT}/cpu{number}/cache/index{index}"
        kind = _read(f"{folder}/type")
        if kind is None:
            return
        if not kind.startswith("Instruction"):
            yield f"{folder}/type", kind
            yield from _read_all(f"{folder}/{name}" for name in _CACHE_FILES[: 2 if index else 3])


def _read_all(paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    for path in paths:
        text = _read(path)
        if text is not None:
            yield path, text


def _read(path: str) -> str | None:
    data = _read_bytes(path)
    return data.decode("utf-8", "replace") if data else None


def _read_bytes(path: str) -> bytes:
    """Return what a file holds, as far as it can be read; a third of what `open` costs."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(file, _PIECE) if path.startswith("/sys/") else b"".join(_pieces(file))
    except OSError:
        return b""
    finally:
        os.close(file)


def _pieces(file: int) -> Iterator[bytes]:
    """Yield what is read; files under /proc come in pieces, and a short one there is not the last."""
    total = 0
    while total < _MAX_TEXT and (piece := os.read(file, _PIECE)):
        yield piece
        total += len(piece)


def _surroundings() -> Iterator[str]:
    """Yield notes on what bounds this process: a container, a control group's share of the processors."""
    if any(os.path.exists(mark) for mark in _CONTAINER_MARKS):  # noqa: PTH110 - pathlib costs more than the look
        yield "in a container: the C library is the container's, the kernel and the processors are the machine's"
    quota = cpu_quota(_read("/sys/fs/cgroup/cpu.max") or "")
    if quota is not None:
        yield f"a control group gives this process the time of {quota:g} processors"


def cpu_quota(text: str) -> float | None:
    """Return how many processors' time a control group's `cpu.max` allows, None where it is not bounded.

    >>> cpu_quota("150000 100000")
    1.5
    """
    numbers = [read_number(word) for word in text.split()]
    return numbers[0] / numbers[1] if len(numbers) == 2 and numbers[0] and numbers[1] else None  # noqa: PLR2004


def _bionic_text() -> str:
    level = getattr(sys, "getandroidapilevel", None)
    return f"bionic {level()}" if level is not None else ""


def _libc_text() -> str:
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (ValueError, OSError):
        loader = musl_loader(_read("/proc/self/maps") or "")
        return _first_words(loader) if loader else ""


def _first_words(loader: str) -> str:
    """Return what musl's loader prints when it is run without a program."""
    reader, writer = os.pipe()
    try:
        child = os.posix_spawn(loader, [loader], {}, file_actions=[(os.POSIX_SPAWN_DUP2, writer, 2)])
        os.close(writer)
        writer = -1
        text = os.read(reader, 4096).decode("utf-8", "replace")
        os.waitpid(child, 0)
    except OSError:
        return ""
    else:
        return text
    finally:
        for end in (reader, writer):
            if end >= 0:
                os.close(end)
