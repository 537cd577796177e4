"""A steady-state genetic algorithm over valid configurations."""

from __future__ import annotations

import math
from bisect import insort

import numpy as np

from tuner.space import Point
from tuner.strategies.breeding import Breeder
from tuner.strategies.trials import Trials

_POPULATION = 10
# So many children are bred at a time, to share the cost of arrays, and so many proposed before the next are bred.
_BRED, _PROPOSED = 8, 4


class Genetic:
    """Keeps the best configurations and proposes children of them; failures never become parents."""

    def __init__(self, trials: Trials) -> None:
        self._trials = trials
        self._breeder = Breeder(trials)
        self._population: list[tuple[float, int, Point]] = []
        self._brood: list[Point] = []
        self._told = 0

    def ask(self) -> Point | None:
        """Propose a child; at first, and when children run out, leave the choice to chance."""
        if len(self._population) < _POPULATION:
            return None
        fresh = [child for child in self._brood if child not in self._trials.taken]
        if not fresh:
            parents = np.array([point for *_, point in self._population])
            fresh = self._breeder.children(parents, _BRED)[:_PROPOSED]
        self._brood = fresh[1:]
        return fresh[0] if fresh else None

    def tell(self, point: Point, cost: float) -> None:
        """Take the point into the population, from which the worst drops out."""
        self._told += 1
        if cost < math.inf:
            insort(self._population, (cost, self._told, point))
            del self._population[_POPULATION:]
