"""A candidate is checked before it is timed, and a race says who is faster only where that is sure."""

from __future__ import annotations

import itertools
import math
import os
import pickle
import random
import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines import DOUBLING, HOST, NEON, double_reference, map_arguments, map_ir, no_stage
from tuner.build import compile_text
from tuner.calmness import Interruptions, Rounds
from tuner.checking import describe_errors, prepare_trial
from tuner.errors import KernelError
from tuner.kernel import Kernel, Work
from tuner.loading import load
from tuner.measure import Measurement, measure_candidate, measure_peer, time_callable
from tuner.peak import fma_peak, memory_peak, read_text
from tuner.racing import _alike, judge, merge, race, sign_interval
from tuner.record import Outcome
from tuner.space import Space
from tuner.timing import Timing, jittered, orders, take_times, typical

SPACE = Space({"unroll": [1]})
PROBLEM = {"n": 1000}
COUNTER = "@count = internal global i64 0\n"
NEXT_COUNT = """
  %before = load i64, ptr @count
  %after = add i64 %before, 1
  store i64 %after, ptr @count
"""


def make(**more: Any) -> Kernel:
    given = {"arguments": map_arguments, "reference": double_reference} | more
    return Kernel("doubling", SPACE, lambda *_: DOUBLING, entry="f", **given)


def build(text: str) -> bytes:
    return compile_text(text, HOST, entry="f", passes="none")


def measure(text: str, **more: Any) -> Measurement:
    problem = more.pop("problem", PROBLEM)
    return measure_candidate(no_stage, make(**more), problem, HOST, build(text))


def test_a_right_candidate_is_timed() -> None:
    """It goes through the three stages in order, and gives a cost out of its times."""
    stages: list[str] = []
    measured = measure_candidate(stages.append, make(), PROBLEM, HOST, build(DOUBLING))
    assert stages == ["load", "check", "run"]
    assert measured.outcome == Outcome("ok")
    assert measured.cost == typical(measured.times)
    assert 0 < measured.cost < 1e-3
    assert 5 <= len(measured.times) <= 25
    assert measured.calls > 1
    assert pickle.loads(pickle.dumps(measured)) == measured


def test_no_elements_are_no_fault() -> None:
    """A kernel may have nothing to do."""
    assert measure(DOUBLING, problem={"n": 0}).outcome == Outcome("ok")


@pytest.mark.parametrize(
    ("offset", "cause"),
    [(0, "y: a write 0 bytes behind its end"), (-1, "y: a write 1 bytes before its start")],
)
def test_an_array_without_elements_has_guards_too(offset: int, cause: str) -> None:
    """All of its room is theirs."""
    text = (
        f"define void @f(ptr %x, i64 %n, ptr %y) {{\n  %far = getelementptr i8, ptr %y, i64 {offset}\n"
        "  store i8 1, ptr %far\n  ret void\n}"
    )
    outcome = measure(text, problem={"n": 0}).outcome
    assert ("wrong", "check", cause) == (outcome.kind, outcome.stage, outcome.cause)


def test_each_wrong_result_is_told_by_its_cause() -> None:
    """A wrong value names the array, how many elements, the worst and what was allowed."""
    outcome = measure(map_ir("  %yi = fmul double %xi, 3.0")).outcome
    assert (outcome.kind, outcome.stage) == ("wrong", "check")
    assert outcome.cause is not None
    assert outcome.cause.startswith("y: 1000 of 1000 elements wrong, the worst at [")


@pytest.mark.parametrize(
    ("name", "body", "cause"),
    [
        ("nan", "  %yi = fdiv double 0.0, 0.0", "y: 1000 of 1000 elements wrong"),
        ("input", "  %yi = fadd double %xi, %xi\n  store double %yi, ptr %px", "x: an input was changed"),
        (
            "behind",
            "  %yi = fadd double %xi, %xi\n  %far = getelementptr double, ptr %y, i64 %n\n  store i8 1, ptr %far",
            "y: a write 0 bytes behind its end",
        ),
        (
            "far behind",
            """  %yi = fadd double %xi, %xi
  %end = getelementptr double, ptr %y, i64 %n
  %far = getelementptr i8, ptr %end, i64 4095
  store i8 1, ptr %far""",
            "y: a write 4095 bytes behind its end",
        ),
        (
            "before",
            "  %yi = fadd double %xi, %xi\n  %far = getelementptr i8, ptr %x, i64 -4096\n  store i8 1, ptr %far",
            "x: a write 4096 bytes before its start",
        ),
    ],
)
def test_a_candidate_that_does_harm_is_found_out(name: str, body: str, cause: str) -> None:
    """NaN, a changed input, and a write anywhere within 4 KiB of an array are wrong."""
    del name
    outcome = measure(map_ir(body)).outcome
    assert outcome.kind == "wrong"
    assert (outcome.cause or "").startswith(cause)


