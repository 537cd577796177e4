"""What every reader of other tuners' files needs: where a record comes from, and parts that all of them have."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import attrs

import targetspec
from tuner.errors import RecordError
from tuner.record import Outcome, Record
from tuner.record_checks import instant
from tuner.values import INTEGERS, canonical, shown

_UNKNOWN_TIME = "1970-01-01T00:00:00Z"


@attrs.frozen(kw_only=True)
class Origin:
    """Where records come from: the format of their file, and what its reader was told beside it."""

    format: str
    target: targetspec.Target | None = None
    kernel: str | None = None
    problem: Mapping[str, Any] | None = None

    def record(
        self,
        *,
        kernel: str,
        identity: str,
        target: targetspec.Target,
        problem: Mapping[str, Any],
        config: Mapping[str, Any],
        measured: Measured,
        toolchain: str,
        created: str = _UNKNOWN_TIME,
        quality: Mapping[str, Any] = {},
    ) -> Record:
        """Return a record of another tuner; its fingerprint is none that a kernel of ours could have.

        Nothing in it tells which file it is from, or where it stands there: it is known again wherever it is read.
        """
        fingerprint = hashlib.sha256(f"{self.format}\0{kernel}\0{identity}".encode()).hexdigest()
        return Record(
            kernel=kernel,
            fingerprint=fingerprint,
            target=target,
            problem=problem,
            config=config,
            cost=measured.cost,
            outcome=measured.outcome,
            times=measured.times,
            toolchain=toolchain,
            clock="wall",
            quality={"source": self.format, **quality},
            run=self.format,
            number=0,
            created=created,
        )

    def stated_target(self, device: str) -> targetspec.Target:
        """Return the target that the reader was told, as the file has the name of a device alone."""
        if self.target is None:
            said = (
                f"the file names the device {device!r} only"
                if device
                else "the file does not name the device"
            )
            raise RecordError("$.target", f"is not in the file: {said}; state its target")
        return self.target


@attrs.frozen
class Measured:
    """What was measured: an outcome, and the cost and the times in seconds."""

    outcome: Outcome
    cost: float | None = None
    times: tuple[float, ...] = ()

    @classmethod
    def failed(cls, kind: str, stage: str, cause: str) -> Measured:
        """Return a failure."""
        return cls(Outcome(kind, stage, cause))

    @classmethod
    def good(cls, times: tuple[float, ...], cost: float | None = None) -> Measured:
        """Return the times of a good trial, and their mean where no cost is stated."""
        return cls(Outcome("ok"), math.fsum(times) / len(times) if cost is None else cost, times)


def seconds(path: str, value: Any, units: float = 1.0) -> float:
    """Return a number of some unit, of which a second has so many, in seconds."""
    if type(value) not in {int, float}:
        raise RecordError(path, f"must be a number, got {shown(value)}")
    try:
        return float(value) / units
    except OverflowError:
        raise RecordError(path, "must be a number of sane size") from None


def plain(members: Mapping[str, Any]) -> dict[str, Any]:
    """Return members with values that a record can hold: what is none of them as its JSON."""
    return {name: value if _is_plain(value) else canonical(value) for name, value in members.items()}


def _is_plain(value: Any) -> bool:
    if type(value) is int:
        return value in INTEGERS
    return type(value) in {str, bool, float}


def mapping(path: str, value: Any) -> Mapping[str, Any]:
    """Return a value that must be an object."""
    if not isinstance(value, Mapping):
        raise RecordError(path, f"must be a JSON object, got {shown(value)}")
    return value


def sequence(path: str, value: Any, least: int = 0) -> list[Any]:
    """Return a value that must be an array of at least so many elements."""
    if not isinstance(value, list) or len(value) < least:
        raise RecordError(path, f"must be a JSON array of at least {least} elements, got {shown(value)}")
    return value


def text(path: str, value: Any) -> str:
    """Return a value that must be a text."""
    if type(value) is not str:
        raise RecordError(path, f"must be a text, got {shown(value)}")
    return value


def moment(path: str, value: Any) -> str:
    """Return a time, in ISO 8601 or in seconds since 1970, as records hold it.

    One without a zone is taken for UTC, none and an empty text for unknown.
    """
    if value is None or value == "":
        return _UNKNOWN_TIME
    try:
        if type(value) is str:
            read = datetime.fromisoformat(value)
            return instant((read if read.tzinfo else read.replace(tzinfo=UTC)).astimezone(UTC))
        return instant(datetime.fromtimestamp(seconds(path, value), UTC))
    except (ValueError, OverflowError, OSError) as error:
        raise RecordError(path, f"must be a time, got {shown(value)}") from error


def tvm_target(path: str, value: Any) -> targetspec.Target:
    """Read a target in TVM's text or JSON form."""
    written = value if type(value) is str else canonical(value)
    try:
        return targetspec.parse(written, "tvm")
    except targetspec.TargetspecError as error:
        raise RecordError(path, " ".join(str(error).split())) from error
