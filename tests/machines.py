"""Targets that the tuner's tests compile for, and small kernels for them to compile."""

from __future__ import annotations

from typing import Any

import numpy as np

from targetspec import CpuTarget, detect_host

ENTRY = "f"


BASELINE = CpuTarget(triple="x86_64-unknown-linux-gnu", cpu="x86-64")
AVX2 = CpuTarget(triple="x86_64-unknown-linux-gnu", cpu="x86-64-v3")
AVX512 = CpuTarget(triple="x86_64-unknown-linux-gnu", cpu="x86-64-v4")
NEON = CpuTarget(triple="aarch64-unknown-linux-gnu", cpu="neoverse-n1")
HOST = detect_host()


def runs_here(target: CpuTarget) -> bool:
    """Tell whether this process can run code for one of the targets above."""
    return bool(target.compatible(HOST))


def no_stage(_: str) -> None:
    """Take no notice of the stages."""


def map_ir(body: str, *, entry: str = ENTRY) -> str:
    """Give the IR of a kernel (x, count, y) whose loop over float64 elements %xi runs the body, which defines %yi."""
    return f"""
define void @{entry}(ptr %x, i64 %n, ptr %y) {{
entry:
  %empty = icmp eq i64 %n, 0
  br i1 %empty, label %done, label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %px = getelementptr double, ptr %x, i64 %i
  %py = getelementptr double, ptr %y, i64 %i
  %xi = load double, ptr %px
{body}
  store double %yi, ptr %py
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""


DOUBLING = map_ir("  %yi = fadd double %xi, %xi")


def map_arguments(problem: dict[str, int], rng: np.random.Generator) -> tuple[Any, ...]:
    """Give x, its length and y."""
    return rng.random(problem["n"]), problem["n"], np.zeros(problem["n"])


def double_reference(x: Any, n: int, y: Any) -> tuple[Any, ...]:
    """Give what doubling makes of x and y."""
    return None, 2 * x
