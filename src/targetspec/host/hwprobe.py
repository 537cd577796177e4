"""Ask the Linux kernel of a RISC-V machine what every hart that may run this process has."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping

from targetspec.host.riscv import KEYS

_SYSTEM_CALL = 258


class _Pair(ctypes.Structure):
    _fields_ = (("key", ctypes.c_int64), ("value", ctypes.c_uint64))


def run_hwprobe() -> Mapping[int, int]:
    """Return the kernel's answers by key, {} before Linux 6.4; a key that it does not know is left out."""
    pairs = (_Pair * len(KEYS))(*(_Pair(key, 0) for key in KEYS))
    try:
        library = ctypes.CDLL(None, use_errno=True)
        no_set = (ctypes.c_size_t(0), ctypes.c_void_p(None), ctypes.c_uint(0))
        refused = library.syscall(ctypes.c_long(_SYSTEM_CALL), pairs, ctypes.c_size_t(len(KEYS)), *no_set)
    except (OSError, AttributeError):
        return {}
    return {} if refused else {pair.key: pair.value for pair in pairs if pair.key >= 0}
