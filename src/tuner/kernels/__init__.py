"""The bundled kernels by name."""

from __future__ import annotations

from types import MappingProxyType

from tuner.kernels.sgemm import SGEMM as sgemm  # noqa: N811 - a kernel is used like a function

KERNELS = MappingProxyType({kernel.name: kernel for kernel in (sgemm,)})
PROBLEMS = MappingProxyType({sgemm.name: MappingProxyType({"m": 512, "n": 512, "k": 512})})
"""A problem of each, its names in the order in which the kernel's users write them."""

__all__ = ["KERNELS", "PROBLEMS", "sgemm"]