def test_an_output_that_is_not_written_is_found_out() -> None:
    """What `arguments` put there, or an earlier candidate, does not pass for the result."""
    text = "define void @f(ptr %x, i64 %n, ptr %y) { ret void }"

    def zeros(x: Any, n: int, y: Any) -> tuple[Any, ...]:
        return None, np.zeros(n, y.dtype)

    def integers(problem: Any, rng: Any) -> tuple[Any, ...]:
        return np.zeros(9), 9, np.zeros(9, np.int32)

    assert measure(text, reference=zeros).outcome.kind == "wrong"
    assert measure(text, reference=zeros, arguments=integers).outcome.kind == "wrong"


def test_an_output_that_is_read_keeps_its_content() -> None:
    """A kernel that adds to what is there gets it from `arguments`, once for each call."""
    text = map_ir("  %old = load double, ptr %py\n  %yi = fadd double %xi, %old")
    ones = lambda problem, rng: (rng.random(problem["n"]), problem["n"], np.ones(problem["n"]))
    adding = lambda x, n, y: (None, x + y)
    assert measure(text, arguments=ones, reference=adding).outcome == Outcome("ok")
    twice = map_ir(
        "  %old = load double, ptr %py\n  %both = fadd double %old, %old\n  %yi = fadd double %xi, %both"
    )
    assert measure(twice, arguments=ones, reference=adding).outcome.kind == "wrong"


def test_two_calls_must_agree() -> None:
    """A second call on equal inputs that is wrong, or without a reference just different, is found out."""
    growing = COUNTER + map_ir(
        NEXT_COUNT + "  %late = icmp ugt i64 %after, 1500\n"
        "  %wrong = fadd double %xi, 1.0\n  %other = select i1 %late, double %wrong, double %xi\n"
        "  %yi = fadd double %xi, %other"
    )
    assert "second of two calls" in (measure(growing).outcome.cause or "")
    assert "different results" in (measure(growing, reference=None).outcome.cause or "")
    assert measure(DOUBLING, reference=None).outcome == Outcome("ok")


def test_rounding_is_no_fault_and_more_is() -> None:
    """Without a tolerance of its own a kernel may be off by some units of the last place, not by a millionth."""
    for factor, kind in (("2.0000000000000009", "ok"), ("2.000001", "wrong")):
        assert kind == measure(map_ir(f"  %yi = fmul double %xi, {factor}")).outcome.kind
    assert measure(map_ir("  %yi = fmul double %xi, 2.000001"), tolerance=1e-5).outcome.kind == "ok"
    exact = {"tolerance": 0}
    assert measure(map_ir("  %yi = fmul double %xi, 2.0000000000000009"), **exact).outcome.kind == "wrong"


def test_tolerance_grows_with_the_length_of_a_reduction() -> None:
    """Where the work says that each element is a long sum, a larger error is allowed."""
    body = map_ir("  %yi = fmul double %xi, 2.00000000000001")
    assert measure(body).outcome.kind == "wrong"
    assert measure(body, work=lambda problem: Work(2 * 10_000 * problem["n"], 0)).outcome.kind == "ok"


def test_the_kernels_own_faults_are_errors() -> None:
    """A reference or a tolerance that raises or gives what does not fit is an error, not a wrong candidate."""
    for reference, message in (
        (lambda x, n, y: 1 / 0, "reference raised ZeroDivisionError"),
        (lambda x, n, y: (None,), "tuple of 2"),
        (lambda x, n, y: [None, x], "tuple of 2"),
        (lambda x, n, y: (None, x[1:]), "gave shape"),
        (lambda x, n, y: (None, np.multiply(x, 2, out=y)), "changed its arguments"),
    ):
        with pytest.raises(KernelError, match=message):
            measure(DOUBLING, reference=reference)
    with pytest.raises(KernelError, match="tolerance must give 2"):
        measure(DOUBLING, tolerance=lambda *_: (1.0,))


