"""The worker pool: whatever a job does, it ends as a value, under each way to start workers."""

from __future__ import annotations

import _thread
import ctypes
import functools
import gc
import mmap
import os
import resource
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tuner import crew
from tuner.errors import TravelError, WorkerStartError
from tuner.limits import LimitsLike
from tuner.peer import Done
from tuner.pool import Pool, wait_any
from tuner.spawning import KeeperProcess
from tuner.travel import share

METHODS = ("spawn", "forkserver", "fork")
Stage = Callable[[str], object]


@pytest.fixture(scope="module", params=METHODS)
def method(request: pytest.FixtureRequest) -> str:
    """Each way to start workers."""
    return str(request.param)


@pytest.fixture(scope="module")
def pool(method: str) -> Iterator[Pool]:
    """A pool that many tests share: what one does to it must not matter to the next."""
    with Pool(2, start_method=method, preload=(), limits={("emit", "compile"): 20.0, "run": 20.0}) as made:
        yield made


def ask(pool: Pool, function: Any, *arguments: Any, **terms: Any) -> Done:
    """Run one job and return how it ended."""
    ticket = pool.submit(function, *arguments, **terms)
    (done,) = pool.wait(60)
    assert ticket == done.ticket
    return done


def ends(pid: int, within: float = 5.0) -> bool:
    """Say whether a process that is no child of ours ends in time; a zombie has ended."""
    limit = time.monotonic() + within
    while time.monotonic() < limit:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.01)
    return False


def descriptors() -> int:
    """Count the open descriptors of this process."""
    return len(list(Path("/dev/fd").iterdir()))


# What jobs do.


def give(stage: Stage, value: Any) -> Any:
    stage("run")
    return value


def rest(stage: Stage, seconds: float) -> float:
    stage("run")
    time.sleep(seconds)
    return seconds


def where(stage: Stage) -> int:
    stage("run")
    return os.getpid()


class TwoArgumentsError(Exception):
    def __init__(self, what: str, *, why: str) -> None:
        super().__init__(f"{what} for {why}")


def raise_it(stage: Stage) -> None:
    stage("compile")
    raise TwoArgumentsError("no luck", why="no reason")


def exit_with(stage: Stage, code: int) -> None:
    stage("compile")
    os.write(2, b"noise\nLLVM ERROR: cannot select\n" if code == 1 else b"noise\n")
    os._exit(code)


def abort(stage: Stage) -> None:
    stage("run")
    os.write(2, b"noise\nfree(): invalid pointer\n")
    os.abort()


def segfault(stage: Stage) -> None:
    stage("run")
    ctypes.string_at(8)


def loop(stage: Stage) -> None:
    stage("run")
    while True:
        pass


def hang_in_native_code(stage: Stage) -> None:
    stage("run")
    ctypes.PyDLL(None).pause()  # with the interpreter's lock held


def channels() -> list[int]:
    def is_socket(number: int) -> bool:
        try:
            return socket.socket(fileno=os.dup(number)).family == socket.AF_UNIX
        except OSError:
            return False

    return [number for number in range(3, 256) if is_socket(number)]


def close_channel(stage: Stage, seconds: float) -> None:
    stage("run")
    for number in channels():
        os.close(number)
    time.sleep(seconds)


def write_noise_to_channel(stage: Stage) -> None:
    stage("run")
    os.write(channels()[0], b"noise")
    time.sleep(60)


def give_lock(stage: Stage) -> object:
    stage("run")
    return {"deep": [threading.Lock()]}


def leave(stage: Stage) -> None:
    stage("run")
    raise SystemExit(3)


def recurse(stage: Stage) -> None:
    stage("run")
    recurse(lambda _: None)


def unknown_stage(stage: Stage) -> None:
    stage("brew")


def unreadable_result(stage: Stage) -> object:
    stage("run")

    class Unreadable:
        def __reduce__(self) -> tuple[Any, ...]:
            return int, ("no number",)

    return Unreadable()


