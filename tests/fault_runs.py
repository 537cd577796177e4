"""How long the tests of faults are: short in `make test`, in full in `make faults`; and the processes they look for."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FULL = os.environ.get("FAULTS") == "full"
"""Set by `make faults`."""

HAS_PROC = Path("/proc/self/environ").exists()


def marked(mark: str) -> list[int]:
    """Find the other processes whose environment holds the mark."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                if mark.encode() in (folder / "environ").read_bytes():
                    found.append(int(folder.name))
            except OSError:
                continue
    return found


def left_after(mark: str, seconds: float) -> list[int]:
    """Find what is still there of the marked processes after so many seconds, or none as soon as there is none."""
    ends = time.monotonic() + seconds
    while (left := marked(mark)) and time.monotonic() < ends:
        time.sleep(0.02)
    return left


@contextmanager
def marking() -> Iterator[str]:
    """Mark the environment of every process that starts from here."""
    name, value = "TUNER_TEST_MARK", f"{os.getpid()}-{time.monotonic_ns()}"
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield f"{name}={value}"
    finally:
        os.environ.pop(name)
        if before is not None:
            os.environ[name] = before


def descriptors() -> int:
    """Count the open descriptors of this process."""
    return len(list(Path("/dev/fd").iterdir()))
