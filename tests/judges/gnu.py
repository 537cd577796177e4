"""GNU's configuration names: config.sub's own test data, and what it answers for the names of rustc and zig."""

from __future__ import annotations

from collections.abc import Iterator

from judges.judge import Judge, Row
from targetspec.dialects.gnu import canonical_gnu
from targetspec.errors import TargetSyntaxError


def _canonical(text: str) -> str | None:
    try:
        return canonical_gnu(text)
    except TargetSyntaxError:
        return None


def _faults(row: Row) -> Iterator[str]:
    """Yield the name where it is another, or none; a canonical name stays as it is."""
    got = _canonical(row["alias"])
    if got != row.get("canonical"):
        yield f"canonical {got}"
    if got is not None and _canonical(got) != got:
        yield f"canonical again {_canonical(got)}"


FILES = {"config_sub": Judge(_faults), "config_sub_run": Judge(_faults)}
