"""sgemm: float32 C += A @ B for row-major matrices of any shape, on one thread."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tuner.errors import KernelError, ProblemError
from tuner.kernel import Kernel, Work
from tuner.kernels.sgemm_ir import Plan, product_text
from tuner.space import Space

MAX_SIZE = 2**20
"""The largest m, n or k."""

MAX_ELEMENTS = 2**26
"""The most elements that the three matrices may have together: 256 MiB of float32."""

_SIZES = ("m", "n", "k")
_ENTRY = "sgemm"
_WIDEST = 512
_LINE_LANES = 16
_REGISTERS = 32
_BLOCK_ELEMENTS = 2**18
_TILE_STEPS = 120
_SHORTEST_TILE = 8
_MANY_ROWS = 60
_MARGIN = 8.0

Array = np.ndarray[Any, np.dtype[np.float32]]


def _registers(mr: int, nr: int) -> int:
    """Count what the micro-kernel keeps in registers: the tile, a row of B, one element of A in all lanes."""
    return mr * nr + nr + 1


SPACE = Space(
    {
        "mr": [2, 3, 4, 5, 6, 8, 9, 10, 12, 14],
        "nr": [1, 2, 3, 4, 6],
        "kc": [64, 128, 192, 256, 384, 512],
        "nc": [128, 192, 256, 384, 512, 768, 1024],
        "mc": [2, 3, 4, 5, 6, 8, 9, 10, 12, 14, 60, 120, 126, 240, 252, 480, 504],
        "pack_a": [False, True],
        "pack_b": [False, True],
        "unroll": [1, 2, 4],
        "passes": ["none", "O3"],
    },
    [
        lambda mr, nr: _registers(mr, nr) <= _REGISTERS,
        # Fewer sums than latency times units of a multiply-add leave the units idle.
        lambda mr, nr: mr * nr >= _SHORTEST_TILE,
        # Longer code than this is compiled for longer than it is worth.
        lambda mr, nr, unroll: mr * nr * unroll <= _TILE_STEPS,
        lambda nr, nc: nc % (nr * _LINE_LANES) == 0,
        lambda mr, mc: mc % mr == 0,
        # Rows that are not packed are taken one panel after the other whatever the block; a block of few panels is
        # between the two ends.
        lambda mr, mc, pack_a: mc == mr or (pack_a and mc >= _MANY_ROWS),
        # One MiB: the second-level cache of today's large cores.
        lambda mc, nc, kc: (mc + nc) * kc <= _BLOCK_ELEMENTS,
    ],
)
"""Blocks (mc rows of A, nc columns of B, kc deep) in elements; the register tile is mr rows by nr vectors."""


def read_problem(problem: object) -> tuple[int, int, int]:
    """Give m, n and k; ProblemError, which says all that is wrong, for anything but a mapping of just these."""
    if not isinstance(problem, Mapping):
        raise ProblemError(f"sgemm: a problem is a mapping of m, n and k to sizes, not {problem!r}")
    faults = [f"{key!r} is unknown" for key in problem if key not in _SIZES]
    faults += [f"{name} is missing" for name in _SIZES if name not in problem]
    faults += [
        f"{name} is {problem[name]!r}, not an int from 1 to {MAX_SIZE}"
        for name in _SIZES
        if name in problem and not (type(problem[name]) is int and 1 <= problem[name] <= MAX_SIZE)
    ]
    if faults:
        raise ProblemError(f"sgemm: {'; '.join(faults)} (the problem is m, n and k)")
    m, n, k = (problem[name] for name in _SIZES)
    if m * k + k * n + m * n > MAX_ELEMENTS:
        raise ProblemError(
            f"sgemm: matrices of {m}x{k}, {k}x{n} and {m}x{n} have more than {MAX_ELEMENTS} elements together"
        )
    return m, n, k


def emit(config: Mapping[str, Any], target: Any, problem: object) -> str:
    """Give the IR of a configuration for vectors of the target's width, at most 512 bits."""
    m, n, k = read_problem(problem)
    lanes = _lanes(target)
    if target.triple is None:
        raise KernelError("sgemm: the target states no triple, and with it no size of a pointer")
    mr, kc = min(config["mr"], m), min(config["kc"], k)
    plan = Plan(
        m=m,
        n=n,
        k=k,
        lanes=lanes,
        mr=mr,
        nr=config["nr"] * lanes,
        mc=config["mc"] if mr == config["mr"] else mr,
        nc=config["nc"],
        kc=kc,
        unroll=config["unroll"] if config["unroll"] <= kc else 1,
        pack_a=config["pack_a"],
        pack_b=config["pack_b"],
        size_bits=target.triple.pointer_bits,
    )
    return product_text(plan, _ENTRY)


