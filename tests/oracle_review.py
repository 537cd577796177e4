"""Reviewed disagreements with an independent program: each has a reason and a source, and a stale one is a failure."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import NamedTuple, TypeVar

Key = TypeVar("Key", bound=Hashable)


class Accepted(NamedTuple):
    """Why an answer is another one here, and where that is written."""

    reason: str
    source: str


def review(found: Mapping[Key, object], accepted: Mapping[Key, Accepted]) -> None:
    """Fail on a disagreement that is not accepted, and on an accepted one that was not found."""
    assert {} == {key: found[key] for key in found if key not in accepted}
    assert [] == [key for key in accepted if key not in found]
    assert [] == [key for key, row in accepted.items() if not (row.reason and row.source)]
