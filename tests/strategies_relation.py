"""Targets, and pairs and chains of them, for the laws of the relation.

A seed is a whole example: it is cheap to make, so that a law sees thousands, and small by design, for what stands
beside a target differs from it in a field or two. A law's premise is met on purpose, not by luck: pairs are grown until
the relation answers what the law is about.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from targetspec import CompositeTarget, CpuTarget, Target, cpu, registry
from targetspec.compatibility import Verdict
from targetspec.errors import TargetspecError
from targetspec.features import FeatureSet
from targetspec.fields import Choice, Count, Flag, NameSet, Text, Version
from targetspec.gpu_cuda import arch_names
from targetspec.kinds.cpu_width import check_width
from targetspec.rules import Answer, Purpose
from targetspec.triple import Triple

TRIPLES = {
    "aarch64": (
        *("aarch64-linux-gnu", "aarch64-linux-gnu", "aarch64-linux-musl", "aarch64-linux-android21"),
        *("aarch64-linux-android30", "arm64-apple-macos11", "arm64-apple-macos14", "arm64e-apple-macos14"),
        *(
            "arm64-apple-ios17.0-simulator",
            "aarch64-windows-msvc",
            "arm64ec-windows-msvc",
            "aarch64_be-linux-gnu",
        ),
        *("aarch64-unknown-none", "aarch64-linux-pauthtest"),
    ),
    "amdgpu": ("amdgcn-amd-amdhsa", "amdgcn-amd-amdhsa", "amdgcn-mesa-mesa3d"),
    "arm": (
        *("armv7-linux-gnueabihf", "armv7-linux-gnueabi", "armv6-linux-gnueabihf", "thumbv7-linux-gnueabihf"),
        *("thumbv7em-none-eabihf", "thumbv7m-none-eabi", "armebv7r-none-eabi", "armv7-linux-androideabi24"),
    ),
    "hexagon": ("hexagon-unknown-linux-musl", "hexagon-unknown-elf"),
    "loongarch": ("loongarch64-linux-gnu", "loongarch64-linux-gnusf", "loongarch64-linux-musl"),
    "mips": (
        *("mips64el-linux-gnuabi64", "mips64el-linux-gnuabin32", "mipsel-linux-gnu", "mips-linux-gnu"),
        *("mipsisa64r6el-linux-gnuabi64", "mips64-linux-muslabi64"),
    ),
    "nvptx": ("nvptx64-nvidia-cuda", "nvptx64-nvidia-cuda", "nvptx-nvidia-cuda"),
    "powerpc": (
        "powerpc64le-linux-gnu",
        "powerpc64le-linux-musl",
        "powerpc64-linux-gnu",
        "powerpc-linux-gnu",
    ),
    "riscv": ("riscv64-linux-gnu", "riscv64-linux-musl", "riscv64-unknown-elf", "riscv32-unknown-elf"),
    "systemz": ("s390x-linux-gnu", "s390x-linux-gnu", "s390x-linux-musl", "s390x-ibm-zos"),
    "webassembly": ("wasm32-wasip1", "wasm32-wasip2", "wasm32-unknown-unknown", "wasm64-unknown-unknown"),
    "x86": (
        *("x86_64-linux-gnu", "x86_64-linux-gnu", "x86_64-linux5.4-gnu", "x86_64-linux5.10-gnu"),
        *("x86_64-linux-musl", "x86_64-linux-gnux32", "i686-linux-gnu", "x86_64-apple-macosx10.15"),
        *(
            "x86_64-apple-macosx13.0",
            "x86_64-apple-darwin23",
            "x86_64h-apple-macosx13.0",
            "x86_64-windows-msvc",
        ),
        *("x86_64-windows-gnu", "x86_64-unknown-freebsd14", "x86_64-unknown-freebsd", "x86_64-unknown-none"),
        *("x86_64-linux-android24",),
    ),
    # What no table is about.
    "sparc": ("sparc64-unknown-linux-gnu", "sparc64-unknown-netbsd", "sparc-unknown-linux-gnu"),
}
_FAMILY = "cpu "
FAMILIES = tuple(_FAMILY + family for family in TRIPLES)
DEVICES = tuple(sorted(set(registry.KINDS) - {"cpu", "composite"}))
SUBJECTS = (*FAMILIES, "nowhere", *DEVICES, "composite")
_LIBS = ("cudnn", "mkl", "cblas")
_POOLS: dict[tuple[str, str], tuple[Any, ...]] = {
    ("cpu", "vector_bits"): (None, 128, 256),
    ("cpu", "abi"): (None, "lp64", "lp64d", "elfv2"),
    ("cpu", "float_abi"): (None, "soft", "softfp", "hard"),
    ("cpu", "libc"): (None, "glibc", "musl"),
    ("cpu", "libc_version"): (None, "1.2", "2.4", "2.17", "2.36"),
    ("cpu", "num_cores"): (None, 4, 8),
    ("cuda", "arch"): arch_names(),
    ("cuda", "ptx_isa"): (None, "7.8", "8.0", "8.8", "9.2"),
    ("rocm", "target_id"): (
        *("gfx90a", "gfx90a:xnack+", "gfx90a:xnack-", "gfx90a:xnack-:sramecc+", "gfx90a:sramecc+", "gfx942"),
        *("gfx9-4-generic", "gfx9-4-generic:xnack+", "gfx9-generic", "gfx906", "gfx906:sramecc-", "gfx803"),
        *("gfx10-1-generic", "gfx1010:xnack+", "gfx10-3-generic", "gfx1030", "gfx1031", "gfx11-generic"),
        *("gfx1151", "gfx12-generic", "gfx1200", "gfx1250"),
    ),
    ("rocm", "warp_size"): (None, 32, 64),
    ("rocm", "code_object_version"): (None, 5, 6),
    ("rocm", "generic_version"): (None, 1, 2),
    ("metal", "gpu_family"): (None, "apple4", "apple7", "apple9", "mac2", "metal3", "metal4", "common2"),
    ("metal", "language_version"): (None, "2.4", "3.0", "3.1", "3.2"),
    ("metal", "deployment_target"): (None, "10.16", "11", "12.3", "13", "14.2", "17"),
    ("metal", "os"): ("macos", "macos", "ios", "ios-simulator"),
    ("vulkan", "api_version"): (None, "1.0", "1.1", "1.2.198", "1.3", "1.4"),
    ("vulkan", "spirv_version"): (None, "1.0", "1.3", "1.5", "1.6"),
    ("vulkan", "capabilities"): ("Float16", "Int8", "Shader", "Matrix", "StorageBuffer16BitAccess"),
    ("vulkan", "extensions"): ("VK_KHR_16bit_storage", "SPV_KHR_16bit_storage"),
    ("vulkan", "subgroup_operations"): ("basic", "ballot", "shuffle-relative"),
    ("opencl", "opencl_version"): (None, "1.2", "2.0", "3.0"),
    ("opencl", "extensions"): ("cl_khr_fp16", "cl_khr_fp64", "__opencl_c_subgroups"),
    ("webgpu", "extensions"): ("shader-f16", "subgroups", "timestamp-query"),
    ("hexagon", "version"): ("v60", "v65", "v67", "v67t", "v68", "v73", "v71t"),
    ("hexagon", "hvx_bytes"): (None, 64, 128),
    ("hexagon", "extensions"): ("hvx-qfloat", "hvx-ieee-fp"),
}
_TRIES = 15
_TOGETHER = 6
_INTERESTING = 8
Grow = Callable[[Random, Target], Target]


def subject_target(rng: Random, subject: str) -> Target:
    """Return a target of a family, a kind of device, or a composite."""
    if subject == "composite":
        drawn = [_member(rng) for _ in range(rng.randint(1, 3))]
        return CompositeTarget(members=drawn, host=_host(rng) if rng.random() < 0.3 else None)
    if subject in DEVICES:
        return _changed(rng, registry.kind(subject)(), rng.randint(1, _INTERESTING))
    if subject == "nowhere":
        name = rng.choice((None, "haswell", "znver3", "cortex-a53", "sifive-u74", "generic"))
        return _changed(rng, CpuTarget(cpu=name), rng.randint(0, 2))
    return _changed(rng, _processor(rng, subject.removeprefix(_FAMILY)), rng.randint(0, 3))


def _member(rng: Random) -> Target:
    subjects = (*("cpu x86", "cpu aarch64") * 3, *DEVICES)
    return subject_target(rng, rng.choice(subjects)).without_host()


def _host(rng: Random) -> Target:
    subjects = ("cpu x86", "cpu x86", "cpu x86", "cpu aarch64", "cpu riscv", "hexagon")
    return subject_target(rng, rng.choice(subjects)).without_host()


def _processor(rng: Random, family: str) -> CpuTarget:
    triple = rng.choice(TRIPLES[family])
    names = _cpus_of_width(Triple.parse(triple), family) if family in cpu.family_names() else ()
    return CpuTarget(triple=triple, cpu=rng.choice((None, *names)))


@functools.cache
def _cpus(family: str) -> tuple[str, ...]:
    return cpu.cpu_names(family)


@functools.cache
def _cpus_of_width(triple: Triple | None, family: str) -> tuple[str, ...]:
    widths = (32, 64) if triple is None else (triple.pointer_bits,)
    return tuple(name for name in _cpus(family) if set(widths) & set(cpu.cpu_widths(family, name)))


@functools.cache
def _with_role(family: str, role: str) -> tuple[str, ...]:
    return tuple(
        name
        for name in cpu.feature_names(family)
        if cpu.role(family, name) == role and (role not in ("isa", "abi") or cpu.is_listed(family, name))
    )


# -- targets beside a target ------------------------------------------------------------------------------


def near(rng: Random, target: Target) -> Target:
    """Return a target that differs in a field or two, or is the same."""
    return _changed(rng, target, rng.choice((1, 1, 1, 2)))


def _changed(rng: Random, target: Target, times: int) -> Target:
    for _ in range(times):
        try:
            target = _change(rng, target)
        except TargetspecError:
            continue
    return target


def _change(rng: Random, target: Target) -> Target:
    if target.is_composite:
        return _changed_composite(rng, target)
    names = _fields(target.kind)
    name = rng.choice(names)
    return target.evolve(**{name: _value(rng, target, name)})


@functools.cache
def _fields(kind: str) -> tuple[str, ...]:
    """Return the fields: those that decide something in more places than others, and features in the most."""
    specs = registry.kind(kind).specs()
    deciding = [name for name, one in specs.items() for purpose in ("code", "link") if one.rules[purpose]]
    return (*specs, *deciding * 2, *(["features"] * _INTERESTING if kind == "cpu" else []))


def _changed_composite(rng: Random, target: Any) -> Target:
    members = list(target.members)
    at = rng.randrange(len(members))
    match rng.randrange(7):
        case 0:
            members.insert(at, _member(rng))
        case 1 if len(members) > 1:
            del members[at]
        case 2:
            return target.evolve(host=_value(rng, target, "host"))
        case 3:
            lone: Target = members[at].evolve(host=target.host)
            return lone
        case _:
            members[at] = _change(rng, members[at]).without_host()
    return CompositeTarget(members=members, host=target.host)


def _value(rng: Random, target: Target, name: str) -> Any:
    """Return another value for a field, now and then none."""
    now, pool = getattr(target, name), _POOLS.get((target.kind, name))
    if name == "host":
        return None if rng.random() < 0.25 else _host(rng) if now is None else near(rng, now).without_host()
    if name == "features":
        return _features(rng, target)
    if name in ("restrictions", "tuning", "cpu", "tune", "triple"):
        return _of_family(rng, target, name)
    if isinstance(now, frozenset):
        return now ^ {rng.choice(pool or _LIBS)}
    return rng.choice(pool or _by_shape(target.specs()[name].shape))


def _by_shape(shape: Any) -> tuple[Any, ...]:
    match shape:
        case Count():
            least = max(shape.minimum, 1)
            return (None, least, min(shape.maximum, 32 * least))
        case Flag():
            return (False, True)
        case Choice():
            return (None, *shape.words)
        case Version():
            return (None, "1.0", "1.2", "2.17")
        case Text() | NameSet():
            return (None, "some", "other")
    raise AssertionError(shape)


def _features(rng: Random, target: Any) -> Any:
    """Return another set, of the width of the triple's code."""
    found, triple = _any_features(rng, target), target.triple
    if found is not None and triple is not None:
        known = found.names.intersection(cpu.feature_names(found.family))
        check_width(found.family, triple.arch, triple.pointer_bits, add=known)
    return found


