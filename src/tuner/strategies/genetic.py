"""A steady-state genetic algorithm over valid configurations only.

Source of the form: Whitley, "The GENITOR algorithm and selection pressure" (1989): one child at a time,
parents by tournament, the worst of the population gives way. Children outside the space are discarded, so
that no evaluation is spent on what a constraint forbids.
"""

from __future__ import annotations

import math

from tuner.space import Point
from tuner.strategies.trials import Trials

_FIRST = 12
_POPULATION = 12
_TRIES = 40


class Genetic:
    """Breeds children from the cheapest points known; starts with random ones."""

    def __init__(self, trials: Trials) -> None:
        self._trials = trials
        self._asked = 0
        self._known: list[tuple[float, Point]] = []

    def ask(self) -> Point | None:
        """Propose a random point at first, then a new valid child."""
        self._asked += 1
        if self._asked <= _FIRST or len(self._known) < 2:  # noqa: PLR2004 - a child has two parents
            return self._trials.draw()
        for attempt in range(_TRIES):
            child = self._child(adjacent=attempt < _TRIES // 2)
            if child not in self._trials.taken and self._trials.space.is_valid(child):
                return child
        return self._trials.draw()

    def tell(self, point: Point, cost: float) -> None:
        """Let the point into the population where it is cheap enough; a failure never is."""
        if math.isfinite(cost):
            self._known = sorted([*self._known, (cost, point)])[:_POPULATION]

    def _child(self, *, adjacent: bool) -> Point:
        rng = self._trials.rng
        first, second = self._parent(), self._parent()
        child = tuple(a if rng.random() < 0.5 else b for a, b in zip(first, second, strict=True))
        changes = 1 if rng.random() < 0.7 else 2  # noqa: PLR2004 - now and then a second gene
        for _ in range(changes):
            child = self._mutated(child, adjacent=adjacent)
        return child

    def _parent(self) -> Point:
        """Return the better of two at random; the list is sorted."""
        rng = self._trials.rng
        count = len(self._known)
        return self._known[min(rng.randrange(count), rng.randrange(count))][1]

    def _mutated(self, point: Point, *, adjacent: bool) -> Point:
        rng = self._trials.rng
        sizes = [len(values) for values in self._trials.space.parameters.values()]
        at = rng.choice([place for place, size in enumerate(sizes) if size > 1] or [0])
        if adjacent and rng.random() < 0.7:  # noqa: PLR2004 - mostly a neighbouring value
            value = min(max(point[at] + rng.choice((-1, 1)), 0), sizes[at] - 1)
        else:
            value = rng.randrange(sizes[at])
        return (*point[:at], value, *point[at + 1 :])
