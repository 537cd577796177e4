"""The frames between a pool and its workers, and a pool whose worker's bytes go wrong at any place."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tuner import pool as pool_module
from tuner import travel, worker
from tuner.crew import Crew
from tuner.peer import Done, Peer
from tuner.pool import Pool
from tuner.protocol import (
    LARGEST,
    Decoder,
    Frame,
    ProtocolError,
    encode,
    encode_job,
    encode_ready,
    split_ready,
    split_ticket,
)

frames = st.lists(st.tuples(st.sampled_from(Frame), st.binary(max_size=40)), max_size=6)


def test_a_worker_takes_all_that_comes_whatever_the_pauses() -> None:
    """At once, soon, or late, one after the other; and then the end."""
    ours, theirs = socket.socketpair()
    pauses = [0.0] * 20 + [0.002] * 3 + [0.0] * 40 + [0.0001] * 20

    def send() -> None:
        for number, pause in enumerate(pauses):
            time.sleep(pause)
            ours.sendall(bytes([number]))
        ours.close()

    with theirs:
        inbox, got = worker._Inbox(theirs), b""
        sender = threading.Thread(target=send)
        sender.start()
        while data := inbox.take():
            got += data
        sender.join()
        assert (bytes(range(len(pauses))), b"") == (got, inbox.take())


@given(frames, st.data())
def test_frames_come_out_as_they_went_in_however_the_bytes_are_cut(
    sent: list[tuple[Frame, bytes]], data: st.DataObject
) -> None:
    """Decoding does not depend on how a stream is cut into pieces."""
    stream = b"".join(encode(kind, body) for kind, body in sent)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    decoder = Decoder()
    got: list[tuple[Frame, bytes]] = []
    for begin, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        decoder.feed(stream[begin:end])
        got += decoder
    assert (sent, 0) == (got, len(decoder))


@given(st.binary(min_size=1, max_size=60))
def test_noise_gives_frames_or_an_error_and_nothing_else(noise: bytes) -> None:
    """Whatever bytes come, they are frames, the beginning of one, or a ProtocolError."""
    decoder = Decoder()
    decoder.feed(noise)
    try:
        got = list(decoder)
    except ProtocolError:
        return
    assert noise.startswith(b"".join(encode(kind, body) for kind, body in got))


def test_no_frame_begins_with_an_unknown_kind() -> None:
    """The first byte is enough to see noise."""
    decoder = Decoder()
    decoder.feed(b"Traceback")
    with pytest.raises(ProtocolError, match="no frame begins with 0x54"):
        list(decoder)


def test_a_length_beyond_the_largest_is_noise() -> None:
    """No memory is promised to a length that no frame has."""
    decoder = Decoder()
    decoder.feed(bytes([Frame.RESULT]) + (LARGEST + 1).to_bytes(8, "little"))
    with pytest.raises(ProtocolError, match="a frame of 4294967297 bytes"):
        list(decoder)


@given(st.integers(0, 2**64 - 1), st.binary(max_size=20))
def test_a_ticket_comes_back_with_the_rest(ticket: int, body: bytes) -> None:
    """Splitting undoes what encoding a frame about a job does."""
    decoder = Decoder()
    decoder.feed(encode_job(Frame.STAGE, ticket, body))
    assert [(Frame.STAGE, (ticket, body))] == [(kind, split_ticket(whole)) for kind, whole in decoder]


def test_short_bodies_are_errors() -> None:
    """A body without its fixed part is a fault of who sent it."""
    with pytest.raises(ProtocolError):
        split_ticket(b"1234567")
    with pytest.raises(ProtocolError):
        split_ready(b"1234567")


class FakeCrew(Crew):
    """Hires workers that are ends of channels, held by the test; it starts no process."""

    def hire(self, number: int, setup: bytes, now: float) -> None:
        """Make a peer whose own ends stay with us."""
        self.peers[number] = Peer(number, setup, now)


class FakePool:
    """A pool of one fake worker that is ready, and has been given one job."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with monkeypatch.context() as patched:
            patched.setattr(pool_module, "Crew", FakeCrew)
            self.pool = Pool(1, start_method="spawn", preload=())
        (self.peer,) = self.pool._crew.peers.values()
        self.ticket = self.pool.submit(len, b"argument", confirm=False)
        self.say(encode_ready(1234, 1000))
        self.listen()

    def say(self, data: bytes) -> None:
        """Write what a worker would."""
        with socket.socket(fileno=os.dup(self.peer.descriptors[0])) as channel:
            channel.sendall(data)

    def listen(self) -> list[Done]:
        """Let the pool take what came."""
        return self.pool.wait(0.0)

    def die(self, status: int) -> list[Done]:
        """Report the death of the worker."""
        if self.peer.number in self.pool._crew.peers:
            self.pool._bury(self.peer, status, 1000, killed=self.peer.leaving)
        return self.pool._collect()


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakePool]:
    """A fresh fake worker with a job."""
    made = FakePool(monkeypatch)
    yield made
    made.pool.close()


