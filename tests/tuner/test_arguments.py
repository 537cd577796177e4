"""Arguments are made from a seed, checked, and passed by their types."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from tuner.arguments import ctype, ir_type, make_arguments, passed
from tuner.errors import KernelError, ProblemError
from tuner.kernel import Kernel
from tuner.space import Space


def kernel_of(arguments: Any) -> Kernel:
    return Kernel("k", Space({"unroll": [1]}), lambda *_: "", entry="f", arguments=arguments)


def test_arguments_depend_on_the_seed_alone() -> None:
    """Equal seeds give equal arguments, other seeds others."""
    kernel = kernel_of(lambda problem, rng: (rng.random(problem["n"]),))
    (one,), (same,), (other,) = (make_arguments(kernel, {"n": 9}, seed) for seed in (1, 1, 2))
    assert one.tolist() == same.tolist() != other.tolist()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.zeros((2, 3)), "ptr"),
        (3, "i64"),
        (2.5, "double"),
        (np.float32(2), "float"),
        (np.float64(2), "double"),
        (np.int8(1), "i8"),
        (np.uint16(1), "i16"),
        (np.int32(1), "i32"),
        (np.uint64(2**64 - 1), "i64"),
    ],
)
def test_types(value: Any, expected: str) -> None:
    """Arrays are pointers, Python's numbers 64 bits wide, numpy's as wide as they are."""
    assert expected == ir_type(make_arguments(kernel_of(lambda *_: (value,)), {}, 0)[0])
    assert isinstance(passed(value), ctype(expected))


def test_values_arrive_whole() -> None:
    """Signs, fractions and the highest bit survive."""
    assert ctypes.c_uint64(passed(np.uint64(2**64 - 1)).value).value == 2**64 - 1
    assert passed(-(2**63)).value == -(2**63)
    assert passed(np.float32(0.1)).value == np.float32(0.1)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        ([np.zeros(1)], "list, not a tuple"),
        (None, "NoneType, not a tuple"),
        ((np.zeros(1), "x"), "argument 1 is of type str"),
        ((True,), "argument 0 is of type bool"),
        ((None,), "NoneType"),
        ((2**63,), "does not fit into 64 bits"),
        ((np.zeros((4, 4))[:, 1],), "not C-contiguous"),
        ((np.zeros((4, 4), order="F"),), "not C-contiguous"),
        ((np.array([{}]),), "Python objects"),
        ((np.zeros(2, np.dtype(np.int32).newbyteorder()),), "foreign byte order"),
        ((np.float16(1),), "float16"),
        ((np.complex64(1),), "complex64"),
        ((np.bool_(1),), "bool"),
    ],
)
def test_what_cannot_be_passed_is_refused(made: Any, message: str) -> None:
    """The error names the argument by its place and what is wrong with it."""
    with pytest.raises(KernelError, match=message):
        make_arguments(kernel_of(lambda *_: made), {}, 0)


def test_an_error_in_arguments_is_the_kernels() -> None:
    """What `arguments` raises is told as the kernel's fault; a problem that it refuses stays the problem's."""
    with pytest.raises(KernelError, match="arguments raised KeyError: 'n'"):
        make_arguments(kernel_of(lambda problem, _: problem["n"]), {}, 0)

    def refuse(*_: Any) -> Any:
        raise ProblemError("n is missing")

    with pytest.raises(ProblemError, match="n is missing"):
        make_arguments(kernel_of(refuse), {}, 0)
