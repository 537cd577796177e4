"""Exact plain values (integers, floats, texts, truth values), and immutable mappings of them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from json.encoder import encode_basestring_ascii
from types import MappingProxyType
from typing import Any, NoReturn, TypeAlias

import attrs

from tuner.errors import RecordError

Value: TypeAlias = int | float | str | bool

# What a 64-bit signed integer holds: SQLite's and most JSON readers' limit, and that of a kernel's argument.
INTEGERS = range(-(2**63), 2**63)

# One encoder for all: json.dumps would make one each time; likewise the decoder below.
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)
_SURROGATE = re.compile("[\ud800-\udfff]")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,79}")


def canonical(document: Any) -> str:
    """Return the canonical JSON text of plain data: one line of ASCII, keys sorted, never NaN.

    RecordError for what is nested too deeply.
    """
    try:
        return _ENCODER.encode(document)
    except RecursionError:
        raise RecordError("$", "must be JSON of a sane depth") from None


def quoted(text: str) -> str:
    """Return the canonical JSON of a text."""
    return encode_basestring_ascii(text)


def readings(times: tuple[float, ...]) -> str:
    """Return the canonical JSON of finite floats."""
    return f"[{','.join(map(float.__repr__, times))}]"


def written(value: Value | None) -> str:
    """Return the canonical JSON of a text, a number, finite where it is a float, a truth value, or nothing."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else repr(value)


def read_json(text: str) -> Any:
    """Return the plain data of one JSON document: no key twice, no NaN, no infinity."""
    check_text("$", text)
    if _BEGINNING.match(text) is None:
        # At once, as files of something else have millions of such lines.
        raise RecordError("$", "must be JSON, which begins otherwise")
    try:
        return _DECODER.decode(text)
    except RecordError:
        raise
    except RecursionError:
        raise RecordError("$", "must be JSON of a sane depth") from None
    except ValueError as error:
        raise RecordError("$", f"must be JSON: {error}") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for key, value in pairs:
        if key in members:
            raise RecordError("$", f"must hold each key once, {_short(key)} is there twice")
        members[key] = value
    return members


def _no_constant(name: str) -> NoReturn:
    raise RecordError("$", f"must be JSON, which has no {name}")


_BEGINNING = re.compile(r'[ \t\r\n]*+[{\["0-9tfnNI-]')
_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)


def check_keys(document: Mapping[str, Any], known: tuple[str, ...], *, required: tuple[str, ...]) -> None:
    """Check that plain data are an object with no other keys than the known, and with all the required."""
    if not isinstance(document, Mapping):
        raise RecordError("$", f"must be a JSON object, got {shown(document)}")
    if unknown := sorted(map(str, document.keys() - set(known))):
        raise RecordError("$", f"has no key {shown(unknown[0])}; its keys are {', '.join(known)}")
    if missing := [name for name in required if name not in document]:
        raise RecordError("$", f"must have the key {shown(missing[0])}")


def shown(value: object) -> str:
    """Return a value's short form for a message."""
    try:
        text = repr(value)
    except (RecursionError, ValueError):
        # Nested too deeply, or an integer of more digits than Python writes.
        text = f"a {type(value).__name__} of no sane size"
    return cut(text)


def cut(text: str, longest: int = 80) -> str:
    """Return a text for a message, its beginning where it is longer than so many characters."""
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


def _short(key: str) -> str:
    """Return a key's JSON, its beginning where it is long."""
    return json.dumps(cut(key))


def below(path: str, key: str) -> str:
    """Return the JSON path of a member: `$.m`, or `$["tile m"]` where the key is no plain name."""
    return f"{path}.{key}" if _NAME.fullmatch(key) else f"{path}[{_short(key)}]"


def check_text(path: str, value: object) -> None:
    """Check that a value is a text that UTF-8 can hold."""
    if type(value) is not str:
        raise RecordError(path, f"must be a text, got {shown(value)} of type {type(value).__name__}")
    if _SURROGATE.search(value):
        raise RecordError(path, f"must be Unicode text without lone surrogates, got {shown(value)}")


def check_float(path: str, value: object) -> None:
    """Check that a value is a finite float, exactly: neither an integer nor a float of another library."""
    if type(value) is not float:
        raise RecordError(path, f"must be a float, got {shown(value)} of type {type(value).__name__}")
    if not math.isfinite(value):
        raise RecordError(path, f"must be finite, got {value}")


def check_integer(path: str, value: object) -> None:
    """Check that a value is an integer of at most 64 bits, and no truth value."""
    if type(value) is not int:
        raise RecordError(path, f"must be an integer, got {shown(value)} of type {type(value).__name__}")
    if value not in INTEGERS:
        raise RecordError(path, "must be an integer of at most 64 bits (signed)")


def check_value(path: str, value: object) -> None:
    """Check that a value is one of the four plain kinds; a subclass, such as numpy's, is another type."""
    if type(value) is bool:
        return
    check = _CHECKS.get(type(value))
    if check is None:
        allowed = "must be an integer, a float, a text or a truth value"
        raise RecordError(path, f"{allowed}, got {shown(value)} of type {type(value).__name__}")
    check(path, value)


_CHECKS = {str: check_text, float: check_float, int: check_integer}


def _check_member(name: str, value: object) -> None:
    check_text("$", name)
    try:
        check_value("$", value)
    except RecordError as error:
        raise RecordError(below("$", name), error.message) from None


@attrs.frozen(eq=False, init=False, repr=False)
class Values(Mapping[str, Value]):
    """An immutable, hashable mapping of names to plain values, sorted by name and equal only type by type.

    `text` is its canonical JSON. It equals any mapping with the same members:

    >>> Values({"n": 64, "m": 512}) == {"m": 512, "n": 64}
    True
    >>> Values({"n": 1}) == {"n": True}
    False
    """

    text: str
    _members: Mapping[str, Value]

    def __init__(self, members: Mapping[str, Value]) -> None:
        if not isinstance(members, Mapping):
            raise RecordError("$", f"must be a mapping of names to values, got {shown(members)}")
        for name, value in members.items():
            _check_member(name, value)
        ordered = {name: members[name] for name in sorted(members)}
        text = ",".join([f"{quoted(name)}:{written(value)}" for name, value in ordered.items()])
        # A proxy does not pickle; __reduce__ sends the members instead.
        self.__attrs_init__(text=f"{{{text}}}", members=MappingProxyType(ordered))

    def __getitem__(self, name: str) -> Value:
        return self._members[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    # Two mappings are equal iff their texts are: JSON writes 1, 1.0, true and "1", and 0.0 and -0.0, apart.
    def __eq__(self, other: object) -> bool:
        if isinstance(other, Values):
            return self.text == other.text
        if not isinstance(other, Mapping):
            return NotImplemented
        try:
            return self.text == Values(other).text
        except RecordError:
            return False

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return repr(dict(self._members))

    def __reduce__(self) -> tuple[type[Values], tuple[dict[str, Value]]]:
        return Values, (dict(self._members),)
