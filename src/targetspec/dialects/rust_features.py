"""Features as rustc takes them: one list that holds isa, tuning, restrictions, soft float and the C library's linking.

They change, in their order, what the target's CPU and rustc's own list for it give: a later word wins.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from targetspec import cpu as tables
from targetspec.dialects.deltas import delta_between
from targetspec.dialects.rust_names import RustFacts
from targetspec.dialects.words import Source, Word, signed
from targetspec.errors import UnknownNameError, nearest
from targetspec.kinds.cpu import CpuTarget
from targetspec.kinds.cpu_width import changed as changed_set

CRT_STATIC = "crt-static"
_SOFT_FLOAT = "soft-float"
_NO_FPU = frozenset(("v6", "v7em", "v8m.main"))
_FPU = ("fp16", "fp64", "fpregs", "vfp2sp")
_OTHER_BASE = {"e": "i", "i": "e"}
# One name of rustc's for several of LLVM's.
_GROUPS = {
    ("x86", "apxf"): ("egpr", "push2pop2", "ppx", "ndd", "ccmp", "cf", "nf", "zu"),
}
_TIED = {("aarch64", "pauth"): ("paca", "pacg")}


def made(
    source: Source, facts: RustFacts, features: Word, cpu: str | None = None, tune: str | None = None
) -> CpuTarget:
    """Return the target that some facts state, with another CPU where one is given; `features` is their place."""
    target = CpuTarget(
        triple=facts.triple,
        cpu=cpu or facts.cpu,
        tune=tune,
        abi=facts.abi,
        float_abi=facts.float_abi,
        static=facts.static,
    )
    return changed(source, _without_fpu(target), features.items() if features.text else ())


def _without_fpu(target: CpuTarget) -> CpuTarget:
    """Take away the FPU that clang assumes for these architectures, and LLVM, which rustc asks, does not."""
    triple = target.triple
    if target.cpu is not None or target.features is None or triple is None or triple.family != "arm":
        return target
    if triple.sub_arch not in _NO_FPU:
        return target
    return target.evolve(features=target.features.with_changes(remove=_FPU))


def changed(source: Source, target: CpuTarget, items: Iterable[Word]) -> CpuTarget:
    """Return a target with signed features applied; UnknownNameError and the errors of construction."""
    by_role: dict[str, dict[str, Word]] = {"set": {}, "tuning": {}, "inverse": {}, "float": {}, "crt": {}}
    for item in items:
        for role, name in _meant(source, target, item):
            by_role[role][name] = Word(item.text[0] + name, item.start)
    return target.evolve(**_changes(source, target, by_role)) if any(by_role.values()) else target


def _meant(source: Source, target: CpuTarget, item: Word) -> Iterator[tuple[str, str]]:
    """Give the place and LLVM's name of each feature that a word names."""
    plain = item.text[1:]
    if plain == CRT_STATIC:
        yield "crt", plain
        return
    family = target.family
    if family is None:
        arch = target.triple.arch if target.triple else "this architecture"
        raise source.fault(item, f"there is no table of the features of {arch}", "leave them out")
    names: tuple[str, ...] = _GROUPS.get((family, plain), (plain,))
    if family == "hexagon" and plain == "hvx-length128b":
        names = (plain, *_vectors_of(target.cpu or ""))
    for name in names:
        yield _place(family, name)


def _vectors_of(cpu: str) -> Iterator[str]:
    """Give the version of the vectors that LLVM takes with a stated length: that of the Hexagon CPU."""
    name = f"hvxv{cpu.removeprefix('hexagonv').rstrip('t')}"
    if name in tables.feature_names("hexagon"):
        yield name


def _place(family: str, name: str) -> tuple[str, str]:
    feature = tables.feature_alias(family, name, "rust")
    if feature is None:
        raise UnknownNameError("feature", name, nearest(name, tables.feature_names(family)), family)
    if feature == _SOFT_FLOAT:
        return "float", feature
    role = tables.role(family, feature)
    return (role if role in ("tuning", "inverse") else "set"), feature


def _changes(source: Source, target: CpuTarget, by_role: dict[str, dict[str, Word]]) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    if by_role["set"]:
        if target.features is None:
            raise source.fault(next(iter(by_role["set"].values())), "there is no CPU whose set these change")
        added, removed = signed(by_role["set"].values())
        removed = [*removed, *_given_up(target, added)]
        changes["features"] = changed_set(target.features, target.triple, added, removed)
    if by_role["tuning"]:
        kept = {name for name in target.tuning if name[1:] not in by_role["tuning"]}
        changes["tuning"] = frozenset(kept | {word.text for word in by_role["tuning"].values()})
    if by_role["inverse"]:
        added, removed = signed(by_role["inverse"].values())
        changes["restrictions"] = target.restrictions.union(added).difference(removed)
    for item in by_role["float"].values():
        changes["float_abi"] = _float_abi(source, target, item)
    for item in by_role["crt"].values():
        changes["static"] = item.text[0] == "+"
    return changes


def _given_up(target: CpuTarget, added: Iterable[str]) -> Iterator[str]:
    """Give the base of RISC-V that makes room for the other one."""
    if target.family == "riscv":
        yield from (_OTHER_BASE[name] for name in added if name in _OTHER_BASE)


def _float_abi(source: Source, target: CpuTarget, item: Word) -> str:
    wanted = "soft" if item.text[0] == "+" else "hard"
    if target.float_abi not in (None, wanted):
        hint = "choose a target with the other float ABI"
        raise source.fault(item, f"the target passes floating point {target.float_abi}", hint)
    return wanted


def has_soft_float(target: CpuTarget) -> bool:
    """Whether the architecture has a feature for floating point in software."""
    return target.family is not None and _SOFT_FLOAT in tables.feature_names(target.family)


def difference(base: CpuTarget, wanted: CpuTarget, unfit: list[tuple[str, str]]) -> Iterator[str]:
    """Give the signed words that lead from one target to another; what none says goes to `unfit`."""
    delta: tuple[str, ...] | None = None
    if base.features is None or wanted.features is None:
        delta = () if base.features is wanted.features else None
    elif base.features.tables == wanted.features.tables:
        delta = delta_between(base.features, wanted.features)
    if delta is None:
        unfit.append(("features", "no change of rustc's own set gives them"))
    elif any(word[1:] == _SOFT_FLOAT for word in delta):
        unfit.append(("features", f"{_SOFT_FLOAT} is read as the field float_abi"))
    for word in delta or ():
        yield from _written(str(wanted.family), word)
    yield from _flipped(base.tuning, wanted.tuning)
    yield from (f"+{name}" for name in sorted(wanted.restrictions - base.restrictions))
    yield from (f"-{name}" for name in sorted(base.restrictions - wanted.restrictions))
    if base.static != wanted.static:
        yield f"{'+' if wanted.static else '-'}{CRT_STATIC}"


def _written(family: str, word: str) -> Iterator[str]:
    name = word[1:]
    tied = _TIED.get((family, name))
    for spelled in tied or (tables.feature_spelling(family, name, "rust"),):
        yield word[0] + spelled


def _flipped(base: frozenset[str], wanted: frozenset[str]) -> Iterator[str]:
    """Give the tuning words that are new, and those that undo what rustc's own list states."""
    yield from sorted(wanted - base)
    named = {word[1:] for word in wanted}
    for word in sorted(base - wanted):
        if word[1:] not in named:
            yield f"{'-' if word[0] == '+' else '+'}{word[1:]}"
