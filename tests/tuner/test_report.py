"""What the commands say of times: which of a configuration's several times is shown."""

from __future__ import annotations

import pytest

from record_examples import numbered
from tuner import report
from tuner.comparison import Comparison
from tuner.session import Result


@pytest.mark.parametrize("role", ["trial", "final"])
def test_a_finalists_time_is_said_to_be_its_second(role: str) -> None:
    """`tuner records` shows that of the trial beside it."""
    lines = report.describe_best(numbered(3, cost=0.001, role=role), None)
    (speed,) = (line for line in lines if line.startswith("speed:"))
    assert ("timed again as a finalist" in speed) == (role == "final")


def test_the_summary_times_the_best_anew() -> None:
    """Beside its opponents, whose times are of no other moment."""
    first, second = report.describe_comparison(
        Comparison(1e-3, {"plain": 2e-3}, {"plain": 2.0}, 100.0, 20.0), None
    )
    assert first.endswith("timed anew beside these")
    assert "anew" not in second


@pytest.mark.parametrize(("separated", "word"), [(True, "slower"), (False, "either will do")])
def test_separated_is_said_in_words(separated: bool, word: str) -> None:
    """Yes and no, and what they mean."""
    best = numbered(3, cost=0.001)
    result = Result(best.target, best, (best,), separated, None, None, b"")
    line = report.describe_trials(result)[-1]
    assert line.split()[:2] == ["separated:", "yes:" if separated else "no:"]
    assert word in line
