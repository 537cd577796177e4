"""A configuration beside the plain version, the kernel's peers and the machine's peak, measured close together."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import attrs

import targetspec
from tuner.build import compile_candidate, compile_plain
from tuner.errors import KernelError
from tuner.kernel import Kernel
from tuner.peak import fma_peak
from tuner.pool import Pool
from tuner.racing import Race, judge, race
from tuner.travel import share

_BLOCKS = 3
_SECONDS = 0.5
_LIMIT = 300.0
# It would give OpenBLAS another CPU's kernel, and the comparison an opponent that nobody meets.
_OVERRIDES = ("OPENBLAS_CORETYPE",)


@attrs.frozen
class Comparison:
    """Seconds a call, interleaved, of the configuration, of the plain version and of each peer; `peak` in GFLOP/s.

    `ratios`: by name, the median over the rounds of the other's time over the configuration's.
    """

    cost: float
    costs: Mapping[str, float]
    ratios: Mapping[str, float]
    peak: float


def compare(
    kernel: Kernel, problem: Mapping[str, Any], target: targetspec.Target, config: Mapping[str, Any]
) -> Comparison:
    """Measure in one fresh process, on one thread; KernelError where one of the contestants fails."""
    with _without_overrides(), Pool(1, start_method="spawn") as pool:
        shared = share(kernel, "kernel")
        codes = [
            _run(pool, compile_candidate, shared, dict(config), target, problem),
            _run(pool, compile_plain, shared, target, problem),
        ]
        pool.renew()  # a process that has only measured
        peers = [name for name, _ in kernel.peers]
        contest = functools.partial(race, peers=peers, seconds=_SECONDS)
        peaks = [_run(pool, fma_peak, target)]
        races: list[Race] = []
        for _ in range(_BLOCKS):
            races.append(_run(pool, contest, shared, problem, target, codes))
            peaks.append(_run(pool, fma_peak, target))
    return _summary(["plain", *peers], races, max(peaks))


def _summary(names: list[str], races: list[Race], peak: float) -> Comparison:
    times = [[reading for each in races for reading in each.times[place]] for place in range(1 + len(names))]
    whole = judge(times, 2)
    return Comparison(
        whole.costs[0],
        dict(zip(names, whole.costs[1:], strict=True)),
        {name: whole.ratio(place, 0) for place, name in enumerate(names, 1)},
        peak,
    )


def _run(pool: Pool, function: Any, *arguments: Any) -> Any:
    pool.submit(function, *arguments, limits={("compile", "load", "run"): _LIMIT})
    (done,) = pool.wait()
    if done.failure:
        raise KernelError(f"the comparison failed in stage {done.failure.stage}: {done.failure.cause}")
    return done.value


@contextmanager
def _without_overrides() -> Iterator[None]:
    saved = {name: os.environ.pop(name) for name in _OVERRIDES if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(saved)
