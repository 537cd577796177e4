"""Read the text of /proc/cpuinfo, of any architecture, into its blocks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

Block = Mapping[str, str]

_NUMBER = re.compile(r"0[xX][0-9a-fA-F]{1,16}|-?[0-9]{1,20}")
_NO_VALUE = "\0"
_STARTS = frozenset({"processor", "CPU part"})


def words(text: str) -> tuple[str, ...]:
    """Return the words of a line, as the kernel writes lists of names."""
    return tuple(text.split())


def read_cpuinfo(text: str) -> tuple[Block, ...]:
    r"""Return one mapping for each processor, or for what stands apart from them ("Hardware" on Arm).

    A block starts at a blank line, or where `processor` or `CPU part` comes again; another key that repeats
    keeps its last value. Lines without a colon are skipped.

    >>> read_cpuinfo("processor : 0\nflags : fpu sse\n\nprocessor : 1\nflags : fpu sse\n")[1]["flags"]
    'fpu sse'
    """
    blocks: list[dict[str, str]] = [{}]
    # the processors of one machine print mostly the same lines, the longest among them
    known: dict[str, tuple[str, str]] = {}
    for line in text.splitlines():
        pair = known.get(line)
        if pair is None:
            key, colon, value = line.partition(":")
            pair = known[line] = (key.strip(), value.strip() if colon else _NO_VALUE)
        key, value = pair
        if not key or (key in _STARTS and key in blocks[-1]):
            blocks.append({})
        if key and value is not _NO_VALUE:
            blocks[-1][key] = value
    return tuple(block for block in blocks if block)


def first_value(blocks: Iterable[Block], *keys: str) -> str | None:
    """Return the first value, not empty, that a block has under one of the keys."""
    return next((block[key] for block in blocks for key in keys if block.get(key)), None)


def common_words(blocks: Iterable[Block], *keys: str) -> frozenset[str]:
    """Return the words that stand under the keys in every block that has one of them."""
    # the processors of one machine mostly print one list
    lists = {block[key] for block in blocks for key in keys if key in block}
    return frozenset.intersection(*(frozenset(text.split()) for text in lists)) if lists else frozenset()


def read_number(text: str | None) -> int | None:
    """Return the decimal or 0x number that is the text's first word, None where that is no number."""
    word = (text or "").split(maxsplit=1)[:1]
    # int() alone takes "1_000" and other scripts' digits, which no kernel prints
    if not word or not _NUMBER.fullmatch(word[0]):
        return None
    return int(word[0], 16 if word[0].lower().startswith("0x") else 10)


def count_processors(blocks: Iterable[Block]) -> int:
    """Return how many logical processors the text lists."""
    return sum("processor" in block and read_number(block["processor"]) is not None for block in blocks)


def count_counted(text: str) -> int | None:
    """Return how many processors the text says that there are ("# processors    : 4", on IBM Z)."""
    found = re.search(r"^# processors\s*:\s*(\d{1,6})\s*$", text, re.MULTILINE | re.ASCII)
    return int(found[1]) if found else None


def count_cores(blocks: Iterable[Block]) -> int | None:
    """Return how many physical cores the x86 fields `physical id` and `core id` tell apart, None without them."""
    ids = {(block.get("physical id"), block["core id"]) for block in blocks if "core id" in block}
    return len(ids) or None
