"""A kernel whose candidates go wrong in every way that is known, and what each must come to."""

from __future__ import annotations

import ctypes
import itertools
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

import attrs

from small_kernels import double_text, make
from tuner.kernel import Kernel
from tuner.space import Space

PROBLEM = {"n": 64}
GOOD = "none"

_COUNTED = """
@count = internal global i64 0
define void @double(ptr %x, ptr %y) {
  %before = load i64, ptr @count
  %after = add i64 %before, 1
  store i64 %after, ptr @count
  %odd = trunc i64 %after to i1
  br i1 %odd, label %right, label %wrong
right:
  call void @right(ptr %x, ptr %y)
  ret void
wrong:
  ret void
}
"""
_DEEP = """
define i64 @deep(ptr %x, i64 %n) noinline {
  %room = alloca [4096 x i8]
  store volatile i64 %n, ptr %room
  %more = add i64 %n, 1
  %got = call i64 @deep(ptr %room, i64 %more)
  %sum = add i64 %got, %n
  ret i64 %sum
}
"""
_FILL = """
  br label %again
again:
  %room = call ptr @malloc(i64 1048576)
  call void @llvm.memset.p0.i64(ptr %room, i8 1, i64 1048576, i1 true)
  br label %again
"""
_DECLARED = """
declare void @abort()
declare void @_exit(i32)
declare ptr @malloc(i64)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
"""
_BODIES = {
    "segfault": "  store volatile i32 0, ptr inttoptr (i64 8 to ptr), align 4\n  ret void",
    "abort": "  call void @abort()\n  ret void",
    "exit 0": "  call void @_exit(i32 0)\n  ret void",
    "endless in native code": "  br label %again\nagain:\n  br label %again",
    "stack overflow": "  %got = call i64 @deep(ptr %x, i64 0)\n  ret void",
    "memory filled": _FILL,
    "memory refused": "  %room = call ptr @malloc(i64 1099511627776)\n  store volatile i8 1, ptr %room\n  ret void",
    "nothing written": "  ret void",
    "wrong result": "  %v = load float, ptr %x\n  store float %v, ptr %y\n  ret void",
}
_STORE = "  %far = getelementptr i8, ptr {array}, i64 {offset}\n  store i8 1, ptr %far\n"


class TwoArgumentsError(Exception):
    """Cannot be unpickled from its message."""

    def __init__(self, what: str, *, why: str) -> None:
        super().__init__(f"{what} for {why}")


def _raise() -> NoReturn:
    raise TwoArgumentsError("no luck", why="no reason")


def _loop() -> None:
    while True:
        pass


def _hold_the_lock() -> None:
    sum(itertools.repeat(0))  # in C, with the interpreter's lock held, and deaf to signals


def _print_without_end() -> None:
    while True:
        os.write(2, b"x" * 65536)
        sys.stdout.write("y" * 1000)


def _kill_siblings() -> None:
    parent = os.getppid()
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="ascii").split()
    for number in {int(child) for child in children} - {os.getpid()}:
        os.kill(number, signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


def _close_channel() -> None:
    os.closerange(3, 256)
    time.sleep(60)


def _leave_a_child() -> None:
    if not os.fork():
        os.setsid()
        time.sleep(600)
        os._exit(0)


def _die_in_python() -> None:
    ctypes.string_at(8)


_DEEDS: dict[str, Callable[[], object]] = {
    "segfault in emit": _die_in_python,
    "exit 7": lambda: os._exit(7),
    "endless in Python": _loop,
    "endless with the lock": _hold_the_lock,
    "prints without end": _print_without_end,
    "two arguments": _raise,
    "kills siblings": _kill_siblings,
    "closes its channel": _close_channel,
    "child left": _leave_a_child,
}


def emit(config: Mapping[str, Any], target: object, problem: Mapping[str, int]) -> Any:
    """Give the IR of a configuration, or do what it says."""
    fault, n = config["fault"], problem["n"]
    if fault in _DEEDS:
        _DEEDS[fault]()
    if fault in _BODIES:
        deep = _DEEP if fault == "stack overflow" else ""
        return f"{_DECLARED}{deep}define void @double(ptr %x, ptr %y) {{\nentry:\n{_BODIES[fault]}\n}}\n"
    good = double_text(1, n)
    return _CHANGES[fault](good, n) if fault in _CHANGES else good


def _widen(text: str) -> str:
    wide = "<65536 x float>"
    more = f"""
  %w = load {wide}, ptr %x
  %z = fmul {wide} %w, %w
  %q = fdiv {wide} %z, %w
  store {wide} %q, ptr %y
"""
    return text.replace("entry:\n", f"entry:{more}")


def _with_store(text: str, array: str, offset: int) -> str:
    return text.replace("exit:\n", "exit:\n" + _STORE.format(array=array, offset=offset))


_FEATURES = '(ptr %x, ptr %y) "target-features"="-64bit,-sse2" {'
_CHANGES: dict[str, Callable[[str, int], Any]] = {
    "unsendable": lambda text, n: threading.Lock(),
    "no IR": lambda text, n: "this is no IR",
    "not deterministic": lambda text, n: _COUNTED + text.replace("@double(", "@right("),
    "NaN": lambda text, n: text.replace("fadd float %v0, %v0", "fdiv float 0.0, 0.0"),
    "impossible feature": lambda text, n: text.replace("(ptr %x, ptr %y) {", _FEATURES),
    "hang": lambda text, n: _widen(text),
    "written before": lambda text, n: _with_store(text, "%x", -4096),
    "written behind": lambda text, n: _with_store(text, "%y", 4 * n + 4095),
}

EXPECTED: dict[str, tuple[str | None, str]] = {
    GOOD: (None, "ok"),
    "segfault": ("check", "signal"),
    "segfault in emit": ("emit", "signal"),
    "abort": ("check", "signal"),
    "exit 0": ("check", "exit"),
    "exit 7": ("emit", "exit"),
    "endless in Python": ("emit", "timeout"),
    "endless with the lock": ("emit", "timeout"),
    "endless in native code": ("check", "timeout"),
    "hang": ("compile", "timeout"),
    "impossible feature": ("compile", "exit"),
    "stack overflow": ("check", "signal"),
    "memory filled": ("check", "memory"),
    "memory refused": ("check", "signal"),
    "written before": ("check", "wrong"),
    "written behind": ("check", "wrong"),
    "nothing written": ("check", "wrong"),
    "wrong result": ("check", "wrong"),
    "NaN": ("check", "wrong"),
    "not deterministic": ("check", "wrong"),
    "no IR": ("compile", "error"),
    "prints without end": ("emit", "timeout"),
    "unsendable": ("emit", "error"),
    "two arguments": ("emit", "error"),
    "kills siblings": ("emit", "signal"),
    "closes its channel": ("emit", "error"),
    "child left": (None, "ok"),
}


def kernel(copies: int, good: int) -> Kernel:
    """Make a kernel with so many candidates of each fault and so many good ones."""
    space = Space(
        {"fault": list(EXPECTED), "copy": list(range(max(copies, good)))},
        constraints=[lambda fault, copy: copy < (good if fault == "none" else copies)],
    )
    return attrs.evolve(make("faults", space), emit=emit)
