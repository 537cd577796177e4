"""The commands `kernels`, `tune` and `best`: find the fastest configuration, and the records that have it."""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import targetspec
from tuner import report
from tuner.cli_input import (
    FOUND,
    NOTHING,
    add_command,
    add_database,
    complain,
    count,
    find_kernel,
    is_missing,
    open_database,
    read_pairs,
    read_task,
    say,
    seconds,
)
from tuner.comparison import baseline_name, compare
from tuner.database import Database
from tuner.errors import DatabaseError
from tuner.kernel import Kernel, Work
from tuner.kernels import KERNELS, PROBLEMS
from tuner.progress import Progress
from tuner.record import Record
from tuner.runlog import settings_of, task_of
from tuner.session import Result, runnable, tune
from tuner.spawning import START_METHODS
from tuner.store_runs import RunInfo
from tuner.strategies import STRATEGIES


def add(commands: Any) -> None:
    """Add the commands."""
    add_command(commands, "kernels", _kernels, "list the bundled kernels")
    tuning = add_command(commands, "tune", _tune, "find the fastest configuration, or the record that has it")
    _add_kernel(tuning)
    tuning.add_argument("--budget", type=count(1), default=64, metavar="N", help="trials at most (64)")
    tuning.add_argument(
        "--start-method", choices=START_METHODS, default="spawn", help="how workers start (spawn)"
    )
    tuning.add_argument("--workers", type=count(1), metavar="N", help="how many compile at a time")
    tuning.add_argument(
        "--strategy", choices=tuple(STRATEGIES), default="default", help="the search strategy"
    )
    tuning.add_argument(
        "--seed", type=count(0), default=0, metavar="N", help="what the search starts from (0)"
    )
    tuning.add_argument("--time-limit", type=seconds, metavar="S", help="seconds for the trials")
    words = "tune anew where there is a record or an interrupted run, and keep the old"
    tuning.add_argument("--fresh", action="store_true", help=words)
    words = "where the records' file fails, go on without keeping records"
    tuning.add_argument("--keep-going", action="store_true", help=words)
    best = add_command(commands, "best", _best, "show the best record for a target, or why there is none")
    _add_kernel(best)
    words = "show what to use there: the record, or that of a target whose code runs there, or the default"
    best.add_argument("--deploy", action="store_true", help=words)


def _add_kernel(command: argparse.ArgumentParser) -> None:
    command.add_argument("kernel", metavar="KERNEL", help="a bundled kernel's name, or module:attribute")
    command.add_argument("--problem", type=read_pairs, metavar="m=512,n=512,k=512", help="what to solve")
    command.add_argument("--target", metavar="TEXT", help="what to compile for (this machine)")
    add_database(command)
    command.add_argument("--json", action="store_true", help="print JSON")


def _kernels(options: argparse.Namespace, progress: Progress) -> int:  # noqa: ARG001 - as every command
    for name, kernel in KERNELS.items():
        problem = PROBLEMS.get(name)
        note = f", by default for {report.pairs(problem)}" if problem else ""
        say(f"{name}: {len(kernel.space)} configurations of {', '.join(kernel.space.parameters)}{note}")
    return FOUND


def _tune(options: argparse.Namespace, progress: Progress) -> int:
    kernel = find_kernel(options.kernel)
    problem, work = read_task(kernel, options)
    target = runnable(options.target)
    with ExitStack() as stack:
        database = stack.enter_context(_opened(options))
        known = None if database is None else _known(options, database, kernel, problem, target)
        if database is not None and known is not None:
            note = f"found the record for this very target in {database.path}; --fresh tunes anew"
            return _show(
                options, report.document(known, work, found=True), [note, *report.describe_best(known, work)]
            )
        told = stack.enter_context(_told_in_lines())
        result = tune(
            kernel, problem, target, options.budget, options.workers, options.start_method, database,
            strategy=options.strategy, seed=options.seed, time_limit=options.time_limit, progress=progress,
            fresh=options.fresh, keep_going=options.keep_going,
        )  # fmt: skip
        return _present(options, kernel, work, result, None if database is None or told else database.path)


@contextmanager
def _opened(options: argparse.Namespace) -> Iterator[Database | None]:
    """Open the records' file; none where it fails, and the run is to go on without."""
    with ExitStack() as stack:
        try:
            database = stack.enter_context(open_database(options.database, create=True))
        except DatabaseError as error:
            if not options.keep_going:
                raise
            complain(f"{error}; the run goes on, and nothing of it is kept")
            database = None
        yield database


