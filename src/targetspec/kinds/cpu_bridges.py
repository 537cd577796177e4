"""Bridges: layers that run code which the machine itself does not, and what each of them makes up for.

A bridge is never assumed: the caller names the ones that are there. It covers the rules of the architecture, of the
instruction set or of the system, for the pairs of targets that it is made for, and no other rule.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import attrs

from targetspec import cpu as facts
from targetspec.features import FeatureSet
from targetspec.rules import version_key
from targetspec.triple import Triple

_CALLS = (
    "features (abi)",
    "features (generation)",
    "abi",
    "float_abi",
    "long_double",
    "vector_bits",
    "restrictions",
)
# What is stated of AArch64, and says nothing of the other instruction set.
_OF_AARCH64 = ("vector_bits", "restrictions")
_MACOS = ("darwin", "macosx")
# Rosetta runs what Westmere has, and from macOS 15 on AVX2 and its companions. Source: Apple, About the Rosetta
# translation environment; release notes of macOS 15.
_ROSETTA = ("x86-64-v2", ("aes", "pclmul"))
_ROSETTA_OF_15 = ("x86-64-v3", ("aes", "pclmul"))
_AVX_OF_ROSETTA = (15,)
# Source: QEMU, the features that its code generator has for x86 (target/i386); it has none of AVX-512.
_QEMU_X86 = (
    "x86-64-v3",
    ("adx", "aes", "clflushopt", "clwb", "fsgsbase", "pclmul", "pku", "prfchw", "rdpid", "rdrnd", "rdseed", "sha", "sse4a"),
)  # fmt: skip
_QEMU_LACKS = {"aarch64": ("sme2",)}


def _system(triple: Triple) -> str:
    return "macosx" if triple.os in _MACOS else triple.os


# Memories of two widths are two machines: no module for one runs in the other.
ONE_WIDTH_EACH = ("webassembly",)


def is_32_on_64(need: Triple, have: Triple) -> bool:
    """Whether the processor has the narrower mode of the code beside its own; x32 needs a kernel of its own."""
    if need.endianness != have.endianness or need.arch == "x86_64" or need.pointer_bits != 32:  # noqa: PLR2004
        return False
    if need.family in ONE_WIDTH_EACH:
        return False
    # x32 and n32 are modes of 64-bit processors, with short pointers.
    wide = have.pointer_bits == 64 or have.arch == "x86_64" or "abin32" in have.environment  # noqa: PLR2004
    of_one = need.family is not None and need.family == have.family
    return wide and (of_one or _is_arm_on_aarch64(need, have))


def _is_arm_on_aarch64(need: Triple, have: Triple) -> bool:
    same = need.endianness == have.endianness
    return same and (need.family, have.family) == ("arm", "aarch64") and not have.is_darwin


def _is_translated_by_rosetta(need: Triple, have: Triple) -> bool:
    same = _system(need) == _system(have) and _system(have) in ("macosx", "linux")
    return same and (need.arch, have.arch) == ("x86_64", "aarch64")


def _is_emulated_by_qemu(need: Triple, have: Triple) -> bool:
    return need.os == have.os and have.os in ("linux", "freebsd", "netbsd", "openbsd")


def _is_for_windows(need: Triple, have: Triple) -> bool:
    return need.os == "windows" and (have.os in ("linux", "freebsd") or have.os in _MACOS)


def _is_for_wasi(need: Triple, have: Triple) -> bool:
    return need.family == "webassembly" and need.os.startswith("wasi") and have.family != "webassembly"


@functools.lru_cache(maxsize=64)
def _set(family: str, cpu: str, extras: tuple[str, ...]) -> FeatureSet:
    return facts.resolve(family, cpu, extras)


def _rosetta_has(built_for: Any, run_on: Any) -> bool:
    version = version_key(run_on.triple.macos_version) or ()
    known = _ROSETTA_OF_15 if version >= _AVX_OF_ROSETTA else _ROSETTA
    return built_for.features is not None and bool(built_for.features <= _set("x86", *known))


def _qemu_has(built_for: Any, run_on: Any) -> bool:  # noqa: ARG001 - a condition takes both targets
    features = built_for.features
    if features is None:
        return False
    if features.family == "x86":
        return bool(features <= _set("x86", *_QEMU_X86))
    return not any(name in features for name in _QEMU_LACKS.get(features.family, ()))


def _wasmtime_has(built_for: Any, run_on: Any) -> bool:  # noqa: ARG001 - a condition takes both targets
    return built_for.features is not None and "fp16" not in built_for.features


@attrs.frozen
class _Bridge:
    """A layer: the pairs that it is made for, the rules that it covers, and what it has of the instruction set."""

    applies: Callable[[Triple, Triple], bool]
    covers: tuple[str, ...]
    has: Callable[[Any, Any], bool] | None = None


_ELSEWHERE = ("triple.arch", *_CALLS)
_BRIDGES = {
    "compat32": (
        _Bridge(_is_arm_on_aarch64, ("triple.arch", *_OF_AARCH64)),
        _Bridge(is_32_on_64, ("triple.arch",)),
    ),
    "qemu-user": (_Bridge(_is_emulated_by_qemu, _ELSEWHERE, _qemu_has),),
    "rosetta": (_Bridge(_is_translated_by_rosetta, _ELSEWHERE, _rosetta_has),),
    "wasmtime": (_Bridge(_is_for_wasi, (*_ELSEWHERE, "triple.os", "triple.os_version"), _wasmtime_has),),
    "wine": (_Bridge(_is_for_windows, ("triple.os", "triple.os_version")),),
}


def over(label: str) -> Callable[[Any, Any, Iterable[str]], str]:
    """Return what tells which of the bridges that are there, if any, makes up for a rule of that label."""

    def bridge(built_for: Any, run_on: Any, bridges: Iterable[str]) -> str:
        if built_for.triple is None or run_on.triple is None:
            return ""
        there = tuple(bridges)
        return next((name for name in there if _is_over(name, label, built_for, run_on, there)), "")

    return bridge


def _is_over(name: str, label: str, built_for: Any, run_on: Any, bridges: tuple[str, ...]) -> bool:
    need, have = _seen_by(name, built_for.triple, run_on.triple, bridges), run_on.triple
    one = next((one for one in _BRIDGES[name] if one.applies(need, have)), None)
    if one is None:
        return False
    if label == "features":
        return one.has is not None and one.has(built_for, run_on)
    return label in one.covers


def _seen_by(name: str, need: Triple, have: Triple, bridges: tuple[str, ...]) -> Triple:
    """Return the code's triple as a layer below another sees it: wine's programs are those of the system it runs on."""
    if name == "wine" or "wine" not in bridges or not _is_for_windows(need, have):
        return need
    return attrs.evolve(need, os=have.os)