def answer(ticket: int, value: Any = "value") -> bytes:
    """Return all that a worker says about a job that gives a value."""
    return encode_job(Frame.STAGE, ticket, b"run") + encode_job(
        Frame.RESULT, ticket, b"\0" + travel.pack(value, "value").payload
    )


def test_a_good_answer_is_taken_in_any_pieces(fake: FakePool) -> None:
    """One byte at a time, the answer is the same."""
    done: list[Done] = []
    for byte in answer(fake.ticket):
        fake.say(bytes([byte]))
        done += fake.listen()
    assert [(fake.ticket, "value")] == [(one.ticket, one.value) for one in done]


@pytest.mark.parametrize("change", [b"", b"\0", b"\xff", b"\xb3", b"noise"])
def test_a_worker_that_goes_wrong_at_any_byte_costs_its_job_alone(
    monkeypatch: pytest.MonkeyPatch, change: bytes
) -> None:
    """Wherever bytes are lost, changed or added before the worker dies, the job ends once, and no exception escapes."""
    length = len(answer(1))
    for at in range(length):
        fake = FakePool(monkeypatch)
        good = answer(fake.ticket)
        fake.say(good[:at] + change + good[at + len(change) or length :])
        done = fake.listen() + fake.die(7 << 8)
        assert [fake.ticket] == [one.ticket for one in done]
        assert done[0].failure is None or done[0].failure.kind in {"exit", "error"}
        assert 0 == fake.pool.pending
        fake.pool.close()


@pytest.mark.parametrize(
    "frame",
    [
        lambda ticket: answer(ticket + 1),
        lambda _: encode_ready(1, 1),
        lambda ticket: encode_job(Frame.JOB, ticket),
        lambda ticket: encode_job(Frame.RESULT, ticket),
        lambda ticket: encode_job(
            Frame.FAILURE, ticket, b"\0" + travel.pack(("fine", "", ""), "failure").payload
        ),
        lambda ticket: encode_job(Frame.FAILURE, ticket, b"\0" + travel.pack(None, "failure").payload),
        lambda ticket: encode_job(Frame.STAGE, ticket, b"brew"),
    ],
    ids=["other ticket", "ready twice", "job", "empty result", "unknown kind", "no failure", "unknown stage"],
)
def test_a_whole_frame_that_has_no_place_there_is_a_fault(fake: FakePool, frame: Any) -> None:
    """A worker that says what no worker says is killed; its job's outcome names the protocol."""
    fake.say(frame(fake.ticket))
    assert [] == fake.listen()
    assert fake.peer.leaving
    (done,) = fake.die(9)
    assert done.failure is not None
    assert done.failure.cause is not None
    assert ("error", True) == (
        done.failure.kind,
        done.failure.cause.startswith("broke the protocol of its channel"),
    )


def test_an_answer_after_the_answer_is_a_fault(fake: FakePool) -> None:
    """A second answer is never taken for the next job's."""
    fake.say(answer(fake.ticket) + answer(fake.ticket, "again"))
    (done,) = fake.listen()
    assert ("value", True) == (done.value, fake.peer.leaving)


def test_an_answer_counts_although_death_follows_at_once(fake: FakePool) -> None:
    """What a worker said before it died is read before its death is judged."""
    fake.say(answer(fake.ticket))
    (done,) = fake.die(11)
    assert "value" == done.value


def test_a_death_without_answer_is_told_by_its_status(fake: FakePool) -> None:
    """Half an answer is none."""
    fake.say(answer(fake.ticket)[:-1])
    assert [] == fake.listen()
    (done,) = fake.die(11)
    assert done.failure is not None
    assert ("signal", "run", "SIGSEGV") == (done.failure.kind, done.failure.stage, done.failure.cause)