def test_another_signature_is_refused_before_the_call() -> None:
    """Code that takes other arguments would crash: it is told apart by its type."""
    for signature in (
        "ptr %x, ptr %y",
        "ptr %x, i32 %n, ptr %y",
        "ptr %x, double %n, ptr %y",
        "ptr %x, i64 %n, ptr %y, ptr %z",
    ):
        with pytest.raises(KernelError, match="arguments need void"):
            measure(f"define void @f({signature}) {{ ret void }}")


def test_foreign_and_unlinkable_code_is_refused() -> None:
    """Code for another architecture is not linked, and a symbol that nobody defines is an error with its name."""
    if HOST.family != "aarch64":
        with pytest.raises(KernelError, match="for aarch64"):
            measure_candidate(
                no_stage, make(), PROBLEM, HOST, compile_text(DOUBLING, NEON, entry="f", passes="none")
            )
    undefined = "declare void @no_such_function()\n" + map_ir(
        "  call void @no_such_function()\n  %yi = fadd double %xi, %xi"
    )
    with pytest.raises(RuntimeError, match="nothing defines no_such_function"):
        measure(undefined)


def test_all_types_of_numbers_arrive() -> None:
    """Each argument reaches the native code with its own width and value."""
    text = """
define void @f(ptr %y, i64 %a, double %b, float %c, i32 %d, i8 %e) {
  %a1 = sitofp i64 %a to double
  %c1 = fpext float %c to double
  %d1 = sitofp i32 %d to double
  %e1 = uitofp i8 %e to double
  %s1 = fadd double %a1, %b
  %s2 = fadd double %s1, %c1
  %s3 = fadd double %s2, %d1
  %s4 = fadd double %s3, %e1
  store double %s4, ptr %y
  ret void
}"""
    y = np.zeros(1)
    arguments = (y, -(2**40), 0.5, np.float32(0.25), np.int32(-7), np.uint8(200))
    load(build(text), "f", arguments).bind(arguments)()
    assert y.tolist() == [-(2**40) + 0.5 + 0.25 - 7 + 200]


def test_a_call_repeats_natively() -> None:
    """A call runs the function as often as it is told, also not at all."""
    text = "define void @f(ptr %y) {\n  %a = load i64, ptr %y\n  %b = add i64 %a, 1\n  store i64 %b, ptr %y\n  ret void\n}"
    counter = np.zeros(1, np.int64)
    call = load(build(text), "f", (counter,)).bind((counter,))
    call(0)
    call()
    call(1000)
    assert counter.tolist() == [1001]


@pytest.mark.parametrize(
    ("got", "expected", "bound", "wrong"),
    [
        ([1.0, 2.0], [1.0, 2.0], 0.0, 0),
        ([1.0, 2.5], [1.0, 2.0], 0.5, 0),
        ([1.0, 2.6], [1.0, 2.0], 0.5, 1),
        ([1.0, 2.6], [1.0, 2.0], [0.0, 1.0], 0),
        ([math.nan, 1.0], [math.nan, 1.0], 0.0, 0),
        ([math.nan, 1.0], [2.0, 1.0], 9.0, 1),
        ([2.0, 1.0], [math.nan, 1.0], 9.0, 1),
        ([math.inf, -math.inf], [math.inf, -math.inf], 1.0, 0),
        ([math.inf, 1.0], [-math.inf, 1.0], 1.0, 1),
        ([1.0, 1.0], [math.inf, 1.0], 1.0, 1),
        ([1.0], [1.0], math.nan, 0),
        ([1.0], [2.0], math.nan, 1),
        ([1, 2**62 + 1], [1, 2**62], None, 1),
        ([True, False], [True, True], None, 1),
        ([], [], None, 0),
    ],
)
def test_errors_are_counted(got: Any, expected: Any, bound: Any, wrong: int) -> None:
    """NaN and infinities match themselves only, a bound may differ by element, and integers are exact."""
    told = describe_errors(np.array(got), np.array(expected), bound)
    assert wrong == (int(told.split()[0]) if told else 0)


def test_the_worst_error_is_named() -> None:
    """Of several wrong elements the message gives the one that is furthest off; NaN is further than any number."""
    zeros = np.zeros((2, 2))
    assert "worst at [1, 0]: got 5.0, expected 0.0 within 1" in str(
        describe_errors(np.array([[2, 0], [5, 0.5]]), zeros, 1)
    )
    assert "worst at [0, 1]: got nan" in str(describe_errors(np.array([[1e300, math.nan], [0, 0]]), zeros, 1))


