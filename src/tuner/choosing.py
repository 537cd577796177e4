"""Which records are meant: the filters of the store's methods, and the columns that they stand for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

import targetspec
from tuner import record_checks
from tuner.errors import RecordError
from tuner.kernel import Kernel
from tuner.record import KINDS, ROLES
from tuner.values import check_text, shown


class Filters(TypedDict, total=False):
    """What the records chosen are equal in, beside their kernel's name; None, as nothing, chooses all."""

    problem: Mapping[str, Any] | None
    target: targetspec.Target | None
    """One with this target's tuning key."""
    toolchain: str | None
    fingerprint: str | None
    run: str | None
    role: str | None
    kind: str | None
    """The kind of the outcome."""


def columns(kernel: Kernel | str | None, filters: Filters) -> dict[str, str]:
    """Return the columns that filters choose by, and their values.

    TypeError for a filter that there is not, RecordError for a value that no record could have.
    """
    if unknown := filters.keys() - Filters.__annotations__.keys():
        known = ", ".join(["kernel", *Filters.__annotations__])
        raise TypeError(f"records cannot be chosen by {min(unknown)!r}; they can by {known}")
    rest: dict[str, Any] = dict(filters)
    problem, target = rest.pop("problem", None), rest.pop("target", None)
    if target is not None:
        check_target(target)
    for name, value in rest.items():
        _check(name, value)
    chosen = {
        "kernel": None if kernel is None else name_of(kernel),
        "problem": None if problem is None else record_checks.problem(problem).text,
        "tuning_key": None if target is None else target.tuning_key,
        **rest,
    }
    return {name: value for name, value in chosen.items() if value is not None}


_ALLOWED = {"role": ROLES, "kind": KINDS}


def _check(name: str, value: object) -> None:
    if value is None:
        return
    check = record_checks.check_digest if name == "fingerprint" else check_text
    check(f"$.{name}", value)
    allowed = _ALLOWED.get(name)
    if allowed and value not in allowed:
        raise RecordError(f"$.{name}", f"must be one of {', '.join(allowed)}, got {shown(value)}")


def check_target(target: object) -> None:
    """Check that it is a Target."""
    if not isinstance(target, targetspec.Target):
        raise RecordError("$.target", f"must be a targetspec.Target, got {shown(target)}")


def name_of(kernel: object) -> str:
    """Return the name of a kernel, which may be given by it."""
    if not isinstance(kernel, Kernel | str):
        raise TypeError(f"a kernel is a tuner.Kernel or its name, not {shown(kernel)}")
    if isinstance(kernel, Kernel):
        return kernel.name
    check_text("$.kernel", kernel)
    return kernel
