"""What a record store advises beside exact answers: seeds, why there is no answer, and what to deploy."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Collection, Iterator
from typing import Any

import attrs

from tuner import deployment, explanation, nearness, store_rows
from tuner.asking import Asker
from tuner.deployment import Choice
from tuner.errors import KernelError
from tuner.explanation import Explanation
from tuner.identity import Fingerprints
from tuner.kernel import Kernel
from tuner.nearness import Near, Task, Use
from tuner.record import Record
from tuner.store_connection import Store
from tuner.values import cut

_MOST_AT_ONCE = 1000  # records read at once
_MOST_TOLD = 3  # ways to fail
_LONGEST_CAUSE = 200  # characters


@attrs.frozen
class Advisor:
    """Reads a store for tasks near the one that is asked for."""

    _store: Store
    _asker: Asker
    _fingerprints: Fingerprints
    _record: Callable[[tuple[Any, ...]], Record]

    def seeds(self, asked: Task, limit: int) -> tuple[Record, ...]:
        """Return records whose configurations are worth trying, the nearest first."""
        near = itertools.takewhile(lambda task: task.is_compatible, self._near(asked))
        found = (itertools.islice(self._allowed(task, asked, "schedule"), nearness.PER_TASK) for task in near)
        return tuple(itertools.islice(itertools.chain.from_iterable(found), limit))

    def explain(self, asked: Task, fingerprint: str | None) -> Explanation:
        """Say why a lookup finds nothing."""
        question = f"{asked.name} {asked.problem.text} for {asked.target}"
        if fingerprint is None and isinstance(asked.kernel, Kernel):
            fingerprint = self._fingerprints.of(asked.kernel, asked.target, asked.problem)
        answer = None if fingerprint is None else self.answer(asked, fingerprint)
        if answer is not None:
            return Explanation(question, answer)
        near = self._near(asked)
        if not near:
            return Explanation(question, note=self._no_such_kernel(asked.name))
        return self._explained(question, asked, _fewest_differences(near, asked, fingerprint), fingerprint)

    def best_for(self, kernel: Kernel, asked: Task) -> Choice:
        """Choose what to use on the target that is asked for."""
        here = asked.target
        known_tasks = self._near(asked)
        near = [task for task in known_tasks if task.has_good and task.problem == asked.problem]
        key = (self._fingerprints.of(kernel, here, asked.problem), here.tuning_key, asked.toolchain)
        own = [task for task in near if (task.fingerprint, task.tuning_key, task.toolchain) == key]
        exact = next((record for task in own for record in self._allowed(task, asked, "exact")), None)
        if exact is not None:
            return deployment.exact(exact, here)
        found = [self._deployable(kernel, task, asked) for task in near]
        known = [record for record in found if isinstance(record, Record)]
        choice = deployment.nearest(known, here, asked.toolchain)
        if choice is not None:
            return choice
        refused = [why for why in found if isinstance(why, str)]
        config = self._asker.default(kernel, asked.problem, here)
        return deployment.default(config, here, refused, others=len(known_tasks) - len(near))

    def answer(self, asked: Task, fingerprint: str) -> Record | None:
        """Return the best record of exactly this task, or None."""
        filters = {
            "kernel": asked.name,
            "fingerprint": fingerprint,
            "problem": asked.problem.text,
            "tuning_key": asked.target.tuning_key,
            "toolchain": asked.toolchain,
        }
        row = self._store.read(lambda connection: store_rows.best(connection, filters))
        return None if row is None else self._record(row)

    def _near(self, asked: Task) -> list[Near]:
        return self._store.read(
            lambda connection: nearness.rank(store_rows.tasks(connection, asked.name), asked)
        )

    def _deployable(self, kernel: Kernel, near: Near, asked: Task) -> Record | str:
        """Return the best record of a task that can be used on the target that is asked for, or say why none can."""
        documents = self._store.read(lambda connection: store_rows.documents_of_task(connection, near.number))
        targets = {document: store_rows.target_of(document) for document in documents}
        verdicts = {
            document: target.compatible(asked.target, purpose="code") for document, target in targets.items()
        }
        able = [document for document, verdict in verdicts.items() if verdict]
        if not able:
            reasons = [str(reason) for verdict in verdicts.values() for reason in verdict.reasons]
            return f"{near.target}: {reasons[0] if reasons else 'its records were deleted meanwhile'}"
        # What cannot run here needs no fingerprint, for which the kernel must emit code for that target.
        try:
            todays = [
                document
                for document in able
                if near.fingerprint == self._fingerprints.of(kernel, targets[document], asked.problem)
            ]
        except KernelError as error:
            return f"{near.target}: {error}"
        if not todays:
            return (
                f"{near.target}: its kernel is another one today, or another tuner's, of which an import came"
            )
        best = next(self._allowed(near, asked, "code", todays), None)
        return best or f"{near.target}: the kernel's space and needs allow none of its configurations here"

    def _allowed(
        self, near: Near, asked: Task, use: Use, documents: Collection[str] | None = None
    ) -> Iterator[Record]:
        """Yield a task's records whose configurations the kernel's space holds, and its needs allow, the best first."""
        kernel = asked.kernel if isinstance(asked.kernel, Kernel) else None
        for ranked in self._ranked(near, documents):
            held = [record for record in ranked if kernel is None or record.config in kernel.space]
            configs = (record.config for record in held)
            needs = (
                [{} for _ in held] if kernel is None else self._asker.needs(kernel, configs, asked.problem)
            )
            for record, needed in zip(held, needs, strict=True):
                if nearness.is_allowed(record, asked, needed, use):
                    yield record

    def _ranked(self, near: Near, documents: Collection[str] | None) -> Iterator[list[Record]]:
        """Yield a task's good records, some at a time, the best first: each configuration of a target once.

        The trials of a run that has finals come last. They are there for machines that can hold none of the finals.
        """
        seen: set[tuple[str, str]] = set()
        for hidden in (False, True):
            skip, count = 0, nearness.PER_TASK
            while rows := self._best_of(near, documents, count=count, skip=skip, hidden=hidden):
                records = {(row.target.digest, row.config.text): row for row in reversed(rows)}
                yield [record for key, record in reversed(records.items()) if key not in seen]
                seen.update(records)
                skip, count = skip + count, min(4 * count, _MOST_AT_ONCE)

    def _best_of(self, near: Near, documents: Collection[str] | None = None, **which: Any) -> list[Record]:
        rows = self._store.read(
            lambda connection: store_rows.best_of_task(connection, near.number, documents, **which)
        )
        return [self._record(row) for row in rows]

    def _some_of(self, near: Near) -> Record | None:
        best = self._best_of(near)
        if best:
            return best[0]
        row = self._store.read(lambda connection: store_rows.some_of_task(connection, near.number))
        return None if row is None else self._record(row)

    def _explained(self, question: str, asked: Task, near: Near, stated: str | None) -> Explanation:
        record = self._some_of(near)
        if record is None:
            return Explanation(question, note="its records were deleted meanwhile")
        try:
            today: str | KernelError | None = self._fingerprint_for(record, asked, stated)
        except KernelError as error:
            today = error
        found = explanation.obstacles_of(
            record,
            problem=asked.problem,
            target=asked.target,
            toolchain=asked.toolchain,
            fingerprint=today,
        )
        verdict = record.target.compatible(asked.target, purpose="schedule") if found else None
        return Explanation(question, None, record, found, verdict, self._note(near, obstructed=bool(found)))

    def _fingerprint_for(self, record: Record, asked: Task, stated: str | None) -> str | None:
        """Return today's fingerprint of the kernel for a record's own task, where it can be known."""
        is_same = (record.problem, record.target.tuning_key) == (asked.problem, asked.target.tuning_key)
        if is_same and stated is not None:
            return stated
        if isinstance(asked.kernel, Kernel):
            return self._fingerprints.of(asked.kernel, record.target, record.problem)
        return None

    def _note(self, near: Near, *, obstructed: bool) -> str:
        if obstructed:
            return "no record of exactly this"
        if near.has_good:
            return "its fingerprint was not stated, and only with it is there an answer"
        counted = self._store.read(lambda connection: store_rows.outcomes_of_task(connection, near.number))
        told = [
            f"{count} {kind}{f' ({_in_a_line(cause)})' if cause else ''}" for kind, cause, count in counted
        ]
        more = "" if len(told) <= _MOST_TOLD else "; and more"
        return f"it was tried, and no trial has succeeded: {'; '.join(told[:_MOST_TOLD])}{more}"

    def _no_such_kernel(self, name: str) -> str:
        names = self._store.read(store_rows.kernels)
        others = f"it has records of {', '.join(names[:8])}" if names else "it is empty"
        return f"no record of a kernel {name!r} in {self._store.path}: {others}"


def _in_a_line(cause: str) -> str:
    return cut(" ".join(cause.split()), _LONGEST_CAUSE)


def _fewest_differences(near: list[Near], asked: Task, fingerprint: str | None) -> Near:
    """Return the task that differs in the fewest parts of the key, of several the nearest."""
    key = (asked.problem.text, asked.target.tuning_key, asked.toolchain)

    def differences(task: Near) -> tuple[int, bool]:
        held = (task.problem.text, task.tuning_key, task.toolchain)
        return sum(map(operator.ne, key, held)), fingerprint not in {None, task.fingerprint}

    return min(near, key=differences)
