"""From what was captured of a machine to the facts about it, and to the target that it is."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import cast

import attrs

from targetspec.host import sysfs
from targetspec.host.cpuid_caches import read_cpuid_caches
from targetspec.host.cpuinfo import (
    Block,
    count_cores,
    count_counted,
    count_processors,
    first_value,
    read_cpuinfo,
    read_number,
)
from targetspec.host.facts import Caches, Capture, HostFacts, Processor, Topology
from targetspec.host.libc import read_libc
from targetspec.host.process_triples import process_arch, system_triple
from targetspec.registry import layer_above

_WIDE = 64


def detect_facts() -> HostFacts:
    """Return what this machine says of itself; it never raises, and `notes` tell what is missing."""
    # each system's module imports what that system alone has
    return read_facts(layer_above(f"host.{_CAPTURED_BY.get(sys.platform, 'unix')}").capture())


def read_facts(capture: Capture) -> HostFacts:
    """Return the facts that a capture holds, whatever its text."""
    arch = process_arch(capture)
    processor, topology = _reader(capture.system)(capture, arch)
    libc, version = read_libc(capture.libc_text)
    notes = (*processor.notes, *topology.notes, *capture.notes, *_notes(capture, topology, libc))
    return HostFacts(
        arch=arch,
        triple=system_triple(capture, arch, libc),
        identity=processor.identity,
        features=processor.features,
        unlisted=processor.unlisted,
        num_cores=topology.num_cores,
        num_threads=topology.num_threads,
        usable_threads=capture.affinity,
        caches=topology.caches,
        libc=libc,
        libc_version=version,
        os=capture.system,
        os_version=capture.system_version or None,
        kernel_release=capture.release or None,
        notes=notes,
    )


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


def _reader(system: str) -> Callable[[Capture, str], tuple[Processor, Topology]]:
    if system not in _SYSTEM_READERS:
        return _read_linux
    module, name = _SYSTEM_READERS[system]
    return cast(
        "Callable[[Capture, str], tuple[Processor, Topology]]", getattr(layer_above(f"host.{module}"), name)
    )


def _read_linux(capture: Capture, arch: str) -> tuple[Processor, Topology]:
    text = capture.files.get("/proc/cpuinfo", "")
    blocks = read_cpuinfo(text)
    place = next((place for start, *place in _LINUX_READERS if arch.startswith(start)), None)
    if place is None:
        processor = Processor(notes=(f"the processors of {arch} are not read",))
    else:
        processor = getattr(layer_above(f"host.{place[0]}"), place[1])(capture, blocks)
    if not arch.startswith(_X86_AND_ARM) and first_value(blocks, "flags") is not None:
        note = "emulated: /proc/cpuinfo describes an x86 machine, so it was not used"
        processor = attrs.evolve(processor, notes=(*processor.notes, note))
    threads = len(sysfs.processors(capture.files)) or count_processors(blocks) or count_counted(text)
    cores = sysfs.count_cores(capture.files) or count_cores(blocks)
    if cores is None and arch.startswith(_ONE_THREAD_A_CORE):
        cores = threads or None
    caches, notes = _caches(capture, blocks)
    return processor, Topology(num_cores=cores, num_threads=threads or None, caches=caches, notes=notes)


_X86_AND_ARM = ("x86_64", "i686", "aarch64", "arm")  # these say so themselves
_ONE_THREAD_A_CORE = ("aarch64", "arm", "riscv", "loongarch")
"""Where a kernel that tells no siblings has none to tell."""
# The module and the function, imported when a capture is theirs: a machine is of one kind, and pays for one reader
_LINUX_READERS = (
    ("x86_64", "x86", "read_x86"),
    ("i686", "x86", "read_x86"),
    ("aarch64", "arm", "read_arm"),
    ("arm", "arm", "read_arm"),
    ("riscv", "riscv", "read_riscv"),
    ("powerpc", "power", "read_power"),
    ("s390x", "s390x", "read_s390x"),
    ("loongarch", "loongarch", "read_loongarch"),
    ("mips", "mips", "read_mips"),
)
_SYSTEM_READERS = {
    "darwin": ("sysctl", "read_mac"),
    "windows": ("windows_features", "read_windows"),
    "freebsd": ("boot_messages", "read_freebsd"),
    "haiku": ("boot_messages", "read_haiku"),
    "sunos": ("boot_messages", "read_solaris"),
}
_CAPTURED_BY = {"linux": "linux", "android": "linux", "darwin": "macos", "win32": "windows"}


def _caches(capture: Capture, blocks: tuple[Block, ...]) -> tuple[Caches, tuple[str, ...]]:
    listed, notes = sysfs.read_caches(capture.files)
    if listed.l1d and listed.line:
        return listed, notes
    stated = read_cpuid_caches(capture.leaves)
    line = listed.line or stated.line or read_number(first_value(blocks, "clflush size"))
    # a level that the CPU lists and /sys does not is hidden by the system, and stays so
    return attrs.evolve(listed if listed.l1d else stated, line=line or None), notes


def _notes(capture: Capture, topology: Topology, libc: str | None) -> Iterator[str]:
    if not topology.caches.l1d:
        yield "no cache sizes were stated"
    if capture.pointer_bits != _WIDE and capture.machine.lower() in _WIDE_MACHINES:
        yield f"a 32-bit process on a 64-bit kernel ({capture.machine}): the target is the process's"
    if capture.emulated_on and capture.system == "windows":
        yield f"emulated: Windows runs this process on {capture.emulated_on}"
    if libc is None and capture.system == "linux":
        yield "the C library does not say what it is"
    threads = topology.num_threads
    if threads and capture.affinity and capture.affinity < threads:
        yield f"this process may use {capture.affinity} of {threads} processors"


_WIDE_MACHINES = frozenset(
    {"x86_64", "amd64", "aarch64", "arm64", "ppc64", "ppc64le", "riscv64", "s390x", "mips64"}
)
