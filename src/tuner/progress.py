"""Progress of a run on one line: trials done, failures by kind, and the best so far."""

from __future__ import annotations

import sys
import time
from collections import Counter
from typing import TextIO

from tuner.kernel import Work
from tuner.record import Record

_INTERVAL = 0.1
_WIDTH = 20
_GIGA = 1e9


class Progress:
    """Counts what is reported, and draws it where `stream` is one."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream
        self._drawn = 0.0
        self._length = 0
        self.total = 0
        self.outcomes: Counter[str] = Counter()
        self.best: float | None = None
        self.work: Work | None = None

    @classmethod
    def of(cls, setting: object) -> Progress:
        """Read the option of `tune`: "auto" (where standard error is a terminal), True, False, or a Progress."""
        if isinstance(setting, Progress):
            return setting
        if setting == "auto":
            return cls(sys.stderr if sys.stderr is not None and sys.stderr.isatty() else None)
        if setting is not True and setting is not False:
            raise ValueError(f'progress is "auto", True or False, not {setting!r}')
        return cls(sys.stderr if setting is True else None)

    @property
    def done(self) -> int:
        """The trials reported so far."""
        return self.outcomes.total()

    def begin(self, total: int, work: Work | None) -> None:
        """Note how many trials there will be, and the work of one call."""
        self.total, self.work = total, work
        self._draw(force=True)

    def report(self, record: Record) -> None:
        """Take note of a trial."""
        self.outcomes[record.outcome.kind] += 1
        if record.cost is not None and (self.best is None or record.cost < self.best):
            self.best = record.cost
        self._draw(force=self.done == self.total)

    def end(self) -> None:
        """Leave the line."""
        if self._stream is not None and self._length:
            self._stream.write("\n")
            self._stream.flush()
            self._length = 0

    def __str__(self) -> str:
        filled = _WIDTH * self.done // max(self.total, 1)
        failures = ", ".join(
            f"{count} {kind}" for kind, count in sorted(self.outcomes.items()) if kind != "ok"
        )
        parts = [f"[{'#' * filled}{'.' * (_WIDTH - filled)}] {self.done}/{self.total} trials"]
        parts += [failures] if failures else []
        parts += [f"best {speed(self.best, self.work)}"] if self.best is not None else []
        return "; ".join(parts)

    def _draw(self, *, force: bool) -> None:
        now = time.monotonic()
        if self._stream is None or not (force or now - self._drawn >= _INTERVAL):
            return
        text = str(self)
        self._stream.write(f"\r{text.ljust(self._length)}")
        self._stream.flush()
        self._drawn, self._length = now, len(text)


def speed(cost: float, work: Work | None) -> str:
    """Write a cost in seconds as a rate where the work of one call is stated, else as a time.

    >>> speed(0.001, Work(2e9, 1.0)), speed(0.0025, None)
    ('2000.0 GFLOP/s', '2.5 ms')
    """
    if work is not None and work.flop:
        return f"{work.flop / cost / _GIGA:.1f} GFLOP/s"
    for unit, seconds in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if cost >= seconds:
            return f"{cost / seconds:.4g} {unit}"
    return f"{cost * _GIGA:.4g} ns"
