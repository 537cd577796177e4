"""Waiting at descriptors: many may speak, and each has who hears it."""

from __future__ import annotations

import math
import select
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

Source: TypeAlias = tuple[int, int, Callable[..., object], tuple[Any, ...]]
"""A descriptor, the flags of poll, and the call, with its arguments, that is due when one of them shows."""

_LONGEST = 1e6
"""Seconds: poll takes 24 days at most; who has more patience listens again."""


class Ears:
    """Waits at sources; what it has registered is kept while they stay the same, as between two words of a job."""

    def __init__(self) -> None:
        # Numbers alone: the calls would keep alive whom they belong to.
        self._registered: list[tuple[int, int]] = []
        self._poll = select.poll()

    def listen(self, sources: Sequence[Source], patience: float) -> None:
        """Wait at most `patience` seconds, then call, in the order given, those whose descriptor is ready."""
        wanted = [source[:2] for source in sources]
        if wanted != self._registered:
            poll = select.poll()
            for descriptor, flags in wanted:
                poll.register(descriptor, flags)
            self._registered, self._poll = wanted, poll
        events = self._poll.poll(None if patience == math.inf else math.ceil(min(patience, _LONGEST) * 1000))
        ready = {descriptor for descriptor, _ in events}
        for descriptor, _, handle, arguments in sources if ready else ():
            if descriptor in ready:
                handle(*arguments)
