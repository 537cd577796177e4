"""What GCC's extensions of Arm mean where clang has other ones: its architectures of 32 bits have no FPU by themselves.

Source: the manual of GCC 15, "ARM Options" and "AArch64 Options".
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

from targetspec.dialects.arm_extensions import architecture, fpu_features, fpu_names

_FP = {
    "armv5te": "vfpv2",
    "armv6": "vfpv2",
    "armv6k": "vfpv2",
    "armv6kz": "vfpv2",
    "armv6t2": "vfpv2",
    "armv7-a": "vfpv3-d16",
    "armv7ve": "vfpv4-d16",
    "armv7-r": "vfpv3-d16",
    "armv7e-m": "fpv4-sp-d16",
    "armv8-m.main": "fpv5-sp-d16",
    "armv8.1-m.main": "fp-armv8-fullfp16-sp-d16",
}
_FP_DOUBLE = {
    "armv7e-m": "fpv5-d16",
    "armv8-m.main": "fpv5-d16",
    "armv8.1-m.main": "fp-armv8-fullfp16-d16",
}
_FP_SINGLE = {"armv7-r": "vfpv3xd", "armv8-r": "fpv5-sp-d16"}
_SIMD = {"armv7-a": "neon", "armv7ve": "neon-vfpv4"}
_NAMED_FPUS = frozenset({"armv7-a", "armv7ve", "armv7-r"})
_ON_SIMD = {
    "dotprod": ("dotprod",),
    "fp16": ("fullfp16",),
    "fp16fml": ("fp16fml",),
    "bf16": ("bf16",),
    "i8mm": ("i8mm",),
}
_OTHERS = {
    "mp": frozenset({"mp"}),
    "sec": frozenset({"trustzone"}),
    "virt": frozenset({"virtualization"}),
    "idiv": frozenset({"hwdiv", "hwdiv-arm"}),
}
_AARCH64 = {
    "frintts": frozenset({"fptoint"}),
    "flagm2": frozenset({"altnzcv"}),
    "rcpc2": frozenset({"rcpc-immo"}),
    "xs": frozenset({"xs"}),
}


@functools.cache
def gcc_extensions(family: str, name: str) -> Mapping[str, frozenset[str]]:
    """Return what each extension of an architecture adds, where that is not what it adds in clang."""
    if family == "aarch64":
        return _AARCH64
    arch = architecture(family, name) or ""
    found = {extension: _fpu(table.get(arch)) for extension, table in _TABLES.items() if arch in table}
    if arch in _NAMED_FPUS:
        found.update((fpu, _fpu(fpu)) for fpu in fpu_names())
        found["fpv5"] = _fpu("fpv5-sp-d16")
    simd = _fpu(
        _SIMD.get(arch, "neon-fp-armv8" if arch.startswith(("armv8", "armv9")) and "-m" not in arch else None)
    )
    if simd:
        found["simd"] = found["neon"] = simd
    if simd and arch[4] in "89":
        found["crypto"] = _fpu("crypto-neon-fp-armv8") | {"crypto"}
        found.update((extension, simd.union(names)) for extension, names in _ON_SIMD.items())
    return {**_OTHERS, **found}


_TABLES = {"fp": _FP, "fp.dp": _FP_DOUBLE, "fp.sp": _FP_SINGLE}


def _fpu(name: str | None) -> frozenset[str]:
    return (fpu_features(name) or frozenset()) if name else frozenset()
