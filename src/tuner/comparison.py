"""A configuration beside the plain version, the kernel's peers and the machine's peak, measured close together."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from statistics import median
from typing import Any

import attrs

import targetspec
from tuner.build import compile_candidate, compile_plain
from tuner.errors import KernelError
from tuner.kernel import Kernel
from tuner.peak import fma_peak, memory_peak
from tuner.pool import Pool
from tuner.racing import Race, race
from tuner.timing import typical
from tuner.travel import share

_BLOCKS = 3
_SECONDS = 0.5
_LIMIT = 300.0
# It would give OpenBLAS another CPU's kernel, and the comparison an opponent that nobody meets.
_OVERRIDES = ("OPENBLAS_CORETYPE",)


@attrs.frozen
class Comparison:
    """Seconds a call, interleaved, of the configuration, of the baseline and of each peer.

    `peak` is the machine's in GFLOP/s, `bandwidth` that of reading from memory in GB/s. `ratios`: by name, the median
    over the rounds of the other's time over the configuration's.
    """

    cost: float
    costs: Mapping[str, float]
    ratios: Mapping[str, float]
    peak: float
    bandwidth: float


def baseline_name(kernel: Kernel) -> str:
    """Name what a kernel's candidates are compared with: its plain version or, where it has none, the first of them."""
    return "plain" if kernel.plain is not None else "first"


def compare(
    kernel: Kernel,
    problem: Mapping[str, Any],
    target: targetspec.Target,
    config: Mapping[str, Any],
    *,
    plain: bool = True,
) -> Comparison:
    """Measure in one fresh process, on one thread; KernelError where one of the contestants fails.

    `plain` False: without the plain version, as where that one is no good.
    """
    with _without_overrides(), Pool(1, start_method="spawn") as pool:
        shared = share(kernel, "kernel")
        codes = [_run(pool, compile_candidate, shared, dict(config), target, problem)]
        if plain:
            codes.append(_run(pool, compile_plain, shared, target, problem))
        pool.renew()  # a process that has only measured
        peers = [name for name, _ in kernel.peers]
        contest = functools.partial(race, peers=peers, seconds=_SECONDS)
        bandwidth = _run(pool, memory_peak, target)
        peaks = [_run(pool, fma_peak, target)]
        own: list[float] = []
        times: dict[str, list[tuple[float, float]]] = {}
        for block in range(_BLOCKS):
            # The plain version may take a hundred times as long, and needs no precision then.
            objects = codes if block == 0 else codes[:1]
            names = [baseline_name(kernel), *peers] if len(objects) > 1 else peers
            rounds = _run(pool, contest, shared, problem, target, objects)
            own += rounds.times[0]
            _add_rounds(times, names, rounds)
            peaks.append(_run(pool, fma_peak, target))
    return _summary(own, times, max(peaks), bandwidth)


def _add_rounds(times: dict[str, list[tuple[float, float]]], names: list[str], block: Race) -> None:
    for name, readings in zip(names, block.times[1:], strict=True):
        times.setdefault(name, []).extend(zip(block.times[0], readings, strict=True))


def _summary(
    own: list[float], times: Mapping[str, list[tuple[float, float]]], peak: float, bandwidth: float
) -> Comparison:
    """Sum up the readings of the configuration, and pairs of them with those of each other."""
    return Comparison(
        typical(own),
        {name: typical([other for _, other in pairs]) for name, pairs in times.items()},
        {name: median(other / own for own, other in pairs) for name, pairs in times.items()},
        peak,
        bandwidth,
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
