"""Search by ask and tell: suggests configurations, and learns from the costs reported."""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Iterable, Iterator, Mapping

from tuner.constraints import Value, nearest
from tuner.errors import SearchError
from tuner.space import Configuration, Point, Space
from tuner.strategies import STRATEGIES, Factory, Trials

# A strategy may propose what is taken; after so many in a row chance decides.
_PATIENCE = 8


class Search:
    """Suggests each valid configuration at most once, until there is none left.

    `strategy` is a name in STRATEGIES or a callable that makes a Strategy; `seeds` are configurations to suggest first,
    those that the space does not hold left out. Suggestions follow from the arguments, the calls of `suggest` and which
    reports came before each of them, not from the order of those reports.

    >>> search = Search(Space({"tile": [8, 16, 32]}), seeds=[{"tile": 16}, {"tile": 5}])
    >>> search.suggest(1)
    [{'tile': 16}]
    >>> search.report({"tile": 16}, 0.25)
    >>> len(search.suggest(10)), search.best
    (2, ({'tile': 16}, 0.25))
    """

    def __init__(
        self,
        space: Space,
        strategy: str | Factory = "default",
        seed: int = 0,
        seeds: Iterable[Mapping[str, Value]] = (),
    ) -> None:
        if not isinstance(space, Space):
            raise SearchError(f"a search needs a Space, not {space!r}")
        if type(seed) is not int:
            raise SearchError(f"the seed must be an int, not {seed!r}")
        self.space = space
        self._trials = Trials(space, random.Random(seed))  # noqa: S311 - a search, no secret
        self._strategy = _factory(strategy)(self._trials)
        self._seeds = deque(space.locate(config) for config in _configs(seeds) if config in space)
        self._numbers: dict[Point, int] = {}
        self._costs: dict[Point, float] = {}
        self._news: list[Point] = []

    @property
    def best(self) -> tuple[Configuration, float] | None:
        """The configuration of least cost reported, the one suggested first of equals, with its cost in seconds."""
        worked = [point for point, cost in self._costs.items() if cost < math.inf]
        if not worked:
            return None
        best = min(worked, key=lambda point: (self._costs[point], self._turn(point)))
        return self.space.configuration(best), self._costs[best]

    def suggest(self, n: int = 1) -> list[Configuration]:
        """Suggest n configurations that were neither suggested nor reported; fewer when no more are left."""
        if type(n) is not int or n < 0:
            raise SearchError(f"the number of suggestions must be an int of 0 or more, not {n!r}")
        self._learn()
        points: list[Point] = []
        while len(points) < n and (point := self._next()) is not None:
            self._trials.taken.add(point)
            self._numbers[point] = len(self._numbers)
            points.append(point)
        return [self.space.configuration(point) for point in points]

    def report(self, config: Mapping[str, Value], cost: float | None) -> None:
        """Take note of a cost in seconds, None where the configuration failed; it need not have been suggested.

        SpaceError for a configuration that is not valid. SearchError for a cost that is no positive, finite number, and
        for a second report that differs from the first.
        """
        point = self.space.locate(config)
        value = _read_cost(cost)
        if point not in self._costs:
            self._costs[point] = value
            self._trials.taken.add(point)
            self._news.append(point)
        elif self._costs[point] != value:
            raise SearchError(
                f"{dict(config)} was reported before, with {_show(self._costs[point])}, not {cost!r}"
            )

    def _learn(self) -> None:
        news, self._news = self._news, []
        for point in sorted(news, key=self._turn):
            self._strategy.tell(point, self._costs[point])

    def _turn(self, point: Point) -> tuple[float, Point]:
        """Order points by their suggestion, those that were never suggested last."""
        return self._numbers.get(point, math.inf), point

    def _next(self) -> Point | None:
        while self._seeds:
            point = self._seeds.popleft()
            if point not in self._trials.taken:
                return point
        if len(self._trials.taken) == self.space.size:
            return None
        return self._proposed() or self._trials.draw()

    def _proposed(self) -> Point | None:
        for _ in range(_PATIENCE):
            point = self._strategy.ask()
            if point is None:
                return None
            if point not in self._trials.taken and self.space.is_valid(point):
                return point
        return None


def _factory(strategy: str | Factory) -> Factory:
    if not isinstance(strategy, str):
        return strategy
    if strategy not in STRATEGIES:
        known = ", ".join(map(repr, STRATEGIES))
        raise SearchError(f"{strategy!r} is no strategy{nearest(strategy, STRATEGIES)}; there are {known}")
    return STRATEGIES[strategy]


def _configs(seeds: Iterable[Mapping[str, Value]]) -> Iterator[Mapping[str, Value]]:
    for seed in seeds:
        if not isinstance(seed, Mapping):
            raise SearchError(f"a seed is a configuration, such as the `config` of a record, not {seed!r}")
        yield seed


def _read_cost(cost: object) -> float:
    if cost is None:
        return math.inf
    if type(cost) not in {int, float}:
        raise SearchError(f"a cost is a number of seconds, or None for a failure, not {cost!r}")
    if not (isinstance(cost, int | float) and 0 < cost < math.inf):
        raise SearchError(f"a cost is positive and finite, in seconds, or None for a failure, not {cost!r}")
    return float(cost)


def _show(cost: float) -> str:
    return "a failure" if cost == math.inf else f"{cost!r} s"
