"""The CPU of a zig command, `model+a-b`, as the fields of a target: features, tuning, restrictions and soft float.

The names are sorted out as zig's compiler does it: what is asked for brings what it needs, and what is refused goes
last, whatever the order of the words. Where zig leaves a set open (`haswell-avx` keeps avx2), what needs the feature
goes with it, as LLVM has it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from targetspec import cpu as tables
from targetspec.dialects import zig_cpus, zig_models
from targetspec.dialects.words import Source, Word, signed
from targetspec.errors import FeatureConflictError, TargetSyntaxError, nearest
from targetspec.features import FeatureSet
from targetspec.kinds.cpu import CpuTarget
from targetspec.kinds.cpu_ground import ground_of
from targetspec.kinds.cpu_width import check_width
from targetspec.triple import Triple

_ITEM = re.compile(r"[+-][^+-]*")
SOFT_FLOAT = "soft-float"
_NATIVE = "the text 'native' is this machine, with the features it really has"


@attrs.frozen
class Made:
    """A target, and the signed features that it cannot hold, as they are written."""

    target: CpuTarget
    rest: tuple[str, ...] = ()


def made(source: Source, triple: Triple, os: str, query: Word, cpu: Word | None) -> Made:
    """Return what a triple, a system of zig's and a CPU state, None for one that is not stated."""
    if cpu is None:
        return Made(source.reading({"triple": query}, lambda: CpuTarget(triple=triple)))
    named, items = _split(source, cpu)
    name = zig_models.baseline(triple.arch, os) if named.text == "baseline" else named.text
    known, rest = _known(source, triple.arch, _settled(items))
    changes = _settled(known)
    llvm = _cpu(source, triple.arch, named, name)
    model = source.reading({"features": named, "cpu": named}, lambda: model_fields(name, llvm, triple))
    places = {"triple": query, "cpu": named, **{f"item {i}": word for i, word in enumerate(changes)}}

    def construct() -> CpuTarget:
        changed_fields = _by_role(source, model_set(name, llvm, triple), changes, triple)
        return CpuTarget(**{"triple": triple, "cpu": llvm, **model, **changed_fields})

    return Made(source.reading(places, construct), rest)


@functools.lru_cache(maxsize=256)
def model_fields(name: str, cpu: str | None, triple: Triple) -> Mapping[str, Any]:
    """Return the fields in which one of zig's models departs from LLVM's CPU, in code of a triple."""
    family = zig_cpus.family_of(triple.arch)
    model = zig_models.model(family, name)
    base = FeatureSet.closed(str(family), ()) if model.own else ground_of(triple, cpu).features
    found = _by_role(Source(name, "zig"), base, [Word(item, 0) for item in model.items], triple)
    return {"features": base, **found} if model.own else found


def model_set(name: str, cpu: str | None, triple: Triple) -> FeatureSet | None:
    """Return the set of one of zig's models in code of a triple; None where no table has it."""
    fields = model_fields(name, cpu, triple)
    return fields["features"] if "features" in fields else ground_of(triple, cpu).features


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


def _cpu(source: Source, arch: str, model: Word, name: str) -> str | None:
    """Return LLVM's name of a CPU, None for a model of zig's own."""
    if zig_models.model(zig_cpus.family_of(arch), name).own:
        return None
    found = zig_cpus.llvm_cpu(arch, name)
    if found is None:
        near = nearest(name, sorted(zig_cpus.cpu_names(arch)))
        hint = f"did you mean {' or '.join(near)}?" if near else "`zig targets` has the names"
        raise source.fault(model, f"unknown CPU {name[:80]!r} for {arch}", hint)
    return found


