"""From a target to zig's query and CPU: `x86_64-linux.5.10-gnu.2.38 -mcpu=skylake+avx512f`."""

from __future__ import annotations

import re
from collections.abc import Iterator

import attrs

from targetspec.dialects import zig_cpus
from targetspec.dialects.deltas import delta_of, stated_fields
from targetspec.dialects.fitting import refused_kind
from targetspec.dialects.zig_features import own_fields
from targetspec.dialects.zig_names import (
    NUMBERED_OSES,
    abi_name,
    arch_name,
    environment,
    os_facts,
    os_name,
    windows_name,
)
from targetspec.errors import NotRepresentableError, TargetspecError
from targetspec.kinds.cpu import CpuTarget
from targetspec.target import Target
from targetspec.triple import Triple

NAME = "zig"
Unfit = list[tuple[str, str]]
_VERSION = re.compile(r"[0-9]+(?:\.[0-9]+){1,2}")
_SOFT_FLOAT = "soft-float"
_WRITTEN = frozenset(("triple", "cpu", "features", "tuning", "restrictions"))


def written(target: Target, *, lossy: bool) -> str:
    """Return the text of a target; NotRepresentableError lists what does not fit, unless `lossy`."""
    if not isinstance(target, CpuTarget):
        raise refused_kind(NAME, target, "CPUs")
    if target.triple is None:
        raise NotRepresentableError(NAME, (("triple", "not stated, and every query states one"),))
    unfit: Unfit = []
    query = _query(target, target.triple, unfit)
    cpu = _cpu(target, unfit)
    unfit.extend((name, "zig has no option for it") for name in _unwritten(target))
    if not query or (unfit and not lossy):
        raise NotRepresentableError(NAME, tuple(unfit))
    return " ".join([query, *_object_format(target.triple), *([f"-mcpu={cpu}"] if cpu else [])])


def _unwritten(target: CpuTarget) -> Iterator[str]:
    for name, _ in stated_fields(target):
        glibc = name == "libc_version" and _glibc(target)
        soft = name == "float_abi" and (_soft_float(target) or (target.cpu is None and _own_model(target)))
        if name not in _WRITTEN and not glibc and not soft:
            yield name


def _soft_float(target: CpuTarget) -> str:
    """Return the signed feature that says how floating point is passed, "" where zig says it by the ABI alone."""
    named = target.family is not None and target.cpu is not None and target.float_abi in ("soft", "hard")
    if not named or _SOFT_FLOAT not in zig_cpus.written_features(str(target.family)):
        return ""
    stated = dict(stated_fields(target))
    return f"{'+' if target.float_abi == 'soft' else '-'}soft_float" if "float_abi" in stated else ""


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
    version = triple.os_version
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
    if version:
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


def _cpu(target: CpuTarget, unfit: Unfit) -> str:
    """Return the model and the changes, "" where the target states neither."""
    items = [*_changes(target, unfit)]
    if target.cpu is not None:
        name = zig_cpus.zig_cpu(target.family, target.cpu)
        if "+" in name or "-" in name:
            unfit.append(("cpu", f"zig takes {name!r} for a CPU and features"))
            return ""
        return name + "".join(items)
    own = _own_model(target)
    if own:
        return own
    stated = dict(stated_fields(target))
    unfit.extend(
        (name, "zig changes the features of a CPU that is named, and none is")
        for name in ("features", "tuning", "restrictions")
        if name in stated
    )
    return ""


_OF_A_MODEL = ("features", "tuning", "restrictions", "float_abi")


def _own_model(target: CpuTarget) -> str:
    """Return the model of zig's own that states just what a target without a CPU does, "" where there is none."""
    if target.triple is None or not any(name in _OF_A_MODEL for name, _ in stated_fields(target)):
        return ""
    models = zig_cpus.OWN_CPUS.get(target.family or "", ())
    return next((name for name in models if _is_of(target, target.triple, name)), "")


def _is_of(target: CpuTarget, triple: Triple, name: str) -> bool:
    try:
        made = CpuTarget(triple=triple, **own_fields(str(target.family), name))
    except TargetspecError:
        return False
    return all(getattr(made, field) == getattr(target, field) for field in _OF_A_MODEL)


def _changes(target: CpuTarget, unfit: Unfit) -> Iterator[str]:
    if target.family is None or target.cpu is None:
        return
    delta = delta_of(target)
    if delta is None:
        unfit.append(("features", "no change of the CPU's set gives them"))
    names = zig_cpus.written_features(target.family)
    signs = [*(delta or ()), *sorted(target.tuning), *(f"+{name}" for name in sorted(target.restrictions))]
    for sign in signs:
        if sign[1:] == _SOFT_FLOAT or sign[1:] not in names:
            unfit.append(("features", f"zig does not say {sign[1:]} as a feature"))
        else:
            yield sign[0] + names[sign[1:]]
    soft = _soft_float(target)
    if soft:
        yield soft
