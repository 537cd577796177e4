"""Candidates at fault, and interruption: what is left of a run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fault_runs import HAS_PROC, marked
from small_kernels import FAULTY, PROBLEM
from tuner.database import Database
from tuner.session import tune

TESTS = Path(__file__).resolve().parents[1]
EXPECTED = {
    "none": ("ok", None, None),
    "signal": ("signal", "check", "SIGSEGV"),
    "timeout": ("timeout", "check", "took more than"),
    "wrong": ("wrong", "check", "y: 64 of 64 elements wrong"),
    "error": ("error", "compile", "expected"),
    "exit": ("exit", "compile", "exit status 1; error: couldn't allocate output register"),
    "unlinked": ("error", "load", "Symbols not found: [ llvm.x86.no.such ]"),
}


@pytest.fixture
def mark(monkeypatch: pytest.MonkeyPatch) -> str:
    """Mark the environment of every process that starts from here."""
    text = f"TUNER_TEST_MARK={os.getpid()}-{time.monotonic_ns()}"
    monkeypatch.setenv(*text.split("="))
    return text


@pytest.mark.skipif(not HAS_PROC, reason="processes are looked for in /proc")
def test_each_fault_is_an_outcome_of_its_own_kind(mark: str, tmp_path: Path):
    """A run goes on over candidates that crash, hang, err or exit, tells each by kind, and leaves no process."""
    path = tmp_path / "faults.sqlite"
    result = tune(FAULTY, PROBLEM, budget=7, database=path, run_timeout=2.0, progress=False)
    got = {record.config["fault"]: record.outcome for record in result.records}
    assert {name: expected[:2] for name, expected in EXPECTED.items()} == {
        name: (outcome.kind, outcome.stage) for name, outcome in got.items()
    }
    for name, (_, _, cause) in EXPECTED.items():
        assert cause is None or cause in str(got[name].cause)
    assert result.best is not None
    assert result.best.config["fault"] == "none"
    assert [] == marked(mark)
    with Database(path) as database:
        assert list(result.records) == list(database.records(role="trial"))


SCRIPT = """
import sys
from small_kernels import LONG, PROBLEM
import tuner

tuner.tune(LONG, PROBLEM, budget=2000, database=sys.argv[1], progress=False)
"""


def await_records(path: Path, process: subprocess.Popen[bytes], count: int) -> None:
    """Wait until so many records are in the file."""
    ends = time.monotonic() + 60
    while time.monotonic() < ends and process.poll() is None:
        if path.exists():
            with Database(path) as database:
                if len(list(database.records())) >= count:
                    return
        time.sleep(0.05)
    raise AssertionError(f"no {count} records after a minute; exit status {process.poll()}")


@pytest.mark.skipif(not HAS_PROC, reason="processes are looked for in /proc")
@pytest.mark.parametrize("start_as", ["script", "command"])
def test_an_interrupt_ends_the_run_and_keeps_the_records(start_as: str, mark: str, tmp_path: Path):
    """Ctrl-C ends a run within two seconds, with the records kept, no process left, and no word from workers."""
    path = tmp_path / "records.sqlite"
    commands = {
        "script": [sys.executable, "-c", SCRIPT, str(path)],
        "command": [
            *(sys.executable, "-m", "tuner", "tune", "small_kernels:LONG", "--problem", "n=64"),
            *("--budget", "2000", "--database", str(path)),
        ],
    }
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(TESTS), os.environ.get("PYTHONPATH", "")))}
    process = subprocess.Popen(
        commands[start_as],
        env=environment,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        await_records(path, process, 3)
        began = time.monotonic()
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=20)
        seconds = time.monotonic() - began
    finally:
        process.kill()
    assert seconds < 2
    assert [] == marked(mark)
    with Database(path) as database:
        records = list(database.records(role="trial"))
    assert list(range(len(records))) == [record.number for record in records]
    assert len(records) >= 3
    if start_as == "command":
        assert (130, 1) == (process.returncode, len(errors.splitlines()))
        assert f"tuner: interrupted after {len(records)} of 2000 trials".encode() in errors
    else:
        assert b"KeyboardInterrupt" in errors.splitlines()[-1]


INTERRUPTED_IMPORT = """
import os, signal, sys
from tuner.__main__ import main

class Finder:
    def find_spec(self, name, path, target=None):
        if name == sys.argv[-1]:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
raise SystemExit(main())
"""


@pytest.mark.parametrize("module", ["tuner.cli", "targetspec.triple", "numpy", "llvmlite.binding"])
def test_an_interrupt_while_the_command_loads_is_one_line(module: str):
    """Ctrl-C during any of the imports shows no traceback."""
    command = [sys.executable, "-c", INTERRUPTED_IMPORT, "kernels", module]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (130, "tuner: interrupted\n") == (ran.returncode, ran.stderr)
