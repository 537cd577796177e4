"""The features of CPUs, as clang 22 lists them."""

from __future__ import annotations

from collections.abc import Iterator

from judges.judge import Judge, Row
from targetspec import cpu

_DEBIAN = "Debian's i386 port takes SSE2 out of old CPUs; LLVM does not"
LISTED = {
    f"clang:i686-unknown-linux-gnu:{name}": _DEBIAN
    for name in ("pentium-m", "pentium4", "pentium4m", "x86-64")
}
_FAMILIES = {
    "x86_64": "x86",
    "i686": "x86",
    "aarch64": "aarch64",
    "riscv64": "riscv",
    "riscv32": "riscv",
    "arm": "arm",
    "powerpc64le": "powerpc",
    "s390x": "systemz",
    "loongarch64": "loongarch",
    "hexagon": "hexagon",
    "amdgcn": "amdgpu",
    "nvptx64": "nvptx",
    "wasm32": "webassembly",
    "mips64el": "mips",
}


def _faults_of_clang(row: Row) -> Iterator[str]:
    """Yield the features that clang has for a CPU and the tables have not, or the other way, patches aside.

    All rows are of clang's own list of CPUs, some of which its driver refuses for -march: LLVM knows them all the same.
    """
    arch = row["triple"].split("-")[0]
    family = _FAMILIES[arch]
    bits = 32 if arch in {"i686", "riscv32"} else 64
    if "error" in row:
        cpu.canonical_cpu(family, row["cpu"])
        return
    found = set(cpu.resolve(family, row["cpu"], bits=bits))
    stated = {name for name in row["features"] if cpu.is_listed(family, name)}
    # arm-none-eabi is soft-float there, which takes all floating point away; that is the ABI's doing, not the CPU's.
    if arch == "arm":
        stated.discard("soft-float")
        found &= stated
    patched = f"cpu {cpu.canonical_cpu(family, row['cpu'])}" in cpu.patches(family)
    if stated != found and not patched and found ^ stated != {"za128rs"}:
        yield f"differs in {sorted(found ^ stated)}"


FILES = {"clang_cpu_features": Judge(_faults_of_clang, LISTED, 2)}
