"""The flags that make compilers build for a target: clang, GCC, rustc, nvcc and zig.

Each is a tuple of arguments, one a member, as `subprocess.run` takes them. NotRepresentableError lists what a compiler
has no flag for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from targetspec import cpu as facts
from targetspec.dialects.deltas import delta_of, stated_fields
from targetspec.dialects.nvcc_options import written
from targetspec.errors import NotRepresentableError
from targetspec.kinds.cpu import CpuTarget
from targetspec.kinds.cpu_ground import ground_of
from targetspec.kinds.cuda import CudaTarget
from targetspec.target import Target
from targetspec.triple import Triple

Unfit = list[tuple[str, str]]
# clang takes -mcpu= where these name a CPU by -march=.
_BY_MARCH = frozenset(("x86", "loongarch", "mips", "nvptx", "systemz"))
_TUNED = frozenset(("x86", "aarch64", "riscv", "systemz", "powerpc", "loongarch"))
# Features of x86 that are no options of clang.
_NO_OPTION = frozenset(
    ("ccmp", "cf", "cmov", "cx8", "egpr", "ndd", "nf", "ppx", "push2pop2", "sse-unaligned-mem", "zu")
)
_FACTS_OF_THE_MACHINE = frozenset(
    (
        "cache_line_bytes",
        "host",
        "l1d_cache_bytes",
        "l2_cache_bytes",
        "l3_cache_bytes",
        "libs",
        "model",
        "num_cores",
    )
)
_SAID = frozenset(
    ("triple", "cpu", "tune", "features", "tuning", "restrictions", "abi", "float_abi", "static")
)
_ZIG_VENDORS = frozenset(("unknown", "pc", "w64"))
_ONE_NUMBER = 1


def clang_flags(target: Target) -> tuple[str, ...]:
    """Return clang's flags; features without an option of their own go to its front end by `-Xclang`.

    Facts that change no code (cores, caches, the model) are left out, and so are libraries and the host.

    >>> clang_flags(CpuTarget(triple="x86_64-linux-gnu", cpu="x86-64-v3"))
    ('--target=x86_64-unknown-linux-gnu', '-march=x86-64-v3')
    """
    target = _cpu_target("clang", target)
    unfit: Unfit = []
    words = [*_clang_words(target, unfit)]
    said = _SAID | _FACTS_OF_THE_MACHINE
    unfit.extend((name, "clang has no flag for it") for name, _ in stated_fields(target) if name not in said)
    _check("clang", unfit)
    return tuple(words)


def gcc_flags(target: Target) -> tuple[str, ...]:
    """Return the flags of a GCC that was built for the target's triple: `-march=`, `-mtune=` and the options."""
    return tuple(word for word in target.format("gcc").split() if word.startswith("-"))


def rustc_flags(target: Target) -> tuple[str, ...]:
    """Return rustc's `--target NAME`, and `-C` and `-Z` for what the name does not say."""
    name, *flags = target.format("rust").split()
    return ("--target", name, *flags)


def zig_flags(target: Target) -> tuple[str, ...]:
    """Return zig's `-target QUERY` and `-mcpu=`; a vendor that says nothing is left out.

    A variant of an architecture (`armv7`, `i686`) is said by its CPU and features, and a version of one number gets
    a second one.
    """
    target = _cpu_target("zig", target)
    query, *options = _for_zig(target).format("zig").split()
    return ("-target", query, *options)


def nvcc_flags(target: Target) -> tuple[str, ...]:
    """Return nvcc's `-gencode arch=..,code=..`: one for a CUDA target, or one for each of a composite's.

    A target without a form of code is a device, and gets machine code.

    >>> nvcc_flags(CudaTarget(arch="sm_90a"))
    ('-gencode', 'arch=compute_90a,code=sm_90a')
    """
    members = getattr(target, "members", ()) if target.is_composite else (target,)
    return tuple(word for member in members for word in _gencode(member))


# -- clang --------------------------------------------------------------------------------------------


def _clang_words(target: CpuTarget, unfit: Unfit) -> Iterator[str]:
    family = target.family or ""
    yield f"--target={target.triple}"
    if target.cpu is not None:
        yield f"-march={target.cpu}" if family in _BY_MARCH else f"-mcpu={target.cpu}"
    if target.tune is not None and family in _TUNED:
        yield f"-mtune={target.tune}"
    elif target.tune is not None:
        unfit.append(("tune", f"clang has no -mtune= on {family}"))
    stated = dict(stated_fields(target))
    if "abi" in stated:
        yield f"-mabi={target.abi}"
    if "float_abi" in stated:
        yield _float_abi(family, str(target.float_abi), unfit)
    yield from _clang_features(target, family, unfit)
    if target.static:
        yield "-static"


