"""Programs that a command line begins with, and whose options a dialect reads."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Protocol, TypeVar

# Each dialect's, as regular expressions; GCC's driver is in `gcc_names`, for its name may hold the triple.
CLANG = r"(?:clang(?:\+\+|-cl|-cpp)?|flang|llc|lli|llvm-mc|opt)(?:-[0-9][0-9.]*)?(?:\.exe)?"
ZIG = r"zig(?:\.exe)?"
RUST = r"(?:rustc|cargo)(?:\.exe)?"
NVCC = r"nvcc(?:\.exe)?"

_FOLDER = r"(?:[A-Za-z0-9_.+/\\:-]*[/\\])?"
# What a name of these begins with may be a triple: aarch64-linux-gnu-clang.
_CLANG = re.compile(rf"{_FOLDER}(?:(?P<triple>[A-Za-z0-9_.+-]+)-)?(?P<program>{CLANG})")
_SUBCOMMAND = re.compile(r"[a-z]+(?:\+\+)?(?:-[a-z]+)?")


def command(*programs: str) -> str:
    """Return the regular expression of a text that begins with one of some programs."""
    return rf"{_FOLDER}(?:{'|'.join(programs)})(?:\s|$)"


CLANG_COMMAND = command(rf"(?:[A-Za-z0-9_.+-]+-)?{CLANG}")


@functools.lru_cache(maxsize=1024)
def clang_of(text: str) -> tuple[str, str | None, int] | None:
    """Return the program of LLVM's that a word names, the triple in front of it and where; None where it names none."""
    found = _CLANG.fullmatch(text)
    return None if found is None else (found["program"], found["triple"], max(found.start("triple"), 0))


class _Word(Protocol):
    @property
    def text(self) -> str: ...


_W = TypeVar("_W", bound=_Word)


def options_of(words: Sequence[_W], program: str) -> tuple[Sequence[_W], bool]:
    """Return the words behind a program and its subcommand, and whether the words begin with it."""
    if not words or re.fullmatch(_FOLDER + program, words[0].text) is None:
        return words, False
    subcommand = len(words) > 1 and _SUBCOMMAND.fullmatch(words[1].text) is not None
    return words[1 + subcommand :], True
