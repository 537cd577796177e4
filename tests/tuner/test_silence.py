"""What a measurement is taken under: one at a time on the machine, known caches, a canary, limits that follow."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import targetspec
from small_kernels import DOUBLE, MIXED, PROBLEM
from tuner import racing, runs
from tuner.adaptive import AdaptiveLimits, in_force
from tuner.caches import largest_cache
from tuner.canary import Listener, sing
from tuner.executors import Local, Replay
from tuner.record import Outcome
from tuner.runs import LocalRun, Means, ReplayRun
from tuner.session import tune
from tuner.signtest import Ratio
from tuner.trials import Task, Trial
from tuner.turns import Turn

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

HOLDER = """
import sys, time
from tuner.trials import Task, Trial
from tuner.turns import Turn
turn = Turn((sys.argv[1],))
assert turn.take()
print("held", flush=True)
time.sleep(600)
"""


def test_one_has_the_machine_at_a_time_and_those_who_wait_come_first(tmp_path: Path):
    """Who lets go comes behind who has waited, also within one process."""
    folders = (str(tmp_path),)
    one, other, third = Turn(folders), Turn(folders), Turn(folders)
    assert (True, False) == (one.take(), other.take())
    one.give()
    assert (False, True, False) == (one.take(), other.take(), one.take())
    assert not third.take()
    other.give()
    assert (False, True) == (third.take(), one.take())


def test_a_dead_holder_blocks_nobody(tmp_path: Path):
    """A process that is killed while it measures lets go by that; the file that stays means nothing."""
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE)
    try:
        assert holder.stdout is not None
        assert b"held\n" == holder.stdout.readline()
        turn = Turn((str(tmp_path),))
        assert not turn.take()
    finally:
        holder.kill()
        holder.communicate()
    assert turn.take()


@pytest.fixture
def stopped(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that has the machine and is stopped, as by Ctrl-Z."""
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE)
    try:
        assert holder.stdout is not None
        assert b"held\n" == holder.stdout.readline()
        holder.send_signal(signal.SIGSTOP)
        yield holder
    finally:
        holder.kill()
        holder.communicate()


def wait_for(turn: Turn, seconds: float = 30.0) -> bool:
    """Take the turn as a run does: again and again, for a while."""
    ends = time.monotonic() + seconds
    while not turn.take():
        if time.monotonic() > ends:
            return False
        time.sleep(0.01)
    return True


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who has a lock")
def test_a_stopped_holder_is_passed_by(
    tmp_path: Path, stopped: subprocess.Popen[bytes], caplog: pytest.LogCaptureFixture
):
    """Who passes by knows that it is not alone, and takes turns with others who do; it is alone again after."""
    one, other = Turn((str(tmp_path),)), Turn((str(tmp_path),))
    assert wait_for(one)
    assert not one.alone
    assert [f"process {stopped.pid}, which measures on this machine, is stopped"] == [
        message.partition(";")[0] for message in caplog.messages
    ]
    assert not wait_for(other, 1.5)
    one.give()
    assert wait_for(other)
    assert not one.take()
    other.give()
    assert wait_for(one, 1.0)  # nothing has changed: it need not be found out again
    one.give()
    stopped.send_signal(signal.SIGCONT)
    assert not wait_for(one, 1.5)
    stopped.kill()
    assert wait_for(one)
    assert one.alone


