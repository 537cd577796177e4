"""What rustc calls the parts of a target (`target_os`, `target_env`, `target_abi`, `target_vendor`), out of its triple.

A triple's environment holds both the C library and the ABI, and some systems of rustc's are environments of others.
Source: rustc 1.95, `--print cfg` of all its targets.
"""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

import attrs

from targetspec.dialects.rust_names import RustFacts, rust_facts, rust_names
from targetspec.triple import Triple

_OSES = {"macosx": "macos", "xros": "visionos", "wasip1": "wasi", "wasip2": "wasi", "wasip3": "wasi"}
_VENDORS = {"esp": "espressif", "lynx": "unknown", "wali": "unknown"}
_ENVS = ("gnu", "macabi", "mlibc", "msvc", "musl", "newlib", "ohos", "relibc", "sgx", "uclibc", "v5")
_ENV_OF_OS = {
    "espidf": "newlib",
    "redox": "relibc",
    "rtems": "newlib",
    "vxworks": "gnu",
    "wasip1": "p1",
    "wasip2": "p2",
    "wasip3": "p3",
}
_ABIS = {
    "gnu_ilp32": "ilp32",
    "gnuabiv2": "abiv2",
    "gnuabiv2hf": "abiv2hf",
    "gnullvm": "llvm",
    "gnuspe": "spe",
    "gnux32": "x32",
    "macabi": "macabi",
    "muslspe": "spe",
    "simulator": "sim",
    "softfloat": "softfloat",
}
_ABI_OF_NAME = {"n64": "abi64"} | {name: name for name in ("elfv1", "elfv2", "ilp32e", "vec-extabi")}
_QNX = re.compile(r"(\d\d)0(_iosock)?")


class RustCfg(NamedTuple):
    """`target_os`, `target_env`, `target_abi` and `target_vendor`; "" where rustc leaves one empty."""

    os: str
    env: str
    abi: str
    vendor: str


def cfg_of(facts: RustFacts) -> RustCfg:
    """Return what rustc calls the parts of a target."""
    triple = facts.triple
    vendor = "espressif" if triple.arch == "xtensa" else _VENDORS.get(triple.vendor, triple.vendor)
    return RustCfg(_os(triple), _env(triple), _abi(facts), vendor)


def _os(triple: Triple) -> str:
    if triple.environment == "android":
        return "android"
    if (triple.os, triple.environment) == ("windows", "cygnus"):
        return "cygwin"
    return _OSES.get(triple.os, triple.os)


def _env(triple: Triple) -> str:
    if triple.environment == "qnx":
        version = _QNX.fullmatch(triple.environment_version)
        return f"nto{version[1]}{version[2] or ''}" if version else ""
    if triple.environment == "simulator":
        return "sim"
    if (triple.os, triple.arch) == ("horizon", "arm"):
        return "newlib"
    stated = next((name for name in _ENVS if triple.environment.startswith(name)), "")
    return stated or _ENV_OF_OS.get(triple.os, "")


def _abi(facts: RustFacts) -> str:
    triple = facts.triple
    if triple.vendor in ("uwp", "fortanix"):
        return triple.vendor
    if triple.family == "arm":
        bare = triple.is_darwin or triple.os == "windows"
        return "" if bare else "eabihf" if facts.float_abi == "hard" else "eabi"
    if triple.sub_arch == "spe":
        return "spe"
    return _ABIS.get(triple.environment) or _ABI_OF_NAME.get(facts.abi or "", "")


_OS_NAMES = {"macos": "macosx", "visionos": "xros"}
# Parts that say less than LLVM's triple does: these leave its system alone.
_VAGUE_OSES = frozenset(("android", "cygwin", "none", "unknown", "wasi"))
_LLVM_ARCHS = {
    ("thumb", "v7neon"): ("arm", "v7"),
    ("powerpc", "spe"): ("powerpc", ""),
}
_LLVM_ARCHS_ON = {("nto", "i686"): ("i386", "i586"), ("vita", "v7"): ("thumb", "v7")}


def triple_of(llvm: Triple, cfg: RustCfg, cpu: str | None, features: str) -> Triple:
    """Return the triple of a specification: that of the name which says the same, else LLVM's with rustc's parts.

    Raises UnknownNameError and FieldError for parts that no triple has.
    """
    known = [
        facts for facts in _by_cfg().get(cfg, ()) if _llvm_arch(facts.triple) == (llvm.arch, llvm.sub_arch)
    ]
    same = {facts.triple for facts in known if (facts.cpu, facts.features) == (cpu, features)}
    found = same or {facts.triple for facts in known if facts.triple.arch_name == llvm.arch_name}
    if len(found) == 1:
        return found.pop()
    os = _OS_NAMES.get(cfg.os, cfg.os)
    if cfg.os not in _VAGUE_OSES and os != llvm.os:
        llvm = attrs.evolve(llvm, os=os, os_version="")
    return llvm if cfg.vendor == "unknown" else attrs.evolve(llvm, vendor=cfg.vendor)


def _llvm_arch(triple: Triple) -> tuple[str, str]:
    """Return the architecture that rustc hands to LLVM, which for some names is another."""
    arch = (triple.arch, triple.sub_arch)
    return _LLVM_ARCHS_ON.get((triple.os, triple.sub_arch)) or _LLVM_ARCHS.get(arch, arch)


@functools.cache
def _by_cfg() -> dict[RustCfg, tuple[RustFacts, ...]]:
    found: dict[RustCfg, tuple[RustFacts, ...]] = {}
    for facts in filter(None, map(rust_facts, rust_names())):
        cfg = cfg_of(facts)
        found[cfg] = (*found.get(cfg, ()), facts)
    return found
