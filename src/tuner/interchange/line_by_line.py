"""Files of one document a line: each is read for itself, and floods of lines too short for one are passed at one go."""

from __future__ import annotations

import functools
import io
import re
from collections.abc import Callable, Iterator
from typing import TypeAlias

import attrs

from tuner.errors import RecordError
from tuner.interchange.json_stream import LONGEST, TOO_LONG
from tuner.record import Record

_MANY = 1000
"""Lines too short for a document that are read one by one all the same, for what is wrong with them."""


@attrs.frozen
class Fault:
    """What could not be read: the line where it begins, and why."""

    line: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}"


@attrs.frozen
class Flood:
    """Some of very many lines that are too short for a document: what is neither blank nor a comment is refused.

    `number` is that of the first line, `least` the length of the shortest document.
    """

    number: int
    text: bytes
    least: int
    comment: bytes

    @property
    def lines(self) -> int:
        """How many there are."""
        return self.text.count(b"\n")

    @property
    def blank(self) -> int:
        """How many of them are blank or comments."""
        return len(_silent(self.comment).findall(self.text))

    def faults(self) -> Iterator[Fault]:
        """Go through the others."""
        message = f"$: must be JSON of {self.least} or more characters, as all that is read here"
        for number, line in enumerate(self.text.split(b"\n")[:-1], self.number):
            said = line.strip()
            if said and not (self.comment and said.startswith(self.comment)):
                yield Fault(number, message)


@functools.cache
def _silent(comment: bytes) -> re.Pattern[bytes]:
    said = rb"(?:%s[^\n]*)?" % re.escape(comment) if comment else b""
    return re.compile(rb"^[ \t\r\v\f]*%s\n" % said, re.MULTILINE)


@functools.cache
def _short(least: int) -> re.Pattern[bytes]:
    return re.compile(rb"(?:[^\n]{0,%d}\n)++" % (least - 1))


Found: TypeAlias = Record | Fault | Flood | None
"""What a reader comes upon: a record, what could not be read, or, None, a line that is blank or a comment."""


@attrs.frozen
class Line:
    """One line of a file: its number from 1, and its text or the fault that keeps it from being one."""

    number: int
    text: str = ""
    fault: str = ""


def by_line(
    file: io.BufferedReader, read: Callable[[Line], Record], least: int, comment: str = ""
) -> Iterator[Found]:
    """Read a file of one document a line, each of at least so many characters; memory stays flat whatever it holds."""
    number, short = 0, 0
    while True:
        if short >= _MANY and (flood := _flood(file, number + 1, least, comment.encode())):
            number += flood.lines
            yield flood
        raw = file.readline(LONGEST)
        if not raw:
            return
        number += 1
        short += len(raw) <= least
        yield _found(_line(file, raw, number), read, comment)


def _flood(file: io.BufferedReader, number: int, least: int, comment: bytes) -> Flood | None:
    # What is at hand anyway, so that nothing more is held.
    run = _short(least).match(file.peek())
    return None if run is None else Flood(number, file.read(run.end()), least, comment)


def _found(line: Line, read: Callable[[Line], Record], comment: str) -> Record | Fault | None:
    if line.fault:
        return Fault(line.number, line.fault)
    if not line.text or (comment and line.text.startswith(comment)):
        return None
    try:
        return read(line)
    except RecordError as error:
        return Fault(line.number, str(error))


def lines(file: io.BufferedReader) -> Iterator[Line]:
    """Go through the lines of a file, none of which is ever held beyond LONGEST bytes."""
    number = 0
    while raw := file.readline(LONGEST):
        number += 1
        yield _line(file, raw, number)


def _line(file: io.BufferedReader, raw: bytes, number: int) -> Line:
    if len(raw) == LONGEST and not raw.endswith(b"\n"):
        _pass_over(file)
        return Line(number, fault=TOO_LONG)
    try:
        # A mark at the beginning is what some editors write.
        return Line(number, raw.decode("utf-8-sig" if number == 1 else "utf-8").strip(" \t\r\n\v\f"))
    except UnicodeDecodeError as error:
        return Line(number, fault=f"is no UTF-8: {error.reason} at byte {error.start}")


def _pass_over(file: io.BufferedReader) -> None:
    while (raw := file.readline(LONGEST)) and not raw.endswith(b"\n"):
        continue
