"""Words of a text with their places, and errors of construction told as faults of the text."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

from targetspec.errors import (
    FeatureConflictError,
    FeatureRoleError,
    FieldError,
    TargetspecError,
    TargetSyntaxError,
    UnknownNameError,
    did_you_mean,
)

_WORD = re.compile(r"\S+")
_FIELD_OF_ROLE = {"tuning": "tuning", "inverse": "restrictions"}


# Not frozen: one is made for each word of each text, and to freeze it takes four times as long.
@attrs.define(unsafe_hash=True)
class Word:
    """A part of a text: what it says, and the offset at which it begins."""

    text: str
    start: int

    @property
    def span(self) -> tuple[int, int]:
        """The half-open span of the word; an empty word still points at something."""
        return self.start, self.start + max(1, len(self.text))

    def after(self, count: int) -> Word:
        """Return the word without its first characters."""
        return Word(self.text[count:], self.start + count)

    def items(self, separator: str = ",") -> tuple[Word, ...]:
        """Return the parts between separators."""
        parts, at = [], self.start
        for part in self.text.split(separator):
            parts.append(Word(part, at))
            at += len(part) + 1
        return tuple(parts)


def split_words(text: str, start: int = 0, end: int | None = None) -> tuple[Word, ...]:
    """Return the words between white space."""
    stop = len(text) if end is None else end
    return tuple([Word(found[0], found.start()) for found in _WORD.finditer(text, start, stop)])


@attrs.frozen
class Source:
    """The text that is being read, and in which dialect."""

    text: str
    dialect: str

    def fault(self, word: Word | None, message: str, hint: str = "") -> TargetSyntaxError:
        """Return the error for a word; for the whole text without one."""
        end = len(self.text)
        # What is missing at the end of a text is an empty span there.
        span = (min(word.span[0], end), min(word.span[1], end)) if word else (0, end)
        return TargetSyntaxError(self.text, span, message, hint, self.dialect)

    def reading(self, places: Mapping[str, Word], make: Callable[[], Any]) -> Any:
        """Return what `make` gives; an error of its becomes a fault of the value, by field, that caused it."""
        try:
            return make()
        except TargetspecError as error:
            raise self._blamed(error, places) from None

    def _blamed(self, error: TargetspecError, places: Mapping[str, Word]) -> TargetspecError:
        if isinstance(error, UnknownNameError):
            scope = f" for {error.scope}" if error.scope else ""
            hint = did_you_mean(error.near).removeprefix("; ")
            return self.fault(
                _naming(places, error.name), f"unknown {error.what} {error.name!r}{scope}", hint
            )
        if isinstance(error, FeatureRoleError):
            field = _FIELD_OF_ROLE.get(error.role, "tuning")
            return self.fault(_naming(places, error.feature), str(error), f"state it in the field {field}")
        if isinstance(error, FeatureConflictError):
            return self.fault(
                _naming(places, error.second, error.first) or places.get("features"), str(error)
            )
        if isinstance(error, FieldError):
            word = places.get("triple" if error.kind == "triple" else error.field)
            return self.fault(word, f"{error.field}: {error.message}, got {error.value!r}", error.hint)
        if isinstance(error, TargetSyntaxError):
            return self._moved(error, places)
        return self.fault(None, str(error))

    def _moved(self, error: TargetSyntaxError, places: Mapping[str, Word]) -> TargetSyntaxError:
        """Move the fault of a part that was read on its own to its place in the whole text."""
        if error.text == self.text:
            return error
        part = next((word for word in places.values() if word.text == error.text), None)
        start, end = error.span
        span = (part.start + start, part.start + end) if part else (0, len(self.text))
        return TargetSyntaxError(self.text, span, error.message, error.hint, self.dialect)


def _naming(places: Mapping[str, Word], *names: str) -> Word | None:
    """Return the word that writes the first of the names that is there: a value, an item, or a part of one."""
    whole = places.values()
    items = [item for word in whole for item in word.items()]
    words = [*whole, *items, *(part for word in whole for part in word.items("-"))]
    for name in names:
        plain = name.lstrip("+-").lower()
        exact = (word for word in words if word.text == name)
        close = (word for word in words if word.text.lstrip("+-").lower() == plain)
        inside = (_within(word, plain) for word in whole if plain in word.text.lower())
        found = next(itertools.chain(exact, close, inside), None)
        if found is not None:
            return found
    return None


def _within(word: Word, name: str) -> Word:
    start = word.text.lower().index(name)
    return Word(word.text[start : start + len(name)], word.start + start)


def signed(items: Iterable[Word]) -> tuple[list[str], list[str]]:
    """Return the names of signed words: those added, and those removed."""
    added: list[str] = []
    removed: list[str] = []
    for item in items:
        (added if item.text[0] == "+" else removed).append(item.text[1:])
    return added, removed
