"""What the commands read: options' values, kernels by name, and the records' file."""

from __future__ import annotations

import argparse
import difflib
import importlib
import os
import sys
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any, NoReturn

from tuner import record_checks
from tuner.asking import Asker
from tuner.database import Database
from tuner.errors import DatabaseError, KernelError, ProblemError, RecordError
from tuner.kernel import Kernel, Work
from tuner.kernels import KERNELS, PROBLEMS
from tuner.store_place import default_path
from tuner.values import shown

FOUND, NOTHING, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130


class InputError(Exception):
    """Bad input that no library error stands for."""


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are errors of one line."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong in one line."""
        raise InputError(f"{message} (see {self.prog} --help)")


def say(text: str) -> None:
    """Write a line to standard output, what its encoding lacks as escapes."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")


def complain(message: str) -> None:
    """Write a line to standard error."""
    sys.stderr.write(f"tuner: {message}\n")


def add_command(commands: Any, name: str, run: Callable[..., int], text: str) -> argparse.ArgumentParser:
    """Add a command that `run` carries out."""
    command: argparse.ArgumentParser = commands.add_parser(
        name, help=text, description=text, allow_abbrev=False
    )
    command.set_defaults(run=run)
    return command


def add_database(command: argparse.ArgumentParser) -> None:
    """Add the option that names the records' file."""
    command.add_argument("--database", type=Path, metavar="FILE", help="the records' file")


def open_database(path: Path | None, *, create: bool = False, read_only: bool = False) -> Database:
    """Open the records' file, by default that of the user; it is made only where `create` says so."""
    place = default_path() if path is None else path
    if not create:
        return Database(place, create=False, read_only=read_only)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DatabaseError(str(place), f"its folder cannot be made: {error.strerror}") from error
    return Database(place)


def take_each(paths: Iterable[Path], database: Path | None, take: Callable[[Database, Path], object]) -> bool:
    """Have each file that is there added to the records, and tell whether all could be; the others are complained of.

    Nothing is made for files of which none is there. What is wrong with the records' own file is raised.
    """
    stated = list(paths)
    there = [path for path in stated if _is_there(path)]
    if not there:
        return False
    with open_database(database, create=True) as store:
        taken = [path for path in there if _is_taken(store, path, take)]
    return len(taken) == len(stated)


def _is_there(path: Path) -> bool:
    try:
        path.stat()
    except OSError as error:
        absent = isinstance(error, FileNotFoundError | NotADirectoryError)
        complain(f"{path}: cannot be read: {'there is no such file' if absent else error.strerror}")
        return False
    return True


def _is_taken(store: Database, path: Path, take: Callable[[Database, Path], object]) -> bool:
    try:
        take(store, path)
    except DatabaseError as error:
        if error.path == store.path:
            raise
        complain(str(error))
    except RecordError as error:
        complain(f"{path}: {error}")
    else:
        return True
    return False


def is_missing(path: Path | None) -> str:
    """Return the path of the records' file where there is none, else nothing."""
    place = default_path() if path is None else path
    return "" if os.path.lexists(place) else str(place)


_DIGITS = 18  # what 64 bits hold, whatever the digits are


def count(least: int) -> Callable[[str], int]:
    """Return a reader of whole numbers from `least`."""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS and int(text) >= least):
            most = f" of at most {_DIGITS} digits" if len(text) > _DIGITS else ""
            raise argparse.ArgumentTypeError(f"must be a whole number from {least}{most}, got {shown(text)}")
        return int(text)

    return read


def seconds(text: str) -> float:
    """Read a number of seconds."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number of seconds above 0, got {text!r}")
    return value


def read_pairs(text: str) -> dict[str, int | float | str]:
    """Read `m=512,n=512`."""
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


def read_task(kernel: Kernel, options: argparse.Namespace) -> tuple[dict[str, Any], Work | None]:
    """Return the problem that is stated, as records hold it, and the work of one call; ProblemError where it is none."""
    try:
        problem = dict(record_checks.problem(_stated_problem(options)))
    except RecordError as error:
        raise ProblemError(f"{kernel.name}: {error}") from error
    with closing(Asker()) as asker:
        return problem, asker.work(kernel, problem)


def _stated_problem(options: argparse.Namespace) -> dict[str, Any]:
    """Return the problem that is stated, or the bundled kernel's own."""
    problem = options.problem or PROBLEMS.get(options.kernel)
    if problem is None:
        raise InputError(f"{options.kernel}: state the problem, such as --problem n=1024")
    return dict(problem)


def find_kernel(name: str) -> Kernel:
    """Return a bundled kernel, or the one that `module:attribute` names."""
    if ":" in name:
        return _imported(name)
    if name in KERNELS:
        return KERNELS[name]
    near = difflib.get_close_matches(name, list(KERNELS), 3) or list(KERNELS)
    raise InputError(f"unknown kernel {name!r}; did you mean {' or '.join(near)}? (or give module:attribute)")


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
        raise InputError(f"cannot load the kernel {name!r}: {told}") from error
    if not isinstance(found, Kernel):
        raise KernelError(f"{name!r} is no tuner.Kernel but {type(found).__name__}")
    return found
