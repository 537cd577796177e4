"""What it costs a program to import the library, and to use a table for the first time.

    python benchmarks/imports.py

Whole processes, so that nothing is warm but the disk.
"""

from __future__ import annotations

import statistics
import subprocess
import sys

from _side_by_side import process_medians, show

from targetspec.cpu_tables import FAMILIES

_ALLOWED = 10
_FIRST_USE = """
import time
from targetspec import CpuTarget
start = time.perf_counter()
from targetspec.cpu_tables import table
held = table({family!r})
held.cpu_mask(next(iter(held.cpus)), 64)
print(time.perf_counter() - start)
"""


def imports() -> None:
    """Import the library, and what its users would import beside."""
    times = process_medians(
        {
            "targetspec": "import targetspec",
            "attrs": "import attrs",
            "nothing": "pass",
            "targetspec, and a CpuTarget": "import targetspec; targetspec.CpuTarget(triple='x86_64-linux-gnu')",
            "targetspec, and a parse": "import targetspec; targetspec.parse('x86_64-linux-gnu -mcpu=haswell')",
            "targetspec, and loads": 'import targetspec; targetspec.loads(\'{"kind": "cuda"}\')',
            "cattrs": "import cattrs",
            "archspec.cpu": "import archspec.cpu",
        }
    )
    show("import, whole process", times)
    more = (times["targetspec"] - times["attrs"]) / 1e3
    print(f"  {'within' if more <= _ALLOWED else 'NOT within'} {_ALLOWED} ms over attrs: {more:+.1f} ms")


def tables() -> None:
    """The first use of each architecture's table."""
    print("\nfirst use of a table, in a fresh process (at most 5 ms)", flush=True)
    for family in FAMILIES:
        command = [sys.executable, "-c", _FIRST_USE.format(family=family)]
        runs = [subprocess.run(command, check=True, capture_output=True, text=True) for _ in range(7)]
        print(
            f"  {family:44s} {statistics.median(float(run.stdout) for run in runs) * 1e3:10.2f} ms",
            flush=True,
        )


if __name__ == "__main__":
    imports()
    tables()
