"""Logs of TVM: AutoTVM's, versions 0.1 and 0.2, and MetaSchedule's database of workloads and tuning records.

Both have one JSON document a line. A schedule is kept whole, as the text `schedule` of the configuration: it means
nothing to our kernels. Nothing of it is decoded or run.

Source: TVM's writers, `autotvm/record.py` and `meta_schedule/database`.
"""

from __future__ import annotations

import functools
import hashlib
import io
import itertools
from array import array
from collections.abc import Iterator
from typing import Any

from tuner.errors import RecordError
from tuner.interchange.line_by_line import Found, Line, by_line, lines
from tuner.interchange.origin import (
    Measured,
    Origin,
    mapping,
    moment,
    seconds,
    sequence,
    text,
    tvm_target,
)
from tuner.record import Record
from tuner.values import canonical, read_json, shown

COMMENT = "#"
"""How a line of a log begins that says something to people only, as the first ones of published logs do."""

# AutoTVM's numbers of errors, by what they say of the trial.
_ERRORS = {
    1: ("error", "emit", "INSTANTIATION_ERROR"),
    2: ("error", "compile", "COMPILE_HOST"),
    3: ("error", "compile", "COMPILE_DEVICE"),
    4: ("error", "run", "RUNTIME_DEVICE"),
    5: ("wrong", "check", "WRONG_ANSWER"),
    6: ("timeout", "compile", "BUILD_TIMEOUT"),
    7: ("timeout", "run", "RUN_TIMEOUT"),
    8: ("error", "run", "UNKNOWN_ERROR"),
}
# What both write where there is no time: 1e9 and 1e10 seconds.
_NEVER = 1e9
# Characters of the shortest line with a record in it.
_LEAST_OF_LOG = len('{"i":["c","a",0,0,0,{}],"r":[[],0,0,0],"v":0.1}')
_LEAST_OF_DATABASE = len('[0,[0,[],"c"]]')
_STRIDE = 64  # of so many workloads, where the first begins is held
_KNOWN = 4096  # workloads held; a database has tens to hundreds
_LONGEST = 100  # characters of a structural hash, which are twenty digits at most


def _autotvm_record(line: str, origin: Origin) -> Record:
    """Read one line of an AutoTVM log."""
    document = mapping("$", read_json(line))
    version = document.get("version", document.get("v"))
    if version == 0.2:  # noqa: PLR2004 - what TVM writes since 0.7
        inputs, result = sequence("$.input", document.get("input"), 3), document.get("result")
        config = mapping("$.config", document.get("config"))
        toolchain = f"TVM {text('$.tvm_version', document.get('tvm_version'))}"
    elif version == 0.1:  # noqa: PLR2004 - what TVM 0.4 to 0.6 wrote
        inputs, result = sequence("$.i", document.get("i"), 6), document.get("r")
        config, toolchain = mapping("$.i[5]", inputs[5]), "TVM"
    elif type(version) is str:
        raise RecordError("$.v", f"is {version!r}: a log of TVM's auto_scheduler, which is not read")
    else:
        raise RecordError("$.version", f"must be 0.1 or 0.2, got {shown(version)}")
    times = sequence("$.result", result, 4)
    kernel = text("$.input[1]", inputs[1])
    return origin.record(
        kernel=kernel,
        identity="",
        target=tvm_target("$.input[0]", inputs[0]),
        problem={"args": canonical(inputs[2])} | _kwargs(inputs),
        config={"schedule": canonical(config)},
        measured=_autotvm_measured(times),
        toolchain=toolchain,
        created=moment("$.result[3]", times[3]),
    )


def _kwargs(inputs: list[Any]) -> dict[str, str]:
    stated = inputs[3] if len(inputs) > 3 else {}  # noqa: PLR2004 - target, task, arguments, keywords
    return {"kwargs": canonical(stated)} if stated else {}


def _autotvm_measured(result: list[Any]) -> Measured:
    costs, error = sequence("$.result[0]", result[0]), result[1]
    if type(error) is not int or not 0 <= error <= max(_ERRORS):
        raise RecordError(
            "$.result[1]", f"must be an error number from 0 to {max(_ERRORS)}, got {shown(error)}"
        )
    if error:
        kind, stage, name = _ERRORS[error]
        told = ": ".join([name, *(str(cost) for cost in costs[:1] if type(cost) is str)])
        return Measured.failed(kind, stage, told)
    return _times("$.result[0]", costs)


def _times(path: str, costs: list[Any]) -> Measured:
    times = tuple(seconds(f"{path}[{place}]", cost) for place, cost in enumerate(costs))
    if not times or min(times) >= _NEVER:
        return Measured.failed("error", "run", "no time was measured")
    return Measured.good(times)


def read_autotvm(file: io.BufferedReader, origin: Origin) -> Iterator[Found]:
    """Read a log line by line."""
    return by_line(file, lambda line: _autotvm_record(line.text, origin), _LEAST_OF_LOG, COMMENT)


class Workloads:
    """The workloads of a MetaSchedule database by their place; memory stays flat however many there are."""

    def __init__(self, file: io.BufferedReader) -> None:
        self._file = file
        self._starts = array("Q")
        self._count = 0
        for start, _ in _full_lines(file, 0):
            if self._count % _STRIDE == 0:
                self._starts.append(start)
            self._count += 1
        self._read = functools.lru_cache(maxsize=_KNOWN)(self._workload)

    def __len__(self) -> int:
        return self._count

    def get(self, place: Any) -> tuple[str, str] | None:
        """Return the structural hash of a workload, and a digest of its module; None where there is none to read."""
        return self._read(place) if type(place) is int and 0 <= place < self._count else None

    def _workload(self, place: int) -> tuple[str, str] | None:
        following = _full_lines(self._file, self._starts[place // _STRIDE])
        _, line = next(itertools.islice(following, place % _STRIDE, None))
        try:
            shash, module = sequence("$", read_json(line.text), 2)[:2]
        except RecordError:
            return None
        told = str(shash)
        return (
            (told, hashlib.sha256(canonical(module).encode()).hexdigest()) if len(told) <= _LONGEST else None
        )


def _full_lines(file: io.BufferedReader, start: int) -> Iterator[tuple[int, Line]]:
    """Go through the lines that are not blank, each with where it begins."""
    file.seek(start)
    for line in lines(file):
        if line.text or line.fault:
            yield start, line
        start = file.tell()


def read_metaschedule(file: io.BufferedReader, origin: Origin, workloads: Workloads) -> Iterator[Found]:
    """Read the tuning records line by line."""
    return by_line(file, lambda line: _metaschedule_record(line.text, origin, workloads), _LEAST_OF_DATABASE)


def _metaschedule_record(line: str, origin: Origin, workloads: Workloads) -> Record:
    place, parts = sequence("$", read_json(line), 2)[:2]
    trace, times, target, *rest = sequence("$[1]", parts, 3)
    known = workloads.get(place)
    if known is None:
        raise RecordError(
            "$[0]",
            f"must be the place of a workload that can be read, of {len(workloads)}, got {shown(place)}",
        )
    shash, identity = known
    return origin.record(
        kernel=f"metaschedule {shash}",
        identity=identity,
        target=tvm_target("$[1][2]", target),
        problem={"args": canonical(rest[0])} if rest and rest[0] is not None else {},
        config={"schedule": canonical(trace)},
        measured=_times("$[1][1]", [] if times is None else sequence("$[1][1]", times)),
        toolchain="TVM MetaSchedule",
    )