FAULTS: dict[str, tuple[Any, tuple[str, str, str]]] = {
    "raises": (raise_it, ("error", "compile", f"{__name__}.TwoArgumentsError: no luck for no reason")),
    "leaves": (leave, ("error", "run", "SystemExit: 3")),
    "recurses": (recurse, ("error", "run", "RecursionError: maximum recursion depth exceeded")),
    "exits 7": (functools.partial(exit_with, code=7), ("exit", "compile", "exit status 7")),
    "exits 0": (functools.partial(exit_with, code=0), ("exit", "compile", "exit status 0")),
    "LLVM exits": (
        functools.partial(exit_with, code=1),
        ("exit", "compile", "exit status 1; LLVM ERROR: cannot select"),
    ),
    "aborts": (abort, ("signal", "run", "SIGABRT; free(): invalid pointer")),
    "segfaults": (segfault, ("signal", "run", "SIGSEGV")),
    "loops": (loop, ("timeout", "run", "took more than 1 s")),
    "hangs in native code": (hang_in_native_code, ("timeout", "run", "took more than 1 s")),
    "closes its channel": (
        functools.partial(close_channel, seconds=60),
        ("error", "run", "closed its channel"),
    ),
    "returns without channel": (
        functools.partial(close_channel, seconds=0),
        ("error", "run", "closed its channel"),
    ),
    "breaks the protocol": (
        write_noise_to_channel,
        ("error", "run", "broke the protocol of its channel: no frame begins with 0x6e"),
    ),
    "gives a lock": (
        give_lock,
        (
            "error",
            "run",
            "the result['deep'][0] cannot travel to a worker: TypeError: cannot pickle '_thread.lock' object",
        ),
    ),
    "gives what cannot be read": (
        unreadable_result,
        (
            "error",
            "run",
            "its result cannot be read here: ValueError: invalid literal for int() with base 10: 'no number'",
        ),
    ),
    "names no stage": (
        unknown_stage,
        ("error", "emit", "ValueError: there is no stage 'brew'; use one of emit, compile, load, check, run"),
    ),
}


def test_each_fault_is_an_outcome_of_its_own(pool: Pool) -> None:
    """Faults of every sort end as values with their kind, stage and cause, and good jobs among them are unharmed."""
    limits: LimitsLike = {("emit", "compile"): 20.0, "run": 1.0}
    names = {pool.submit(function, limits=limits): name for name, (function, _) in FAULTS.items()}
    names |= {pool.submit(give, number): f"good {number}" for number in range(8)}
    got: dict[str, Any] = {}
    while pool.pending:
        for done in pool.wait(60):
            failure = done.failure
            got[names[done.ticket]] = (failure.kind, failure.stage, failure.cause) if failure else done.value
    assert {name: end for name, (_, end) in FAULTS.items()} | {f"good {n}": n for n in range(8)} == got


def test_any_value_comes_back(pool: Pool) -> None:
    """Results are equal to what was sent, whatever their size and type."""
    values = [None, b"x" * 3_000_000, {"a": (1, 2.5, "\N{SNOWMAN}")}, {1, 2}, 10**40]
    assert values == [ask(pool, give, value).value for value in values]


def test_jobs_start_in_the_order_in_which_they_are_submitted(pool: Pool, tmp_path: Path) -> None:
    """Queued jobs begin first in, first out."""

    def log(stage: Stage, number: int) -> None:
        stage("run")
        with (tmp_path / "log").open("a") as file:
            file.write(f"{number}\n")
        time.sleep(0.02)

    def block(stage: Stage) -> None:
        stage("run")
        while not (tmp_path / "go").exists():
            time.sleep(0.01)

    pool.submit(block)
    for number in range(10):
        pool.submit(log, number)
    while pool.pending > 1:
        pool.wait(60)
    (tmp_path / "go").touch()
    pool.wait(60)
    assert list(range(10)) == [int(line) for line in (tmp_path / "log").read_text().split()]


def test_the_traceback_comes_back_as_text(pool: Pool) -> None:
    """An exception's class need not exist, nor unpickle, here: its text is kept."""
    done = ask(pool, raise_it)
    assert done.failure is not None
    assert 'raise TwoArgumentsError("no luck", why="no reason")' in done.failure.stderr
    assert "worker.py" not in done.failure.stderr


def test_output_without_end_neither_blocks_nor_stays(pool: Pool) -> None:
    """Only the end of what a job writes is kept, and a job that writes much is not slowed to a halt."""

    def write(stage: Stage) -> str:
        stage("run")
        for _ in range(1000):
            os.write(2, b"\xff" * 100_000)
        sys.stdout.write("the end\n")
        return "written"

    done = ask(pool, write)
    assert ("written", True) == (done.value, done.stderr.endswith("the end\n"))
    assert len(done.stderr) <= 4 * 8192


def test_standard_streams_of_a_job_harm_nothing(pool: Pool) -> None:
    """A job may print, read its empty input, and close its streams and descriptors: the next one prints all the same."""

    def harm(stage: Stage) -> str:
        stage("run")
        sys.stdout.write("to stdout\n")
        read = sys.stdin.read()
        sys.stdout.close()
        os.close(1)
        os.close(2)
        return read

    def speak(stage: Stage) -> None:
        stage("run")
        sys.stdout.write("first\n")
        sys.stderr.write("second\n")

    for _ in range(3):
        assert "" == ask(pool, harm).value
        assert "first\nsecond\n" == ask(pool, speak).stderr


