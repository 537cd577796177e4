"""A genetic algorithm whose children are ranked by a model of the cost before any of them is measured."""

from __future__ import annotations

import math
from bisect import insort

import numpy as np

from tuner.space import Point
from tuner.strategies.breeding import Breeder
from tuner.strategies.model import CostModel
from tuner.strategies.trials import Trials

# Chosen on the replayed tables (benchmarks/search_replay.py); the score is flat around these.
_START = 10  # spread out over the space before the model has a say
_ENOUGH = 4  # fewer that did not fail say nothing
_LOOKED_AT = 5  # random points, of which the one least like all others is proposed at the start
_PARENTS = 16
_CHILDREN = 24  # bred for each one that is proposed
_PLANNED = 16  # a plan is one in so many of the known points long: a trial more changes less and less
_LONGEST_PLAN = 16
_UNGUIDED = 0.05  # plans made whatever the model says, which may be wrong
_REMEMBERED = 160


class Guided:
    """Proposes, of many children of the best configurations, those of least predicted cost."""

    def __init__(self, trials: Trials) -> None:
        self._trials = trials
        self._breeder = Breeder(trials)
        self._model = CostModel(trials.space, _REMEMBERED)
        self._best: list[tuple[float, int, Point]] = []
        self._told = 0
        self._asked = 0
        self._plan: list[Point] = []

    def ask(self) -> Point | None:
        """Propose the next of the plan, made anew when it is used up."""
        self._asked += 1
        plan = [point for point in self._plan if point not in self._trials.taken]
        if not plan and (self._asked <= _START or len(self._best) < _ENOUGH):
            return self._least_like_others()
        plan = plan or self._make_plan()
        self._plan = plan[1:]
        return plan[0] if plan else None

    def tell(self, point: Point, cost: float) -> None:
        """Let the model learn, and the point be a parent if it is good."""
        self._told += 1
        self._model.learn(point, cost)
        if cost < math.inf:
            insort(self._best, (cost, self._told, point))
            del self._best[_PARENTS:]

    def _least_like_others(self) -> Point | None:
        looked, taken = self._trials.sample(_LOOKED_AT), list(self._trials.taken)
        if not looked or not taken:
            return None
        likeness = self._model.covariance(np.array(looked), np.array(taken)).max(axis=1)
        return looked[int(likeness.argmin())]

    def _make_plan(self) -> list[Point]:
        length = min(_LONGEST_PLAN, 1 + self._told // _PLANNED)
        parents = np.array([point for *_, point in self._best])
        children = self._breeder.children(parents, _CHILDREN * length)
        if not children or self._trials.rng.random() < _UNGUIDED:
            return children[:1]
        order = np.argsort(self._model.predict(np.array(children)), kind="stable")
        return [children[at] for at in order[:length]]
