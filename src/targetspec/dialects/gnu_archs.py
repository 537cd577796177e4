"""CPU names of GNU configurations, and the architecture, and LLVM's CPU where the name says one, that they stand for.

Source: GNU config, the machines in GCC's config.gcc (it has SuperH big-endian unless on Linux or said), LLVM 22.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from targetspec.triple_archs import ARCHS, known_arch, spell_arch

# The GNU name -> the one that a triple has; the first for a triple's name is the one that is written.
_RENAMED = {
    "armle": "arm",
    "armel": "arm",
    "armbe": "armeb",
    "sparc64": "sparcv9",
    "bpf": "bpfel",
}
_WRITTEN = {"sparcv9": "sparc64", "bpfel": "bpf"}
_WITH_CPU = {
    "sparcv8": ("sparc", "v8"),
    "sparclite": ("sparc", "sparclite"),
    "sparclet": ("sparc", "sparclet"),
    "sparc86x": ("sparc", "sparclite86x"),
    **{f"m680{n}0": ("m68k", f"M680{n}0") for n in (0, 1, 2, 3, 4, 6)},
    **{f"alphaev{n}": ("alpha", f"ev{n}") for n in (4, 5, 6, 7, 8, 56, 67, 68)},
    **{f"alphapca{n}": ("alpha", f"pca{n}") for n in (56, 57)},
    **{f"mipsisa32{r}{el}": (f"mips{el}", f"mips32{r}") for r in ("", "r2", "r3", "r5") for el in ("", "el")},
    **{
        f"mipsisa64{r}{el}": (f"mips64{el}", f"mips64{r}")
        for r in ("", "r2", "r3", "r5")
        for el in ("", "el")
    },
    **{
        f"mips64octeon{plus}{el}": (f"mips64{el}", f"octeon{plus}") for plus in ("", "+") for el in ("", "el")
    },
}
_SUPERH = re.compile(r"(sh4?)(eb|be|el|le)?")
_BIG_ARM = re.compile(r"(armv[0-9][a-z0-9.]*)(?<!e)b")


def arch_of(cpu: str, kernel: str) -> tuple[str, str | None] | None:
    """Return a triple's name for a CPU name, and LLVM's CPU that it says; None where no triple has it."""
    if cpu in _WITH_CPU:
        return _WITH_CPU[cpu]
    superh = _SUPERH.fullmatch(cpu)
    if superh:
        little = superh[2] in ("el", "le") if superh[2] else kernel == "linux"
        return superh[1] if little else f"{superh[1]}eb", None
    big_arm = _BIG_ARM.fullmatch(cpu)
    name = f"{big_arm[1]}eb" if big_arm else _RENAMED.get(cpu, cpu)
    return None if known_arch(name) is None else (name, None)


def spellings(arch: str, sub_arch: str, cpu: str | None) -> Iterator[str]:
    """Give the CPU names that may say an architecture and LLVM's CPU, the usual one first."""
    name = spell_arch(arch, sub_arch)
    if cpu is not None:
        yield from (gnu for gnu, meant in _WITH_CPU.items() if meant == (name, cpu))
    if arch in _WRITTEN:
        yield _WRITTEN[arch]
    if ARCHS[arch].family == "arm" and sub_arch:
        yield from _arm(arch, sub_arch)
    elif arch.startswith("sh"):
        plain = arch.removesuffix("eb")
        yield from (plain, f"{plain}{'eb' if arch.endswith('eb') else 'le'}")
    else:
        yield name


def _arm(arch: str, sub_arch: str) -> Iterator[str]:
    """Give ARM's names with a version: GNU has `thumb` before version 7 only, and the byte order behind."""
    end = "eb" if arch.endswith("eb") else ""
    yield f"{arch.removesuffix('eb')}{sub_arch}{end}"
    yield f"arm{sub_arch}{end}"
