"""TVM's targets: its string form, its JSON form, and the names of known devices.

    target = string form (`llvm -mcpu=cortex-a72 -mattr=+crc`, see tvm_text) | JSON form (`{"kind": "llvm"}`, see
    tvm_json) | TAG (`nvidia/geforce-rtx-3090`)

Both forms have the same kinds and attributes (tvm_names). What they say of the machine is in the target, and nothing
that TVM fills in by itself: its own machine's triple, `sm_50`, limits of threads. Its kinds `llvm` and `c` are a CPU.
Compiler options are leftovers, and so is the kind where it is the backend and not the machine (`c`, `nvptx`). A target
is written as JSON, which all versions since 0.7 read.

Source: TVM's parser of targets and its registrations of kinds, versions 0.6 to 0.27.
"""

from __future__ import annotations

import functools
import json
import re
from typing import Any

from targetspec.dialects.tvm_config import Config, Stated, Within
from targetspec.dialects.tvm_json import read_json, read_string
from targetspec.dialects.tvm_plain import read_plain
from targetspec.dialects.tvm_reading import read_config
from targetspec.dialects.tvm_text import read_text
from targetspec.dialects.tvm_writing import as_stated, document_of, with_leftovers
from targetspec.dialects.words import Source, Word
from targetspec.errors import NotRepresentableError, TargetSyntaxError, nearest
from targetspec.parsing import Parsed
from targetspec.tags import missing_of_tag, tag, tag_names
from targetspec.target import Target

NAME = "tvm"
PATTERN = (
    r"^[\s\u001c-\u001f\u0085]*(?:"
    r"[{\u0022][^\u0000]*"
    r"|[A-Za-z0-9_-]+(?:[\s\u001c-\u001f\u0085][^\u0000]*)?"
    r"|[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.,-]+)+[\s\u001c-\u001f\u0085]*"
    r")$"
)
"""What every text matches that is read here, as a regular expression of JSON Schema."""

_TAG = re.compile(r"[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.,-]+)+")
_PARTS = re.compile(r"[-/]")
_COMPARED = 64


def parse(text: str) -> Parsed:
    """Read a target in either form, or the one of a tag; TargetSyntaxError says what is wrong where."""
    target, leftovers = read_plain(text) or read_config(_config(Source(text, NAME)))
    return Parsed(target, leftovers, NAME)


def format(target: Target, *, lossy: bool = False) -> str:  # noqa: A001 - the name of every dialect's writer
    """Return the JSON form of a target; NotRepresentableError for what TVM has no attribute for, unless `lossy`."""
    unfit: list[tuple[str, str]] = []
    document = document_of(target, unfit)
    return _written(document, unfit, lossy=lossy)


def format_parsed(parsed: Parsed) -> str:
    """Return one JSON document of a target and its leftovers; in the words of the text that gave them, if it is kept."""
    text = getattr(parsed, "text", "")
    if text:
        config = _config(Source(text, NAME))
        if read_config(config) == (parsed.target, parsed.leftovers):
            return json.dumps(as_stated(config))
    unfit: list[tuple[str, str]] = []
    document = with_leftovers(parsed.target, parsed.leftovers, unfit)
    return _written(document, unfit, lossy=False)


def _written(document: dict[str, Any], unfit: list[tuple[str, str]], *, lossy: bool) -> str:
    if unfit and not (lossy and document):
        raise NotRepresentableError(NAME, tuple(unfit))
    return json.dumps(document)


def _config(source: Source) -> Config:
    return _read(source, _WITHIN)


def _read(source: Source, within: Within) -> Config:
    """Read a whole text, or that of a target within another, in whichever form it is."""
    text = source.text.strip()
    if text.startswith("{"):
        return read_json(source, within)
    if text.startswith('"'):
        return _named(source, read_string(source), within)
    if not text:
        raise source.fault(None, "a target is missing", 'write "llvm" for any CPU')
    if _TAG.fullmatch(text):
        return _tagged(source, Word(text, source.text.index(text)))
    return read_text(source, within)


def _named(source: Source, name: Word, within: Within) -> Config:
    """Read what stands as a JSON string: since 0.21 a kind, a tag or a JSON document, and no options."""
    if " " in name.text and not name.text.startswith("{"):
        raise source.fault(
            name, "TVM reads no options in a JSON string", "write it without the double quotes"
        )
    return within.read(source, name)


def _tagged(source: Source, name: Word) -> Config:
    """Return what a tag stands for, all of it stated at the tag's place."""
    if name.text not in _tags():
        raise _no_tag(source, name)
    return _config_of(source, _document_of_tag(name.text), name)


def _no_tag(source: Source, name: Word) -> TargetSyntaxError:
    missing = missing_of_tag(name.text)
    if missing is not None:
        what, needed = missing
        return source.fault(
            name, f"the tag {name.text!r} needs the {what} {needed!r}, which is not known here"
        )
    near = _near_tags(name.text)
    hint = f"did you mean {' or '.join(near)}?" if near else "list them with tag_names()"
    return source.fault(name, f"TVM has no tag {name.text[:80]!r} that is known here", hint)


@functools.cache
def _tags() -> dict[str, frozenset[str]]:
    """Return the parts of each tag's name."""
    return {name: frozenset(_PARTS.split(name)) for name in tag_names()}


def _near_tags(name: str) -> tuple[str, ...]:
    """Return close names, of those that share most parts: to compare all of them letter by letter takes long."""
    parts = frozenset(_PARTS.split(name[:64]))
    sharing = sorted(_tags(), key=lambda known: len(parts & _tags()[known]), reverse=True)
    return nearest(name, sharing[:_COMPARED])


@functools.cache
def _document_of_tag(name: str) -> dict[str, Any]:
    return document_of(tag(name), [])


def _config_of(source: Source, document: dict[str, Any], place: Word) -> Config:
    stated = {key: _stated(source, value, place) for key, value in document.items() if key != "kind"}
    return Config(source, Word(document["kind"], place.start), stated)


def _stated(source: Source, value: Any, place: Word) -> Stated:
    return Stated(_config_of(source, value, place) if type(value) is dict else value, place)


_WITHIN = Within(_read, _tagged)
