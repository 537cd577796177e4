"""tune(): what it checks, finds, keeps and hands back."""

from __future__ import annotations

import io
import math
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

import targetspec
import tuner
from small_kernels import DOUBLE, MIXED, PROBLEM, double_often, fail, make
from tuner import build
from tuner.database import Database
from tuner.errors import (
    DatabaseError,
    KernelError,
    ProblemError,
    SpaceError,
    TargetMismatchError,
    TravelError,
)
from tuner.executors import Local, Replay, Trial
from tuner.progress import Progress, speed
from tuner.record import Outcome
from tuner.session import tune
from tuner.space import Space
from tuner.survey import Survey, allowed


def test_the_first_configuration_is_in_the_race_where_it_is_the_baseline():
    """The search may pass it by; what is the fastest that was measured is the best, and compared with itself is as fast."""
    kernel = attrs.evolve(
        make("wasteful", Space({"passes": [1, 40]})),
        emit=lambda config, target, problem: double_often(config["passes"], problem["n"]),
    )
    seed = next(n for n in range(99) if tuner.Search(kernel.space, seed=n).suggest(1) == [{"passes": 40}])
    result = tune(kernel, {"n": 4096}, budget=1, seed=seed, progress=False)
    assert [{"passes": 40}] == [dict(record.config) for record in result.records]
    assert result.best is not None
    assert ({"passes": 1}, 1.0) == (dict(result.best.config), result.speedup)


def test_every_public_name_is_there_and_the_import_is_light():
    """`__all__` is sorted and resolves; importing the package loads neither numpy nor LLVM."""
    assert sorted(tuner.__all__) == tuner.__all__
    assert [] == [name for name in tuner.__all__ if not hasattr(tuner, name)]
    code = "import sys, tuner; print(*({'numpy', 'llvmlite', 'tuner.session'} & sys.modules.keys()))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "\n" == ran.stdout


def test_tuning_finds_keeps_and_hands_back_a_function(tmp_path: Path):
    """A run's records are in the database as reported, its best is a final, its function computes the kernel."""
    path = tmp_path / "records.sqlite"
    result = tune(DOUBLE, PROBLEM, budget=10, database=path, progress=False)
    here = targetspec.detect_host()
    assert result.target == here
    assert [0, 1, 2, 3] == [record.number for record in result.records]
    assert [1, 2, 4, 8] == sorted(record.config["step"] for record in result.records)
    assert {build.fingerprint(DOUBLE, here, PROBLEM)} == {record.fingerprint for record in result.records}
    assert result.best is not None
    assert result.baseline is not None
    assert ("final", "baseline") == (result.best.role, result.baseline.role)
    assert result.speedup == result.baseline.cost / result.best.cost
    with Database(path) as database:
        assert list(result.records) == list(database.records(role="trial"))
        assert result.best == database.lookup(DOUBLE, PROBLEM, here)
        assert database.lookup(DOUBLE, {"n": 128}, here) is None
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    result.function()(x, y)
    assert np.array_equal(2 * x, y)


def test_a_run_spends_its_budget_and_no_more():
    """As many trials as the budget says, each another configuration."""
    result = tune(MIXED, PROBLEM, budget=5, executor=Replay(lambda _: 1.0), progress=False)
    assert 5 == len(result.records)
    assert 5 == len({record.config for record in result.records})


def test_a_time_limit_ends_the_trials_and_keeps_what_is_reported():
    """What is under way when the time is over leaves no record; the final goes on with what there is."""
    space = Space({"step": [1, 2, 4, 8], "copy": list(range(200))})
    result = tune(make("limited", space), PROBLEM, budget=800, time_limit=3.0, progress=False)
    assert len(result.records) < 800
    assert list(range(len(result.records))) == [record.number for record in result.records]
    assert result.best is not None


def test_without_a_good_trial_there_is_no_best():
    """Where all fail, the result says so and there is no function."""
    result = tune(MIXED, PROBLEM, budget=4, executor=Replay(lambda _: None), progress=False)
    assert (None, None, False) == (result.best, result.speedup, result.separated)
    with pytest.raises(KernelError, match="no trial succeeded"):
        result.function()


