"""What a command is: its place among the arguments, and what it gives."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn, TextIO

import attrs

from targetspec.errors import did_you_mean, nearest

FINE, NO, BAD_INPUT, UNKNOWN = range(4)
_SHOWN = 80
JSON_HELP = "print JSON for programs"
TEXT_HELP = "a target's text, 'native' for this machine, or - for standard input"
# argparse takes a word that begins with - for an option; this before it keeps it a text.
_TEXT = "\0"


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
    """An argument parser whose faults are one line, and for which a text may begin with a dash (`-march=haswell`)."""

    takes_texts = False

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing and leaving."""
        raise UsageError(f"{message.replace(_TEXT, '')} (see {self.prog} --help)")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Read the arguments; a word that is an option in looks only is a text, or an error with the nearest options."""
        words = sys.argv[1:] if args is None else list(args)
        return super().parse_known_args(list(self._kept_apart(words)), namespace)

    def _kept_apart(self, words: Sequence[str]) -> Iterator[str]:
        """Give the arguments, texts that look like options marked."""
        before = ""
        for at, word in enumerate(words):
            if word == "--":
                yield word
                yield from (f"{_TEXT}{text}" if self.takes_texts else text for text in words[at + 1 :])
                return
            yield word if self._has_value(before) or not self._is_text(word) else f"{_TEXT}{word}"
            before = word

    def _has_value(self, word: str) -> bool:
        return any(
            action.nargs != 0 and word.startswith("--") and name.startswith(word)
            for name, action in self._option_string_actions.items()
        )

    def _is_text(self, word: str) -> bool:
        if word.startswith(_TEXT) or " " in word:
            return self.takes_texts
        name = word.partition("=")[0]
        if name in ("", "-") or not name.startswith("-") or self._is_option(name):
            return False
        near = nearest(name, self._option_string_actions)
        if self.takes_texts and not near and ("=" in word or not name.startswith("--")):
            return True
        return self.error(f"unknown option {shown(name)!r}{did_you_mean(near)}")

    def _is_option(self, name: str) -> bool:
        if self._subparsers is not None or name in self._option_string_actions:
            return True
        return name.startswith("--") and any(one.startswith(name) for one in self._option_string_actions)


def add_command(commands: Any, name: str, run: Callable[[argparse.Namespace], Output], words: str) -> Any:
    """Add a command that `run` carries out; `words` say what it does."""
    command = commands.add_parser(name, help=words, description=f"{words[0].upper()}{words[1:]}.")
    command.set_defaults(run=run)
    command.add_argument("--json", action="store_true", help=JSON_HELP)
    return command


def add_text(command: Any, name: str = "text", metavar: str = "TEXT", **options: Any) -> None:
    """Add an argument that is the text of a target."""
    command.takes_texts = True
    command.add_argument(name, metavar=metavar, type=_unmarked, **{"help": TEXT_HELP, **options})


def _unmarked(argument: str) -> str:
    return argument.removeprefix(_TEXT)


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
