"""`targetspec validate` and `targetspec schema`: files that hold targets as JSON, and what such files look like.

A file holds one target. A file whose name ends in .jsonl or .ndjson, or any with --lines, holds one in each line that is
not empty.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs

from targetspec.codec import validate
from targetspec.commands.command import (
    BAD_INPUT,
    FINE,
    Output,
    add_command,
    at_most_one_dash,
)
from targetspec.commands.files import content, lines_of, place_of, unreadable
from targetspec.errors import Problem
from targetspec.schemas import NAMES, json_schema

_LINES = (".jsonl", ".ndjson")
_EMPTY = Problem("$", "is empty", "a file holds a target as JSON; with --lines, one in each line")


@attrs.frozen
class _Document:
    """A document that was checked: its file, its line in a file of several, and the faults."""

    file: str
    line: int | None
    problems: tuple[Problem, ...]

    @property
    def place(self) -> str:
        """The place as compilers write it."""
        return place_of(self.file, *(() if self.line is None else (self.line,)))


def add(commands: Any) -> None:
    """Add the commands."""
    words = (
        "check files that hold a target as JSON, or one in each line (.jsonl); exit status 2 if any is bad"
    )
    command = add_command(commands, "validate", _validate, words)
    command.add_argument("files", metavar="FILE", nargs="+", help="a file, or - for standard input")
    command.add_argument("--lines", action="store_true", help="each line of every file is a target")
    words = "print the JSON Schema of a document, or write the schemas to a folder"
    command = add_command(commands, "schema", _schema, words)
    command.add_argument(
        "name", metavar="NAME", nargs="?", choices=NAMES, help=f"{' or '.join(NAMES)} (default: target)"
    )
    command.add_argument(
        "--write", metavar="DIR", help="write NAME.schema.json, of every schema unless one is named"
    )


def _validate(arguments: argparse.Namespace) -> Output:
    at_most_one_dash(arguments.files)
    checked = [one for file in arguments.files for one in _checked(file, arguments.lines)]
    faults = [(one, problem) for one in checked for problem in one.problems]
    documents = [
        {"file": one.file, "line": one.line, "problems": _documents(one.problems)} for one in checked
    ]
    lines = tuple(_on_one_line(f"{one.place}: {problem}") for one, problem in faults)
    if not faults:
        return Output((), documents)
    bad = sum(1 for one in checked if one.problems)
    remark = f"{bad} of {len(checked)} documents are no targets; the first: {lines[0]}"
    return Output(lines, documents, BAD_INPUT, lines[0] if len(faults) == 1 else remark)


def _documents(problems: tuple[Problem, ...]) -> list[dict[str, str]]:
    return [{"path": one.path, "message": one.message, "hint": one.hint} for one in problems]


def _on_one_line(text: str) -> str:
    """Return a message on one line."""
    return " ".join(text.splitlines())


def _checked(file: str, lines: bool) -> Iterator[_Document]:
    try:
        if lines or file.endswith(_LINES):
            for number, line in lines_of(file):
                problems = [line] if isinstance(line, Problem) else validate(line)
                yield _Document(file, number, tuple(problems))
        else:
            yield _Document(file, None, tuple(_faults(content(file))))
    except OSError as error:
        yield _Document(file, None, (unreadable(error),))


def _faults(document: bytes) -> list[Problem]:
    return validate(document) if document.strip() else [_EMPTY]


def _schema(arguments: argparse.Namespace) -> Output:
    if arguments.write is None:
        document = json_schema(arguments.name or "target")
        return Output((_written(document),), document)
    folder = Path(arguments.write)
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for name in (arguments.name,) if arguments.name else NAMES:
        file = folder / f"{name}.schema.json"
        file.write_text(f"{_written(json_schema(name))}\n", encoding="utf-8")
        files.append(str(file))
    return Output(tuple(files), files, FINE)


def _written(document: Any) -> str:
    return json.dumps(document, indent=2, sort_keys=True)
