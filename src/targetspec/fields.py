"""Declaring a field of a target kind, once: its shape, its words, and its rule per purpose.

From a declaration come the checks at construction, the JSON form and its schema, the text form, the
relation, and the documentation. A `Shape` is the type of a field as seen from outside: what it accepts,
what it stores, and how it is written.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from targetspec.rules import PURPOSES, Purpose, Rule

_METADATA = "targetspec"


class Refused(Exception):  # noqa: N818 - control flow between a shape and the one who knows the place
    """A value does not fit a shape. Turned into a FieldError or a Problem by whoever knows the place.

    `at` is the item of a sequence that does not fit, where it is one.
    """

    def __init__(self, message: str, hint: str = "", *, wrong_type: bool = False) -> None:
        super().__init__(message, hint)
        self.message, self.hint, self.wrong_type = message, hint, wrong_type
        self.at: int | None = None


@attrs.frozen
class Shape:
    """The type of a field: checks and normalises a value, and writes it as JSON and as text."""

    def check(self, value: Any) -> Any:
        """Return the value to store for one given in Python; raise Refused."""
        raise NotImplementedError

    def load(self, value: Any) -> Any:
        """Return the value to construct with for one read from JSON; raise Refused."""
        return self.check(value)

    def dump(self, value: Any) -> Any:
        """Return the JSON form of a stored value."""
        return value

    def json(self, value: Any) -> str:
        """Return the text of the JSON form, as `plain_json` writes it."""
        return plain_json(self.dump(value))

    def write(self, value: Any) -> str:
        """Return the text form of a stored value, free of white space and brackets."""
        return str(value)

    def read(self, text: str) -> Any:
        """Return the value that a text form stands for; raise Refused."""
        return self.check(text)

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the JSON form."""
        raise NotImplementedError


@attrs.frozen
class Count(Shape):
    """A whole number within bounds, both included."""

    minimum: int = 1
    maximum: int = 2**63 - 1

    def check(self, value: Any) -> int:
        """Accept an int, and nothing that merely equals one."""
        if type(value) is not int:
            raise Refused(
                "must be a whole number", "write it without quotes or a decimal point", wrong_type=True
            )
        if not self.minimum <= value <= self.maximum:
            raise Refused(f"must be from {self.minimum} to {self.maximum}")
        return value

    def read(self, text: str) -> int:
        """Accept decimal digits."""
        if not re.fullmatch(r"-?[0-9]{1,20}", text):
            raise Refused("must be a whole number")
        return self.check(int(text))

    def schema(self) -> dict[str, Any]:
        """Return an integer schema with the bounds."""
        return {"type": "integer", "minimum": self.minimum, "maximum": self.maximum}


@attrs.frozen
class Flag(Shape):
    """True or False."""

    def check(self, value: Any) -> bool:
        """Accept a bool only."""
        if type(value) is not bool:
            raise Refused("must be true or false", wrong_type=True)
        return value

    def write(self, value: Any) -> str:
        """Write as JSON does."""
        return "true" if value else "false"

    def read(self, text: str) -> bool:
        """Accept what `write` gives."""
        if text not in ("true", "false"):
            raise Refused("must be true or false")
        return text == "true"

    def schema(self) -> dict[str, Any]:
        """Return the boolean schema."""
        return {"type": "boolean"}


# Far beyond any name; what is longer is no name, and costs time to look at.
LONGEST_TEXT = 256
# More than all extensions of Vulkan together, names and separators.
_LONGEST_SET = 16_384
LONGEST_DOCUMENT = 2_000_000
"""The most characters that the text or JSON of a target has: no target is larger, by the limits of its fields."""


@functools.lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@functools.lru_cache(maxsize=4096)
def _fits(pattern: str, text: str) -> bool:
    return _compiled(pattern).fullmatch(text) is not None