def test_a_holder_that_keeps_it_for_very_long_is_passed_by(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    """Also where nobody knows what it does; a short wait is none."""
    holder, waiter = Turn((str(tmp_path),)), Turn((str(tmp_path),), longest_wait=0.3)
    assert holder.take()
    assert not waiter.take()
    began = time.monotonic()
    assert wait_for(waiter)
    assert time.monotonic() - began >= 0.25
    assert not waiter.alone
    assert "has kept others waiting for" in caplog.text


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who has a lock")
def test_what_is_measured_beside_a_stopped_holder_is_marked(
    tmp_path: Path, stopped: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
):
    """A tuning that another has left in the lurch ends, and its records say what they are worth."""
    monkeypatch.setattr(runs, "Turn", lambda: Turn((str(tmp_path),)))
    result = tune(DOUBLE, PROBLEM, budget=2, workers=1, start_method="fork", progress=False)
    assert {True} == {record.quality["noisy"] for record in result.records}


def test_without_a_folder_that_takes_the_lock_nobody_waits(tmp_path: Path):
    """Where nothing can be written, measuring goes on without."""
    turn = Turn((str(tmp_path / "gone"),))
    assert turn.take()
    turn.give()


def test_a_lock_that_is_a_link_is_not_followed(tmp_path: Path):
    """In a folder for all, a link may lead anywhere."""
    aim = tmp_path / "aim"
    for name in ("tuner-measuring.lock", "tuner-measuring-next.lock"):
        (tmp_path / name).symlink_to(aim)
    assert Turn((str(tmp_path),)).take()
    assert not aim.exists()


def task(workers: int, method: str = "fork") -> Task:
    """Make a task of the small kernel."""
    return Task(DOUBLE, PROBLEM, targetspec.detect_host(), 0, workers, method, 30.0, 10.0)


def test_no_measurement_begins_while_another_tuning_measures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Compiling goes on meanwhile; with the turn, our own compile workers stand still until the trial is through."""
    monkeypatch.setattr(runs, "Turn", lambda: Turn((str(tmp_path),)))
    other = Turn((str(tmp_path),))
    assert other.take()
    with closing(LocalRun(task(1), Means(None, adaptive=False))) as run:
        for number in range(2):
            run.submit(number, DOUBLE.space[number])
        assert run.result(0, None, 2.0) is None
        while len(run._compiled) < 2:
            run._wait(0.1)
        assert run.result(0, None, 0.05) is None
        other.give()
        run._feed(None)
        assert run._compilers._clock.stands
        assert not other.take()
        other.give()  # who waits would come next
        trial = run.result(0, None, 60.0)
        assert trial is not None
        assert "ok" == trial.outcome.kind
        assert run.result(1, trial, 60.0) is not None
        run.submit(2, DOUBLE.space[0])
        third = run.result(2, trial, 60.0)
        assert third is not None
        assert {"over_incumbent", "drift"} <= set(third.quality)
        assert not run._compilers._clock.stands
    assert other.take()


def test_one_that_is_far_too_fast_is_measured_again_in_a_fresh_worker(monkeypatch: pytest.MonkeyPatch):
    """What is twice as fast as the best of several is believed the second time only."""
    with closing(LocalRun(task(1), Means(None, adaptive=False))) as run:
        run._good = 4
        run.submit(0, DOUBLE.space[0])
        trial = run.result(0, Trial(Outcome("ok"), 1.0), 60.0)
        run.submit(1, DOUBLE.space[1])
        usual = run.result(1, Trial(Outcome("ok"), 1e-12), 60.0)
    assert trial is not None
    assert usual is not None
    assert (True, "confirmed" in usual.quality) == (trial.quality["confirmed"], False)


def test_runs_go_ahead_by_the_same_number_however_many_workers_there_are():
    """So that what is suggested depends on the costs alone."""
    assert {8} == {LocalRun.ahead, ReplayRun.ahead}
    results = [
        tune(MIXED, PROBLEM, budget=12, workers=workers, seed=4, executor=Replay(lambda config: 1e-6 * config["step"]),
             start_method="fork", progress=False)
        for workers in (1, 3)
    ]  # fmt: skip
    stories = [[(record.config, record.cost) for record in result.records] for result in results]
    assert stories[0] == stories[1]


@given(
    st.lists(st.floats(0.001, 100.0), max_size=40),
    st.lists(st.floats(0.001, 100.0), max_size=40),
    st.floats(1e-7, 10.0),
    st.floats(0.01, 60.0),
)
def test_adaptive_limits_are_never_above_the_stated(
    compiled: list[float], checked: list[float], best: float, stated: float
):
    """Whatever was seen, a candidate gets no more than was stated; nor less, before enough is known."""
    limits = AdaptiveLimits(stated, 2 * stated, adaptive=True)
    for seconds in compiled:
        limits.note_compiled({"emit": seconds / 2, "compile": seconds / 2})
    for seconds in checked:
        limits.note_checked({"load": 0.0, "check": seconds})
    assert 0 < limits.compile_seconds <= stated
    assert 0 < limits.run_seconds(best) <= 2 * stated
    assert len(compiled) >= 10 or limits.compile_seconds == stated
    assert limits.run_seconds(None) == 2 * stated


def test_limits_come_down_to_far_above_what_is_usual():
    """Compiling: twenty times the 90th percentile; running: the same over the checks, and two hundred calls."""
    limits = AdaptiveLimits(30.0, 10.0, adaptive=True)
    for number in range(1, 21):
        limits.note_compiled({"emit": 0.0, "compile": 0.01 * number})
        limits.note_checked({"check": 0.05})
    assert pytest.approx(20 * 0.18) == limits.compile_seconds
    assert pytest.approx(2.0 + 200 * 0.001) == limits.run_seconds(0.001)
    assert {"compile_limit": pytest.approx(3.6)} == in_force(limits.for_compiling())
    assert {"run_limit": 10.0} == in_force(limits.for_running(None))
    fixed = AdaptiveLimits(30.0, 10.0, adaptive=False)
    for _ in range(20):
        fixed.note_compiled({"compile": 0.01})
    assert 30.0 == fixed.compile_seconds


def test_a_canary_tells_of_another_machine():
    """What is a tenth slower than the best that was heard is noise, and so is an incumbent that has moved."""
    listener = Listener()
    assert not listener.is_noisy(1.0)
    assert not listener.is_noisy(1.05, 1.05)
    assert listener.is_noisy(1.2)
    assert listener.is_noisy(1.0, 1.2)
    assert listener.is_noisy(1.0, 0.8)
    assert listener.is_noisy(0.5) is False
    assert listener.is_noisy(1.0)
    assert 0 < sing() < 1.0


def test_a_final_has_a_canary_of_its_own(monkeypatch: pytest.MonkeyPatch):
    """The machine may have changed since the trials: what marks them marks no final, and the other way round."""
    monkeypatch.setattr(racing, "sing", lambda: 1e3)
    result = tune(DOUBLE, PROBLEM, budget=4, start_method="fork", progress=False)
    assert result.best is not None
    assert ("final", 1e3, True) == (
        result.best.role, result.best.quality["canary"], result.best.quality["noisy"],
    )  # fmt: skip
    assert {"drift", "over_incumbent"}.isdisjoint(result.best.quality)
    assert 1e3 not in {record.quality["canary"] for record in result.records}


@given(st.lists(st.floats(0.5, 2.0), min_size=1, max_size=40), st.floats(0.5, 2.0))
def test_a_ratio_is_of_pairs(times: list[float], factor: float):
    """What falls on both of a pair alike does not show, and the interval spans the median."""
    ratio = Ratio.of([factor * time for time in times], times, 0.01)
    assert pytest.approx(factor) == ratio.median
    assert ratio.low <= ratio.median <= ratio.high
    assert not (ratio.slower and ratio.faster)
    if len(times) >= 8:
        assert (factor > 1.0051) <= ratio.slower
        assert (factor < 0.9949) <= ratio.faster


def test_the_largest_cache_is_found(tmp_path: Path):
    """Sizes are in kilobytes or megabytes; without any a usual size is taken."""
    for number, size in enumerate(("48K", "2048K", "30M", "strange")):
        (tmp_path / f"index{number}").mkdir()
        (tmp_path / f"index{number}" / "size").write_text(f"{size}\n")
    assert 30 << 20 == largest_cache(tmp_path)
    assert 32 << 20 == largest_cache(tmp_path / "none")


@pytest.mark.parametrize("cache", ["warm", "flushed"])
def test_records_say_under_what_they_were_measured(cache: str):
    """Each good record has its limits, the caches' state, the canary, and how it compares with the incumbent."""
    result = tune(DOUBLE, PROBLEM, budget=4, cache=cache, executor=Local(adaptive=False), progress=False)
    known = {"cache", "canary", "noisy", "compile_limit", "run_limit"}
    for record in result.records:
        assert known <= set(record.quality)
        assert (cache, 30.0, 10.0) == tuple(
            record.quality[name] for name in ("cache", "compile_limit", "run_limit")
        )
    assert "over_incumbent" not in result.records[0].quality
    # On a machine that is busy with other things a trial may end without a comparison; not all of them do.
    ratios = [one.quality["over_incumbent"] for one in result.records if "over_incumbent" in one.quality]
    assert ratios
    assert all(0 < ratio < 10 for ratio in ratios)
