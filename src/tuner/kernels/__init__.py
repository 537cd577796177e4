"""The bundled kernels by name."""

from __future__ import annotations

from types import MappingProxyType

from tuner.kernels.sgemm import SGEMM as sgemm  # noqa: N811 - a kernel is used like a function

KERNELS = MappingProxyType({kernel.name: kernel for kernel in (sgemm,)})

__all__ = ["KERNELS", "sgemm"]
