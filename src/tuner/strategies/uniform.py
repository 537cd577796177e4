"""Uniform random search without replacement: the measure of all others."""

from __future__ import annotations

from tuner.space import Point
from tuner.strategies.trials import Trials


class Uniform:
    """Leaves every choice to chance."""

    def __init__(self, trials: Trials) -> None:
        self._trials = trials

    def ask(self) -> Point | None:
        """Draw at random."""
        return self._trials.draw()

    def tell(self, point: Point, cost: float) -> None:
        """Learn nothing."""