def _any_features(rng: Random, target: Any) -> Any:
    features = target.features
    if features is None or rng.random() < 0.1:
        return None
    family = features.family
    if rng.random() < 0.2:
        bits = 64 if target.triple is None else target.triple.pointer_bits
        return cpu.resolve(family, rng.choice(_cpus(family)), bits=bits)
    name = rng.choice(_with_role(family, "isa") + _with_role(family, "abi"))
    here = sorted(features)
    if rng.random() < 0.05:
        return FeatureSet.verbatim(family, (*features, "from-the-future"), "99.0.0")
    if here and rng.random() < 0.4:
        return features.with_changes(remove=[rng.choice(here)])
    return features.with_changes(add=[name])


def _of_family(rng: Random, target: Any, name: str) -> Any:
    if name == "triple":
        arch = target.family or (target.triple.family if target.triple is not None else "")
        others = TRIPLES.get(arch, TRIPLES["sparc"])
        return rng.choice((None, rng.choice(rng.choice(list(TRIPLES.values()))), *others, *others))
    family = target.family
    if name in ("cpu", "tune"):
        return rng.choice((None, *_cpus_of_width(target.triple, family))) if family is not None else None
    known = (
        _with_role(family, "inverse" if name == "restrictions" else "tuning") if family is not None else ()
    )
    if not known or rng.random() < 0.3:
        return frozenset()
    one = rng.choice(known)
    return getattr(target, name) ^ {one} if name == "restrictions" else frozenset({rng.choice("+-") + one})


