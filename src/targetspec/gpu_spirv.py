"""SPIR-V's capabilities: which names there are, what each declares implicitly, and their older names.

Source: Khronos's machine-readable grammar of SPIR-V 1.6, revision 7. The core's names are known here; those that end in
the tag of a vendor or of an extension (KHR, EXT, NV, INTEL ...) grow with every revision, and any is taken.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping
from typing import NamedTuple, cast

from targetspec.errors import nearest
from targetspec.packaged import packaged

_CORE = (
    "Addresses AtomicStorage AtomicStorageOps BitInstructions ClipDistance CullDistance "
    "DemoteToHelperInvocation DenormFlushToZero DenormPreserve DerivativeControl DeviceEnqueue "
    "DeviceGroup DotProduct DotProductInput4x8Bit DotProductInput4x8BitPacked DotProductInputAll "
    "DrawParameters Float16 Float16Buffer Float64 FloatControls2 GenericPointer Geometry "
    "GeometryPointSize GeometryStreams GroupNonUniform GroupNonUniformArithmetic GroupNonUniformBallot "
    "GroupNonUniformClustered GroupNonUniformQuad GroupNonUniformShuffle GroupNonUniformShuffleRelative "
    "GroupNonUniformVote Groups Image1D ImageBasic ImageBuffer ImageCubeArray ImageGatherExtended "
    "ImageMSArray ImageMipmap ImageQuery ImageReadWrite ImageRect InputAttachment "
    "InputAttachmentArrayDynamicIndexing InputAttachmentArrayNonUniformIndexing Int16 Int64 "
    "Int64Atomics Int8 InterpolationFunction Kernel Linkage LiteralSampler Matrix MinLod MultiView "
    "MultiViewport NamedBarrier PhysicalStorageBufferAddresses PipeStorage Pipes RuntimeDescriptorArray "
    "SampleMaskPostDepthCoverage SampleRateShading Sampled1D SampledBuffer SampledCubeArray "
    "SampledImageArrayDynamicIndexing SampledImageArrayNonUniformIndexing SampledRect Shader "
    "ShaderLayer ShaderNonUniform ShaderViewportIndex SignedZeroInfNanPreserve SparseResidency "
    "StorageBuffer16BitAccess StorageBuffer8BitAccess StorageBufferArrayDynamicIndexing "
    "StorageBufferArrayNonUniformIndexing StorageImageArrayDynamicIndexing "
    "StorageImageArrayNonUniformIndexing StorageImageExtendedFormats StorageImageMultisample "
    "StorageImageReadWithoutFormat StorageImageWriteWithoutFormat StorageInputOutput16 "
    "StoragePushConstant16 StoragePushConstant8 StorageTexelBufferArrayDynamicIndexing "
    "StorageTexelBufferArrayNonUniformIndexing StorageUniform16 StorageUniformBufferBlock16 "
    "SubgroupDispatch Tessellation TessellationPointSize TransformFeedback "
    "UniformAndStorageBuffer16BitAccess UniformAndStorageBuffer8BitAccess "
    "UniformBufferArrayDynamicIndexing UniformBufferArrayNonUniformIndexing UniformDecoration "
    "UniformTexelBufferArrayDynamicIndexing UniformTexelBufferArrayNonUniformIndexing VariablePointers "
    "VariablePointersStorageBuffer Vector16 VulkanMemoryModel VulkanMemoryModelDeviceScope "
)
CORE = tuple(_CORE.split())
PATTERN = rf"(?:{'|'.join(CORE)}|[A-Z][A-Za-z0-9]*[A-Z]{{2,}})"
"""What a name looks like: one of the core's, or one with the tag of a vendor or an extension."""


class _Table(NamedTuple):
    implies: Mapping[str, str]
    aliases: Mapping[str, str]


@functools.cache
def _table() -> _Table:
    document = cast("Mapping[str, Mapping[str, str]]", json.loads(packaged("spirv.json")))
    return _Table(document["implies"], document["aliases"])


def canonical(name: str) -> str:
    """Return the name that the grammar lists a capability under; a name that it does not know as it is.

    >>> canonical("ShaderNonUniformEXT")
    'ShaderNonUniform'
    """
    return _table().aliases.get(name, name)


def nearest_capabilities(name: str) -> tuple[str, ...]:
    """Return the known names close to one that is not."""
    held = _table()
    return nearest(name, [*held.implies, *held.aliases])


def declared(names: Iterable[str]) -> frozenset[str]:
    """Return capabilities with all that they declare implicitly.

    >>> sorted(declared(["Geometry"]))
    ['Geometry', 'Matrix', 'Shader']
    """
    return frozenset().union(*(_declared(name) for name in names))


@functools.cache
def _declared(name: str) -> frozenset[str]:
    name = canonical(name)
    direct = _table().implies.get(name, "").split()
    return frozenset((name,)).union(*(_declared(one) for one in direct))
