"""Whether the tuner tells kernels apart: pairs whose true ratio is known, decided a hundred times under load.

    python benchmarks/decisions.py [--decisions 100] [--busy 4]

Right: the faster one is found. Wrong: the slower one is taken for the faster one. Else: "not separated".
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import targetspec
from tuner.build import compile_text
from tuner.caches import largest_cache
from tuner.kernel import Kernel
from tuner.measure import measure_candidate
from tuner.racing import race
from tuner.space import Space
from tuner.timing import take_times, typical

_BUSY = "while True: pass"
_CHAIN = """
define void @f(ptr %x, ptr %y) {{
entry:
  %start = load i64, ptr %x
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %a = phi i64 [ %start, %entry ], [ %c, %loop ]
  %b = mul i64 %a, 6364136223846793005
  %c = add i64 %b, 1442695040888963407
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, {count}
  br i1 %more, label %loop, label %exit
exit:
  store i64 %c, ptr %y
  ret void
}}
"""
_SUM = """
define void @f(ptr %x, ptr %y) {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %a = phi i64 [ 0, %entry ], [ %b, %loop ]
  %p = getelementptr i64, ptr %x, i64 %i
  %v = load i64, ptr %p
  %b = xor i64 %a, %v
  %next = add i64 %i, 8
  %more = icmp ult i64 %next, {count}
  br i1 %more, label %loop, label %exit
exit:
  store i64 %b, ptr %y
  ret void
}}
"""


def make(elements: int) -> Kernel:
    """Make a kernel that reads so many integers and gives one; nothing checks which."""
    return Kernel(
        "decision",
        Space({"count": [1]}),
        lambda *_: "",
        entry="f",
        arguments=lambda _, rng: (rng.integers(1, 9, elements), np.zeros(1, np.int64)),
    )


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Keep so many other processes computing."""
    others = [subprocess.Popen([sys.executable, "-c", _BUSY]) for _ in range(count)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def no_stage(_: str) -> None:
    """Take no notice of the stages."""


def decide(
    name: str, text: str, counts: tuple[int, int], elements: int, options: Any, seconds: float
) -> None:
    """Race a pair many times and print what was decided; the first of the pair is the faster one, or they are equal."""
    target, kernel = targetspec.detect_host(), make(elements)
    codes = [compile_text(text.format(count=count), target, entry="f", passes="none") for count in counts]
    right = wrong = 0
    took = []
    for number in range(options.decisions):
        turned = number % 2
        begin = time.monotonic()
        result = race(no_stage, kernel, {}, target, codes[::-1] if turned else codes, seconds=seconds)
        took.append(time.monotonic() - begin)
        if result.separated:
            right += result.order[0] == turned
            wrong += result.order[0] != turned
    if counts[0] == counts[1]:
        right, wrong = options.decisions - right - wrong, right + wrong
    took.sort()
    print(
        f"{name:44} right {right:3}, wrong {wrong:3} of {options.decisions};"
        f" median {took[len(took) // 2] * 1e3:6.0f} ms, longest {took[-1] * 1e3:6.0f} ms",
        flush=True,
    )


def sessions(options: Any) -> None:
    """Compare the cost of a kernel of 8 ms between an idle and a loaded machine, by our statistic and by the wall."""
    target, kernel = targetspec.detect_host(), make(8)
    for name, text, size in (("compute", _CHAIN, 8), ("memory", _SUM, 1 << 24)):
        kernel = make(size)
        count = 5_000_000 if name == "compute" else size
        code = compile_text(text.format(count=count), target, entry="f", passes="none")
        figures = {}
        for state, others in (("idle", 0), ("loaded", options.busy)):
            ours, walls = [], []
            with busy(others):
                for _ in range(7):
                    begin = time.monotonic()
                    measured = measure_candidate(no_stage, kernel, {}, target, code)
                    ours.append(measured.cost or 0.0)
                    walls.append((time.monotonic() - begin) / (2 * 2 + 2 + len(measured.times)))
            figures[state] = statistics.median(ours), statistics.fmean(walls)
        moved = [figures["loaded"][n] / figures["idle"][n] - 1 for n in range(2)]
        print(
            f"{name + '-bound kernel, idle to loaded':44} {figures['idle'][0] * 1e3:.2f} to"
            f" {figures['loaded'][0] * 1e3:.2f} ms: {moved[0]:+.1%}; of the wall clock's mean {moved[1]:+.1%}"
        )


def early_stop() -> None:
    """Count the calls that one that is three times slower costs after its check."""
    calls = 0

    def slow(times: int) -> None:
        nonlocal calls
        calls += times
        ends = time.thread_time() + 0.003 * times
        while time.thread_time() < ends:
            pass

    timing = take_times(slow, best=0.001)
    print(
        f"{'three times slower':44} {calls} calls, stopped early: {timing.stopped_early}, {typical(timing.times) * 1e3:.1f} ms"
    )


def main() -> None:
    """Print a row for each pair."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--decisions", type=int, default=100)
    parser.add_argument("--busy", type=int, default=4)
    options = parser.parse_args()
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    print(f"# load average {load:.1f}, {os.cpu_count()} processors, {options.busy} busy processes added")
    large = largest_cache() // 4 // 8
    with busy(options.busy):
        decide("compute, 50 us, 5 % apart", _CHAIN, (30_000, 31_500), 8, options, 0.03)
        decide("compute, 50 us, 1 % apart", _CHAIN, (30_000, 30_300), 8, options, 0.03)
        decide("compute, 50 us, equal", _CHAIN, (30_000, 30_000), 8, options, 0.03)
        decide("a quarter of the last cache, 5 % apart", _SUM, (large * 20 // 21, large), large, options, 2.0)
        decide("compute, 5 ms, 5 % apart", _CHAIN, (3_000_000, 3_150_000), 8, options, 1.5)
    sessions(options)
    early_stop()


if __name__ == "__main__":
    main()
