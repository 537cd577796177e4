"""Groups of linked parameters: a space is the product of its groups, and only groups are enumerated."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence

import attrs
import numpy as np
from numpy.typing import NDArray

from tuner.constraints import Constraint, Value
from tuner.enumeration import pack, valid_codes


@attrs.frozen
class Group:
    """The valid combinations of some parameters, as sorted codes.

    A code is the mixed-radix number of the positions of the members' values; `members` are in the order of
    declaration, so that codes sort as combinations do, and a common beginning is a run of rows.
    """

    members: tuple[int, ...]
    sizes: tuple[int, ...]
    codes: Sequence[int]
    constraints: tuple[str, ...] = attrs.field(default=(), eq=False)
    strides: tuple[int, ...] = attrs.field(init=False)

    @strides.default
    def _strides(self) -> tuple[int, ...]:
        return tuple(math.prod(self.sizes[column + 1 :]) for column in range(len(self.sizes)))

    def __len__(self) -> int:
        return len(self.codes)

    def code(self, point: Sequence[int]) -> int:
        """Give the code of the members' part of a point."""
        return sum(point[member] * stride for member, stride in zip(self.members, self.strides, strict=True))

    def has(self, code: int) -> bool:
        """Tell whether the combination with this code is valid."""
        row = bisect_left(self.codes, code)
        return row < len(self.codes) and self.codes[row] == code

    def mask(self, points: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell of each row of positions, within their lists, whether its combination is valid."""
        if isinstance(self.codes, range):
            return np.ones(len(points), np.bool_)
        if not isinstance(self.codes, array):
            return np.fromiter(
                (self.has(self.code(point)) for point in points.tolist()), np.bool_, len(points)
            )
        known = np.frombuffer(self.codes, np.int64)
        codes = points[:, self.members] @ np.array(self.strides)
        rows = np.searchsorted(known, codes)
        found: NDArray[np.bool_] = known[np.minimum(rows, len(known) - 1)] == codes
        return found

    def run(self, column: int, code: int, low: int, high: int) -> tuple[int, int]:
        """Give the rows within low..high that equal `code` in the members up to `column`."""
        stride = self.strides[column]
        start = code - code % stride
        first = bisect_left(self.codes, start, low, high)
        return first, bisect_left(self.codes, start + stride, first, min(high, first + stride))


def single(points: Iterable[Sequence[int]], sizes: tuple[int, ...]) -> Group:
    """Give the one group of all parameters that holds these points, which come in order."""
    everything = Group(tuple(range(len(sizes))), sizes, ())
    return attrs.evolve(everything, codes=pack(map(everything.code, points), math.prod(sizes)))


def factor(values: Sequence[Sequence[Value]], constraints: Sequence[Constraint]) -> tuple[Group, ...]:
    """Split the parameters into groups that no constraint links, each with its valid combinations."""
    owner = list(range(len(values)))
    scopes = [_links(constraint, values) for constraint in constraints]
    for scope in scopes:
        joined = {owner[parameter] for parameter in scope}
        owner = [min(joined) if mark in joined else mark for mark in owner]
    return tuple(
        _group(
            [parameter for parameter, other in enumerate(owner) if other == mark],
            values,
            [
                constraint
                for constraint, scope in zip(constraints, scopes, strict=True)
                if owner[scope[0]] == mark
            ],
        )
        for mark in sorted(set(owner))
    )


def _links(constraint: Constraint, values: Sequence[Sequence[Value]]) -> Sequence[int]:
    # A parameter with one value is known to every group, and links none.
    varying = [parameter for parameter in constraint.parameters if len(values[parameter]) > 1]
    return varying or constraint.parameters[:1]


def _group(
    members: Sequence[int], values: Sequence[Sequence[Value]], constraints: Sequence[Constraint]
) -> Group:
    sizes = tuple(len(values[parameter]) for parameter in members)
    codes = valid_codes(members, values, constraints) if constraints else range(sizes[0])
    return Group(tuple(members), sizes, codes, tuple(constraint.label for constraint in constraints))
