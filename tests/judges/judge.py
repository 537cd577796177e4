"""What judges the rows of one file, and the verdict on them all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

from targetspec.errors import TargetspecError

Row = Mapping[str, Any]


@attrs.frozen
class Judge:
    """The faults of a row; the reviewed rows that are not right, by their id with the reason; and how many may be.

    `percent` is 1 where a project asserts the rows of its own rules, 2 where a tool was asked for its opinion.
    """

    faults: Callable[[Row], Iterable[str]]
    listed: Mapping[str, str] = attrs.field(factory=dict)
    percent: int = 1


@attrs.frozen
class Verdict:
    """The ids of a file's rows: right, wrong with what is wrong, listed; and those listed that are right."""

    right: tuple[str, ...]
    wrong: Mapping[str, str]
    listed: tuple[str, ...]
    stale: tuple[str, ...]
    percent: int

    @property
    def rows(self) -> int:
        """How many rows the file has."""
        return len(self.right) + len(self.wrong) + len(self.listed)

    @property
    def share(self) -> float:
        """How many of a hundred rows are listed."""
        return 100 * len(self.listed) / max(self.rows, 1)

    @property
    def within(self) -> bool:
        """Whether the list is short enough."""
        return self.share <= self.percent


def fault_of(judge: Judge, row: Row) -> str:
    """Return what is wrong with a row, empty where it is right; an error that a judge does not expect is a fault."""
    try:
        return "; ".join(judge.faults(row))
    except TargetspecError as error:
        return f"{type(error).__name__}: {error}"


def verdict(judge: Judge, rows: Iterable[Row]) -> Verdict:
    """Judge the rows of a file."""
    faults = {row["id"]: fault_of(judge, row) for row in rows}
    return Verdict(
        right=tuple(name for name, fault in faults.items() if not fault),
        wrong={name: fault for name, fault in faults.items() if fault and name not in judge.listed},
        listed=tuple(name for name, fault in faults.items() if fault and name in judge.listed),
        stale=tuple(name for name in judge.listed if faults.get(name) == ""),
        percent=judge.percent,
    )
