"""From a target of ours, and what is left over beside it, to the JSON document that TVM reads today."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from typing import Any

from targetspec.cpu import feature_names
from targetspec.dialects.deltas import stated_fields
from targetspec.dialects.tvm_config import Config, Within
from targetspec.dialects.tvm_cpu import cpu_attributes
from targetspec.dialects.tvm_names import KINDS, Attribute, attributes
from targetspec.dialects.tvm_reading import USUAL
from targetspec.dialects.tvm_text import read_attributes, words_of
from targetspec.dialects.words import Source, Word
from targetspec.kinds.cpu import CpuTarget
from targetspec.rules import version_key
from targetspec.target import Target

Unfit = list[tuple[str, str]]
_NO_ATTRIBUTE = "TVM has no attribute for it"
_ROCM_TRIPLE = {"amdhsa": "amdgcn-amd-amdhsa-hcc"}
_MOST_PARTS = {"vulkan-version": ((1 << 7) - 1, (1 << 10) - 1, (1 << 12) - 1), "spirv-version": (255, 255)}


def document_of(target: Target, unfit: Unfit, kind: str = "") -> dict[str, Any]:
    """Return the document of a target, for one of TVM's kinds; what it cannot hold goes to `unfit`."""
    kind = kind or USUAL.get(target.kind, target.kind)
    if kind not in KINDS:
        unfit.append(("kind", f"TVM has no kind for {target.kind}"))
        return {}
    document = {"kind": kind, **_attributes(target, kind, unfit)}
    if target.libs and "libs" not in document:
        document["libs"] = sorted(target.libs)
    if target.host is not None:
        document["host"] = document_of(target.host, unfit)
    return document


def _attributes(target: Target, kind: str, unfit: Unfit) -> dict[str, Any]:
    if isinstance(target, CpuTarget):
        return cpu_attributes(target, unfit)
    if target.is_composite:
        return {"devices": [document_of(member, unfit) for member in _members(target)]}
    found: dict[str, Any] = {}
    changes: list[str] = []
    for name, value in stated_fields(target):
        if name in _CHANGES.get(kind, ()):
            changes.extend(_changes_of(kind, name, value, unfit))
        elif name not in ("libs", "host"):
            found.update(_written(kind, name, value, unfit))
    return {**found, "mattr": changes} if changes else found


@functools.cache
def _by_field(kind: str) -> Mapping[str, tuple[tuple[str, Attribute], ...]]:
    """Return the attributes that state each field, `arch` before `mcpu`."""
    found: dict[str, tuple[tuple[str, Attribute], ...]] = {}
    for name, attribute in attributes(kind).items():
        if attribute.field:
            found[attribute.field] = (*found.get(attribute.field, ()), (name, attribute))
    if kind == "cuda":
        found["arch"] = found["arch"][:1]
    return found


def _written(kind: str, field: str, value: Any, unfit: Unfit) -> dict[str, Any]:
    ways = _by_field(kind).get(field, ())
    if not ways:
        unfit.append((field, _NO_ATTRIBUTE))
        return {}
    name, attribute = ways[0]
    if attribute.reads == "flag":
        return _flags(ways, field, value, unfit)
    if attribute.reads == "mask":
        return {name: sum(1 << at for at, one in enumerate(attribute.adds) if one in value)}
    if attribute.reads in _MOST_PARTS:
        return _version(name, attribute, value, unfit)
    if field == "os":
        return _rocm_system(name, value, unfit)
    prefix = "hexagon" if field == "version" else ""
    return {name: value if type(value) is int else f"{prefix}{value}"}


def _flags(
    ways: Iterable[tuple[str, Attribute]], field: str, value: frozenset[str], unfit: Unfit
) -> dict[str, Any]:
    names = {name: attribute.adds for name, attribute in ways if value.issuperset(attribute.adds)}
    rest = value.difference(*names.values())
    if rest:
        unfit.append((field, f"{_NO_ATTRIBUTE}: {', '.join(sorted(rest))}"))
    return dict.fromkeys(names, True)


