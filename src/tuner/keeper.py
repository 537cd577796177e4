"""The keeper: a small process of its own that starts, stops, kills and reaps the workers of one pool.

It is the parent of every worker, so that an exit is seen by the one process that nobody else waits in, and it
ends with the pool's process, whatever ended that: then every worker goes with it. It runs no code of a job.
Under "spawn" this module is a program of its own without site-packages, so it needs the standard library only; under
"forkserver" and "fork" it is a part of the package, and its workers are forks of it.

What Linux alone promises: workers die with a keeper that is killed, also in native code; processes that left the
session of their worker are found; the end of the pool's process shows at once, although others hold its
descriptors. On macOS (untested) the keeper still ends with the pool, and kills every group.

Every message is one fixed struct: operation and worker to the keeper (START carries the worker's two
descriptors), operation, worker, wait status and peak KiB back: KILLED for one that lived when its KILL came, DEAD
for one that ended by itself.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterator
from typing import NoReturn

if sys.platform != "win32":
    import fcntl
    import resource

START, KILL, STOP, CONTINUE, DEAD, DONE, KILLED = range(1, 8)
REQUEST = struct.Struct("<II")
REPLY = struct.Struct("<IIiI")

CHANNEL = "{channel}"
"""Stands for the number of the channel's descriptor in the command of a spawned worker."""

_CANNOT_START = 255 << 8
_SUBREAPER = 36
_LINUX = sys.platform == "linux"


class Keeper:
    """Serves one pool over `control`; `become` turns a fresh fork into a worker and never returns."""

    def __init__(self, control: socket.socket, host: int, become: Callable[[int], NoReturn]) -> None:
        self._control = control
        self._host = host
        self._become = become
        self._workers: dict[int, int] = {}
        self._lifelines: dict[int, int] = {}
        self._killed: set[int] = set()
        self._wakes = os.pipe()

    def serve(self) -> None:
        """Do what the pool asks until it is gone, then leave no process behind."""
        for end in self._wakes:
            os.set_blocking(end, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wakes[1], warn_on_full_buffer=False)
        adopt_orphans()
        poll = select.poll()
        for descriptor in (self._control.fileno(), self._wakes[0], self._host):
            if descriptor >= 0:
                poll.register(descriptor, select.POLLIN)
        with contextlib.suppress(ConnectionError):
            while self._turn({descriptor for descriptor, _ in poll.poll()}):
                pass
        self._end()

    def _turn(self, ready: set[int]) -> bool:
        if self._wakes[0] in ready:
            _drain(self._wakes[0])
            self._reap()
        if self._host in ready:
            return False
        return self._control.fileno() not in ready or self._obey()

    def _obey(self) -> bool:
        cloexec = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
        message, descriptors, _, _ = socket.recv_fds(self._control, REQUEST.size, 2, cloexec)
        if len(message) != REQUEST.size:
            return False
        operation, worker = REQUEST.unpack(message)
        if operation == START:
            self._start(worker, descriptors)
        elif operation == KILL:
            self._kill(worker)
        else:
            for other in self._workers.values():
                send_signal(other, signal.SIGSTOP if operation == STOP else signal.SIGCONT)
            self._tell(DONE)
        return True

    def _start(self, worker: int, descriptors: list[int]) -> None:
        opened = [*descriptors]
        try:
            lifeline, held = os.pipe()
            opened += [lifeline, held]
            # Fewer than were sent come where there are no numbers left for them.
            channel, errors = descriptors
            process = os.fork()
        except (OSError, ValueError) as error:
            stderr = descriptors[1] if len(descriptors) > 1 else 2
            os.write(stderr, f"no worker can be started: {error}\n".encode())
            self._tell(DEAD, worker, _CANNOT_START)
        else:
            if not process:
                self._live(channel, errors, lifeline, held)
            self._workers[worker], self._lifelines[worker] = process, held
            opened.remove(held)
        for descriptor in opened:
            os.close(descriptor)

    def _live(self, channel: int, errors: int, lifeline: int, held: int) -> NoReturn:
        try:
            signal.set_wakeup_fd(-1)
            self._control.close()
            for descriptor in (*self._wakes, held, *self._lifelines.values(), self._host):
                if descriptor >= 0:
                    os.close(descriptor)
            _settle(errors, lifeline)
            self._become(channel)
        except BaseException as error:  # noqa: BLE001 -- nothing may return into the keeper's own code
            os.write(2, f"{sys.executable}: {type(error).__name__}: {error}\n".encode(errors="replace"))
        finally:
            os._exit(127)

    def _kill(self, worker: int) -> None:
        self._reap()  # what ended before did not end of this
        if worker in self._workers:
            self._killed.add(worker)
            send_signal(self._workers[worker], signal.SIGKILL)

    def _reap(self) -> None:
        numbers = {process: worker for worker, process in self._workers.items()}
        stray = False
        for process, status, peak in _deaths(self._workers.values()):
            worker = numbers.get(process)
            stray = True
            if worker is None:
                continue
            del self._workers[worker]
            os.close(self._lifelines.pop(worker))
            self._tell(KILLED if worker in self._killed else DEAD, worker, status, peak)
            self._killed.discard(worker)
        if stray:
            self._sweep()

    def _sweep(self) -> None:
        """Kill what workers left behind: on Linux all orphaned descendants are children of the keeper by now."""
        if _LINUX:
            for process in set(children()) - set(self._workers.values()):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)

    def _tell(self, operation: int, worker: int = 0, status: int = 0, peak: int = 0) -> None:
        self._control.sendall(REPLY.pack(operation, worker, status, min(peak, 0xFFFFFFFF)))

    def _end(self) -> None:
        self._control.close()
        for process in self._workers.values():
            send_signal(process, signal.SIGKILL)
        self._workers.clear()
        pause = 0.0005
        with contextlib.suppress(ChildProcessError):
            while True:
                self._sweep()
                if os.waitpid(-1, os.WNOHANG) == (0, 0):
                    time.sleep(pause := min(2 * pause, 0.05))


