"""What clang compiles for when a triple is all it is given: a CPU, and the features that its set lacks.

AMDGPU and NVPTX have no entry: for a device nothing is guessed.

On ARM clang counts on the floating-point unit of the CPU that it takes for an architecture even where the triple passes
floating point in integer registers: `thumbv7em-none-eabi` is a Cortex-M4 with its unit, called softly (`-mfloat-abi=softfp`
in GCC's terms; the code has vmul.f32). Other compilers take another default for the same triple, and their dialects say so.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from llvm_oracle import Answer, ask_all, driver

ARM = {
    "": "arm-none-eabi", "v4": "armv4-none-eabi", "v4t": "armv4t-none-eabi", "v5t": "armv5t-none-eabi",
    "v5te": "armv5te-none-eabi", "v5tej": "armv5tej-none-eabi", "v6": "armv6-none-eabihf", "v6k": "armv6k-none-eabihf",
    "v6kz": "armv6kz-none-eabihf", "v6t2": "armv6t2-none-eabi", "v7": "armv7a-none-eabihf", "v7ve": "armv7ve-none-eabihf",
    "v7neon": "armv7a-none-eabihf", "v7s": "armv7s-apple-ios", "v7k": "armv7k-apple-watchos", "v7r": "armv7r-none-eabi",
    **{f"v{n}": f"armv{n}a-none-eabihf" for n in (8, 9)},
    **{f"v8.{n}a": f"armv8.{n}a-none-eabihf" for n in range(1, 10)},
    **{f"v9.{n}a": f"armv9.{n}a-none-eabihf" for n in range(1, 8)},
    "v8r": "armv8r-none-eabihf", "v6m": "thumbv6m-none-eabi", "v7m": "thumbv7m-none-eabi", "v7em": "thumbv7em-none-eabi",
    "v8m.base": "thumbv8m.base-none-eabi", "v8m.main": "thumbv8m.main-none-eabi", "v8.1m.main": "thumbv8.1m.main-none-eabi",
    "xscale": "xscale-none-eabi",
}  # fmt: skip

# The systems that clang takes for newer machines than an architecture's first, and the conventions of calls.
SYSTEMS = {
    "freebsd": "unknown-freebsd", "netbsd": "unknown-netbsd", "openbsd": "unknown-openbsd", "haiku": "unknown-haiku",
    "windows": "pc-windows-msvc", "fuchsia": "unknown-fuchsia", "darwin": "apple-ios",
}  # fmt: skip
CONVENTIONS = ("eabihf", "eabi")
# The driver shortens their triples to armv5e, which stands for Armv5TE, before it looks for a CPU; here it is the one of
# LLVM's own parser.
SHORTENED = {
    "arm v5tej": "arm926ej-s",
    "arm xscale": "xscale",
    "arm netbsd eabi": "arm926ej-s",
    "arm netbsd eabihf": "arm926ej-s",
}

# What clang lists and no baseline has: how floating point is passed is a field, and htm is there where it is asked for.
LEFT_OUT = {"soft-float", "htm"}

# The key is the architecture, the sub-architecture, the system ("os": there is one) and ARM's convention of calls.
TRIPLES = {
    "x86_64": ("x86", "x86_64-linux-gnu"),
    "x86_64 h": ("x86", "x86_64h-apple-macosx"),
    "i386": ("x86", "i386-linux-gnu"),
    "aarch64": ("aarch64", "aarch64-linux-gnu"),
    "aarch64 e": ("aarch64", "arm64e-apple-ios"),
    "aarch64_32": ("aarch64", "arm64_32-apple-watchos"),
    **{f"arm {sub}".strip(): ("arm", triple) for sub, triple in ARM.items()},
    "riscv32": ("riscv", "riscv32-unknown-elf"),
    "riscv32 os": ("riscv", "riscv32-linux-gnu"),
    "riscv64": ("riscv", "riscv64-unknown-elf"),
    "riscv64 os": ("riscv", "riscv64-linux-gnu"),
    "powerpc": ("powerpc", "powerpc-linux-gnu"),
    "powerpcle": ("powerpc", "powerpcle-linux-gnu"),
    "powerpc64": ("powerpc", "powerpc64-linux-gnu"),
    "powerpc64le": ("powerpc", "powerpc64le-linux-gnu"),
    "s390x": ("systemz", "s390x-linux-gnu"),
    "loongarch32": ("loongarch", "loongarch32-unknown-elf"),
    "loongarch64": ("loongarch", "loongarch64-linux-gnu"),
    "wasm32": ("webassembly", "wasm32-unknown-unknown"),
    "wasm64": ("webassembly", "wasm64-unknown-unknown"),
    "hexagon": ("hexagon", "hexagon-unknown-elf"),
    "mips": ("mips", "mips-linux-gnu"),
    "mipsel": ("mips", "mipsel-linux-gnu"),
    "mips64": ("mips", "mips64-linux-gnuabi64"),
    "mips64el": ("mips", "mips64el-linux-gnuabi64"),
    "mips r6": ("mips", "mipsisa32r6-linux-gnu"),
    "mipsel r6": ("mips", "mipsisa32r6el-linux-gnu"),
    "mips64 r6": ("mips", "mipsisa64r6-linux-gnuabi64"),
    "mips64el r6": ("mips", "mipsisa64r6el-linux-gnuabi64"),
}


def baselines(data: Path, families: Collection[str]) -> dict[str, str]:
    """Return the CPU of each architecture of some families, and behind it the features that a triple adds to its set."""
    found = {}
    for family in sorted({family for family, _ in TRIPLES.values()}.intersection(families)):
        table = json.loads((data / f"{family}.json").read_text("utf-8"))
        asked = {key: triple for key, (one, triple) in TRIPLES.items() if one == family}
        if family == "arm":
            asked |= _arm_systems()
        answers = ask_all(driver, asked.values())
        for key, triple in asked.items():
            answer = answers[triple]
            # Apple's systems have few of the architectures.
            if answer.error and "-apple-" not in triple:
                raise LookupError(f"clang refuses {triple}: {answer.error}")
            entry = "" if answer.error else _entry(table, key, answer)
            if entry and _cpu_of(entry) != _cpu_of(_wider(found, key)):
                found[key] = entry
    return found


def family_of(key: str) -> str:
    """Return the family of an entry."""
    arch = key.partition(" ")[0]
    return next(family for one, (family, _) in TRIPLES.items() if one.partition(" ")[0] == arch)


def _arm_systems() -> dict[str, str]:
    """Return the triples of ARM's architectures on the systems, the conventions only where no version is stated."""
    plain = {f"arm {name}": f"arm-none-{name}" for name in CONVENTIONS}
    for system, rest in SYSTEMS.items():
        # Apple's own architectures and those that the driver shortens have one CPU everywhere.
        for sub in ARM.keys() - {"v7s", "v7k", "v5tej", "xscale"}:
            arch = {"": "arm", "v7": "armv7"}.get(sub) or ARM[sub].partition("-")[0]
            plain[f"arm {sub} {system}".replace("  ", " ")] = f"{arch}-{rest}"
        for name in CONVENTIONS if system != "darwin" else ():
            plain[f"arm {system} {name}"] = f"arm-{rest.removesuffix('-msvc')}-{name}"
    return plain


def _entry(table: dict[str, Any], key: str, answer: Answer) -> str:
    if key in SHORTENED:
        return SHORTENED[key]
    cpu = table["aliases"].get(answer.cpu, answer.cpu)
    more = answer.on - set(table["cpus"][cpu]["has"].split())
    rows = {name: table["features"][name] for name in more}
    listed = [name for name, row in rows.items() if row["role"] in ("isa", "abi") and "field" not in row]
    listed = [name for name in listed if name not in LEFT_OUT]
    return " ".join([cpu, *sorted(listed)])


def _wider(found: Mapping[str, str], key: str) -> str:
    """Return the entry that would be looked up if a key's own were not there."""
    words = key.split()
    base = [word for word in words if word not in {*SYSTEMS, *CONVENTIONS}]
    systems = [word for word in words if word in SYSTEMS]
    conventions = [word for word in words if word in CONVENTIONS]
    keys = (" ".join(one) for one in (base + systems, base + conventions, base) if one != words)
    return next((found[one] for one in keys if one in found), "")


def _cpu_of(entry: str) -> str:
    return entry.partition(" ")[0]
