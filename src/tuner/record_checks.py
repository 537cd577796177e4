"""Checks and normal forms of a record's fields, as attrs calls them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from attrs import Attribute

from tuner.errors import RecordError
from tuner.values import Values, check_float, check_integer, check_text, read_json, shown

_DIGEST = re.compile("[0-9a-f]{64}")
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_CREATED = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|\+00:00)", re.ASCII)


def one_of(*allowed: str) -> Callable[[object, Attribute[Any], object], None]:
    """Return a check that a value is one of the texts."""

    def check(_: object, attribute: Attribute[Any], value: object) -> None:
        if type(value) is not str or value not in allowed:
            names = ", ".join(json.dumps(name) for name in allowed)
            raise RecordError(f"$.{attribute.name}", f"must be one of {names}, got {shown(value)}")

    return check


def text(_: object, attribute: Attribute[Any], value: object) -> None:
    """Check a text of any content."""
    check_text(f"$.{attribute.name}", value)


def name(_: object, attribute: Attribute[Any], value: Any) -> None:
    """Check a text that identifies something: not empty, printable, without spaces around it."""
    check_text(f"$.{attribute.name}", value)
    if not value or not value.isprintable() or value != value.strip():
        raise RecordError(f"$.{attribute.name}", f"must be one line of printable text, got {shown(value)}")


def digest(_: object, attribute: Attribute[Any], value: Any) -> None:
    """Check a SHA-256 digest in hexadecimal."""
    check_digest(f"$.{attribute.name}", value)


def check_digest(path: str, value: Any) -> None:
    """Check the same at a place of its own."""
    check_text(path, value)
    if not _DIGEST.fullmatch(value):
        raise RecordError(path, f"must be 64 lower-case hexadecimal digits (SHA-256), got {shown(value)}")


def flag(_: object, attribute: Attribute[Any], value: object) -> None:
    """Check a truth value."""
    if type(value) is not bool:
        raise RecordError(f"$.{attribute.name}", f"must be true or false, got {shown(value)}")


def count(_: object, attribute: Attribute[Any], value: Any) -> None:
    """Check an integer from 0."""
    check_integer(f"$.{attribute.name}", value)
    if value < 0:
        raise RecordError(f"$.{attribute.name}", f"must not be negative, got {value}")


def seconds(_: object, attribute: Attribute[Any], value: Any) -> None:
    """Check a cost in seconds."""
    check_float(f"$.{attribute.name}", value)
    if value <= 0.0:
        raise RecordError(f"$.{attribute.name}", f"must be more than 0 seconds, got {value}")


def raw_times(_: object, attribute: Attribute[Any], value: tuple[Any, ...]) -> None:
    """Check raw readings in seconds; a coarse clock may well read 0."""
    for position, reading in enumerate(value):
        # What is good is passed over at once: there may be hundreds of them.
        if type(reading) is float and 0.0 < reading < math.inf:
            continue
        check_float(f"$.{attribute.name}[{position}]", reading)
        # By its text, so that -0.0 is refused too: it equals 0.0 but has another text.
        if str(reading).startswith("-"):
            raise RecordError(f"$.{attribute.name}[{position}]", f"must not be negative, got {reading}")


def times(readings: Any) -> tuple[Any, ...]:
    """Return a sequence of readings as a tuple."""
    if isinstance(readings, (str, bytes, Mapping)) or not isinstance(readings, Iterable):
        raise RecordError("$.times", f"must be a sequence of floats, got {shown(readings)}")
    return tuple(readings)


def problem(members: Any) -> Values:
    """Return a problem as Values."""
    return _values("problem", members)


def config(members: Any) -> Values:
    """Return a configuration as Values."""
    return _values("config", members)


def quality(members: Any) -> Values:
    """Return the state of the machine as Values."""
    return _values("quality", members)


def _values(field: str, members: Any) -> Values:
    if type(members) is Values:
        return members
    try:
        return Values(members)
    except RecordError as error:
        raise error.under(field) from None


def canonical_values(_: object, attribute: Attribute[Any], value: Any) -> None:
    """Check the canonical JSON of Values."""
    check_text(f"$.{attribute.name}", value)
    try:
        found = Values(read_json(value))
    except RecordError as error:
        raise error.under(attribute.name) from None
    if found.text != value:
        raise RecordError(f"$.{attribute.name}", f"must be canonical JSON, got {shown(value)}")


def canonical_moment(_: object, attribute: Attribute[Any], value: Any) -> None:
    """Check a time in UTC in the one form of records."""
    check_text(f"$.{attribute.name}", value)
    try:
        told = created(value)
    except RecordError as error:
        raise RecordError(f"$.{attribute.name}", error.message) from None
    if told != value:
        raise RecordError(f"$.{attribute.name}", f"must be such as {told}, got {shown(value)}")


def created(written: Any) -> str:
    """Return a time in UTC in its one form."""
    fits = type(written) is str and _CREATED.fullmatch(written)
    try:
        parsed = datetime.fromisoformat(written) if fits else None
    except ValueError:
        parsed = None
    if parsed is None:
        allowed = 'must be the text of a time in UTC (RFC 3339), such as "2026-01-31T12:00:00Z"'
        raise RecordError("$.created", f"{allowed}, got {shown(written)}")
    return instant(parsed)


def moment(written: Any) -> str:
    """Return a time in UTC as records hold it; a day stands for its beginning."""
    is_day = type(written) is str and _DAY.fullmatch(written)
    try:
        return created(f"{written}T00:00:00Z" if is_day else written)
    except RecordError:
        allowed = 'must be the text of a day or a time in UTC, such as "2026-01-31" or "2026-01-31T12:00:00Z"'
        raise RecordError("before", f"{allowed}, got {shown(written)}") from None


def instant(at: datetime) -> str:
    """Return a moment in UTC as the text that records hold."""
    # A fixed width, so that the order of texts is the order of time.
    return f"{at.replace(tzinfo=None).isoformat(timespec='microseconds')}Z"
