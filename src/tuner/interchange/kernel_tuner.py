"""Files of the auto-tuning community: Kernel Tuner's caches, and results in the T4 exchange format, in and out.

Both are one JSON document, read entry by entry; times are in milliseconds unless a T4 file says otherwise. They
name no target, and a T4 file names neither kernel nor problem: who imports one says what it is about.

Source: the schemas that Kernel Tuner publishes, cache 1.0.0 to 1.2.0 and T4 1.0.0.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, TextIO

from tuner.errors import RecordError
from tuner.interchange.json_stream import JsonStream, TooLongError
from tuner.interchange.line_by_line import Fault, Found
from tuner.interchange.origin import Measured, Origin, mapping, moment, plain, seconds, sequence, text
from tuner.record import Record
from tuner.values import canonical, read_json, shown

T4_VERSION = "1.0.0"

_MILLI = 1e3  # in a second; to divide by it rounds once
_UNITS = {
    "seconds": 1.0,
    "milliseconds": 1e3,
    "miliseconds": 1e3,  # as the format's own tools spell it
    "microseconds": 1e6,
    "nanoseconds": 1e9,
}
_AXES = "xyz"
_CACHE_HEAD = ("schema_version", "device_name", "kernel_name", "problem_size", "tune_params_keys")
_CACHE_FAILURES = {
    "InvalidConfig": ("error", "emit"),
    "CompilationFailedConfig": ("error", "compile"),
    "RuntimeFailedConfig": ("error", "run"),
}
_T4_FAILURES = {
    "timeout": ("timeout", "run"),
    "compile": ("error", "compile"),
    "runtime": ("error", "run"),
    "correctness": ("wrong", "check"),
    "constraints": ("error", "emit"),
}


def head(file: TextIO, wanted: Collection[str]) -> dict[str, Any]:
    """Return the members wanted of a document; of the others there may be any number, of any size."""
    stream = JsonStream(file)
    found: dict[str, Any] = {}
    for key in stream.members():
        if key not in wanted:
            _skip(stream)
        elif key in found:
            raise RecordError("$", f"must hold each key once, {key!r} is there twice")
        else:
            found[key] = stream.value()
    return found


def _skip(stream: JsonStream) -> None:
    try:
        stream.skip()
    except RecordError:
        return  # it breaks off within the entries, which is told where they are read


def read_cache(open_again: Callable[[], TextIO], origin: Origin) -> Iterator[Found]:
    """Read a cache of Kernel Tuner, closed or still open at its end."""
    with open_again() as file:
        about = head(file, _CACHE_HEAD)
    keys = [
        text("$.tune_params_keys", key)
        for key in sequence("$.tune_params_keys", about.get("tune_params_keys"))
    ]
    device = text("$.device_name", about.get("device_name"))
    target = origin.stated_target(device)
    named = about.get("kernel_name")
    kernel = origin.kernel if named is None and origin.kernel else text("$.kernel_name", named)
    version = about.get("schema_version", "without a version")
    size = about.get("problem_size")
    problem = origin.problem if size is None and origin.problem else _problem(size)

    def read(entry: Any) -> Record:
        members = mapping("$", entry)
        if missing := [key for key in keys if key not in members]:
            raise RecordError("$", f"must have the parameter {missing[0]!r}")
        return origin.record(
            kernel=kernel,
            identity="",
            target=target,
            problem=problem,
            config=plain({key: members[key] for key in keys}),
            measured=_cache_measured(members),
            toolchain=f"Kernel Tuner, cache {version}",
            created=moment("$.timestamp", members.get("timestamp")),
            quality={"device": device},
        )

    with open_again() as file:
        yield from _entries(JsonStream(file), "cache", read)


def _problem(size: Any) -> dict[str, Any]:
    """Return a problem of the size of a grid: its axes by name where they are numbers."""
    if type(size) is int:
        return {"x": size}
    if isinstance(size, list) and len(size) <= len(_AXES) and all(type(part) is int for part in size):
        return dict(zip(_AXES, size, strict=False))
    if size is None:
        raise RecordError(
            "$.problem_size", "is not in the file, as in those of old versions; state the problem"
        )
    return {"size": size if type(size) is str else canonical(size)}


def _cache_measured(entry: Mapping[str, Any]) -> Measured:
    time = entry.get("__error__", entry.get("time"))
    if type(time) is str:
        kind, stage = _CACHE_FAILURES.get(time, ("error", "run"))
        return Measured.failed(kind, stage, time)
    if time is None:
        raise RecordError(
            "$.time", "is missing: what was measured is no time, as with an objective of one's own"
        )
    times = _times("$.times", entry.get("times", [time]), _MILLI)
    return Measured.good(times, seconds("$.time", time, _MILLI))


def _times(path: str, values: Any, unit: float) -> tuple[float, ...]:
    listed = sequence(path, values, 1)
    return tuple(seconds(f"{path}[{place}]", value, unit) for place, value in enumerate(listed))


def read_t4(open_again: Callable[[], TextIO], origin: Origin) -> Iterator[Found]:
    """Read results in the T4 format."""
    with open_again() as file:
        about = head(file, ("schema_version", "metadata"))
    version = text("$.schema_version", about.get("schema_version"))
    if version.partition(".")[0] != "1":
        raise RecordError("$.schema_version", f"is {version}; what is read is {T4_VERSION}")
    metadata = mapping("$.metadata", about.get("metadata", {}))
    unit = _UNITS.get(str(metadata.get("timeunit", "milliseconds")))
    if unit is None:
        raise RecordError(
            "$.metadata.timeunit", f"must be one of {', '.join(_UNITS)}, got {shown(metadata['timeunit'])}"
        )
    target = origin.stated_target("")
    if origin.kernel is None or origin.problem is None:
        raise RecordError("$.kernel", "is not in the file, nor is the problem: T4 names neither; state both")
    kernel, problem = origin.kernel, origin.problem

    def read(entry: Any) -> Record:
        members = mapping("$", entry)
        return origin.record(
            kernel=kernel,
            identity="",
            target=target,
            problem=problem,
            config=plain(mapping("$.configuration", members.get("configuration"))),
            measured=_t4_measured(members, unit),
            toolchain=f"T4 {version}",
            created=moment("$.timestamp", members.get("timestamp")),
        )

    with open_again() as file:
        yield from _entries(JsonStream(file), "results", read)


def _t4_measured(entry: Mapping[str, Any], unit: float) -> Measured:
    verdict = entry.get("invalidity")
    if verdict in _T4_FAILURES:
        kind, stage = _T4_FAILURES[verdict]
        return Measured.failed(kind, stage, verdict)
    if verdict != "correct":
        raise RecordError(
            "$.invalidity", f'must be "correct" or one of {", ".join(_T4_FAILURES)}, got {shown(verdict)}'
        )
    runtimes = mapping("$.times", entry.get("times")).get("runtimes")
    stated = [
        seconds("$.measurements", one.get("value"), unit)
        for one in sequence("$.measurements", entry.get("measurements", []))
        if mapping("$.measurements", one).get("name") == "time"
    ]
    times = _times("$.times.runtimes", runtimes, unit) if runtimes else tuple(stated)
    if not times:
        raise RecordError("$.times.runtimes", "must hold a time, as the result is correct")
    return Measured.good(times, stated[0] if stated else None)


def _entries(stream: JsonStream, key: str, read: Callable[[Any], Record]) -> Iterator[Found]:
    """Read the entries of one member, which is an object or an array; what comes behind it is left."""
    number = 0
    try:
        for found in stream.members():
            if found != key:
                stream.skip()
                continue
            for _ in stream.members() if stream.peek() == "{" else stream.elements():
                number += 1
                yield _entry(stream, number, read)
            return
    except RecordError as error:
        yield Fault(stream.line, str(error))
    if not number:
        yield Fault(stream.line, f"has no member {key!r} with entries")


def _entry(stream: JsonStream, number: int, read: Callable[[Any], Record]) -> Record | Fault:
    line = stream.line
    try:
        # Broken text ends the reading; what is no value of ours, only this entry.
        entry = stream.text()
    except TooLongError as error:
        return Fault(line, f"entry {number}: {error}")
    try:
        return read(read_json(entry))
    except RecordError as error:
        return Fault(line, f"entry {number}: {error}")


def t4_pieces(entries: Iterable[str]) -> Iterator[str]:
    """Write entries as a T4 document, piece by piece."""
    metadata = {"timeunit": "miliseconds"}
    yield f'{{"schema_version": "{T4_VERSION}", "metadata": {canonical(metadata)}, "results": ['
    before = "\n"
    for entry in entries:
        yield f"{before}{entry}"
        before = ",\n"
    yield "\n]}\n"


def t4_entry(record: Record) -> str:
    """Write a record as an entry of a T4 document, on one line."""
    cost = None if record.cost is None else record.cost * _MILLI
    entry = {
        "timestamp": record.created,
        "configuration": dict(record.config),
        "objectives": ["time"],
        "times": {"runtimes": [time * _MILLI for time in record.times], **_UNTIMED},
        "invalidity": _verdict(record),
        "correctness": int(cost is not None),
        "measurements": [{"name": "time", "value": _verdict(record) if cost is None else cost, "unit": "ms"}],
    }
    return canonical(entry)


# The format wants these four, and our records have none of them.
_UNTIMED = {"compilation_time": 0, "framework": 0, "search_algorithm": 0, "validation": 0}


def _verdict(record: Record) -> str:
    outcome = record.outcome
    if outcome.kind == "ok":
        return "correct"
    if outcome.kind in {"timeout", "wrong"}:
        return {"timeout": "timeout", "wrong": "correctness"}[outcome.kind]
    return "compile" if outcome.stage in {"emit", "compile"} else "runtime"
