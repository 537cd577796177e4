"""Architectures of triples: their names, what a name alone says, and the rules by which ARM's many names are read.

What LLVM 22 knows stands apart from what only rustc, zig and the GNU tools name (`EXTRA_ARCHS`).
Source: LLVM 22.1 (TargetParser), zig 0.17 (its architectures beyond LLVM's).
"""

from __future__ import annotations

import functools
from typing import NamedTuple


class ArchFacts(NamedTuple):
    """What an architecture's name alone says: pointer width in bits, byte order, feature-table family."""

    bits: int
    endianness: str
    family: str | None


def _facts(table: str) -> dict[str, ArchFacts]:
    rows = (line.split() for line in table.strip().splitlines())
    return {
        name: ArchFacts(int(bits), endianness, None if family == "-" else family)
        for bits, endianness, family, *names in rows
        for name in names
    }


LLVM_ARCHS = _facts(
    """
    64 little aarch64     aarch64
    64 big    aarch64     aarch64_be
    32 little aarch64     aarch64_32
    32 little arm         arm thumb
    32 big    arm         armeb thumbeb
    32 little x86         i386
    64 little x86         x86_64
    32 little riscv       riscv32
    64 little riscv       riscv64
    32 big    riscv       riscv32be
    64 big    riscv       riscv64be
    32 big    powerpc     powerpc
    32 little powerpc     powerpcle
    64 big    powerpc     powerpc64
    64 little powerpc     powerpc64le
    64 big    systemz     s390x
    32 little loongarch   loongarch32
    64 little loongarch   loongarch64
    32 little webassembly wasm32
    64 little webassembly wasm64
    32 little hexagon     hexagon
    32 big    mips        mips
    32 little mips        mipsel
    64 big    mips        mips64
    64 little mips        mips64el
    64 little amdgpu      amdgcn
    32 little nvptx       nvptx
    64 little nvptx       nvptx64
    16 little -           avr msp430
    32 little -           amdil arc csky dxil hsail kalimba r600 renderscript32 shave sparcel spir spirv32 tcele xcore xtensa
    64 little -           amdil64 bpfel hsail64 renderscript64 spir64 spirv spirv64 ve
    32 big    -           lanai m68k sparc tce
    64 big    -           bpfeb sparcv9
    """
)

EXTRA_ARCHS = _facts(
    """
    64 little -           alpha ia64 kvx
    32 little -           microblazeel nios2 propeller sh sh4
    32 big    -           arceb hppa m88k microblaze or1k s390 sh4eb sheb xtensaeb
    64 big    -           hppa64
    16 little -           x86_16
    """
)

ARCHS = LLVM_ARCHS | EXTRA_ARCHS

# Spelling -> (architecture, sub-architecture); ARM's many versions are read by rule, not listed.
ARCH_SPELLINGS: dict[str, tuple[str, str]] = {
    **{name: (name, "") for name in LLVM_ARCHS},
    **{f"i{n}86": ("i386", f"i{n}86") for n in "456789"},
    "amd64": ("x86_64", ""),
    "x86_64h": ("x86_64", "h"),
    "arm64": ("aarch64", ""),
    "arm64e": ("aarch64", "e"),
    "arm64ec": ("aarch64", "ec"),
    "aarch64_lfi": ("aarch64", "lfi"),
    "arm64_32": ("aarch64_32", ""),
    "xscale": ("arm", "xscale"),
    "xscaleeb": ("armeb", "xscale"),
    "ppc": ("powerpc", ""),
    "ppc32": ("powerpc", ""),
    "powerpcspe": ("powerpc", "spe"),
    "ppcle": ("powerpcle", ""),
    "ppc32le": ("powerpcle", ""),
    "ppc64": ("powerpc64", ""),
    "ppu": ("powerpc64", ""),
    "ppc64le": ("powerpc64le", ""),
    "systemz": ("s390x", ""),
    "sparc64": ("sparcv9", ""),
    "bpf": ("bpfel", ""),
    "bpf_le": ("bpfel", ""),
    "bpf_be": ("bpfeb", ""),
    "mipseb": ("mips", ""),
    "mipsallegrex": ("mips", "allegrex"),
    "mipsisa32r6": ("mips", "r6"),
    "mipsr6": ("mips", "r6"),
    "mipsallegrexel": ("mipsel", "allegrex"),
    "mipsisa32r6el": ("mipsel", "r6"),
    "mipsr6el": ("mipsel", "r6"),
    "mips64eb": ("mips64", ""),
    "mipsn32": ("mips64", "n32"),
    "mipsisa64r6": ("mips64", "r6"),
    "mips64r6": ("mips64", "r6"),
    "mipsn32r6": ("mips64", "n32r6"),
    "mipsn32el": ("mips64el", "n32"),
    "mipsisa64r6el": ("mips64el", "r6"),
    "mips64r6el": ("mips64el", "r6"),
    "mipsn32r6el": ("mips64el", "n32r6"),
    **{f"spirv1.{n}": ("spirv", f"v1.{n}") for n in "56"},
    **{f"spirv{w}v1.{n}": (f"spirv{w}", f"v1.{n}") for w in (32, 64) for n in range(7)},
    **{f"dxilv1.{n}": ("dxil", f"v1.{n}") for n in range(10)},
    **{f"kalimba{n}": ("kalimba", f"v{n}") for n in "345"},
}

