"""Our own one-line form: a kind, and its fields by name.

    target = KIND { key "=" value }
    value  = "[" target "]"            for a host
           | "[" target "]" { "[" target "]" }    for the members of a composite
           | text without white space and brackets, as the field's shape writes it

Keys are the kind's fields, each at most once, in any order. `features` is a list joined by commas: of signed names
(`+vaes,-pku`), which change the set of the CPU or of the triple's baseline, all at once; or of plain names, which are
the whole set. What is at its default or follows from the rest is left out when a target is written.

    cpu triple=x86_64-unknown-linux-gnu cpu=znver3 features=+vaes,-pku num_cores=8
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from targetspec import registry
from targetspec.dialects.deltas import changed_features, delta_of, stated_fields
from targetspec.dialects.words import Source, Word, signed
from targetspec.errors import TargetSyntaxError, UnknownNameError, nearest
from targetspec.fields import Refused, Spec
from targetspec.parsing import Parsed
from targetspec.target import MembersShape, Target

NAME = "targetspec"
PATTERN = (
    r"^[\s\u001c-\u001f\u0085]*[^\s=\[\]]+"
    r"(?:[\s\u001c-\u001f\u0085]+[^\s=\[\]]+=(?:(?:\[[^\[\]]*\])+|[^\s\[\]]*))*"
    r"[\s\u001c-\u001f\u0085]*$"
)
"""What every text matches that is read here, as a regular expression of JSON Schema."""

_SIGNS = ("+", "-")
_KIND = re.compile(r"\s*([^\s=\[\]]+)(?=\s|$)")
_FIELD = re.compile(r"\s*([^\s=\[\]]+)=((?:\[[^\[\]]*\])+|[^\s\[\]]*)(?=\s|$)")
# Above the largest set of names, and what of it is written as %XX.
_LONGEST_VALUE = 50_000
_HOSTS_HOST = "a host has no host itself"
_BRACKETED = re.compile(r"\[([^\[\]]*)\]")
_REST = re.compile(r"\s*(\S+)")


def parse(text: str) -> Parsed:
    """Read a target; TargetSyntaxError says what is wrong where."""
    return Parsed(_read(Source(text, NAME), Word(text, 0), inner=False), (), NAME)


def faults(text: str) -> Iterator[TargetSyntaxError]:
    """Give the faults that keys and values have each on their own; what fields are between them is `parse`'s."""
    return _faults(Source(text, NAME), Word(text, 0), inner=False)


def format(target: Target, *, lossy: bool = False) -> str:  # noqa: A001, ARG001 - the name and signature of every dialect
    """Return the text of a target; parsing it gives an equal target."""
    return " ".join((target.kind, *_written(target)))


def _written(target: Target) -> Iterator[str]:
    for name, value in stated_fields(target):
        if name == "features":
            yield f"features={_written_features(target, value)}"
        elif isinstance(value, Target):
            yield f"{name}=[{value}]"
        else:
            yield f"{name}={target.specs()[name].shape.write(value)}"


def _written_features(target: Target, value: Any) -> str:
    delta = delta_of(target)
    return target.specs()["features"].shape.write(value) if delta is None else ",".join(delta)


def _read(source: Source, whole: Word, *, inner: bool) -> Target:
    head = _KIND.match(whole.text)
    if head is None:
        raise source.fault(whole, "a target begins with its kind", f"one of {', '.join(registry.KINDS)}")
    kind = Word(head[1], whole.start + head.start(1))
    cls = _kind_class(source, kind)
    places = dict(_fields(source, whole, head.end(), cls))
    if inner and "host" in places:
        raise source.fault(places["host"], _HOSTS_HOST)
    values = {name: _value(source, name, word, cls.specs()[name]) for name, word in places.items()}
    target: Target = source.reading(places, lambda: _made(source, cls, values, places))
    return target


def _kind_class(source: Source, kind: Word) -> type[Target]:
    try:
        found: type[Target] = registry.kind(kind.text)
    except UnknownNameError as error:
        hint = " or ".join(error.near) or f"one of {', '.join(registry.kind_names())}"
        raise source.fault(kind, f"unknown kind {kind.text!r}", hint) from None
    return found


def _fields(source: Source, whole: Word, at: int, cls: type[Target]) -> Iterator[tuple[str, Word]]:
    seen: set[str] = set()
    while rest := _REST.match(whole.text, at):
        field = _FIELD.match(whole.text, at)
        if field is None:
            raise _no_field(source, whole.after(rest.start(1)), cls)
        key = Word(field[1], whole.start + field.start(1))
        _check_key(source, key, cls, seen)
        seen.add(key.text)
        yield key.text, Word(field[2], whole.start + field.start(2))
        at = field.end()


