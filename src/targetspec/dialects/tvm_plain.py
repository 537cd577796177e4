"""Targets of TVM whose attributes each say one thing by themselves: the common case of both forms, without places.

What needs more than its own word (quotes, values behind a space, flags that make up a set, tags), and whatever is at
fault, is left to the other readers, which read the text from its beginning and know the places for errors.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import attrs

from targetspec import registry
from targetspec.dialects.tvm_config import Stated, Type, attribute_of, is_text, known_attribute, type_of
from targetspec.dialects.tvm_cpu import OPTIONS, changed_fields
from targetspec.dialects.tvm_json import refuse_constant
from targetspec.dialects.tvm_names import KINDS, Attribute
from targetspec.dialects.tvm_reading import SETTLED, USUAL, Read
from targetspec.dialects.tvm_text import attribute_word, flag_of, interpreted, number_of, words_of
from targetspec.dialects.words import Source, Word
from targetspec.errors import TargetspecError
from targetspec.fields import Refused
from targetspec.target import Target

_LONGEST = 1000
# A target within a target is the tuple of its pairs, which no other value of JSON is.
_PAIRS = json.JSONDecoder(object_pairs_hook=tuple, parse_constant=refuse_constant).decode
_READS = ("number", "text", "names", "changes", "flag", "target", "said", "option")
_CHANGES = "features"
_KEPT = (str, int, bool)


# What an attribute states: its present name, the field, the field's value, and TVM's value of it. The field of what is
# left over is empty, and the last is its words.
_Fact = tuple[str, str, Any, Any]


class _LeftError(Exception):
    """The text is for another reader."""


class _Way(NamedTuple):
    """What comes of an attribute: its present name, and the field that it states, empty for an option.

    Of its value, `written` makes TVM's from a text, `stated` from JSON, and `load` the field's from TVM's; each raises
    where there is none.
    """

    name: str
    field: str
    written: Callable[[str], Any]
    stated: Callable[[Any], Any]
    load: Callable[[Any], Any]

    def fact(self, value: Any, said: tuple[str, ...] = ()) -> _Fact:
        """Return the fact of TVM's value, which words state, if not JSON.

        That a device lacks something is what not stating it means, and so left over.
        """
        if self.field and value is not False:
            return self.name, self.field, self.load(value), value
        if not self.field:
            self.load(value)
        return self.name, "", None, said or (attribute_word(self.name, value),)


def read_plain(text: str) -> Read | None:
    """Return the target and leftovers of a text; None where another reader must have it."""
    if len(text) > _LONGEST:
        return None
    try:
        return _of_document(_PAIRS(text)) if text.startswith("{") else _of_words(text)
    except (_LeftError, Refused, TargetspecError, ValueError, RecursionError):
        return None


def _of_words(text: str) -> Read:
    if not text.isprintable():
        raise _LeftError
    quoted = "'" in text or "\\" in text
    kind, *words = [word.text for word in words_of(Source(text, "tvm"))] if quoted else text.split()
    if text.count("=") >= len(words):
        return _of_facts(kind, [_fact_of_words(kind, word) for word in words])
    return _of_facts(kind, [_fact_of_words(kind, *said) for said in _paired(words)])


def _paired(words: list[str]) -> Iterator[tuple[str, ...]]:
    """Give each attribute's words: a name may have its value behind a space."""
    rest = iter([*words, "-"])
    word = next(rest)
    for more in rest:
        if "=" in word or more.startswith("-"):
            yield (word,)
            word = more
        else:
            yield word, more
            word = next(rest)


# Texts differ from one another in few words.
@functools.lru_cache(maxsize=1024)
def _fact_of_words(kind: str, word: str, *more: str) -> _Fact:
    name, equals, value = word.partition("=")
    if not name.startswith("-"):
        raise _LeftError
    way = _way(kind, name[1:].lstrip("-"))
    return way.fact(way.written(value if equals else "".join(more) or "1"), (word, *more))


def _of_document(pairs: tuple[tuple[str, Any], ...]) -> Read:
    members = dict(pairs)
    kind = members.pop("kind", None)
    if type(kind) is not str or len(members) + 1 < len(pairs):
        raise _LeftError
    return _of_facts(
        kind,
        [(_kept if type(value) in _KEPT else _fact)(kind, name, value) for name, value in members.items()],
    )


def _fact(kind: str, name: str, value: Any) -> _Fact:
    way = _way(kind, name)
    return way.fact(way.stated(value))


# By type as well, for true is not 1.
_kept = functools.lru_cache(maxsize=1024, typed=True)(_fact)


