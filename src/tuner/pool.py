"""Jobs in killable worker processes: whatever a job does to its process, it ends as a value."""

from __future__ import annotations

import contextlib
import itertools
import math
import select
import signal
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

import attrs

from tuner import travel
from tuner.answers import Answer, read_answer, read_stage
from tuner.blame import rule
from tuner.clock import PausableClock
from tuner.cpucount import usable_cpus
from tuner.crew import Crew
from tuner.deadlines import due, excess, is_overdue
from tuner.diagnosis import KEPT, Death
from tuner.errors import TravelError, WorkerStartError
from tuner.limits import Limits, LimitsLike, check_count
from tuner.listening import Ears, Source
from tuner.peer import Done, Job, Peer, Tail
from tuner.protocol import Frame, ProtocolError, split_ready, split_ticket
from tuner.record import Outcome
from tuner.spawning import check_modules, check_start_method
from tuner.surroundings import PackedPlace
from tuner.worker import Setup

_STARTS = 3
_tickets = itertools.count(1)


class Pool:
    """Up to `workers` processes (None: one for each usable processor) that run jobs and may die of them.

    `start_method` is "spawn" (a fresh interpreter for each worker), "forkserver" (forks of one fresh interpreter
    that has the `preload` modules) or "fork" (forks of this process as it is now). `limits` are the seconds of the
    stages where a job states none; `memory` the bytes that a worker may grow by; `threads` those of numerical
    libraries. A worker is replaced after `recycle` jobs, or when it has grown by `growth` bytes.

    A pool is used by one thread at a time, any thread, and belongs to the process that made it. Its limits are kept,
    and what workers write is read, while somebody waits. It needs a POSIX system; Windows is not supported yet.
    """

    def __init__(
        self,
        workers: int | None = None,
        *,
        start_method: str = "spawn",
        limits: LimitsLike | None = None,
        preload: Sequence[str] = ("numpy", "llvmlite.binding"),
        memory: int | None = None,
        threads: int = 1,
        recycle: int = 200,
        growth: int = 256 << 20,
    ) -> None:
        check_start_method(start_method)
        check_modules(preload)
        self._workers = usable_cpus() if workers is None else check_count("workers", workers)
        self._limits = Limits.of(limits)
        self._memory = memory
        self._recycle = check_count("recycle", recycle)
        check_count("memory", 1 if memory is None else memory)
        check_count("threads", threads)
        check_count("growth", growth)
        setup = Setup(tuple(preload), memory=memory, threads=threads, growth=growth)
        self._setup = travel.pack(setup, "setup").payload
        self._crew = Crew(start_method, threads=threads, preload=tuple(preload))
        self._end = weakref.finalize(self, Crew.end, self._crew)
        self._queue: deque[Job] = deque()
        self._done: deque[Done] = deque()
        self._pending: set[int] = set()
        self._numbers = itertools.count(1)
        self._ahead = False
        self._proven = False
        self._stirred = False
        self._clock = PausableClock()
        self._failed_starts = 0
        self._broken: Exception | None = None
        self._unloadable: deque[TravelError] = deque()
        self._place = PackedPlace()
        self._ears = Ears()
        self._populate()

    def submit(
        self,
        function: Callable[..., Any] | travel.Shared,
        *arguments: Any,
        limits: LimitsLike | None = None,
        confirm: bool = True,
        fresh: bool = False,
    ) -> int:
        """Queue `function(stage, *arguments)` and return its ticket; TravelError where something of it cannot travel.

        The function calls `stage(name)` as each stage begins. With `confirm`, a death by a signal that we did not
        send runs the job once more in a fresh worker, and that outcome counts; `fresh` asks for a fresh worker at once.
        After a signal that another job may have sent, no other job runs meanwhile.
        """
        self._check()
        terms = self._limits if limits is None else Limits.of(limits)
        parcel = travel.pack_call(function, arguments)
        job = Job(
            next(_tickets), travel.call_name(function), self._place.now(), parcel, terms, confirm, fresh
        )
        self._pending.add(job.ticket)
        self._queue.append(job)
        self._dispatch()
        return job.ticket

    def wait(self, timeout: float | None = None) -> list[Done]:
        """Return the jobs that ended, at least one, or none where nothing is pending or `timeout` seconds are over.

        WorkerStartError where workers do not start; TravelError where a job's values could not be loaded in a worker.
        """
        return wait_any([self], timeout)

    @property
    def pending(self) -> int:
        """The number of jobs submitted and not handed back yet."""
        return len(self._pending)

    @property
    def workers(self) -> int:
        """How many jobs run at the same time."""
        return self._workers

    def renew(self) -> None:
        """Replace every worker: idle ones now, busy ones after their job."""
        self._check()
        for peer in self._crew.staff:
            peer.worn = True
            if peer.idle:
                self._retire(peer)
        self._populate()

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Let every worker stand still for a while, in which no limit runs and no job starts."""
        self._check()
        ran = self._clock.pause()
        try:
            if ran and self._crew.keeper is not None:
                self._crew.keeper.stop()
                self._hear_keeper()  # deaths may have come with its answer
            yield
        finally:
            if self._clock.resume() and self._crew.keeper is not None:
                self._crew.keeper.resume()
                self._hear_keeper()
                self._advance()  # what ended meanwhile makes room for what is queued, and no event will say so

    def close(self) -> None:
        """Kill every worker and what it started; jobs not handed back are lost."""
        self._pending.clear()
        self._queue.clear()
        self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check(self) -> None:
        if not self._crew.owned:
            raise RuntimeError("a pool belongs to the process that made it: make another one in a fork")
        if self._crew.ended:
            raise RuntimeError("this pool is closed")
        if self._broken is not None:
            raise self._broken

    def _populate(self) -> None:
        """Start workers up to the number wanted: one more than can be busy, once it is known that workers end."""
        wanted = 0 if self._clock.stands or self._broken else self._workers + self._ahead
        while len(self._crew.staff) < wanted and not self._broken:
            try:
                self._crew.hire(next(self._numbers), self._setup, self._clock.now())
            except OSError as error:
                self._count_failed_start(f"{type(error).__name__}: {error}")

    def _dispatch(self) -> None:
        while self._queue and not self._clock.stands and (pair := self._match()):
            job, peer = pair
            self._queue.remove(job)
            peer.give(job, self._clock.now())

    def _match(self) -> tuple[Job, Peer] | None:
        staff = self._crew.staff
        idle = [peer for peer in staff if peer.idle]
        busy = [peer.job for peer in staff if peer.job is not None]
        if not idle or len(busy) >= self._workers or any(job.alone for job in busy):
            return None
        for job in self._queue:
            if job.alone and busy:
                return None
            able = [peer for peer in idle if not (job.fresh and peer.jobs)]
            if able:
                # Fresh ones are kept for the jobs that ask for one.
                return job, max(able, key=lambda peer: peer.jobs)
        if all(peer.jobs for peer in staff):
            self._retire(idle[0])
        return None

    def _retire(self, peer: Peer) -> None:
        self._ahead = True
        self._crew.dismiss(peer)

    def _advance(self) -> None:
        """Do what is due."""
        if self._crew.keeper is not None and self._crew.is_stuck(time.monotonic()):
            self._replace_keeper()
        if not self._clock.stands:
            now = self._clock.now()
            for peer in self._crew.staff:
                if is_overdue(peer, now):
                    self._condemn(peer, *excess(peer))
        self._dispatch()
        self._populate()

    def _condemn(self, peer: Peer, kind: str, cause: str) -> None:
        if peer.job is not None:
            peer.verdict = Outcome(kind, peer.watch.place, cause)
        if not peer.ready:
            self._count_failed_start(f"a new worker {cause}\n{peer.errors.text()}")
        self._retire(peer)

    def _next_due(self) -> float:
        """Return the seconds until something is due."""
        patience = self._crew.patience(time.monotonic())
        if self._clock.stands:
            return max(0.0, patience)
        dues = [due(peer) for peer in self._crew.staff]
        return max(0.0, min(patience, min(dues, default=math.inf) - self._clock.now()))

    def _sources(self) -> Iterator[Source]:
        """Give what to listen at; what reports deaths comes last, as its handler closes the others."""
        for peer in self._crew.peers.values():
            if peer.closed_at is None and not peer.leaving:
                flags = select.POLLIN | (select.POLLOUT if peer.wants_to_write else 0)
                yield peer.channel.fileno(), flags, self._hear, (peer,)
            if peer.errors.open:
                yield peer.errors.descriptor, select.POLLIN, self._drain, (peer.errors,)
        keeper, errors = self._crew.keeper, self._crew.errors
        if keeper is not None and errors is not None:
            if errors.open:
                yield errors.descriptor, select.POLLIN, self._drain, (errors,)
            yield keeper.control.fileno(), select.POLLIN, self._hear_keeper, ()

    def _drain(self, errors: Tail) -> None:
        errors.drain()
        self._stirred |= not errors.open

    def _hear(self, peer: Peer, *, to_the_end: bool = False) -> None:
        if peer.wants_to_write:
            peer.write()
            self._stirred = True
        try:
            for kind, body in peer.read(self._clock.now(), to_the_end=to_the_end):
                if not peer.leaving:
                    self._take(peer, kind, body)
        except ProtocolError as error:
            self._condemn(peer, "error", f"broke the protocol of its channel: {error}")
        self._stirred |= peer.leaving or peer.closed_at is not None

    def _take(self, peer: Peer, kind: Frame, body: bytes) -> None:
        if kind is Frame.READY and not peer.ready:
            peer.process, peer.resident = split_ready(body)
            self._proven, self._failed_starts, self._stirred = True, 0, True
            return
        ticket, body = split_ticket(body)
        if kind is Frame.STAGE and ticket in peer.finished:
            return  # of a thread that a job before has left
        if peer.job is None or peer.job.ticket != ticket:
            raise ProtocolError(f"a {kind.name} frame of no job that runs")
        if kind is Frame.LOADED and not peer.loaded:
            peer.job_loaded(self._clock.now())
        elif kind is Frame.STAGE:
            peer.loaded = True
            peer.watch.enter(read_stage(body), self._clock.now())
        elif kind is Frame.RESULT or kind is Frame.FAILURE:
            worn, answer = read_answer(kind, body, peer.watch.place)
            peer.worn |= worn
            self._stirred = True
            self._finish(peer, answer)
        else:
            raise ProtocolError(f"a {kind.name} frame from a worker")

    def _finish(self, peer: Peer, answer: Answer) -> None:
        job, seconds, stages, text = peer.finish_job(self._clock.now())
        if peer.worn or peer.jobs >= self._recycle:
            self._retire(peer)
        if answer.unloadable is not None:
            self._find_unloadable(job, peer, answer.unloadable)
            return
        text = (text + answer.traceback)[-KEPT:]
        failure = answer.failure and attrs.evolve(answer.failure, stderr=text)
        self._done.append(Done(job.ticket, answer.value, failure, seconds, stages, text, job.attempts))

    def _find_unloadable(self, job: Job, peer: Peer, why: str) -> None:
        if peer.jobs > 1 and not job.fresh:  # one of those before may have spoiled the worker
            job.fresh, job.attempts = True, job.attempts - 1
            self._retire(peer)
            self._queue.appendleft(job)
        else:
            self._pending.discard(job.ticket)
            self._unloadable.append(TravelError(job.name, why))

    def _hear_keeper(self) -> None:
        self._stirred = True
        if self._crew.keeper is None:
            return
        deaths, alive = self._crew.keeper.deaths()
        for number, status, peak, killed in deaths:
            if number in self._crew.peers:
                self._bury(self._crew.peers[number], status, peak, killed=killed)
        if not alive:
            self._replace_keeper()

    def _replace_keeper(self) -> None:
        """Take the loss of a keeper, with which all its workers died, as the death of each that was ready."""
        text = self._crew.lose_keeper()
        for peer in list(self._crew.peers.values()):
            if peer.ready:
                self._bury(peer, signal.SIGKILL, 0, killed=peer.leaving)
            else:
                self._crew.bury(peer)
        if not self._proven:
            self._count_failed_start(text)
        self._proven = False

    def _bury(self, peer: Peer, status: int, peak: int, *, killed: bool) -> None:
        if not peer.leaving:
            self._hear(peer, to_the_end=True)
        peer.errors.drain()
        if peer.job is not None:
            self._blame(peer, Death(status, peak - peer.resident, killed))
        elif not peer.ready and not peer.leaving:
            self._count_failed_start(peer.errors.text())
        self._ahead |= peer.ready
        self._crew.bury(peer)

    def _blame(self, peer: Peer, death: Death) -> None:
        stage = peer.watch.place
        job, seconds, stages, text = peer.finish_job(self._clock.now())
        outcome = rule(job, peer, death, stage, text, self._memory)
        if outcome is None:
            self._queue.appendleft(job)
            return
        failure = attrs.evolve(outcome, stderr=text)
        self._done.append(Done(job.ticket, None, failure, seconds, stages, text, job.attempts))

    def _count_failed_start(self, stderr: str) -> None:
        self._failed_starts += 1
        if self._failed_starts >= _STARTS:
            self._broken = WorkerStartError(
                f"{_STARTS} workers in a row ended before they were ready", stderr
            )

    def _collect(self) -> list[Done]:
        if self._broken is not None:
            raise self._broken
        if self._unloadable:
            raise self._unloadable.popleft()
        done = list(self._done)
        self._done.clear()
        self._pending.difference_update(one.ticket for one in done)
        return done


def wait_any(pools: Sequence[Pool], timeout: float | None = None) -> list[Done]:
    """Return the jobs of several pools that ended, as `Pool.wait` does for one."""
    # The whole function is a part of Pool that looks after several.
    for pool in pools:
        pool._check()  # noqa: SLF001
    end = math.inf if timeout is None else time.monotonic() + timeout
    if math.isnan(end):
        raise ValueError("timeout is a number of seconds, or None for any, not nan")
    listened = False
    while True:
        done = [one for pool in pools for one in pool._collect()]  # noqa: SLF001
        if done or not any(pool.pending for pool in pools) or (listened and time.monotonic() >= end):
            return done
        _listen(pools, end)
        for pool in pools:
            pool._advance()  # noqa: SLF001
        listened = True


def _listen(pools: Sequence[Pool], end: float) -> None:
    """Hear what comes, until something has changed but the stage of a job, or something is due."""
    sources = [source for pool in pools for source in pool._sources()]  # noqa: SLF001
    ears = pools[0]._ears  # noqa: SLF001
    for pool in pools:
        pool._stirred = False  # noqa: SLF001
    patience = math.inf
    while patience > 0 and not any(pool._stirred for pool in pools):  # noqa: SLF001
        patience = min(end - time.monotonic(), *(pool._next_due() for pool in pools))  # noqa: SLF001
        ears.listen(sources, max(0.0, patience))
