"""A kernel's arguments: made from a seed, checked, and told by their IR types."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numpy.random import default_rng

from tuner.errors import KernelError, ProblemError
from tuner.kernel import Kernel

POINTER = "ptr"

_CTYPES: dict[str, Any] = {
    "i8": ctypes.c_int8,
    "i16": ctypes.c_int16,
    "i32": ctypes.c_int32,
    "i64": ctypes.c_int64,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
    POINTER: ctypes.c_void_p,
}
_FLOATS = {4: "float", 8: "double"}
_MAX_INT = 2**63


def make_arguments(kernel: Kernel, problem: Any, seed: int) -> tuple[Any, ...]:
    """Make the arguments for a problem, the same for each seed; KernelError where they cannot be passed.

    A ProblemError of the kernel's own passes through.
    """
    try:
        made = kernel.arguments(problem, default_rng(seed))
    except ProblemError:
        raise
    except Exception as error:
        raise KernelError(f"{kernel.name}: arguments raised {type(error).__name__}: {error}") from error
    if not isinstance(made, tuple):
        raise KernelError(f"{kernel.name}: arguments gave {type(made).__name__}, not a tuple")
    for position, value in enumerate(made):
        complaint = _complaint(value)
        if complaint:
            raise KernelError(f"{kernel.name}: argument {position} {complaint}")
    return made


def ir_type(value: Any) -> str:
    """Name the IR type that a checked argument is passed as."""
    if isinstance(value, np.ndarray):
        return POINTER
    if isinstance(value, np.generic):
        size = value.dtype.itemsize
        return _FLOATS[size] if value.dtype.kind == "f" else f"i{size * 8}"
    return "i64" if type(value) is int else "double"


def ctype(name: str) -> Any:
    """Give the ctypes type that passes a value of this IR type."""
    return _CTYPES[name]


def passed(value: Any) -> Any:
    """Give what ctypes passes for a checked argument; an array must outlive its use."""
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    return ctype(ir_type(value))(value.item() if isinstance(value, np.generic) else value)


def _complaint(value: Any) -> str | None:
    if isinstance(value, np.ndarray):
        return _array_complaint(value)
    if isinstance(value, np.generic):
        fits = value.dtype.kind in "iu" or (value.dtype.kind == "f" and value.dtype.itemsize in _FLOATS)
        return (
            None
            if fits
            else f"is a scalar of dtype {value.dtype}; integers, float32 and float64 can be passed"
        )
    if type(value) is int:
        return None if -_MAX_INT <= value < _MAX_INT else f"is {value}, which does not fit into 64 bits"
    if type(value) is float:
        return None
    return f"is of type {type(value).__name__}; arrays, int, float and numpy scalars can be passed"


def _array_complaint(array: np.ndarray[Any, Any]) -> str | None:
    if array.dtype.hasobject:
        return "is an array of Python objects"
    if not array.dtype.isnative:
        return f"is an array of foreign byte order, {array.dtype}"
    return None if array.flags.c_contiguous else "is an array that is not C-contiguous"
