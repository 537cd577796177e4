"""The machine's measured peak: what no float32 kernel of one thread exceeds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tuner.build import compile_text
from tuner.loading import load
from tuner.timing import take_times

_ITERATIONS = 4096
_UNROLL = 4
_FEW_REGISTERS = 16


def fma_peak(stage: Callable[[str], object], target: Any) -> float:
    """Measure multiply-adds on the target's native vectors, in GFLOP/s of one thread."""
    stage("compile")
    lanes = max(int(target.native_vector_bits) // 32, 1)
    # Half of a large register file already covers four units of latency four.
    chains = 20 if target.vector_registers > _FEW_REGISTERS else 12
    code = compile_text(peak_text(lanes, chains), target, entry="peak", passes="none")
    stage("load")
    arguments = (np.zeros((chains, lanes), np.float32),)
    call = load(code, "peak", arguments).bind(arguments)
    stage("run")
    call(8)
    # The least time, where candidates get a typical one: nothing may exceed the peak.
    seconds = min(take_times(call).times)
    return 2 * lanes * chains * _UNROLL * _ITERATIONS / seconds * 1e-9


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
