"""The commands `export`, `import` and `schema`: records as files, ours and those of other tuners."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import targetspec
from tuner.cli_input import (
    BAD_INPUT,
    FOUND,
    NOTHING,
    add_command,
    add_database,
    complain,
    open_database,
    read_pairs,
    say,
    take_each,
)
from tuner.cli_store import add_filters, filters, missing
from tuner.database import Database
from tuner.interchange.files import EXPORTS, FORMATS, Imported, export_records, import_records
from tuner.interchange.line_by_line import Fault
from tuner.progress import Progress
from tuner.schemas import record_schema

_SHOWN = 100


def add(commands: Any) -> None:
    """Add the commands."""
    export = add_command(commands, "export", _export, "write records as JSON Lines, or as T4")
    export.add_argument("file", metavar="FILE", help="the file to write, or - for standard output")
    export.add_argument("--format", choices=EXPORTS, default="records", help="what to write (records)")
    add_filters(export)
    reading = add_command(
        commands, "import", _import, "add records from JSON Lines, or from files of other tuners"
    )
    reading.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a file to read")
    reading.add_argument("--format", choices=("auto", *FORMATS), default="auto", help="what it is (auto)")
    reading.add_argument("--target", metavar="TEXT", help="the target, where the file names none")
    reading.add_argument("--kernel", metavar="NAME", help="the kernel, where the file names none")
    reading.add_argument("--problem", type=read_pairs, metavar="m=512,n=512", help="and the problem")
    reading.add_argument(
        "--all-faults", action="store_true", help=f"list more than {_SHOWN} faults of a file"
    )
    add_database(reading)
    schema = add_command(commands, "schema", _schema, "print the JSON Schema of a record, or write it")
    schema.add_argument("--write", type=Path, metavar="DIR", help="write record.schema.json to this folder")


def _export(options: argparse.Namespace, progress: Progress) -> int:  # noqa: ARG001 - as every command
    chosen = filters(options)
    if missing(options):
        return NOTHING
    left_out: Counter[str] = Counter()
    with open_database(options.database, read_only=True) as database:
        written = export_records(
            database.records(options.kernel, **chosen), options.file, format=options.format,
            on_left_out=lambda one: left_out.update([one.message]), keep_old=True,
        )  # fmt: skip
    told = " and ".join(f"{count} {why}" for why, count in sorted(left_out.items()))
    if not written and not told:
        complain("no records are chosen")
    else:
        complain(f"{written} records written{told and f'; left out: {told}'}")
    return FOUND if written else NOTHING


def _import(options: argparse.Namespace, progress: Progress) -> int:  # noqa: ARG001 - as above
    target = None if options.target is None else targetspec.parse(options.target)
    refused = 0

    def take(database: Database, path: Path) -> None:
        nonlocal refused
        found = import_records(
            database, path, format=options.format, target=target, kernel=options.kernel,
            problem=options.problem, on_fault=_teller(path, every=options.all_faults),
        )  # fmt: skip
        say(f"{path}: {_summary(found)}")
        refused += found.refused

    if not take_each(options.files, options.database, take):
        return BAD_INPUT
    return NOTHING if refused else FOUND


def _teller(path: Path, *, every: bool) -> Callable[[Fault], bool]:
    told = 0

    def tell(fault: Fault) -> bool:
        nonlocal told
        told += 1
        wanted = every or told <= _SHOWN
        complain(f"{path}: {fault if wanted else 'there are more; --all-faults lists them'}")
        return wanted

    return tell


def _summary(found: Imported) -> str:
    parts = [f"{found.added} new records", f"{found.known} known ones"]
    parts += [f"{found.refused} that could not be read"] if found.refused else []
    parts += [f"{found.blank} blank lines"] if found.blank else []
    return f"{', '.join(parts)} ({found.format})"


def _schema(options: argparse.Namespace, progress: Progress) -> int:  # noqa: ARG001 - as above
    text = json.dumps(record_schema(), indent=2, sort_keys=True)
    if options.write is None:
        say(text)
        return FOUND
    path = options.write / "record.schema.json"
    path.write_text(f"{text}\n", encoding="utf-8")
    say(str(path))
    return FOUND
