"""What a strategy sees of a search, and what it has to offer."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Protocol

from tuner.space import Point, Space


class Strategy(Protocol):
    """Proposes points one at a time; the search sees to it that each is valid and comes once."""

    def ask(self) -> Point | None:
        """Propose a valid point that is not taken; None, or any other, leaves the choice to chance."""

    def tell(self, point: Point, cost: float) -> None:
        """Take note of a cost in seconds, infinite where the point failed; told once of each point."""


class Trials:
    """The points of a search that are taken already: suggested, or known from elsewhere."""

    def __init__(self, space: Space, rng: random.Random) -> None:
        self.space = space
        self.rng = rng
        self.taken: set[Point] = set()
        self._order = _permutation(space.size, rng)

    def draw(self) -> Point | None:
        """Draw at random from the valid points that are not taken; None when there is none."""
        for index in self._order:
            point = self.space.point(index)
            if point not in self.taken:
                return point
        return None

    def sample(self, count: int) -> list[Point]:
        """Look at up to `count` valid points that are not taken, at random."""
        looked = [self.space.point(self.rng.randrange(self.space.size)) for _ in range(count)]
        return [point for point in looked if point not in self.taken]


Factory = Callable[[Trials], Strategy]


def _permutation(size: int, rng: random.Random) -> Iterator[int]:
    """Give 0 .. size - 1 in random order, with memory only for what was given (Fisher and Yates)."""
    moved: dict[int, int] = {}
    for left in range(size, 0, -1):
        at = rng.randrange(left)
        yield moved.get(at, at)
        last = moved.pop(left - 1, left - 1)
        if at != left - 1:
            moved[at] = last
