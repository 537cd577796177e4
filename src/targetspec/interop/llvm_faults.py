"""What LLVM ends the process on though it knows each name: features that its subtargets cannot have together.

Source: LLVM 22.1, the subtargets of Hexagon, LoongArch, MIPS and NVPTX.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from targetspec.cpu import resolve
from targetspec.errors import FieldError, UnknownNameError
from targetspec.features import FeatureSet
from targetspec.gpu_cuda import CudaArch, isa_key
from targetspec.kinds.cpu import CpuTarget
from targetspec.triple import Triple

_HVX = re.compile(r"hvx(v[0-9]+)?")
_HVX_LENGTHS = ("hvx-length64b", "hvx-length128b")
_MIPS_64 = re.compile(r"mips64(r[2356])?|i6[45]00|cnmipsp?")
_MIPS_64_R2 = re.compile(r"mips64r[2356]|i6[45]00|cnmipsp?")
_MIPS_32_R2 = re.compile(r"mips32r[2356]|p5600")
_MIPS_LEVEL = re.compile(r"mips[1-5]|mips(32|64)(r[2356])?|i6[45]00|p5600|cnmipsp?")
_MIPS_R6 = re.compile(r"mips(32|64)r6|i6[45]00")
_WIDE_MIPS = re.compile(r"mips[345]")
_PTX = re.compile(r"ptx([0-9]+)([0-9])")


def check_sound(target: CpuTarget, cpu: str, triple: Triple, features: FeatureSet) -> None:
    """Raise FieldError where LLVM would end the process for what a target states."""
    family = target.family
    if family == "mips":
        _check_level(cpu, features)
        switched_on = {name[1:] for name in target.tuning if name[0] == "+"}
        _check_mips(triple, features.names | target.restrictions | switched_on)
    elif family == "hexagon":
        _check_hexagon(features)
    elif family == "nvptx":
        _check_nvptx(cpu, features)
    elif family == "loongarch" and triple.pointer_bits == 32:  # noqa: PLR2004 - a width
        message = "has no code model that LLVM's just-in-time compiler takes"
        raise FieldError("cpu", "triple", str(triple), message, "compile for loongarch64")


def _check_hexagon(features: FeatureSet) -> None:
    lengths = [name for name in _HVX_LENGTHS if name in features.names]
    vectors = [name for name in features if _HVX.fullmatch(name)]
    if len(lengths) > 1 or (vectors and not lengths):
        message = f"{', '.join(lengths or vectors)}: LLVM needs one length of its vectors"
        raise FieldError(
            "cpu", "features", ",".join(features), message, f"state one of {', '.join(_HVX_LENGTHS)}"
        )


def _check_mips(triple: Triple, names: frozenset[str]) -> None:
    for name, why in _faults_of_mips(triple, names):
        if name in names:
            raise FieldError("cpu", "features", name, why, "leave it out, or choose another CPU")


def _check_level(cpu: str, features: FeatureSet) -> None:
    """Refuse to take a CPU's own architecture away: LLVM then has whatever is below it, which clang does not list."""
    for name in resolve("mips", cpu) - features:
        if _MIPS_LEVEL.fullmatch(name):
            raise FieldError("cpu", "features", f"-{name}", f"is what {cpu} is", "choose another CPU")


def _faults_of_mips(triple: Triple, names: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Give the names that LLVM ends the process on beside the others, and why."""
    wide, sixth = _any(_MIPS_64, names), _any(_MIPS_R6, names) or triple.sub_arch.endswith("r6")
    # LLVM orders MIPS III to V after the revisions of MIPS32.
    old = not wide and _any(_WIDE_MIPS, names)
    second = _any(_MIPS_64_R2, names) if wide else not old and _any(_MIPS_32_R2, names)
    if not wide:
        yield "mips5", "LLVM generates no code for MIPS V"
    if not second or "micromips" in names:
        yield "use-indirect-jump-hazard", "needs revision 2 or later, and no microMIPS"
    if not second:
        yield from ((name, "needs revision 2 or later") for name in ("abs2008", "nan2008"))
    if not second and not wide and not old:
        yield "fp64", "needs revision 2 or later of MIPS32"
    if sixth:
        yield from ((name, "is not there in revision 6") for name in ("dsp", "dspr2", "dspr3"))
    if wide or old:
        yield "micromips", "is not there in 64-bit CPUs"
    if wide and not second and triple.sub_arch.endswith("r6"):
        yield "mips64", f"is older than what the triple says, {triple}"
    if triple.arch.startswith("mips64"):
        yield from (
            (name, f"is for the O32 ABI, and the triple is {triple}") for name in ("fpxx", "nooddspreg")
        )


def _any(pattern: re.Pattern[str], names: Iterable[str]) -> bool:
    return any(map(pattern.fullmatch, names))


def _check_nvptx(cpu: str, features: FeatureSet) -> None:
    others = [name for name in features if name.startswith("sm_") and name != cpu]
    if others:
        raise FieldError("cpu", "features", others[0], f"is another CPU than {cpu}", "leave it out")
    stated = max(_ptx_versions(features), default=None)
    first = _first_isa(cpu)
    if stated is not None and first is not None and stated < first:
        needed = "".join(map(str, first))
        raise FieldError(
            "cpu", "features", f"ptx{stated[0]}{stated[1]}", f"is too old for {cpu}", f"state ptx{needed}"
        )


def _ptx_versions(features: Iterable[str]) -> list[tuple[int, ...]]:
    found = (_PTX.fullmatch(name) for name in features)
    return [(int(hit[1]), int(hit[2])) for hit in found if hit]


def _first_isa(cpu: str) -> tuple[int, ...] | None:
    try:
        return isa_key(CudaArch.parse(cpu).first_ptx_isa)
    except (UnknownNameError, FieldError):
        return None
