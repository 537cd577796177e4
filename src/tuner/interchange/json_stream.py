"""JSON documents that may be larger than memory, or hostile, value by value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, TextIO, cast

from tuner.errors import RecordError
from tuner.values import read_json

LONGEST = 1 << 22
"""Characters of the longest line or value that is read; longer ones are passed over."""

_CHUNK = 1 << 16
_SPACE = re.compile(r"[ \t\r\n]*")
_COMMA = re.compile(r"[ \t\r\n]*+,")
_MARK = re.compile(r'["{}\[\]]')
_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'


def _within(depth: int) -> str:
    """Return the pattern of what stands between two brackets, with so many levels of brackets in it."""
    deeper = rf"|[{{\[]{_within(depth - 1)}[}}\]]" if depth else ""
    return rf'(?:[^"{{}}\[\]]++|{_STRING}{deeper})*+'


# What most of a document is, taken at one go: texts, values of a small depth, and all else but brackets.
_DEPTH = 4
_PLAIN = re.compile(_within(_DEPTH), re.DOTALL)
_VALUE = re.compile(
    rf'{_STRING}|[{{\[]{_within(_DEPTH)}[}}\]]|[^",{{}}\[\] \t\r\n][^,\]}} \t\r\n]*+(?=[,\]}} \t\r\n])',
    re.DOTALL,
)
_KEY = re.compile(rf"({_STRING})[ \t\r\n]*+:", re.DOTALL)
_IN_STRING = re.compile(r'["\\]')
_LINE_END = re.compile("\n")
_AFTER_SCALAR = re.compile(r"[,\]} \t\r\n]")
TOO_LONG = f"is longer than {LONGEST} characters"


class TooLongError(RecordError):
    """A value that was passed over, being too long."""


class JsonStream:
    """Reads one JSON document step by step; only the value at hand is held. RecordError where it is broken."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._text = ""
        self._at = 0
        self._counted = 0
        self._passed = 0

    @property
    def line(self) -> int:
        """The number of the line at hand, from 1."""
        # From where the last count ended, as it is asked for each entry.
        self._passed += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._passed + 1

    def peek(self) -> str:
        """Return the next character that is no space, without taking it; nothing at the end."""
        while True:
            self._at = _end_of(_SPACE, self._text, self._at)
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._fill():
                return ""

    def skip_lines(self, beginning: str) -> None:
        """Pass over the lines that begin with this character."""
        while self.peek() == beginning:
            for _ in self._until(_LINE_END):
                pass

    def take(self, character: str) -> None:
        """Take the next character, which must be this one."""
        found = self.peek()
        if found != character:
            raise RecordError(
                "$", f"is broken in line {self.line}: {character!r} is missing before {found!r}"
            )
        self._at += 1

    def value(self) -> Any:
        """Read the next value."""
        return read_json(self.text())

    def text(self) -> str:
        """Return the text of the next value; TooLongError where it was too long, and is behind us now."""
        return self._whole() or "".join(self._raw(LONGEST))

    def skip(self) -> None:
        """Pass over the next value."""
        if not self._whole():
            for _ in self._raw(None):
                pass

    def members(self) -> Iterator[str]:
        """Go through the keys of an object; the caller reads or skips the value of each.

        An object that ends with the file, behind a member or its comma, counts as closed.
        """
        self.take("{")
        while self.peek() not in {"}", ""}:
            yield self._key()
            self._next("}")
        self._at += 1

    def _key(self) -> str:
        """Take a key and the colon behind it."""
        found = _KEY.match(self._text, self._at)
        if found is not None:
            self._at = found.end()
            return cast("str", read_json(found[1]))
        key = self.value() if self.peek() == '"' else None
        if type(key) is not str:
            raise RecordError("$", f"is broken in line {self.line}: a key is missing")
        self.take(":")
        return key

    def elements(self) -> Iterator[None]:
        """Go through the elements of an array, likewise."""
        self.take("[")
        while self.peek() not in {"]", ""}:
            yield
            self._next("]")
        self._at += 1

    def _next(self, closing: str) -> None:
        found = _COMMA.match(self._text, self._at)
        if found is not None:
            self._at = found.end()
        elif self.peek() not in {closing, ""}:
            self.take(",")

    def _whole(self) -> str:
        """Take the next value where it is of a small depth and at hand as a whole, else nothing."""
        self.peek()
        found = _VALUE.match(self._text, self._at)
        if found is None or found.end() - self._at > LONGEST:
            return ""
        self._at = found.end()
        return found.group()

    def _raw(self, limit: int | None) -> Iterator[str]:
        size = 0
        for piece in self._pieces():
            size += len(piece)
            if limit is not None and size <= limit:
                yield piece
        if limit is not None and size > limit:
            raise TooLongError("$", TOO_LONG)

    def _pieces(self) -> Iterator[str]:
        first = self.peek()
        if first == "":
            raise RecordError("$", f"ends in line {self.line} where a value is missing")
        if first not in '"{[':
            yield from self._until(_AFTER_SCALAR)
            return
        depth = 0
        while True:
            if depth > _DEPTH:
                deep = self._deep(depth)
                depth += sum(map(deep.count, "{[")) - sum(map(deep.count, "}]"))
                yield deep
            yield self._run()
            yield from self._until(_MARK)
            mark = self._text[self._at : self._at + 1]
            if not mark:
                raise RecordError("$", f"ends in line {self.line} within a value")
            self._at += 1
            yield mark
            if mark == '"':
                yield from self._string()
            else:
                depth += 1 if mark in "{[" else -1
            if depth <= 0:
                return

    def _deep(self, depth: int) -> str:
        """Take what is at hand up to the next text and cannot close so many brackets, however many of it there are."""
        start, end = self._at, min(self._at + depth - 1, len(self._text))
        text = self._text.find('"', start, end)
        self._at = end if text < 0 else text
        return self._text[start : self._at]

    def _run(self) -> str:
        if self._text[self._at : self._at + 1] == '"':
            return ""
        start, self._at = self._at, _end_of(_PLAIN, self._text, self._at)
        return self._text[start : self._at]

    def _string(self) -> Iterator[str]:
        while True:
            yield from self._until(_IN_STRING)
            length = 2 if self._text[self._at : self._at + 1] == "\\" else 1
            while len(self._text) - self._at < length:
                if not self._fill():
                    raise RecordError("$", f"ends in line {self.line} within a text")
            yield self._text[self._at : self._at + length]
            self._at += length
            if length == 1:
                return

    def _until(self, pattern: re.Pattern[str]) -> Iterator[str]:
        """Take everything up to a match of one character, or to the end."""
        while (found := pattern.search(self._text, self._at)) is None:
            yield self._text[self._at :]
            self._at = len(self._text)
            if not self._fill():
                return
        yield self._text[self._at : found.start()]
        self._at = found.start()

    def _fill(self) -> bool:
        try:
            more = self._file.read(_CHUNK)
        except UnicodeDecodeError as error:
            raise RecordError("$", f"is no UTF-8: {error.reason}") from error
        self._passed = self.line - 1
        self._text, self._at, self._counted = self._text[self._at :] + more, 0, 0
        return bool(more)


def _end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return at if found is None else found.end()
