"""Every error that tuner raises: each is also the builtin a caller would catch, carries data, and pickles.

A candidate that fails is no error: it is an outcome in its record.
"""

from __future__ import annotations


class TunerError(Exception):
    """Base of all errors of this package; two are equal when their type and data are."""

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.args == other.args

    def __hash__(self) -> int:
        return hash((type(self), repr(self.args)))


class SpaceError(TunerError, ValueError):
    """A search space, or a configuration for one, that is not well-formed."""


class SearchError(TunerError, ValueError):
    """A search that is used against its contract: an unknown strategy, a cost that is none, a second, other report."""


class ProblemError(TunerError, ValueError):
    """A problem that the kernel cannot take: a missing or unknown key, a wrong type, a size out of range."""


class KernelError(TunerError, ValueError):
    """The kernel itself is at fault, not a candidate of it: `arguments` or `reference` raise, no such entry."""


class TravelError(TunerError, TypeError):
    """An object cannot go to a worker. Attributes: `path` of attributes to the culprit, `message`."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(path, message)
        self.path, self.message = path, message

    def __str__(self) -> str:
        return f"{self.path} cannot travel to a worker: {self.message}"


class WorkerStartError(TunerError, RuntimeError):
    """Workers do not start: a broken install, a memory limit. Attributes: `message`, `stderr`."""

    def __init__(self, message: str, stderr: str = "") -> None:
        super().__init__(message, stderr)
        self.message, self.stderr = message, stderr

    def __str__(self) -> str:
        return f"{self.message}\n{self.stderr}".rstrip()


class TargetMismatchError(TunerError, ValueError):
    """This machine cannot run code for the target. Attributes: `target`, `run_on`, `reasons` (a text)."""

    def __init__(self, target: str, run_on: str, reasons: str) -> None:
        super().__init__(target, run_on, reasons)
        self.target, self.run_on, self.reasons = target, run_on, reasons

    def __str__(self) -> str:
        return f"this machine cannot run code for {self.target}: {self.reasons}"


class DatabaseError(TunerError, OSError):
    """A record store that cannot be used. Attributes: `path`, `message`."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(path, message)
        self.path, self.message = path, message

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


class RecordError(TunerError, ValueError):
    """A record, or a line of JSON that should be one, is not well-formed.

    Attributes: `path`, the JSON path of the place ("$.outcome.kind"), and `message`, what is allowed there.
    """

    def __init__(self, path: str, message: str) -> None:
        super().__init__(path, message)
        self.path, self.message = path, message

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"

    def under(self, field: str) -> RecordError:
        """Return the same error as seen from the document that holds this one in `field`."""
        return RecordError(f"$.{field}{self.path[1:]}", self.message)
