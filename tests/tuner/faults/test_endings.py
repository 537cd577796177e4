"""The program ends at any moment, by any means: no worker outlives it, and what it has reported is kept."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO

import pytest

from fault_runs import FULL, HAS_PROC, left_after, marking
from tuner.database import Database
from tuner.spawning import START_METHODS

pytestmark = [
    pytest.mark.skipif(not HAS_PROC, reason="processes are looked for in /proc"),
    pytest.mark.timeout(1800),
]

TESTS = Path(__file__).resolve().parents[2]
TIMES = 50 if FULL else 3
LATEST = 1.5
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGKILL]

TUNING = """
import sys
from small_kernels import LONG, PROBLEM
from tuner.progress import Progress
from tuner.session import tune

class Told(Progress):
    def report(self, record):
        super().report(record)
        print(record.number, flush=True)

print("begun", flush=True)
tune(LONG, PROBLEM, budget=2000, workers=2, start_method=sys.argv[2], database=sys.argv[1], progress=Told())
"""
POOL = """
import ctypes, sys, threading
from tuner.pool import Pool

def loop(stage):
    stage("run")
    while True:
        pass

def hold_the_lock(stage):
    stage("run")
    ctypes.PyDLL(None).pause()

def make():
    pools.append(Pool(2, start_method=sys.argv[2], preload=()))

pools = []
thread = threading.Thread(target=make)
print("begun", flush=True)
thread.start()
thread.join()
for job in (loop, hold_the_lock):
    pools[0].submit(job)
print(0, flush=True)
pools[0].wait()
"""


def end_at(moment: float, number: signal.Signals, script: str, *arguments: str) -> tuple[int, list[int]]:
    """Run a script, send it the signal so many seconds after it has begun; its exit status, and what it reported."""
    # Errors go to a file: nobody needs to read it meanwhile.
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [sys.executable, "-c", script, *arguments],
            env=os.environ | {"PYTHONPATH": os.pathsep.join((str(TESTS), os.environ.get("PYTHONPATH", "")))},
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        )
        try:
            assert process.stdout is not None
            assert b"begun\n" == process.stdout.readline(), written(process, errors)
            time.sleep(moment)
            # The terminal's Ctrl-C goes to the whole group.
            (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
            told, _ = process.communicate(timeout=60)
        finally:
            process.kill()
    return process.returncode, [int(line) for line in told.split()]


def written(process: subprocess.Popen[bytes], errors: IO[bytes]) -> str:
    """Say how a program that did not begin has ended, and what it wrote."""
    status = process.wait(timeout=60)
    errors.seek(0)
    return f"exit status {status}: {errors.read().decode(errors='backslashreplace')[-4000:]}"


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
@pytest.mark.parametrize("method", START_METHODS)
def test_a_tuning_that_ends_at_any_moment_leaves_its_records_and_nothing_else(
    method: str, number: signal.Signals, tmp_path: Path
):
    """Every record that was reported is in the file, which is whole, and two seconds later no worker is there."""
    rng = random.Random()
    for attempt in range(TIMES):
        moment = rng.uniform(0, LATEST)
        path = tmp_path / f"{attempt}.sqlite"
        with marking() as mark:
            status, told = end_at(moment, number, TUNING, str(path), method)
            assert [] == left_after(mark, 2.0), f"at {moment} s"
        assert status in {-number, 1}, f"at {moment} s"
        assert list(range(len(told))) == told
        if path.exists():
            with Database(path) as database:
                kept = [record.number for record in database.records(role="trial")]
            assert told == kept[: len(told)], f"at {moment} s"
        else:
            assert [] == told


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
@pytest.mark.parametrize("method", START_METHODS)
def test_a_pool_made_in_a_thread_that_has_ended_ends_with_the_program(
    method: str, number: signal.Signals, tmp_path: Path
):
    """Workers belong to the process, not to the thread: they end with it, in the midst of endless jobs."""
    rng = random.Random()
    for _ in range(TIMES):
        moment = rng.uniform(0, LATEST)
        with marking() as mark:
            status, _told = end_at(moment, number, POOL, str(tmp_path), method)
            assert [] == left_after(mark, 2.0), f"at {moment} s"
        assert status in {-number, 1}, f"at {moment} s"
