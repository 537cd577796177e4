"""The three ways to start a keeper and its workers: "spawn", "forkserver" and "fork"."""

from __future__ import annotations

import contextlib
import gc
import importlib
import logging
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from tuner import keeper, worker
from tuner.errors import WorkerStartError
from tuner.surroundings import search_path
from tuner.threadcount import thread_variables

START_METHODS = ("spawn", "forkserver", "fork")

NO_SIGPIPE = getattr(socket, "MSG_NOSIGNAL", 0)
"""Sends without the signal that a closed channel raises, of which a host program with SIG_DFL for it would die (Linux)."""

_ANSWER_LIMIT = 1.0
_CHUNK = 4096
_LAST_STANDARD = 2
_OURS = ("{control}", "{host}")
_KEEPER = "import sys; sys.path.insert(0, sys.argv.pop(1)); import keeper; keeper.main(sys.argv[1:])"
"""Alone, without the package: that would take longer to import than all else it does."""

_WORKER = "import sys; sys.path[:] = sys.argv[2:]; from tuner import worker; worker.main(int(sys.argv[1]))"
_SERVER = (
    "import sys; control, host, preload, *sys.path[:] = sys.argv[1:]; from tuner import spawning;"
    " spawning.serve_forks(int(control), int(host), preload.split())"
)
"""What `-m tuner.worker` would do, with the parent's sys.path in force before `tuner` is looked for."""

_FOLDER = Path(keeper.__file__).parent

_TUNABLES = "GLIBC_TUNABLES"
_HUGE_PAGES = "glibc.malloc.hugetlb"

_logger = logging.getLogger("tuner")


def check_start_method(method: str) -> None:
    """Raise ValueError where there is no such method, WorkerStartError where this system or program cannot use it."""
    if method not in START_METHODS:
        raise ValueError(f"start_method must be one of {', '.join(START_METHODS)}, got {method!r}")
    if os.name != "posix":
        raise WorkerStartError(
            f"start_method={method!r}: workers need a POSIX system; Windows is not supported yet"
        )
    if method != "fork" and not sys.executable:
        raise WorkerStartError(
            f'start_method={method!r} needs sys.executable, which is not set here; use "fork"'
        )


@contextlib.contextmanager
def standard_numbers_taken() -> Iterator[None]:
    """Let nothing that is opened meanwhile get a number from 0 to 2, which a child gives to its standard streams.

    A host program may have closed its own.
    """
    taken = [os.open(os.devnull, os.O_RDWR)]
    try:
        while taken[-1] <= _LAST_STANDARD:
            taken.append(os.open(os.devnull, os.O_RDWR))
        yield
    finally:
        for descriptor in taken:
            os.close(descriptor)


def check_modules(names: Sequence[str]) -> None:
    """Raise TypeError where these are not names of modules; whether there are such ones a worker will tell."""
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"preload is a sequence of names of modules, not {names!r}")


