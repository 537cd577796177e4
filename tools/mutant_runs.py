"""Run tests against a module with another source, in a child that has all else imported already.

Tests are called as they are, without pytest's collection: each is a function, with the values of its marks
`parametrize`. Those that take fixtures are left out, and those of premises, which are tests of the tests.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import itertools
import signal
import sys
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from multiprocessing.connection import Connection
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any, NamedTuple

from _pytest.mark.structures import ParameterSet
from _pytest.outcomes import Skipped

_OURS = ("targetspec", "test_", "strategies_", "relation_")


class Case(NamedTuple):
    """One call of a test: its module, its name, and which of its parameters."""

    module: str
    test: str
    at: int

    def __str__(self) -> str:
        return f"{self.module}.py::{self.test}[{self.at}]"


class _Changed(SourceFileLoader):
    """Loads a module from a source that is not in its file."""

    def __init__(self, name: str, place: str, source: str) -> None:
        super().__init__(name, place)
        self._source = source

    def get_code(self, fullname: str) -> CodeType:
        return compile(self._source, self.get_filename(fullname), "exec", dont_inherit=True)


class _Finder:
    """Finds the one module that has another source."""

    def __init__(self, name: str, place: Path, source: str) -> None:
        self._name, self._place, self._source = name, str(place), source

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:  # noqa: ARG002
        if name != self._name:
            return None
        loader = _Changed(name, self._place, self._source)
        return importlib.util.spec_from_file_location(name, self._place, loader=loader)


def preload(tests: Iterable[str]) -> None:
    """Import what the tests import, and forget the modules that a change may reach."""
    for name in tests:
        importlib.import_module(name)
    for name in [name for name in sys.modules if name.startswith(_OURS)]:
        del sys.modules[name]


def measure(sender: Connection, tests: Sequence[str]) -> None:
    """Send the seconds that each case takes; in place of them what is wrong where one fails without any change."""
    took: dict[Case, float] = {}
    _settle()
    for name in tests:
        for case, call in _cases(importlib.import_module(name)).items():
            began = time.perf_counter()
            if not _passes(call):
                sender.send(f"without a change {case} fails already")
                return
            took[case] = time.perf_counter() - began
    sender.send(took)


def killer(
    sender: Connection, module: str, place: Path, source: str, order: Sequence[Case], seconds: int
) -> None:
    """Send, of the cases in order, the first that fails with a changed source, or what else went wrong; "" if nothing."""
    sys.meta_path.insert(0, _Finder(module, place, source))
    _settle()
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(seconds)
    try:
        sender.send(next(_failures(order), ""))
    except _TooLongError:
        sender.send("time")


class _TooLongError(BaseException):
    """The tests take far longer than without the change."""


def _too_long(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - what a handler is given
    raise _TooLongError


def _settle() -> None:
    warnings.simplefilter("error")


def _failures(order: Sequence[Case]) -> Iterator[Case | str]:
    known: dict[str, Mapping[Case, Any]] = {}
    for case in order:
        if case.module not in known:
            try:
                known[case.module] = _cases(importlib.import_module(case.module))
            except Exception:  # noqa: BLE001 - whatever a changed source does
                yield f"import of {case.module}"
                return
        if case in known[case.module] and not _passes(known[case.module][case]):
            yield case


def _passes(call: Any) -> bool:
    try:
        call()
    except Skipped:
        return True
    except Exception:  # noqa: BLE001 - whatever a test finds, or a changed source does
        return False
    return True


def _cases(module: ModuleType) -> dict[Case, Any]:
    return {
        Case(module.__name__, name, at): call
        for name, test in vars(module).items()
        if name.startswith("test_") and "premises" not in name and test.__module__ == module.__name__
        for at, call in enumerate(_calls(test))
    }


def _calls(test: Any) -> Iterator[Any]:
    """Yield a call of the test with each choice of its parameters; none where it takes more than these."""
    marks = [mark for mark in getattr(test, "pytestmark", ()) if mark.name == "parametrize"]
    choices = [[_named(mark.args[0], value) for value in mark.args[1]] for mark in marks]
    for chosen in itertools.product(*choices):
        arguments = {name: value for part in chosen for name, value in part.items()}
        if set(inspect.signature(test).parameters) == set(arguments):
            yield lambda arguments=arguments: test(**arguments)


def _named(names: str | Sequence[str], value: Any) -> dict[str, Any]:
    listed = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    values = value.values if isinstance(value, ParameterSet) else value if len(listed) > 1 else (value,)
    return dict(zip(listed, values, strict=True))
