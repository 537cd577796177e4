"""Where the members of a JSON text are written: a JSON path to a span of offsets, in one pass over the text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

import attrs

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.DOTALL)
_OPENING, _CLOSING = "{[", "}]"

Span = tuple[int, int]


@attrs.define
class _Container:
    """An object or array that is open: its path, where its member starts, and the member that is read."""

    path: str
    is_object: bool
    start: int
    at: int = 0
    key: str = ""
    key_start: int | None = None

    def member(self, start: int) -> tuple[str, int]:
        """Return the path of the member that is read, and where it starts: at its key, if it has one."""
        if self.is_object:
            return f"{self.path}.{self.key}", start if self.key_start is None else self.key_start
        return f"{self.path}[{self.at}]", start


def place_of(text: str, path: str) -> Span:
    """Return the span of the member at a path such as `$.host.cpu` or `$.members[1]`, with its key.

    The last one where there are two; of one that is missing, what should hold it.

    >>> text = '{"kind": "cpu", "num_cores": -4}'
    >>> start, end = place_of(text, "$.num_cores")
    >>> text[start:end]
    '"num_cores": -4'
    """
    return place_among(places_of(text), path)


def places_of(text: str) -> dict[str, Span]:
    """Return the span of each member by its path, and of the whole text by no path, for many questions about one text."""
    return {"": (0, len(text)), **dict(_places(text))}


def place_among(places: Mapping[str, Span], path: str) -> Span:
    """Return what `place_of` does, of a text whose places are known."""
    while path not in places and len(path) > 1:
        path = path[: max(path.rfind("."), path.rfind("["), 1)]
    return places.get(path, places[""])


def _places(text: str) -> Iterator[tuple[str, Span]]:
    open_ones: list[_Container] = []
    awaits_key = False
    for token in _TOKEN.finditer(text):
        word, inside = token[0], open_ones[-1] if open_ones else None
        if word in _OPENING:
            path, start = inside.member(token.start()) if inside else ("$", token.start())
            open_ones.append(_Container(path, word == "{", start))
            awaits_key = word == "{"
        elif inside is None:
            return
        elif word in _CLOSING:
            yield inside.path, (inside.start, token.end())
            open_ones.pop()
        elif word in ",:":
            awaits_key = word == "," and inside.is_object
            inside.at += word == ","
        elif awaits_key:
            inside.key, inside.key_start = _name(word), token.start()
        else:
            path, start = inside.member(token.start())
            yield path, (start, token.end())


def _name(word: str) -> str:
    try:
        return str(json.loads(word))
    except ValueError:
        return word