@attrs.frozen
class Text(Shape):
    """A text that matches an anchored pattern; `what` says it in words."""

    pattern: str
    what: str

    def check(self, value: Any) -> str:
        """Accept a str that matches the whole pattern."""
        if type(value) is not str:
            raise Refused(f"must be {self.what}, a string", wrong_type=True)
        if len(value) > LONGEST_TEXT:
            raise Refused(f"must be {self.what}, of at most {LONGEST_TEXT} characters")
        if not _fits(self.pattern, value):
            raise Refused(f"must be {self.what}")
        return value

    def json(self, value: Any) -> str:
        """Return the text in quotes."""
        return quoted(value)

    def schema(self) -> dict[str, Any]:
        """Return a string schema with the pattern anchored."""
        return {"type": "string", "pattern": f"^(?:{self.pattern})$", "maxLength": LONGEST_TEXT}


@attrs.frozen
class Choice(Shape):
    """One of a few words."""

    words: tuple[str, ...]

    def check(self, value: Any) -> str:
        """Accept one of the words."""
        if type(value) is not str:
            raise Refused(f"must be one of {', '.join(self.words)}", wrong_type=True)
        if value not in self.words:
            raise Refused(f"must be one of {', '.join(self.words)}")
        return value

    def schema(self) -> dict[str, Any]:
        """Return the enumeration."""
        return {"enum": list(self.words)}


def _one(what: str) -> str:
    return f"{'an' if what[0] in 'aeiou' else 'a'} {what}"


# Documents, records and constructors come with the same few sets of names; a set of more is not kept.
_MANY_NAMES = 512
_FEW_NAMES = _LONGEST_SET // (LONGEST_TEXT + 1)
_STRINGS = frozenset({str})


@functools.lru_cache(maxsize=4096)
def _fitting(pattern: str, names: frozenset[str] | tuple[str, ...]) -> frozenset[str]:
    """Return the set of names, all of which fit a pattern; raise Refused, which is not kept."""
    fits = _compiled(pattern).fullmatch
    if max(map(len, names), default=0) > LONGEST_TEXT or not all(map(fits, names)):
        raise Refused("has a name that does not fit")
    return frozenset(names)


@attrs.frozen
class NameSet(Shape):
    """A set of names, each of which matches a pattern; written in sorted order."""

    pattern: str
    what: str
    advice: str = "wrap a single name in a list"

    def check(self, value: Any) -> frozenset[str]:
        """Accept any iterable of names but a bare string, whose letters nobody means."""
        known = type(value) in (list, tuple, frozenset, set)
        if not known and (isinstance(value, str | Mapping) or not isinstance(value, Iterable)):
            raise Refused(f"must be a set of {self.what}s", self.advice, wrong_type=True)
        names = value if type(value) is frozenset else tuple(value)
        if len(names) > _LONGEST_SET:
            raise Refused(f"must name fewer {self.what}s: {len(names)} are more than any target has")
        if set(map(type, names)) <= _STRINGS:
            try:
                found = (_fitting if len(names) <= _MANY_NAMES else _fitting.__wrapped__)(self.pattern, names)
            except Refused:
                pass  # The first name that does not fit is told below, by its place.
            else:
                return found if len(found) <= _FEW_NAMES else self._bounded(found)
        # In one order, so that the same fault is told in every process.
        told = sorted(names, key=repr) if isinstance(names, frozenset) else names
        return self._bounded(frozenset(self._checked_item(at, name) for at, name in enumerate(told)))

    def _checked_item(self, at: int, name: Any) -> str:
        try:
            return Text(self.pattern, _one(self.what)).check(name)
        except Refused as refused:
            refused = self.refusal(refused, name)
            refused.at = at
            raise refused from None

    def refusal(self, refused: Refused, name: Any) -> Refused:  # noqa: ARG002 - a set of known names uses it
        """Return what to say of a name that does not fit."""
        return refused

    def _bounded(self, names: frozenset[str]) -> frozenset[str]:
        if sum(map(len, names)) + len(names) > _LONGEST_SET:
            raise Refused(f"must be {self.what}s of {_LONGEST_SET} characters together, at most")
        return names

    def load(self, value: Any) -> frozenset[str]:
        """Accept a JSON array without repetitions."""
        if type(value) is not list:
            raise Refused(f"must be an array of {self.what}s", wrong_type=True)
        names = self.check(value)
        if len(names) != len(value):
            raise Refused(f"must name each {self.what} once")
        return names

    def dump(self, value: Any) -> list[str]:
        """Return the names, sorted."""
        return sorted(value)

    def write(self, value: Any) -> str:
        """Join the sorted names with commas."""
        return ",".join(sorted(value))

    def read(self, text: str) -> frozenset[str]:
        """Split at commas."""
        return self.load(text.split(",")) if text else frozenset()

    def schema(self) -> dict[str, Any]:
        """Return the array schema."""
        item = Text(self.pattern, self.what).schema()
        return {"type": "array", "items": item, "uniqueItems": True}


