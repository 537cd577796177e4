"""The command `tuner`: exit status 0 done, 1 nothing found, 2 bad input, 130 interrupted."""

from __future__ import annotations

import argparse
import difflib
import importlib
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import targetspec
from targetspec import TargetspecError, TargetSyntaxError
from tuner import report
from tuner.comparison import compare
from tuner.database import Database
from tuner.errors import DatabaseError, KernelError, TunerError
from tuner.executors import fingerprint_apart
from tuner.kernel import Kernel
from tuner.kernels import KERNELS, PROBLEMS
from tuner.progress import Progress
from tuner.record import Record
from tuner.session import Result, read_problem, runnable, tune
from tuner.spawning import START_METHODS
from tuner.store_place import default_path
from tuner.strategies import STRATEGIES

_NOTHING, _BAD_INPUT, _INTERRUPTED = 1, 2, 130


class _InputError(Exception):
    """Bad input that no library error stands for."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Say what is wrong in one line."""
        raise _InputError(f"{message} (see {self.prog} --help)")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    progress = Progress.of("auto")
    try:
        options = _parser().parse_args(arguments)
        return int(options.run(options, progress))
    except KeyboardInterrupt:
        progress.end()
        _complain(_interruption(progress))
        return _INTERRUPTED
    except BrokenPipeError:
        sys.stdout = None
        return 0
    except (_InputError, TunerError, TargetspecError, ValueError, TypeError) as error:
        progress.end()
        _complain(_in_one_line(error))
        return _BAD_INPUT


def _complain(message: str) -> None:
    print(f"tuner: {message}", file=sys.stderr)


def _interruption(progress: Progress) -> str:
    if not progress.total:
        return "interrupted"
    return f"interrupted after {progress.done} of {progress.total} trials; their records are kept"


def _in_one_line(error: Exception) -> str:
    if isinstance(error, TargetSyntaxError):
        return f"{error.text!r}: {error.message}{f' ({error.hint})' if error.hint else ''}"
    return "; ".join(line.strip() for line in str(error).splitlines() if line.strip())


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="tuner", description="Tune LLVM kernels for exact targets.", allow_abbrev=False)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _command(commands, "kernels", _kernels, "list the bundled kernels")
    tuning = _command(commands, "tune", _tune, "find the fastest configuration, or the record that has it")
    _add_kernel(tuning)
    tuning.add_argument("--budget", type=_count(1), default=64, metavar="N", help="trials at most (64)")
    tuning.add_argument(
        "--start-method", choices=START_METHODS, default="spawn", help="how workers start (spawn)"
    )
    tuning.add_argument("--workers", type=_count(1), metavar="N", help="how many compile at a time")
    tuning.add_argument(
        "--strategy", choices=tuple(STRATEGIES), default="default", help="the search strategy"
    )
    tuning.add_argument(
        "--seed", type=_count(0), default=0, metavar="N", help="what the search starts from (0)"
    )
    tuning.add_argument("--time-limit", type=_seconds, metavar="S", help="seconds for the trials")
    tuning.add_argument("--fresh", action="store_true", help="tune even where there is a record")
    _add_kernel(_command(commands, "best", _best, "show the best record for a target"))
    records = _command(commands, "records", _records, "list the records")
    records.add_argument("--database", type=Path, metavar="FILE", help="the records' file")
    return parser


def _command(commands: Any, name: str, run: Callable[..., int], text: str) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(
        name, help=text, description=text, allow_abbrev=False
    )
    command.set_defaults(run=run)
    return command


def _add_kernel(command: argparse.ArgumentParser) -> None:
    command.add_argument("kernel", metavar="KERNEL", help="a bundled kernel's name, or module:attribute")
    command.add_argument("--problem", type=_problem, metavar="m=512,n=512,k=512", help="what to solve")
    command.add_argument("--target", metavar="TEXT", help="what to compile for (this machine)")
    command.add_argument("--database", type=Path, metavar="FILE", help="the records' file")
    command.add_argument("--json", action="store_true", help="print JSON")


def _count(least: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and int(text) >= least):
            raise argparse.ArgumentTypeError(f"must be a whole number from {least}, got {text!r}")
        return int(text)

    return read


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number of seconds above 0, got {text!r}")
    return value


def _problem(text: str) -> dict[str, int | float | str]:
    problem: dict[str, int | float | str] = {}
    for part in text.split(","):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not (name and equals and value):
            raise argparse.ArgumentTypeError(
                f"must be name=value pairs such as m=512,n=512,k=512, got {text!r}"
            )
        if name in problem:
            raise argparse.ArgumentTypeError(f"states {name!r} twice")
        problem[name] = _value(value)
    return problem


def _value(text: str) -> int | float | str:
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text


def _kernels(options: argparse.Namespace, progress: Progress) -> int:  # noqa: ARG001 - as every command
    for name, kernel in KERNELS.items():
        problem = PROBLEMS.get(name)
        note = f", by default for {report.pairs(problem)}" if problem else ""
        print(f"{name}: {len(kernel.space)} configurations of {', '.join(kernel.space.parameters)}{note}")
    return 0


