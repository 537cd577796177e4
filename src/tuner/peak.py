"""The machine's measured peaks, a roofline: what no float32 kernel of one thread computes, or moves, faster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tuner.build import compile_text
from tuner.caches import largest_cache
from tuner.loading import load
from tuner.timing import take_times

_ITERATIONS = 4096
_UNROLL = 4
_FEW_REGISTERS = 16
_STREAMS = 8
# So many times the largest cache: what is read again has been evicted.
_CACHES = 4


def fma_peak(stage: Callable[[str], object], target: Any) -> float:
    """Measure multiply-adds on the target's native vectors, in GFLOP/s of one thread."""
    stage("compile")
    lanes = _lanes(target)
    # Half of a large register file already covers four units of latency four.
    chains = 20 if (target.vector_registers or 0) > _FEW_REGISTERS else 12
    code = compile_text(peak_text(lanes, chains), target, entry="peak", passes="none")
    stage("load")
    arguments = (np.zeros((chains, lanes), np.float32),)
    call = load(code, "peak", arguments).bind(arguments)
    stage("run")
    call(8)
    # The least time, where candidates get a typical one: nothing may exceed the peak.
    seconds = min(take_times(call).times)
    return 2 * lanes * chains * _UNROLL * _ITERATIONS / seconds * 1e-9


def memory_peak(stage: Callable[[str], object], target: Any) -> float:
    """Measure reading from memory by one thread, in GB/s: a sum over more than the caches hold."""
    stage("compile")
    lanes = _lanes(target)
    step = lanes * _STREAMS
    count = max(_CACHES * largest_cache() // 4 // step, 1) * step
    code = compile_text(read_text(lanes, count), target, entry="peak", passes="none")
    stage("load")
    arguments = (np.ones(count, np.float32), np.zeros((_STREAMS, lanes), np.float32))
    call = load(code, "peak", arguments).bind(arguments)
    stage("run")
    call(1)
    return 4 * count / min(take_times(call).times) * 1e-9


def read_text(lanes: int, count: int) -> str:
    """Give the IR of a loop that adds so many floats up, in vectors and independent sums."""
    vector = f"<{lanes} x float>"
    head, body, tail = [], [], []
    for stream in range(_STREAMS):
        head.append(f"  %s{stream} = phi {vector} [ zeroinitializer, %entry ], [ %t{stream}, %loop ]")
        body.append(f"  %j{stream} = add i64 %i, {stream * lanes}")
        body.append(f"  %p{stream} = getelementptr float, ptr %x, i64 %j{stream}")
        body.append(f"  %v{stream} = load {vector}, ptr %p{stream}, align 4")
        body.append(f"  %t{stream} = fadd {vector} %s{stream}, %v{stream}")
        tail.append(f"  %q{stream} = getelementptr {vector}, ptr %out, i64 {stream}")
        tail.append(f"  store {vector} %t{stream}, ptr %q{stream}, align 4")
    lines = "\n".join([*head, *body])
    return f"""
define void @peak(ptr %x, ptr %out) {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
{lines}
  %next = add i64 %i, {_STREAMS * lanes}
  %more = icmp ult i64 %next, {count}
  br i1 %more, label %loop, label %exit
exit:
{chr(10).join(tail)}
  ret void
}}
"""


def peak_text(lanes: int, chains: int) -> str:
    """Give the IR of a loop of so many independent chains of multiply-adds, each on its own vector."""
    vector = f"<{lanes} x float>"
    head, body, tail = [], [], []
    for chain in range(chains):
        head.append(f"  %x{chain} = phi {vector} [ zeroinitializer, %entry ], [ %x{chain}.{_UNROLL}, %loop ]")
        tail.append(f"  %p{chain} = getelementptr {vector}, ptr %out, i64 {chain}")
        tail.append(f"  store {vector} %x{chain}.{_UNROLL}, ptr %p{chain}, align 4")
    for step in range(_UNROLL):
        for chain in range(chains):
            before = f"%x{chain}.{step}" if step else f"%x{chain}"
            body.append(
                f"  %x{chain}.{step + 1} = call {vector} @llvm.fmuladd.v{lanes}f32"
                f"({vector} {before}, {vector} %scale, {vector} %scale)"
            )
    lines = "\n".join([*head, *body])
    return f"""
define void @peak(ptr %out) {{
entry:
  %scale = load {vector}, ptr %out, align 4
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
{lines}
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, {_ITERATIONS}
  br i1 %more, label %loop, label %exit
exit:
{chr(10).join(tail)}
  ret void
}}
declare {vector} @llvm.fmuladd.v{lanes}f32({vector}, {vector}, {vector})
"""


def _lanes(target: Any) -> int:
    return max(int(target.native_vector_bits or 0) // 32, 1)
