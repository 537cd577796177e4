"""From a target to zig's query and CPU: `x86_64-linux.5.10-gnu.2.38 -mcpu=skylake+avx512f`."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator

import attrs

from targetspec.dialects import zig_cpus, zig_models
from targetspec.dialects.deltas import delta_by, stated_fields
from targetspec.dialects.fitting import refused_kind
from targetspec.dialects.zig_features import SOFT_FLOAT, changed, model_fields, model_set
from targetspec.dialects.zig_names import (
    NUMBERED_OSES,
    abi_name,
    arch_name,
    environment,
    os_facts,
    os_name,
    windows_name,
)
from targetspec.errors import FeatureConflictError, NotRepresentableError, TargetspecError
from targetspec.features import FeatureSet
from targetspec.kinds.cpu import CpuTarget
from targetspec.target import Target
from targetspec.triple import Triple

NAME = "zig"
Unfit = list[tuple[str, str]]
_VERSION = re.compile(r"[0-9]+(?:\.[0-9]+){1,2}")
_SIGN = re.compile(r"[+-]")
_SIGN_OF_FLOAT = {"soft": "+", "hard": "-"}
_OF_A_MODEL = ("features", "tuning", "restrictions", "float_abi")
_WRITTEN = frozenset(("triple", "cpu", *_OF_A_MODEL))


def written(target: Target, *, lossy: bool) -> str:
    """Return the text of a target; NotRepresentableError lists what does not fit, unless `lossy`."""
    if not isinstance(target, CpuTarget):
        raise refused_kind(NAME, target, "CPUs")
    if target.triple is None:
        raise NotRepresentableError(NAME, (("triple", "not stated, and every query states one"),))
    unfit: Unfit = []
    query = _query(target, target.triple, unfit)
    cpu = _cpu(target, target.triple, unfit)
    unfit.extend((name, "zig has no option for it") for name in _unwritten(target))
    if not query or (unfit and not lossy):
        raise NotRepresentableError(NAME, tuple(unfit))
    return " ".join([query, *_object_format(target.triple), *([f"-mcpu={cpu}"] if cpu else [])])


def _unwritten(target: CpuTarget) -> Iterator[str]:
    for name, _ in stated_fields(target):
        glibc = name == "libc_version" and _glibc(target)
        if name not in _WRITTEN and not glibc:
            yield name


# -- the query ----------------------------------------------------------------------------------------


def _query(target: CpuTarget, triple: Triple, unfit: Unfit) -> str:
    """Return the query, "" where zig has no name for a part that it must have."""
    arch, os, abi = arch_name(triple), os_name(triple), abi_name(triple)
    for what, name in (("architecture", arch), ("operating system", os), ("ABI", abi)):
        if name is None:
            unfit.append(("triple", f"zig has no such {what}: {triple}"))
    if arch is None or os is None:
        return ""
    _check_rest(triple, os, abi or "", unfit)
    system = f"{os}{_os_version(triple, os, unfit)}"
    return "-".join([arch, system, *([f"{abi}{_abi_version(target, triple, unfit)}"] if abi else [])])


def _check_rest(triple: Triple, os: str, abi: str, unfit: Unfit) -> None:
    if triple.sub_arch:
        unfit.append(("triple", f"zig says {triple.arch_name} by the CPU and its features"))
    name, vendor = os_facts(os)
    if triple.vendor != vendor:
        unfit.append(("triple", f"zig has no vendors, and takes {vendor} for {os}, not {triple.vendor}"))
    if (name, environment(os, abi or None)) != (triple.os, triple.environment):
        unfit.append(("triple", f"zig takes {environment(os, abi or None)!r} for the environment"))


def _os_version(triple: Triple, os: str, unfit: Unfit) -> str:
    version = triple.environment_version if os == triple.environment == "opencl" else triple.os_version
    if not version:
        return ""
    if os == "windows" and windows_name(version):
        return f".{windows_name(version)}"
    if os in NUMBERED_OSES and _VERSION.fullmatch(version):
        return f".{version}"
    hint = f", as in {version}.0" if os in NUMBERED_OSES and version.isdigit() else ""
    unfit.append(("triple", f"zig has no version {version} of {os}: it writes two or three numbers{hint}"))
    return ""


def _abi_version(target: CpuTarget, triple: Triple, unfit: Unfit) -> str:
    version = triple.environment_version
    if triple.environment == "android" and version.isdigit():
        return f".{version}"
    if version and triple.environment != "opencl":
        unfit.append(("triple", f"zig has no version {version} of {triple.environment}"))
    glibc = _glibc(target)
    return f".{glibc}" if glibc else ""


def _glibc(target: CpuTarget) -> str:
    """Return the version of glibc that an ABI of zig's can be followed by, "" where there is none."""
    version, triple = target.libc_version or "", target.triple
    gnu = triple is not None and triple.os != "windows" and triple.environment.startswith("gnu")
    return version if gnu and target.libc == "glibc" and _VERSION.fullmatch(version) else ""


