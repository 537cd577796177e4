"""TVM's kinds `llvm` and `c`: a CPU, in LLVM's words.

The features of `mattr` change the set of the CPU or of the triple's baseline. Where a text names neither, TVM takes
the triple of the machine it runs on; that is not in the text, so that these features are a leftover.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any

from targetspec import cpu as facts
from targetspec.dialects import llvm
from targetspec.dialects.deltas import delta_of, stated_fields
from targetspec.dialects.tvm_config import Stated, shown
from targetspec.dialects.tvm_text import attribute_word
from targetspec.dialects.words import Source, Word
from targetspec.errors import TargetSyntaxError
from targetspec.kinds.cpu import CpuTarget
from targetspec.target import Target
from targetspec.triple import Triple

_SIGNED = re.compile(r"[+-][A-Za-z0-9][A-Za-z0-9_.+-]*")
OPTIONS = {"triple": "mtriple", "cpu": "mcpu", "abi": "mabi", "float_abi": "mfloat-abi"}
"""The fields for which LLVM has an option of the same text."""

_NAMES = {**OPTIONS, "num_cores": "num-cores", "vector_bits": "vector-width", "model": "model"}
_LONGEST_KEPT = 500
_SOFT_FLOAT = ("+soft-float", "-soft-float")


def read_cpu(
    source: Source, fields: dict[str, Any], places: dict[str, Word], leftovers: list[str]
) -> CpuTarget:
    """Make a CPU of fields, among which `mattr` may be as stated; what has no meaning goes to the leftovers."""
    changes: Stated | None = fields.pop("mattr", None)
    if changes is None or not changes.value:
        return _made(source, fields, places)
    items = _checked(source, changes)
    triple = source.reading(places, lambda: Triple.parse(fields["triple"])) if "triple" in fields else None
    if _has_family(triple, fields.get("cpu")):
        return _changed(source, fields, places, items)
    for item in items:
        _check_somewhere(source, changes, item[1:])
    leftovers.extend(changes.said or (attribute_word("mattr", list(items)),))
    return _made(source, fields, places)


def _made(source: Source, fields: dict[str, Any], places: dict[str, Word]) -> CpuTarget:
    made: CpuTarget = source.reading(places, lambda: CpuTarget(**fields))
    return made


def _checked(source: Source, changes: Stated) -> tuple[str, ...]:
    for item in changes.value:
        if not _SIGNED.fullmatch(item):
            hint = f"write +{item}" if item[:1].isalnum() else ""
            raise source.fault(changes.word, f"a feature of mattr is +name or -name, got {shown(item)}", hint)
    return tuple(changes.value)


def _has_family(triple: Triple | None, cpu: str | None) -> bool:
    """Say whether the triple, or else the CPU, tells which table the features are of."""
    if triple is not None:
        return triple.family in facts.family_names()
    return cpu is not None and len(facts.families_of_cpu(cpu)) == 1


def _changed(
    source: Source, fields: dict[str, Any], places: dict[str, Word], items: tuple[str, ...]
) -> CpuTarget:
    """Let LLVM's reader make the CPU with the features, and add what LLVM has no option for."""
    options = _options(fields, items)
    try:
        target = _of_options(options) if len(options) <= _LONGEST_KEPT else llvm.parse(options).target
    except TargetSyntaxError as error:
        start, end = error.span
        word = _place(error.text[start:end], places)
        raise source.fault(word, error.message, error.hint) from None
    more = {field: value for field, value in fields.items() if field not in OPTIONS}
    made: CpuTarget = source.reading(places, lambda: target.evolve(**more))
    return made


def _options(texts: Mapping[str, str], items: tuple[str, ...]) -> str:
    words = (f"-{option}={texts[field]}" for field, option in OPTIONS.items() if field in texts)
    return " ".join((*words, f"-mattr={','.join(items)}"))


@functools.lru_cache(maxsize=1024)
def changed_fields(texts: tuple[tuple[str, str], ...], items: tuple[str, ...]) -> Mapping[str, Any] | None:
    """Return the fields that the texts of some and the features of `mattr` make; raise TargetspecError.

    None where these features have no meaning, or are none.
    """
    stated = dict(texts)
    triple = Triple.parse(stated["triple"]) if "triple" in stated else None
    if not _has_family(triple, stated.get("cpu")) or not all(map(_SIGNED.fullmatch, items)):
        return None
    target = llvm.parse(_options(stated, items)).target
    return {
        name: value
        for name, default in target.defaults().items()
        if (value := getattr(target, name)) != default
    }


@functools.lru_cache(maxsize=1024)
def _of_options(text: str) -> Target:
    return llvm.parse(text).target


def _check_somewhere(source: Source, changes: Stated, name: str) -> None:
    """Raise TargetSyntaxError for a feature that no architecture has."""
    if name not in _all_features():
        at = changes.word.text.find(name)
        word = Word(name, changes.word.start + at) if at >= 0 else changes.word
        raise source.fault(
            word, f"no architecture has a feature {shown(name)}", "state mtriple or mcpu as well"
        )


@functools.cache
def _all_features() -> frozenset[str]:
    return frozenset(name for family in facts.family_names() for name in facts.feature_names(family))


def _place(part: str, places: dict[str, Word]) -> Word | None:
    for field in ("mattr", *OPTIONS):
        word = places.get(field)
        at = word.text.find(part) if word else -1
        if word and at >= 0:
            return Word(part, word.start + at)
    return places.get("mattr")


def cpu_attributes(target: CpuTarget, unfit: list[tuple[str, str]]) -> dict[str, Any]:
    """Return the attributes that say a CPU; what has none goes to `unfit`."""
    found: dict[str, Any] = {}
    for name, value in stated_fields(target):
        if name in _NAMES and value != "softfp":
            found[_NAMES[name]] = value if type(value) is int else str(value)
        elif name not in ("features", "tuning", "restrictions", "libs", "host"):
            unfit.append((name, "TVM has no attribute for it"))
    changes = list(_signs(target, unfit))
    return {**found, "mattr": changes} if changes else found


def _signs(target: CpuTarget, unfit: list[tuple[str, str]]) -> tuple[str, ...]:
    delta = delta_of(target)
    if delta is None:
        unfit.append(("features", "no change of a CPU's set gives them"))
    elif any(name in delta for name in _SOFT_FLOAT):
        unfit.append(("features", "soft-float is read as the field float_abi"))
    restrictions = (f"+{name}" for name in sorted(target.restrictions))
    return (*(delta or ()), *sorted(target.tuning), *restrictions)
