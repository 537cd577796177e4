"""One worker as its pool sees it: the ends of its channel and of its standard error, and the job it has."""

from __future__ import annotations

import contextlib
import os
import socket
from collections import deque
from collections.abc import Iterator
from typing import Any

import attrs

from tuner.diagnosis import KEPT
from tuner.limits import Limits, Watch
from tuner.protocol import Decoder, Frame, encode, encode_job
from tuner.record import Outcome
from tuner.spawning import NO_SIGPIPE
from tuner.travel import Parcel, Shared

_CHUNK = 1 << 16  # a larger buffer is mapped anew for each read, which costs more than the read
_DRAINED_AT_ONCE = 1 << 20


@attrs.frozen
class Done:
    """A job that ended: its value, or as `failure` the outcome, `kind`, `stage` and `cause`, of one that failed.

    `seconds` from being given to a worker to its end, and in each stage, without the time a paused pool stood
    still; `stderr`: the end of what it wrote there (and to standard output); `attempts`: 2 where a death was confirmed.
    """

    ticket: int
    value: Any = None
    failure: Outcome | None = None
    seconds: float = 0.0
    stages: dict[str, float] = attrs.field(factory=dict)
    stderr: str = ""
    attempts: int = 1

    @property
    def ok(self) -> bool:
        """Whether it has a value."""
        return self.failure is None


@attrs.define(eq=False)
class Job:
    """A call on its way: what to send, and the terms on which it runs."""

    ticket: int
    name: str
    place: bytes
    parcel: Parcel
    limits: Limits
    confirm: bool
    fresh: bool
    alone: bool = False
    attempts: int = 0
    lost: int = 0


class Tail:
    """The last bytes of a stream that may be endless."""

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self.descriptor = descriptor
        self.open = True
        self._kept: deque[bytes] = deque()
        self._size = 0

    def drain(self) -> None:
        """Take what is there, up to a bound: others wait too."""
        taken = 0
        while taken < _DRAINED_AT_ONCE:
            try:
                data = os.read(self.descriptor, _CHUNK)
            except BlockingIOError:
                return
            if not data:
                self.open = False
                return
            taken += len(data)
            self._keep(data[-KEPT:])

    def text(self) -> str:
        """Return what was kept."""
        return b"".join(self._kept)[-KEPT:].decode(errors="backslashreplace")

    def clear(self) -> None:
        """Forget what was kept."""
        self._kept.clear()
        self._size = 0

    def close(self) -> None:
        """Close the descriptor; what was kept stays."""
        self.open = False
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    def _keep(self, data: bytes) -> None:
        self._kept.append(data)
        self._size += len(data)
        while self._size - len(self._kept[0]) >= KEPT:
            self._size -= len(self._kept.popleft())


class Peer:
    """The parent's end of one worker, from its start to the report of its death.

    `descriptors` are the worker's own ends, to be handed over and then closed by `handed_over`.
    """

    def __init__(self, number: int, setup: bytes, now: float) -> None:
        self.number = number
        self.born = now
        self.channel, self._theirs = socket.socketpair()
        try:
            errors, self._their_errors = os.pipe()
        except OSError:
            self.channel.close()
            self._theirs.close()
            raise
        self.channel.setblocking(False)
        self.errors = Tail(errors)
        self.process: int | None = None
        self.resident = 0
        self.job: Job | None = None
        self.watch = Watch(Limits(), now)
        self.given_at = now
        self.loaded = False
        self.finished: set[int] = set()
        self.closed_at: float | None = None
        self.leaving = False
        self.worn = False
        self.verdict: Outcome | None = None
        self.progress = False
        self._decoder = Decoder()
        self._outbox = memoryview(encode(Frame.SETUP, setup))
        self._place = b""
        self._has: set[int] = set()

    @property
    def descriptors(self) -> tuple[int, int]:
        """The worker's channel and standard error."""
        return self._theirs.fileno(), self._their_errors

    def handed_over(self) -> None:
        """Close the worker's ends: the worker has them now."""
        self._theirs.close()
        if self._their_errors >= 0:
            os.close(self._their_errors)
            self._their_errors = -1

    @property
    def ready(self) -> bool:
        """Whether it has said that it takes jobs."""
        return self.process is not None

    @property
    def jobs(self) -> int:
        """How many jobs it has finished."""
        return len(self.finished)

    @property
    def idle(self) -> bool:
        """Whether it can take a job now."""
        return self.ready and self.job is None and not self.leaving and self.closed_at is None

    @property
    def wants_to_write(self) -> bool:
        """Whether something waits to be sent."""
        return bool(self._outbox) and self.closed_at is None

    def give(self, job: Job, now: float) -> None:
        """Send a job, with what it needs that this worker has not got yet."""
        frames = []
        if job.place != self._place:
            frames.append(encode(Frame.PLACE, job.place))
            self._place = job.place
        frames += [
            encode_job(Frame.SHARE, shared.number, shared.payload)
            for shared in self._missing(job.parcel.shared)
        ]
        frames.append(encode_job(Frame.JOB, job.ticket, job.parcel.payload))
        self._outbox = memoryview(b"".join((self._outbox, *frames)))
        self.job, self.watch = job, Watch(job.limits, now)
        self.given_at, self.loaded = now, False
        job.attempts += 1
        self.write()

    def job_loaded(self, now: float) -> None:
        """Note that the job begins; to import what it needs, as the first one of a worker does, is not its own time."""
        self.loaded = True
        self.watch.restart(now)

    def deadline(self, patience: float) -> float:
        """Return when its job is out of time, `patience` seconds being left for it to load."""
        return self.watch.deadline if self.loaded else max(self.watch.deadline, self.given_at + patience)

    def _missing(self, shared: tuple[Shared, ...]) -> Iterator[Shared]:
        for one in shared:
            if one.number not in self._has:
                yield from self._missing(one.inner)
                self._has.add(one.number)
                yield one

    def write(self) -> None:
        """Send what the channel takes now."""
        with contextlib.suppress(BlockingIOError, ConnectionError):  # an end shows when reading
            while self._outbox:
                self._outbox = self._outbox[self.channel.send(self._outbox, NO_SIGPIPE) :]

    def read(self, now: float, *, to_the_end: bool = True) -> Iterator[tuple[Frame, bytes]]:
        """Take the frames that came; ProtocolError where something else did.

        Without `to_the_end` it does not make sure that there is no more: who polls will be told.
        """
        while self.closed_at is None:
            try:
                data = self.channel.recv(_CHUNK)
            except BlockingIOError:
                return
            except ConnectionError:
                data = b""
            if not data:
                self.closed_at = now
            self.progress = True
            self._decoder.feed(data)
            yield from self._decoder
            if len(data) < _CHUNK and not to_the_end:
                return

    @property
    def halfway(self) -> bool:
        """Whether the beginning of a frame has come."""
        return bool(len(self._decoder))

    def finish_job(self, now: float) -> tuple[Job, float, dict[str, float], str]:
        """Take the job off: the job, its seconds, those of its stages, and what it wrote."""
        if self.job is None:
            raise AssertionError("a worker without a job cannot finish one")
        self.errors.drain()
        job, self.job = self.job, None
        self.finished.add(job.ticket)
        text = self.errors.text()
        self.errors.clear()
        return job, *self.watch.finish(now), text

    def close(self) -> None:
        """Close this process's ends."""
        self.handed_over()
        self.channel.close()
        self.errors.close()
