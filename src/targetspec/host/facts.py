"""What was captured of a machine, and the facts that the readers make of it."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

Leaves = Mapping[tuple[int, int], tuple[int, int, int, int]]
"""CPUID's answers: (leaf, subleaf) to (eax, ebx, ecx, edx)."""


@attrs.frozen(kw_only=True)
class Capture:
    """The raw answers of one machine, as text and numbers: the readers see nothing else.

    `system` is the operating system ("linux", "darwin", "windows", "freebsd", "haiku", "sunos") and `system_version`
    its version. `files` maps a path under /proc or /sys to its text; what could not be read is absent. `auxv` holds
    the process's auxiliary vector by entry number. `leaves` and `xcr0` are CPUID's and XGETBV's own answers on
    x86, `affinity` counts the processors this process may use, `libc_text` is what the C library says of
    itself, `multiarch` the name of the process's ABI ("arm-linux-gnueabihf").

    `hwprobe` holds what riscv_hwprobe answers, key to value. `outputs` has the text of other systems' tools by name
    ("sysctl", "dmesg", "isainfo", "kstat", "sysinfo"). Of Windows, `registry` has the values of the first processor's
    key, and `present` the numbers that IsProcessorFeaturePresent says yes to. `emulated_on` names the machine below
    where the system says that it emulates this one.
    """

    machine: str
    pointer_bits: int
    system: str = "linux"
    system_version: str = ""
    byte_order: str = "little"
    release: str = ""
    files: Mapping[str, str] = attrs.Factory(dict)
    auxv: Mapping[int, int] = attrs.Factory(dict)
    leaves: Leaves = attrs.Factory(dict)
    xcr0: int | None = None
    affinity: int | None = None
    libc_text: str = ""
    multiarch: str = ""
    hwprobe: Mapping[int, int] = attrs.Factory(dict)
    outputs: Mapping[str, str] = attrs.Factory(dict)
    registry: Mapping[str, str] = attrs.Factory(dict)
    present: frozenset[int] = frozenset()
    emulated_on: str = ""
    notes: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class Identity:
    """Which processor it says it is; x86 has numbers, Arm a main ID register for each kind of core.

    `parts` names the designs of the cores, in alphabetical order; `architecture` is Arm's version (6, 7, 8), and
    `cpu` LLVM's name, None where it has none.
    """

    vendor: str | None = None
    family: int | None = None
    model: int | None = None
    stepping: int | None = None
    brand: str | None = None
    midrs: tuple[int, ...] = ()
    parts: tuple[str, ...] = ()
    architecture: int | None = None
    cpu: str | None = None


@attrs.frozen(kw_only=True)
class Processor:
    """What a reader makes of a capture: the identity, the usable features, and notes on what is missing or odd.

    `unlisted` are features that this source lists nowhere, so that their absence says nothing: they come with the
    model, where it is known.
    """

    identity: Identity = Identity()
    features: frozenset[str] = frozenset()
    unlisted: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class Caches:
    """Sizes in bytes: of one core's L1 data cache, of one instance of L2 and L3, and of a line."""

    l1d: int | None = None
    l2: int | None = None
    l3: int | None = None
    line: int | None = None


@attrs.frozen(kw_only=True)
class Topology:
    """How many physical cores and logical processors there are, and the caches; None where it is not said."""

    num_cores: int | None = None
    num_threads: int | None = None
    caches: Caches = Caches()
    notes: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class HostFacts:
    """What is known of the machine; None where it did not say, and `notes` on what is missing or odd.

    `features` are the usable ones under LLVM's names, `unlisted` those that this machine says nothing of. `num_cores` counts the physical cores that the machine
    shows, `num_threads` its logical processors, `usable_threads` those that this process may run on.
    """

    arch: str
    triple: str
    identity: Identity = Identity()
    features: frozenset[str] = frozenset()
    unlisted: frozenset[str] = frozenset()
    num_cores: int | None = None
    num_threads: int | None = None
    usable_threads: int | None = None
    caches: Caches = Caches()
    libc: str | None = None
    libc_version: str | None = None
    os: str = "linux"
    os_version: str | None = None
    kernel_release: str | None = None
    notes: tuple[str, ...] = ()
