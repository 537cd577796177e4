"""archspec's partial order of microarchitectures; its false is often merely "unrelated", so only a true binds."""

from __future__ import annotations

import pytest

from oracle_review import Accepted, review
from targetspec import CpuTarget, Target, TargetspecError, parse

archspec = pytest.importorskip("archspec.cpu", reason="archspec is not installed")
pytestmark = pytest.mark.oracle
_TRIPLES = {
    "aarch64": "aarch64-linux-gnu",
    "ppc64": "powerpc64-linux-gnu",
    "ppc64le": "powerpc64le-linux-gnu",
    "riscv64": "riscv64-linux-gnu",
    "x86_64": "x86_64-linux-gnu",
}
# The options that archspec gives for clang are not clang's names here.
_CPUS = {
    **{f"power{n}": f"pwr{n}" for n in (7, 8, 9, 10)},
    **{f"power{n}le": f"pwr{n}" for n in (8, 9, 10)},
    **{f"x86_64_v{n}": f"x86-64-v{n}" for n in (2, 3, 4)},
    "icelake": "icelake-server",
}
_CRYPTO = Accepted(
    "LLVM leaves the cryptographic option out of the names of newer cores and not of older ones",
    "LLVM 22 AArch64Processors.td",
)
_PROFILING = Accepted(
    "Ampere's cores are listed without the profiling extension of Neoverse N1", "LLVM 22 AArch64Processors.td"
)
_FENCE = Accepted(
    "LLVM's spacemit-x60 is of RVA22, which has no zifencei; riscv64 here is rv64gc",
    "LLVM 22 RISCVProcessors.td",
)
ACCEPTED = {
    **{("cortex_a72", name): _CRYPTO for name in ("neoverse_n2", "neoverse_v2", "neoverse_v3ae")},
    **{("neoverse_n1", name): _CRYPTO for name in ("neoverse_n2", "neoverse_v2", "neoverse_v3ae")},
    **{("neoverse_n1", name): _PROFILING for name in ("ampere1", "ampere1a")},
    ("riscv64", "x60"): _FENCE,
}  # fmt: skip
"""Where archspec orders two names and the relation does not."""


def _read(name: str) -> Target | None:
    """Return what archspec's options for clang mean; None where it has none, or LLVM 22 has no such name."""
    found = archspec.TARGETS[name]
    triple = _TRIPLES.get(found.family.name)
    if triple is None or name in _CPUS:
        return None if triple is None else CpuTarget(triple=triple, cpu=_CPUS[name])
    rows = found.compilers.get("clang", [])
    try:
        return (
            parse(f"{triple} {rows[-1]['flags'].format(name=rows[-1].get('name', name))}", "llvm")
            if rows
            else None
        )
    except TargetspecError:
        return None


def test_what_archspec_orders():
    """Where archspec says that one is at most another, code for the one runs on the other, the list aside."""
    known = {name: target for name in archspec.TARGETS if (target := _read(name)) is not None}
    ordered = [
        (one, other) for one in known for other in known if archspec.TARGETS[one] <= archspec.TARGETS[other]
    ]
    assert (65, 350) <= (len(known), len(ordered))
    review({pair: pair for pair in ordered if not known[pair[0]].compatible(known[pair[1]])}, ACCEPTED)


@pytest.mark.shared
def test_what_archspec_has_recorded(corpus):
    """The same of every true row in the corpus whose names are known here."""
    rows = [row for row in corpus("archspec_compat") if row.get("compatible") and "code_for" in row]
    pairs = [(row["code_for"], row["runs_on"]) for row in rows]
    read = {pair: (_read(pair[0]), _read(pair[1])) for pair in pairs}
    wrong = [
        pair for pair, (code, machine) in read.items() if code and machine and not code.compatible(machine)
    ]
    assert [] == [pair for pair in wrong if pair not in ACCEPTED]