def test_a_slow_candidate_is_stopped_early() -> None:
    """One that is far above the incumbent is called twice, is ok and flagged; one that is not is timed in full."""
    calls: list[int] = []

    def slow(times: int) -> None:
        calls.append(times)
        until = time.thread_time() + 0.002
        while time.thread_time() < until:
            pass

    timing = take_times(slow, best=0.0001)
    assert timing.stopped_early
    assert calls == [1, 1]
    assert min(timing.times) >= 0.002
    assert not take_times(slow, best=0.002, seconds=0.02).stopped_early
    assert not take_times(slow, seconds=0.02).stopped_early


def test_what_calling_costs_makes_no_short_kernel_slow() -> None:
    """A loop that is dear to enter is not taken for a slow call: of short calls, batches tell."""

    def run(times: int) -> None:
        until = time.thread_time() + 10e-6 + 1e-9 * times
        while time.thread_time() < until:
            pass

    assert not take_times(run, best=1e-6, seconds=0.001).stopped_early


def test_an_early_stop_is_an_outcome() -> None:
    """The measurement says so and keeps the bound known so far."""
    measured = measure_candidate(no_stage, make(), {"n": 100_000}, HOST, build(DOUBLING), best=1e-9)
    assert measured.outcome == Outcome("ok", stopped_early=True)
    assert measured.cost == min(measured.times)


def test_the_statistic_is_the_lower_quartile() -> None:
    """It is a reading, and disturbed readings up to three quarters do not move it."""
    assert typical([5.0, 1.0, 3.0, 2.0, 4.0]) == 2.0
    assert typical([7.0]) == 7.0
    assert typical([1.0, 1.0] + [9.0] * 3) == 1.0
    assert Timing((3.0, 1.0, 2.0), 1).cost == 1.0


def test_readings_are_taken_in_turn_with_the_rivals() -> None:
    """ABBA, as many calls for both, the data restored before each; a rival that is surely faster ends it."""
    story: list[tuple[str, int]] = []

    def take(name: str, seconds: float) -> Any:
        def run(times: int) -> None:
            story.append((name, times))
            until = time.thread_time() + seconds * times
            while time.thread_time() < until:
                pass

        return run

    timing = take_times(
        take("mine", 0.0013), rival=take("rival", 0.001), between=lambda: story.append(("restored", 0))
    )
    assert len(timing.times) == len(timing.rival) == 8
    assert timing.ratio is not None
    assert timing.ratio.slower
    assert not timing.stopped_early
    readings = [name for name, _ in story if name != "restored"][-16:]
    there_and_back = {("mine", "rival", "rival", "mine"), ("rival", "mine", "mine", "rival")}
    assert there_and_back >= {tuple(readings[at : at + 4]) for at in range(0, 16, 4)}
    assert all(("restored", 0) == story[at - 1] for at in range(len(story) - 32, len(story)) if story[at][1])


def test_work_of_other_threads_is_timed_by_the_wall() -> None:
    """A callable whose work is done elsewhere costs what one waits for it."""

    def burn() -> None:
        until = time.thread_time() + 0.003
        while time.thread_time() < until:
            pass

    def run(times: int) -> None:
        for _ in range(times):
            thread = threading.Thread(target=burn)
            thread.start()
            thread.join()

    timing = take_times(run, seconds=0.02)
    assert "wall" == timing.clock
    assert min(timing.times) >= 0.003
    assert "thread-cpu" == take_times(lambda times: burn(), seconds=0.02).clock


def test_arrays_are_restored_between_batches() -> None:
    """What a call reads and changes is what `arguments` made, before each batch; outputs and inputs are left alone."""
    ones = lambda problem, rng: (rng.random(problem["n"]), problem["n"], np.ones(problem["n"]))
    kernel = make(arguments=ones, reference=lambda x, n, y: (None, x + y))
    trial = prepare_trial(kernel, PROBLEM, 0)
    trial.prepare()
    trial.guarded[0].array[...] = trial.guarded[1].array[...] = 7.0
    trial.restore()
    assert ({7.0}, {1.0}) == (set(trial.guarded[0].array), set(trial.guarded[1].array))
    trial.between("flushed")()
    pure = prepare_trial(make(), PROBLEM, 0)
    pure.guarded[1].array[...] = 7.0
    pure.restore()
    assert {7.0} == set(pure.guarded[1].array)


