"""Whose doing a death is: the job's own, ours, another job's, or one that only a second try can tell."""

from __future__ import annotations

from tuner.diagnosis import Death, diagnose
from tuner.peer import Job, Peer
from tuner.record import Outcome

MOST_LOST = 3
"""How many times a job that never began is given to another worker."""

# What others send: a job may have been killed by another one's deed.
_SENT = {"SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"}


def rule(job: Job, peer: Peer, death: Death, stage: str, text: str, memory: int | None) -> Outcome | None:
    """Return what became of a job whose worker died in `stage`; None where it is to run again, on its changed terms.

    `text` is what it wrote, `memory` the allowance in bytes that it had.
    """
    verdict = peer.verdict
    if peer.closed_at is not None and not (death.killed and death.signal == "SIGKILL"):
        verdict = None  # it was dying, and not of us
    if verdict is None and not peer.loaded and death.signal in _SENT and job.lost < MOST_LOST:
        # It was given to a worker that was dead already, or was killed before the job began.
        job.lost, job.attempts = job.lost + 1, job.attempts - 1
        return None
    outcome = verdict or diagnose(death, stage, text, memory)
    # One that was killed by another job and is reported late looks as if it had closed its channel.
    doubtful = peer.closed_at is not None if verdict else outcome.kind == "signal"
    if doubtful and job.confirm and job.attempts == 1:
        job.fresh, job.alone = True, death.signal in _SENT
        return None
    return outcome
