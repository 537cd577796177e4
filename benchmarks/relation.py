"""The relation between CPU targets beside archspec's `<=`, which gives no reasons.

python benchmarks/relation.py
"""

from __future__ import annotations

import gc
import itertools
import statistics
import time
from collections.abc import Callable
from typing import Any

from _side_by_side import medians, peer, show

from targetspec import CpuTarget

NAMES = (
    "nehalem",
    "sandybridge",
    "ivybridge",
    "haswell",
    "broadwell",
    "skylake",
    "cascadelake",
    "icelake",
    "zen2",
    "zen3",
)
_OURS = {"icelake": "icelake-server", "zen2": "znver2", "zen3": "znver3"}


def _targets() -> tuple[CpuTarget, ...]:
    return tuple(CpuTarget(triple="x86_64-unknown-linux-gnu", cpu=_OURS.get(name, name)) for name in NAMES)


def _in_turn(pairs: list[tuple[Any, Any]], call: Callable[[Any, Any], object]) -> Callable[[], object]:
    turn = itertools.cycle(pairs)
    return lambda: call(*next(turn))


def main() -> None:
    """Judge all pairs of ten CPUs."""
    ours = list(itertools.product(_targets(), repeat=2))
    theirs = None
    archspec = peer("archspec.cpu")
    calls: dict[str, Callable[[], object]] = {
        "targetspec, seen": _in_turn(ours, lambda a, b: a.compatible(b)),
        "targetspec, with all reasons": _in_turn(ours, lambda a, b: a.compatible(b).reasons),
    }
    if archspec is not None:
        theirs = list(itertools.product((archspec.TARGETS[name] for name in NAMES), repeat=2))
        calls["archspec <="] = _in_turn(theirs, lambda a, b: a <= b)
    show("verdicts on 100 pairs", medians(calls))
    new = _measure_new(theirs)
    show("verdicts on new pairs", new, (0.5, "archspec <="))


def _measure_new(theirs: list[tuple[Any, Any]] | None) -> dict[str, float]:
    """Time whole grids of pairs, made before the clock runs: no pair is judged twice."""
    found: dict[str, list[float]] = {"targetspec, new": [], "archspec <=": []}
    for _ in range(101):
        first, second = _targets(), _targets()
        for target in (*first, *second):
            target.compatible(target)
        gc.collect()
        pairs = list(itertools.product(first, second))
        start = time.perf_counter()
        for a, b in pairs:
            a.compatible(b)
        found["targetspec, new"].append((time.perf_counter() - start) / len(pairs))
        start = time.perf_counter()
        for a, b in theirs or ():
            a <= b  # noqa: B015 - only timed
        found["archspec <="].append((time.perf_counter() - start) / len(pairs))
    return {name: statistics.median(times) * 1e6 for name, times in found.items()}


if __name__ == "__main__":
    main()