def _object_format(triple: Triple) -> list[str]:
    plain = attrs.evolve(triple, object_format="")
    return [f"-ofmt={triple.object_format}"] if plain != triple else []


# -- the CPU ------------------------------------------------------------------------------------------


def _cpu(target: CpuTarget, triple: Triple, unfit: Unfit) -> str:
    """Return the model and the changes, "" where the target states neither."""
    name = _own_model(target, triple) if target.cpu is None else zig_cpus.zig_cpu(triple.arch, target.cpu)
    if name and not _SIGN.search(name):
        return name + "".join(_changes(target, triple, name, unfit))
    if target.cpu is not None:
        reason = f"zig takes {name!r} for a CPU and features" if name else f"zig has no CPU {target.cpu}"
        unfit.append(("cpu", reason))
        return ""
    stated = dict(stated_fields(target))
    unfit.extend(
        (name, "zig changes the features of a CPU that is named, and none is")
        for name in _OF_A_MODEL
        if name in stated
    )
    return ""


def _own_model(target: CpuTarget, triple: Triple) -> str:
    """Return the model of zig's own nearest to a target without a CPU, "" where it states nothing of one."""
    if target.features is None or not any(name in _OF_A_MODEL for name, _ in stated_fields(target)):
        return ""
    deltas = {
        name: delta
        for name in zig_models.own_models(str(target.family))
        if (delta := _delta(target, triple, name)) is not None
    }
    return min(deltas, key=lambda name: len(deltas[name]), default="")


def _delta(target: CpuTarget, triple: Triple, name: str) -> tuple[str, ...] | None:
    """Return the changes that make the target's set from a model's; None where there are none, or no such model."""
    try:
        base = model_set(name, target.cpu, triple)
    except TargetspecError:
        return None
    if base is None or target.features is None:
        return () if base is target.features else None
    return _delta_between(base, target.features, triple) if target.features.is_current else None


@functools.lru_cache(maxsize=1024)
def _delta_between(base: FeatureSet, wanted: FeatureSet, triple: Triple) -> tuple[str, ...] | None:
    def change(found: FeatureSet, add: Iterable[str], remove: Iterable[str]) -> FeatureSet | None:
        try:
            return changed(found, triple, add, remove)
        except FeatureConflictError:
            return None

    return delta_by(change, base, wanted)


def _changes(target: CpuTarget, triple: Triple, name: str, unfit: Unfit) -> Iterator[str]:
    family = zig_cpus.family_of(triple.arch)
    names = zig_cpus.written_features(family) if family is not None else {}
    delta = _delta(target, triple, name)
    if delta is None:
        unfit.append(("features", "no change of the CPU's set gives them"))
    signs = [*(delta or ()), *sorted(target.tuning), *(f"+{one}" for one in sorted(target.restrictions))]
    for sign in signs:
        if sign[1:] == SOFT_FLOAT or sign[1:] not in names:
            unfit.append(("features", f"zig does not say {sign[1:]} as a feature"))
        else:
            yield sign[0] + names[sign[1:]]
    usual = model_fields(name, target.cpu, triple).get("float_abi", target.implied().get("float_abi"))
    if target.float_abi == usual:
        return
    if target.float_abi in _SIGN_OF_FLOAT and SOFT_FLOAT in names:
        yield _SIGN_OF_FLOAT[target.float_abi] + names[SOFT_FLOAT]
    else:
        unfit.append(("float_abi", f"zig takes {usual} for {name}"))
