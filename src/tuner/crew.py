"""The processes of one pool: its keeper, and the workers that the keeper has."""

from __future__ import annotations

import math
import os
import time

from tuner.peer import Peer, Tail
from tuner.spawning import KeeperProcess, standard_numbers_taken

_KILL_LIMIT = 10.0


class Crew:
    """Starts and ends processes; it knows no jobs. `end` leaves none, and no descriptor."""

    def __init__(self, method: str, *, threads: int, preload: tuple[str, ...]) -> None:
        self._terms = method, threads, preload
        self._owner = os.getpid()
        self.keeper: KeeperProcess | None = None
        self.errors: Tail | None = None
        self.peers: dict[int, Peer] = {}
        self.ended = False
        self._dismissed: dict[int, float] = {}

    @property
    def owned(self) -> bool:
        """Whether this is the process that made it, not a fork of that."""
        return os.getpid() == self._owner

    @property
    def staff(self) -> list[Peer]:
        """The workers that are there or on their way in."""
        return [peer for peer in self.peers.values() if not peer.leaving]

    def hire(self, number: int, setup: bytes, now: float) -> None:
        """Have one more worker started; OSError where the system has no process or descriptor left."""
        with standard_numbers_taken():
            if self.keeper is None:
                method, threads, preload = self._terms
                self.keeper = KeeperProcess(method, threads=threads, preload=preload)
                self.errors = Tail(self.keeper.errors)
            peer = self.peers[number] = Peer(number, setup, now)
        self.keeper.start(number, *peer.descriptors)
        peer.handed_over()
        peer.write()

    def dismiss(self, peer: Peer) -> None:
        """Have a worker killed, with all that it started."""
        peer.leaving = True
        self._dismissed.setdefault(peer.number, time.monotonic())
        if self.keeper is not None:
            self.keeper.kill(peer.number)

    def patience(self, now: float) -> float:
        """Return the seconds until `is_stuck` may be true."""
        return min(self._dismissed.values()) + _KILL_LIMIT - now if self._dismissed else math.inf

    def is_stuck(self, now: float) -> bool:
        """Say whether a kill has had no effect for so long that the keeper must have been stopped by a job."""
        return self.patience(now) <= 0

    def bury(self, peer: Peer) -> None:
        """Let go of a worker that has ended."""
        self.peers.pop(peer.number, None)
        self._dismissed.pop(peer.number, None)
        peer.close()

    def lose_keeper(self) -> str:
        """Let go of a keeper that has ended, and return what it wrote to standard error."""
        text = ""
        if self.errors is not None:
            self.errors.drain()
            text = self.errors.text()
            self.errors.close()
        if self.keeper is not None:
            self.keeper.end(patience=0.0)
        self.keeper = self.errors = None
        return text

    def end(self) -> None:
        """End every process; the keeper sees to its workers."""
        self.ended = True
        for peer in list(self.peers.values()):
            self.bury(peer)
        if self.errors is not None:
            self.errors.close()
        if self.keeper is not None and self.owned:
            self.keeper.end()
        self.keeper = self.errors = None
