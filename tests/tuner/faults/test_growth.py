"""A pool that has had many candidates is as large as one that has had few."""

from __future__ import annotations

from pathlib import Path

import pytest

import targetspec
from fault_runs import FULL, descriptors
from small_kernels import DOUBLE, PROBLEM
from tuner.build import compile_candidate
from tuner.pool import Pool
from tuner.spawning import START_METHODS
from tuner.travel import share

pytestmark = [
    pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc"),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
    pytest.mark.timeout(600),
]

WARM, CANDIDATES = (200, 2000) if FULL else (20, 60)
MOST = 20 << 20


def resident() -> int:
    """Return the bytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


@pytest.mark.parametrize("method", START_METHODS)
def test_memory_and_descriptors_do_not_grow_with_the_candidates(method: str):
    """Two thousand candidates through one pool, a tenth of them at fault, cost the parent under 20 MB and no descriptor."""
    kernel, target = share(DOUBLE), share(targetspec.detect_host())
    with Pool(2, start_method=method) as pool:

        def compile_some(count: int) -> int:
            good = 0
            for number in range(count):
                step = 3 if number % 10 == 0 else (1, 2, 4, 8)[number % 4]
                config = {"step": step} if step != 3 else {"step": 1, "fault": "error"}
                pool.submit(compile_candidate, kernel, config, target, PROBLEM)
                while pool.pending > 8:
                    good += sum(done.ok for done in pool.wait())
            while pool.pending:
                good += sum(done.ok for done in pool.wait())
            return good

        compile_some(WARM)
        before, open_before = resident(), descriptors()
        assert CANDIDATES - CANDIDATES // 10 == compile_some(CANDIDATES)
        grown = resident() - before
        print(f"\n{method}: {CANDIDATES} candidates, {grown / 1e6:.1f} MB grown")  # noqa: T201 -- shown by make faults
        assert grown < MOST
        # A worker on its way in or out has three descriptors.
        assert descriptors() <= open_before + 6
