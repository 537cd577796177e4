"""What was captured of a machine, and the facts that the readers make of it."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

Leaves = Mapping[tuple[int, int], tuple[int, int, int, int]]
"""CPUID's answers: (leaf, subleaf) to (eax, ebx, ecx, edx)."""


@attrs.frozen(kw_only=True)
class Capture:
    """The raw answers of one Linux machine, as text and numbers: the readers see nothing else.

    `files` maps a path under /proc or /sys to its text; what could not be read is absent. `auxv` holds the
    process's auxiliary vector by entry number. `leaves` and `xcr0` are CPUID's and XGETBV's own answers on
    x86, `affinity` counts the processors this process may use, `libc_text` is what the C library says of
    itself, `multiarch` the name of the process's ABI ("arm-linux-gnueabihf").
    """

    machine: str
    pointer_bits: int
    byte_order: str = "little"
    release: str = ""
    files: Mapping[str, str] = attrs.Factory(dict)
    auxv: Mapping[int, int] = attrs.Factory(dict)
    leaves: Leaves = attrs.Factory(dict)
    xcr0: int | None = None
    affinity: int | None = None
    libc_text: str = ""
    multiarch: str = ""
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
class Caches:
    """Sizes in bytes: of one core's L1 data cache, of one instance of L2 and L3, and of a line."""

    l1d: int | None = None
    l2: int | None = None
    l3: int | None = None
    line: int | None = None


@attrs.frozen(kw_only=True)
class HostFacts:
    """What is known of the machine; None where it did not say, and `notes` on what is missing or odd.

    `features` are the usable ones under LLVM's names. `num_cores` counts the physical cores that the machine
    shows, `num_threads` its logical processors, `usable_threads` those that this process may run on.
    """

    arch: str
    triple: str
    identity: Identity = Identity()
    features: frozenset[str] = frozenset()
    num_cores: int | None = None
    num_threads: int | None = None
    usable_threads: int | None = None
    caches: Caches = Caches()
    libc: str | None = None
    libc_version: str | None = None
    os: str = "linux"
    kernel_release: str | None = None
    notes: tuple[str, ...] = ()
