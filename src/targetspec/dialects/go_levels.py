"""The levels of Go's architectures, as its environment variables state them.

Software floating point of ARM and x86 is how the code computes, and no calling convention: the set of features says it.
Source: Go's documentation of GOAMD64, GOARM, GOARM64, GO386, GOMIPS, GOPPC64, GORISCV64 and GOWASM.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping

from targetspec.dialects.go_names import AMD64, ARM64, PLAIN, PPC64, RISCV64, Level

# Variable -> the architectures whose level it is.
VARIABLES = {
    "GOAMD64": ("amd64",),
    "GO386": ("386",),
    "GOARM": ("arm",),
    "GOARM64": ("arm64",),
    "GOMIPS": ("mips", "mipsle"),
    "GOMIPS64": ("mips64", "mips64le"),
    "GOPPC64": ("ppc64", "ppc64le"),
    "GORISCV64": ("riscv64",),
    "GOWASM": ("wasm",),
}
# What all of its WebAssembly has: moves and fills of memory.
_WASM = Level(cpu="mvp", add=("bulk-memory",))
_ARM_FLOAT = {"5": "", "6": "vfp2", "7": "vfp3d16"}
_ARM_ARCH = {"5": "armv5t", "6": "armv6", "7": "armv7"}


def _arm(version: str, floating: str) -> Level:
    """Return a level of ARM: vfp2 from version 6 and vfp3 from 7 on, unless the software computes."""
    unit = _ARM_FLOAT[version] or "vfp2"
    if floating == "softfloat":
        # All floating-point features rest on this one.
        return Level(arch=_ARM_ARCH[version], remove=("vfp2sp",) if version != "5" else ())
    surplus = {"7": ("d32", "neon")}.get(version, ())
    return Level(arch=_ARM_ARCH[version], add=(unit,) if version == "5" else (), remove=surplus)


def _all_arm() -> dict[str, Level]:
    default = {"5": "softfloat", "6": "hardfloat", "7": "hardfloat"}
    plain = {version: _arm(version, floating) for version, floating in default.items()}
    full = {f"{v},{f}": _arm(v, f) for v in default for f in ("softfloat", "hardfloat")}
    return plain | full


def _all_arm64() -> dict[str, Level]:
    extras = {"": (), ",crypto": ("aes", "sha2"), ",lse": ("lse",), ",crypto,lse": ("aes", "lse", "sha2")}
    versions = {name: level for name, level in ARM64.items() if name not in ("v9.6", "v9.7")}
    return {
        f"{name}{text}": level._replace(add=(*level.add, *more))
        for (text, more), (name, level) in itertools.product(extras.items(), versions.items())
    }


def _mips(cpu: str) -> dict[str, Level]:
    floats = {"hardfloat": "hard", "softfloat": "soft"}
    return {name: Level(cpu=cpu, float_abi=abi) for name, abi in floats.items()}


def _wasm() -> dict[str, Level]:
    extras = {"": (), "satconv": ("nontrapping-fptoint",), "signext": ("sign-ext",)}
    single = {name: _WASM._replace(add=(*_WASM.add, *more)) for name, more in extras.items()}
    both = _WASM._replace(add=(*_WASM.add, "nontrapping-fptoint", "sign-ext"))
    return {**single, "satconv,signext": both, "signext,satconv": both}


@functools.cache
def levels_of(arch: str) -> Mapping[str, Level]:
    """Return the levels of an architecture by the values of its variable; the default alone where it has none."""
    if arch in ("mips", "mipsle"):
        return _mips("mips32")
    if arch in ("mips64", "mips64le"):
        return _mips("mips3")
    if arch == "386":
        return {"sse2": PLAIN, "softfloat": Level(cpu="pentium-mmx", remove=("x87",))}
    made = {"arm": _all_arm, "arm64": _all_arm64, "wasm": _wasm}
    if arch in made:
        return made[arch]()
    tables = {"amd64": AMD64, "ppc64": PPC64, "ppc64le": PPC64, "riscv64": RISCV64}
    return tables.get(arch, {"": PLAIN})


DEFAULTS: dict[str, Level] = {
    **dict.fromkeys(("386", "amd64", "arm64", "loong64", "riscv64", "s390x", "sparc64"), PLAIN),
    **dict.fromkeys(("ppc64", "ppc64le"), PPC64["power8"]),
    **dict.fromkeys(("mips", "mipsle"), Level(cpu="mips32", float_abi="hard")),
    **dict.fromkeys(("mips64", "mips64le"), Level(cpu="mips3", float_abi="hard")),
    "arm": _arm("7", "hardfloat"),
    "wasm": _WASM,
}