# (architecture, sub-architecture) -> the spelling that is written; the first listed wins.
ARCH_TEXTS: dict[tuple[str, str], str] = {}
for _text, _parts in ARCH_SPELLINGS.items():
    ARCH_TEXTS.setdefault(_parts, _text)


def _arm_versions() -> dict[str, str]:
    """ARM's architecture versions in LLVM's order, each with the sub-architecture that LLVM takes it for."""
    old = {"v4": "", "v4t": "v4t", "v5t": "v5", "v5te": "v5te", "v5tej": "v5te", "v6": "v6", "v6k": "v6k"}
    seven = {"v6t2": "v6t2", "v6kz": "v6k", "v6-m": "v6m", "v7-a": "v7", "v7ve": "v7ve", "v7-r": "v7"}
    eight = {"v7-m": "v7m", "v7e-m": "v7em", "v8-a": "v8", **{f"v8.{n}-a": f"v8.{n}a" for n in range(1, 10)}}
    nine = {"v9-a": "v9", **{f"v9.{n}-a": f"v9.{n}a" for n in range(1, 8)}}
    rest = {name: name.replace("-", "") for name in ("v8-r", "v8-m.base", "v8-m.main", "v8.1-m.main")}
    odd = {"iwmmxt": "v5te", "iwmmxt2": "v5te", "xscale": "v5te", "v7s": "v7s", "v7k": "v7k"}
    return old | seven | eight | nine | rest | odd


ARM_VERSIONS = _arm_versions()

# What may stand for a version in an architecture's name -> the version in LLVM's own spelling.
ARM_SYNONYMS = {
    **{name.replace("-", ""): name for name in ARM_VERSIONS if "-" in name},
    "v5": "v5t",
    "v5e": "v5te",
    "v6j": "v6",
    "v6hl": "v6k",
    "v6sm": "v6-m",
    "v6z": "v6kz",
    "v6zk": "v6kz",
    **dict.fromkeys(("v7", "v7l", "v7hl"), "v7-a"),
    **dict.fromkeys(("v8", "v8l", "aarch64", "arm64"), "v8-a"),
    "v9": "v9-a",
}

# The sub-architecture of a version: as it is spelled in a triple, `a` left out where it is the plain one.
ARM_SUB_ARCHS = {
    name: {"v7-a": "v7", "v8-a": "v8", "v9-a": "v9"}.get(name, name.replace("-", ""))
    for name in ARM_VERSIONS
    if name.startswith("v")
}
# Forms that Linux (`uname -m`: l for little) and rustc write, and LLVM reads as plain ARM.
ARM_SUB_ARCHS |= {
    "v4l": "v4",
    "v4tl": "v4t",
    "v5tel": "v5te",
    "v5tejl": "v5tej",
    "v6l": "v6",
    "v7neon": "v7neon",
}


