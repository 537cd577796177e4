"""What the worker pool costs: a job, a death, a time-out, the first result, and what a second worker brings.

Medians over a few tries, in milliseconds where nothing else is said; a loaded machine shows in each of them.
A process ends when its pages are given back: fresh interpreters ask for huge ones, a fork has those of its origin,
and the bare fork beside it says what the system takes for that.
"""

from __future__ import annotations

import os
import select
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import targetspec
from tuner.build import compile_candidate
from tuner.kernels import KERNELS, PROBLEMS
from tuner.pool import Pool
from tuner.spawning import START_METHODS
from tuner.travel import share

_JOBS = 2000
_TRIES = 9
_LIMIT = 0.3
_BODY = bytes(8192)
_COMPILED = 24
_PRELOAD = ("numpy", "llvmlite.binding")

Stage = Callable[[str], object]


def give_back(stage: Stage, body: bytes) -> bytes:
    """Return what came."""
    stage("run")
    return body


def die(stage: Stage, megabytes: int) -> None:
    """Take memory, say when, and die."""
    stage("run")
    room = bytearray(megabytes << 20)
    room[:: 1 << 12] = b"x" * len(room[:: 1 << 12])
    Path(os.environ["BENCHMARK_MOMENT"]).write_text(str(time.monotonic()), encoding="ascii")
    os._exit(7)


def loop(stage: Stage) -> None:
    """Never return."""
    stage("run")
    while True:
        pass


def one(pool: Pool, function: Any, *arguments: Any, **terms: Any) -> Any:
    """Run one job."""
    pool.submit(function, *arguments, **terms)
    (done,) = pool.wait()
    return done


def overhead(method: str) -> float:
    """Microseconds of a job of 8 KB that does nothing, one after another."""
    function = share(give_back)
    with Pool(1, start_method=method, recycle=10 * _JOBS) as pool:
        one(pool, function, _BODY)
        took = []
        for _ in range(_JOBS):
            begin = time.perf_counter()
            one(pool, function, _BODY)
            took.append(time.perf_counter() - begin)
        return statistics.median(took) * 1e6


def first_result(method: str) -> float:
    """From nothing to the result of a first job."""

    def once() -> float:
        begin = time.monotonic()
        with Pool(1, start_method=method, preload=_PRELOAD) as pool:
            one(pool, give_back, b"")
            return time.monotonic() - begin

    return _median(once)


def first_of_a_server() -> float:
    """From asking a running server for a fresh worker to the result of its first job."""
    with Pool(1, start_method="forkserver", preload=_PRELOAD) as pool:
        one(pool, give_back, b"")

        def once() -> float:
            pool.renew()
            begin = time.monotonic()
            one(pool, give_back, b"", fresh=True)
            return time.monotonic() - begin

        return _median(once)


def death(method: str, megabytes: int) -> float:
    """From the death of a worker of this size to the news of it."""
    moment = Path(os.environ["BENCHMARK_MOMENT"])
    with Pool(1, start_method=method) as pool:
        one(pool, give_back, b"")

        def once() -> float:
            one(pool, die, megabytes)
            return time.monotonic() - float(moment.read_text(encoding="ascii"))

        return _median(once)


def bare_death(megabytes: int) -> float:
    """From the death of a bare fork of this size to the end of its pidfd: what the system itself takes."""

    def once() -> float:
        reader, writer = os.pipe()
        process = os.fork()
        if not process:
            room = bytearray(megabytes << 20)
            room[:: 1 << 12] = b"x" * len(room[:: 1 << 12])
            os.write(writer, str(time.monotonic()).encode())
            os._exit(7)
        handle = os.pidfd_open(process)
        began = float(os.read(reader, 64))
        select.select([handle], [], [])
        seconds = time.monotonic() - began
        os.waitpid(process, 0)
        for descriptor in (reader, writer, handle):
            os.close(descriptor)
        return seconds

    return _median(once)


def timeout(method: str) -> float:
    """From the end of its time to the outcome of a job that never ends."""
    with Pool(1, start_method=method) as pool:
        one(pool, give_back, b"")

        def once() -> float:
            return float(one(pool, loop, limits={"run": _LIMIT}).stages["run"]) - _LIMIT

        return _median(once)


def second_worker(method: str) -> float:
    """How many times as fast two workers compile as one."""
    kernel, target = share(KERNELS["sgemm"]), share(targetspec.detect_host())
    space = KERNELS["sgemm"].space
    configs = [space[len(space) * number // _COMPILED] for number in range(_COMPILED)]

    def seconds(workers: int) -> float:
        with Pool(workers, start_method=method) as pool:
            for _ in range(2 * workers):
                pool.submit(compile_candidate, kernel, configs[0], target, PROBLEMS["sgemm"])
            while pool.pending:
                pool.wait()
            begin = time.monotonic()
            for config in configs:
                pool.submit(compile_candidate, kernel, config, target, PROBLEMS["sgemm"])
            while pool.pending:
                pool.wait()
            return time.monotonic() - begin

    return statistics.median(seconds(1) / seconds(2) for _ in range(3))


def _median(once: Callable[[], float]) -> float:
    return statistics.median(once() for _ in range(_TRIES))


def main() -> None:
    """Print a row for each figure."""
    moment = Path(f".benchmark-{os.getpid()}")
    os.environ["BENCHMARK_MOMENT"] = str(moment.absolute())
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    print(f"# load average {load:.1f}, {os.cpu_count()} processors")
    print(f"{'':34} " + " ".join(f"{method:>10}" for method in START_METHODS))
    try:
        _row("overhead of a job of 8 KB, us", overhead)
        _row("first result from cold", lambda method: first_result(method) * 1e3)
        _row("death noticed, small worker", lambda method: death(method, 1) * 1e3)
        _row("death noticed, worker of 1 GB", lambda method: death(method, 1024) * 1e3)
        _row("time-out acted on after", lambda method: timeout(method) * 1e3)
        _row("two compile workers over one, times", second_worker)
        if hasattr(os, "pidfd_open"):
            print(f"{'death of a bare fork of 1 GB':34} {'':10} {'':10} {bare_death(1024) * 1e3:10.1f}")
        print(f"{'first of a running fork server':34} {first_of_a_server() * 1e3:21.1f}")
    finally:
        moment.unlink(missing_ok=True)


def _row(name: str, figure: Callable[[str], float]) -> None:
    print(f"{name:34} " + " ".join(f"{figure(method):10.1f}" for method in START_METHODS), flush=True)


if __name__ == "__main__":
    main()
