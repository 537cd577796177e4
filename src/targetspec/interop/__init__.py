"""Targets in the terms of other tools' calls: llvmlite's target machines, compilers' flags, Numba's environment."""

from __future__ import annotations

from targetspec.interop.compilers import clang_flags, gcc_flags, nvcc_flags, rustc_flags, zig_flags
from targetspec.interop.jit import numba_environment
from targetspec.interop.llvm_machine import LlvmTarget, from_llvmlite, to_llvmlite

__all__ = [
    "LlvmTarget",
    "clang_flags",
    "from_llvmlite",
    "gcc_flags",
    "numba_environment",
    "nvcc_flags",
    "rustc_flags",
    "to_llvmlite",
    "zig_flags",
]