def test_a_candidate_is_compared_with_the_incumbent_on_the_same_arrays() -> None:
    """The measurement holds the ratio, what the incumbent takes now, and a canary; equal code is about equal."""
    code = build(DOUBLING)
    measured = measure_candidate(no_stage, make(), {"n": 20_000}, HOST, code, incumbent=code, best=1.0)
    assert measured.ratio is not None
    assert measured.incumbent is not None
    assert measured.canary is not None
    assert 0.5 < measured.ratio.median < 2.0
    assert measure_candidate(no_stage, make(), PROBLEM, HOST, code).ratio is None
    flushed = measure_candidate(no_stage, make(), PROBLEM, HOST, code, cache="flushed")
    assert (1, True) == (flushed.calls, flushed.cost is not None)


def test_a_wrong_write_is_told_to_the_parent() -> None:
    """A process in which something was written where it should not be is not to be trusted again."""
    far = (
        "  %yi = fadd double %xi, %xi\n  %far = getelementptr double, ptr %y, i64 %n\n  store i8 1, ptr %far"
    )
    assert measure(map_ir(far)).damaged
    assert not measure(map_ir("  %yi = fmul double %xi, 3.0")).damaged


def test_short_calls_are_batched() -> None:
    """A callable too short for the clock is run many times a reading."""
    timing = time_callable(lambda: None)
    assert timing.calls > 100
    assert timing.cost < 1e-4


def test_a_peer_is_timed_by_its_name() -> None:
    """A peer runs on the kernel's arguments in place; an unknown one is refused."""
    seen: list[int] = []

    def double(x: Any, n: int, y: Any) -> None:
        seen.append(n)
        np.add(x, x, out=y)

    kernel = make(peers={"numpy": double})
    assert measure_peer(no_stage, kernel, PROBLEM, "numpy").outcome == Outcome("ok")
    assert set(seen) == {1000}
    with pytest.raises(KernelError, match="no peer 'blas'"):
        measure_peer(no_stage, kernel, PROBLEM, "blas")


@given(st.lists(st.floats(-10, 10), min_size=1, max_size=60))
def test_an_interval_holds_the_median(values: list[float]) -> None:
    """The sign interval is of readings, or infinite, and spans the median."""
    low, high = sign_interval(values, 0.01)
    assert low <= np.median(values) <= high
    assert math.isinf(low) == math.isinf(high) == (len(values) < 8)
    assert math.isinf(low) or {low, high} <= set(values)


def test_interval_ranks() -> None:
    """The ranks are those of the tables of the sign test: n = 8, 20, 50 at 1 %."""
    for size, rank in ((8, 1), (20, 4), (50, 16)):
        assert (float(rank), float(size + 1 - rank)) == sign_interval(
            [float(n) for n in range(1, size + 1)], 0.01
        )


def test_a_race_is_judged_by_pairs() -> None:
    """Drift that falls on both alike does not hide a difference of 2 %; one of 0.3 % does not count."""
    drift = [1 + n / 10 for n in range(24)]
    for factor, separated in ((1.02, True), (1.003, False), (1.0, False)):
        judged = judge([[factor * t for t in drift], drift], 2)
        assert judged.separated is separated
        assert judged.interval == pytest.approx((factor, factor))
    assert judge([[1.02 * t for t in drift], drift], 2).order == (1, 0)


def test_races_of_several_processes_are_judged_together() -> None:
    """Too few rounds in each are enough together."""
    parts = [judge([[1.1] * 12, [1.0] * 12], 2) for _ in range(2)]
    assert [False, False] == [part.separated for part in parts]
    merged = merge(parts, 2)
    assert ((1, 0), True, 24) == (merged.order, merged.separated, len(merged.times[0]))


def test_two_rounds_are_one_observation() -> None:
    """What harms who is first, and who is first in turn, separates nobody, however often it comes."""
    assert not judge([[1.5, 1.0] * 100, [1.0, 1.5] * 100], 2).separated
    assert judge([[1.5, 1.1] * 10, [1.0, 1.5] * 10], 2).separated  # the lower one of two counts
    assert not judge([[1.1] * 18, [1.0] * 18], 2).separated  # nine observations
    assert judge([[1.1] * 20, [1.0] * 20], 2).separated


def test_contestants_of_about_the_same_speed_have_batches_of_the_same_length() -> None:
    """A busy moment gives one a batch of one call and its like one of five; far slower ones are spared such many."""
    assert [5, 5, 100] == _alike([(1, 0.0003), (5, 0.0001), (100, 0.00001)])
    assert [7, 7, 1] == _alike([(5, 1.0), (7, 1.1), (1, 5.0)])


