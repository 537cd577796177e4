"""Targets that the tuner's tests compile for, and small kernels for them to compile."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any, NamedTuple

import attrs
import numpy as np
from llvmlite import binding

import targetspec
from targetspec.triple import Triple

ENTRY = "f"


class _LlvmTarget(NamedTuple):
    triple: str
    cpu: str
    features: str
    abi: str


@attrs.frozen
class Machine:
    """What the tuner uses of a CPU target, until there are real ones."""

    triple: Triple
    cpu: str
    features: tuple[str, ...]
    native_vector_bits: int
    vector_registers: int


def _to_llvmlite(target: Machine) -> _LlvmTarget:
    return _LlvmTarget(str(target.triple), target.cpu, ",".join(target.features), "")


def _is_there(module: str) -> bool:
    return (Path(targetspec.__file__).parent / module).is_file()


REAL = _is_there("interop.py") and _is_there("kinds/cpu.py")
if not REAL:
    sys.modules["targetspec.interop"] = types.SimpleNamespace(to_llvmlite=_to_llvmlite)  # type: ignore[assignment]


def _machine(triple: str, cpu: str, bits: int, registers: int) -> Any:
    if REAL:
        return targetspec.parse(f"{triple} -mcpu={cpu}", dialect="llvm")
    return Machine(Triple.parse(triple), cpu, (), bits, registers)


def _host() -> Any:
    if REAL:
        return targetspec.detect_host()
    found = binding.get_host_cpu_features()
    features = tuple(("+" if there else "-") + name for name, there in sorted(found.items()))
    wide = found.get("avx512f", False)
    bits = 512 if wide else 256 if found.get("avx", False) else 128
    triple = Triple.parse(binding.get_process_triple())
    many = wide or triple.arch == "aarch64"
    return Machine(triple, binding.get_host_cpu_name(), features, bits, 32 if many else 16)


BASELINE = _machine("x86_64-unknown-linux-gnu", "x86-64", 128, 16)
AVX2 = _machine("x86_64-unknown-linux-gnu", "x86-64-v3", 256, 16)
AVX512 = _machine("x86_64-unknown-linux-gnu", "x86-64-v4", 512, 32)
NEON = _machine("aarch64-unknown-linux-gnu", "neoverse-n1", 128, 32)
HOST = _host()

_LEVELS = {"x86-64-v3": ("avx2", "fma"), "x86-64-v4": ("avx2", "fma", "avx512f", "avx512vl", "avx512dq")}


def runs_here(target: Any) -> bool:
    """Tell whether this process can run the code of one of the targets above."""
    if target is HOST:
        return True
    here = binding.get_host_cpu_features()
    arch = binding.get_process_triple().partition("-")[0]
    return arch == target.triple.arch and all(here.get(name, False) for name in _LEVELS.get(target.cpu, ()))


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


def double_reference(x: Any, n: int, y: Any) -> tuple[Any, ...]:  # noqa: ARG001
    """Give what doubling makes of x and y."""
    return None, 2 * x
