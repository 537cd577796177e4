"""TVM's JSON form, which all versions since 0.7 take, and the only one since 0.21.

An object with `kind` and the attributes of that kind, each of the type that TVM gives it, where a flag may also be 0
or 1. `host` is a target again, and so is each of the `devices` of a composite: an object, or a text with a kind, a tag
or the old string form. An object with a `tag` and no `kind` has what the tag has, but for what it states itself.
As in TVM, a whole text that is a JSON string (`"cuda"`) is a kind or a tag.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NoReturn

from targetspec.dialects.tvm_config import (
    Config,
    Stated,
    Within,
    check_count,
    is_text,
    known_attribute,
    known_kind,
    shown,
    type_of,
)
from targetspec.dialects.words import Source, Word

_SPACE = " \t\n\r"
_WANTED = {
    "number": "a whole number",
    "flag": "true or false",
    "text": "a string",
    "list": "an array of strings",
}


def refuse_constant(name: str) -> NoReturn:
    """Refuse NaN and the infinities, which are no JSON."""
    raise ValueError(f"{name} is no JSON number")


_DECODER = json.JSONDecoder(parse_constant=refuse_constant)


def read_json(source: Source, within: Within) -> Config:
    """Read a text that is an object; raise TargetSyntaxError."""
    members, end = _members(source, _skip(source, 0))
    if _skip(source, end) < len(source.text):
        raise source.fault(Word(source.text[end:], end), "there is more behind the object")
    return _config(source, members, within)


def read_string(source: Source) -> Word:
    """Return the text of a whole document that is one string."""
    value, end = _decode(source, _skip(source, 0))
    if _skip(source, end) < len(source.text) or not is_text(value):
        raise source.fault(None, "is no JSON string of one line")
    return Word(value, source.text.index('"') + 1)


_Member = tuple[Word, Any, Word]


def _config(source: Source, members: list[_Member], within: Within) -> Config:
    by_name = {name.text: (value, word) for name, value, word in members}
    base = _base(source, by_name, within)
    kind = known_kind(source, base.kind)
    stated = dict(base.stated)
    seen: set[str] = set()
    for name, value, word in members:
        present = "kind" if name.text == "kind" else known_attribute(source, kind, name)
        if present in seen:
            raise source.fault(name, f"{present} is stated twice", "state it once")
        seen.add(present)
        if present != "kind":
            stated[present] = Stated(_value(source, kind, present, value, word, within), word)
    return Config(source, base.kind, stated)


def _base(source: Source, by_name: dict[str, tuple[Any, Word]], within: Within) -> Config:
    """Return what comes before the attributes that are stated: the kind, or all that a tag has."""
    key = "kind" if "kind" in by_name else "tag"
    if key not in by_name:
        raise source.fault(None, "a target has a kind", 'write {"kind": "llvm", ...}')
    value, word = by_name[key]
    if not is_text(value):
        raise source.fault(word, f"{key} must be a string, got {shown(value)}")
    if key == "kind":
        return Config(source, Word(value, word.start + 1), {})
    return within.tagged(source, Word(value, word.start + 1))


def _value(source: Source, kind: str, name: str, value: Any, word: Word, within: Within) -> Any:
    wanted = type_of(kind, name)
    if wanted == "target":
        return _target(source, value, word, within)
    if wanted == "targets":
        if type(value) is not list:
            raise source.fault(word, f"{name} must be an array of targets, got {shown(value)}")
        check_count(source, word, len(value))
        return [_target(source, item, place, within) for item, place in _elements(source, word)]
    if wanted == "flag" and type(value) is int and value in (0, 1):
        return bool(value)
    if not _has_type(value, wanted):
        raise source.fault(word, f"{name} must be {_WANTED[wanted]}, got {shown(value)}")
    return value


def _has_type(value: Any, wanted: str) -> bool:
    if wanted == "list":
        return type(value) is list and all(map(is_text, value))
    if wanted == "text":
        return is_text(value)
    return type(value) is (bool if wanted == "flag" else int)


def _target(source: Source, value: Any, word: Word, within: Within) -> Config:
    if type(value) is dict:
        return _config(source, _members(source, word.start)[0], within.deeper(source, word))
    if not is_text(value):
        raise source.fault(word, f"expected a target, an object or a string, got {shown(value)}")
    return within.read(source, Word(value, word.start + 1))


# -- places -------------------------------------------------------------------------------------------


def _members(source: Source, at: int) -> tuple[list[_Member], int]:
    """Return name, value and place of each member of the object at an offset, and where it ends."""
    members: list[_Member] = []
    if source.text[at : at + 1] != "{":
        raise source.fault(Word("", at), "expected an object")
    at = _skip(source, at + 1)
    if source.text[at : at + 1] == "}":
        return members, at + 1
    while True:
        name, end = _decode(source, at)
        if type(name) is not str:
            raise source.fault(Word(source.text[at:end], at), "expected a name in double quotes")
        start = _skip(source, _after(source, end, ":"))
        value, stop = _decode(source, start)
        members.append((Word(name, at + 1), value, Word(source.text[start:stop], start)))
        at = _skip(source, stop)
        if source.text[at : at + 1] == "}":
            return members, at + 1
        at = _skip(source, _after(source, at, ","))


def _elements(source: Source, array: Word) -> Iterator[tuple[Any, Word]]:
    """Give value and place of each element of an array that is known to be one."""
    at = _skip(source, array.start + 1)
    while source.text[at] != "]":
        value, stop = _decode(source, at)
        yield value, Word(source.text[at:stop], at)
        at = _skip(source, stop)
        at = _skip(source, at + 1) if source.text[at] == "," else at


def _after(source: Source, at: int, sign: str) -> int:
    at = _skip(source, at)
    if source.text[at : at + 1] != sign:
        raise source.fault(Word("", min(at, len(source.text) - 1)), f"is no JSON: expected {sign!r}")
    return at + 1


def _skip(source: Source, at: int) -> int:
    while source.text[at : at + 1] and source.text[at] in _SPACE:
        at += 1
    return at


def _decode(source: Source, at: int) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(source.text, at)
    except StopIteration:
        message = "a value is missing"
    except json.JSONDecodeError as error:
        message, at = error.msg, error.pos
    except RecursionError:
        message = "nested too deeply"
    except ValueError as error:
        message = str(error)[:200]
    raise source.fault(Word("", min(at, len(source.text) - 1)), f"is no JSON: {message}")
