"""Targets for llvmlite: what LLVM is told, and that it knows every name of it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from strategies_dialects import TRIPLES
from targetspec import CpuTarget, FeatureSet, FieldError, UnknownNameError, cpu
from targetspec.interop import LlvmTarget, to_llvmlite

X86 = "x86_64-unknown-linux-gnu"
MACHINES = """
import ast, sys
import llvmlite.binding as llvm
llvm.initialize_all_targets()
for line in sys.stdin:
    triple, cpu, features, abi = ast.literal_eval(line)
    llvm.Target.from_triple(triple).create_target_machine(cpu=cpu, features=features, abiname=abi)
print("done")
"""


def _llvm_says(cases: list[LlvmTarget]) -> str:
    """Return what LLVM prints while it makes the machines: nothing, unless it does not know a name."""
    lines = "\n".join(repr((one.triple, one.cpu, one.features, one.abi)) for one in cases)
    command = [sys.executable, "-c", MACHINES]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=90, check=False)
    assert "done\n" == done.stdout
    return done.stderr


def test_features_state_the_whole_set():
    """What the target has comes with a plus, after a minus for what only the CPU's name would bring."""
    target = CpuTarget(triple=X86, cpu="haswell", tuning=["+slow-lea"], restrictions=["retpoline"])
    changed = target.evolve(features=target.request_features(["sha"], ["avx2"]))
    signs = to_llvmlite(changed).features.split(",")
    assert {"+sha", "+avx", "-avx2", "+slow-lea", "+retpoline"} <= set(signs)
    assert {f"+{name}" for name in changed.features} <= set(signs)
    assert signs.index("-avx2") < signs.index("+avx")
    assert {"-avx2"} == {sign for sign in signs if sign[0] == "-"}


def test_the_strings_are_those_that_llvm_takes():
    """Triple and CPU are canonical, the baseline stands in for an unstated CPU, and soft float is a feature."""
    got = to_llvmlite(CpuTarget(triple="x86_64-linux-gnu", tune="core-avx2", float_abi="soft"))
    assert (X86, "x86-64", "", "haswell") == (got.triple, got.cpu, got.abi, got.tune)
    assert got.features.endswith("+soft-float")


@pytest.mark.parametrize("target", [CpuTarget(cpu="haswell"), CpuTarget(triple="lanai")])
def test_what_llvm_would_guess_is_an_error(target):
    """A target without triple or without a table is refused, with what to do."""
    with pytest.raises(FieldError) as caught:
        to_llvmlite(target)
    assert ("triple", True) == (caught.value.field, bool(caught.value.hint))


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"cpu": "i686"}, "cpu"),
        ({"abi": "sysv"}, "abi"),
        ({"float_abi": "softfp"}, "float_abi"),
    ],
)
def test_what_llvm_exits_on_or_passes_over_is_an_error(fields, field):
    """A CPU of another width makes LLVM exit; an ABI or a float ABI that it does not know changes nothing."""
    with pytest.raises(FieldError) as caught:
        to_llvmlite(CpuTarget(triple=X86, **fields))
    assert field == caught.value.field


def test_a_feature_that_the_tables_lack_is_an_error():
    """LLVM would go on without it."""
    foreign = FeatureSet.verbatim("x86", ["sse", "from-the-future"], "99.0.0")
    with pytest.raises(UnknownNameError, match="from-the-future"):
        to_llvmlite(CpuTarget(triple=X86, features=foreign))


def test_llvm_knows_every_name_that_the_tables_have():
    """No CPU, feature, tuning or restriction makes LLVM complain; a made-up one does, so that silence means something."""
    cases = [to_llvmlite(target) for family in sorted(TRIPLES) for target in _one_of_each(family)]
    assert len(cases) > 200
    assert "" == _llvm_says(cases)
    assert "made-up" in _llvm_says([LlvmTarget(X86, "x86-64", "+made-up")])


def _one_of_each(family: str) -> Iterator[CpuTarget]:
    triple = TRIPLES[family][0]
    for name in cpu.cpu_names(family, aliases=True):
        if CpuTarget(triple=triple).triple.pointer_bits in cpu.cpu_widths(family, name):
            yield CpuTarget(triple=triple, cpu=name)
    for name in cpu.feature_names(family):
        role = cpu.role(family, name)
        if role == "tuning":
            yield CpuTarget(triple=triple, tuning=[f"-{name}"])
        else:
            yield CpuTarget(triple=triple, **{"restrictions" if role == "inverse" else "features": [name]})


def test_what_llvm_exits_on_in_32_bit_code_is_refused():
    """LLVM ends the process for load hardening outside of 64-bit code."""
    with pytest.raises(FieldError, match="64-bit code"):
        to_llvmlite(CpuTarget(triple="i686-linux-gnu", restrictions={"lvi-load-hardening"}))
    assert (
        "+lvi-load-hardening"
        in to_llvmlite(CpuTarget(triple=X86, restrictions={"lvi-load-hardening"})).features
    )