# -- pairs and chains ---------------------------------------------------------------------------------------


def _candidates(rng: Random, target: Target) -> Iterator[Target]:
    for _ in range(2 * _TRIES):
        other = near(rng, target)
        if other != target:
            yield other


def beyond(rng: Random, target: Target, purpose: Purpose) -> Target:
    """Return another target on which the product of the first can be used; the first itself where none was met."""
    fits = (one for one in _candidates(rng, target) if target.compatible(one, purpose=purpose))
    return next(fits, target)


def pair(rng: Random, subject: str, purpose: Purpose, answer: Answer) -> tuple[Target, Target]:
    """Return two targets, with a wanted answer where one was met, otherwise with any."""
    return pair_where(rng, subject, purpose, lambda verdict: verdict.answer == answer)


def pair_where(
    rng: Random, subject: str, purpose: Purpose, wanted: Callable[[Verdict], bool]
) -> tuple[Target, Target]:
    """Return two targets, with a wanted verdict where one was met, otherwise with any."""
    drawn = [subject_target(rng, subject)]
    # Where none of those near will do, some that have nothing in common are drawn as well.
    others = (subject_target(rng, subject) for _ in range(_TRIES))
    for another in itertools.chain(_candidates(rng, drawn[0]), others):
        for one in drawn[-_TOGETHER:]:
            for first, second in rng.sample([(one, another), (another, one)], 2):
                if wanted(first.compatible(second, purpose=purpose)):
                    return first, second
        drawn.append(another)
    return drawn[0], near(rng, drawn[0])