def _tune(options: argparse.Namespace, progress: Progress) -> int:
    kernel = _kernel(options.kernel)
    problem = read_problem(kernel, _stated_problem(options))
    target = runnable(options.target)
    work = kernel.work_of(problem)
    with _database(options.database) as database:
        known = None if options.fresh else _found(options, database, kernel, problem, target)
        if known is not None:
            note = f"found the record for this very target in {database.path}; --fresh tunes anew"
            return _show(
                options, report.document(known, work, found=True), [note, *report.describe_best(known, work)]
            )
        result = tune(
            kernel, problem, target, options.budget, options.workers, options.start_method, database,
            strategy=options.strategy, seed=options.seed, time_limit=options.time_limit, progress=progress,
        )  # fmt: skip
        return _present(options, kernel, result, database.path)


def _present(options: argparse.Namespace, kernel: Kernel, result: Result, path: str) -> int:
    if result.best is None:
        kinds = report.failures(result.records)
        _complain(
            f"none of {len(result.records)} trials succeeded: {'; '.join(kinds[:3]) or 'there was no time'}"
        )
        return _NOTHING
    best, work = result.best, kernel.work_of(dict(result.best.problem))
    no_plain = result.baseline is None or result.baseline.cost is None
    comparison = compare(kernel, dict(best.problem), result.target, best.config, plain=not no_plain)
    lines = [
        *report.describe_best(best, work)[:3],
        *report.describe_comparison(comparison, work),
        *report.describe_failure("plain -O3 loop", result.baseline),
        *report.describe_trials(result),
        report.line("record", f"run {best.run} in {path}"),
    ]
    more = {
        "trials": report.outcomes(result.records),
        "trials_per_second": report.trials_per_second(result.records),
        "separated": result.separated,
        "database": path,
    }
    return _show(options, report.document(best, work, found=False, comparison=comparison, **more), lines)


def _best(options: argparse.Namespace, progress: Progress) -> int:  # noqa: ARG001 - as every command
    kernel = _kernel(options.kernel)
    problem = read_problem(kernel, _stated_problem(options))
    # Looking up does not need a machine that runs it.
    target = targetspec.detect_host() if options.target is None else targetspec.parse(options.target)
    with _database(options.database) as database:
        record = _found(options, database, kernel, problem, target)
        if record is None:
            _complain(f"no record of {report.problem(kernel.name, problem)} for {target} in {database.path}")
            return _NOTHING
        work = kernel.work_of(problem)
        return _show(options, report.document(record, work, found=True), report.describe_best(record, work))


def _records(options: argparse.Namespace, progress: Progress) -> int:  # noqa: ARG001 - as every command
    with _database(options.database) as database:
        for record in database.records():
            print(report.row(record))
    return 0


def _found(
    options: argparse.Namespace,
    database: Database,
    kernel: Kernel,
    problem: Mapping[str, Any],
    target: targetspec.Target,
) -> Record | None:
    """Look up the record; a kernel that is not ours emits in a worker, as it may print, hang or die."""
    fingerprint = None
    if kernel.name not in KERNELS or kernel is not KERNELS[kernel.name]:
        done = fingerprint_apart(kernel, target, problem, getattr(options, "start_method", "spawn"))
        if done.failure is not None and done.failure.kind == "error":
            raise KernelError(str(done.failure.cause))
        if done.failure is not None:
            return None  # so it goes by no fingerprint in the records either
        fingerprint = done.value
    return database.lookup(kernel, problem, target, fingerprint=fingerprint)


def _show(options: argparse.Namespace, document: Mapping[str, Any], lines: Sequence[str]) -> int:
    print(json.dumps(document, indent=2) if options.json else "\n".join(lines))
    return 0


def _database(path: Path | None) -> Database:
    place = default_path() if path is None else path
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DatabaseError(str(place), f"its folder cannot be made: {error.strerror}") from error
    return Database(place)


def _stated_problem(options: argparse.Namespace) -> dict[str, Any]:
    problem = options.problem or PROBLEMS.get(options.kernel)
    if problem is None:
        raise _InputError(f"{options.kernel}: state the problem, such as --problem n=1024")
    return dict(problem)


def _kernel(name: str) -> Kernel:
    if ":" in name:
        return _imported(name)
    if name in KERNELS:
        return KERNELS[name]
    near = difflib.get_close_matches(name, list(KERNELS), 3) or list(KERNELS)
    raise _InputError(
        f"unknown kernel {name!r}; did you mean {' or '.join(near)}? (or give module:attribute)"
    )


def _described(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _imported(name: str) -> Kernel:
    module, _, attribute = name.partition(":")
    # The working directory counts, but behind all else: a file there must not hide a module that workers need.
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))
    try:
        found: Any = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (Exception, SystemExit) as error:
        told = str(error) if isinstance(error, ImportError | AttributeError) else _described(error)
        raise _InputError(f"cannot load the kernel {name!r}: {told}") from error
    if not isinstance(found, Kernel):
        raise KernelError(f"{name!r} is no tuner.Kernel but {type(found).__name__}")
    return found
