"""LLVM's inliner as a second opinion on code: a callee goes into a caller iff its features are there."""

from __future__ import annotations

import itertools
import os
import random
from collections import Counter

import pytest

import oracle_inliner as inliner
from oracle_review import Accepted, review
from targetspec import CpuTarget, FeatureConflictError, FeatureSet

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.timeout(600),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="each question is a fork"),
]
PAIRS, PIECE = 1_000, 200
# Where LLVM refuses a function it has no opinion; more of those than this would leave the question open.
MOST_REFUSED = 400

_X86 = "LLVM 22 X86TargetTransformInfo.h, InlineFeatureIgnoreList"
_ARM = "LLVM 22 ARMTargetTransformInfo.cpp, areInlineCompatible: what is not on its allow list must be equal"
_WASM = "LLVM 22 WebAssemblySubtarget.cpp, initializeSubtargetDependencies"
IGNORED = {
    ("x86", "cx16"): Accepted("no intrinsic of it is in LLVM IR, so LLVM lets it pass; the instruction still needs it", _X86),
    ("x86", "sahf"): Accepted("as cx16", _X86),
    ("x86", "sse-unaligned-mem"): Accepted("a fold of loads that LLVM lets pass; where it is not there the load faults", _X86),
}  # fmt: skip
"""What LLVM inlines although the caller lacks it."""

_EQUAL = Accepted("a subset runs; LLVM is stricter, for inline assembly may tell them apart", _ARM)
_ARM_EQUAL = (
    "armv4 armv4t armv5t armv5te armv5tej armv6 armv6-m armv6j armv6k armv6kz armv6s-m armv6t2 armv7-a armv7-m armv7-r "
    "armv7e-m armv7k armv7s armv7ve armv8-a armv8-m.base armv8-m.main armv8-r armv8.1-a armv8.1-m.main armv8.2-a "
    "armv8.3-a armv8.4-a armv8.5-a armv8.6-a armv8.7-a armv8.8-a armv8.9-a armv9-a armv9.1-a armv9.2-a armv9.3-a "
    "armv9.4-a armv9.5-a armv9.6-a armv9.7-a cde cdecp0 cdecp1 cdecp2 cdecp3 cdecp4 cdecp5 cdecp6 cdecp7 clrbhb iwmmxt "
    "iwmmxt2 pacbti read-tp-tpidrprw read-tp-tpidruro read-tp-tpidrurw v4t xscale"
)
EQUAL = {("arm", name): _EQUAL for name in _ARM_EQUAL.split()}
"""What LLVM wants to be the same on both sides, so that a caller with more gets no callee with less."""

GRANTED = {
    ("webassembly", "gc", "call-indirect-overlong"): Accepted("LLVM's subtarget turns it on with gc; no text says that gc needs it", _WASM)
}  # fmt: skip
"""What LLVM takes to be there because of another feature of the caller."""

GROUND = {"arm": ("v6t2",), "loongarch": ("32s",), "riscv": ("i",)}
"""What LLVM cannot do without on these triples, or not beside some of the features."""


def _fits(callee: FeatureSet, caller: FeatureSet) -> bool:
    triple = inliner.TRIPLES[callee.family]
    return bool(
        CpuTarget(triple=triple, features=callee).compatible(CpuTarget(triple=triple, features=caller))
    )


def _as_llvm_takes_it(callee: FeatureSet, caller: FeatureSet) -> bool:
    """Return the verdict with the accepted disagreements taken into account."""
    family = callee.family
    ignored = [name for one, name in IGNORED if one == family and name not in caller.names]
    granted = [name for one, by, name in GRANTED if one == family and by in caller.names]
    return _fits(callee.with_changes(remove=ignored), caller.with_changes(add=granted))


@pytest.mark.parametrize("family", sorted(inliner.TRIPLES))
def test_random_pairs(family):
    """On a thousand pairs and more that LLVM accepts, it inlines iff the verdict is yes, the lists aside."""
    seed = (
        random.SystemRandom().randrange(1 << 32) if os.environ.get("HYPOTHESIS_PROFILE") == "nightly" else 7
    )
    equal = [name for one, name in EQUAL if one == family]
    drawn, answers, different = inliner.random_pairs(family, seed, equal), Counter[str](), []
    while answers["inlined"] + answers["kept"] < PAIRS:
        pairs = list(itertools.islice(drawn, PIECE))
        for pair, answer in zip(pairs, inliner.ask(family, pairs), strict=True):
            answers[answer if answer in {"inlined", "kept"} else "refused"] += 1
            if answer in {"inlined", "kept"} and _as_llvm_takes_it(*pair) != (answer == "inlined"):
                different.append((answer, pair[0] - pair[1], pair[1] - pair[0]))
    assert [] == different, (seed, family)
    assert answers["refused"] <= MOST_REFUSED
    assert min(answers["inlined"], answers["kept"]) >= PAIRS // 5


def _probes(family: str) -> dict[tuple[str, str], inliner.Pair]:
    """Return for each feature two pairs: code that has it where it is not there, and code that lacks it where it is."""
    probes = {}
    for name in inliner.listed(family, "isa"):
        ground = [
            one for one in GROUND.get(family, ()) if name not in inliner.seen(inliner.raised(family, [one]))
        ]
        try:
            there = inliner.raised(family, [name, *ground])
            absent = inliner.lowered(there.with_changes(remove=[name]))
        except FeatureConflictError:
            continue
        probes[name, "needed"], probes[name, "spare"] = (there, absent), (absent, there)
    return probes


@pytest.mark.parametrize("family", sorted(inliner.TRIPLES))
def test_every_feature(family):
    """Each feature alone: LLVM keeps code that has it from where it is not there, and lets code that lacks it in."""
    probes = _probes(family)
    answers = zip(probes, inliner.ask(family, probes.values()), strict=True)
    judged = {key: answer for key, answer in answers if answer in {"inlined", "kept"}}
    found = {key: one for key, one in judged.items() if _fits(*probes[key]) != (one == "inlined")}
    needed = {(name, "needed"): row for (one, name), row in IGNORED.items() if one == family}
    spare = {(name, "spare"): row for (one, name), row in EQUAL.items() if one == family}
    review(found, needed | spare)
    assert len(judged) > 0.8 * 2 * len(inliner.listed(family, "isa"))


@pytest.mark.parametrize(("family", "by", "name"), sorted(GRANTED))
def test_what_is_granted_still_differs(family, by, name):
    """Code with the feature is inlined where only the one stands that grants it, and the verdict is no."""
    callee, caller = (inliner.raised(family, [one]) for one in (name, by))
    assert (["inlined"], False) == (inliner.ask(family, [(callee, caller)]), _fits(callee, caller))
