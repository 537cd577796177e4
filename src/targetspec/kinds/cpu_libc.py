"""The rule of the relation for C libraries: a requirement of the code, not an identity of the system."""

from __future__ import annotations

from typing import Any

from targetspec.rules import Answer, Rule, at_most, show, version_key


def _libc(target: Any) -> tuple[str | None, tuple[int, ...] | None] | None:
    return None if target.static or target.libc is None else (target.libc, version_key(target.libc_version))


def _libc_serves(need: Any, have: Any) -> Answer:
    if need is None:
        return "yes"
    if have is None:
        return "unknown"
    return "no" if need[0] != have[0] else at_most(need[1], have[1])


def _say_libc(need: Any, have: Any) -> tuple[str, str]:
    return _name_libc(need, "none"), _name_libc(have, "none stated")


def _name_libc(libc: Any, otherwise: str) -> str:
    if libc is None:
        return otherwise
    return libc[0] if libc[1] is None else f"{libc[0]} {show(libc[1])}"


def _newer_libc(built_for: Any, run_on: Any) -> tuple[str, Any] | None:
    return ("libc_version", built_for.libc_version) if built_for.libc == run_on.libc else None


LIBC = Rule(
    label="libc",
    statement="the C library must be the same one, at least as new",
    source="PEP 600 for glibc, PEP 656 for musl; glibc and musl never interchange",
    decide=_libc_serves,
    demand=_libc,
    promise=_libc,
    say=_say_libc,
    repair=_newer_libc,
    advice="state libc and libc_version of the target that runs it",
)
