"""What pairs of readings tell: a median, and an interval for it that asks nothing of the noise but independence."""

from __future__ import annotations

import math
from collections.abc import Sequence

import attrs

EQUAL = 1.005
"""Ratios of cost below this count as equal."""


def sign_interval(values: Sequence[float], level: float) -> tuple[float, float]:
    """Bound the median by order statistics so that the sign test rejects what is outside at this level.

    Too few values for it give infinite bounds.
    """
    ordered, size = sorted(values), len(values)
    tail, cut = 0.0, 0
    while cut < size // 2:
        tail += math.comb(size, cut) / 2**size
        if tail > level / 2:
            break
        cut += 1
    return (ordered[cut - 1], ordered[size - cut]) if cut else (-math.inf, math.inf)


@attrs.frozen
class Ratio:
    """How many times as long one takes as another: the median over pairs of readings, and its bounds."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, ones: Sequence[float], others: Sequence[float], level: float) -> Ratio:
        """Compare readings that were taken in pairs, of which there is at least one."""
        logs = sorted(math.log(one / other) for one, other in zip(ones, others, strict=True))
        low, high = sign_interval(logs, level)
        middle = len(logs) // 2
        return cls(math.exp((logs[middle] + logs[~middle]) / 2), math.exp(low), math.exp(high))

    @property
    def slower(self) -> bool:
        """Whether the one surely takes longer by more than counts as equal."""
        return self.low > EQUAL

    @property
    def faster(self) -> bool:
        """Whether the other one does."""
        return self.high < 1 / EQUAL
