"""Enumeration of the valid combinations of parameters that constraints link.

Combinations are built parameter by parameter, in an order in which constraints bind early, as columns of positions in the
value lists; each constraint is asked once for each combination of its own parameters that occurs.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from tuner.constraints import RAISES, REFUSES, Constraint, Value
from tuner.errors import SpaceError

Positions = NDArray[np.integer]
Columns = dict[int, Positions]

# What a constraint said is remembered for up to this many combinations of its values, one byte each.
_REMEMBERED = 1 << 22
_UNKNOWN = -1
# Rows that are tested at a time: large enough for numpy, small enough to stay out of the way.
_CHUNK = 1 << 18
_MACHINE_WORD = 1 << 63


def valid_codes(
    members: Sequence[int], values: Sequence[Sequence[Value]], constraints: Sequence[Constraint]
) -> Sequence[int]:
    """Give the sorted codes of the combinations of `members` that all constraints allow.

    A code is the combination's rank among all, valid or not: the mixed-radix number of its positions. Parameters
    that the constraints take beside the members have one value. A constraint may raise for what another refuses.
    """
    testers = [_Tester(constraint, values) for constraint in constraints]
    columns: Columns = {}
    rows = 1
    for parameter, binding in _schedule(members, values, testers):
        columns, rows = _extend(columns, rows, parameter, len(values[parameter]), binding)
        _refuse_empty(rows, binding, testers)
    _refuse_raising(columns, rows, testers)
    return _codes(
        [columns[parameter] for parameter in members], [len(values[parameter]) for parameter in members]
    )


class _Tester:
    """A constraint over columns of positions; what it said of a combination is remembered."""

    def __init__(self, constraint: Constraint, values: Sequence[Sequence[Value]]) -> None:
        self.constraint = constraint
        self.varying = frozenset(p for p in constraint.parameters if len(values[p]) > 1)
        self.survivors = 0
        self._values = [_objects(values[parameter]) for parameter in constraint.parameters]
        self._sizes = tuple(map(len, self._values))
        self._memory: NDArray[np.int8] | None = None
        self._raises = False

    def mask(self, columns: Columns, rows: int, *, distinct: bool) -> NDArray[np.bool_]:
        """Tell of each row whether it may stay; `distinct`: no combination comes twice, now or later."""
        own = self._own(columns, rows)
        states = self._ask(own) if distinct or not self._can_remember() else self._recall(own)
        self._raises = self._raises or bool((states == RAISES).any())
        mask: NDArray[np.bool_] = states != REFUSES
        self.survivors += int(np.count_nonzero(mask))
        return mask

    def error(self, columns: Columns, rows: int) -> SpaceError | None:
        """Give the error that the constraint raises for one of the rows, None where it raises for none."""
        return self.constraint.error(self._look_up(self._own(columns, rows))) if self._raises else None

    def refuses_all(self) -> bool:
        """Tell whether the constraint alone, as far as that is quick to tell, allows nothing."""
        if not self._can_remember():
            return False
        every = np.unravel_index(np.arange(math.prod(self._sizes)), self._sizes)
        return not self._ask(every).any()

    def _own(self, columns: Columns, rows: int) -> list[Positions]:
        constant = np.zeros(rows, np.uint8)
        return [columns.get(parameter, constant) for parameter in self.constraint.parameters]

    def _can_remember(self) -> bool:
        return math.prod(self._sizes) <= _REMEMBERED

    def _look_up(self, own: Sequence[Positions]) -> list[list[Value]]:
        return [values[column].tolist() for values, column in zip(self._values, own, strict=True)]

    def _ask(self, own: Sequence[Positions]) -> NDArray[np.int8]:
        return self.constraint.states(self._look_up(own))

    def _recall(self, own: Sequence[Positions]) -> NDArray[np.int8]:
        if self._memory is None:
            self._memory = np.full(math.prod(self._sizes), _UNKNOWN, np.int8)
        combinations = np.ravel_multi_index(tuple(own), self._sizes)
        new = np.unique(combinations[self._memory[combinations] == _UNKNOWN])
        if len(new):
            self._memory[new] = self._ask(np.unravel_index(new, self._sizes))
        recalled: NDArray[np.int8] = self._memory[combinations]
        return recalled


def _schedule(
    members: Sequence[int], values: Sequence[Sequence[Value]], testers: Sequence[_Tester]
) -> Iterator[tuple[int, list[_Tester]]]:
    """Give each member with the constraints that it completes, those that need fewest combinations first."""
    bound: set[int] = set()
    waiting = list(testers)
    while waiting:
        following = min(waiting, key=lambda tester: math.prod(len(values[p]) for p in tester.varying - bound))
        for parameter in sorted(following.varying - bound) or [p for p in members if p not in bound][:1]:
            bound.add(parameter)
            binding = [tester for tester in waiting if tester.varying <= bound]
            waiting = [tester for tester in waiting if not tester.varying <= bound]
            yield parameter, binding


def _extend(
    columns: Columns, rows: int, parameter: int, size: int, binding: Sequence[_Tester]
) -> tuple[Columns, int]:
    """Combine the rows with each value of one more parameter and keep those that the binding constraints allow."""
    step = max(1, _CHUNK // size)
    parts = [
        _extend_rows(
            {known: column[start : start + step] for known, column in columns.items()},
            min(step, rows - start),
            parameter,
            size,
            binding,
        )
        for start in range(0, rows, step)
    ]
    joined = {known: np.concatenate([part[known] for part in parts]) for known in parts[0]}
    return joined, len(joined[parameter])


def _extend_rows(
    columns: Columns, rows: int, parameter: int, size: int, binding: Sequence[_Tester]
) -> Columns:
    grown: Columns = {known: np.repeat(column, size) for known, column in columns.items()}
    grown[parameter] = np.tile(np.arange(size, dtype=np.min_scalar_type(size)), rows)
    rows *= size
    for tester in binding:
        mask = tester.mask(grown, rows, distinct=tester.varying == grown.keys())
        grown = {known: column[mask] for known, column in grown.items()}
        rows = len(grown[parameter])
    return grown


def _refuse_empty(rows: int, binding: Sequence[_Tester], testers: Sequence[_Tester]) -> None:
    if rows:
        return
    alone = [tester.constraint.label for tester in testers if tester.refuses_all()]
    if alone:
        raise SpaceError(f"no configuration is valid: {alone[0]}, allows none")
    last = next(tester.constraint.label for tester in binding if not tester.survivors)
    others = "; ".join(tester.constraint.label for tester in testers if tester.survivors)
    raise SpaceError(f"no configuration is valid: {last}, allows none of those that are allowed by {others}")


def _refuse_raising(columns: Columns, rows: int, testers: Sequence[_Tester]) -> None:
    for tester in testers:
        failure = tester.error(columns, rows)
        if failure is not None:
            raise failure


def _codes(columns: Sequence[Positions], sizes: Sequence[int]) -> Sequence[int]:
    dtype = np.int64 if math.prod(sizes) < _MACHINE_WORD else object
    codes = columns[0].astype(dtype)
    for column, size in zip(columns[1:], sizes[1:], strict=True):
        codes *= size
        codes += column.astype(dtype, copy=False)
    codes.sort()
    return pack(codes.tolist() if dtype is object else codes, math.prod(sizes))


def pack(codes: Iterable[int], combinations: int) -> Sequence[int]:
    """Store codes below `combinations`: eight bytes each, unless there are more than a machine word tells apart."""
    if combinations >= _MACHINE_WORD:
        return tuple(codes)
    return array("q", codes.tobytes() if isinstance(codes, np.ndarray) else codes)


def _objects(values: Sequence[Value]) -> NDArray[np.object_]:
    # np.array would make texts of mixed values, and keep no int beyond 64 bits.
    kept = np.empty(len(values), object)
    kept[:] = values
    return kept
