"""What a death means: from wait status, peak of memory and standard error to an outcome."""

from __future__ import annotations

import os
import re
import signal

import attrs

from tuner.record import Outcome

KEPT = 8192
"""Bytes of standard error that are kept: the last ones."""

_LLVM_ERROR = re.compile(r"^.*LLVM ERROR: .*$", re.MULTILINE)
_ERROR = re.compile(r"^.*\berror: .*$", re.MULTILINE)
_LINK_ERROR = re.compile(r"^JIT session error: (.*)$", re.MULTILINE)
_NO_MEMORY = re.compile(r"^LLVM ERROR: out of memory", re.MULTILINE)
_NEARLY = 0.9
_LONGEST_LINE = 500


@attrs.frozen
class Death:
    """The end of a worker: its wait status, what its resident memory grew by (KiB) since it was ready, and whether we killed it."""

    status: int
    growth: int = 0
    killed: bool = False

    @property
    def signal(self) -> str | None:
        """The name of the signal it died of."""
        return _signal_name(os.WTERMSIG(self.status)) if os.WIFSIGNALED(self.status) else None


def diagnose(death: Death, stage: str, stderr: str, memory: int | None) -> Outcome:
    """Say what a death that we did not cause is; `memory` is the allowance in bytes that the worker had.

    >>> diagnose(Death(7 << 8), "run", "", None)
    Outcome(kind='exit', stage='run', cause='exit status 7', stderr='', stopped_early=False)
    """
    end = death.signal or f"exit status {os.waitstatus_to_exitcode(death.status)}"
    cause = "; ".join(part for part in (end, _reason(death, stderr)) if part)
    if _NO_MEMORY.search(stderr) or (memory is not None and death.growth << 10 >= _NEARLY * memory):
        return Outcome("memory", stage, cause, stderr)
    return Outcome("signal" if death.signal else "exit", stage, cause, stderr)


def with_link_error(failure: Outcome) -> Outcome:
    """Put into the cause why code does not link, which LLVM writes to standard error only."""
    found = _LINK_ERROR.search(failure.stderr)
    if failure.kind != "error" or failure.stage != "load" or found is None or found[1] in str(failure.cause):
        return failure
    return attrs.evolve(failure, cause=f"{failure.cause}; {found[1][:_LONGEST_LINE]}")


def _reason(death: Death, stderr: str) -> str:
    """Return the line that says why: LLVM's own, or on abort, which always tells first, the last one."""
    found = _LLVM_ERROR.findall(stderr)[:1]
    if death.signal is None:
        found = found or _ERROR.findall(stderr)[-1:]
    elif death.signal == "SIGABRT":
        found = found or stderr.strip().splitlines()[-1:]
    return found[0].strip()[:_LONGEST_LINE] if found else ""


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal between the first and the last
        return f"signal {number}"
