"""Mutants of the relation that no test can kill, each with the reason: the change makes no difference that shows."""

from __future__ import annotations

EXPLAINED: dict[str, str] = {}