def left_running(stage: Stage, how: str) -> int:
    """Leave a process behind, and return its number."""
    stage("run")
    reading, writing = os.pipe()
    if not os.fork():
        if how != "child":
            os.setsid()
        if how == "daemon" and os.fork():
            os._exit(0)
        os.write(writing, str(os.getpid()).encode())
        time.sleep(60)
        os._exit(0)
    number = int(os.read(reading, 100))
    if how == "daemon":
        os.wait()
    return number


@pytest.mark.parametrize("how", ["child", "session", "daemon"])
def test_processes_of_a_job_end_with_it(pool: Pool, how: str) -> None:
    """What a job forked is killed, also where it left the session or its parent has ended."""
    if sys.platform != "linux" and how != "child":
        pytest.skip("only Linux finds processes that left their session")
    assert ends(ask(pool, left_running, how).value)


def test_processes_of_a_job_that_dies_end_with_it(pool: Pool) -> None:
    """The death of a worker takes what it forked with it."""
    if sys.platform != "linux":
        pytest.skip("only Linux finds processes that left their session")

    def die(stage: Stage) -> None:
        os.write(2, str(left_running(stage, "daemon")).encode())
        os._exit(7)

    done = ask(pool, die)
    assert done.failure is not None
    assert "exit" == done.failure.kind
    assert ends(int(done.stderr))


def test_a_fork_that_returns_from_the_job_gives_no_second_answer(pool: Pool) -> None:
    """Both sides of a job's fork return; only the worker answers."""

    def split(stage: Stage) -> str:
        stage("run")
        child = os.fork()
        if child:
            os.waitpid(child, 0)
        return "parent" if child else "child"

    assert ["parent", "parent", 1] == [
        ask(pool, split).value,
        ask(pool, split).value,
        ask(pool, give, 1).value,
    ]


def test_limits_hold_for_groups_of_stages(pool: Pool) -> None:
    """A group's seconds are shared by its stages; another group has its own."""

    def steps(stage: Stage, *pairs: tuple[str, float]) -> str:
        for name, seconds in pairs:
            stage(name)
            time.sleep(seconds)
        return "through"

    limits = {("emit", "compile"): 0.9, ("load", "check"): 0.9}
    through = ask(pool, steps, ("emit", 0.3), ("compile", 0.2), ("load", 0.3), ("check", 0.2), limits=limits)
    late = ask(pool, steps, ("emit", 0.5), ("load", 0.1), ("compile", 5.0), limits=limits)
    assert ("through", ["emit", "compile", "load", "check"]) == (through.value, list(through.stages))
    assert late.failure is not None
    assert ("timeout", "compile", "took more than 0.9 s") == (
        late.failure.kind,
        late.failure.stage,
        late.failure.cause,
    )
    assert late.seconds < 3.0


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"brew": 1.0}, "no stage 'brew'"),
        ({"run": 0.0}, "positive number"),
        ({"run": float("nan")}, "positive number"),
        ({"run": 10**400}, "positive number"),
        ({"run": True}, "positive number"),
        ({"run": 1.0, ("run", "check"): 1.0}, "in two groups"),
    ],
)
def test_limits_are_checked(limits: Any, message: str) -> None:
    """A limit for an unknown stage, twice for one, or of no time, is refused where it is given."""
    with pytest.raises(ValueError, match=message):
        Pool(1, start_method="fork", limits=limits)


@pytest.mark.parametrize("seconds", [1e7, 1e300, float("inf")])
def test_any_patience_is_one(method: str, seconds: float) -> None:
    """A limit or a wait of more seconds than the system's calls take is no error."""
    with Pool(1, start_method=method, preload=(), limits={"run": seconds}) as pool:
        pool.submit(rest, 0.3)
        assert [0.3] == [done.value for done in pool.wait(seconds)]


def test_no_time_at_all_is_an_error(pool: Pool) -> None:
    """To wait for nan seconds would be to wait for ever, and never to sleep."""
    with pytest.raises(ValueError, match="not nan"):
        pool.wait(float("nan"))


def test_a_death_by_a_signal_is_confirmed_once(pool: Pool, tmp_path: Path) -> None:
    """The outcome in a fresh worker counts; without `confirm`, the first."""

    def die_once(stage: Stage, name: str) -> str:
        stage("run")
        if (tmp_path / name).exists():
            return "alive"
        (tmp_path / name).touch()
        ctypes.string_at(8)
        return "never"

    twice = ask(pool, die_once, f"a{pool.workers}{id(pool)}")
    once = ask(pool, die_once, f"b{pool.workers}{id(pool)}", confirm=False)
    assert ("alive", 2) == (twice.value, twice.attempts)
    assert once.failure is not None
    assert ("signal", 1) == (once.failure.kind, once.attempts)


