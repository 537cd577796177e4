"""Which records have a place in a T4 file, and how many were left out for which reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs

from tuner.record import Record


def _key(record: Record) -> tuple[str, str]:
    return record.run, record.config.text


@attrs.define
class Entries:
    """The records that T4 can hold, and the count of the others.

    T4 knows no roles. So a baseline, whose configuration is not the one that was timed, would pass for a trial, and of
    a configuration's trial and final in one run nobody could tell the rough cost from the one that counts.
    """

    finals: frozenset[tuple[str, str]]
    baselines: int = attrs.field(default=0, init=False)
    rough: int = attrs.field(default=0, init=False)

    @classmethod
    def beside(cls, finals: Iterable[Record]) -> Entries:
        """Return the choice among records of which these are the finals."""
        return cls(frozenset(map(_key, finals)))

    def of(self, records: Iterable[Record]) -> Iterator[Record]:
        """Go through the records that a T4 file holds."""
        for record in records:
            if record.role == "baseline":
                self.baselines += 1
            elif record.role == "trial" and _key(record) in self.finals:
                self.rough += 1
            else:
                yield record

    def left_out(self) -> str:
        """Say what was left out and why; nothing where all was written."""
        parts = [f"{self.baselines} baselines, which have no place in T4"] if self.baselines else []
        parts += [f"{self.rough} trials timed again as finals"] if self.rough else []
        return f"left out: {', and '.join(parts)}" if parts else ""
