"""Files that a command reads: their bytes, whole or by lines, within limits, and what to say of those that cannot be read."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from targetspec.commands.command import open_stream, shown
from targetspec.errors import Problem
from targetspec.fields import LONGEST_DOCUMENT

MOST_BYTES = 6 * LONGEST_DOCUMENT  # a character may be written as six, \u0000
MANY_BYTES = 1 << 26
"""The most bytes that a file of texts is read for: far more than anyone writes, and an end to a device that has none."""

# What Linux takes for the longest path: a file is told by its whole name.
_LONGEST_PATH = 4096


def opened(file: str) -> contextlib.AbstractContextManager[BinaryIO]:
    """Return a file's stream of bytes, standard input for `-`; OSError for what is none, whatever its name."""
    if file == "-":
        return contextlib.nullcontext(open_stream(sys.stdin, "input").buffer)
    try:
        return Path(file).open("rb")
    except ValueError as error:  # a name with a NUL
        raise OSError(str(error)) from None


def content(file: str) -> bytes:
    """Return a file's bytes, no more than just beyond the limit for a document."""
    with opened(file) as stream:
        return stream.read(MOST_BYTES + 1)


def lines_of(file: str, most: int | None = None) -> Iterator[tuple[int, bytes | Problem]]:
    """Give the number and bytes of each line that is not blank; a Problem, and no more, where a limit is passed.

    `most` is the limit for the whole file, in bytes.
    """
    with opened(file) as stream:
        number = seen = 0
        while line := stream.readline(MOST_BYTES + 1):
            number += 1
            seen += len(line)
            if len(line) > MOST_BYTES or (most is not None and seen > most):
                what = "line" if len(line) > MOST_BYTES else "file"
                limit = MOST_BYTES if what == "line" else most
                yield number, Problem("", f"the {what} is longer than {limit} bytes", "nothing after is read")
                return
            if line.strip():
                yield number, line.rstrip(b"\r\n")


def place_of(file: str, *at: int) -> str:
    """Return a place in a file as compilers write it."""
    return ":".join((shown(file, _LONGEST_PATH), *map(str, at)))


def unreadable(error: OSError) -> Problem:
    """Return the fault of a file that cannot be read."""
    return Problem("", f"cannot be read: {error.strerror or error}", "name a file")
