"""TVM's string form, which it took from version 0.6 to 0.20.

    target = KIND { attribute } | TAG
    attribute = dashes NAME "=" value | dashes NAME value | dashes NAME

One dash or more, and a name alone is a flag that is on. White space ends a word but within quotes ('...'); a backslash
takes the meaning from the character behind it. A value that is quoted as a whole loses its quotes and backslashes, and
is then read by the type of its attribute: whole numbers; texts; lists of texts, joined by commas, each of which may be
quoted again; targets, in this form, as JSON or by tag (`-host='llvm -mcpu=cortex-a72'`); lists of targets.
"""

from __future__ import annotations

import functools
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
_LONGEST_KEPT = 100
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
        word = rest[at]
        plain = plain_attribute(kind, word.text) if len(word.text) <= _LONGEST_KEPT else None
        if plain is not None and plain[0] not in stated:
            present, value, start = plain
            written = Word(word.text[start:], word.start + start)
            stated[present] = Stated([*value] if type(value) is list else value, written, (word.text,))
            at += 1
            continue
        name, meant, said = _pair(source, rest, at)
        present = known_attribute(source, kind, name)
        if present in stated or present == "kind":
            raise source.fault(name, f"{present} is stated twice", "state it once")
        stated[present] = Stated(_value(source, kind, present, meant, within), meant, said)
        at += len(said)
    return stated


@functools.lru_cache(maxsize=4096)
def plain_attribute(kind: str, text: str) -> tuple[str, Any, int] | None:
    """Return what a word states by itself: the attribute's present name, its value, and where the value begins in it.

    None where more is needed than the word: the next one, targets within, quotes, a fault.
    """
    found = _OPTION.fullmatch(text)
    if found is None or found[2] is None or "'" in text or "\\" in text:
        return None
    alone = Source(text, "tvm")
    try:
        present = known_attribute(alone, kind, Word(found[1], found.start(1)))
        if present == "kind" or type_of(kind, present) in ("target", "targets"):
            return None
        return present, _value(alone, kind, present, Word(found[2], found.start(2)), None), found.start(2)
    except TargetSyntaxError:
        return None


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


def _value(source: Source, kind: str, name: str, word: Word, within: Within | None) -> Any:
    wanted = type_of(kind, name)
    if wanted == "target" and within is not None:
        return within.read(source, _moved(word, interpreted(word.text)))
    if wanted == "targets" and within is not None:
        items = _items(source, word)
        check_count(source, word, len(items))
        return [within.read(source, _moved(word, interpreted(item))) for item in items]
    if wanted == "list":
        return [text for item in _items(source, word) if (text := _text(source, word, item))]
    meant = _text(source, word, word.text)
    if wanted == "number":
        return _number(source, word, meant)
    if wanted == "flag":
        return _flag(source, word, meant)
    return meant


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


def _number(source: Source, word: Word, meant: str) -> int:
    if not _NUMBER.fullmatch(meant):
        raise source.fault(word, f"expected a whole number, got {meant[:80]!r}")
    return int(meant)


def _flag(source: Source, word: Word, meant: str) -> bool:
    found = _FLAGS.get(meant.lower())
    if found is None:
        raise source.fault(word, f"expected 0, 1, true or false, got {meant[:80]!r}")
    return found