def _faults(source: Source, whole: Word, *, inner: bool) -> Iterator[TargetSyntaxError]:
    head = _KIND.match(whole.text)
    if head is None:
        return
    try:
        cls = _kind_class(source, Word(head[1], whole.start + head.start(1)))
    except TargetSyntaxError as error:
        yield error
        return
    at, seen = head.end(), set[str]()
    while field := _FIELD.match(whole.text, at):
        key, value = (Word(field[n], whole.start + field.start(n)) for n in (1, 2))
        if inner and key.text == "host":
            yield source.fault(value, _HOSTS_HOST)
        else:
            yield from _faults_of_field(source, cls, key, value, seen)
        at = field.end()


def _faults_of_field(
    source: Source, cls: type[Target], key: Word, value: Word, seen: set[str]
) -> Iterator[TargetSyntaxError]:
    try:
        _check_key(source, key, cls, seen)
        seen.add(key.text)
        _value(source, key.text, value, cls.specs()[key.text])
    except TargetSyntaxError as error:
        yield error
        if key.text in ("host", "members"):
            for at in _BRACKETED.finditer(value.text):
                yield from _faults(source, Word(at[1], value.start + at.start(1)), inner=True)


def _no_field(source: Source, rest: Word, cls: type[Target]) -> TargetSyntaxError:
    first = rest.text.split(None, 1)[0]
    if "[" in first and rest.text.count("[") > rest.text.count("]"):
        return source.fault(Word(first, rest.start), "a bracket is not closed")
    if "[" in first and re.match(r"[^\s\[\]]*\[[^\]]*\[", rest.text):
        return source.fault(Word(first, rest.start), "brackets do not nest: a host has no host itself")
    hint = f"the fields of {cls.kind} are {', '.join(cls.specs())}"
    return source.fault(Word(first, rest.start), "expected key=value", hint)


def _check_key(source: Source, key: Word, cls: type[Target], seen: set[str]) -> None:
    if key.text not in cls.specs():
        near = nearest(key.text, cls.specs())
        hint = f"did you mean {' or '.join(near)}?" if near else f"the fields are {', '.join(cls.specs())}"
        raise source.fault(key, f"a {cls.kind} target has no field {key.text!r}", hint)
    if key.text in seen:
        raise source.fault(key, f"{key.text} is stated twice", "state it once")


def _value(source: Source, name: str, word: Word, spec: Spec) -> Any:
    if name == "host":
        return _host(source, word)
    if isinstance(spec.shape, MembersShape):
        return _members(source, word)
    if len(word.text) > _LONGEST_VALUE:
        raise source.fault(word, f"{name} has {len(word.text)} characters, more than any target's")
    if word.text.startswith("["):
        raise source.fault(word, f"{name} takes no brackets", "only host=[...] has them")
    if not word.text and name not in ("features", "libs"):
        raise source.fault(word, f"{name} has no value", "leave the key out where it is not stated")
    if name == "features":
        return _features(source, word)
    return source.reading({name: word}, lambda: _shaped(source, name, word, spec))


def _shaped(source: Source, name: str, word: Word, spec: Spec) -> Any:
    try:
        return spec.shape.read(word.text)
    except Refused as refused:
        raise source.fault(word, f"{name}: {refused.message}, got {word.text[:80]!r}", refused.hint) from None


def _host(source: Source, word: Word) -> Target:
    if not word.text.startswith("["):
        raise source.fault(word, "a host is a target in brackets", "write host=[cpu triple=...]")
    if "][" in word.text:
        raise source.fault(word, "a host is one target", "write host=[cpu triple=...]")
    return _read(source, Word(word.text[1:-1], word.start + 1), inner=True)


def _members(source: Source, word: Word) -> tuple[Target, ...]:
    if not word.text.startswith("["):
        hint = "write members=[cuda arch=sm_90a][cpu triple=...]"
        raise source.fault(word, "members are targets in brackets", hint)
    places = _BRACKETED.finditer(word.text)
    return tuple(_read(source, Word(at[1], word.start + at.start(1)), inner=True) for at in places)


def _features(source: Source, word: Word) -> tuple[Word, ...] | frozenset[str]:
    """Return the signed words, or the names of a whole set."""
    items = word.items() if word.text else ()
    changes = word.text[:1] in _SIGNS
    for item in items:
        if (item.text[:1] in _SIGNS) != changes or not item.text.lstrip("+-"):
            hint = "sign every name to change the CPU's set, or none to state the whole set"
            raise source.fault(item, f"expected {'+name or -name' if changes else 'a name'}", hint)
    return items if changes else frozenset(item.text for item in items)


def _made(source: Source, cls: type[Target], values: dict[str, Any], places: dict[str, Word]) -> Target:
    changes = values.get("features")
    if isinstance(changes, tuple):
        features = changed_features(cls, values, *signed(changes))
        if features is None:
            hint = "state the triple or a CPU of one architecture, or the whole set without signs"
            raise source.fault(places["features"], "there is no set that these features change", hint)
        values = {**values, "features": features}
    return cls(**values)
