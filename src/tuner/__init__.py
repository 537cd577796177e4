"""Tune LLVM kernels for exact targets: search, measure, and keep what was found.

Every public name is loaded when it is first used, so that an import, as each worker does one, stays cheap.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tuner import kernels
    from tuner.database import Database
    from tuner.errors import (
        DatabaseError,
        KernelError,
        ProblemError,
        RecordError,
        SearchError,
        SpaceError,
        TargetMismatchError,
        TravelError,
        TunerError,
        WorkerStartError,
    )
    from tuner.executors import Local, Replay
    from tuner.kernel import Kernel, Work
    from tuner.record import Outcome, Record
    from tuner.search import Search
    from tuner.session import Result, tune
    from tuner.space import Space

__all__ = [
    "Database",
    "DatabaseError",
    "Kernel",
    "KernelError",
    "Local",
    "Outcome",
    "ProblemError",
    "Record",
    "RecordError",
    "Replay",
    "Result",
    "Search",
    "SearchError",
    "Space",
    "SpaceError",
    "TargetMismatchError",
    "TravelError",
    "TunerError",
    "Work",
    "WorkerStartError",
    "kernels",
    "tune",
]

_HOMES = {
    "Database": "database",
    "Kernel": "kernel",
    "Local": "executors",
    "Outcome": "record",
    "Record": "record",
    "Replay": "executors",
    "Result": "session",
    "Search": "search",
    "Space": "space",
    "Work": "kernel",
    "tune": "session",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'tuner' has no attribute {name!r}")
    if name == "kernels":
        return importlib.import_module("tuner.kernels")
    value = getattr(importlib.import_module(f"tuner.{_HOMES.get(name, 'errors')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
