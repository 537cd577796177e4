"""Read topology and caches from the text of files under /sys/devices/system/cpu."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from targetspec.host.cpuinfo import read_number
from targetspec.host.facts import Caches

CPU_ROOT = "/sys/devices/system/cpu"
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_MAX_CPUS = 1 << 16


def read_cpu_list(text: str) -> tuple[int, ...]:
    r"""Return the numbers of a kernel's list, in order; what is no range falls away.

    >>> read_cpu_list("0-2,7\n")
    (0, 1, 2, 7)
    """
    numbers: set[int] = set()
    for item in text.strip().split(","):
        low, dash, high = item.partition("-")
        first, last = read_number(low), read_number(high if dash else low)
        if first is not None and last is not None and 0 <= first <= last < _MAX_CPUS:
            numbers.update(range(first, last + 1))
    return tuple(sorted(numbers))


def read_size(text: str) -> int | None:
    """Return the bytes of a size such as "512K", None where it is none or zero.

    >>> read_size("1024K")
    1048576
    """
    text = text.strip()
    unit = _UNITS.get(text[-1:].upper(), 1)
    count = read_number(text if unit == 1 else text[:-1])
    return count * unit if count and count > 0 else None


def processors(files: Mapping[str, str]) -> tuple[int, ...]:
    """Return the numbers of the logical processors that are present."""
    return read_cpu_list(files.get(f"{CPU_ROOT}/present", "")) or read_cpu_list(
        files.get(f"{CPU_ROOT}/possible", "")
    )


def count_cores(files: Mapping[str, str]) -> int | None:
    """Return how many physical cores the sibling lists tell apart, None where none was captured."""
    siblings = {
        read_cpu_list(text) for path, text in files.items() if path.endswith("/topology/thread_siblings_list")
    }
    return len(siblings - {()}) or None


def read_caches(files: Mapping[str, str]) -> tuple[Caches, tuple[str, ...]]:
    """Return the sizes and notes; where the captured processors differ, the smallest of each level."""
    sizes: dict[int, set[int]] = {}
    lines: set[int] = set()
    for level, size, line in _data_caches(files):
        sizes.setdefault(level, set()).add(size)
        lines.update({line} if line else ())
    smallest = {level: min(values) for level, values in sizes.items()}
    differing = tuple(
        f"L{level} caches differ between cores ({', '.join(map(str, sorted(values)))} bytes): the smallest is stated"
        for level, values in sorted(sizes.items())
        if len(values) > 1
    )
    line = min(lines, default=None)
    return Caches(l1d=smallest.get(1), l2=smallest.get(2), l3=smallest.get(3), line=line), differing


def _data_caches(files: Mapping[str, str]) -> Iterator[tuple[int, int, int | None]]:
    for path, text in files.items():
        folder, slash, name = path.rpartition("/")
        if not slash or name != "size" or "/cache/index" not in folder:
            continue
        level, size = read_number(files.get(f"{folder}/level")), read_size(text)
        if level and size and files.get(f"{folder}/type", "").strip() in {"Data", "Unified"}:
            yield level, size, read_number(files.get(f"{folder}/coherency_line_size")) or None
