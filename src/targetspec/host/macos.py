"""Capture what a Mac says of itself: sysctl, asked by name."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator

from targetspec.host.apple_features import SYSCTL_NAMES
from targetspec.host.facts import Capture

_INTEL = ("vendor", "brand_string", "family", "model", "stepping", "signature", "core_count", "thread_count")
_INTEL_BITS = ("feature_bits", "leaf7_feature_bits", "leaf7_feature_bits_edx", "extfeature_bits")
_INTEL_LISTS = ("features", "leaf7_features", "extfeatures", "xsave.extended_state")
_TOPOLOGY = (
    *("hw.cpufamily", "hw.physicalcpu_max", "hw.logicalcpu_max", "hw.nperflevels", "hw.cachelinesize"),
    *(f"hw.{cache}cachesize" for cache in ("l1d", "l2", "l3")),
    *(f"hw.perflevel{level}.{cache}cachesize" for level in range(3) for cache in ("l1d", "l2", "l3")),
)
_SYSTEM = ("kern.osproductversion", "kern.hv_vmm_present", "sysctl.proc_translated")
_TEXTS = frozenset({"vendor", "brand_string", "features", "leaf7_features", "extfeatures"})
_LISTS = frozenset({*_INTEL_BITS, "xsave.extended_state"})
_WORD, _LONG = 4, 8


def capture() -> Capture:
    """Return the running machine's own answers; it never raises, and what it cannot ask is absent."""
    name = os.uname()
    values = dict(_values())
    return Capture(
        machine=name.machine,
        pointer_bits=64 if sys.maxsize > 1 << 32 else 32,
        system="darwin",
        system_version=values.get("kern.osproductversion", ""),
        release=name.release,
        outputs={"sysctl": "".join(f"{key}: {value}\n" for key, value in values.items())},
    )


def _values() -> Iterator[tuple[str, str]]:
    try:
        ask = ctypes.CDLL(None).sysctlbyname
    except (OSError, AttributeError):
        return
    processor = (f"machdep.cpu.{name}" for name in (*_INTEL, *_INTEL_BITS, *_INTEL_LISTS))
    for name in (*_SYSTEM, *_TOPOLOGY, *processor, *SYSCTL_NAMES):
        buffer, size = ctypes.create_string_buffer(4096), ctypes.c_size_t(4096)
        if ask(name.encode(), buffer, ctypes.byref(size), None, ctypes.c_size_t(0)) == 0:
            yield name, _decoded(name, buffer.raw[: size.value])


def _decoded(name: str, data: bytes) -> str:
    """Return the value as `sysctl` would print it: text, or one integer, or several of the size that the name has."""
    last = name.removeprefix("machdep.cpu.")
    if last in _TEXTS or name == "kern.osproductversion":
        return data.rstrip(b"\0").decode("utf-8", "replace")
    size = _WORD if last == "xsave.extended_state" or len(data) % _LONG else _LONG
    if last not in _LISTS:
        size = len(data)
    parts = (data[start : start + size] for start in range(0, len(data), size or 1))
    return " ".join(str(int.from_bytes(part, "little")) for part in parts)
