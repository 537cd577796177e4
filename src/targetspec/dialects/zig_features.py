"""The CPU of a zig command, `model+a-b`, as the fields of a target: features, tuning, restrictions and soft float."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from typing import Any

from targetspec import cpu as tables
from targetspec.dialects import zig_cpus
from targetspec.dialects.words import Source, Word, signed
from targetspec.features import FeatureSet
from targetspec.kinds.cpu import CpuTarget, ground_of
from targetspec.kinds.cpu_width import changed
from targetspec.registry import nearest
from targetspec.triple import Triple

_ITEM = re.compile(r"[+-][^+-]*")
_SOFT_FLOAT = "soft-float"
_NATIVE = "the text 'native' is this machine, with the features it really has"


def made(source: Source, triple: Triple, os: str, query: Word, cpu: Word | None) -> CpuTarget:
    """Return the target of a triple, a system of zig's and a CPU, None where none is stated."""
    if cpu is None:
        return source.reading({"triple": query}, lambda: CpuTarget(triple=triple))  # type: ignore[no-any-return]
    model, items = _split(source, cpu)
    family = zig_cpus.family_of(triple.arch)
    name = zig_cpus.baseline_model(triple.arch, os) if model.text == "baseline" else model.text
    own = zig_cpus.OWN_CPUS.get(family or "", {}).get(name)
    fields: dict[str, Any] = {"triple": triple}
    if own is None:
        fields["cpu"] = _cpu(source, family, model, name)
    added, removed = _named(source, family, items)
    places = {
        "triple": query,
        "cpu": model,
        **{f"item {i}": word for i, word in enumerate((*added, *removed))},
    }

    def construct() -> CpuTarget:
        whole = [Word(f"+{feature}", model.start) for feature in own.split()] if own else []
        base = _base(triple, fields.get("cpu"), family, own)
        return CpuTarget(**fields, **_by_role(source, base, family, [*whole, *added, *removed], triple))

    return source.reading(places, construct)  # type: ignore[no-any-return]


@functools.lru_cache(maxsize=256)
def own_fields(family: str, name: str) -> dict[str, Any]:
    """Return the fields that one of zig's own models states of a target."""
    items = [Word(f"+{feature}", 0) for feature in zig_cpus.OWN_CPUS[family][name].split()]
    return _by_role(Source(name, "zig"), FeatureSet.closed(family, ()), family, items)


def _split(source: Source, cpu: Word) -> tuple[Word, list[Word]]:
    """Return the model, and the signed names behind it."""
    found = _ITEM.search(cpu.text)
    end = found.start() if found else len(cpu.text)
    model = Word(cpu.text[:end], cpu.start)
    if model.text == "native":
        raise source.fault(model, "'native' names no CPU: it means another one on each machine", _NATIVE)
    if not model.text:
        raise source.fault(model, "unknown CPU ''", "name one, or baseline, before the features")
    return model, [Word(item[0], cpu.start + item.start()) for item in _ITEM.finditer(cpu.text, end)]


def _cpu(source: Source, family: str | None, model: Word, name: str) -> str:
    found = zig_cpus.llvm_cpu(family, name)
    if found is None:
        near = nearest(name, zig_cpus.cpus(str(family)))
        hint = f"did you mean {' or '.join(near)}?" if near else "`zig targets` has the names"
        raise source.fault(model, f"unknown CPU {name[:80]!r} for {family}", hint)
    return found


def _named(source: Source, family: str | None, items: Iterable[Word]) -> tuple[list[Word], list[Word]]:
    """Return the items under LLVM's names: those added, and those removed."""
    added: dict[str, Word] = {}
    removed: dict[str, Word] = {}
    for item in {item.text: item for item in items}.values():
        name = _feature(source, family, item)
        here, there = (added, removed) if item.text[0] == "+" else (removed, added)
        if name in there:
            raise source.fault(
                item, f"{item.text[1:]} is asked for and refused at once", "state one of the two"
            )
        here[name] = Word(item.text[0] + name, item.start)
    return list(added.values()), list(removed.values())


def _feature(source: Source, family: str | None, item: Word) -> str:
    name = item.text[1:]
    if family is None:
        raise source.fault(item, "there is no table of this architecture's features", "leave them out")
    found = zig_cpus.features(family).get(name)
    if found is None and name in zig_cpus.OWN_FEATURES.get(family, ()):
        raise source.fault(item, f"LLVM has no feature {name!r}, which is zig's own", "leave it out")
    if found is None:
        near = nearest(name, zig_cpus.features(family))
        hint = f"did you mean {' or '.join(near)}?" if near else "`zig targets` has the names"
        raise source.fault(item, f"unknown CPU feature {name[:80]!r} for {family}", hint)
    return found


def _base(triple: Triple, cpu: str | None, family: str | None, own: str | None) -> FeatureSet | None:
    if own is None or family is None:
        return ground_of(triple, cpu).features
    return FeatureSet.closed(family, ())


def _by_role(
    source: Source,
    base: FeatureSet | None,
    family: str | None,
    items: list[Word],
    triple: Triple | None = None,
) -> dict[str, Any]:
    """Return the fields that signed features change: each has its place by its role."""
    found: dict[str, Any] = {}
    by_role: dict[str, list[Word]] = {}
    for item in items:
        by_role.setdefault(_role(str(family), item.text[1:]), []).append(item)
    if "set" in by_role:
        if base is None:
            raise source.fault(
                by_role["set"][0], "there is no CPU whose set these change", "name another CPU"
            )
        found["features"] = changed(base, triple, *signed(by_role["set"]))
    if "tuning" in by_role:
        found["tuning"] = frozenset(item.text for item in by_role["tuning"])
    if "inverse" in by_role:
        found["restrictions"] = frozenset(_added(by_role["inverse"]))
    for item in by_role.get("float", ()):
        found["float_abi"] = "soft" if item.text[0] == "+" else "hard"
    if base is not None and not len(base) and "features" not in found:
        found["features"] = base
    return found


def _added(items: Iterable[Word]) -> Iterator[str]:
    return (item.text[1:] for item in items if item.text[0] == "+")


def _role(family: str, name: str) -> str:
    if name == _SOFT_FLOAT:
        return "float"
    role = tables.role(family, name)
    return role if role in ("tuning", "inverse") else "set"
