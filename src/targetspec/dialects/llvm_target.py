"""The target that stated fields make, with signed features as `-mattr` has them.

LLVM has features, tuning, restrictions and soft float in one list; here each has its field.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

from targetspec import cpu as facts
from targetspec.dialects.words import Source, Word, signed
from targetspec.errors import TargetspecError
from targetspec.features import FeatureSet
from targetspec.kinds.cpu import CpuTarget
from targetspec.kinds.cpu_ground import Ground, ground_of
from targetspec.kinds.cpu_width import changed
from targetspec.triple import Triple

SOFT_FLOAT = "soft-float"
_LONGEST_KEPT_TEXT = 1000


def target_of(
    source: Source,
    places: dict[str, Word],
    fields: dict[str, Any],
    base: FeatureSet | None,
    items: list[Word],
) -> CpuTarget:
    """Return the target of fields whose places are known, with signed features that change a set, the CPU's by default."""
    if len(source.text) <= _LONGEST_KEPT_TEXT:
        kept = _kept(tuple(fields.items()), base, tuple([item.text for item in items]))
        if kept is not None:
            return kept
    named = {**places, **{f"item {index}": item for index, item in enumerate(items)}}
    return source.reading(named, lambda: _made(source, fields, base, items))  # type: ignore[no-any-return]


# Texts that differ in what is no fact of the machine have one target.
@functools.lru_cache(maxsize=1024)
def _kept(
    fields: tuple[tuple[str, Any], ...], base: FeatureSet | None, items: tuple[str, ...]
) -> CpuTarget | None:
    """Return the target; None where they make none, for its faults have places."""
    try:
        return _made(Source("", "llvm"), dict(fields), base, [Word(item, 0) for item in items])
    except TargetspecError:
        return None


def _made(source: Source, fields: dict[str, Any], base: FeatureSet | None, items: list[Word]) -> CpuTarget:
    if base is not None:
        fields["features"] = base
    if not items:
        return CpuTarget(**fields)
    if type(fields.get("triple")) is str:
        fields["triple"] = Triple.parse(fields["triple"])
    ground = ground_of(fields.get("triple"), fields.get("cpu"))
    if ground.family is None:
        hint = "state the triple, or a CPU that only one architecture has"
        raise source.fault(items[0], "features mean nothing without an architecture", hint)
    return CpuTarget(**_with_features(source, fields, ground, items))


def _with_features(
    source: Source, fields: dict[str, Any], ground: Ground, items: list[Word]
) -> dict[str, Any]:
    """Return the fields with what `-mattr` states: LLVM has features, tuning, restrictions and soft float in one list."""
    family = str(ground.family)
    by_role: dict[str, list[Word]] = {"set": [], "tuning": [], "inverse": [], "float": []}
    for item in items:
        by_role[_place(family, item.text[1:])].append(item)
    if by_role["set"]:
        base = fields.get("features") or ground.features
        if base is None:
            raise source.fault(by_role["set"][0], "there is no CPU whose set these change", "state -mcpu=")
        fields["features"] = changed(base, fields.get("triple"), *signed(by_role["set"]))
    if by_role["tuning"]:
        fields["tuning"] = _signed_once(source, family, by_role["tuning"])
    if by_role["inverse"]:
        names = _signed_once(source, family, by_role["inverse"])
        fields["restrictions"] = frozenset(name[1:] for name in names if name[0] == "+")
    if by_role["float"]:
        stated = fields.get("float_abi") or ground.implied.get("float_abi")
        fields["float_abi"] = _float_abi(source, stated, by_role["float"])
    return fields


def _place(family: str, name: str) -> str:
    feature = facts.canonical_feature(family, name)
    if feature == SOFT_FLOAT:
        return "float"
    role = facts.role(family, feature)
    return role if role in ("tuning", "inverse") else "set"


def _signed_once(source: Source, family: str, items: Iterable[Word]) -> frozenset[str]:
    signs: dict[str, str] = {}
    for item in items:
        name = facts.canonical_feature(family, item.text[1:])
        if signs.setdefault(name, item.text[0]) != item.text[0]:
            raise source.fault(item, f"{name} is asked for and refused at once", "state one of the two")
    return frozenset(sign + name for name, sign in signs.items())


def _float_abi(source: Source, stated: str | None, items: list[Word]) -> str | None:
    """Return how floats are passed: `+soft-float` says so, and `-soft-float` no more than that it is not soft."""
    signs = {item.text[0] for item in items}
    if len(signs) > 1 or (stated is not None and (stated == "soft") != ("+" in signs)):
        raise source.fault(items[-1], "soft float is asked for and refused at once", "state one of the two")
    return "soft" if "+" in signs else stated
