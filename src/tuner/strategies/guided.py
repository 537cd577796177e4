"""A genetic algorithm whose children are ranked by a model of the cost before any of them is measured."""

from __future__ import annotations

import numpy as np

from tuner.space import Point
from tuner.strategies.breeding import Breeder
from tuner.strategies.model import CostModel
from tuner.strategies.trials import Trials

# Chosen on the replayed tables (benchmarks/search_replay.py); the score is flat around these.
_START = 10  # spread out over the space before the model has a say
_ENOUGH = 4  # fewer that did not fail say nothing
_PARENTS = 10
_CHILDREN = 32  # bred for each one that is proposed
_LOOKED_AT = 5  # random points of which the one farthest from all others is proposed
_FRESH_SHARE = 16  # a plan is as long as this share of what is known: a new trial changes less and less
_LONGEST_PLAN = 16
_UNGUIDED = 0.05  # proposed whatever the model says, which may be wrong


class Guided:
    """Proposes, of many children of the best configurations, those of least predicted cost."""

    def __init__(self, trials: Trials) -> None:
        self._trials = trials
        self._breeder = Breeder(trials)
        self._model = CostModel(trials.space)
        self._points: list[Point] = []
        self._costs: list[float] = []
        self._asked = 0
        self._plan: list[Point] = []

    def ask(self) -> Point | None:
        """Propose the next of the plan, made anew when it is used up."""
        self._asked += 1
        plan = [point for point in self._plan if point not in self._trials.taken]
        if not plan and (self._asked <= _START or np.isfinite(self._costs).sum() < _ENOUGH):
            return self._farthest()
        plan = plan or self._make_plan()
        self._plan = plan[1:]
        return plan[0] if plan else None

    def tell(self, point: Point, cost: float) -> None:
        """Take note for the next plan."""
        self._points.append(point)
        self._costs.append(cost)

    def _farthest(self) -> Point | None:
        looked = self._trials.sample(_LOOKED_AT)
        taken = list(self._trials.taken)
        if not looked or not taken:
            return None
        return looked[int(self._model.distance(np.array(looked), np.array(taken)).min(axis=1).argmax())]

    def _make_plan(self) -> list[Point]:
        points, costs = np.array(self._points), np.array(self._costs)
        length = min(_LONGEST_PLAN, 1 + len(costs) // _FRESH_SHARE)
        order = np.argsort(costs, kind="stable")
        parents = points[order[: min(_PARENTS, int(np.isfinite(costs).sum()))]]
        children = self._breeder.children(parents, _CHILDREN * length)
        if not children:
            return []
        if self._trials.rng.random() < _UNGUIDED:
            return children[:1]
        best = order[: CostModel.CAPACITY]
        self._model.fit(points[best], costs[best])
        predicted = self._model.predict(np.array(children))
        return [children[at] for at in np.argsort(predicted, kind="stable")[:length]]
