"""Capture what other Unix systems say of themselves: the kernel's name, and FreeBSD's boot messages."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from targetspec.host.facts import Capture

_BOOT_MESSAGES = "/var/run/dmesg.boot"
_MAX_TEXT = 1 << 20


def capture() -> Capture:
    """Return the running machine's own answers; it never raises, and what it cannot read is absent."""
    uname: Callable[[], os.uname_result] | None = getattr(os, "uname", None)
    name = uname() if uname is not None else None
    return Capture(
        machine=name.machine if name else "",
        pointer_bits=64 if sys.maxsize > 1 << 32 else 32,
        byte_order=sys.byteorder,
        system=name.sysname.lower() if name else sys.platform,
        release=name.release if name else "",
        outputs={"dmesg": _read(_BOOT_MESSAGES)},
    )


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - pathlib costs more than the read
            return file.read(_MAX_TEXT)
    except OSError:
        return ""
