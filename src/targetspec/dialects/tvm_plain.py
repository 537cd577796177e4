"""The string form of TVM where each word states one field by itself: the common case, word by word from memory.

What needs more than its word (lists, hosts, quotes, values behind a space), and whatever is at fault, is left to the
other readers, which read the text from its beginning and know the places for errors.
"""

from __future__ import annotations

import functools
from typing import Any

from targetspec import registry
from targetspec.dialects.tvm_config import attribute_of
from targetspec.dialects.tvm_names import KINDS
from targetspec.dialects.tvm_reading import USUAL, Read, Taking, take
from targetspec.dialects.tvm_text import plain_attribute
from targetspec.dialects.words import Source
from targetspec.errors import TargetspecError, TargetSyntaxError

_LONGEST_WORD, _LONGEST = 100, 1000


def read_plain(text: str) -> Read | None:
    """Return the target and leftovers of a text; None where another reader must have it."""
    if len(text) > _LONGEST:
        return None
    kind, *words = text.split() or [""]
    ours = KINDS.get(kind)
    if ours is None or ours == "composite" or USUAL.get(ours, ours) != kind:
        return None
    fields: dict[str, Any] = {}
    leftovers = []
    seen: set[str] = set()
    for word in words:
        effect = _effect(kind, word)
        if effect is None or effect[0] in seen or effect[1] in fields:
            return None
        name, field, value = effect
        seen.add(name)
        if field is None:
            leftovers.append(word)
        else:
            fields[field] = value
    try:
        return registry.kind(ours)(**fields), tuple(leftovers)
    except TargetspecError:
        return None


@functools.lru_cache(maxsize=4096)
def _effect(kind: str, word: str) -> tuple[str, str | None, Any] | None:
    """Return the attribute of a word, and the field with the value that it states, None for an option's field."""
    found = plain_attribute(kind, word) if len(word) <= _LONGEST_WORD else None
    if found is None or found[0] == "cl-opt":
        return None
    name, value, _ = found
    attribute = attribute_of(kind, name)
    if attribute.reads == "option":
        return name, None, None
    if attribute.reads not in ("number", "text"):
        return None
    try:
        (stated,) = take(Taking(Source(word, "tvm"), kind), name, value).items()
    except TargetSyntaxError:
        return None
    return name, *stated
