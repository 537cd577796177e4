"""What LLVM's predicates say of a triple: float ABI, 64-bit time, M profile, versions of Apple's and the GPU systems.

They answer as LLVM 22 does, oddities included, for a triple as LLVM reads it.
"""

from __future__ import annotations

from targetspec.triple_llvm import LLVMTriple, parse_version, spell_dxil
from targetspec.triple_names import APPLE_RENUMBERED

_HARD_FLOAT = frozenset({"eabihf", "gnueabihf", "gnueabihft64", "musleabihf"})
_TIME64 = frozenset({"gnut64", "gnueabit64", "gnueabihft64"})
_M_PROFILE = frozenset({"v6m", "v7m", "v7em", "v8m.base", "v8m.main", "v8.1m.main"})
# v7s, v7k and v7ve have Thumb-2 in fact; LLVM answers no, and yes where no version is named.
_NO_T32 = frozenset(
    {"v4t", "v5", "v5te", "v6", "v6k", "v6m", "v6t2", "v7k", "v7s", "v7ve", "v8m.base"},
)
_SPIRV_OF_VULKAN: dict[tuple[int, ...], str] = {(1, 2): "v1.5", (1, 3): "v1.6"}


def is_hard_float(triple: LLVMTriple) -> bool:
    """Whether the environment names ARM's hard-float ABI."""
    return triple.environment in _HARD_FLOAT


def is_time64(triple: LLVMTriple) -> bool:
    """Whether the environment names a 64-bit `time_t` on a 32-bit machine."""
    return triple.environment in _TIME64


def is_m_profile(triple: LLVMTriple) -> bool:
    """Whether the architecture is one of ARM's microcontroller versions."""
    return triple.sub_arch in _M_PROFILE


def is_t32(triple: LLVMTriple) -> bool:
    """Whether LLVM takes the architecture to have 32-bit Thumb instructions."""
    return triple.sub_arch not in _NO_T32


def supports_comdat(triple: LLVMTriple) -> bool:
    """Whether the object format has COMDAT sections."""
    return triple.object_format not in {"macho", "xcoff", "dxcontainer"}


def vulkan_version(triple: LLVMTriple) -> tuple[int, ...]:
    """Return the Vulkan version, 1.2 where none is stated; () where the SPIR-V version does not go with it."""
    version = triple.os_version or (1, 2)
    spirv = _SPIRV_OF_VULKAN.get(version)
    return version if spirv and triple.sub_arch in {"", spirv} else ()


def dxil_version(triple: LLVMTriple) -> tuple[int, ...]:
    """Return the DXIL version that the architecture states, or else the shader model's."""
    name = triple.names[0] if triple.sub_arch else spell_dxil(triple.names[2].removeprefix("shadermodel"))
    return parse_version(name.removeprefix("dxilv"))


def ios_version(triple: LLVMTriple) -> tuple[int, ...]:
    """Return the iOS version that an iOS, tvOS or visionOS version goes with; 7 or 5 where none is stated."""
    version = triple.os_version
    if triple.os == "xros":
        return (
            _aligned("xros", version)
            if version >= (3,)
            else (version[0] + 16 if version else 16, *version[1:])
        )
    if not version or version[0] == 0:
        return (7,) if triple.arch == "aarch64" else (5,)
    return _aligned(triple.os, version)


def _aligned(os: str, version: tuple[int, ...]) -> tuple[int, ...]:
    first, step = APPLE_RENUMBERED[os]
    return (version[0] + step, *version[1:]) if first <= version[0] < first + step else version
