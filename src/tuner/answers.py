"""What a worker answers, read with care: it may have been written by a process that had lost its mind."""

from __future__ import annotations

from typing import Any

import attrs

from tuner import travel
from tuner.protocol import Frame, ProtocolError
from tuner.record import STAGES, Outcome


@attrs.frozen
class Answer:
    """The value of a job, or its failure; `unloadable` where the worker could not even load the job."""

    value: Any = None
    failure: Outcome | None = None
    traceback: str = ""
    unloadable: str | None = None


def read_stage(body: bytes) -> str:
    """Return the stage that a STAGE frame names."""
    stage = body.decode(errors="replace")
    if stage not in STAGES:
        raise ProtocolError(f"a stage {stage[:40]!r}")
    return stage


def read_answer(kind: Frame, body: bytes, stage: str) -> tuple[bool, Answer]:
    """Return whether the worker is worn, and what a RESULT or FAILURE frame says of a job in `stage`."""
    if not body:
        raise ProtocolError(f"an empty {kind.name} frame")
    if kind is Frame.RESULT:
        return bool(body[0]), _result(body[1:], stage)
    return bool(body[0]), _failure(body[1:], stage)


def _result(payload: bytes, stage: str) -> Answer:
    try:
        return Answer(travel.unpack(payload))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 -- unpickling runs code of the job's choice
        cause = f"its result cannot be read here: {type(error).__name__}: {error}"
        return Answer(failure=Outcome("error", stage, cause.encode(errors="backslashreplace").decode()))


def _failure(payload: bytes, stage: str) -> Answer:
    try:
        kind, cause, traceback = (str(part) for part in travel.unpack(payload))
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 -- as above
        raise ProtocolError("a FAILURE frame that cannot be read") from None
    if kind == "unloadable":
        return Answer(unloadable=cause)
    if kind not in {"error", "memory"}:
        raise ProtocolError(f"a FAILURE of kind {kind[:40]!r}")
    return Answer(failure=Outcome(kind, stage, cause), traceback=traceback)
