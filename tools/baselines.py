"""What clang compiles for when a triple is all it is given: a CPU, and the features that its set lacks.

AMDGPU and NVPTX have no entry: for a device nothing is guessed.

On ARM clang counts on the floating-point unit of the CPU that it takes for an architecture even where the triple passes
floating point in integer registers: `thumbv7em-none-eabi` is a Cortex-M4 with its unit, called softly (`-mfloat-abi=softfp`
in GCC's terms; the code has vmul.f32). Other compilers take another default for the same triple, and their dialects say so.
"""

from __future__ import annotations

import json
from pathlib import Path

from llvm_oracle import driver

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

# The key is the architecture, the sub-architecture, and "os" where there is an operating system and that matters.
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


def baselines(data: Path) -> dict[str, str]:
    """Return the CPU of each architecture, and behind it the features that a triple adds to the CPU's set."""
    tables = {
        family: json.loads((data / f"{family}.json").read_text("utf-8")) for family, _ in TRIPLES.values()
    }
    found = {}
    for key, (family, triple) in TRIPLES.items():
        table, answer = tables[family], driver(triple)
        if answer.error:
            raise LookupError(f"clang refuses {triple}: {answer.error}")
        cpu = table["aliases"].get(answer.cpu, answer.cpu)
        more = answer.on - set(table["cpus"][cpu]["has"].split())
        rows = {name: table["features"][name] for name in more}
        listed = [name for name, row in rows.items() if row["role"] in ("isa", "abi") and "field" not in row]
        found[key] = " ".join([cpu, *sorted(listed)])
    return found
