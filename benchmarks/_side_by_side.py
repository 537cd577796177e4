"""Time things side by side: in turns, within one run, so that a busy machine is busy for all of them alike."""

from __future__ import annotations

import importlib
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

_ROUNDS = 25
_SECONDS = 0.004


def peer(name: str) -> Any:
    """Return a peer's module; None, said aloud, where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        print(f"# {name} is not compared: {error}")
        return None


def medians(calls: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """Return the median time of one call of each, in microseconds, over rounds that take them in turns."""
    counts = {name: _count(call) for name, call in calls.items()}
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(_ROUNDS):
        for name, call in calls.items():
            start = time.perf_counter()
            for _ in range(counts[name]):
                call()
            times[name].append((time.perf_counter() - start) / counts[name])
    return {name: statistics.median(found) * 1e6 for name, found in times.items()}


def _count(call: Callable[[], object]) -> int:
    call()
    start = time.perf_counter()
    call()
    return max(1, int(_SECONDS / max(time.perf_counter() - start, 1e-8)))


def process_medians(codes: Mapping[str, str], rounds: int = 21) -> dict[str, float]:
    """Return the median time of a whole Python process for each piece of code, in microseconds, in turns."""
    times: dict[str, list[float]] = {name: [] for name in codes}
    for _ in range(rounds):
        for name, code in codes.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(found) * 1e6 for name, found in times.items()}


def show(title: str, times: Mapping[str, float], *limits: tuple[float, str]) -> None:
    """Print the times, the first of which is ours; each limit is (factor, peer): ours is to be within it."""
    print(f"\n{title}")
    ours = next(iter(times.values()))
    for name, taken in times.items():
        print(f"  {name:44s} {taken:10.2f} us   {ours / taken:6.2f} of it")
    for factor, name in limits:
        if name in times:
            said = "within" if ours <= factor * times[name] else "NOT within"
            print(f"  {said} {factor:g} x {name}")