TABLES_NAME = Text(r"[0-9A-Za-z][0-9A-Za-z.+_-]{0,39}", "the version of the feature tables, such as 22.1.8")
VERSION_PATTERN = r"(?:0|[1-9][0-9]{0,8})(?:\.(?:0|[1-9][0-9]{0,8})){0,3}"


@attrs.frozen
class Version(Text):
    """A dotted version number, without its trailing zeros beyond the second place: 14 is 14.0."""

    pattern: str = VERSION_PATTERN
    what: str = "a version such as 2.17"

    def check(self, value: Any) -> str:
        """Accept one to four numbers and store at least two."""
        text = super().check(value)
        numbers = text.split(".")
        while len(numbers) > 2 and numbers[-1] == "0":  # noqa: PLR2004 - two places are always written
            numbers.pop()
        return ".".join(numbers) if len(numbers) > 1 else f"{text}.0"


@attrs.frozen(eq=False)
class Spec:
    """What a field's declaration holds beside its type: see `spec`."""

    shape: Shape
    doc: str
    unit: str
    rules: Mapping[Purpose, tuple[Rule, ...]]
    tunes: bool
    need: Rule | None


def spec(
    shape: Shape,
    doc: str,
    *,
    unit: str = "",
    code: tuple[Rule, ...] = (),
    link: tuple[Rule, ...] = (),
    schedule: tuple[Rule, ...] = (),
    tunes: bool = True,
    need: Rule | None = None,
) -> dict[str, Spec]:
    """Return the metadata of one field of a kind, for `attrs.field(metadata=...)`.

    `code`, `link` and `schedule` are its rules per purpose (a rule shared by fields that interact is the
    same object in each); `tunes` says that it can change code or timing, and so is part of `tuning_key`;
    `need` is the rule for a stated need of that name.
    """
    rules = dict(zip(PURPOSES, (code, link, schedule), strict=True))
    return {_METADATA: Spec(shape, doc, unit, rules, tunes, need)}


def specs_of(cls: type) -> dict[str, Spec]:
    """Return the declarations of a kind's fields, by name, in their order."""
    return {
        field.name: field.metadata[_METADATA] for field in attrs.fields(cls) if _METADATA in field.metadata
    }


_CANONICAL = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=True, check_circular=False, allow_nan=False
)
_PLAIN = json.JSONEncoder(sort_keys=True, ensure_ascii=True, check_circular=False, allow_nan=False)


def quoted(text: str) -> str:
    """Return the JSON text of a str."""
    return _PLAIN.encode(text)


def plain_json(document: Any) -> str:
    """Return the text of a JSON value on one line, with sorted keys, for people and programs."""
    return _PLAIN.encode(document)


def canonical_json(document: Any) -> str:
    """Return the one text of a JSON value: sorted keys, no white space, plain ASCII, no NaN."""
    return _CANONICAL.encode(document)


def sha256(text: str) -> str:
    """Return the SHA-256 of a text in UTF-8, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()
