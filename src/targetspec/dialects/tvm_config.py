"""What both forms of a TVM target come to: a kind, and its attributes with their values, each with its place."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any, Literal, Self, TypeGuard

import attrs

from targetspec.dialects.tvm_names import KINDS, REFUSED_KINDS, RENAMED, Attribute, attributes
from targetspec.dialects.words import Source, Word
from targetspec.errors import nearest

Type = Literal["number", "flag", "text", "list", "target", "targets"]
_TYPE_OF: dict[str, Type] = {
    "number": "number",
    "mask": "number",
    "vulkan-version": "number",
    "spirv-version": "number",
    "flag": "flag",
    "names": "list",
    "changes": "list",
    "target": "target",
    "targets": "targets",
}
_FLAGS = ("system-lib", "link-params", "unpacked-api", "supports_float32", "supports_int32")
_TYPE_OF_OPTION: dict[str, Type] = {
    **dict.fromkeys(_FLAGS, "flag"),
    **dict.fromkeys(("opt-level", "workspace-byte-alignment", "constants-byte-alignment"), "number"),
    **dict.fromkeys(("from_device", "target_device_type", "driver_version"), "number"),
    **dict.fromkeys(("keys", "libs", "mattr", "cl-opt", "llvm-options"), "list"),
}
_DERIVED = re.compile(r"feature\.[A-Za-z0-9_]+")
_FAST_MATH = "fast-math"
_SHOWN = 80
_MOST_DEVICES = 256


@attrs.frozen
class Stated:
    """The value of an attribute: a bool, int, str, list of str, Config or list of Config.

    `word` is the value as written, `said` the words of the string form that state it, none in JSON.
    """

    value: Any
    word: Word
    said: tuple[str, ...] = ()


@attrs.frozen
class Config:
    """A kind of TVM and what is stated of it, by present names in the order of the text."""

    source: Source
    kind: Word
    stated: dict[str, Stated]


@attrs.frozen
class Within:
    """How targets within a target are read: a composite has members, and they have hosts, and that is all.

    `whole` reads a whole text, `tagged` gives what a tag at a place stands for.
    """

    whole: Callable[[Source, Within], Config]
    tagged: Callable[[Source, Word], Config]
    levels: int = 2

    def deeper(self, source: Source, word: Word) -> Self:
        """Return how the targets within a target at a place are read; raise TargetSyntaxError where none may be."""
        if not self.levels:
            raise source.fault(word, "targets nest too deeply", "a host has no host, and a member no members")
        return attrs.evolve(self, levels=self.levels - 1)

    def read(self, source: Source, word: Word) -> Config:
        """Read a target from its own text, which stands at a place of the source."""
        inner = Source(word.text, source.dialect)
        deeper = self.deeper(source, word)
        found: Config = source.reading({"target": word}, lambda: self.whole(inner, deeper))
        return found


def check_count(source: Source, word: Word, devices: int) -> None:
    """Raise TargetSyntaxError for a composite of more devices than anyone has."""
    if devices > _MOST_DEVICES:
        raise source.fault(word, f"a composite has at most {_MOST_DEVICES} devices, and this one {devices}")


def known_kind(source: Source, kind: Word) -> str:
    """Return the name of a kind that has a target here; raise TargetSyntaxError."""
    if kind.text in KINDS:
        return kind.text
    if kind.text in REFUSED_KINDS:
        raise source.fault(kind, f"TVM's kind {kind.text!r} is not read here", REFUSED_KINDS[kind.text])
    near = nearest(kind.text.lower(), KINDS)
    hint = f"did you mean {' or '.join(near)}?" if near else f"one of {', '.join(KINDS)}"
    raise source.fault(kind, f"TVM has no kind {kind.text[:_SHOWN]!r}", hint)


def known_attribute(source: Source, kind: str, name: Word) -> str:
    """Return the present name of an attribute of a kind; raise TargetSyntaxError."""
    legal = attributes(kind)
    if name.text in legal:
        return name.text
    present = RENAMED.get(name.text, name.text)
    if present in legal or is_derived(present):
        return present
    near = nearest(name.text.lower(), legal)
    hint = f"did you mean {' or '.join(near)}?" if near else f"it has {', '.join(sorted(legal))}"
    raise source.fault(name, f"the kind {kind} has no attribute {name.text[:_SHOWN]!r}", hint)


def is_derived(name: str) -> bool:
    """Say whether TVM makes an attribute itself, from the others (`feature.has_sve`)."""
    return name.startswith("feature.") and _DERIVED.fullmatch(name) is not None


def attribute_of(kind: str, name: str) -> Attribute:
    """Return what an attribute is here."""
    return _DERIVED_ATTRIBUTE if is_derived(name) else attributes(kind)[name]


_DERIVED_ATTRIBUTE = Attribute("option", reason="made by TVM from the other attributes")


@functools.lru_cache(maxsize=1024)
def type_of(kind: str, name: str) -> Type:
    """Return the type that TVM gives to an attribute."""
    found = _TYPE_OF.get(attribute_of(kind, name).reads)
    if found is not None:
        return found
    if is_derived(name) or name.startswith(_FAST_MATH):
        return "flag"
    return _TYPE_OF_OPTION.get(name, "text")


def shown(value: object) -> str:
    """Return a value for an error's text, cut."""
    try:
        return repr(value)[:_SHOWN]
    except RecursionError:
        return f"a {type(value).__name__}, nested too deeply"


def is_text(value: object) -> TypeGuard[str]:
    """Say whether a value is a text of one line that can be written anywhere."""
    return type(value) is str and value.isprintable()