def _version(name: str, attribute: Attribute, value: str, unfit: Unfit) -> dict[str, Any]:
    most = _MOST_PARTS[attribute.reads]
    key = version_key(value) or ()
    parts = (*key, *(0 for _ in most))[: max(len(key), len(most))]
    if (
        len(parts) > len(most)
        or any(part > limit for part, limit in zip(parts, most, strict=True))
        or not any(parts)
    ):
        unfit.append((attribute.field, f"{value} does not fit into a number as {name} is"))
        return {}
    if attribute.reads == "vulkan-version":
        return {name: parts[0] << 22 | parts[1] << 12 | parts[2]}
    return {name: parts[0] << 16 | parts[1] << 8}


def _rocm_system(name: str, value: str, unfit: Unfit) -> dict[str, Any]:
    if value not in _ROCM_TRIPLE:
        unfit.append(("os", f"TVM's only triple is {_ROCM_TRIPLE['amdhsa']}"))
        return {}
    return {name: _ROCM_TRIPLE[value]}


_OWN_FIELD = re.compile(r"hvx(?:v[0-9]|-length|\Z)")
_CHANGES = {"hexagon": ("hvx_bytes", "hvx_version", "extensions"), "rocm": ("cumode",)}


def _changes_of(kind: str, name: str, value: Any, unfit: Unfit) -> list[str]:
    if kind == "rocm":
        return [f"{'+' if value else '-'}cumode"]
    if name == "hvx_bytes":
        return [f"+hvx-length{value}b"]
    if name == "hvx_version":
        return [f"+hvx{value}"]
    known = {one for one in feature_names("hexagon") if not _OWN_FIELD.match(one)}
    if not value <= known:
        unfit.append((name, f"LLVM has no such extension: {', '.join(sorted(value - known))}"))
    return [f"+{one}" for one in sorted(value & known)]


# -- with leftovers -----------------------------------------------------------------------------------


def with_leftovers(target: Target, leftovers: tuple[str, ...], unfit: Unfit) -> dict[str, Any]:
    """Return the document of a target and the words that were left over beside it."""
    backend = leftovers[0] if leftovers and not leftovers[0].startswith("-") else ""
    document = document_of(target, unfit, backend)
    source = Source(" ".join(leftovers[1:] if backend else leftovers), "tvm")
    for name, stated in read_attributes(source, document["kind"], words_of(source), _WORDS).items():
        if name == "devices":
            pairs = zip(_members(target), stated.value, strict=False)
            document[name] = [with_leftovers(member, _words(words), unfit) for member, words in pairs]
        elif isinstance(stated.value, Config) and target.host is not None:
            document["host"] = with_leftovers(target.host, _words(stated.value), unfit)
        else:
            document[name] = _merged(document.get(name), stated.value)
    return document


def _as_words(source: Source, within: Within) -> Config:  # noqa: ARG001 - the signature of a reader
    """Keep the text of leftovers of a target within the target, which are no target themselves."""
    return Config(source, Word(source.text, 0), {})


_WORDS = Within(_as_words, lambda source, word: Config(source, word, {}))


def _words(config: Config) -> tuple[str, ...]:
    return tuple(word.text for word in words_of(config.source))


def _members(target: Target) -> tuple[Target, ...]:
    found: tuple[Target, ...] = getattr(target, "members", ())
    return found


def _merged(there: Any, value: Any) -> Any:
    if type(value) is not list or type(there) is not list:
        return value
    return [*there, *(one for one in value if one not in there)]


def as_stated(config: Config) -> dict[str, Any]:
    """Return the document that says what a config says, in its own values."""
    document: dict[str, Any] = {"kind": config.kind.text}
    for name, stated in config.stated.items():
        document[name] = _plain(stated.value)
    return document


def _plain(value: Any) -> Any:
    if isinstance(value, Config):
        return as_stated(value)
    if type(value) is list:
        return [_plain(item) for item in value]
    return value