def split_arm(name: str) -> tuple[str, str] | None:
    """Split an ARM architecture's name into its architecture and the rest: `armv7eb` -> (`armeb`, `v7`).

    None where LLVM knows no such form. The rest is a version, not checked, or "".
    """
    head = next((head for head in _ARM_ISAS if name.startswith(head)), "")
    if not head or (head.startswith("aarch64") and "eb" in name):
        return None
    rest = name[len(head) :]
    if head == "aarch64":
        rest = rest.removeprefix("_be")
    elif not head.startswith("aarch64"):
        rest = rest[2:] if rest.startswith("eb") else rest.removesuffix("eb")
    if "eb" in rest or (len(rest) > 1 and not (rest[0] == "v" and rest[1] in "0123456789")):
        return None
    big = name.startswith(("armeb", "thumbeb", "aarch64_be")) or name.endswith("eb")
    return _ARM_ISAS[head][big], rest


_ARM_ISAS = {
    **dict.fromkeys(("arm64_32", "arm64e", "arm64", "aarch64_32", "aarch64"), ("aarch64", "aarch64_be")),
    "arm": ("arm", "armeb"),
    "thumb": ("thumb", "thumbeb"),
}


def arm_version(rest: str) -> str:
    """Return the architecture version, in LLVM's spelling, that an abbreviation stands for; "" without one."""
    name = ARM_SYNONYMS.get(rest, rest)
    return next((known for known in ARM_VERSIONS if f"arm{known}".endswith(name)), "") if name else ""


@functools.lru_cache(maxsize=512)
def read_arch(name: str) -> tuple[str, str]:
    """Return LLVM's architecture and sub-architecture for a name; ("unknown", "") for one it does not know."""
    if name in {"aarch64", "arm64"}:
        return "aarch64", "v8"
    if name in ARCH_SPELLINGS:
        arch, sub = ARCH_SPELLINGS[name]
        return arch, _llvm_sub_arch(sub)
    if name.startswith("kalimba"):
        return "kalimba", ""
    return _read_arm(name)


def _llvm_sub_arch(sub: str) -> str:
    if sub.endswith("r6"):
        return "r6"
    if sub == "xscale":
        return "v5te"
    return "" if sub in {"h", "n32", "allegrex"} or sub.startswith("i") else sub


def _read_arm(name: str) -> tuple[str, str]:
    parts = split_arm(name)
    if parts is None:
        return "unknown", ""
    arch, rest = parts
    if arch.startswith("thumb") and rest.startswith(("v2", "v3")):
        return "unknown", ""
    version = arm_version(rest)
    if version == "v6-m":
        arch = "thumbeb" if arch in {"armeb", "thumbeb", "aarch64_be"} else "thumb"
    return arch, ARM_VERSIONS.get(version, "")


def spell_arch(arch: str, sub_arch: str) -> str:
    """Return how a triple writes an architecture: (`arm`, `v7`) -> `armv7`, (`mips`, `r6`) -> `mipsisa32r6`."""
    return ARCH_TEXTS.get((arch, sub_arch)) or arch + sub_arch


@functools.lru_cache(maxsize=512)
def known_arch(name: str) -> tuple[str, str] | None:
    """Return the architecture and the sub-architecture of a name that is spelled right, None for others."""
    if name in ARCH_SPELLINGS:
        return ARCH_SPELLINGS[name]
    if name in EXTRA_ARCHS:
        return name, ""
    parts = split_arm(name)
    if parts is None or name.startswith(("aarch64_32", "arm64_32", "arm64e")):
        return None
    return _known_arm(*parts)


def _known_arm(arch: str, rest: str) -> tuple[str, str] | None:
    sub = ARM_SUB_ARCHS.get(ARM_SYNONYMS.get(rest, rest)) if rest else ""
    if sub is None:
        return None
    if arch.startswith("aarch64"):
        return _known_aarch64(arch, sub)
    if sub == "v6m":
        return ("thumbeb" if arch.endswith("eb") else "thumb"), sub
    return arch, sub


def _known_aarch64(arch: str, sub: str) -> tuple[str, str] | None:
    """AArch64 begins with version 8, which is the plain one, and has no M profile."""
    if sub in {"", "v8"}:
        return arch, ""
    return (arch, sub) if sub[1] in "89" and "m" not in sub else None
