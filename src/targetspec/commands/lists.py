"""`targetspec check --lines`: files that hold a target's text in each line; blank lines and those that begin with # say nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from targetspec.commands.command import BAD_INPUT, Output
from targetspec.commands.files import MANY_BYTES, lines_of, place_of, unreadable
from targetspec.errors import Problem
from targetspec.text_faults import validate_text

_REMARK = "#"
_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")
_MARKED = Problem("", "the file starts with a byte order mark", "save it as UTF-8 without one", (0, 0))


@attrs.frozen
class _Line:
    """A line that was checked: its file, its number (None for a file that cannot be read), its text, its faults."""

    file: str
    number: int | None
    text: str
    problems: tuple[Problem, ...] = ()

    def told(self) -> Iterator[str]:
        """Give a line for each fault, with its place as compilers write it: file, line, column."""
        for problem in self.problems:
            column = problem.span[0] + 1 if problem.span else 1
            place = place_of(self.file, *(() if self.number is None else (self.number, column)))
            yield " ".join(f"{place}: {problem._replace(span=None)}".splitlines())


def check_files(files: Sequence[str], dialect: str) -> Output:
    """Return the faults of the texts in some files; the status says whether there are any."""
    checked = [line for file in files for line in _checked(file, dialect)]
    bad = [line for line in checked if line.problems]
    told = tuple(words for line in bad for words in line.told())
    documents = [_document(line) for line in checked]
    if not bad:
        return Output((), documents)
    remark = f"{len(bad)} of {len(checked)} lines are no targets; the first: {told[0]}"
    return Output(told, documents, BAD_INPUT, told[0] if len(told) == 1 else remark)


def _document(line: _Line) -> dict[str, Any]:
    problems = [
        {"message": one.message, "hint": one.hint, "span": one.span and list(one.span)}
        for one in line.problems
    ]
    return {"file": line.file, "line": line.number, "text": line.text, "problems": problems}


def _checked(file: str, dialect: str) -> Iterator[_Line]:
    try:
        for number, line in lines_of(file, MANY_BYTES):
            if isinstance(line, Problem):
                yield _Line(file, number, "", (line,))
            elif number == 1 and line.startswith(_MARKS):
                yield _Line(file, number, "", (_MARKED,))
                return
            elif not line.lstrip().startswith(_REMARK.encode()):
                text = line.decode("utf-8", "replace")
                yield _Line(file, number, text, tuple(_faults(line, text, dialect)))
    except OSError as error:
        yield _Line(file, None, "", (unreadable(error),))


def _faults(line: bytes, text: str, dialect: str) -> Iterator[Problem]:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as error:
        at = len(line[: error.start].decode("utf-8"))
        yield Problem("", f"the byte 0x{line[error.start]:02x} is no UTF-8", "save it as UTF-8", (at, at + 1))
        return
    before = len(text) - len(text.lstrip())
    for problem in validate_text(text.strip(), dialect):
        span = problem.span and (problem.span[0] + before, problem.span[1] + before)
        yield problem._replace(span=span)
