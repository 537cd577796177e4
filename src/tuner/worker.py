"""A worker: the process that runs jobs one after another, and says over a private channel how each went.

A spawned worker is `python -c` with a line that does what `python -m tuner.worker` would with the parent's sys.path;
the others are forks that call `main`. The program that made the pool is never run again.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import socket
import sys
import time
import traceback
from pathlib import Path
from typing import NoReturn

import attrs

from tuner import travel
from tuner.conditions import Conditions, Environment
from tuner.errors import TravelError
from tuner.protocol import LARGEST, Decoder, Frame, encode_job, encode_ready, split_ticket
from tuner.record import STAGES
from tuner.streams import Streams
from tuner.surroundings import Place
from tuner.threadcount import limit_threads

if sys.platform != "win32":
    import resource

_CHUNK = 1 << 16  # a larger buffer is mapped anew for each read, which costs more than the read
_LONGEST_CAUSE = 2000
_FRAMES = 8
_LONGEST_TRACEBACK = 6000
_MARGIN = 64
_PATIENCE = 5.0
_SOON = 3e-4
_VAIN = 16
_LINUX = sys.platform == "linux"
_PAGE_KIB = (os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096) >> 10


@attrs.frozen
class Setup:
    """How a worker becomes ready: modules to import, bytes it may grow by (None: any), its threads.

    It says that it is worn once it has grown by `growth` bytes.
    """

    preload: tuple[str, ...] = ()
    memory: int | None = None
    threads: int = 1
    growth: int = 256 << 20


@attrs.frozen
class _Answer:
    kind: Frame
    body: bytes
    worn: bool = False


def main(channel: int) -> NoReturn:
    """Take jobs from the channel until it ends; the process ends with this call."""
    try:
        _Worker(socket.socket(fileno=channel)).serve()
    except BaseException:  # noqa: BLE001 -- a fork must not run on into the program it is a copy of
        os.write(2, traceback.format_exc().encode(errors="backslashreplace"))
        os._exit(1)
    os._exit(0)


class _Inbox:
    """The worker's end of the channel, to read from.

    To be woken takes longer than a small job. So where jobs follow each other at once, the next is looked out for
    before sleeping; where that was in vain, as on a busy machine, it is left for a while.
    """

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._prompt = 0

    def take(self) -> bytes:
        """Return what comes next, nothing at the end."""
        began = time.monotonic()
        while self._prompt > 0 and time.monotonic() - began < _SOON:
            with contextlib.suppress(BlockingIOError):
                return self._channel.recv(_CHUNK, socket.MSG_DONTWAIT)
        data = self._channel.recv(_CHUNK)
        soon = time.monotonic() - began < _SOON
        self._prompt = self._prompt + 1 if soon else -_VAIN
        return data


class _Worker:
    """Runs jobs in the order in which they come."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._process = os.getpid()
        self._streams = Streams()
        self._place = Place.here()
        self._setup = Setup()
        self._resident = 0
        self._threads = 1
        self._conditions = Conditions()
        self._environment = Environment()

    def serve(self) -> None:
        """Take frames until the parent closes the channel."""
        decoder, inbox = Decoder(), _Inbox(self._channel)
        while data := inbox.take():
            decoder.feed(data)
            for kind, body in decoder:
                self._take(kind, body)

    def _take(self, kind: Frame, body: bytes) -> None:
        if kind is Frame.SETUP:
            self._prepare(travel.unpack(body))
        elif kind is Frame.PLACE:
            self._place = travel.unpack(body)
            self._place.enter()
        elif kind is Frame.SHARE:
            travel.receive(*split_ticket(body))
        else:
            self._work(*split_ticket(body))

    def _prepare(self, setup: Setup) -> None:
        self._setup = setup
        self._streams.restore()
        limit_threads(setup.threads)
        for module in setup.preload:
            importlib.import_module(module)
        # What is there now lives as long as the worker: the collector need not walk it, nor unshare its pages.
        gc.freeze()
        if setup.memory is not None:
            _limit_memory(setup.memory)
        self._conditions, self._environment = Conditions(), Environment()
        self._resident = memory_kib()[1]
        self._threads = _count_threads()
        self._channel.sendall(encode_ready(self._process, self._resident))

    def _work(self, ticket: int, payload: bytes) -> None:
        answer = self._answer(ticket, payload)
        if os.getpid() != self._process:
            os._exit(0)  # a child that the job forked came back from it: it has no place here
        self._streams.flush()
        # Now, and not as the next job comes: the parent is waking up meanwhile.
        worn = answer.worn or self._has_leftovers() or self._has_grown() or not self._is_tidied()
        self._send(encode_job(answer.kind, ticket, bytes([worn]) + answer.body))
        self._environment.restore()  # this cannot fail, so that nobody need wait for it

    def _is_tidied(self) -> bool:
        """Undo what the job did to the process, and say whether the next one finds all as this one did."""
        try:
            self._streams.restore()
            self._place.enter()
        except Exception:  # noqa: BLE001 -- whatever a job left there
            return False
        return not self._conditions.worse

    def _answer(self, ticket: int, payload: bytes) -> _Answer:
        def stage(name: str) -> None:
            """Tell the parent that a stage begins."""
            if name not in STAGES:
                raise ValueError(f"there is no stage {name!r}; use one of {', '.join(STAGES)}")
            if os.getpid() == self._process:
                self._send(encode_job(Frame.STAGE, ticket, name.encode()))

        failure = "unloadable"
        try:
            function, arguments = travel.unpack(payload)
            self._send(encode_job(Frame.LOADED, ticket))
            failure = "error"
            body = travel.pack(function(stage, *arguments), "the result").payload
        except MemoryError as error:
            return _failed("memory", error)
        except BaseException as error:  # noqa: BLE001 -- SystemExit and KeyboardInterrupt of a job are its own
            return _failed(failure, error)
        if len(body) > LARGEST - _MARGIN:
            return _failed(
                "error", ValueError(f"the result has {len(body)} bytes; at most {LARGEST} can be sent")
            )
        return _Answer(Frame.RESULT, body)

    def _send(self, frame: bytes) -> None:
        try:
            self._channel.sendall(frame)
        except OSError:
            # The job closed the channel. To exit would look like a death of the job: the parent puts an end to this.
            time.sleep(_PATIENCE)
            os._exit(1)

    def _has_leftovers(self) -> bool:
        """Say whether the job left processes or threads; on Linux orphans of its children count, being ours by then."""
        with contextlib.suppress(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)
            return True
        return _count_threads() > self._threads

    def _has_grown(self) -> bool:
        limit = self._setup.growth
        if self._setup.memory is not None:
            limit = min(limit, self._setup.memory // 4)
        # The peak is had for less, and only where it is high can the present size be.
        most = self._resident + (limit >> 10)
        return _peak_kib() > most and memory_kib()[1] > most


def _count_threads() -> int:
    """Count the threads that run Python, those that `threading` does not know too."""
    return len(sys._current_frames())  # noqa: SLF001 -- documented as for special purposes


def memory_kib() -> tuple[int, int]:
    """Return the size of this process's address space and what of it is resident; 0 and the peak on macOS."""
    if _LINUX:
        size, resident = Path("/proc/self/statm").read_bytes().split()[:2]
        return int(size) * _PAGE_KIB, int(resident) * _PAGE_KIB
    return 0, _peak_kib()


def _peak_kib() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if _LINUX else peak >> 10  # bytes on macOS


def _limit_memory(allowance: int) -> None:
    size = (memory_kib()[0] << 10) + allowance
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(
        resource.RLIMIT_AS, (size if hard == resource.RLIM_INFINITY else min(size, hard), hard)
    )


def _failed(kind: str, error: BaseException) -> _Answer:
    cause = str(error) if isinstance(error, TravelError) else _described(error)
    texts = (kind, cause[:_LONGEST_CAUSE], _traced(error))
    clean = tuple(text.encode(errors="backslashreplace").decode() for text in texts)
    body = travel.pack(clean, "the failure").payload
    return _Answer(Frame.FAILURE, body, worn=kind == "memory")


def _described(error: BaseException) -> str:
    """Name an exception as Python does, by text alone: its class may not exist elsewhere, or not unpickle."""
    kind = type(error)
    name = (
        kind.__qualname__
        if kind.__module__ in {"builtins", "__main__"}
        else f"{kind.__module__}.{kind.__qualname__}"
    )
    try:
        message = str(error)
    except BaseException:  # noqa: BLE001 -- a broken __str__
        message = "(its message cannot be shown)"
    return f"{name}: {message}" if message else name


def _traced(error: BaseException) -> str:
    try:
        error.__traceback__ = (
            error.__traceback__ and error.__traceback__.tb_next
        )  # our own frame says nothing
        return "".join(traceback.format_exception(error, limit=-_FRAMES))[-_LONGEST_TRACEBACK:]
    except BaseException:  # noqa: BLE001 -- no memory left, or a hostile class
        return ""
