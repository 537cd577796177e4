"""The commands `records`, `report`, `runs`, `merge`, `prune`, `vacuum` and `check`: what a records' file holds, and its upkeep."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import targetspec
from tuner import report
from tuner.choosing import Filters, columns
from tuner.cli_input import (
    BAD_INPUT,
    FOUND,
    NOTHING,
    InputError,
    add_command,
    add_database,
    complain,
    count,
    is_missing,
    open_database,
    read_pairs,
    say,
    take_each,
)
from tuner.database import Database
from tuner.overview import overviews
from tuner.progress import Progress
from tuner.record import KINDS, ROLES


def add(commands: Any) -> None:
    """Add the commands."""
    records = add_command(commands, "records", _records, "list the records")
    add_filters(records)
    records.add_argument("--json", action="store_true", help="print each as one line of JSON")
    summary = add_command(
        commands, "report", _report, "sum up the records of each task: trials, failures, the best"
    )
    add_filters(summary)
    summary.add_argument("--json", action="store_true", help="print JSON")
    runs = add_command(commands, "runs", _runs, "list the runs")
    add_database(runs)
    merge = add_command(commands, "merge", _merge, "add the records of other files")
    merge.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a records' file to read")
    add_database(merge)
    prune = add_command(commands, "prune", _prune, "delete records")
    add_filters(prune)
    prune.add_argument("--before", metavar="DATE", help="those made before, such as 2026-01-31")
    prune.add_argument(
        "--keep", type=count(0), default=0, metavar="N", help="but the N best of each task (0)"
    )
    words = "give the room of deleted records back to the disk"
    add_database(add_command(commands, "vacuum", _vacuum, words))
    words = "go through the whole file and say what is wrong with it"
    add_database(add_command(commands, "check", _check, words))


def add_filters(command: argparse.ArgumentParser) -> None:
    """Add the options that choose records."""
    add_database(command)
    command.add_argument("--kernel", metavar="NAME", help="those of this kernel")
    command.add_argument("--problem", type=read_pairs, metavar="m=512,n=512", help="those of this problem")
    command.add_argument("--target", metavar="TEXT", help="those whose target has the same tuning key")
    command.add_argument("--toolchain", metavar="TEXT", help="those that this compiled")
    command.add_argument("--run", metavar="NAME", dest="of_run", help="those of this run")
    command.add_argument("--role", choices=ROLES, help="those of this role")
    command.add_argument("--outcome", choices=KINDS, dest="kind", help="those that ended like this")


def filters(options: argparse.Namespace) -> Filters:
    """Return the filters that the options state, beside the kernel."""
    return {
        "problem": options.problem,
        "target": None if options.target is None else targetspec.parse(options.target),
        "toolchain": options.toolchain,
        "run": options.of_run,
        "role": options.role,
        "kind": options.kind,
    }


def missing(options: argparse.Namespace) -> bool:
    """Say that there is no records' file, where there is none."""
    path = is_missing(options.database)
    if path:
        complain(f"there are no records: there is no file {path}")
    return bool(path)


def _records(options: argparse.Namespace, progress: Progress) -> int:  # noqa: ARG001 - as every command
    chosen = filters(options)
    if missing(options):
        return NOTHING
    with open_database(options.database, read_only=True) as database:
        for record in database.records(options.kernel, **chosen):
            say(record.dumps() if options.json else report.row(record))
    return FOUND


def _report(options: argparse.Namespace, progress: Progress) -> int:  # noqa: ARG001 - as above
    chosen = filters(options)
    if missing(options):
        return NOTHING
    with open_database(options.database, read_only=True) as database:
        found = list(overviews(database, options.kernel, **chosen))
    if options.json:
        say(json.dumps([one.to_dict() for one in found], indent=2))
    elif found:
        say("\n\n".join("\n".join(report.describe_overview(one)) for one in found))
    if not found:
        complain("no records are chosen")
    return FOUND if found else NOTHING


def _runs(options: argparse.Namespace, progress: Progress) -> int:  # noqa: ARG001 - as above
    if missing(options):
        return NOTHING
    with open_database(options.database, read_only=True) as database:
        for name in database.runs():
            say(report.run_row(name, database.run(name)))
    return FOUND


def _merge(options: argparse.Namespace, progress: Progress) -> int:  # noqa: ARG001 - as above
    def take(database: Database, path: Path) -> None:
        say(f"{path}: {database.merge(path)} new records")

    return FOUND if take_each(options.files, options.database, take) else BAD_INPUT


def _prune(options: argparse.Namespace, progress: Progress) -> int:  # noqa: ARG001 - as above
    chosen = filters(options)
    if not columns(options.kernel, chosen) and not options.before and not options.keep:
        raise InputError("choose which records to delete, or how many to --keep (see tuner prune --help)")
    if missing(options):
        return NOTHING
    with open_database(options.database) as database:
        say(
            f"{database.prune(options.kernel, before=options.before, keep=options.keep, **chosen)} records deleted"
        )
    return FOUND


def _vacuum(options: argparse.Namespace, progress: Progress) -> int:  # noqa: ARG001 - as above
    if missing(options):
        return NOTHING
    with open_database(options.database) as database:
        before, after = database.vacuum()
        say(f"{database.path}: {before} bytes before, {after} now")
    return FOUND


def _check(options: argparse.Namespace, progress: Progress) -> int:  # noqa: ARG001 - as above
    if missing(options):
        return NOTHING
    found = 0
    with open_database(options.database, read_only=True) as database:
        for fault in database.check():
            found += 1
            say(fault)
        sys.stdout.flush()
        complain(f"{database.path}: {f'{found} faults' if found else 'sound'}")
    return NOTHING if found else FOUND
