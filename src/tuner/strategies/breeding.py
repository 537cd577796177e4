"""Children of good configurations: crossover, mutation and repair into the valid space, many at a time."""

from __future__ import annotations

import numpy as np

# Named here, for numpy would import it when it is first used: an interrupt is lost in modules that Cython made.
from numpy.random import default_rng
from numpy.typing import NDArray

from tuner.space import Point
from tuner.strategies.trials import Trials

Points = NDArray[np.int64]

# Of the mutations of a number, this share goes to the value before or after it in its list, the others anywhere.
_STEPS = 0.8
# A try that gives too few children is repeated with more mutations.
_MUTATIONS = (1.0, 2.0, 4.0, 8.0)


class Breeder:
    """Makes children of configurations of one search."""

    def __init__(self, trials: Trials) -> None:
        self._trials = trials
        self._random = default_rng(trials.rng.getrandbits(64))
        values = list(trials.space.parameters.values())
        self._sizes = np.array([len(listed) for listed in values])
        # The order of a list of names means nothing, so that there are no steps in it.
        self._ordered = np.array([not isinstance(listed[0], str) for listed in values])
        self._varying = max(1, int((self._sizes > 1).sum()))

    def children(self, parents: Points, count: int) -> list[Point]:
        """Make up to `count` different children that are valid and not taken; `parents` are the best first."""
        found: dict[Point, None] = {}
        for mutations in _MUTATIONS:
            for child in map(tuple, self._breed(parents, 2 * count, mutations).tolist()):
                if child not in self._trials.taken:
                    found[child] = None
            if len(found) >= count // 2:
                break
        return list(found or self._moved(parents))[:count]

    def _breed(self, parents: Points, count: int, mutations: float) -> Points:
        shape = (count, parents.shape[1])
        first, second = self._choose(parents, count), self._choose(parents, count)
        crossed = np.where(self._random.random(shape) < 0.5, first, second)  # noqa: PLR2004 - even odds
        mutated = self._random.random(shape) < mutations / self._varying
        return self._repair(np.where(mutated, self._mutate(crossed), crossed), first)

    def _choose(self, parents: Points, count: int) -> Points:
        """Hold `count` tournaments of two."""
        chosen: Points = parents[self._random.integers(len(parents), size=(2, count)).min(axis=0)]
        return chosen

    def _mutate(self, points: Points) -> Points:
        steps = 2 * self._random.integers(2, size=points.shape) - 1
        stepped = np.clip(points + steps, 0, self._sizes - 1)
        anything = self._random.integers(self._sizes, size=points.shape)
        return np.where(self._ordered & (self._random.random(points.shape) < _STEPS), stepped, anything)

    def _repair(self, points: Points, parents: Points) -> Points:
        """Give back the parent's part of each group of parameters in which a child is not valid."""
        for group in self._trials.space.groups:
            broken = np.flatnonzero(~group.mask(points))
            if len(broken):
                cells = np.ix_(broken, np.array(group.members))
                points[cells] = parents[cells]
        return points

    def _moved(self, parents: Points) -> list[Point]:
        """List what is one move away from the best parent that leaves anything; there chance rarely gets to."""
        space, taken = self._trials.space, self._trials.taken
        for parent in map(tuple, parents.tolist()):
            moves = [
                move for at in range(len(parent)) for move in space.moves(parent, at) if move not in taken
            ]
            if moves:
                self._trials.rng.shuffle(moves)
                return moves
        return []
