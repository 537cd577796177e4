"""Limits of stages, the watch beside a job, the clock of a pool, and what deaths mean."""

from __future__ import annotations

import math
import signal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuner import cpucount
from tuner.clock import PausableClock
from tuner.diagnosis import Death, diagnose
from tuner.limits import Limits, Watch
from tuner.record import STAGES

GROUPS = Limits.of({("emit", "compile"): 3.0, "run": 1.0})


def test_the_time_before_the_first_stage_counts_to_the_first_group() -> None:
    """A job that never says a stage is over its limit all the same, and fails in the first one."""
    watch = Watch(GROUPS, 10.0)
    assert (13.0, 3.0, "emit") == (watch.deadline, watch.limit, watch.place)


def test_stages_of_a_group_share_its_time() -> None:
    """The next stage of a group goes on where the one before was; another group starts anew."""
    watch = Watch(GROUPS, 0.0)
    watch.enter("emit", 0.5)
    watch.enter("compile", 2.0)
    assert (3.0, "compile") == (watch.deadline, watch.place)
    watch.enter("run", 2.5)
    assert (3.5, 1.0, "run") == (watch.deadline, watch.limit, watch.place)


def test_a_group_that_is_come_back_to_has_what_it_had_left() -> None:
    """Going to and fro between groups buys no time."""
    watch = Watch(GROUPS, 0.0)
    watch.enter("run", 2.0)
    watch.enter("emit", 2.5)
    assert 3.5 == watch.deadline
    watch.enter("run", 3.0)
    assert 3.5 == watch.deadline


def test_a_stage_without_limit_counts_to_the_group_that_runs() -> None:
    """No stage is a way out of a limit."""
    watch = Watch(GROUPS, 0.0)
    watch.enter("run", 2.0)
    watch.enter("load", 2.5)
    assert (3.0, "load") == (watch.deadline, watch.place)


def test_without_limits_there_is_no_deadline() -> None:
    """A job without limits may take for ever; what fails before any stage fails in "run"."""
    watch = Watch(Limits.of(None), 0.0)
    assert (math.inf, "run") == (watch.deadline, watch.place)


@given(st.lists(st.tuples(st.sampled_from(STAGES), st.floats(0, 10)), max_size=12))
def test_no_job_outlives_the_sum_of_its_limits(steps: list[tuple[str, float]]) -> None:
    """Whatever order of stages, a job that meets every deadline has had no more than all limits together."""
    watch, now = Watch(GROUPS, 0.0), 0.0
    for stage, seconds in steps:
        if now + seconds >= watch.deadline:
            break
        now += seconds
        watch.enter(stage, now)
    assert now <= 4.0 + 1e-9


def test_the_seconds_of_stages_add_up() -> None:
    """Stages that come again add to their time."""
    watch = Watch(GROUPS, 1.0)
    for stage, now in (("emit", 1.5), ("compile", 2.0), ("emit", 4.0)):
        watch.enter(stage, now)
    assert (4.0, {"emit": 1.5, "compile": 2.0}) == watch.finish(5.0)


def test_a_paused_clock_leaves_the_time_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses nest; the clock goes on from where it stood."""
    now = [100.0]
    monkeypatch.setattr("tuner.clock.time.monotonic", lambda: now[0])
    watch = PausableClock()
    now[0] = 101.0
    assert (True, False) == (watch.pause(), watch.pause())
    now[0] = 150.0
    assert (101.0, False, True) == (watch.now(), watch.resume(), watch.resume())
    now[0] = 152.0
    assert (103.0, False) == (watch.now(), watch.stands)


@pytest.mark.parametrize(
    ("death", "stderr", "expected"),
    [
        (Death(signal.SIGSEGV), "noise\n", ("signal", "SIGSEGV")),
        (Death(signal.SIGSEGV | 0x80), "", ("signal", "SIGSEGV")),  # 0x80: with a core dump
        (Death(signal.SIGABRT), "noise\ncorrupted size\n\n", ("signal", "SIGABRT; corrupted size")),
        (Death(signal.SIGRTMIN + 3), "", ("signal", f"signal {signal.SIGRTMIN + 3}")),
        (Death(1 << 8), "x\nLLVM ERROR: 64-bit code requested\ny", ("exit", "exit status 1; LLVM ERROR: 64-bit code requested")),
        (Death(1 << 8), "error: one\nerror: two\nnoise", ("exit", "exit status 1; error: two")),
        (Death(1 << 8), "<inline asm>:1:2: error: unknown\n  x\n  ^\n", ("exit", "exit status 1; <inline asm>:1:2: error: unknown")),
        (Death(signal.SIGSEGV), "error: one", ("signal", "SIGSEGV")),
        (Death(0), "noise", ("exit", "exit status 0")),
        (Death(signal.SIGABRT), "LLVM ERROR: out of memory\nAllocation failed\n", ("memory", "SIGABRT; LLVM ERROR: out of memory")),
        (Death(signal.SIGKILL, growth=900), "", ("memory", "SIGKILL")),
        (Death(signal.SIGKILL, growth=899), "", ("signal", "SIGKILL")),
    ],
)  # fmt: skip
def test_a_death_is_told_by_status_peak_and_message(
    death: Death, stderr: str, expected: tuple[str, str]
) -> None:
    """The kind is memory where LLVM said so or 90 % of the allowance were used, else how the process ended."""
    outcome = diagnose(death, "run", stderr, memory=1000 << 10)
    assert (*expected, "run", stderr) == (outcome.kind, outcome.cause, outcome.stage, outcome.stderr)


@pytest.mark.parametrize(
    ("files", "group", "expected"),
    [
        ({"cpu.max": "max 100000"}, [("", "/")], []),
        ({"cpu.max": "150000 100000"}, [("", "/")], [1.5]),
        ({"a/cpu.max": "50000 100000", "a/b/cpu.max": "max 100000"}, [("", "/a/b")], [0.5]),
        ({"cpu,cpuacct/a/cpu.cfs_quota_us": "200000", "cpu,cpuacct/a/cpu.cfs_period_us": "100000"},
         [("cpu,cpuacct", "/a"), ("memory", "/a")], [2.0]),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, [("cpu", "/")], []),
        ({}, [("", "/gone")], []),
    ],
)  # fmt: skip
def test_quotas_of_all_groups_round_this_process_bind(
    tmp_path: Path, files: dict[str, str], group: list[tuple[str, str]], expected: list[float]
) -> None:
    """Both generations of control groups are read; the outer groups bind too."""
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert expected == cpucount._quotas(tmp_path, group)


def test_at_least_one_processor_is_usable(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quota rounds up, and never to none."""
    monkeypatch.setattr(cpucount, "_quotas", lambda *_: [0.2])
    assert 1 == cpucount.usable_cpus()
