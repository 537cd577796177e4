"""The command `targetspec`: texts, files, the relation, this machine, and the names that there are."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from typing import TextIO

from targetspec import __version__
from targetspec.commands import documents, listing, relation, texts
from targetspec.commands.command import BAD_INPUT, FINE, Output, Parser, UsageError, open_stream
from targetspec.errors import NotRepresentableError, TargetspecError

_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status, which is 2 for bad input."""
    try:
        arguments = _parser().parse_args(argv)
        output: Output = arguments.run(arguments)
        _print(output, arguments.json)
    except BrokenPipeError:
        return FINE
    except (TargetspecError, UsageError, OSError, UnicodeError) as error:
        _complain(_one_line(error))
        return BAD_INPUT
    except KeyboardInterrupt:
        return _INTERRUPTED
    if output.remark:
        _complain(output.remark)
    return output.status


def _print(output: Output, as_json: bool) -> None:
    stream = open_stream(sys.stdout, "output")
    text = json.dumps(output.document, indent=2, sort_keys=True) if as_json else "\n".join(output.lines)
    try:
        if text:
            print(_writable(text, stream), file=stream)
        stream.flush()
    except OSError:
        _forget(stream)
        raise


def _writable(text: str, stream: TextIO) -> str:
    """Return a text with what the stream's encoding lacks as escapes: lone surrogates, and most letters in ASCII."""
    encoding = stream.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def _complain(message: str) -> None:
    if sys.stderr is not None:
        print(f"targetspec: {message}", file=sys.stderr)


def _forget(stream: TextIO) -> None:
    """Let nothing more be written while the interpreter ends, for the reader has gone or the disk is full."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _one_line(error: Exception) -> str:
    if isinstance(error, NotRepresentableError):
        return texts.one_line(error).replace("lossy=True", "--lossy")
    return texts.one_line(error)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="targetspec", description="What a compiler compiles for: read, check, compare and list targets."
    )
    parser.add_argument("--version", action="version", version=f"targetspec {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for module in (texts, relation, documents, listing):
        module.add(commands)
    return parser
