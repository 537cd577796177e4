"""Which kernel it is: fingerprints, made where a kernel's own code can do no harm, and confirmed before use."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any

import targetspec
from tuner import build
from tuner.asking import SECONDS, Asker, is_ours, without_type
from tuner.errors import KernelError
from tuner.kernel import Kernel
from tuner.peer import Done
from tuner.pool import Pool
from tuner.record import Outcome
from tuner.record_checks import problem as read_problem
from tuner.travel import share

_WITNESSES = 8  # a set of two comes in the same order in all of them once in 128 times
_AT_ONCE = 4


class Fingerprints:
    """Makes the fingerprints of kernels, one for each kernel, target and problem, and keeps them.

    A kernel of this package emits here; the code of others may print, hang or die. KernelError where it emits no
    configuration at all, or not the same text each time.
    """

    def __init__(self, asker: Asker) -> None:
        self._known: dict[tuple[int, str, str], tuple[Kernel, str]] = {}
        self._asker = asker

    def of(self, kernel: Kernel, target: targetspec.Target, problem: Mapping[str, Any]) -> str:
        """Return the fingerprint of a kernel for a target and a problem."""
        stated = read_problem(problem)
        key = (id(kernel), target.digest, stated.text)
        known = self._known.get(key)
        if known is None:
            # With the kernel, so that its id stays its own. Equal problems come in one order, as they do in a tuning.
            known = self._known[key] = (kernel, self._made(kernel, target, dict(stated)))
        return known[1]

    def _made(self, kernel: Kernel, target: targetspec.Target, problem: Mapping[str, Any]) -> str:
        if is_ours(kernel):
            return build.fingerprint(kernel, target, problem)
        return str(self._asker.with_pool(lambda pool: fingerprint_in(pool, kernel, target, problem)))


def confirmed(kernel: Kernel, target: targetspec.Target, problem: Mapping[str, Any]) -> str:
    """Return a fingerprint on which several fresh interpreters agree; KernelError where they do not.

    What follows the order of a set, an address or a clock differs between processes, each of which hashes anew.
    """
    if is_ours(kernel):
        return build.fingerprint(kernel, target, problem)
    with Pool(_AT_ONCE) as pool:
        found = _jobs(pool, [(_fingerprint, (kernel, target, problem))] * _WITNESSES, fresh=True)
        if any(done.failure for done in found):
            return fingerprint_in(pool, kernel, target, problem)
    if len({done.value for done in found}) > 1:
        raise KernelError(
            f"{kernel.name}: emit gives another text in another process, so its records could not be found again; "
            "what it emits must depend on its arguments alone (is there a set that is not sorted?)"
        )
    return str(found[0].value)


def fingerprint_in(
    pool: Pool,
    kernel: Kernel,
    target: targetspec.Target,
    problem: Mapping[str, Any],
    seconds: float = SECONDS,
) -> str:
    """Make a fingerprint in a worker; a configuration that kills it or hangs has its death for a text."""
    (done,) = _jobs(pool, [(_fingerprint, (kernel, target, problem))], seconds=seconds)
    if done.failure is None:
        return str(done.value)
    if done.failure.kind == "error":
        raise KernelError(without_type(str(done.failure.cause)))
    positions = build.sample(len(kernel.space))
    parts = _jobs(pool, [(_part, (kernel, place, target, problem)) for place in positions], seconds=seconds)
    if all(part.failure for part in parts):
        raise KernelError(
            f"{kernel.name}: emit ends its process, or never ends, for each of {len(parts)} configurations that were "
            f"tried: {_told(parts[0].failure)}"
        )
    digest = build.fingerprint_start(kernel)
    for part in parts:
        digest.update(_told(part.failure).encode() if part.failure else part.value)
    return digest.hexdigest()


def _told(failure: Outcome | None) -> str:
    return "" if failure is None else f"{failure.kind} in {failure.stage}: {failure.cause}"


def _fingerprint(
    stage: Callable[[str], object], kernel: Kernel, target: targetspec.Target, problem: Mapping[str, Any]
) -> str:
    stage("emit")
    return build.fingerprint(kernel, target, problem)


def _part(
    stage: Callable[[str], object],
    kernel: Kernel,
    place: int,
    target: targetspec.Target,
    problem: Mapping[str, Any],
) -> bytes:
    stage("emit")
    return hashlib.sha256(build.fingerprint_part(kernel, place, target, problem)).digest()


def _jobs(
    pool: Pool,
    jobs: list[tuple[Callable[..., Any], tuple[Any, ...]]],
    *,
    seconds: float = SECONDS,
    fresh: bool = False,
) -> list[Done]:
    tickets = []
    for function, (kernel, *rest) in jobs:
        shared = share(kernel, "kernel")
        tickets.append(pool.submit(function, shared, *rest, limits={"emit": seconds}, fresh=fresh))
    done: dict[int, Done] = {}
    while len(done) < len(tickets):
        done.update((each.ticket, each) for each in pool.wait())
    return [done[ticket] for ticket in tickets]
