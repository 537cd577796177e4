"""When a worker's time is over, and for what: to start, to load its job, to run it, or to live without a channel."""

from __future__ import annotations

import math

from tuner.peer import Peer

_CLOSED_GRACE = 0.1
_START_LIMIT = 60.0


def due(peer: Peer) -> float:
    """Return when its time is over, by the clock of its pool."""
    if peer.closed_at is not None:
        return peer.closed_at + _CLOSED_GRACE
    if not peer.ready:
        return peer.born + _START_LIMIT
    return math.inf if peer.job is None else peer.deadline(_START_LIMIT)


def excess(peer: Peer) -> tuple[str, str]:
    """Return the kind of outcome, and the cause, of one whose time is over."""
    if peer.closed_at is not None:
        return "error", "closed its channel"
    if not peer.ready:
        return "timeout", f"was not ready after {_START_LIMIT:g} s"
    if peer.loaded:
        return "timeout", f"took more than {peer.watch.limit:g} s"
    return "timeout", f"took more than {max(peer.watch.limit, _START_LIMIT):g} s to load"


def is_overdue(peer: Peer, now: float) -> bool:
    """Say whether its time is over; an answer that has begun to come since this was asked last gets more of it."""
    progress, peer.progress = peer.progress and peer.halfway, False
    answering = peer.ready and peer.closed_at is None and progress
    return not answering and now >= due(peer)
