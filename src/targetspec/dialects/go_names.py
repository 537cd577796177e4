"""Systems, architectures and their levels by the names that Go uses, and container images after it.

Source: Go's `go tool dist list` and its documentation of GOAMD64 and the like; the OCI image specification.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, NamedTuple

from targetspec.kinds.cpu import CpuTarget
from targetspec.triple import Triple

_SAME_IN_A_TRIPLE = "aix dragonfly freebsd hurd illumos linux netbsd openbsd plan9 solaris zos"
# Name -> vendor, system and environment of the triple.
SYSTEMS: dict[str, tuple[str, str, str]] = {
    **{name: ("unknown", name, "") for name in _SAME_IN_A_TRIPLE.split()},
    "android": ("unknown", "linux", "android"),
    "darwin": ("apple", "macosx", ""),
    "ios": ("apple", "ios", ""),
    "wasi": ("unknown", "wasi", ""),
    "wasip1": ("unknown", "wasip1", ""),
    "wasip2": ("unknown", "wasip2", ""),
    "windows": ("unknown", "windows", "msvc"),
}
# Name -> the architecture as a triple spells it.
ARCHS = {
    "386": "i386",
    "amd64": "x86_64",
    "arm": "arm",
    "arm64": "aarch64",
    "arm64be": "aarch64_be",
    "armbe": "armeb",
    "loong64": "loongarch64",
    "mips": "mips",
    "mipsle": "mipsel",
    "mips64": "mips64",
    "mips64le": "mips64el",
    "ppc": "powerpc",
    "ppc64": "powerpc64",
    "ppc64le": "powerpc64le",
    "riscv": "riscv32",
    "riscv64": "riscv64",
    "s390": "s390",
    "s390x": "s390x",
    "sparc": "sparc",
    "sparc64": "sparcv9",
    "wasm": "wasm32",
}
_NAME_OF = {spelling: name for name, spelling in ARCHS.items()}


class Level(NamedTuple):
    """What a level of an architecture states: a spelling of its own, a CPU, changes of its set, and an ABI."""

    arch: str = ""
    cpu: str | None = None
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    abi: str | None = None
    float_abi: str | None = None


PLAIN = Level()
AMD64 = {"v1": PLAIN, **{f"v{n}": Level(cpu=f"x86-64-v{n}") for n in (2, 3, 4)}}
ARM64 = {
    "v8.0": PLAIN,
    **{f"v8.{n}": Level(add=(f"v8.{n}a",)) for n in range(1, 10)},
    "v9.0": Level(add=("v9a",)),
    **{f"v9.{n}": Level(add=(f"v9.{n}a",)) for n in range(1, 8)},
}
ARM = {
    # ARMv4 without Thumb cannot follow the EABI of all later versions.
    "v4": Level(arch="armv4", abi="apcs-gnu"),
    "v5": Level(arch="armv5t"),
    "v6": Level(arch="armv6"),
    "v7": Level(arch="armv7"),
    # What clang takes for granted and the version leaves open.
    "v8": Level(arch="armv8", remove=("aes", "crc", "sha2")),
}
# No generated code has transactions, which POWER10 dropped.
PPC64 = {
    "power8": Level(cpu="pwr8", remove=("htm",)),
    "power9": Level(cpu="pwr9", remove=("htm",)),
    "power10": Level(cpu="pwr10"),
}
RISCV64 = {"rva20u64": PLAIN, **{name: Level(add=(name,)) for name in ("rva22u64", "rva23u64")}}


def arch_of(triple: Triple) -> str | None:
    """Return the name of a triple's architecture, None where it has none."""
    return _NAME_OF.get(triple.arch if triple.arch in ("arm", "i386") else triple.arch_name)


def system_of(triple: Triple) -> str | None:
    """Return the name of a triple's system, None where it has none or states none."""
    environment = "android" if triple.environment == "android" else ""
    for name, (_, os, wanted) in SYSTEMS.items():
        if os == triple.os and environment == (wanted if wanted == "android" else ""):
            return name
    return None


@functools.lru_cache(maxsize=1024)
def made(arch: str, system: tuple[str, str, str], version: str, level: Level) -> CpuTarget:
    """Return the target of an architecture, a system with its version, and a level. Raises as construction."""
    vendor, os, environment = system
    spelling = level.arch or ARCHS[arch]
    triple = Triple.parse("-".join(filter(None, (spelling, vendor, os + version, environment))))
    fields: dict[str, Any] = {"triple": triple, "cpu": level.cpu}
    fields |= {"abi": level.abi, "float_abi": level.float_abi}
    target = CpuTarget(**fields)
    if not level.add and not level.remove:
        return target
    return target.evolve(features=target.request_features(level.add, level.remove))


def closest(target: CpuTarget, arch: str, system: tuple[str, str, str], levels: Mapping[str, Level]) -> str:
    """Return the level that is the target's, or else the first of those that differ in the fewest fields."""
    fields = ("triple", "cpu", "features", "abi", "float_abi")
    version = target.triple.os_version if target.triple is not None else ""

    def distance(name: str) -> int:
        one = made(arch, system, version, levels[name])
        return sum(getattr(one, field) != getattr(target, field) for field in fields)

    return min(levels, key=distance)