def test_each_is_first_as_often_as_chance_wills() -> None:
    """Rounds go there and back; who begins is drawn, so that nothing periodic can single one out."""
    drawn = orders(2, random.Random(1))
    rounds = [tuple(next(drawn)) for _ in range(200)]
    assert rounds[1::2] == [there[::-1] for there in rounds[::2]]
    assert 30 < sum(there == (0, 1) for there in rounds[::2]) < 70
    assert 5 < sum(one != other for one, other in itertools.pairwise(rounds[::2]))


def test_batches_vary_in_step_with_each_other() -> None:
    """Also batches of two calls vary, contestants alike; one call stays one."""
    rng = random.Random(1)
    lengths = [jittered([2, 2, 1], rng) for _ in range(200)]
    assert {1, 2, 3} >= {own for own, _, _ in lengths} > {2}
    assert all(own == other and one == 1 for own, other, one in lengths)


def test_interrupted_rounds_do_not_count_where_there_are_others() -> None:
    """They are left out whole; where hardly any is in peace, all count."""
    rounds = Rounds(2)
    for number in range(10):
        rounds.add([[1.0, 2.0], [1.0, 2.0]], interrupted=False)
        rounds.add([[9.0, 2.0 + number]] * 2, interrupted=True)
    assert [[1.0] * 20, [2.0] * 20] == rounds.chosen
    assert 40 == len(rounds)
    for _ in range(40):
        rounds.add([[9.0, 9.0]] * 2, interrupted=True)
    assert 120 == len(rounds.chosen[0])


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts the interruptions of one thread")
def test_an_interruption_is_noticed() -> None:
    """A thread that gave way to another on one processor was interrupted; one that slept was not."""
    interruptions = Interruptions()
    time.sleep(0.001)
    assert not interruptions.came()
    before = os.sched_getaffinity(0)
    one = min(before)
    os.sched_setaffinity(0, {one})
    busy = subprocess.Popen(
        [sys.executable, "-c", f"import os; os.sched_setaffinity(0, {{{one}}})\nwhile True: pass"]
    )
    try:
        ends = time.monotonic() + 30
        while not interruptions.came():
            assert time.monotonic() < ends
    finally:
        os.sched_setaffinity(0, before)
        busy.kill()
        busy.wait()


def test_one_contestant_is_not_separated() -> None:
    """Nothing was compared, so nothing is claimed."""
    judged = judge([[1.0] * 8], 1)
    assert (judged.order, judged.separated, judged.interval) == ((0,), False, (0.0, math.inf))


def test_a_race_tells_twice_the_work_apart() -> None:
    """Of two right candidates the one that does everything twice loses, whatever the order; peers take no place."""
    double = map_ir("  %yi = fadd double %xi, %xi")
    slow = double.replace(
        "store double %yi, ptr %py", "\n".join("  store volatile double %yi, ptr %py" for _ in range(20))
    )
    kernel = make(peers={"numpy": lambda x, _, y: np.add(x, x, out=y)})
    stages: list[str] = []
    result = race(
        stages.append, kernel, PROBLEM, HOST, [build(slow), build(double)], peers=["numpy"], seconds=0.2
    )
    assert stages == ["load", "run"]
    assert result.order == (1, 0)
    assert result.separated
    assert result.interval[0] > 1.005
    assert len(result.costs) == len(result.times) == 3
    assert len({len(times) for times in result.times}) == 1
    assert result.ratio(0, 1) > 1.005
    assert pickle.loads(pickle.dumps(result)) == result


def test_the_peak_is_above_a_chain_of_dependent_operations() -> None:
    """It counts at least what twelve independent chains can do beyond one."""
    assert fma_peak(no_stage, HOST) > 1.0


def test_the_memory_peak_is_what_a_sum_of_all_elements_takes() -> None:
    """The loop reads every element once, and its rate is one that a memory can have."""
    lanes, count = 4, 4 * 8 * 3
    x, sums = np.arange(count, dtype=np.float32), np.zeros((8, lanes), np.float32)
    code = compile_text(read_text(lanes, count), HOST, entry="peak", passes="none")
    load(code, "peak", (x, sums)).bind((x, sums))()
    assert float(x.sum()) == float(sums.sum())
    assert 0.1 < memory_peak(no_stage, HOST) < 2000
