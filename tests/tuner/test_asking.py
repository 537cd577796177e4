"""A kernel's own functions, asked in a worker: whatever they do, this process goes on, and one error says so."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import attrs
import pytest

from record_examples import ZEN3
from small_kernels import DOUBLE, PROBLEM
from tuner import build
from tuner.asking import Asker, is_ours
from tuner.cli import main
from tuner.database import Database
from tuner.errors import KernelError, ProblemError
from tuner.kernels import sgemm
from tuner.record import Outcome, Record

MATRIX = {"m": 8, "n": 8, "k": 8}


def loud(config: Mapping[str, Any], problem: Mapping[str, int]) -> dict[str, int]:
    """Print, change what it was given, and need as many registers as its step."""
    sys.stdout.write("a word from needs\n")
    needed = {"vector_registers": config["step"] * problem["n"]}
    config["step"] = 0  # type: ignore[index]
    return needed


def die(*_: object) -> Any:
    """End the process."""
    os._exit(7)


def hang(*_: object) -> Any:
    """Never end."""
    time.sleep(1000)


def fail(*_: object) -> Any:
    """Raise an error of its own."""
    raise LookupError("no luck")


@pytest.fixture(scope="module")
def asker() -> Iterator[Asker]:
    with closing(Asker(seconds=2.0)) as one:
        yield one


def test_needs_come_from_a_worker(asker: Asker, capfd: pytest.CaptureFixture[str]):
    """Those of each configuration, in order; what it prints stays there; none where the kernel states none."""
    configs: list[dict[str, Any]] = [{"step": 1}, {"step": 4}]
    kernel = attrs.evolve(DOUBLE, needs=loud)
    assert [{"vector_registers": 64}, {"vector_registers": 256}] == asker.needs(kernel, configs, PROBLEM)
    assert [{"step": 1}, {"step": 4}] == configs
    assert [{}, {}] == asker.needs(DOUBLE, configs, PROBLEM)
    assert [] == asker.needs(kernel, [], PROBLEM)
    assert ("", "") == capfd.readouterr()


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (die, r"double: \w+.* failed: exit: exit status 7"),
        (hang, r"double: \w+.* failed: timeout: "),
        (fail, r"double: \w+ raised LookupError: no luck"),
    ],
)
def test_a_function_that_does_not_come_through_is_one_error(
    asker: Asker, function: Callable[..., Any], message: str
):
    """Each of the three that are asked; the next question is answered all the same."""
    with pytest.raises(KernelError, match=f"^{message}"):
        asker.needs(attrs.evolve(DOUBLE, needs=function), [{"step": 1}], PROBLEM)
    with pytest.raises(KernelError, match=f"^{message}"):
        asker.default(attrs.evolve(DOUBLE, needs=function), PROBLEM, ZEN3)
    with pytest.raises(KernelError, match=f"^{message}"):
        asker.work(attrs.evolve(DOUBLE, work=function), PROBLEM)
    with pytest.raises(KernelError, match=f"^{message}"):
        asker.work(attrs.evolve(DOUBLE, arguments=function), PROBLEM)
    assert (64, 512) == asker.work(DOUBLE, PROBLEM)


def test_a_problem_that_is_none_is_the_callers_fault(asker: Asker):
    """The kernel's own complaint arrives as it is."""
    with pytest.raises(ProblemError, match=r"^double: n is a multiple of 8"):
        asker.work(DOUBLE, {"n": 3})


def test_the_default_is_the_first_that_fits(asker: Asker):
    """By what each needs; where none does, the target is named."""
    kernel = attrs.evolve(DOUBLE, needs=lambda config, _: {"vector_registers": 64 // config["step"]})
    assert {"step": 1} == asker.default(DOUBLE, PROBLEM, ZEN3)
    assert {"step": 4} == asker.default(kernel, PROBLEM, ZEN3)
    never = attrs.evolve(DOUBLE, needs=lambda *_: {"vector_registers": 1000})
    with pytest.raises(KernelError, match=r"(?s)no configuration fits .*vector_registers"):
        asker.default(never, PROBLEM, ZEN3)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_fork_asks_a_worker_of_its_own(asker: Asker):
    """Also where a thread was asking when it began, and stayed behind with the lock."""
    assert (64, 512) == asker.work(DOUBLE, PROBLEM)
    asked, over = threading.Event(), threading.Event()

    def wait(_: object) -> None:
        asked.set()
        over.wait()

    thread = threading.Thread(target=asker.with_pool, args=(wait,))
    thread.start()
    asked.wait()
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(60)
            os._exit(0 if asker.work(DOUBLE, PROBLEM) == (64, 512) else 1)
        finally:
            os._exit(2)
    over.set()
    thread.join()
    assert 0 == os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert (64, 512) == asker.work(DOUBLE, PROBLEM)


def test_a_kernel_is_ours_with_all_its_functions(monkeypatch: pytest.MonkeyPatch):
    """It is asked here, without a worker; one whose needs are somebody else's is not."""
    monkeypatch.setattr(Asker, "with_pool", None)
    with closing(Asker()) as asker:
        assert (2 * 8**3, 1024) == asker.work(sgemm, MATRIX)
        assert asker.default(sgemm, MATRIX, ZEN3) in sgemm.space
        assert is_ours(sgemm)
        assert not is_ours(attrs.evolve(sgemm, needs=loud))
        with pytest.raises(TypeError):
            asker.needs(attrs.evolve(sgemm, needs=loud), [sgemm.space[0]], MATRIX)


def test_the_store_asks_in_a_worker(tmp_path: Path):
    """Seeds and what to deploy: needs that end their process end neither this one nor the store."""
    deadly = attrs.evolve(DOUBLE, needs=die)
    record = Record(
        kernel="double", fingerprint="0" * 64, target=ZEN3, problem=PROBLEM, config={"step": 2}, cost=1.0,
        outcome=Outcome("ok"), toolchain=build.toolchain(), clock="wall", run="a", number=0,
        created="2026-01-31T12:00:00Z",
    )  # fmt: skip
    with Database(tmp_path / "a.sqlite") as db:
        db.add(record)
        with pytest.raises(KernelError, match="needs failed: exit: exit status 7"):
            db.seeds(deadly, PROBLEM, ZEN3)
        with pytest.raises(KernelError, match="needs failed: exit: exit status 7"):
            db.best_for(deadly, PROBLEM, ZEN3)
        assert (record,) == db.seeds(DOUBLE, PROBLEM, ZEN3)
        assert () == db.seeds(attrs.evolve(DOUBLE, needs=lambda *_: {"vector_registers": 99}), PROBLEM, ZEN3)
        with pytest.raises(KernelError, match="needs gave what a target cannot be asked"):
            db.seeds(attrs.evolve(DOUBLE, needs=lambda *_: {"luck": 1}), PROBLEM, ZEN3)


DIES = attrs.evolve(DOUBLE, arguments=die)


@pytest.mark.parametrize("command", ["tune", "best"])
def test_the_commands_ask_in_a_worker(command: str, capsys: pytest.CaptureFixture[str], tmp_path: Path):
    """Arguments that end their process are one line and status 2."""
    path = str(tmp_path / "a.sqlite")
    assert 2 == main([command, f"{__name__}:DIES", "--problem", "n=64", "--database", path])
    output, errors = capsys.readouterr()
    assert ("", 1) == (output, errors.count("\n"))
    assert "double: arguments or work failed: exit: exit status 7" in errors
