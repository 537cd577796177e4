"""The command `tuner`: exit status 0 done, 1 nothing found or something refused, 2 bad input, 130 interrupted."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from targetspec import TargetspecError, TargetSyntaxError
from tuner import cli_files, cli_store, cli_tuning
from tuner.cli_input import BAD_INPUT, INTERRUPTED, InputError, Parser, complain
from tuner.errors import TunerError
from tuner.progress import Progress


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    progress = Progress.of("auto")
    try:
        options = _parser().parse_args(arguments)
        status = int(options.run(options, progress))
        sys.stdout.flush()
    except KeyboardInterrupt:
        progress.end()
        complain(_interruption(progress))
        return INTERRUPTED
    except BrokenPipeError:
        _leave_output()
        return 0
    except (InputError, TunerError, TargetspecError, ValueError, TypeError) as error:
        progress.end()
        complain(_in_one_line(error))
        return BAD_INPUT
    except OSError as error:
        progress.end()
        complain(f"{error.filename or 'the output'} cannot be written or read: {error.strerror or error}")
        if error.filename is None:
            _leave_output()
        return BAD_INPUT
    return status


def _leave_output() -> None:
    # What is left in the buffer would fail once more while the interpreter ends.
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115


def _interruption(progress: Progress) -> str:
    if not progress.total:
        return "interrupted"
    told = "their records are kept, and the same command goes on from there"
    return f"interrupted after {progress.done} of {progress.total} trials; {told}"


def _in_one_line(error: Exception) -> str:
    if isinstance(error, TargetSyntaxError):
        return f"{error.text!r}: {error.message}{f' ({error.hint})' if error.hint else ''}"
    return "; ".join(line.strip() for line in str(error).splitlines() if line.strip())


def _parser() -> Parser:
    parser = Parser(prog="tuner", description="Tune LLVM kernels for exact targets.", allow_abbrev=False)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for module in (cli_tuning, cli_store, cli_files):
        module.add(commands)
    return parser