def chain(rng: Random, subject: str, purpose: Purpose) -> tuple[Target, Target, Target]:
    """Return three targets: the product of each can be used on the next; those met by luck are as good."""
    first = subject_target(rng, subject)
    second = beyond(rng, first, purpose)
    return first, second, beyond(rng, second, purpose)


# -- more and less ------------------------------------------------------------------------------------------


def grown(rng: Random, target: Target, purpose: Purpose = "code") -> Target:
    """Return a target with one thing more in a set that its kind has, at the host or at one member too.

    What is linked for a device, or lies beside a host, is of use both ways: there more of a set is no better, and
    processors alone are given more.
    """
    return _resized(rng, target, _more, purpose)


def shrunk(rng: Random, target: Target, purpose: Purpose = "code") -> Target:
    """Return a target with one thing less in such a set, where there is one."""
    return _resized(rng, target, _less, purpose)


def _resized(rng: Random, target: Any, resize: Grow, purpose: Purpose) -> Target:
    ordered = purpose != "link"
    if target.host is not None and ordered and rng.random() < 0.3:
        return target.evolve(host=_resized(rng, target.host, resize, purpose))
    if target.is_composite:
        members = list(target.members)
        places = [at for at, one in enumerate(members) if ordered or one.kind == "cpu"]
        at = rng.choice(places or [0])
        members[at] = _resized(rng, members[at], resize, purpose)
        return CompositeTarget(members=members, host=target.host)
    if not ordered and target.kind != "cpu":
        return target
    for _ in range(_TRIES):
        try:
            other = resize(rng, target)
        except TargetspecError:
            continue
        if other != target and _same_beside_isa(target, other):
            return other
    return target


def _same_beside_isa(one: Any, other: Any) -> bool:
    return one.kind != "cpu" or one.features is None or _abi(one.features) == _abi(other.features)


# MIPS's release 6 took instructions away and gave their codes to others: it is another instruction set, not a larger one.
_APART = {"mips": ("mips32r6",)}


def _abi(features: Any) -> set[str]:
    apart = [name for name in _APART.get(features.family, ()) if name in features]
    return set(features).intersection(_with_role(features.family, "abi")).union(apart)


def _sets(target: Target) -> list[str]:
    return [
        name for name, one in target.specs().items() if isinstance(one.shape, NameSet) and one.rules["code"]
    ]


def _more(rng: Random, target: Any) -> Target:
    if target.kind == "cpu":
        if target.features is None:
            return target.evolve(libs=target.libs | {rng.choice(_LIBS)})
        name = rng.choice(_with_role(target.features.family, "isa"))
        return target.evolve(features=target.features.with_changes(add=[name]))
    name = rng.choice(_sets(target))
    return target.evolve(
        **{name: getattr(target, name) | {rng.choice(_POOLS.get((target.kind, name), _LIBS))}}
    )


def _less(rng: Random, target: Any) -> Target:
    if target.kind == "cpu" and target.features:
        gone = rng.choice(sorted(target.features))
        return target.evolve(features=target.features.with_changes(remove=[gone]))
    held = [(name, one) for name in _sets(target) for one in sorted(getattr(target, name))]
    if target.kind == "cpu":
        held = [("libs", one) for one in sorted(target.libs)]
    if not held:
        return target
    name, one = rng.choice(held)
    return target.evolve(**{name: getattr(target, name) - {one}})
