"""Under user-mode emulation the emulated processor is detected, not the machine below, whose /proc/cpuinfo is shown."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EMULATOR = shutil.which("qemu-x86_64-static") or shutil.which("qemu-x86_64")
LOADER = Path("/lib64/ld-linux-x86-64.so.2")

pytestmark = [
    pytest.mark.skipif(EMULATOR is None, reason="no qemu-x86_64 is installed"),
    pytest.mark.skipif(platform.machine() != "x86_64", reason="the interpreter here is no x86-64 one"),
    pytest.mark.skipif(not LOADER.exists(), reason="no glibc loader here to ask for levels"),
]

SCRIPT = """
import sys
from targetspec.host.detection import detect_facts
from targetspec.host.x86 import x86_level
facts = detect_facts()
print(facts.identity.cpu, x86_level(facts.features), int(any(note.startswith("emulated") for note in facts.notes)))
"""


def emulated(model: str, *command: str) -> str:
    """Return what a command prints on an emulated processor; the emulator's own warnings go elsewhere."""
    done = subprocess.run(
        [str(EMULATOR), "-cpu", model, *command], capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("Conroe", "core2"),
        ("Penryn", "penryn"),
        ("Nehalem", "nehalem"),
        ("Westmere", "westmere"),
        ("SandyBridge", "sandybridge"),
        ("IvyBridge", "ivybridge"),
        ("Haswell", "haswell"),
        ("Broadwell", "broadwell"),
        ("Skylake-Client", "skylake"),
        ("Denverton", "goldmont"),
        ("Opteron_G1", "k8-sse3"),
        ("Opteron_G5", "bdver2"),
        ("EPYC", "znver1"),
        ("EPYC-Rome", "znver2"),
    ],
)
def test_an_emulated_process_tells_the_truth(model, name):
    """The model is the emulated one, and the level is the one that the emulated loader finds."""
    said = emulated(model, str(LOADER), "--help")
    levels = re.findall(r"(x86-64-v\d) \(supported", said)
    if "x86-64-v" not in said:
        pytest.skip("this loader does not print levels")
    expected = [name, max(levels, default="x86-64"), "1"]
    assert expected == emulated(model, sys.executable, "-c", SCRIPT).split()