@contextmanager
def _told_in_lines() -> Iterator[list[str]]:
    """Tell each warning in a line, and collect them."""
    told: list[str] = []

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        told.append(str(message))
        complain(told[-1])

    with warnings.catch_warnings():
        warnings.simplefilter("always", RuntimeWarning)
        warnings.showwarning = show
        yield told


def _known(
    options: argparse.Namespace,
    database: Database,
    kernel: Kernel,
    problem: Mapping[str, Any],
    target: targetspec.Target,
) -> Record | None:
    """Look the record up, unless a run of the same command was interrupted: it goes on instead."""
    if options.fresh:
        return None
    try:
        return _looked_up(options, database, kernel, problem, target)
    except DatabaseError:
        # The run meets the same, and says so.
        if not options.keep_going:
            raise
        return None


def _looked_up(
    options: argparse.Namespace,
    database: Database,
    kernel: Kernel,
    problem: Mapping[str, Any],
    target: targetspec.Target,
) -> Record | None:
    task = task_of(kernel, database.fingerprint(kernel, problem, target), problem, target)
    interrupted = database.unfinished_run(task, settings_of(options.strategy, options.seed))
    record = database.lookup(kernel, problem, target)
    if interrupted is None or (record is not None and _came_after(database, record, interrupted)):
        return record
    complain(f"going on with run {interrupted.name}, interrupted after {interrupted.trials} trials")
    return None


def _came_after(database: Database, record: Record, interrupted: RunInfo) -> bool:
    """Tell whether a record is of a complete run that began later, as of a fresh one that took the other's place."""
    run = database.run(record.run)
    return run is not None and run.ended is not None and run.started > interrupted.started


def _present(
    options: argparse.Namespace, kernel: Kernel, work: Work | None, result: Result, path: str | None
) -> int:
    if result.best is None:
        kinds = report.failures(result.records)
        complain(
            f"none of {len(result.records)} trials succeeded: {'; '.join(kinds[:3]) or 'there was no time'}"
        )
        return NOTHING
    best = result.best
    no_plain = result.baseline is None or result.baseline.cost is None
    comparison = compare(kernel, dict(best.problem), result.target, best.config, plain=not no_plain)
    lines = [
        *report.describe_best(best, work)[:3],
        *report.describe_comparison(comparison, work),
        *report.describe_failure(baseline_name(kernel), result.baseline),
        *report.describe_trials(result),
        report.line("record", f"run {best.run} in {path}" if path else "not kept, or not all of it"),
    ]
    more = {
        "trials": report.outcomes(result.records),
        "trials_per_second": report.trials_per_second(result.records),
        "separated": result.separated,
        "database": path,
    }
    return _show(options, report.document(best, work, found=False, comparison=comparison, **more), lines)


def _best(options: argparse.Namespace, progress: Progress) -> int:  # noqa: ARG001 - as every command
    kernel = find_kernel(options.kernel)
    problem, work = read_task(kernel, options)
    # Looking up does not need a machine that runs it.
    target = targetspec.detect_host() if options.target is None else targetspec.parse(options.target)
    question = f"no record of {report.problem(kernel.name, problem)} for {target}"
    missing = is_missing(options.database)
    if missing:
        return _nothing(options, [f"{question}: there is no file {missing}; `tuner tune` makes one"])
    with open_database(options.database, read_only=True) as database:
        if options.deploy:
            return _deploy(options, database, kernel, problem, target)
        record = database.lookup(kernel, problem, target)
        if record is None:
            explanation = database.explain(kernel, problem, target)
            lines = [f"{question} in {database.path}", *explanation.lines]
            return _nothing(options, lines, fields=explanation.fields)
        return _show(options, report.document(record, work, found=True), report.describe_best(record, work))


def _nothing(options: argparse.Namespace, lines: Sequence[str], fields: Sequence[str] = ()) -> int:
    if options.json:
        say(json.dumps({"found": False, "fields": list(fields), "explanation": list(lines)}, indent=2))
    complain("\n".join(lines))
    return NOTHING


def _deploy(
    options: argparse.Namespace,
    database: Database,
    kernel: Kernel,
    problem: Mapping[str, Any],
    target: targetspec.Target,
) -> int:
    choice = database.best_for(kernel, problem, target)
    document = {
        "ground": choice.ground,
        "config": choice.config,
        "target": choice.target.to_dict(),
        "reason": choice.reason,
    }
    lines = [
        report.line("ground", choice.ground),
        report.line("configuration", report.pairs(choice.config)),
        report.line("compile for", str(choice.target)),
        report.line("reason", choice.reason),
    ]
    return _show(options, document, lines)


def _show(options: argparse.Namespace, document: Mapping[str, Any], lines: Sequence[str]) -> int:
    say(json.dumps(document, indent=2) if options.json else "\n".join(lines))
    return FOUND
