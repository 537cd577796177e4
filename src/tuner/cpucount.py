"""How many processors this process may use, which containers and affinity make fewer than the machine has."""

from __future__ import annotations

import contextlib
import math
import os
from pathlib import Path

_MOUNT = Path("/sys/fs/cgroup")


def usable_cpus() -> int:
    """Return the processors that affinity and the quotas of the control groups leave to this process; at least 1."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = min(_quotas(_MOUNT, _groups(Path("/proc/self/cgroup"))), default=math.inf)
    return max(1, min(count, math.ceil(quota) if quota < count else count))


def _groups(listing: Path) -> list[tuple[str, str]]:
    """Return the controllers and the path of every control group of this process."""
    with contextlib.suppress(OSError):
        rows = [line.split(":", 2) for line in listing.read_text("utf-8", "surrogateescape").splitlines()]
        return [(controllers, path) for _, controllers, path in rows]
    return []


def _quotas(mount: Path, groups: list[tuple[str, str]]) -> list[float]:
    """Return every quota, in processors, that binds: of each group and of the groups round it."""
    found = []
    for controllers, path in groups:
        if controllers and "cpu" not in controllers.split(","):
            continue
        root = mount / controllers if controllers else mount
        inner = root / path.lstrip("/")
        for folder in (inner, *inner.parents):
            if not folder.is_relative_to(root):
                break
            found += [quota for quota in (_quota(folder),) if quota is not None]
    return found


def _quota(folder: Path) -> float | None:
    with contextlib.suppress(OSError, ValueError):
        limit, period = (folder / "cpu.max").read_text(encoding="ascii").split()
        return None if limit == "max" else int(limit) / int(period)
    with contextlib.suppress(OSError, ValueError):
        time = int((folder / "cpu.cfs_quota_us").read_text(encoding="ascii"))
        return time / int((folder / "cpu.cfs_period_us").read_text(encoding="ascii")) if time > 0 else None
    return None
