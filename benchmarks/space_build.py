"""Build search spaces of known tuning problems and print the time, and the memory, that each took.

    python benchmarks/space_build.py

`gemm` and `hotspot` are those of the BAT and Kernel Tuner benchmark suites; `chain` has 10 million raw points, and so has
`knot`, whose one constraint takes all parameters and leaves half of the points, which no order of parameters helps.
"""

# ruff: noqa: PLR2004 - the limits are those of the problems

from __future__ import annotations

import itertools
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import TypeVar

from tuner.space import Space

T = TypeVar("T")


def gemm() -> Space:
    return Space(
        {
            "gemmk": [0], "mwg": [16, 32, 64, 128], "nwg": [16, 32, 64, 128], "kwg": [16, 32], "mdimc": [8, 16, 32],
            "ndimc": [8, 16, 32], "mdima": [8, 16, 32], "ndimb": [8, 16, 32], "kwi": [2], "vwm": [1, 2, 4, 8],
            "vwn": [1, 2, 4, 8], "strm": [0, 1], "strn": [0, 1], "sa": [0, 1], "sb": [0, 1], "kreg": [1], "precision": [32],
        },
        [
            lambda kwg, kwi: kwg % kwi == 0,
            lambda mwg, mdimc, vwm: mwg % (mdimc * vwm) == 0,
            lambda nwg, ndimc, vwn: nwg % (ndimc * vwn) == 0,
            lambda mwg, mdima, vwm: mwg % (mdima * vwm) == 0,
            lambda nwg, ndimb, vwn: nwg % (ndimb * vwn) == 0,
            lambda kwg, mdimc, ndimc, mdima: kwg % ((mdimc * ndimc) / mdima) == 0,
            lambda kwg, mdimc, ndimc, ndimb: kwg % ((mdimc * ndimc) / ndimb) == 0,
            lambda mwg, nwg, mdimc, ndimc: not (mwg == nwg == 128 and mdimc == ndimc == 8),
        ],
    )  # fmt: skip


def hotspot() -> Space:
    shared_memory = 49152
    upto10 = list(range(1, 11))
    return Space(
        {
            "width": [4096], "height": [4096], "bx": [1, 2, 4, 8, 16, *range(32, 1025, 32)],
            "by": [1, 2, 4, 8, 16, 32], "tx": upto10, "ty": upto10, "steps": upto10, "most_steps": [10], "unroll": upto10,
            "power": [0, 1],
        },
        [
            lambda bx, by: bx * by >= 32,
            lambda steps, unroll: steps % unroll == 0,
            lambda bx, by: bx * by <= 1024,
            lambda bx, tx, steps, by, ty, power: (bx * tx + steps * 2) * (by * ty + steps * 2) * (2 + power) * 4
            <= shared_memory,
        ],
    )  # fmt: skip


def chain() -> Space:
    return Space(
        {name: list(range(1, 26)) for name in "abcde"},
        [lambda a, b: a <= b, lambda b, c: b <= c + 10, lambda c, d, e: c * d * e <= 1500],
    )


def knot() -> Space:
    return Space(
        {name: list(range(1, 26)) for name in "abcde"}, [lambda a, b, c, d, e: a * b * c * d * e <= 150_000]
    )


BUILDERS: dict[str, Callable[[], Space]] = {"gemm": gemm, "hotspot": hotspot, "chain": chain, "knot": knot}


def report(name: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.process_time()
    space = BUILDERS[name]()
    seconds = time.process_time() - started
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(
        f"{name:8} {space.raw_size:>10} raw {space.size:>8} valid  {seconds:6.3f} s  {grown:5.0f} MB",
        _rates(space),
    )


def _rates(space: Space) -> str:
    chosen = random.Random(0).choices(range(space.size), k=1000)  # noqa: S311 - a benchmark
    configs, taken = _timed(lambda: [space[index] for index in chosen])
    _, indexed = _timed(lambda: [space.index(config) for config in configs])
    _, moved = _timed(lambda: [space.neighbours(config) for config in configs[:100]])
    _, walked = _timed(lambda: list(itertools.islice(space, 10_000)))
    return f" [i] {taken * 1e3:.0f}, index {indexed * 1e3:.0f}, neighbours {moved * 1e4:.0f}, next {walked * 1e2:.1f} us"


def _timed(work: Callable[[], T]) -> tuple[T, float]:
    started = time.process_time()
    done = work()
    return done, time.process_time() - started


if __name__ == "__main__":
    if len(sys.argv) > 1:
        report(sys.argv[1])
    else:
        # Each in a process of its own, so that its peak of memory is its own.
        for each in BUILDERS:
            subprocess.run([sys.executable, __file__, each], check=True)
