"""What a command is: its place among the arguments, and what it gives."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any, NoReturn, TextIO

import attrs

FINE, NO, BAD_INPUT, UNKNOWN = range(4)
_SHOWN = 80
JSON_HELP = "print JSON for programs"
TEXT_HELP = "a target's text, 'native' for this machine, or - for standard input; -- goes before one that begins with -"


class UsageError(Exception):
    """The arguments are none that the command takes, or cannot be had."""


@attrs.frozen
class Output:
    """What a command gives: lines for people, a document for programs, a remark for standard error, a status."""

    lines: tuple[str, ...]
    document: Any
    status: int = FINE
    remark: str = ""


class Parser(argparse.ArgumentParser):
    """An argument parser whose faults are one line, as those of all commands are."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing and leaving."""
        raise UsageError(f"{message} (see {self.prog} --help)")


def add_command(commands: Any, name: str, run: Callable[[argparse.Namespace], Output], words: str) -> Any:
    """Add a command that `run` carries out; `words` say what it does."""
    command = commands.add_parser(name, help=words, description=f"{words[0].upper()}{words[1:]}.")
    command.set_defaults(run=run)
    command.add_argument("--json", action="store_true", help=JSON_HELP)
    return command


def add_text(command: Any, name: str = "text", metavar: str = "TEXT", **options: Any) -> None:
    """Add an argument that is the text of a target."""
    command.add_argument(name, metavar=metavar, help=TEXT_HELP, **options)


def add_dialect(command: Any) -> None:
    """Add the option that says which dialect a text is in."""
    command.add_argument(
        "--from",
        dest="dialect",
        default="auto",
        metavar="DIALECT",
        help="the text's dialect (default: the text tells)",
    )


def text_of(argument: str) -> str:
    """Return a text argument, or standard input for `-`."""
    return open_stream(sys.stdin, "input").read() if argument == "-" else argument


def open_stream(stream: TextIO | None, name: str) -> TextIO:
    """Return a standard stream; UsageError where the caller closed it."""
    if stream is None:
        raise UsageError(f"the standard {name} is closed")
    return stream


def at_most_one_dash(arguments: list[str]) -> None:
    """Refuse to read standard input twice."""
    if arguments.count("-") > 1:
        raise UsageError("only one of the arguments can be read from standard input")


def shown(text: str, longest: int = _SHOWN) -> str:
    """Return a text on one line of bounded length, in printable characters."""
    line = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text[: longest + 1])
    return line if len(line) <= longest else f"{line[: longest - 3]}..."
