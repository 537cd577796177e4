"""Which records have a place in a T4 file, and which are left out for which reason.

T4 knows no roles. So a baseline, whose configuration is not the one that was timed, would pass for a trial, and of a
configuration's trial and final in one run nobody could tell the rough cost from the one that counts.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from typing import TextIO

import attrs

from tuner.errors import RecordError
from tuner.record import Record
from tuner.values import canonical, read_json

BASELINE = "baselines, which have no place in T4"
TIMED_AGAIN = "trials timed again as finals"


@attrs.frozen
class LeftOut:
    """A record that was not written, by its run, number and role, and why."""

    run: str
    number: int
    role: str
    message: str


def entries(
    records: Iterable[Record], write: Callable[[Record], str], tell: Callable[[LeftOut], object]
) -> Iterator[str]:
    """Go through the entries of the records that a T4 file can hold, as `write` writes each, on one line.

    RecordError for records of several tasks, before the first.
    """
    # Which trials have finals is known at the end only; so all wait in a file, that memory stays flat.
    with tempfile.TemporaryFile("w+", encoding="ascii", newline="\n") as waiting:
        finals = set()
        for record in _of_one_task(records):
            if record.role == "baseline":
                tell(LeftOut(record.run, record.number, record.role, BASELINE))
                continue
            if record.role == "final":
                finals.add((record.run, record.config.text))
            about = (record.run, record.number, record.role, record.config.text)
            waiting.write(f"{canonical(about)}\n{write(record)}\n")
        waiting.seek(0)
        for run, number, role, config, entry in _read(waiting):
            if role == "trial" and (run, config) in finals:
                tell(LeftOut(run, number, role, TIMED_AGAIN))
            else:
                yield entry


def _read(waiting: TextIO) -> Iterator[tuple[str, int, str, str, str]]:
    for about in waiting:
        run, number, role, config = read_json(about)
        yield run, number, role, config, waiting.readline().rstrip("\n")


def _of_one_task(records: Iterable[Record]) -> Iterator[Record]:
    first = None
    for record in records:
        task = (record.kernel, record.fingerprint, record.problem, record.target.tuning_key, record.toolchain)
        first = task if first is None else first
        if task != first:
            raise RecordError(
                "$",
                "must be records of one kernel, problem, target and toolchain, all that T4 can hold; choose some",
            )
        yield record
