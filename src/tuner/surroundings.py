"""Where the parent stands, which jobs take along: its sys.path and its working directory."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import NamedTuple

from tuner import travel


class Place(NamedTuple):
    """A sys.path and a working directory (None: it has been removed)."""

    path: tuple[str, ...]
    directory: bytes | None

    @classmethod
    def here(cls) -> Place:
        """Return where this process stands now."""
        try:
            return cls(search_path(), os.getcwdb())  # noqa: PTH109 -- bytes: a path need not be UTF-8
        except FileNotFoundError:
            return cls(search_path(), None)

    def enter(self) -> None:
        """Make this process stand there; a directory that is gone is left out: many jobs need none."""
        sys.path[:] = self.path
        if self.directory is not None:
            with contextlib.suppress(OSError):
                os.chdir(self.directory)


def search_path() -> tuple[str, ...]:
    """Return what of sys.path an import looks at: its texts."""
    entries: list[object] = [*sys.path]
    return tuple([entry for entry in entries if isinstance(entry, str)])


class PackedPlace:
    """The place of this process as workers are told it, packed again only when it has changed."""

    def __init__(self) -> None:
        self._place: Place | None = None
        self._packed = b""

    def now(self) -> bytes:
        """Return the packed place of this moment."""
        place = Place.here()
        if place != self._place:
            self._place, self._packed = place, travel.pack(place, "place").payload
        return self._packed
