"""Feature sets for LLVM's inliner to judge: as its own tables close them, as strings, in random pairs."""

from __future__ import annotations

import functools
import random
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from targetspec import cpu
from targetspec.cpu_tables import table
from targetspec.errors import TargetspecError
from targetspec.features import FeatureSet

TRIPLES = {
    "aarch64": "aarch64-unknown-linux-gnu",
    "arm": "arm-unknown-linux-gnueabihf",
    "loongarch": "loongarch64-unknown-linux-gnu",
    "riscv": "riscv64-unknown-linux-gnu",
    "systemz": "s390x-unknown-linux-gnu",
    "webassembly": "wasm32-unknown-unknown",
    "x86": "x86_64-unknown-linux-gnu",
}
Pair = tuple[FeatureSet, FeatureSet]
_NARROW = ("arm", "webassembly")
_NAMES_IN_ZIG = {"systemz": "s390x", "webassembly": "wasm"}
_CHILD = Path(__file__).parent / "oracles" / "inliner_process.py"
_TOOLS = Path(__file__).resolve().parents[1] / "tools"


def clang_oracle() -> Any:
    """Return the questions to clang and to zig's tables; skips where ziglang is not installed."""
    sys.path.insert(0, str(_TOOLS))
    try:
        import llvm_oracle  # noqa: PLC0415 - a script of this repository, not of the package
    finally:
        sys.path.remove(str(_TOOLS))
    if not llvm_oracle.available():
        pytest.skip("ziglang, which brings clang, is not installed")
    return llvm_oracle


@functools.cache
def listed(family: str, wanted: str = "") -> tuple[str, ...]:
    """Return the features that sets list, of one role where one is named."""
    names = (name for name in cpu.feature_names(family) if cpu.is_listed(family, name))
    return tuple(name for name in names if wanted in ("", cpu.role(family, name)))


@functools.cache
def _reach(family: str) -> dict[str, frozenset[str]]:
    """Return what each feature implies in LLVM's own tables, of those that sets list."""
    implies = clang_oracle().zig_table(_NAMES_IN_ZIG.get(family, family)).implies

    def beyond(name: str) -> Iterator[str]:
        for direct in implies.get(name, ()):
            yield direct
            yield from beyond(direct)

    return {name: frozenset(beyond(name)) & frozenset(listed(family)) for name in listed(family)}


def seen(features: FeatureSet) -> frozenset[str]:
    """Return the names of a set with those that others cover."""
    held = table(features.family)
    return frozenset(held.unmask(held.widen(held.mask(features.names))))


def lowered(features: FeatureSet) -> FeatureSet:
    """Return a set without what lacks a part that LLVM has in it: no string makes LLVM hold the rest."""
    reach = _reach(features.family)
    while gone := [name for name in features.names if not reach[name] <= seen(features)]:
        features = features.with_changes(remove=gone)
    return features


def raised(family: str, names: Iterable[str]) -> FeatureSet:
    """Return the closed set of names, with what LLVM has in them."""
    reach, features = _reach(family), FeatureSet.closed(family, names)
    while more := frozenset().union(*(reach[name] for name in features.names)) - seen(features):
        features = features.with_changes(add=more)
    return features


def held_by_llvm(features: FeatureSet) -> frozenset[str]:
    """Return what is seen and whole: an older architecture may be covered here and lack a part that LLVM has in it."""
    there = seen(features)
    return frozenset(name for name in there if _reach(features.family)[name] <= there)


def words(features: FeatureSet) -> str:
    """Return the string for which LLVM holds just this set; what is refused comes last."""
    there = held_by_llvm(features)
    absent = (f"-{name}" for name in listed(features.family) if name not in there)
    return ",".join((*(f"+{name}" for name in sorted(there)), *absent))


def ask(family: str, pairs: Iterable[Pair]) -> list[str]:
    """Return for each pair, callee and caller, "inlined" or "kept", or how LLVM ended the process."""
    lines = [f"{words(callee)}\t{words(caller)}\n" for callee, caller in pairs]
    command = [sys.executable, str(_CHILD), TRIPLES[family]]
    done = subprocess.run(command, input="".join(lines), capture_output=True, text=True, check=True)
    answers = done.stdout.splitlines()
    assert len(lines) == len(answers), done.stderr
    return answers


def random_pairs(family: str, seed: int, held_equal: Iterable[str] = ()) -> Iterator[Pair]:
    """Yield pairs without end: of a CPU with changes, and more, less, or another one; ABIs are alike."""
    draw = random.Random(seed)
    fixed = frozenset((*held_equal, *listed(family, "abi")))
    while True:
        try:
            first, second = (lowered(one) for one in _draw_pair(family, draw, fixed))
        except TargetspecError:
            continue
        alike = held_by_llvm(first) & fixed == held_by_llvm(second) & fixed
        if alike:
            yield first, second


def _draw_pair(family: str, draw: random.Random, fixed: frozenset[str]) -> Pair:
    first = _draw_set(family, draw)
    free = [name for name in listed(family, "isa") if name not in fixed]
    there = [name for name in free if name in first.names]
    match draw.choice(("more", "more", "less", "other")):
        case "more":
            return first, first.with_changes(add=draw.sample(free, draw.randint(1, 3)))
        case "less":
            return first, first.with_changes(remove=draw.sample(there, min(len(there), 1)))
        case _:
            return first, _draw_set(family, draw)


def _draw_set(family: str, draw: random.Random) -> FeatureSet:
    bits = 32 if family in _NARROW else 64
    cpus = [name for name in cpu.cpu_names(family) if bits in cpu.cpu_widths(family, name)]
    add, remove = (draw.sample(listed(family, "isa"), draw.choice((0, 0, 1, 2))) for _ in "+-")
    return cpu.resolve(family, draw.choice(cpus), add, remove, bits=bits)