def test_configurations_that_the_target_cannot_hold_are_never_tried():
    """`needs` restricts the space, and an empty one is an error with the relation's reasons."""
    here = targetspec.detect_host()
    registers = here.vector_registers

    def needs(config: dict[str, Any], problem: dict[str, int]) -> dict[str, int]:
        return {"vector_registers": registers * config["step"] // 2}

    kernel = make("needy", Space({"step": [1, 2, 4, 8]}), needs=needs)
    assert [{"step": 1}, {"step": 2}] == list(allowed(kernel, PROBLEM, here))
    too_much = make("needy", Space({"step": [4, 8]}), needs=needs)
    with pytest.raises(
        SpaceError, match=rf"(?s)needy: no configuration fits .*vector_registers.*{registers}"
    ):
        allowed(too_much, PROBLEM, here)


LOCK = threading.Lock()


class Recorded:
    """An executor whose trials end when they are asked for, to see when each was begun."""

    def __init__(self, ahead: int) -> None:
        self.ahead = ahead
        self.story: list[tuple[str, int]] = []

    def start(self, task: Any) -> Recorded:
        return self

    def survey(self) -> Survey:
        return Survey()

    def fingerprint(self) -> None:
        return None

    def baseline(self, incumbent: Trial | None) -> None:
        return None

    def submit(self, number: int, config: dict[str, Any]) -> None:
        self.story.append(("submit", number))

    def result(self, number: int, incumbent: Trial | None, timeout: float | None) -> Trial:
        self.story.append(("result", number))
        return Trial(Outcome("ok"), float(number + 1))

    def race(self, finalists: Any) -> None:
        return None

    def close(self) -> None:
        self.story.append(("close", 0))


def test_trials_begin_a_fixed_number_ahead_of_the_reports():
    """Trial i begins as soon as all before i - ahead are reported, and no sooner."""
    executor = Recorded(ahead=2)
    tune(MIXED, PROBLEM, budget=5, executor=executor, progress=False)
    submits = [("submit", 0), ("submit", 1), ("submit", 2), ("result", 0), ("submit", 3), ("result", 1)]
    rest = [("submit", 4), ("result", 2), ("result", 3), ("result", 4), ("close", 0)]
    assert submits + rest == executor.story


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"kernel": "double"}, TypeError, "kernel is a tuner.Kernel"),
        ({"problem": {"n": [1]}}, ProblemError, "double: "),
        ({"problem": 64}, ProblemError, "a problem is a mapping"),
        ({"target": 7}, TypeError, "target is a Target"),
        ({"target": "aarch64-linux-gnu -mcpu=cortex-a72"}, TargetMismatchError, "aarch64"),
        ({"budget": 0}, ValueError, "budget is an int from 1, not 0"),
        ({"budget": True}, TypeError, "budget is an int, not True"),
        ({"budget": 2.0}, TypeError, "budget is an int"),
        ({"workers": 0}, ValueError, "workers"),
        ({"seed": -1}, ValueError, "seed"),
        ({"time_limit": 0}, ValueError, "time_limit"),
        ({"compile_timeout": math.inf}, ValueError, "compile_timeout"),
        ({"run_timeout": "1"}, TypeError, "run_timeout"),
        ({"run_timeout": 10**400}, ValueError, "run_timeout"),
        ({"start_method": "spwan"}, ValueError, "did you mean 'spawn'"),
        ({"strategy": "no such"}, ValueError, "no such"),
        ({"cache": "cold"}, ValueError, "cache is one of warm, flushed, not 'cold'"),
        ({"progress": "yes"}, ValueError, "progress"),
        ({"executor": 5}, TypeError, "executor is an Executor"),
        ({"database": 5}, TypeError, "database is a Database, a path, or None, not 5"),
        ({"database": "/proc/no/such.sqlite"}, DatabaseError, "/proc/no/such.sqlite"),
        (
            {"kernel": make("lock", DOUBLE.space, work=lambda _: LOCK)},
            TravelError,
            "lock",
        ),
    ],
    ids=lambda value: ",".join(value) if isinstance(value, dict) else "",
)
def test_bad_input_is_told_before_any_process_starts(
    change: dict[str, Any], error: type[Exception], message: str, monkeypatch: pytest.MonkeyPatch
):
    """Each mistake is one error of its own that names what is wrong, and nothing has been started by then."""

    def start(*_: object) -> None:
        raise AssertionError("a run was started")

    monkeypatch.setattr(Local, "start", start)
    call = {"kernel": DOUBLE, "problem": PROBLEM, "progress": False} | change
    with pytest.raises(error, match=message):
        tune(**call)