def _known(source: Source, arch: str, items: Iterable[Word]) -> tuple[list[Word], tuple[str, ...]]:
    """Return the items that a table has under LLVM's names, and those that only zig has, as they are written."""
    family = zig_cpus.family_of(arch)
    names = zig_cpus.features(family) if family is not None else {}
    known: list[Word] = []
    rest: list[str] = []
    for item in items:
        found = names.get(item.text[1:])
        if found is not None:
            known.append(Word(item.text[0] + found, item.start))
        elif zig_cpus.is_own_feature(arch, item.text[1:]):
            rest.append(item.text)
            known.extend(Word(f"+{one}", item.start) for one in _brought_by_own(family, item.text))
        else:
            raise _unknown(source, arch, item)
    return known, tuple(rest)


def _brought_by_own(family: str | None, item: str) -> Iterable[str]:
    """Return LLVM's names of what a feature that only zig has needs, where it is asked for."""
    if family is None or item[0] == "-":
        return ()
    return sorted(_listed(family, zig_cpus.needed(family, frozenset((item[1:],)))))


def _settled(items: Iterable[Word]) -> list[Word]:
    """Return each item once, those added first; what is refused goes last to zig's compiler, and goes."""
    once = {item.text: item for item in items}
    removed = {text[1:] for text in once if text[0] == "-"}
    added = [item for text, item in once.items() if text[0] == "+" and text[1:] not in removed]
    return [*added, *(item for text, item in once.items() if text[0] == "-")]


def _unknown(source: Source, arch: str, item: Word) -> TargetSyntaxError:
    name = item.text[1:]
    near = nearest(name, sorted(zig_cpus.feature_names(arch)))
    hint = f"did you mean {' or '.join(near)}?" if near else "`zig targets` has the names"
    return source.fault(item, f"unknown CPU feature {name[:80]!r} for {arch}", hint)


def changed(features: FeatureSet, triple: Triple, add: Iterable[str], remove: Iterable[str]) -> FeatureSet:
    """Return a set with changes, as zig's compiler closes it, for code of a triple.

    Raises FeatureRoleError, and FeatureConflictError, also where the triple's width is contradicted.
    """
    family, add, remove = features.family, tuple(add), tuple(remove)
    check_width(family, triple.arch, triple.pointer_bits, add, remove)
    # A name that only stands for others (RISC-V's rva22u64) takes none of them along.
    remove = tuple(name for name in remove if tables.is_listed(family, name))
    for one in add:
        for other in sorted(tables.implied(family, one).intersection(remove)):
            raise FeatureConflictError(family, f"+{one}", f"-{other}", f"{one} implies {other}")
    left = features.with_changes(remove=remove)
    brought = _brought(family, add, frozenset(remove))
    found = FeatureSet.closed(family, left.names | brought).for_width(triple.pointer_bits)
    for name in sorted(found.names.intersection(remove)):
        raise FeatureConflictError(family, triple.arch, f"-{name}", "what is left of the set implies it")
    return found


def _brought(family: str, names: Iterable[str], refused: frozenset[str]) -> frozenset[str]:
    """Return features with all that zig adds beside them, unless that implies what is refused."""
    written = zig_cpus.written_features(family)
    reached = {other for name in names for other in tables.implied(family, name)}
    asked = _listed(family, zig_cpus.needed(family, frozenset(written[name] for name in names), refused))
    return frozenset(names) | (asked - reached)


def _listed(family: str, names: Iterable[str]) -> frozenset[str]:
    """Return LLVM's names of those of zig's features that sets list."""
    known = zig_cpus.features(family)
    return frozenset(known[name] for name in names if name in known and tables.is_listed(family, known[name]))


def _by_role(source: Source, base: FeatureSet | None, items: list[Word], triple: Triple) -> dict[str, Any]:
    """Return the fields that signed features change: each has its place by its role."""
    found: dict[str, Any] = {}
    by_role: dict[str, list[Word]] = {}
    for item in items:
        by_role.setdefault(_role(str(triple.family), item.text[1:]), []).append(item)
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
    return found


def _added(items: Iterable[Word]) -> Iterator[str]:
    return (item.text[1:] for item in items if item.text[0] == "+")


def _role(family: str, name: str) -> str:
    if name == SOFT_FLOAT:
        return "float"
    role = tables.role(family, name)
    return role if role in ("tuning", "inverse") else "set"
