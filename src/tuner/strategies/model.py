"""A model of cost over a space: Gaussian process regression on log cost, in closed form.

All of it is written with array operations that do not go through BLAS, whose threads would spin on the cores that
compile and measure.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tuner.constraints import Value
from tuner.space import Point, Space

Points = NDArray[np.int64]
Floats = NDArray[np.floating]

# Beyond this many values of a parameter, neighbouring ones are one to the model.
_LEVELS = 64
# How much of the distance between two numbers of a list is that they differ at all, not how far they are apart.
_DIFFERENT = 0.5
# The share of the variance that is a sum of effects of one parameter each.
_ADDITIVE = 0.7
# The variance of what the model does not explain, of a variance of 1.
_NOISE = 2e-3
# Predictions are compared to this many digits, so that rounding, which differs between machines, decides nothing.
_DIGITS = 8


class CostModel:
    """Predicts costs, up to their order, from those of known points.

    A cost is taken for a sum of an effect of each parameter and one of all together, so that the covariance of two points
    is a sum and a product over parameters, of exp(-distance). The inverse of the covariances of the known points is
    kept, and changes with each of them, once there is something to predict.
    """

    def __init__(self, space: Space, capacity: int) -> None:
        self.capacity = capacity
        values = [(at, listed) for at, listed in enumerate(space.parameters.values()) if len(listed) > 1]
        self._levels = [(at, _levels(listed)) for at, listed in values]
        tables = [_distances(listed) for _, listed in values]
        # Distances add up over parameters, and so their length scale together grows with their number.
        self._together = [np.exp(-2 * table / len(tables)) for table in tables]
        self._alone = [np.exp(-2.5 * table) * _ADDITIVE / len(tables) for table in tables]
        # What is known fills the beginning of these.
        self._known = 0
        self._points: Points = np.empty((capacity, len(space.parameters)), np.int64)
        self._costs: Floats = np.empty(capacity)
        self._inverse: Floats = np.empty((capacity, capacity))
        self._news: list[tuple[Point, float]] = []

    def covariance(self, left: Points, right: Points) -> Floats:
        """Give the covariance of each of the left with each of the right points: 1 where they are equal."""
        product = np.full((len(left), len(right)), 1 - _ADDITIVE if self._levels else 1.0)
        total = np.zeros_like(product)
        for (at, levels), together, alone in zip(self._levels, self._together, self._alone, strict=True):
            rows, columns = levels[left[:, at]], levels[right[:, at]]
            product *= together[:, columns][rows]
            total += alone[:, columns][rows]
        total += product
        return total

    def learn(self, point: Point, cost: float) -> None:
        """Take note of a new point with its cost (infinite: it failed); beyond the capacity only the best are kept."""
        self._news.append((point, cost))

    def predict(self, points: Points) -> Floats:
        """Give numbers that grow with the predicted cost; some known point must not have failed."""
        news, self._news = self._news, []
        for point, cost in news:
            self._take_up(point, cost)
        count = self._known
        weights = (self._inverse[:count, :count] * _standardised(self._costs[:count])).sum(axis=1)
        predicted: Floats = np.einsum("ij,j->i", self.covariance(points, self._points[:count]), weights)
        return predicted.round(_DIGITS)

    def _take_up(self, point: Point, cost: float) -> None:
        if self._known == self.capacity:
            worst = int(self._costs.argmax())
            if cost >= self._costs[worst]:
                return
            self._forget(worst)
        self._add(np.array([point]), cost)

    def _add(self, point: Points, cost: float) -> None:
        """Grow the inverse by a row and a column (Schur complement)."""
        count = self._known
        shared = self.covariance(point, self._points[:count])[0]
        inverse = self._inverse[:count, :count]
        solved = (inverse * shared).sum(axis=1)
        left = 1 + _NOISE - (shared * solved).sum()
        inverse += solved[:, None] * (solved / left)
        self._inverse[count, :count] = self._inverse[:count, count] = -solved / left
        self._inverse[count, count] = 1 / left
        self._points[count], self._costs[count] = point[0], cost
        self._known += 1

    def _forget(self, at: int) -> None:
        """Shrink the inverse by the point's row and column, after a change of places with the last."""
        last = self._known - 1
        for rows in (self._inverse, self._inverse.T, self._points, self._costs):
            rows[[at, last]] = rows[[last, at]]
        column = self._inverse[:last, last]
        self._inverse[:last, :last] -= column[:, None] * (column / self._inverse[last, last])
        self._known = last


def _levels(listed: tuple[Value, ...]) -> Points:
    levels: Points = np.arange(len(listed)) * min(len(listed), _LEVELS) // len(listed)
    return levels


def _distances(listed: tuple[Value, ...]) -> Floats:
    """Tabulate the distance of levels, at most 1; in a list of names all are equally far apart."""
    levels = np.arange(min(len(listed), _LEVELS))
    apart = np.abs(levels[:, None] - levels) / (len(levels) - 1)
    different = 1 if isinstance(listed[0], str) else _DIFFERENT
    distances: Floats = (1 - different) * apart + different * (apart > 0)
    return distances


def _standardised(costs: Floats) -> Floats:
    """Bring costs to mean 0 and deviation 1, on a log scale, with all that are above the median equal.

    How bad the bad ones are would bend the model where it matters; a failure is as bad as the worst.
    """
    bounded = np.minimum(costs, costs[np.isfinite(costs)].max())
    logs = np.log(np.minimum(bounded, np.median(bounded)))
    spread = logs.std()
    standardised: Floats = (logs - logs.mean()) / (spread if spread > 0 else 1.0)
    return standardised
