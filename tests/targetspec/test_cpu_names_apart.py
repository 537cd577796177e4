"""CPUs of one family that do not run each other's code for other reasons than the size of their sets."""

from __future__ import annotations

import pytest

from targetspec import CpuTarget, parse

ARM, HEXAGON, RISCV = "arm-none-eabi", "hexagon-unknown-elf", "riscv32-unknown-elf"


@pytest.mark.parametrize(
    ("triple", "code", "machine", "answer"),
    [
        (HEXAGON, "hexagonv67", "hexagonv67t", "no"),
        (HEXAGON, "hexagonv65", "hexagonv71t", "no"),
        (HEXAGON, "hexagonv67t", "hexagonv67t", "yes"),
        (HEXAGON, "hexagonv67t", "hexagonv71t", "yes"),
        (HEXAGON, "hexagonv66", "hexagonv67", "yes"),
        (ARM, "arm926ej-s", "cortex-a9", "yes"),
        (ARM, "cortex-a9", "arm926ej-s", "no"),
        (ARM, "cortex-m0", "cortex-m4", "yes"),
        (ARM, "cortex-m3", "cortex-a9", "no"),
        (ARM, "cortex-m3", "cortex-r5", "no"),
        (ARM, "cortex-r4", "cortex-a15", "no"),
        (ARM, "cortex-a9", "cortex-r5", "no"),
        (ARM, "arm926ej-s", "cortex-m4", "no"),
    ],
)
def test_profiles_and_tiny_cores(triple, code, machine, answer):
    """Profiles of Arm never interchange, older cores' code runs on; a tiny core runs code for tiny cores only."""
    built, run_on = CpuTarget(triple=triple, cpu=code), CpuTarget(triple=triple, cpu=machine)
    assert answer == built.compatible(run_on).answer


def test_what_a_design_lacks_no_change_of_fields_mends():
    """A no for a tiny core's sake has no repair; one for a stated restriction's sake has."""
    whole, tiny = (CpuTarget(triple=HEXAGON, cpu=name) for name in ("hexagonv67", "hexagonv67t"))
    (reason,) = [one for one in whole.compatible(tiny).reasons if one.field == "restrictions"]
    assert reason.repair is None
    (reason,) = whole.compatible(whole.evolve(restrictions={"tinycore"})).reasons
    assert ("restrictions", frozenset()) == reason.repair


@pytest.mark.parametrize("triple", ["powerpc64le-linux-gnu", "powerpc64-linux-gnu"])
@pytest.mark.parametrize("name", ["pwr8", "pwr9"])
def test_power10_dropped_transactional_memory(triple, name):
    """POWER8's and 9's code runs on POWER10 unless it was built with htm, which alone is missing then; htm stays on POWER9.

    Source: Power ISA 3.1, which has no such facility.
    """
    power9, power10 = (CpuTarget(triple=triple, cpu=cpu) for cpu in ("pwr9", "pwr10"))
    code = CpuTarget(triple=triple, cpu=name)
    assert ("yes", ()) == (code.compatible(power10).answer, code.compatible(power10).reasons)
    built_with = parse(f"{triple} -mcpu={name} -mattr=+htm", "llvm")
    assert code.evolve(features=code.features.with_changes(add=["htm"])) == built_with
    (reason,) = built_with.compatible(power10).reasons
    assert ("features", "htm", "blocks") == (reason.field, reason.needed, reason.weight)
    assert built_with.compatible(power9.evolve(features=power9.features.with_changes(add=["htm"])))


@pytest.mark.parametrize(("code", "machine"), [("e", "i"), ("i", "e")])
def test_the_bases_of_riscv_never_interchange(code, machine):
    """Code for the embedded base has half of the registers to pass arguments in."""
    built, run_on = (CpuTarget(triple=RISCV, features={"32bit", base}) for base in (code, machine))
    assert "no" == built.compatible(run_on).answer


def test_nan_encodings_of_mips_must_match():
    """Release 6 has the other encoding, so that its code and older code never interchange, both ways."""
    old, new = (CpuTarget(triple="mips64el-linux-gnu", cpu=name) for name in ("mips64r5", "mips64r6"))
    assert {"no"} == {old.compatible(new).answer, new.compatible(old).answer}