def _float_abi(family: str, value: str, unfit: Unfit) -> str:
    if family == "arm":
        return f"-mfloat-abi={value}"
    if value == "softfp":
        unfit.append(("float_abi", f"clang has no softfp on {family}"))
    return f"-m{value}-float"


def _clang_features(target: CpuTarget, family: str, unfit: Unfit) -> Iterator[str]:
    for sign in _clang_signs(target, family, unfit):
        if family == "x86" and sign[1:] not in _NO_OPTION:
            yield f"-m{'' if sign[0] == '+' else 'no-'}{facts.feature_spelling(family, sign[1:], 'gcc')}"
        else:
            yield from _to_the_front_end(sign)
    for sign in sorted(target.tuning):
        yield from _to_the_front_end(sign)
    for name in sorted(target.restrictions):
        yield from _to_the_front_end(f"+{name}")


def _clang_signs(target: CpuTarget, family: str, unfit: Unfit) -> Iterator[str]:
    """Give the change of the CPU's set: whole where the front end has it, which brings nothing by itself."""
    delta, base, wanted = delta_of(target), target.table_features(), target.features
    if delta is None or (delta and (base is None or wanted is None)):
        unfit.append(("features", "no change of the CPU's set gives them"))
    elif family == "x86" or base is None or wanted is None:
        yield from delta
    else:
        named = ground_of(target.triple, target.cpu).base
        unasked = facts.unasked_of(family, named) if named is not None else ()
        yield from (f"-{name}" for name in (*(base - wanted), *unasked) if name not in wanted.names)
        yield from (f"+{name}" for name in wanted - base)


def _to_the_front_end(sign: str) -> tuple[str, ...]:
    return "-Xclang", "-target-feature", "-Xclang", sign


# -- zig ----------------------------------------------------------------------------------------------


def _for_zig(target: CpuTarget) -> CpuTarget:
    """Return the target as zig can say it: without facts of the machine, and with every variant as a CPU."""
    stated = dict(stated_fields(target))
    changes: dict[str, Any] = {
        name: None if name != "libs" else frozenset() for name in _FACTS_OF_THE_MACHINE & stated.keys()
    }
    triple = target.triple
    if triple is None:
        return target
    plain = _plain_triple(triple)
    if plain.sub_arch or target.cpu is None:
        changes |= _named_cpu(target, triple, stated)
    return target.evolve(**{**changes, "triple": attrs.evolve(plain, sub_arch="")})


def _plain_triple(triple: Triple) -> Triple:
    version = triple.os_version
    padded = (
        f"{version}.0" if version and version.count(".") < _ONE_NUMBER and triple.os != "windows" else version
    )
    vendor = "unknown" if triple.vendor in _ZIG_VENDORS else triple.vendor
    return attrs.evolve(triple, os_version=padded, vendor=vendor)


def _named_cpu(target: CpuTarget, triple: Triple, stated: dict[str, Any]) -> dict[str, Any]:
    """Return the CPU that a triple's variant means, where that or a change of its set has to be said."""
    said = {"features", "tuning", "restrictions"} & stated.keys()
    if not (triple.sub_arch or said):
        return {}
    cpu = target.cpu or facts.baseline_cpu(triple.arch, triple.sub_arch, triple.os, triple.environment)
    return {"cpu": cpu, "features": target.features} if cpu else {}


# -- nvcc ---------------------------------------------------------------------------------------------


def _gencode(target: Target) -> tuple[str, str]:
    if not isinstance(target, CudaTarget):
        raise NotRepresentableError(
            "nvcc", (("kind", f"{target.kind}: nvcc compiles for cuda targets"),), lossy=True
        )
    if target.arch is None:
        raise NotRepresentableError(
            "nvcc", (("arch", "not stated, and nvcc takes its own default"),), lossy=True
        )
    if target.code_form is not None and target.ptx_isa is not None:
        raise NotRepresentableError(
            "nvcc", (("ptx_isa", "nvcc writes the PTX ISA of its own version"),), lossy=True
        )
    return written(str(target.arch), target.code_form)


def _cpu_target(tool: str, target: Target) -> CpuTarget:
    if not isinstance(target, CpuTarget):
        raise NotRepresentableError(
            tool, (("kind", f"{target.kind}: the flags are for cpu targets"),), lossy=True
        )
    if target.triple is None:
        raise NotRepresentableError(
            tool, (("triple", "not stated, and the tool takes its own machine's"),), lossy=True
        )
    return target


def _check(tool: str, unfit: Unfit) -> None:
    if unfit:
        raise NotRepresentableError(tool, tuple(unfit), lossy=True)
