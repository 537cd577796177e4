"""Where the members of a JSON text are written: JSON paths to spans of offsets, in one pass over the text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

import attrs

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.DOTALL)
_OPENING, _CLOSING = "{[", "}]"
# What is longer is no text that a person looks for a place in, and costs time to look through.
_LONGEST = 100_000

Span = tuple[int, int]


@attrs.define
class _Container:
    """An object or array that is open: its path, where its member starts, and the member that is read.

    The path is None where nobody asks for what is inside, so that deep nesting makes no long paths.
    """

    path: str | None
    is_object: bool
    start: int
    at: int = 0
    key: str = ""
    key_start: int | None = None

    def member(self, start: int, asked: frozenset[str]) -> tuple[str | None, int]:
        """Return the path of the member that is read, if it is asked for, and where it starts: at its key, if it has one."""
        if self.is_object and self.key_start is not None:
            start = self.key_start
        if self.path is None:
            return None, start
        path = f"{self.path}.{self.key}" if self.is_object else f"{self.path}[{self.at}]"
        return (path if path in asked else None), start


def places_of(text: str, paths: Iterable[str]) -> dict[str, Span]:
    """Return the span of the member at each path such as `$.host.cpu` or `$.members[1]`, with its key.

    The last one where there are two; of one that is missing, what should hold it; of a text beyond all that people
    write, the whole.

    >>> text = '{"kind": "cpu", "num_cores": -4}'
    >>> start, end = places_of(text, ["$.num_cores"])["$.num_cores"]
    >>> text[start:end]
    '"num_cores": -4'
    """
    whole = 0, len(text)
    holders = {path: tuple(_holders(path)) for path in paths}
    asked = frozenset(holder for each in holders.values() for holder in each)
    found = dict(_places(text, asked)) if len(text) <= _LONGEST and asked - {"$"} else {}
    return {
        path: next((found[holder] for holder in each if holder in found), whole)
        for path, each in holders.items()
    }


def _holders(path: str) -> Iterator[str]:
    """Give a path and those of what holds it, the innermost first."""
    while path:
        yield path
        path = path[: max(path.rfind("."), path.rfind("["), 0)]


def _places(text: str, asked: frozenset[str]) -> Iterator[tuple[str, Span]]:
    open_ones: list[_Container] = []
    awaits_key = False
    for token in _TOKEN.finditer(text):
        word, inside = token[0], open_ones[-1] if open_ones else None
        if word in _OPENING:
            path, start = inside.member(token.start(), asked) if inside else ("$", token.start())
            open_ones.append(_Container(path, word == "{", start))
            awaits_key = word == "{"
        elif inside is None:
            return
        elif word in _CLOSING:
            if inside.path is not None:
                yield inside.path, (inside.start, token.end())
            open_ones.pop()
        elif word in ",:":
            awaits_key = word == "," and inside.is_object
            inside.at += word == ","
        elif awaits_key:
            inside.key, inside.key_start = _name(word), token.start()
        else:
            path, start = inside.member(token.start(), asked)
            if path is not None:
                yield path, (start, token.end())


def _name(word: str) -> str:
    try:
        return str(json.loads(word))
    except ValueError:
        return word
