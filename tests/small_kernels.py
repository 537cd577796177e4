"""Kernels for tests: tiny, quick to compile, and some of them at fault."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np

from tuner.errors import ProblemError
from tuner.kernel import Kernel, Work
from tuner.space import Space

PROBLEM = {"n": 64}

_LOOP = """
define void @double(ptr %x, ptr %y) {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
{body}
  %next = add i64 %i, {step}
  %more = icmp ult i64 %next, {n}
  br i1 %more, label %loop, label %exit
exit:
  ret void
}}
"""
_STEP = """
  %j{at} = add i64 %i, {at}
  %from{at} = getelementptr float, ptr %x, i64 %j{at}
  %to{at} = getelementptr float, ptr %y, i64 %j{at}
  %v{at} = load float, ptr %from{at}, align 4
  %w{at} = fadd float %v{at}, %v{at}
  store float %w{at}, ptr %to{at}, align 4"""
_FAULTS = {
    "signal": "  store volatile i32 0, ptr inttoptr (i64 8 to ptr), align 4\n  ret void",
    "timeout": "  br label %again\nagain:\n  br label %again",
    "wrong": "  ret void",
    "unlinked": "  %r = load float, ptr %x\n  call void @llvm.x86.no.such(float %r)\n  ret void",
    "exit": '  %r = call i64 asm "", "={no such register}"()\n  ret void',
}


def double_text(step: int, n: int) -> str:
    """Give IR for y = x + x in steps of so many elements, a divisor of n."""
    return _LOOP.format(body="".join(_STEP.format(at=at) for at in range(step)), step=step, n=n)


def double_often(times: int, n: int) -> str:
    """Give IR for y = x + x, each element so many times."""
    steps = _STEP.format(at=0).replace("load float", "load volatile float")
    bodies = [steps.replace("%", f"%r{turn}.").replace(f"%r{turn}.i,", "%i,") for turn in range(times)]
    bodies = [
        body.replace(f"%r{turn}.x,", "%x,").replace(f"%r{turn}.y,", "%y,") for turn, body in enumerate(bodies)
    ]
    return _LOOP.format(body="".join(bodies), step=1, n=n)


def emit(config: Mapping[str, Any], target: object, problem: Mapping[str, int]) -> str:
    """Give the IR of a configuration, at fault where it says so."""
    fault = config.get("fault", "none")
    if fault == "error":
        return "this is no IR"
    if fault in _FAULTS:
        declared = "declare void @llvm.x86.no.such(float)\n" if fault == "unlinked" else ""
        return f"{declared}define void @double(ptr %x, ptr %y) {{\n{_FAULTS[fault]}\n}}\n"
    return double_text(config["step"], problem["n"])


def arguments(problem: Mapping[str, Any], rng: np.random.Generator) -> tuple[Any, ...]:
    """Give x and y."""
    if set(problem) != {"n"} or type(problem["n"]) is not int or problem["n"] % 8 or problem["n"] < 8:
        raise ProblemError(f"double: n is a multiple of 8, not {dict(problem)}")
    return rng.random(problem["n"], np.float32), np.zeros(problem["n"], np.float32)


def reference(x: Any, y: Any) -> tuple[Any, ...]:
    """Give x + x for y."""
    return None, x + x


def work(problem: Mapping[str, int]) -> Work:
    """Count one addition for each element."""
    return Work(problem["n"], 8 * problem["n"])


def make(name: str, space: Space, **more: Any) -> Kernel:
    """Make a kernel over a space of steps and faults."""
    return Kernel(
        name,
        space,
        emit,
        **{"entry": "double", "arguments": arguments, "reference": reference, "work": work, "passes": "none"}
        | more,
    )


DOUBLE = make("double", Space({"step": [1, 2, 4, 8]}))
FAULTY = make(
    "faulty",
    Space({"fault": ["none", "signal", "timeout", "wrong", "error", "exit", "unlinked"], "step": [1]}),
)
MIXED = make("mixed", Space({"step": [1, 2, 4, 8], "fault": ["none", "wrong", "error", "exit"]}))


def emit_rudely(config: Mapping[str, Any], target: object, problem: Mapping[str, int]) -> str:
    """Print, and die for one configuration."""
    sys.stdout.write("a word from emit\n")
    if config["step"] == 8:
        os._exit(7)
    return emit(config, target, problem)


def fail(*_: object) -> Any:
    """Raise an error of two lines."""
    raise RuntimeError("first line\nsecond line")


def emit_anew(config: Mapping[str, Any], target: object, problem: Mapping[str, int]) -> str:
    """Emit another text each time."""
    return f"; {next(_COUNTS)}\n{emit(config, target, problem)}"


_COUNTS = itertools.count()
UNSTABLE = attrs.evolve(DOUBLE, emit=emit_anew)
RUDE = attrs.evolve(DOUBLE, emit=emit_rudely)
FIRST_FAULTY = make("first-faulty", Space({"fault": ["signal", "none"], "step": [1]}))
ALL_FAULTY = make("all-faulty", Space({"fault": ["error", "wrong"], "step": [1]}))
WORK_FAILS = attrs.evolve(DOUBLE, work=fail)
NEEDS_FAIL = attrs.evolve(DOUBLE, needs=fail)
NEEDS_NOTHING = attrs.evolve(DOUBLE, needs=lambda *_: None)
LONG = make("long", Space({"step": [1, 2, 4, 8], "copy": list(range(500))}))
