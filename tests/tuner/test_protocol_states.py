"""A pool whose workers misbehave at any byte and any moment: every job ends once, and nothing else escapes."""

from __future__ import annotations

import os
import signal
import socket
from typing import Any
from unittest import mock

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tuner import pool as pool_module
from tuner import travel
from tuner.crew import Crew
from tuner.errors import WorkerStartError
from tuner.peer import Done, Peer
from tuner.pool import Pool
from tuner.protocol import Frame, encode, encode_job, encode_ready

STATUSES = (0, 7 << 8, signal.SIGSEGV, signal.SIGKILL, signal.SIGABRT)


class FakeCrew(Crew):
    """Hires workers that are ends of channels, held by the test; it starts no process."""

    def hire(self, number: int, setup: bytes, now: float) -> None:
        """Make a peer whose own ends stay with us."""
        self.peers[number] = Peer(number, setup, now)


class FakeClock:
    """A clock that the test moves."""

    time = 0.0
    stands = False

    def now(self) -> float:
        """Return the time."""
        return self.time

    def pause(self) -> bool:
        """Stand still."""
        self.stands = True
        return True

    def resume(self) -> bool:
        """Go on."""
        self.stands = False
        return True


def good_answer(ticket: int, value: Any) -> bytes:
    """Return all that a worker says about a job that gives a value."""
    result = b"\0" + travel.pack(value, "value").payload
    return (
        encode_job(Frame.LOADED, ticket)
        + encode_job(Frame.STAGE, ticket, b"run")
        + encode_job(Frame.RESULT, ticket, result)
    )


class PoolStates(RuleBasedStateMachine):
    """Jobs are submitted, and workers answer, lie, fall silent, close their channels or die, in any order."""

    def __init__(self) -> None:
        super().__init__()
        with mock.patch.object(pool_module, "Crew", FakeCrew):
            self.pool = Pool(2, start_method="spawn", preload=(), limits={"run": 5.0})
        self.clock: Any = FakeClock()
        self.pool._clock = self.clock  # type: ignore[assignment]
        self.submitted: list[int] = []
        self.done: list[Done] = []
        self.broken = False

    @property
    def peers(self) -> list[Peer]:
        """The workers, also those on their way out."""
        return list(self.pool._crew.peers.values())

    def pick(self, at: int) -> Peer | None:
        """Choose a worker that is ready, after making all so; two in three times one that has a job."""
        for peer in self.peers:
            if not peer.ready and not peer.leaving:
                self.say(peer, encode_ready(1000 + peer.number, 1000))
        ready = [peer for peer in self.peers if peer.ready]
        busy = [peer for peer in ready if peer.job is not None]
        chosen = busy if busy and at % 3 else ready
        return chosen[at % len(chosen)] if chosen else None

    def say(self, peer: Peer, data: bytes) -> None:
        """Write what a worker would."""
        try:
            with socket.socket(fileno=os.dup(peer.descriptors[0])) as channel:
                channel.sendall(data)
        except OSError:
            pass  # it has closed its channel
        self.listen()

    def listen(self) -> None:
        """Let the pool take what came."""
        if not self.broken:
            try:
                self.done += self.pool.wait(0.0)
            except WorkerStartError:
                self.broken = True

    @precondition(lambda self: not self.broken and len(self.submitted) < 12)
    @rule(confirm=st.booleans(), fresh=st.booleans())
    def submit(self, *, confirm: bool, fresh: bool) -> None:
        self.submitted.append(self.pool.submit(len, b"argument", confirm=confirm, fresh=fresh))

    @rule(status=st.sampled_from(STATUSES))
    def die_before_ready(self, status: int) -> None:
        for peer in [peer for peer in self.peers if not peer.ready][:1]:
            self.pool._bury(peer, status, 1000, killed=peer.leaving)
            self.listen()

    @rule(at=st.integers(0, 9))
    def answer(self, at: int) -> None:
        peer = self.pick(at)
        if peer is not None and peer.job is not None:
            self.say(peer, good_answer(peer.job.ticket, peer.job.ticket))

    @rule(at=st.integers(0, 9), cut=st.integers(0, 200), noise=st.binary(max_size=12), rest=st.booleans())
    def answer_wrong(self, at: int, cut: int, noise: bytes, *, rest: bool) -> None:
        peer = self.pick(at)
        if peer is not None:
            ticket = peer.job.ticket if peer.job is not None else 1
            whole = good_answer(ticket, ticket)
            place = cut % len(whole)
            self.say(peer, whole[:place] + noise + (whole[place + len(noise) :] if rest else b""))

    @rule(at=st.integers(0, 9), which=st.integers(0, 20))
    def answer_for_another_job(self, at: int, which: int) -> None:
        peer = self.pick(at)
        if peer is not None and self.submitted:
            ticket = self.submitted[which % len(self.submitted)]
            self.say(peer, good_answer(ticket, ticket))

    @rule(at=st.integers(0, 9), kind=st.sampled_from(Frame), body=st.binary(max_size=20))
    def say_any_frame(self, at: int, kind: Frame, body: bytes) -> None:
        peer = self.pick(at)
        if peer is not None:
            ticket = peer.job.ticket if peer.job is not None else 1
            self.say(peer, encode_job(kind, ticket, body) if len(body) % 2 else encode(kind, body))

    @rule(at=st.integers(0, 9))
    def close_channel(self, at: int) -> None:
        peer = self.pick(at)
        if peer is not None:
            peer._theirs.close()
            self.listen()

    @rule(at=st.integers(0, 9), status=st.sampled_from(STATUSES))
    def die(self, at: int, status: int) -> None:
        peer = self.pick(at)
        if peer is not None:
            self.pool._bury(peer, status, 1000, killed=peer.leaving)
            self.listen()

    @rule(seconds=st.sampled_from([0.05, 0.2, 6.0, 70.0]))
    def pass_time(self, seconds: float) -> None:
        if not self.clock.stands:
            self.clock.time += seconds
        self.listen()

    @rule()
    def pause_and_go_on(self) -> None:
        if not self.broken:
            with self.pool.paused():
                self.listen()

    @invariant()
    def each_job_ends_at_most_once(self) -> None:
        tickets = [done.ticket for done in self.done]
        assert len(tickets) == len(set(tickets))
        assert set(tickets) <= set(self.submitted)
        assert self.broken or self.pool.pending == len(self.submitted) - len(tickets)

    @invariant()
    def no_more_workers_are_there_than_wanted(self) -> None:
        staff = self.pool._crew.staff
        assert len(staff) <= 3
        assert sum(peer.job is not None for peer in staff) <= 2

    def teardown(self) -> None:
        """Let every worker die until all jobs have ended: each of them does."""
        for _ in range(400):
            if self.broken or not self.pool.pending:
                break
            self.clock.time += 1.0
            for peer in self.peers:
                if not peer.ready and not peer.leaving:
                    self.say(peer, encode_ready(1000 + peer.number, 1000))
                elif peer.job is not None or peer.leaving or peer.closed_at is not None:
                    self.pool._bury(peer, 7 << 8, 1000, killed=False)
            self.listen()
        try:
            assert self.broken or sorted(self.submitted) == sorted(done.ticket for done in self.done)
            for done in self.done:
                assert not done.ok or done.value == done.ticket
        finally:
            self.pool.close()


PoolStates.TestCase.settings = settings(settings.default, stateful_step_count=40)
TestPoolStates = PoolStates.TestCase
