"""Tune LLVM kernels for exact targets: search, measure, and keep what was found.

Every public name is loaded when it is first used, so that an import, as each worker does one, stays cheap.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tuner import kernels
    from tuner.database import Database
    from tuner.deployment import Choice
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
    from tuner.explanation import Explanation, Obstacle
    from tuner.interchange.files import Imported, export_records, import_records
    from tuner.kernel import Kernel, Work
    from tuner.record import Outcome, Record
    from tuner.schemas import record_schema
    from tuner.search import Search
    from tuner.session import Result, tune
    from tuner.space import Space
    from tuner.store_runs import RunInfo

__all__ = [
    "Choice",
    "Database",
    "DatabaseError",
    "Explanation",
    "Imported",
    "Kernel",
    "KernelError",
    "Local",
    "Obstacle",
    "Outcome",
    "ProblemError",
    "Record",
    "RecordError",
    "Replay",
    "Result",
    "RunInfo",
    "Search",
    "SearchError",
    "Space",
    "SpaceError",
    "TargetMismatchError",
    "TravelError",
    "TunerError",
    "Work",
    "WorkerStartError",
    "export_records",
    "import_records",
    "kernels",
    "record_schema",
    "tune",
]

_HOMES = {
    "Choice": "deployment",
    "Database": "database",
    "Explanation": "explanation",
    "Imported": "interchange.files",
    "Kernel": "kernel",
    "Local": "executors",
    "Obstacle": "explanation",
    "Outcome": "record",
    "Record": "record",
    "Replay": "executors",
    "Result": "session",
    "RunInfo": "store_runs",
    "Search": "search",
    "Space": "space",
    "Work": "kernel",
    "export_records": "interchange.files",
    "import_records": "interchange.files",
    "record_schema": "schemas",
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
