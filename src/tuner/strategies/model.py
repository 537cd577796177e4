"""A model of cost over a space: Gaussian process regression on log cost, in closed form."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tuner.constraints import Value
from tuner.space import Space

Points = NDArray[np.int64]
Floats = NDArray[np.floating]

# Beyond this many values of a parameter, neighbouring ones are one to the model.
_LEVELS = 64
# How much of the distance between two numbers of a list is that they differ at all, not how far they are apart.
_DIFFERENT = 0.5
_NOISE = 3e-3
# Predictions are compared to this many digits, so that rounding in BLAS decides nothing.
_DIGITS = 8


class CostModel:
    """Predicts costs, up to order, from those of other points.

    The covariance is exp(-distance), where the distance of two points adds up over parameters and is Euclidean,
    squared, between their features: thermometer code (how far apart) and one-hot code (different at all).
    """

    CAPACITY = 256

    def __init__(self, space: Space) -> None:
        varying = [listed for listed in space.parameters.values() if len(listed) > 1]
        self._columns = [at for at, listed in enumerate(space.parameters.values()) if len(listed) > 1]
        # The length scale grows with the number of parameters, as distances do.
        self._tables = [_features(listed) / math.sqrt(max(1, len(varying) / 2)) for listed in varying]
        self._known: Floats = np.empty((0, 0))
        self._weights: Floats = np.empty(0)

    def distance(self, left: Points, right: Points) -> Floats:
        """Give the distance between each of the left and each of the right points."""
        return _squared(self._embed(left), self._embed(right))

    def fit(self, points: Points, costs: Floats) -> None:
        """Learn from at most CAPACITY different points, not all of which failed (infinite cost)."""
        self._known = self._embed(points)
        covariance: Floats = np.exp(-_squared(self._known, self._known))
        covariance[np.diag_indices(len(points))] += _NOISE
        self._weights = np.linalg.solve(covariance, _standardised(costs))

    def predict(self, points: Points) -> Floats:
        """Give values that grow with the predicted cost."""
        predicted: Floats = np.exp(-_squared(self._embed(points), self._known)) @ self._weights
        return predicted.round(_DIGITS)

    def _embed(self, points: Points) -> Floats:
        parts = [table[points[:, at]] for at, table in zip(self._columns, self._tables, strict=True)]
        return np.concatenate(parts, axis=1) if parts else np.zeros((len(points), 1))


def _features(listed: tuple[Value, ...]) -> Floats:
    count = min(len(listed), _LEVELS)
    level = np.arange(len(listed)) * count // len(listed)
    different = 1.0 if isinstance(listed[0], str) else _DIFFERENT
    above = np.array(level[:, None] > np.arange(count - 1), float)
    same = np.array(level[:, None] == np.arange(count), float)
    return np.hstack(
        [above * math.sqrt((1 - different) / max(1, count - 1)), same * math.sqrt(different / 2)]
    )


def _squared(left: Floats, right: Floats) -> Floats:
    across: Floats = (left**2).sum(axis=1)[:, None] + (right**2).sum(axis=1) - 2 * (left @ right.T)
    return np.maximum(across, 0)


def _standardised(costs: Floats) -> Floats:
    """Bring costs to mean 0 and deviation 1, on a log scale, with all that are above the median equal.

    How bad the bad ones are would bend the model where it matters; failures are no worse than the worst.
    """
    finite = costs[np.isfinite(costs)]
    bounded = np.minimum(costs, finite.max())
    logs = np.log(np.minimum(bounded, np.median(bounded)))
    spread = logs.std()
    standardised: Floats = (logs - logs.mean()) / (spread if spread > 0 else 1.0)
    return standardised