def emit_plain(target: Any, problem: object) -> str:  # noqa: ARG001 - the same for every target
    """Give the IR of the textbook's three loops, as a C compiler would for pointers that do not alias."""
    m, n, k = read_problem(problem)
    return f"""
define void @{_ENTRY}(ptr noalias readonly %a, ptr noalias readonly %b, ptr noalias %c) {{
entry:
  br label %row
row:
  %i = phi i64 [ 0, %entry ], [ %i.next, %row.done ]
  %a.row = mul nuw nsw i64 %i, {k}
  %c.row = mul nuw nsw i64 %i, {n}
  br label %column
column:
  %j = phi i64 [ 0, %row ], [ %j.next, %column.done ]
  %c.place = add nuw nsw i64 %c.row, %j
  %c.at = getelementptr inbounds float, ptr %c, i64 %c.place
  br label %step
step:
  %p = phi i64 [ 0, %column ], [ %p.next, %step ]
  %a.place = add nuw nsw i64 %a.row, %p
  %a.at = getelementptr inbounds float, ptr %a, i64 %a.place
  %left = load float, ptr %a.at, align 4
  %b.row = mul nuw nsw i64 %p, {n}
  %b.place = add nuw nsw i64 %b.row, %j
  %b.at = getelementptr inbounds float, ptr %b, i64 %b.place
  %right = load float, ptr %b.at, align 4
  %before = load float, ptr %c.at, align 4
  %after = call float @llvm.fmuladd.f32(float %left, float %right, float %before)
  store float %after, ptr %c.at, align 4
  %p.next = add nuw nsw i64 %p, 1
  %p.more = icmp ult i64 %p.next, {k}
  br i1 %p.more, label %step, label %column.done
column.done:
  %j.next = add nuw nsw i64 %j, 1
  %j.more = icmp ult i64 %j.next, {n}
  br i1 %j.more, label %column, label %row.done
row.done:
  %i.next = add nuw nsw i64 %i, 1
  %i.more = icmp ult i64 %i.next, {m}
  br i1 %i.more, label %row, label %done
done:
  ret void
}}
declare float @llvm.fmuladd.f32(float, float, float)
"""


def arguments(problem: object, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Give a, b and c with elements spread evenly over [-1, 1)."""
    m, n, k = read_problem(problem)
    a, b, c = (2 * rng.random(shape, np.float32) - 1 for shape in ((m, k), (k, n), (m, n)))
    return a, b, c


def reference(a: Array, b: Array, c: Array) -> tuple[None, None, Any]:
    """Give c + a @ b in double precision."""
    return None, None, c + a.astype(np.float64) @ b.astype(np.float64)


def tolerance(a: Array, b: Array, c: Array) -> tuple[None, None, Any]:
    """Bound the error of each element by that of a float32 sum in any order.

    The certain bound is k units of roundoff times |c| + |a| @ |b|; errors of random sign stay, with a probability that
    needs no doubt, within a few times its root (Higham and Mary, "A New Approach to Probabilistic Rounding Error
    Analysis", 2019), and only that is small enough to find a product left out of a long sum.
    """
    roundoff = float(np.finfo(np.float32).eps) / 2
    length = a.shape[1] + 1
    return None, None, _MARGIN * length**0.5 * roundoff * (np.abs(c) + np.abs(a) @ np.abs(b))


def work(problem: object) -> Work:
    """Count a multiplication and an addition for each step, and every element moved once, those of c twice."""
    m, n, k = read_problem(problem)
    return Work(2 * m * n * k, 4 * (m * k + k * n + 2 * m * n))


def needs(config: Mapping[str, Any], problem: object) -> dict[str, int]:  # noqa: ARG001 - the same for every shape
    """Ask for the registers that the micro-kernel keeps its tile in."""
    return {"vector_registers": _registers(config["mr"], config["nr"])}


def choose_passes(config: Mapping[str, Any]) -> str:
    """Give the pass pipeline, which is one of the parameters."""
    return str(config["passes"])


def multiply(a: Array, b: Array, c: Array) -> None:
    """Have numpy multiply into c: the product alone, which is a little less than the kernel does."""
    np.matmul(a, b, out=c)


def _lanes(target: Any) -> int:
    bits = min(int(target.native_vector_bits or 0), _WIDEST)
    # A power of two, one lane where there are no vectors.
    return 1 << max(bits // 32, 1).bit_length() - 1


SGEMM = Kernel(
    "sgemm",
    SPACE,
    emit,
    entry=_ENTRY,
    arguments=arguments,
    reference=reference,
    work=work,
    needs=needs,
    tolerance=tolerance,
    passes=choose_passes,
    plain=emit_plain,
    peers={"numpy": multiply},
)
