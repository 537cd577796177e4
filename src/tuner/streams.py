"""The standard streams of a worker, as every job finds them: what it prints goes where its standard error goes."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TextIO


class Streams:
    """Descriptors 0 to 2, and the Python streams over them."""

    def __init__(self) -> None:
        self._input, self._errors = os.dup(0), os.dup(2)
        # A fork has the host program's streams, with text it has not written yet: they must not be flushed here.
        self._replaced = [sys.stdin, sys.stdout, sys.stderr, sys.__stdin__, sys.__stdout__, sys.__stderr__]
        self._in, self._out, self._err = _stream(0, "r"), _stream(1, "w"), _stream(2, "w")
        sys.stdin = self._in

    def restore(self) -> None:
        """Undo what the job before did to them; OSError where it closed all it found."""
        os.dup2(self._input, 0)
        os.dup2(self._errors, 1)
        os.dup2(self._errors, 2)
        if self._in.closed:
            self._in = _stream(0, "r")
        if self._out.closed:
            self._out = _stream(1, "w")
        if self._err.closed:
            self._err = _stream(2, "w")
        sys.stdin = sys.__stdin__ = self._in  # type: ignore[assignment, misc]
        sys.stdout = sys.__stdout__ = self._out  # type: ignore[assignment, misc]
        sys.stderr = sys.__stderr__ = self._err  # type: ignore[assignment, misc]

    def flush(self) -> None:
        """Write out what a job printed."""
        for stream in (self._out, self._err, vars(sys).get("stdout"), vars(sys).get("stderr")):
            with contextlib.suppress(BaseException):  # whatever a job put in their place, or left there
                stream.flush()  # type: ignore[union-attr]


def _stream(number: int, mode: str) -> TextIO:
    return open(number, mode, encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # type: ignore[return-value]
