"""TVM's string form, which it took from version 0.6 to 0.20.

    target = KIND { attribute } | TAG
    attribute = dashes NAME "=" value | dashes NAME value | dashes NAME

One dash or more, and a name alone is a flag that is on. White space ends a word but within quotes ('...'); a backslash
takes the meaning from the character behind it. A value that is quoted as a whole loses its quotes and backslashes, and
is then read by the type of its attribute: whole numbers; texts; lists of texts, joined by commas, each of which may be
quoted again; targets, in this form, as JSON or by tag (`-host='llvm -mcpu=cortex-a72'`); lists of targets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from targetspec.dialects.tvm_config import (
    Config,
    Stated,
    Within,
    check_count,
    known_attribute,
    known_kind,
    type_of,
)
from targetspec.dialects.words import Source, Word
from targetspec.errors import TargetSyntaxError

_WORD = re.compile(r"(?:[^\s'\\]|\\.|\\\Z|'(?:[^'\\]|\\.)*+')++", re.DOTALL)
_ITEM = re.compile(r"(?:[^,'\\]|\\.|\\\Z|'(?:[^'\\]|\\.)*+')++", re.DOTALL)
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*+'", re.DOTALL)
_MEANT = re.compile(r"'(?:[^'\\]|\\.)*+(?:'|\Z)|\\.|\\\Z", re.DOTALL)
_OPTION = re.compile(r"-+([^-=][^=]*)(?:=(.+))?", re.DOTALL)
_UNQUOTED = re.compile(r"\S+")
_SPACE = re.compile(r"\s*")
_NUMBER = re.compile(r"[+-]?[0-9]{1,19}")
_PLAIN = re.compile(r"[^\s,'\\]+")
_FLAGS = {"0": False, "1": True, "false": False, "true": True}


def words_of(source: Source) -> list[Word]:
    """Split a text at white space outside quotes."""
    if "'" not in source.text and "\\" not in source.text:
        return [Word(found[0], found.start()) for found in _UNQUOTED.finditer(source.text)]
    words, at = [], _end(_SPACE, source.text, 0)
    while at < len(source.text):
        found = _WORD.match(source.text, at)
        stop = found.end() if found else at
        if source.text[stop : stop + 1] == "'":
            raise source.fault(Word("'", stop), "a quote is not closed", r"write \' for a quote itself")
        words.append(Word(source.text[at:stop], at))
        at = _end(_SPACE, source.text, stop)
    return words


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def read_text(source: Source, within: Within) -> Config:
    """Read the string form; raise TargetSyntaxError."""
    kind, *rest = words_of(source)
    return Config(source, kind, read_attributes(source, known_kind(source, kind), rest, within))


def read_attributes(source: Source, kind: str, words: Iterable[Word], within: Within) -> dict[str, Stated]:
    """Read the words behind the kind."""
    stated: dict[str, Stated] = {}
    rest = list(words)
    at = 0
    while at < len(rest):
        name, meant, said = _pair(source, rest, at)
        present = known_attribute(source, kind, name)
        if present in stated or present == "kind":
            raise source.fault(name, f"{present} is stated twice", "state it once")
        stated[present] = Stated(_value(source, kind, present, meant, within), meant, said)
        at += len(said)
    return stated


def _pair(source: Source, words: list[Word], at: int) -> tuple[Word, Word, tuple[str, ...]]:
    """Return the name and value of the attribute at a place, and the words that state it."""
    word = words[at]
    found = _OPTION.fullmatch(word.text)
    if found is None:
        raise _no_attribute(source, word)
    name, said = Word(found[1], word.start + found.start(1)), (word.text,)
    if found[2] is not None:
        return name, Word(found[2], word.start + found.start(2)), said
    if at + 1 < len(words) and not words[at + 1].text.startswith("-"):
        return name, words[at + 1], (*said, words[at + 1].text)
    return name, Word("1", word.start), said


def _no_attribute(source: Source, word: Word) -> TargetSyntaxError:
    if "=" in word.text and word.text.startswith("-"):
        hint = "leave it out where nothing is stated"
        return source.fault(word, "an attribute has a name and a value", hint)
    return source.fault(word, "expected an attribute", "write -NAME=VALUE, and quote what has spaces")


def interpreted(text: str) -> str:
    """Return what a written value means: quotes around the whole go, and backslashes outside of inner quotes."""
    if "'" not in text and "\\" not in text:
        return text
    if _QUOTED.fullmatch(text):
        text = text[1:-1]
    return _MEANT.sub(lambda found: found[0] if found[0][0] == "'" else found[0][1:], text)


def quoted(text: str) -> str:
    """Return how a value is written so that it is read as it stands."""
    if _PLAIN.fullmatch(text):
        return text
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def quoted_list(texts: Iterable[str]) -> str:
    """Return how a list is written."""
    items = [quoted(text) for text in texts]
    joined = ",".join(items)
    return joined if items and "'" not in joined else quoted(joined)


def attribute_word(name: str, value: Any) -> str:
    """Return the word that states an attribute; a list's items are texts."""
    if type(value) is list:
        return f"-{name}={quoted_list(value)}"
    return f"-{name}={int(value)}" if type(value) is bool else f"-{name}={quoted(str(value))}"


def _value(source: Source, kind: str, name: str, word: Word, within: Within) -> Any:
    wanted = type_of(kind, name)
    if wanted == "target":
        return within.read(source, _moved(word, interpreted(word.text)))
    if wanted == "targets":
        items = _items(source, word)
        check_count(source, word, len(items))
        return [within.read(source, _moved(word, interpreted(item))) for item in items]
    if wanted == "list":
        return [text for item in _items(source, word) if (text := _text(source, word, item))]
    meant = _text(source, word, word.text)
    return _read_as(source, word, meant, wanted)


def _read_as(source: Source, word: Word, meant: str, wanted: str) -> Any:
    try:
        return number_of(meant) if wanted == "number" else flag_of(meant) if wanted == "flag" else meant
    except ValueError as error:
        raise source.fault(word, f"{error}, got {meant[:80]!r}") from None


def _text(source: Source, word: Word, written: str) -> str:
    meant = interpreted(written).strip(" ")
    if not meant.isprintable():
        raise source.fault(word, f"a value is one line of text, got {meant[:80]!r}")
    return meant


def _moved(word: Word, text: str) -> Word:
    """Return a text within a word at its place, or at that of the word where escapes hide it."""
    inside = word.text.find(text)
    return Word(text, word.start + max(0, inside))


def _items(source: Source, word: Word) -> list[str]:
    meant = interpreted(word.text)
    if "'" not in meant and "\\" not in meant:
        return [item for item in meant.split(",") if item]
    items, at = [], 0
    while at < len(meant):
        found = _ITEM.match(meant, at)
        stop = found.end() if found else at
        if meant[stop : stop + 1] == "'":
            raise source.fault(word, "a quote is not closed", "quote each item of the list")
        if found:
            items.append(found[0])
        at = stop + 1
    return items


def number_of(text: str) -> int:
    """Return a whole number; ValueError says that a text is none."""
    if not _NUMBER.fullmatch(text):
        raise ValueError("expected a whole number")
    return int(text)


def flag_of(text: str) -> bool:
    """Return what a text says of a flag; ValueError says that it says nothing."""
    found = _FLAGS.get(text.lower())
    if found is None:
        raise ValueError("expected 0, 1, true or false")
    return found