def hang(*_: object) -> Any:
    """Never return."""
    while True:
        pass


def die(*_: object) -> Any:
    """End the process."""
    os._exit(7)


NO_TRIAL = make("untried", DOUBLE.space)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"arguments": hang}, KernelError, "untried: arguments failed before any trial: timeout: took more than 1 s"),
        ({"arguments": die}, KernelError, "untried: arguments failed before any trial: exit: exit status 7"),
        ({"arguments": fail}, KernelError, "untried: arguments raised RuntimeError: first line"),
        ({"arguments": lambda *_: [1]}, KernelError, "untried: arguments gave list, not a tuple"),
        ({"reference": hang}, KernelError, "untried: reference, .* failed before any trial: timeout: took more than 1 s"),
        ({"reference": fail}, KernelError, "untried: reference raised RuntimeError"),
        ({"reference": lambda *_: None}, KernelError, "reference must give a tuple of 2"),
        ({"work": hang}, KernelError, "work failed before any trial: timeout: took more than 1 s"),
        ({"work": lambda _: (1.0,)}, KernelError, "work is two finite numbers"),
        ({"tolerance": fail}, KernelError, "tolerance or work failed before any trial: RuntimeError: first line"),
        ({"needs": hang}, KernelError, "untried: needs failed before any trial: timeout: took more than 2 s"),
        ({"needs": fail}, KernelError, "untried: needs raised RuntimeError"),
        ({"problem": {"n": 63}}, ProblemError, "n is a multiple of 8"),
    ],
    ids=lambda value: ",".join(value) if isinstance(value, dict) else "",
)  # fmt: skip
def test_the_kernels_own_faults_are_one_error_before_any_trial(
    change: dict[str, Any], error: type[Exception], message: str, tmp_path: Path
):
    """What raises, hangs or dies in `arguments`, `reference`, `work` or `needs` ends the tuning, and leaves no record."""
    problem = change.get("problem", PROBLEM)
    kernel = attrs.evolve(NO_TRIAL, **{name: value for name, value in change.items() if name != "problem"})
    path = tmp_path / "records.sqlite"
    with pytest.raises(error, match=message):
        tune(kernel, problem, database=path, run_timeout=1.0, compile_timeout=2.0, progress=False)
    with Database(path) as database:
        assert [] == list(database.records())


def test_a_mismatch_gives_the_reasons_of_the_relation():
    """The error holds the verdict's own text, and travels."""
    target = targetspec.parse("aarch64-linux-gnu -mcpu=cortex-a72")
    with pytest.raises(TargetMismatchError) as caught:
        tune(DOUBLE, PROBLEM, target, progress=False)
    assert str(target.compatible(targetspec.detect_host())) == caught.value.reasons
    assert caught.value == pickle.loads(pickle.dumps(caught.value))


def test_progress_shows_trials_failures_and_the_best():
    """The line ends with all trials done, failures by kind, and the best as a rate."""
    stream = io.StringIO()
    tune(MIXED, PROBLEM, budget=16, executor=Replay(lambda c: 1e-6 * c["step"]), progress=Progress(stream))
    last = stream.getvalue().rstrip("\n").rpartition("\r")[2]
    assert "[####################] 16/16 trials; 4 error, 4 exit, 4 wrong; best 0.1 GFLOP/s" == last.rstrip()


@pytest.mark.parametrize(
    ("cost", "expected"), [(2.0, "2 s"), (2.5e-3, "2.5 ms"), (1.5e-6, "1.5 us"), (2e-8, "20 ns")]
)
def test_speed_without_work_is_a_time(cost: float, expected: str):
    """Where the work is not stated, a cost is shown as a time."""
    assert expected == speed(cost, None)


def test_no_module_of_numpy_is_imported_while_tuning():
    """Those that Cython made lose an interrupt that comes while they are imported: the tuning then went on."""
    script = """
import sys
from small_kernels import DOUBLE, PROBLEM
from tuner.session import tune
before = {name for name in sys.modules if name.startswith("numpy")}
tune(DOUBLE, PROBLEM, budget=2, progress=False)
print(*sorted({name for name in sys.modules if name.startswith("numpy")} - before))
"""
    tests = str(Path(__file__).resolve().parents[1])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((tests, os.environ.get("PYTHONPATH", "")))}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment
    )
    assert "" == done.stdout.strip()
