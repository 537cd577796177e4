"""Real instructions under qemu's user-mode emulator: no yes ends in an illegal one."""

from __future__ import annotations

import functools
import platform
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from targetspec import CpuTarget, Target, loads

EMULATOR = shutil.which("qemu-x86_64-static") or shutil.which("qemu-x86_64")
SOURCE = Path(__file__).with_name("every_instruction.c")
SIGILL = -4
CPUS = [
    "x86-64",
    "x86-64-v2",
    "x86-64-v3",
    "nocona",
    "core2",
    "nehalem",
    "westmere",
    "sandybridge",
    "haswell",
    "skylake",
    "silvermont",
    "tremont",
    "amdfam10",
    "btver2",
    "bdver2",
    "znver1",
    "znver3",
]
MODELS = [
    "qemu64",
    "Conroe",
    "Penryn",
    "Nehalem",
    "Westmere",
    "SandyBridge",
    "Haswell",
    "Skylake-Client",
    "Denverton",
    "Opteron_G3",
    "Opteron_G5",
    "EPYC",
    "max",
]
SCRIPT = "import targetspec; print(targetspec.dumps(targetspec.detect_host()))"

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.timeout(900),
    pytest.mark.skipif(EMULATOR is None, reason="no qemu-x86_64 is installed"),
    pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc is installed"),
    pytest.mark.skipif(platform.machine() != "x86_64", reason="the compiler here makes no x86-64 code"),
]


@functools.cache
def _machine(model: str) -> Target:
    """Return what this library detects on an emulated processor: an interpreter runs there, and CPUID is the model's."""
    command = [str(EMULATOR), "-cpu", model, sys.executable, "-c", SCRIPT]
    return loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@functools.cache
def _accepts(name: str) -> bool:
    command = ["gcc", f"-march={name}", "-E", "-xc", "/dev/null"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _build(folder: Path, name: str) -> str:
    binary = str(folder / name)
    command = ["gcc", "-O3", "-ffast-math", "-static", f"-march={name}", str(SOURCE), "-o", binary]
    subprocess.run(command, check=True, capture_output=True)
    return binary


@functools.cache
def _runs(binary: str, model: str) -> int:
    done = subprocess.run(
        [str(EMULATOR), "-cpu", model, binary], capture_output=True, check=False, timeout=120
    )
    return done.returncode


def test_no_yes_ends_in_an_illegal_instruction(tmp_path):
    """Programs that use all that a CPU has, on a dozen emulated ones: a yes runs to its end, and a no may not."""
    ended, wrong = Counter[tuple[str, int]](), []
    for name in filter(_accepts, CPUS):
        code = CpuTarget(triple="x86_64-unknown-linux-gnu", cpu=name, static=True)
        binary = _build(tmp_path, name)
        for model in MODELS:
            verdict, status = code.compatible(_machine(model)), _runs(binary, model)
            ended[verdict.answer, status] += 1
            if verdict and status:
                wrong.append((name, model, status))
    assert [] == wrong
    assert ended["yes", 0] >= len(CPUS)
    # The programs do use what they are built for: most of what is refused would have died.
    assert ended["no", SIGILL] > ended["no", 0]
