"""Read a process's auxiliary vector, the kernel's own word on what the program may use."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping

HWCAP, HWCAP2, HWCAP3 = 16, 26, 29
"""Numbers of the entries (Linux, include/uapi/linux/auxvec.h)."""


def read_auxv(data: bytes, *, pointer_bits: int) -> Mapping[int, int]:
    """Return entry number to value, up to the end mark; bytes after it or short of a pair are ignored."""
    entry = struct.Struct("=QQ" if pointer_bits == 64 else "=II")  # noqa: PLR2004
    whole = len(data) - len(data) % entry.size
    values: dict[int, int] = {}
    for number, value in entry.iter_unpack(data[:whole]):
        if number == 0:
            break
        values[number] = value
    return values


def names_of_bits(value: int, names: tuple[str, ...]) -> Iterator[str]:
    """Yield the name of every bit that is set, lowest first."""
    return (name for bit, name in enumerate(names) if value >> bit & 1)