class KeeperProcess:
    """A keeper as the pool sees it: what it can be asked, and the descriptors to listen at.

    `errors` is its standard error; who made it closes that.
    """

    def __init__(self, method: str, *, threads: int, preload: Sequence[str]) -> None:
        self.control, theirs = socket.socketpair()
        self.errors, stderr = os.pipe()
        self._bytes = bytearray()
        self._deaths: list[tuple[int, int, int, bool]] = []
        self._done = 0
        self._child: _Child | None = None
        host = _own_pidfd()
        try:
            if method == "fork":
                self._child = _fork(theirs, host, stderr)
            else:
                command = _server_command(preload) if method == "forkserver" else _keeper_command()
                self._child = _spawn(command, theirs.fileno(), host, stderr, threads)
        except BaseException:
            os.close(self.errors)
            self.end(patience=0.0)
            raise
        finally:
            theirs.close()
            os.close(stderr)
            if host >= 0:
                os.close(host)

    def start(self, number: int, channel: int, errors: int) -> None:
        """Have worker `number` started on these descriptors."""
        with contextlib.suppress(ConnectionError):  # its end shows at `control`
            # Not by socket.send_fds, which leaves its flags out.
            rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array("i", (channel, errors)))
            self.control.sendmsg([keeper.REQUEST.pack(keeper.START, number)], [rights], NO_SIGPIPE)

    def kill(self, number: int) -> None:
        """Have the group of worker `number` killed; without effect when it is dead already."""
        self._ask(keeper.KILL, number)

    def stop(self) -> None:
        """Suspend all workers; they stand still on return."""
        self._ask(keeper.STOP)
        self._await_done()

    def resume(self) -> None:
        """Let all workers run on."""
        self._ask(keeper.CONTINUE)
        self._await_done()

    def deaths(self) -> tuple[list[tuple[int, int, int, bool]], bool]:
        """Return what came: deaths as (worker, wait status, peak KiB, killed), and whether the keeper is still there."""
        alive = self._receive(socket.MSG_DONTWAIT)
        deaths, self._deaths = self._deaths, []
        return deaths, alive

    def end(self, patience: float = 1.0) -> None:
        """End the keeper, and with it the workers, killing it where it takes longer than `patience` seconds."""
        with contextlib.suppress(OSError):  # it has gone
            self.control.shutdown(socket.SHUT_RDWR)  # a fork of the host may hold it open too
        self.control.close()
        if self._child is not None:
            self._child.wait(patience)
            self._child = None

    def _ask(self, operation: int, number: int = 0) -> None:
        with contextlib.suppress(ConnectionError):
            self.control.sendall(keeper.REQUEST.pack(operation, number), NO_SIGPIPE)

    def _await_done(self) -> None:
        end = time.monotonic() + _ANSWER_LIMIT
        while not self._done:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.control], [], [], left)[0] or not self._receive(0):
                return  # its end, or its silence, shows when the pool next listens
        self._done -= 1

    def _receive(self, flags: int) -> bool:
        try:
            data = self.control.recv(_CHUNK, flags)
        except BlockingIOError:
            return True
        except ConnectionError:
            return False
        self._bytes += data
        whole = len(self._bytes) // keeper.REPLY.size * keeper.REPLY.size
        for operation, *death in keeper.REPLY.iter_unpack(self._bytes[:whole]):
            if operation == keeper.DONE:
                self._done += 1
            else:
                self._deaths.append((death[0], death[1], death[2], operation == keeper.KILLED))
        del self._bytes[:whole]
        return bool(data)


class _Child:
    """A child process of ours that other code of the host program may have reaped before us."""

    def __init__(self, process: int, popen: subprocess.Popen[bytes] | None = None) -> None:
        self._process = process
        self._popen = popen

    def wait(self, patience: float) -> None:
        """Wait until it has ended; kill it when that takes longer."""
        end = time.monotonic() + patience
        while not self._ended():
            if time.monotonic() >= end:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self._process, signal.SIGKILL)
            time.sleep(0.001)

    def _ended(self) -> bool:
        if self._popen is not None:
            return self._popen.poll() is not None
        try:
            return os.waitpid(self._process, os.WNOHANG)[0] != 0
        except ChildProcessError:
            return True


def serve_forks(control: int, host: int, preload: Sequence[str]) -> None:
    """Be the keeper of "forkserver": a fresh interpreter that has the modules and forks its workers."""
    keeper.reset_signals()
    for module in preload:
        importlib.import_module(module)
    gc.freeze()
    keeper.Keeper(socket.socket(fileno=control), host, worker.main).serve()


def _own_pidfd() -> int:
    """Return a descriptor by which the keeper sees this process end, or -1 where the system has none."""
    try:
        return os.pidfd_open(os.getpid())
    except (AttributeError, OSError):
        return -1


def _keeper_command() -> list[str]:
    command = [sys.executable, *_flags(), "-c", _WORKER, keeper.CHANNEL, *_path_with_ours()]
    # By its folder, which may lie in an archive: no interpreter runs a file in there.
    return [sys.executable, *_flags(), "-S", "-s", "-P", "-c", _KEEPER, str(_FOLDER), *_OURS, *command]


def _server_command(preload: Sequence[str]) -> list[str]:
    return [sys.executable, *_flags(), "-c", _SERVER, *_OURS, " ".join(preload), *_path_with_ours()]


def _path_with_ours() -> tuple[str, ...]:
    """Return sys.path and, at its end, where this package is: an entry may have lost its sense by a change of folder."""
    return *search_path(), str(_FOLDER.parent)


