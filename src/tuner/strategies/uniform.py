"""Random search, without replacement."""

from __future__ import annotations

from tuner.space import Point
from tuner.strategies.trials import Trials


class Uniform:
    """Every order of the valid configurations is equally likely."""

    def __init__(self, trials: Trials) -> None:
        self._trials = trials

    def ask(self) -> Point | None:
        """Draw one that is not taken."""
        return self._trials.draw()

    def tell(self, point: Point, cost: float) -> None:
        """Learn nothing."""