def _of_facts(kind: str, facts: list[_Fact]) -> Read:
    ours = KINDS.get(kind)
    if ours is None or ours == "composite" or len({fact[0] for fact in facts}) < len(facts):
        raise _LeftError
    fields: dict[str, Any] = {}
    leftovers = [] if USUAL.get(ours, ours) == kind else [kind]
    for _, field, value, said in facts:
        if not field:
            leftovers.extend(said)
        elif field in fields:
            fields[field] = _both(fields[field], value)
        else:
            fields[field] = value
    if _CHANGES in fields:
        fields = _changed(fields, facts)
    made: Target = registry.kind(ours).of_checked(fields)
    return made, tuple(leftovers)


def _both(one: Any, other: Any) -> frozenset[str]:
    if type(one) is not frozenset or type(other) is not frozenset:
        raise _LeftError
    return one | other


def _changed(fields: dict[str, Any], facts: list[_Fact]) -> dict[str, Any]:
    """Return the fields of a CPU with the features that `mattr` changes."""
    texts = tuple([(field, said) for _, field, _, said in facts if field in OPTIONS])
    made = changed_fields(texts, fields[_CHANGES])
    if made is None:
        raise _LeftError
    return {**fields, **made}


# -- attributes ---------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=1024)
def _way(kind: str, name: str) -> _Way:
    """Return what comes of an attribute of a kind, by its present or its old name."""
    if kind not in KINDS or kind == "composite" or name in ("", "kind", "cl-opt"):
        raise _LeftError
    present = known_attribute(Source(name, "tvm"), kind, Word(name, 0))
    attribute = attribute_of(kind, present)
    if attribute.reads not in _READS:
        raise _LeftError
    written, stated = _VALUES[type_of(kind, present)]
    return _Way(present, attribute.field, written, stated, _loading(KINDS[kind], present, attribute))


def _loading(kind: str, name: str, attribute: Attribute) -> Callable[[Any], Any]:
    """Return what makes the value of a field from TVM's, as construction would; or checks what states no field."""
    cls, field, adds = registry.kind(kind), attribute.field, attribute.adds
    if not field:
        return lambda value: value if not adds or str(value) in adds else _left(value)
    if field == _CHANGES and kind == "cpu":
        return tuple
    if field not in cls.specs() or name == "mattr":
        raise _LeftError
    check: Callable[[Any], Any] = cls.specs()[field].shape.check
    if adds:
        return lambda _: check(frozenset(adds))
    convert: Any = attrs.fields_dict(cls)[field].converter
    settle = SETTLED.get(field)

    def load(value: Any) -> Any:
        if settle is not None:
            value = settle(Source(value, "tvm"), name, Stated(value, Word(value, 0)))
        return check(value if convert is None else convert(value))

    return load


def _left(_: object) -> Any:
    raise _LeftError


def _written_list(text: str) -> list[str]:
    if "'" in text or "\\" in text:
        raise _LeftError
    return [item for item in text.split(",") if item] or _left(text)


def _stated_list(value: Any) -> Any:
    return value if type(value) is list and value and all(map(is_text, value)) else _left(value)


def _written_text(text: str) -> str:
    return interpreted(text).strip(" ") if text else _left(text)


def _stated_text(value: Any) -> Any:
    return value if is_text(value) else _left(value)


def _stated_number(value: Any) -> Any:
    return value if type(value) is int else _left(value)


def _stated_flag(value: Any) -> bool:
    return bool(value) if type(value) in (bool, int) and value in (0, 1) else _left(value)


def _written_target(text: str) -> Target:
    return _whole(interpreted(text))


# A host stands beside many devices.
@functools.lru_cache(maxsize=1024)
def _whole(text: str) -> Target:
    """Return a target within a target, which leaves nothing over."""
    read = read_plain(text)
    if read is None or read[1]:
        raise _LeftError
    return read[0]


def _stated_target(value: Any) -> Target:
    if type(value) is str:
        return _whole(value)
    target, leftovers = _of_document(value if type(value) is tuple else ())
    if leftovers:
        raise _LeftError
    return target


_VALUES: dict[Type, tuple[Callable[[str], Any], Callable[[Any], Any]]] = {
    "number": (number_of, _stated_number),
    "flag": (flag_of, _stated_flag),
    "text": (_written_text, _stated_text),
    "list": (_written_list, _stated_list),
    "target": (_written_target, _stated_target),
    "targets": (_left, _left),
}
"""For each type of TVM, what makes a value of its text, and of JSON."""
