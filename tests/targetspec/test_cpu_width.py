"""Features that contradict the width of a triple's code."""

from __future__ import annotations

import pytest

from targetspec import CpuTarget, Triple, cpu
from targetspec.errors import FeatureConflictError
from targetspec.kinds.cpu_width import check_width
from targetspec.triple_archs import ARCHS

WIDTHS = {
    "x86_64": 64,
    "i386": 32,
    "riscv64": 64,
    "riscv32": 32,
    "loongarch64": 64,
    "mips64el": 64,
    "mipsel": 32,
}


@pytest.mark.parametrize("arch", sorted(WIDTHS))
def test_what_the_tables_give_fits_its_triple(arch):
    """No CPU's set contradicts the code that it is for."""
    family, bits = ARCHS[arch].family, WIDTHS[arch]
    names = [name for name in cpu.cpu_names(family) if bits in cpu.cpu_widths(family, name)]
    assert names
    for name in names:
        check_width(family, arch, bits, add=cpu.resolve(family, name, bits=bits).names)


@pytest.mark.parametrize(
    ("text", "add", "remove"),
    [
        ("x86_64-linux-gnu", (), ("64bit",)),
        ("x86_64-linux-gnux32", (), ("64bit",)),
        ("x86_64-linux-gnu", ("32bit-mode",), ()),
        ("i686-linux-gnu", ("sse2", "64bit"), ()),
        ("i686-linux-gnu", ("64bit-mode",), ()),
        ("riscv64-linux-gnu", ("xwchc",), ()),
        ("riscv64-linux-gnu", ("zcf",), ()),
        ("riscv64-linux-gnu", ("32bit",), ()),
        ("riscv64-linux-gnu", (), ("64bit",)),
        ("riscv32-unknown-elf", ("64bit",), ()),
        ("loongarch32-unknown-elf", ("64bit",), ()),
        ("loongarch64-linux-gnu", (), ("32s",)),
        ("powerpc-linux-gnu", ("64bit",), ()),
        ("powerpc64le-linux-gnu", (), ("64bit",)),
        ("mipsel-linux-gnu", ("gp64",), ()),
        ("mips64el-linux-gnuabi64", (), ("gp64",)),
    ],
)
def test_the_other_width_is_refused(text, add, remove):
    """A feature of another width, and the refusal of the triple's own, are errors that name both."""
    triple = Triple.parse(text)
    with pytest.raises(FeatureConflictError, match=f"{triple.arch}.*-bit code"):
        check_width(triple.family, triple.arch, triple.pointer_bits, add, remove)


@pytest.mark.parametrize(
    ("text", "add", "remove"),
    [
        ("x86_64-linux-gnu", ("64bit", "avx2"), ("32bit-mode",)),
        ("x86_64-linux-gnux32", ("64bit",), ()),
        ("i686-linux-gnu", ("avx2",), ("64bit",)),
        ("riscv32-unknown-elf", ("xwchc", "zcf", "zilsd"), ("64bit",)),
        ("riscv64-linux-gnu", ("xtheadba", "xcvmac"), ("zcf",)),
        ("powerpc-linux-gnu", ("64bit-support", "64bitregs"), ()),
    ],
)
def test_what_fits_passes(text, add, remove):
    """The triple's own width, the refusal of the other one, and what either width has."""
    triple = Triple.parse(text)
    check_width(triple.family, triple.arch, triple.pointer_bits, add, remove)


def test_a_narrow_cpu_alone_has_the_set_of_its_own_width():
    """Where no triple says the width, a CPU's code is of the widest that it runs: each name of one table makes a target."""
    for family in cpu.family_names():
        for name in cpu.cpu_names(family):
            if len(cpu.families_of_cpu(name)) == 1:
                wide = max(cpu.cpu_widths(family, name))
                assert cpu.resolve(family, name, bits=wide).for_width(wide) == CpuTarget(cpu=name).features
