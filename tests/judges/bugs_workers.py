"""Public bug reports about jobs and their processes: each is asked of real ones."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import tuner
from tuner.errors import TravelError
from tuner.peer import Done
from tuner.pool import Pool
from tuner.spawning import START_METHODS

_PATIENCE = 60.0
_IN_MAIN = """
from tuner.pool import Pool
TABLE = {"double": 2}
def job(stage, value):
    stage("run")
    return TABLE["double"] * value
with Pool(1, start_method=%r, preload=()) as pool:
    pool.submit(job, 21)
    print(*(done.value for done in pool.wait(60)))
"""


def _pool(method: str = "spawn") -> Pool:
    return Pool(1, start_method=method, preload=(), limits={"run": _PATIENCE})


def _ask(pool: Pool, function: Callable[..., Any], *arguments: Any) -> Done:
    pool.submit(function, *arguments)
    (done,) = pool.wait(_PATIENCE)
    return done


def _give(stage: Callable[[str], object], value: Any) -> Any:
    stage("run")
    return value


def _abort(stage: Callable[[str], object]) -> None:
    stage("run")
    os.abort()


def _leave_a_child(stage: Callable[[str], object]) -> None:
    """Leave a process behind that ends while this one is being ended."""
    stage("run")
    if not os.fork():
        os._exit(0)
    os._exit(3)


def _nested_functions() -> bool:
    table = {"double": 2}

    def nested(stage: Callable[[str], object], value: int) -> int:
        stage("run")
        return table["double"] * value

    with _pool() as pool:
        return bool(_ask(pool, nested, 21).value == 42)


def _of_main(method: str) -> bool:
    code = [sys.executable, "-c", _IN_MAIN % method]
    return subprocess.run(code, capture_output=True, text=True, check=False).stdout == "42\n"


def _cannot_be_loaded() -> bool:
    class Strange:
        def __reduce__(self) -> tuple[Any, ...]:
            return int, ("no number",)

    with _pool("forkserver") as pool:
        pool.submit(_give, Strange())
        try:
            pool.wait(_PATIENCE)
        except TravelError as error:
            return "no number" in str(error)
    return False


def _in_turn() -> bool:
    answers = []
    for number in range(3):
        with _pool() as pool:
            answers.append(_ask(pool, _give, number).value)
    return answers == [0, 1, 2]


def _death(job: Callable[..., Any]) -> tuple[str, str | None] | None:
    """Return kind and cause of a job's death, if the next job is unharmed."""
    with _pool() as pool:
        failure = _ask(pool, job).failure
        return (failure.kind, failure.cause) if failure and _ask(pool, _give, 7).value == 7 else None


def _with_threads() -> bool:
    """A thread of the parent holds a lock all along, as a pool of threads of OpenMP does."""
    lock, over = threading.Lock(), threading.Event()

    def hold() -> None:
        with lock:
            over.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        return all(_answers_in_time(method) for method in ("spawn", "forkserver"))
    finally:
        over.set()
        thread.join()


def _answers_in_time(method: str) -> bool:
    begin = time.monotonic()
    with _pool(method) as pool:
        return _ask(pool, _give, 1).value == 1 and time.monotonic() - begin < _PATIENCE


def _default_is_spawn() -> bool:
    defaults = {inspect.signature(one).parameters["start_method"].default for one in (Pool, tuner.tune)}
    return defaults == {"spawn"} and {*START_METHODS} == {"spawn", "forkserver", "fork"}


CHECKS: Mapping[str, Callable[[], bool]] = {
    "apache/tvm#6083": _nested_functions,
    "apache/tvm#6671": lambda: _of_main("spawn"),
    "apache/tvm#4821": _in_turn,
    "apache/tvm#7887": lambda: _death(_leave_a_child) == ("exit", "exit status 3"),
    "apache/tvm#17495": lambda: _death(_abort) == ("signal", "SIGABRT"),
    "pynbody/tangos#281": lambda: _default_is_spawn() and _with_threads(),
    "autogluon/autogluon#767": lambda: _of_main("forkserver") and _cannot_be_loaded(),
    "GlacioHack/geoutils#934": _with_threads,
}
