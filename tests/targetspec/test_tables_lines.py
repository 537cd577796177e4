"""Lines of designs: each runs the code of those before it, and where a line breaks neither side runs the other's."""

from __future__ import annotations

from itertools import pairwise

import pytest

from targetspec import CpuTarget, FeatureConflictError, FeatureSet, cpu
from targetspec.rules import PURPOSES

N64, O32 = "mips64el-unknown-linux-gnuabi64", "mipsel-unknown-linux-gnu"
LINES = {
    ("s390x-linux-gnu", "systemz"): "z10 z196 zEC12 z13 z14 z15 z16 z17",
    (N64, "mips"): "mips3 mips4 mips5 mips64 mips64r2 mips64r3 mips64r5",
    (O32, "mips"): "mips1 mips2 mips32 mips32r2 mips32r3 mips32r5",
    ("hexagon-unknown-elf", "hexagon"): (
        "hexagonv5 hexagonv55 hexagonv60 hexagonv62 hexagonv65 hexagonv66 hexagonv67 hexagonv68 hexagonv69 hexagonv71 "
        "hexagonv73 hexagonv75 hexagonv79 hexagonv81"
    ),
    ("powerpc64le-linux-gnu", "powerpc"): "pwr7 pwr8 pwr9",
    ("loongarch64-linux-gnu", "loongarch"): "loongarch64 la464 la664",
}
PAIRS = [(triple, *pair) for (triple, _), line in LINES.items() for pair in pairwise(line.split())]


@pytest.mark.parametrize(("triple", "older", "newer"), PAIRS)
def test_a_newer_design_runs_older_code_and_not_the_other_way(triple, older, newer):
    """The set grows with each design of a line."""
    old, new = CpuTarget(triple=triple, cpu=older), CpuTarget(triple=triple, cpu=newer)
    assert "yes" == old.compatible(new).answer
    assert "no" == new.compatible(old).answer


@pytest.mark.parametrize(
    ("triple", "older", "newer"), [(N64, "mips64r5", "mips64r6"), (O32, "mips32r5", "mips32r6")]
)
def test_release_6_of_mips_stands_apart(triple, older, newer):
    """It dropped instructions and gave their encodings away, even where the NaN encoding is the same."""
    old = CpuTarget(triple=triple, cpu=older, features=[older, "nan2008", "abs2008"])
    new = CpuTarget(triple=triple, cpu=newer)
    assert old.features <= new.features
    for purpose in ("code", "link"):
        assert ("no", "no") == (
            old.compatible(new, purpose=purpose).answer,
            new.compatible(old, purpose=purpose).answer,
        )
    assert all(new.compatible(CpuTarget(triple=triple, cpu=newer), purpose=purpose) for purpose in PURPOSES)
    assert "nan2008" in CpuTarget(triple=triple, features=[newer]).features


def test_what_is_left_of_an_architecture_is_what_came_before_it():
    """MIPS64 Release 2 without itself is MIPS64 with MIPS32 Release 2, and runs where the whole does."""
    whole = CpuTarget(triple=N64)
    rest = whole.evolve(features=whole.features.with_changes(remove=["mips64r2"]))
    assert {"mips64", "mips32r2", "mips5", "fp64"} <= set(rest.features)
    assert "mips64r2" not in rest.features
    assert "yes" == rest.compatible(whole).answer
    assert "mips64r6" not in whole.features


def test_whether_abs_follows_ieee_754_is_no_convention():
    """Code that relies on abs2008 needs it; code that does not runs either way."""
    plain = CpuTarget(triple=N64)
    new = plain.evolve(features=plain.features.with_changes(["abs2008"]))
    assert ("yes", "no") == (plain.compatible(new).answer, new.compatible(plain).answer)
    nan = plain.evolve(features=plain.features.with_changes(["nan2008"]))
    assert ("no", "no") == (plain.compatible(nan).answer, nan.compatible(plain).answer)


def test_the_vectors_of_hexagon_build_on_each_other():
    """A version has what the earlier ones have, and a length means that there are vectors."""
    assert {"hvx", "hvxv60", "hvxv66", "zreg"} <= cpu.implied("hexagon", "hvxv68")
    assert "hvxv69" not in cpu.implied("hexagon", "hvxv68")
    assert "hvx" in cpu.implied("hexagon", "hvx-length128b")
    assert "hvxv60" not in cpu.implied("hexagon", "hvx-length128b")
    assert {"audio"} == cpu.implied("hexagon", "audio")


def test_a_feature_of_a_mainframe_says_nothing_of_the_others():
    """Vectors alone are no z13."""
    assert {"vector"} == cpu.implied("systemz", "vector")
    some = cpu.resolve("systemz", "z10", add=["vector"])
    assert not cpu.resolve("systemz", "z196") <= some
    assert cpu.resolve("systemz", "arch13") == cpu.resolve("systemz", "z15")


@pytest.mark.parametrize(
    ("triple", "name"),
    [
        ("riscv64-unknown-linux-gnu", "64bit"),
        ("riscv32-unknown-elf", "32bit"),
        ("loongarch64-linux-gnu", "64bit"),
        ("loongarch32-unknown-elf", "32bit"),
        ("powerpc64le-linux-gnu", "64bit"),
        ("x86_64-linux-gnu", "64bit"),
    ],
)
def test_the_triple_states_the_width(triple, name):
    """No set lists it, whether it is asked for or not."""
    plain = CpuTarget(triple=triple)
    assert name not in set(plain.features)
    assert plain == plain.evolve(features=plain.request_features([name], []))
    assert plain == plain.evolve(features=[*plain.features, name])


def test_what_the_width_implies_is_there():
    """Compressed code with floats has its loads on 32 bits; 64-bit LoongArch has the standard instructions."""
    names = ["i", "c", "f"]
    assert "zcf" in CpuTarget(triple="riscv32", features=names).features
    assert "zcf" not in CpuTarget(triple="riscv64", features=names).features
    assert "zcf" in FeatureSet.closed("riscv", [*names, "32bit"])
    assert "32s" in CpuTarget(triple="loongarch64", features=["d"]).features
    with pytest.raises(FeatureConflictError, match="32s"):
        cpu.resolve("loongarch", "la464", remove=["32s"])


def test_what_can_be_in_code_of_no_width_is_in_no_set():
    """Loads and stores of pairs are for 32 bits alone, where they take the encodings of compressed floats."""
    with pytest.raises(FeatureConflictError, match="c f and zclsd cannot both hold on riscv"):
        FeatureSet.closed("riscv", ["c", "f", "zclsd"])
    with pytest.raises(FeatureConflictError, match="zclsd"):
        CpuTarget(triple="riscv32", features=["i", "c", "f", "zclsd"])
    assert "zcf" in FeatureSet.closed("riscv", ["c", "f", "zilsd"]).for_width(32)
    assert "zclsd" in FeatureSet.closed("riscv", ["zclsd", "f"]).for_width(32)