def _flags() -> list[str]:
    """Return the options of this interpreter that a worker needs to find the same modules and run them alike."""
    flags = sys.flags
    chosen = {
        "-I": flags.isolated,
        "-E": flags.ignore_environment and not flags.isolated,
        "-B": flags.dont_write_bytecode,
        "-O": flags.optimize == 1,
        "-OO": flags.optimize > 1,
        "-Xutf8": flags.utf8_mode,
    }
    return [flag for flag, on in chosen.items() if on]


def _spawn(command: list[str], control: int, host: int, stderr: int, threads: int) -> _Child:
    numbers = {_OURS[0]: str(control), _OURS[1]: str(host)}
    process = subprocess.Popen(  # noqa: S603 -- this very interpreter
        [numbers.get(word, word) for word in command],
        stdin=subprocess.DEVNULL,
        stdout=stderr,
        stderr=stderr,
        pass_fds=[descriptor for descriptor in (control, host) if descriptor >= 0],
        env=os.environ | thread_variables(threads) | _allocation(),
        start_new_session=True,
    )
    return _Child(process.pid, process)


def _allocation() -> dict[str, str]:
    """Ask for huge pages: a process ends only when its pages are given back, and of small ones 1 GB takes 80 ms."""
    stated = os.environ.get(_TUNABLES, "")
    if _HUGE_PAGES in stated:
        return {}
    return {_TUNABLES: ":".join(part for part in (stated, f"{_HUGE_PAGES}=1") if part)}


def _fork(control: socket.socket, host: int, stderr: int) -> _Child:
    # From Python 3.12 on, os.fork itself warns (DeprecationWarning) where it sees other threads, native ones too.
    if threading.active_count() > 1:
        _logger.warning(
            'start_method="fork" with %d other threads running: what one of them has locked at this moment stays'
            ' locked in the workers for ever; "spawn" and "forkserver" are free of that',
            threading.active_count() - 1,
        )
    with _signals_held_back():
        process = os.fork()
        if not process:
            _serve_from_fork(control, host, stderr)
    return _Child(process)


@contextlib.contextmanager
def _signals_held_back() -> Iterator[None]:
    """Have no handler of the host program run during a fork; what came meanwhile is handled after it.

    In the child it would be another program's. In this process it may run within a function that was registered with
    os.register_at_fork, from where nothing can be raised: a Ctrl-C would be lost.
    """
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    # The mask is this thread's: other ones, such as numpy's, take a signal for the process, and the main one handles it.
    is_main = threading.current_thread() is threading.main_thread()
    known: dict[int, Any] = {one: signal.getsignal(one) for one in signal.valid_signals() if is_main}
    handlers = {number: handler for number, handler in known.items() if callable(handler)}
    came: list[tuple[int, FrameType | None]] = []
    for number in handlers:
        signal.signal(number, lambda *about: came.append(about))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    for about in came:
        handlers[about[0]](*about)


def _serve_from_fork(control: socket.socket, host: int, stderr: int) -> NoReturn:
    try:
        os.setsid()
        keeper.reset_signals()
        gc.freeze()  # the host program's objects are not ours to destroy
        _let_go({control.fileno(), host}, stderr)
        keeper.Keeper(control, host, worker.main).serve()
    except BaseException:  # noqa: BLE001 -- nothing may return into the host program's code
        os.write(2, traceback.format_exc().encode(errors="backslashreplace"))
    finally:
        os._exit(0)


def _let_go(ours: set[int], stderr: int) -> None:
    """Point every inherited descriptor at the null device.

    Pipes, sockets and locks of the host program must not be held open here. The numbers stay taken, though: a
    destructor of an object that the host program made would else close a descriptor of ours.
    """
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(stderr, 1)
    os.dup2(stderr, 2)
    for name in os.listdir("/dev/fd"):  # noqa: PTH208 -- a path object for each number serves nobody
        descriptor = int(name)
        if descriptor not in ours | {1, 2, null}:
            with contextlib.suppress(OSError):  # the listing's own
                os.fstat(descriptor)
                os.dup2(null, descriptor, inheritable=descriptor == 0)
    os.close(null)
