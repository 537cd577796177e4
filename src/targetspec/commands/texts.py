"""`targetspec parse`, `show`, `convert` and `check`: what texts mean, in whatever dialect they come."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterator
from typing import Any

from targetspec.commands.command import (
    BAD_INPUT,
    FINE,
    TEXT_HELP,
    Output,
    add_command,
    add_dialect,
    add_text,
    at_most_one_dash,
    shown,
    text_of,
)
from targetspec.commands.lists import check_files
from targetspec.errors import NotRepresentableError, Problem, TargetSyntaxError
from targetspec.parsing import Parsed, parse_full
from targetspec.target import Target
from targetspec.text_faults import validate_text

_COLUMN = 30
_WIDTH = 100
_OWN = "targetspec"


def add(commands: Any) -> None:
    """Add the commands."""
    for name, run, words in (
        ("parse", _parse, "read a target and print it in our own form"),
        ("show", _show, "read a target and print every fact that it states or implies, with its unit"),
        ("convert", _convert, "write a target in another dialect; what does not fit is named, and an error"),
    ):
        command = add_command(commands, name, run, words)
        add_text(command)
        add_dialect(command)
    command.add_argument("--to", required=True, metavar="DIALECT", help="the dialect to write")
    command.add_argument(
        "--lossy", action="store_true", help="write what fits, and name the rest on standard error"
    )
    words = (
        "say of each text, or of each line of files of texts, what is wrong where; exit status 2 if any is"
    )
    check = add_command(commands, "check", _check, words)
    add_text(check, "texts", nargs="+", help=f"{TEXT_HELP}; with --lines, a file, or - for standard input")
    add_dialect(check)
    check.add_argument(
        "--lines",
        action="store_true",
        help="check files that hold a text in each line; blank lines and those that begin with # are passed over",
    )


def _parse(arguments: argparse.Namespace) -> Output:
    parsed = parse_full(text_of(arguments.text), arguments.dialect)
    leftovers, target = list(parsed.leftovers), parsed.target.to_dict()
    document = {"dialect": parsed.dialect, "leftovers": leftovers, "target": target}
    return Output((str(parsed.target), *_left_over(parsed)), document)


def _left_over(parsed: Parsed) -> tuple[str, ...]:
    return (f"left over: {' '.join(parsed.leftovers)}",) if parsed.leftovers else ()


def _show(arguments: argparse.Namespace) -> Output:
    parsed = parse_full(text_of(arguments.text), arguments.dialect)
    target = parsed.target
    keys = {"digest": target.digest, "tuning_key": target.tuning_key}
    document = {
        **keys,
        "dialect": parsed.dialect,
        "leftovers": list(parsed.leftovers),
        "target": target.to_dict(),
        "text": str(target),
    }
    lines = (line for name, value in keys.items() for line in _entry(name, value))
    return Output((*_facts(target), *lines, *_left_over(parsed)), document)


def _facts(target: Target) -> Iterator[str]:
    """Give a line for each fact, those that follow from others included; a target within a target is set in."""
    yield from _entry("kind", target.kind)
    for name, one in target.specs().items():
        value = getattr(target, name)
        if value is None or (not value and value == target.defaults()[name]):
            continue
        inner = (value,) if isinstance(value, Target) else value if name == "members" else ()
        for part in inner:
            yield f"{name}:"
            yield from (f"  {line}" for line in _facts(part))
        if not inner:
            yield from _entry(name, f"{one.shape.write(value).replace(',', ', ')} {one.unit}".rstrip())


def _entry(name: str, value: str) -> Iterator[str]:
    lines = textwrap.wrap(value, _WIDTH - _COLUMN, break_long_words=False, break_on_hyphens=False)
    for at, line in enumerate(lines):
        yield f"{'' if at else name:<{_COLUMN}}{line}"


def _convert(arguments: argparse.Namespace) -> Output:
    parsed = parse_full(text_of(arguments.text), arguments.dialect)
    left_out: tuple[tuple[str, str], ...] = ()
    try:
        text = parsed.target.format(arguments.to)
    except NotRepresentableError as error:
        if not arguments.lossy:
            raise
        left_out = error.fields
        text = parsed.target.format(arguments.to, lossy=True)
    remarks = []
    leftovers = parsed.leftovers
    if arguments.to == parsed.dialect:
        text, leftovers = " ".join((text, *leftovers)), ()
    if left_out:
        remarks.append(f"left out: {'; '.join(f'{name}: {why}' for name, why in left_out)}")
    if leftovers:
        remarks.append(f"left over, and not converted: {' '.join(leftovers)}")
    document = {
        "dialect": arguments.to,
        "left_out": [{"field": name, "why": why} for name, why in left_out],
        "leftovers": list(leftovers),
        "text": text,
    }
    return Output((text,), document, FINE, "; ".join(remarks))


def _check(arguments: argparse.Namespace) -> Output:
    at_most_one_dash(arguments.texts)
    if arguments.lines:
        return check_files(arguments.texts, arguments.dialect)
    texts = [text_of(text) for text in arguments.texts]
    checked = [(text, validate_text(text, arguments.dialect)) for text in texts]
    lines = [line for text, problems in checked for line in _told(text, problems)]
    documents = [
        {"text": text, "problems": [_problem_document(one) for one in problems]} for text, problems in checked
    ]
    bad = [(text, problems[0]) for text, problems in checked if problems]
    if not bad:
        return Output(tuple(lines), documents)
    first = _line_of(*bad[0])
    remark = (
        first if len(texts) == 1 else f"{len(bad)} of {len(texts)} texts are no targets; the first: {first}"
    )
    return Output(tuple(lines), documents, BAD_INPUT, remark)


def _problem_document(problem: Problem) -> dict[str, Any]:
    return {"message": problem.message, "hint": problem.hint, "span": problem.span and list(problem.span)}


def _told(text: str, problems: list[Problem]) -> Iterator[str]:
    if not problems:
        yield f"{shown(text)}: fine"
    for problem in problems:
        yield from str(_error(text, problem)).splitlines()


def _error(text: str, problem: Problem) -> TargetSyntaxError:
    return TargetSyntaxError(text, problem.span or (0, len(text)), problem.message, problem.hint)


def _line_of(text: str, problem: Problem) -> str:
    return one_line(_error(text, problem))


def one_line(error: Exception) -> str:
    """Return the message of an error without the lines that point into a text: where they point in words."""
    first, *more = str(error).splitlines() or [repr(error)]
    if not isinstance(error, TargetSyntaxError):
        return " ".join((first, *map(str.strip, more)))
    start, end = error.span
    part = error.text[start : min(end, start + 60)]
    return f"{first}, at column {start + 1}: {part!r}" if part else f"{first}, at the end"
