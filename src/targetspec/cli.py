"""The command `targetspec`: this machine, texts, the relation, and the names that there are."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn, TextIO

import attrs

from targetspec import __version__, registry
from targetspec.compatibility import BRIDGES, Verdict
from targetspec.cpu import cpu_names, family_names, feature_names
from targetspec.errors import TargetspecError, TargetSyntaxError
from targetspec.host.detected import detect_host
from targetspec.parsing import parse, parse_full
from targetspec.rules import PURPOSES
from targetspec.target import Target
from targetspec.triple import Triple

BAD_INPUT = 2
_INTERRUPTED = 130
_SHOWN = 60
_EXIT_OF = {"yes": 0, "no": 1, "unknown": 3}
_JSON_HELP = "print JSON for programs"
_TEXT_HELP = "a target's text, 'native' for this machine, or - for standard input; -- goes before one that begins with -"


class _Parser(argparse.ArgumentParser):
    """An argument parser whose faults are one line, as those of all commands are."""

    def error(self, message: str) -> NoReturn:
        raise _UsageError(f"{message} (see {self.prog} --help)")


class _UsageError(Exception):
    """The arguments are none that the command takes."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status, which is 2 for bad input."""
    try:
        arguments = _parser().parse_args(argv)
        status = int(arguments.run(arguments))
        _stream(sys.stdout, "output").flush()
    except BrokenPipeError:
        # The reader has gone; nothing may be written to it while the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (TargetspecError, _UsageError, OSError, UnicodeError) as error:
        if sys.stderr is not None:
            print(f"targetspec: {_one_line(error)}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        return _INTERRUPTED
    return status


def _stream(stream: TextIO | None, name: str) -> TextIO:
    if stream is None:
        raise _UsageError(f"the standard {name} is closed")
    return stream


def _one_line(error: Exception) -> str:
    """Return the message without the lines that point into a text, and where they point in words."""
    first, *more = str(error).splitlines() or [repr(error)]
    if not isinstance(error, TargetSyntaxError):
        return " ".join((first, *map(str.strip, more)))
    start, end = error.span
    part = error.text[start : min(end, start + _SHOWN)]
    return f"{first}, at column {start + 1}: {part!r}" if part else f"{first}, at the end"


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="targetspec", description="What a compiler compiles for: read, compare and list targets."
    )
    parser.add_argument("--version", action="version", version=f"targetspec {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add_host(commands)
    _add_parse(commands)
    _add_compare(commands)
    _add_list(commands)
    return parser


def _command(commands: Any, name: str, run: Callable[[argparse.Namespace], int], words: str) -> Any:
    command = commands.add_parser(name, help=words, description=f"{words[0].upper()}{words[1:]}.")
    command.set_defaults(run=run)
    command.add_argument("--json", action="store_true", help=_JSON_HELP)
    return command


def _add_host(commands: Any) -> None:
    _command(commands, "host", _host, "print the target that this machine is")


def _add_parse(commands: Any) -> None:
    command = _command(commands, "parse", _parse, "read a target and print it in our own form")
    command.add_argument("text", metavar="TEXT", help=_TEXT_HELP)
    command.add_argument(
        "--from", dest="dialect", default="auto", metavar="DIALECT", help="the text's dialect"
    )


def _add_compare(commands: Any) -> None:
    words = "say whether what was built for A can be used on B; exit status 0 yes, 1 no, 3 unknown"
    command = _command(commands, "compare", _compare, words)
    command.add_argument("built_for", metavar="A", help=_TEXT_HELP)
    command.add_argument("run_on", metavar="B", help=_TEXT_HELP)
    command.add_argument(
        "--purpose", default="code", choices=PURPOSES, help="what the use is (default: code)"
    )
    bridges = f"a layer that B has beside: {', '.join(BRIDGES)}; may be repeated"
    command.add_argument(
        "--bridge",
        action="append",
        default=[],
        dest="bridges",
        choices=BRIDGES,
        metavar="BRIDGE",
        help=bridges,
    )


def _add_list(commands: Any) -> None:
    command = _command(commands, "list", _list, "list the names that there are")
    command.add_argument("what", choices=sorted(_LISTS), metavar="WHAT", help=", ".join(sorted(_LISTS)))
    arch = "an architecture, or the table of several (x86); all where it is not stated"
    command.add_argument("--arch", metavar="ARCH", help=arch)


def _host(arguments: argparse.Namespace) -> int:
    target = detect_host()
    _print_json(target.to_dict()) if arguments.json else print(target)
    return 0


def _parse(arguments: argparse.Namespace) -> int:
    parsed = parse_full(_text(arguments.text), arguments.dialect)
    if arguments.json:
        leftovers, target = list(parsed.leftovers), parsed.target.to_dict()
        _print_json({"dialect": parsed.dialect, "leftovers": leftovers, "target": target})
        return 0
    print(parsed.target)
    if parsed.leftovers:
        print(f"left over: {' '.join(parsed.leftovers)}")
    return 0


def _compare(arguments: argparse.Namespace) -> int:
    if arguments.built_for == arguments.run_on == "-":
        raise _UsageError("only one of the two targets can be read from standard input")
    built_for, run_on = _target(arguments.built_for), _target(arguments.run_on)
    verdict = built_for.compatible(run_on, purpose=arguments.purpose, bridges=arguments.bridges)
    _print_json(_verdict_document(verdict)) if arguments.json else print(verdict)
    return _EXIT_OF[verdict.answer]


def _verdict_document(verdict: Verdict) -> dict[str, Any]:
    reasons = [
        attrs.asdict(reason, filter=lambda field, _: field.name != "repair") for reason in verdict.reasons
    ]
    return {"answer": verdict.answer, "purpose": verdict.purpose, "reasons": reasons}


def _list(arguments: argparse.Namespace) -> int:
    names = _LISTS[arguments.what](arguments.arch)
    _print_json(names) if arguments.json else print("\n".join(names))
    return 0


def _names_by_family(names_of: Callable[[str], Iterable[str]]) -> Callable[[str | None], list[str]]:
    def listed(arch: str | None) -> list[str]:
        return sorted({name for family in _families(arch) for name in names_of(family)})

    return listed


def _families(arch: str | None) -> tuple[str, ...]:
    if arch is None or arch in family_names():
        return family_names() if arch is None else (arch,)
    family = Triple.parse(arch).family
    if family not in family_names():
        raise _UsageError(
            f"no table of CPUs and features for {arch!r}; there are {', '.join(family_names())}"
        )
    return (family,)


def _without_arch(names_of: Callable[[], Iterable[str]]) -> Callable[[str | None], list[str]]:
    def listed(arch: str | None) -> list[str]:
        if arch is not None:
            raise _UsageError("--arch goes with cpus and features only")
        return list(names_of())

    return listed


_LISTS: dict[str, Callable[[str | None], list[str]]] = {
    "kinds": _without_arch(registry.kind_names),
    "dialects": _without_arch(registry.dialect_names),
    "cpus": _names_by_family(cpu_names),
    "features": _names_by_family(feature_names),
}


def _target(argument: str) -> Target:
    return parse(_text(argument))


def _text(argument: str) -> str:
    return _stream(sys.stdin, "input").read() if argument == "-" else argument


def _print_json(document: Any) -> None:
    print(json.dumps(document, indent=2, sort_keys=True))
