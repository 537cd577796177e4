"""From what was captured of a machine to the facts about it, and to the target that it is."""

from __future__ import annotations

import re
from collections.abc import Iterator

import attrs

from targetspec.host import sysfs
from targetspec.host.arm import read_arm
from targetspec.host.cpuid_caches import read_cpuid_caches
from targetspec.host.cpuinfo import (
    Block,
    count_cores,
    count_processors,
    first_value,
    read_cpuinfo,
    read_number,
)
from targetspec.host.facts import Caches, Capture, HostFacts, Identity
from targetspec.host.libc import read_libc
from targetspec.host.linux import capture as capture_linux
from targetspec.host.x86 import read_x86

_WIDE = 64
_X86_32 = re.compile(r"i[3-6]86")
_X86 = frozenset({"x86_64", "i686"})
_ARM_32 = re.compile(r"armv[4-9]\w*")


def detect_facts() -> HostFacts:
    """Return what this machine says of itself; it never raises, and `notes` tell what is missing."""
    return read_facts(capture_linux())


def read_facts(capture: Capture) -> HostFacts:
    """Return the facts that a capture holds, whatever its text."""
    blocks = read_cpuinfo(capture.files.get("/proc/cpuinfo", ""))
    arch = process_arch(capture)
    identity, features, own_notes = _read_processor(arch, capture, blocks)
    caches, cache_notes = _caches(capture, blocks)
    libc, version = read_libc(capture.libc_text)
    threads = len(sysfs.processors(capture.files)) or count_processors(blocks) or None
    facts = HostFacts(
        arch=arch,
        triple=process_triple(arch, libc, capture.multiarch),
        identity=identity,
        features=features,
        num_cores=sysfs.count_cores(capture.files) or count_cores(blocks) or threads,
        num_threads=threads,
        usable_threads=capture.affinity,
        caches=caches,
        libc=libc,
        libc_version=version,
        kernel_release=capture.release or None,
        notes=capture.notes + own_notes + cache_notes,
    )
    return attrs.evolve(facts, notes=facts.notes + tuple(_notes(facts, capture)))


def target_fields(facts: HostFacts) -> dict[str, object]:
    """Return the fields of a CPU target that the facts state, by the names that the target has for them."""
    stated = {
        "triple": facts.triple,
        "cpu": facts.identity.cpu,
        "features": facts.features or None,
        "num_cores": facts.num_cores,
        "l1d_cache_bytes": facts.caches.l1d,
        "l2_cache_bytes": facts.caches.l2,
        "l3_cache_bytes": facts.caches.l3,
        "cache_line_bytes": facts.caches.line,
        "libc": facts.libc,
        "libc_version": facts.libc_version,
    }
    return {name: value for name, value in stated.items() if value is not None}


def process_arch(capture: Capture) -> str:
    """Return the architecture of the running process: the kernel's name of the machine, its width from the process.

    >>> process_arch(Capture(machine="aarch64", pointer_bits=32))
    'armv7'
    """
    machine, wide = capture.machine.lower(), capture.pointer_bits == _WIDE
    if machine in {"x86_64", "amd64"} or _X86_32.fullmatch(machine):
        return "x86_64" if wide or capture.multiarch.endswith("x32") else "i686"
    if machine in {"aarch64", "arm64", "aarch64_be"} or _ARM_32.fullmatch(machine):
        if wide:
            return "aarch64" if capture.byte_order == "little" else "aarch64_be"
        return _arm_arch(machine)
    return machine or "unknown"


def _arm_arch(machine: str) -> str:
    version = re.match(r"armv([4-6])(te)?", machine)
    return f"armv{version[1]}{version[2] or ''}" if version else "armv7"


def process_triple(arch: str, libc: str | None, multiarch: str = "") -> str:
    """Return the triple of the running process; without a known C library it names no environment."""
    environment = {"glibc": "gnu", "musl": "musl"}.get(libc or "", "")
    suffix = re.search(r"(?:gnu|musl)(eabihf|eabi|x32)$", multiarch)
    if environment and suffix:
        environment += suffix[1]
    return "-".join(filter(None, (arch, "unknown-linux", environment)))


def _read_processor(
    arch: str, capture: Capture, blocks: tuple[Block, ...]
) -> tuple[Identity, frozenset[str], tuple[str, ...]]:
    if arch in _X86:
        return read_x86(capture, blocks)
    if arch.startswith(("aarch64", "arm")):
        return read_arm(capture, blocks)
    return Identity(), frozenset(), (f"the processors of {arch} are not read",)


def _caches(capture: Capture, blocks: tuple[Block, ...]) -> tuple[Caches, tuple[str, ...]]:
    listed, notes = sysfs.read_caches(capture.files)
    stated = read_cpuid_caches(capture.leaves)
    line = listed.line or stated.line or read_number(first_value(blocks, "clflush size"))
    # a level that the CPU lists and /sys does not is hidden by the system, and stays so
    caches = attrs.evolve(listed if listed.l1d else stated, line=line or None)
    return caches, notes if caches.l1d else (*notes, "no cache sizes in /sys or CPUID")


def _notes(facts: HostFacts, capture: Capture) -> Iterator[str]:
    if capture.pointer_bits != _WIDE and capture.machine.lower() in {"x86_64", "amd64", "aarch64", "arm64"}:
        yield f"a 32-bit process on a 64-bit kernel ({capture.machine}): the target is the process's"
    if facts.libc is None:
        yield "the C library does not say what it is"
    if facts.num_threads and facts.usable_threads and facts.usable_threads < facts.num_threads:
        yield f"this process may use {facts.usable_threads} of {facts.num_threads} processors"