def be_killed(stage: Stage) -> None:
    """As by another job: not of us, though it is the signal that we send too."""
    stage("run")
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize(("function", "cause"), [(segfault, "SIGSEGV"), (be_killed, "SIGKILL")])
def test_a_death_that_is_reported_late_is_told_by_its_signal(
    function: Any, cause: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crash closes the channel too: where the report of it comes much later, it is the crash that counts."""
    reports, begin = KeeperProcess.deaths, time.monotonic() + 60.0

    def late(self: KeeperProcess) -> tuple[list[tuple[int, int, int, bool]], bool]:
        nonlocal begin
        begin = min(begin, time.monotonic() + 2.0)
        return reports(self) if time.monotonic() >= begin else ([], True)

    monkeypatch.setattr(KeeperProcess, "deaths", late)
    with Pool(1, start_method="fork") as pool:
        failure = ask(pool, function, confirm=False).failure
    assert failure is not None
    assert ("signal", cause) == (failure.kind, failure.cause)


def test_a_job_may_ask_for_a_fresh_worker(pool: Pool) -> None:
    """With `fresh`, no earlier job ran in the same process; `renew` does it for all jobs to come."""
    seen = {ask(pool, where).value for _ in range(4)}
    fresh = [ask(pool, where, fresh=True).value for _ in range(2)]
    assert 2 == len(set(fresh) - seen)
    pool.renew()
    assert ask(pool, where).value not in seen | set(fresh)


def test_a_job_that_kills_its_keeper_is_a_death_by_signal(pool: Pool) -> None:
    """The keeper's end takes all workers with it, and the pool goes on with another one."""

    def kill_parent(stage: Stage) -> None:
        stage("run")
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(60)

    done = ask(pool, kill_parent)
    assert done.failure is not None
    assert ("signal", "SIGKILL", 2) == (done.failure.kind, done.failure.cause, done.attempts)
    assert 5 == ask(pool, give, 5).value


def test_a_keeper_that_a_job_has_stopped_is_replaced(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kill that has no effect for long ends the keeper itself, and the workers with it."""

    def stop_parent(stage: Stage) -> None:
        stage("run")
        os.kill(os.getppid(), signal.SIGSTOP)
        time.sleep(60)

    monkeypatch.setattr(crew, "_KILL_LIMIT", 0.5)
    with Pool(1, start_method=method, preload=(), limits={"run": 0.5}) as pool:
        done = ask(pool, stop_parent)
        assert done.failure is not None
        assert ("timeout", "run") == (done.failure.kind, done.failure.stage)
        assert 5 == ask(pool, give, 5, limits={"run": 60.0}).value


def test_what_cannot_travel_is_named_by_its_path(pool: Pool) -> None:
    """A TravelError comes from submit, before anything runs, and names the attribute path."""
    lock = threading.Lock()

    class Kernel:
        def __init__(self) -> None:
            self.name = "k"
            self.emit = lambda: lock

    def run(stage: Stage, kernel: Any, other: Any = None) -> None:
        raise AssertionError(stage, kernel, other)

    with pytest.raises(TravelError) as caught:
        pool.submit(run, Kernel())
    assert "kernel.emit.__closure__[0]" == caught.value.path
    assert "cannot pickle '_thread.lock' object" in caught.value.message
    with pytest.raises(TravelError, match=r"other\['a'\]\[1\]\.args\[0\] cannot travel"):
        pool.submit(run, 1, {"a": [1, functools.partial(int, lock)]})
    with pytest.raises(TravelError, match=r"mine\.emit\.__closure__\[0\]"):
        share(Kernel(), "mine")
    assert 0 == pool.pending


def test_what_does_not_load_in_a_worker_is_the_callers_error(pool: Pool) -> None:
    """Arguments that a worker cannot load raise, as no job ran that could have an outcome."""

    class Strange:
        def __reduce__(self) -> tuple[Any, ...]:
            return int, ("no number",)

    pool.submit(give, Strange())
    with pytest.raises(TravelError, match="invalid literal for int"):
        pool.wait(60)
    assert (0, 7) == (pool.pending, ask(pool, give, 7).value)


def test_a_shared_value_is_loaded_once_in_each_worker(pool: Pool) -> None:
    """A share stands for its value wherever it is among the arguments; jobs of one worker see one object."""

    def count(stage: Stage, box: dict[str, Any]) -> tuple[int, int, bytes]:
        stage("run")
        box["inner"].append(0)
        return os.getpid(), len(box["inner"]), box["big"][:2]

    inner: Any = share([])
    shared = share({"inner": inner, "big": b"ab" * 1_000_000})
    called = share(count)
    got: dict[int, list[int]] = {}
    for _ in range(6):
        pid, length, start = ask(pool, called, shared).value
        assert b"ab" == start
        got.setdefault(pid, []).append(length)
    assert all(lengths == list(range(1, len(lengths) + 1)) for lengths in got.values())


def test_place_travels_with_each_job(pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs find the parent's sys.path and working directory, also where its name is not UTF-8."""
    strange = tmp_path / os.fsdecode(b"\xff:\xfe dir")
    strange.mkdir()
    (strange / f"travelled_{os.getpid()}.py").write_text(
        "def answer(stage):\n    stage('run')\n    return 42\n"
    )
    monkeypatch.chdir(strange)
    monkeypatch.syspath_prepend(str(strange))

    def answer(stage: Stage, name: str) -> tuple[int, bytes]:
        stage("run")
        return __import__(name).answer(stage), os.getcwdb()  # noqa: PTH109 -- bytes are the point

    assert (42, os.fsencode(strange)) == ask(pool, answer, f"travelled_{os.getpid()}").value


def test_a_worker_has_the_threads_that_were_asked_for(method: str) -> None:
    """Thread counts are set in the worker alone, and loaded libraries obey."""

    def share_of_helpers(stage: Stage) -> tuple[str, float]:
        stage("run")
        matrix = np.ones((800, 800), np.float32)
        matrix @ matrix
        time.sleep(0.3)  # a helper thread that exists may spin for a while before it sleeps
        own, all_of_us = time.thread_time(), time.process_time()
        for _ in range(10):
            matrix @ matrix
        return os.environ["OMP_NUM_THREADS"], (time.process_time() - all_of_us) / (
            time.thread_time() - own
        ) - 1

    before = os.environ.get("OMP_NUM_THREADS")
    np.ones((800, 800), np.float32) @ np.ones((800, 800), np.float32)
    with Pool(1, start_method=method, preload=("numpy",)) as pool:
        variable, helpers = ask(pool, share_of_helpers).value
    assert ("1", before) == (variable, os.environ.get("OMP_NUM_THREADS"))
    assert helpers < 0.3


def test_memory_has_a_limit(method: str) -> None:
    """A refused allocation is a MemoryError; pages touched up to the limit are memory, whatever the death."""

    def allocate(stage: Stage, size: int) -> int:
        stage("run")
        return len(bytearray(size))

    def fill(stage: Stage) -> None:
        stage("run")
        kept = []
        try:
            while True:
                kept.append(b"x" * 1_000_000)
        except MemoryError:
            os.abort()

    with Pool(1, start_method=method, preload=(), memory=200_000_000) as pool:
        refused = ask(pool, allocate, 300_000_000).failure
        filled = ask(pool, fill).failure
        small = ask(pool, allocate, 20_000_000).value
    assert refused is not None
    assert filled is not None
    assert (("memory", "MemoryError"), "memory", 20_000_000) == (
        (refused.kind, refused.cause),
        filled.kind,
        small,
    )
    assert filled.cause is not None
    assert filled.cause.startswith("SIGABRT")


def test_workers_are_replaced_in_time(method: str) -> None:
    """By count of jobs, and by what they grew by."""

    def hoard(stage: Stage) -> int:
        stage("run")
        # Pages of its own: what a fork finds free on its heap is resident already, and to fill it is no growth.
        pages = mmap.mmap(-1, 30_000_000)
        pages.write(b"x" * len(pages))
        sys.__dict__.setdefault("hoarded", []).append(pages)
        return os.getpid()

    with Pool(1, start_method=method, preload=(), recycle=3) as pool:
        counted = [ask(pool, where).value for _ in range(7)]
    with Pool(1, start_method=method, preload=(), growth=20_000_000) as pool:
        grown = [ask(pool, hoard).value for _ in range(2)]
    assert [3, 3, 1] == [counted.count(pid) for pid in dict.fromkeys(counted)]
    assert 2 == len(set(grown))


def test_paused_workers_stand_still_and_lose_no_time(method: str, tmp_path: Path) -> None:
    """While a pool is paused nothing runs, and its limits do not."""
    log = tmp_path / "log"

    def tick(stage: Stage) -> str:
        stage("run")
        for _ in range(30):
            time.sleep(0.02)
            with log.open("a") as file:
                file.write(".")
        return "through"

    with Pool(1, start_method=method, preload=(), limits={"run": 2.0}) as pool:
        ask(pool, give, 1)
        pool.submit(tick)
        while not log.exists():
            time.sleep(0.01)
        with pool.paused():
            before = log.stat().st_size
            assert [] == pool.wait(2.0)
            assert before == log.stat().st_size
        (done,) = pool.wait(60)
    assert "through" == done.value
    assert done.seconds < 2.0


def test_what_ends_while_paused_makes_room_for_what_is_queued(method: str) -> None:
    """A result that is read during a pause does not leave the next job waiting for ever."""
    with Pool(1, start_method=method, preload=()) as pool:
        ask(pool, give, 0)
        tickets = [pool.submit(give, number) for number in range(2)]
        time.sleep(0.5)  # its answer is there, and not read yet
        with pool.paused():
            assert tickets[:1] == [done.ticket for done in pool.wait(20)]
        assert tickets[1:] == [done.ticket for done in pool.wait(20)]


def test_a_job_that_kills_the_others_is_the_only_one_blamed(method: str) -> None:
    """Whom it took with it is tried again while no other job runs."""

    def kill_siblings(stage: Stage) -> None:
        stage("run")
        time.sleep(0.3)
        listing = Path(f"/proc/{os.getppid()}/task/{os.getppid()}/children")
        for number in {int(child) for child in listing.read_text().split()} - {os.getpid()}:
            os.kill(number, signal.SIGKILL)
        os.kill(os.getpid(), signal.SIGKILL)

    def last(stage: Stage) -> str:
        stage("run")
        time.sleep(0.5)
        return "through"

    if sys.platform != "linux":
        pytest.skip("the killer finds its siblings in /proc")
    with Pool(2, start_method=method, preload=()) as pool:
        killers = {pool.submit(kill_siblings) for _ in range(3)}
        victims = {pool.submit(last) for _ in range(3)}
        got: dict[int, Any] = {}
        while pool.pending:
            got |= {done.ticket: done.failure.kind if done.failure else done.value for done in pool.wait(60)}
    assert dict.fromkeys(killers, "signal") | dict.fromkeys(victims, "through") == got


def change_umask() -> None:
    os.umask(0o777)


def limit_files() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (32, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


def block_signals() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})


def limit_recursion() -> None:
    sys.setrecursionlimit(120)


def set_alarm() -> None:
    signal.setitimer(signal.ITIMER_REAL, 3600)


def delete_streams() -> None:
    del sys.stdout, sys.__stderr__


def replace_path() -> None:
    sys.path = ("nowhere",)  # type: ignore[assignment]


def leave_thread() -> None:
    _thread.start_new_thread(time.sleep, (60,))


def close_streams() -> None:
    for number in range(3):
        os.close(number)


def what_it_finds(stage: Stage) -> tuple[Any, ...]:
    """What the spoilers change, as a job finds it."""
    stage("run")
    mask = os.umask(0)
    os.umask(mask)
    return (
        mask, resource.getrlimit(resource.RLIMIT_NOFILE)[0], signal.pthread_sigmask(signal.SIG_BLOCK, ()),
        sys.getrecursionlimit(), signal.getitimer(signal.ITIMER_REAL), type(sys.path), tuple(sys.path),
        [hasattr(sys, name) for name in ("stdout", "__stderr__")], threading.active_count(),
        len(sys._current_frames()), [os.fstat(number).st_mode for number in range(3)],
    )  # fmt: skip


@pytest.mark.parametrize(
    "spoil",
    [
        change_umask, limit_files, block_signals, limit_recursion, set_alarm, delete_streams, replace_path,
        leave_thread, close_streams,
    ],
    ids=lambda function: function.__name__,
)  # fmt: skip
def test_what_a_job_spoils_the_next_one_does_not_find(pool: Pool, spoil: Callable[[], None]) -> None:
    """It is undone, or the worker that had it is replaced; neither job is any the worse."""

    def spoiling(stage: Stage) -> str:
        stage("run")
        spoil()
        return "done"

    before = ask(pool, what_it_finds).value
    assert "done" == ask(pool, spoiling).value
    after = ask(pool, what_it_finds)
    assert (before, 1) == (after.value, after.attempts)


def test_the_environment_is_each_jobs_own(pool: Pool) -> None:
    """What one sets, changes or deletes there the next one finds as it was, in the same worker."""

    def change(stage: Stage) -> int:
        stage("run")
        os.environ["OMP_NUM_THREADS"] = "64"
        os.environ["A_NEW_ONE"] = "1"
        del os.environ["PATH"]
        os.environ = {}  # type: ignore[assignment]  # noqa: B003 -- the worst
        return os.getpid()

    def read(stage: Stage) -> tuple[int, dict[str, str], str | None]:
        stage("run")
        return os.getpid(), dict(os.environ), os.getenv("A_NEW_ONE")

    _, before, _ = ask(pool, read).value
    changed = [ask(pool, change).value for _ in range(2 * pool.workers)]
    worker, after, new = ask(pool, read).value
    assert worker in changed
    assert (before, None) == (after, new)


@pytest.mark.parametrize("limits", [3, "run", [("run", 1)], {1: 2}])
def test_limits_of_another_shape_are_an_error(limits: Any) -> None:
    """Of the one who asks, before anything starts."""
    with pytest.raises(TypeError, match="limits: "):
        Pool(1, limits=limits)


def spoil_modules() -> None:
    sys.modules.clear()


def stage_from_a_thread(stage: Stage) -> None:
    stage("run")

    def later() -> None:
        for _ in range(200):
            stage("run")
            time.sleep(0.001)

    _thread.start_new_thread(later, ())


def test_what_a_used_worker_cannot_load_a_fresh_one_gets(pool: Pool) -> None:
    """A job before may have spoiled it; what no worker can load is an error of the one who gave it."""

    def spoiling(stage: Stage) -> None:
        stage("run")
        spoil_modules()

    ask(pool, give, 1)
    ask(pool, spoiling)
    done = ask(pool, give, Path("/"))
    assert (Path("/"), 1) == (done.value, done.attempts)


def test_a_late_word_of_a_job_is_no_word_of_the_next(pool: Pool) -> None:
    """A thread that a job left speaks on for a while."""
    for number in range(20):
        assert ask(pool, stage_from_a_thread).ok
        assert number == ask(pool, give, number).value


class LeavesError(BaseException):
    """No Exception, and it cannot be shown."""

    def __str__(self) -> str:
        raise LeavesError


def raise_what_cannot_be_shown(stage: Stage) -> None:
    stage("run")
    raise LeavesError


def give_what_leaves(stage: Stage) -> object:
    stage("run")

    class Leaving:
        def __reduce__(self) -> tuple[Any, ...]:
            return sys.exit, (3,)

    return Leaving()


@pytest.mark.parametrize(
    ("function", "cause"),
    [
        (raise_what_cannot_be_shown, "LeavesError: (its message cannot be shown)"),
        (give_what_leaves, "its result cannot be read here: SystemExit: 3"),
    ],
)
def test_what_is_no_exception_ends_no_program(pool: Pool, function: Any, cause: str) -> None:
    """Neither the worker, nor, when the result is read, the one that asked."""
    done = ask(pool, function)
    assert done.failure is not None
    assert ("error", "run") == (done.failure.kind, done.failure.stage)
    assert str(done.failure.cause).endswith(cause)
    assert 1 == ask(pool, give, 1).value


def test_a_pool_that_is_dropped_ends_its_workers_at_once(method: str) -> None:
    """Nothing that a pool has keeps it alive: the last reference gone, its workers end without the collector."""
    gc.disable()
    try:
        pool = Pool(1, start_method=method, preload=())
        worker = ask(pool, where).value
        del pool
        assert ends(worker)
    finally:
        gc.enable()


def test_no_descriptor_is_left(method: str) -> None:
    """Three hundred jobs, some of them deadly, and the close leave as many descriptors as there were."""

    def sometimes_die(stage: Stage, number: int) -> int:
        stage("run")
        if number % 20 == 0:
            os._exit(7)
        return number

    before = descriptors()
    with Pool(2, start_method=method, preload=()) as pool:
        ask(pool, give, 1)
        for number in range(300):
            pool.submit(sometimes_die, number)
        kinds = []
        while pool.pending:
            kinds += [done.failure.kind if done.failure else "ok" for done in pool.wait(60)]
        # A worker on its way in or out has three descriptors, the keeper two.
        assert descriptors() <= before + 2 + 3 * 8
    assert (15, 285) == (kinds.count("exit"), kinds.count("ok"))
    assert before == descriptors()


def test_workers_that_never_start_end_the_run_with_one_error(method: str) -> None:
    """Three deaths in a row before "ready" are an error with what was written, not a loop."""
    with Pool(2, start_method=method, preload=("no_such_module_anywhere",)) as pool:
        with pytest.raises(WorkerStartError) as caught:
            ask(pool, give, 1)
        with pytest.raises(WorkerStartError):
            pool.submit(give, 1)
    assert "No module named 'no_such_module_anywhere'" in caught.value.stderr


def test_a_pool_outlives_the_thread_that_made_it(method: str) -> None:
    """Workers end with the process that made them, not with the thread."""
    made: list[Pool] = []
    maker = threading.Thread(target=lambda: made.append(Pool(1, start_method=method, preload=())))
    maker.start()
    maker.join()
    with made[0] as pool:
        pids = {ask(pool, where).value for _ in range(3)}
        time.sleep(0.2)
        pids.add(ask(pool, where).value)
    assert 1 == len(pids)
    assert ends(pids.pop())


def test_several_pools_are_waited_for_at_once(method: str) -> None:
    """`wait_any` returns what ends first, of whichever pool."""
    with (
        Pool(1, start_method=method, preload=(), limits={"run": 20.0}) as slow,
        Pool(1, start_method=method, preload=()) as quick,
    ):
        slow.submit(loop)
        ticket = quick.submit(give, 1)
        assert [ticket] == [done.ticket for done in wait_any([slow, quick], 60)]
        assert [] == wait_any([slow, quick], 0.0)
        assert (1, 0) == (slow.pending, quick.pending)


def test_the_parent_keeps_its_own_ways(method: str) -> None:
    """Neither signal handlers, nor the working directory, nor the environment of the parent change."""
    numbers = sorted(signal.valid_signals())
    before = [signal.getsignal(number) for number in numbers], Path.cwd(), dict(os.environ)
    with Pool(1, start_method=method, preload=()) as pool:
        ask(pool, give, 1)
    assert before == ([signal.getsignal(number) for number in numbers], Path.cwd(), dict(os.environ))
    assert not signal.pthread_sigmask(signal.SIG_BLOCK, ())


@pytest.mark.parametrize("stated", [None, "glibc.malloc.check=0", "glibc.malloc.hugetlb=0"])
def test_fresh_interpreters_take_huge_pages(monkeypatch: pytest.MonkeyPatch, stated: str | None) -> None:
    """They end sooner so; what the host program states of it stands, and its other settings go along."""
    if stated is None:
        monkeypatch.delenv("GLIBC_TUNABLES", raising=False)
    else:
        monkeypatch.setenv("GLIBC_TUNABLES", stated)
    expected = {
        None: "glibc.malloc.hugetlb=1",
        "glibc.malloc.check=0": "glibc.malloc.check=0:glibc.malloc.hugetlb=1",
        "glibc.malloc.hugetlb=0": "glibc.malloc.hugetlb=0",
    }[stated]
    with Pool(1, preload=()) as pool:
        assert expected == ask(pool, lambda stage: os.environ["GLIBC_TUNABLES"]).value
    assert stated == os.environ.get("GLIBC_TUNABLES")


def test_a_worker_starts_from_a_clean_state(method: str) -> None:
    """Workers lead their own session, take no core dumps and no handlers, and hold nothing that the host has open."""
    reading, writing = os.pipe()

    def state(stage: Stage) -> tuple[bool, bool, bool]:
        stage("run")
        import resource  # noqa: PLC0415

        return (
            os.getsid(0) == os.getpgrp() == os.getpid(),
            resource.getrlimit(resource.RLIMIT_CORE)[0] == 0,
            signal.getsignal(signal.SIGTERM) == signal.SIG_DFL,
        )

    old = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        with Pool(1, start_method=method, preload=()) as pool:
            assert (True, True, True) == ask(pool, state).value
            os.close(writing)
            assert ([reading], [], []) == select.select([reading], [], [], 5.0)
            assert b"" == os.read(reading, 1)
    finally:
        signal.signal(signal.SIGTERM, old)
        os.close(reading)


def test_a_pool_is_of_its_process_and_ends() -> None:
    """A closed pool, and a fork's copy of one, say so instead of hanging."""
    pool = Pool(1, start_method="fork", preload=())
    pid = os.fork()
    if not pid:
        try:
            pool.submit(give, 1)
        except RuntimeError:
            os._exit(0)
        os._exit(1)
    assert 0 == os.waitpid(pid, 0)[1]
    assert 1 == ask(pool, give, 1).value
    pool.close()
    pool.close()
    with pytest.raises(RuntimeError, match="closed"):
        pool.submit(give, 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"workers": 0}, "workers must be a positive integer, got 0"),
        ({"workers": True}, "workers must be a positive integer, got True"),
        ({"start_method": "thread"}, "start_method must be one of spawn, forkserver, fork, got 'thread'"),
        ({"recycle": -1}, "recycle must be a positive integer, got -1"),
        ({"memory": 1.5}, "memory must be a positive integer, got 1.5"),
        ({"threads": 0}, "threads must be a positive integer, got 0"),
        ({"growth": "1M"}, "growth must be a positive integer, got '1M'"),
        ({"preload": "numpy"}, "preload is a sequence of names of modules, not 'numpy'"),
        ({"preload": [1]}, "preload is a sequence of names of modules, not"),
    ],
)
def test_options_are_checked(options: dict[str, Any], message: str) -> None:
    """Bad options are refused with what is allowed."""
    with pytest.raises((TypeError, ValueError), match=message):
        Pool(**options)
