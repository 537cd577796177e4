"""A run in which two of five candidates do the worst: every outcome as typed in, nothing left behind."""

from __future__ import annotations

import platform
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from fault_kernels import EXPECTED, GOOD, PROBLEM, kernel
from fault_runs import FULL, HAS_PROC, descriptors, left_after, marking
from tuner.executors import Executor, Local, Replay
from tuner.session import Result, tune
from tuner.spawning import START_METHODS

pytestmark = [
    pytest.mark.skipif(not HAS_PROC, reason="processes are looked for in /proc"),
    pytest.mark.skipif(
        platform.machine() != "x86_64", reason="one of the features is impossible on x86-64 only"
    ),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
    pytest.mark.timeout(900),
]

# 26 ways to go wrong and 300 candidates, or 65.
COPIES, GOOD_ONES = (5, 170) if FULL else (1, 39)
TIMES = 3 if FULL else 1
# The short form runs beside other tests, and a machine that stalls for a second proves nothing.
RUN_TIMEOUT = 1.0 if FULL else 3.0
MEMORY = 128 << 20
SECONDS = 120.0


def costs(config: dict[str, Any]) -> float:
    """Make the cost of a configuration up: the best is a good one."""
    return 1e-6 * (10 + (config["copy"] * 7919) % 1009) if config["fault"] == GOOD else 2e-3


def run(method: str, executor: Executor, copies: int = COPIES) -> Result:
    """Try every candidate."""
    made = kernel(copies, GOOD_ONES)
    return tune(
        made, PROBLEM, budget=len(made.space), workers=2, start_method=method, executor=executor, seed=3,
        strategy="uniform", compile_timeout=3.0, run_timeout=RUN_TIMEOUT, progress=False,
    )  # fmt: skip


def table(result: Result) -> dict[str, Counter[tuple[str | None, str]]]:
    """Count (stage, kind) of each sort of candidate."""
    found: dict[str, Counter[tuple[str | None, str]]] = {}
    for record in result.records:
        outcome = record.outcome
        found.setdefault(str(record.config["fault"]), Counter())[outcome.stage, outcome.kind] += 1
    return found


@pytest.mark.parametrize("way", ["measured", "replayed"])
@pytest.mark.parametrize("method", START_METHODS)
def test_every_candidate_that_goes_wrong_ends_as_typed_in(
    method: str, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The table of (stage, kind) is the same each time and for each way to start workers; no process, file or descriptor stays."""
    if not FULL and (method == "forkserver") != (way == "replayed"):
        pytest.skip("the short form measures under spawn and fork, and replays under forkserver")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    terms: dict[str, Any] = {"memory": MEMORY, "adaptive": False}
    executor: Executor = Local(**terms) if way == "measured" else Replay(costs, **terms)
    expected = {
        fault: Counter({place: GOOD_ONES if fault == GOOD else COPIES}) for fault, place in EXPECTED.items()
    }
    for _ in range(TIMES):
        before, begin = descriptors(), time.monotonic()
        with marking() as mark:
            result = run(method, executor)
            seconds = time.monotonic() - begin
            assert [] == left_after(mark, 2.0)
        print(f"\n{method}, {way}: {len(result.records)} candidates in {seconds:.1f} s")  # noqa: T201 -- shown by make faults
        assert expected == table(result)
        assert [] == list(tmp_path.iterdir())
        assert before == descriptors()
        if FULL:
            assert seconds < SECONDS
    if way == "replayed":
        assert result.best is not None
        without = run(method, executor, copies=0).best
        assert without is not None
        assert (without.config, without.cost) == (result.best.config, result.best.cost)