def adopt_orphans() -> None:
    """Make this process the parent of descendants whose own parent ends (Linux only)."""
    if _LINUX:
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


def send_signal(process: int, number: signal.Signals) -> None:
    """Send a signal to the group of a worker, or to the worker where it has not made its group yet."""
    for send in (os.killpg, os.kill):
        # macOS answers EPERM, not ESRCH, for a group of zombies.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            send(process, number)
            return


def children() -> list[int]:
    """Return the processes whose parent is this one (Linux)."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as listing:  # noqa: PTH123 -- pathlib costs 6 ms here
            return [int(child) for child in listing.read().split()]
    except FileNotFoundError:  # a kernel built without CONFIG_PROC_CHILDREN
        numbers = filter(str.isdigit, os.listdir("/proc"))  # noqa: PTH208 -- as above
        return [process for process in map(int, numbers) if _is_child(process)]


def _is_child(process: int) -> bool:
    try:
        with open(f"/proc/{process}/stat", "rb") as stat:  # noqa: PTH123 -- as above
            # The name of a program may hold spaces and brackets: what counts comes after the last one.
            return int(stat.read().rpartition(b")")[2].split()[1]) == os.getpid()
    except OSError:
        return False


def _deaths(workers: object) -> Iterator[tuple[int, int, int]]:
    """Reap what has ended: process, wait status, peak KiB. What is left of its group is killed first."""
    if not _LINUX:
        yield from _deaths_of(list(workers))  # type: ignore[call-overload]
        return
    with contextlib.suppress(ChildProcessError):
        # WNOWAIT: while the zombie is there, no other process can get its id, nor its group.
        while ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(ended.si_pid, signal.SIGKILL)
            process, status, usage = os.wait4(ended.si_pid, 0)
            yield process, status, usage.ru_maxrss


def _deaths_of(workers: list[int]) -> Iterator[tuple[int, int, int]]:
    for worker in workers:
        process, status, usage = os.wait4(worker, os.WNOHANG)
        if process:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process, signal.SIGKILL)
            yield process, status, usage.ru_maxrss // 1024  # bytes on macOS


def _settle(errors: int, lifeline: int) -> None:
    """Give a fresh fork its own session, signals, standard descriptors, and its tie to the keeper."""
    os.setsid()
    reset_signals()
    null = os.open(os.devnull, os.O_RDWR)
    for number, descriptor in enumerate((null, errors, errors)):
        os.dup2(descriptor, number)
    os.close(errors)
    os.close(null)
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    adopt_orphans()
    if _LINUX:
        _tie(lifeline)


def _tie(lifeline: int) -> None:
    """Have the kernel kill this group when the keeper, which holds the other end of the pipe, ends.

    The tie belongs to the pipe, so that it outlives exec, and needs no instruction of ours to run: it holds in a
    native endless loop.
    """
    os.set_inheritable(lifeline, True)
    with contextlib.suppress(
        OSError
    ):  # a sandbox that knows no such signals: then the keeper's kill has to do
        fcntl.fcntl(lifeline, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(lifeline, fcntl.F_SETOWN, -os.getpid())
        fcntl.fcntl(lifeline, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    if select.select([lifeline], [], [], 0)[0]:  # it ended before the tie was made
        os._exit(0)


def reset_signals() -> None:
    """Undo what the host program did to its signals: a fork has its handlers, an exec what it ignored."""
    with contextlib.suppress(ValueError):
        signal.set_wakeup_fd(-1)
    for number in signal.valid_signals():
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _drain(descriptor: int) -> None:
    with contextlib.suppress(BlockingIOError):
        while os.read(descriptor, 4096):
            pass


def main(arguments: list[str]) -> None:
    """Serve a pool whose workers are fresh interpreters: control, host, and the command of a worker."""
    control, host, *command = arguments

    def become(channel: int) -> NoReturn:
        os.set_inheritable(channel, True)
        os.execv(command[0], [str(channel) if word == CHANNEL else word for word in command])  # noqa: S606 -- no shell is wanted

    reset_signals()
    Keeper(socket.socket(fileno=int(control)), int(host), become).serve()
