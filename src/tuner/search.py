"""Ask and tell: configurations to try, and what they cost."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping
from typing import Any

from tuner.errors import SpaceError
from tuner.space import Configuration, Point, Space
from tuner.strategies import make_strategy
from tuner.strategies.trials import Trials


class Search:
    """Suggests each valid configuration of a space at most once, better ones sooner.

    Suggestions depend on the seed and on the costs reported, never on the order in which reports of
    suggestions came in: a report waits until all earlier suggestions have theirs or a new one is asked for,
    and is then told in the order of suggestion. `seeds` are configurations to suggest first; those that
    the space does not have are left out.

    >>> search = Search(Space({"tile": [8, 16]}), strategy="uniform", seed=1)
    >>> sorted(config["tile"] for config in search.suggest(3))
    [8, 16]
    """

    def __init__(
        self,
        space: Space,
        strategy: str = "default",
        seed: int = 0,
        seeds: Iterable[Mapping[str, Any]] = (),
    ) -> None:
        if not isinstance(space, Space):
            raise SpaceError(f"a search needs a Space, not {type(space).__name__}")
        if type(seed) is not int:
            raise SpaceError(f"seed must be an int, not {seed!r}")
        self.space = space
        self._trials = Trials(space, random.Random(seed))  # noqa: S311 - a search, no secret
        self._strategy = make_strategy(strategy, self._trials)
        self._seeds = [space.locate(config) for config in seeds if config in space]
        self._numbers: dict[Point, int] = {}
        self._costs: dict[Point, float | None] = {}
        self._waiting: dict[Point, float | None] = {}

    def suggest(self, n: int = 1) -> list[Configuration]:
        """Return up to n new configurations; fewer only when the space is exhausted."""
        if type(n) is not int or n < 0:
            raise SpaceError(f"the number of suggestions must be an int of at least 0, not {n!r}")
        self._tell()
        suggestions = []
        for _ in range(n):
            point = self._next()
            if point is None:
                break
            self._trials.taken.add(point)
            self._numbers[point] = len(self._numbers)
            suggestions.append(self.space.configuration(point))
        return suggestions

    def report(self, config: Mapping[str, Any], cost: float | None) -> None:
        """Take note of what a configuration cost, in seconds; None where it failed.

        Any valid configuration may be reported, once; again only with the same cost. Raises SpaceError.
        """
        point = self.space.locate(config)
        value = _checked_cost(cost)
        if point in self._costs:
            if self._costs[point] != value:
                raise SpaceError(f"{dict(config)} was reported with the cost {self._costs[point]} before")
            return
        self._costs[point] = self._waiting[point] = value
        self._trials.taken.add(point)

    def _tell(self) -> None:
        """Hand waiting reports to the strategy: those of suggestions in their order, then the others by rank."""
        known = sorted((p for p in self._waiting if p in self._numbers), key=self._numbers.__getitem__)
        foreign = sorted(p for p in self._waiting if p not in self._numbers)
        for point in (*known, *foreign):
            cost = self._waiting.pop(point)
            self._strategy.tell(point, math.inf if cost is None else cost)

    def _next(self) -> Point | None:
        while self._seeds:
            point = self._seeds.pop(0)
            if point not in self._trials.taken:
                return point
        point = self._strategy.ask()
        if point is None or point in self._trials.taken or not self.space.is_valid(point):
            return self._trials.draw()
        return point


def _checked_cost(cost: float | None) -> float | None:
    if cost is None:
        return None
    if type(cost) not in (int, float) or not math.isfinite(cost) or cost <= 0:
        raise SpaceError(f"a cost is a positive, finite number of seconds, or None for a failure, not {cost!r}")
    return float(cost)
