"""Linux machines that are neither x86 nor Arm: facts of POWER, IBM Z, RISC-V, LoongArch and MIPS."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from targetspec.cpu_tables import table
from targetspec.host import loongarch, mips, power, riscv, s390x
from targetspec.host.auxv import HWCAP, HWCAP2
from targetspec.host.detected import host_target
from targetspec.host.detection import read_facts
from targetspec.host.facts import Capture, HostFacts

POWER_9 = """\
processor\t: 0
cpu\t\t: POWER9, altivec supported
clock\t\t: 2300.000000MHz
revision\t: 2.2 (pvr 004e 1202)

timebase\t: 512000000
platform\t: PowerNV
"""
# What Linux gives a program on POWER9: FPU, AltiVec, VSX, ISA 2.06 in HWCAP; 2.07, 3.0, crypto, isel, ieee128 in HWCAP2
POWER_9_HWCAPS = {HWCAP: 0xDC06_5DC2, HWCAP2: 0xAFC0_0000}
Z_13 = """\
vendor_id       : IBM/S390
# processors    : 2
features\t: esan3 zarch stfle msa ldisp eimm dfp edat etf3eh highgprs te vx sie
facilities      : 0 1 2 37 45 48 49 53 57 66 73 76 77 129
cache0          : level=1 type=Data scope=Private size=128K line_size=256 associativity=8
processor 0: version = FF,  identification = 14C047,  machine = 2964
processor 1: version = FF,  identification = 14C047,  machine = 2964
"""
X60 = """\
processor       : 0
hart            : 0
isa             : rv64imafdcv_zicbom_zba_zbb_zbs_sstc
uarch           : spacemit,x60
mvendorid       : 0x710
marchid         : 0x8000000058000001

processor       : 1
hart            : 1
isa             : rv64imafdcv_zicbom_zba_zbb_sstc
uarch           : spacemit,x60
"""
LOONGSON = """\
processor\t\t: 0
CPU Family\t\t: Loongson-64bit
Model Name\t\t: Loongson-3A6000
Features\t\t: cpucfg lam ual fpu lsx lasx crc32 complex crypto lvz lbt_x86 lbt_arm lbt_mips
"""
BAIKAL = """\
system type\t\t: Baikal-T Generic SoC
processor\t\t: 0
cpu model\t\t: MIPS P5600 V3.0  FPU V2.0
isa\t\t\t: mips1 mips2 mips32r1 mips32r2
ASEs implemented\t: vz msa eva xpa
"""


def linux(machine: str, text: str, bits: int = 64, **more: object) -> HostFacts:
    """Return the facts of a Linux machine with this /proc/cpuinfo."""
    return read_facts(
        Capture(**{"machine": machine, "pointer_bits": bits, "files": {"/proc/cpuinfo": text}, **more})
    )


# --- POWER ---


def test_power_features_are_the_kernels_bits():
    """POWER9's bits give its vectors, its crypto and no matrix unit; the name is a fact beside them."""
    facts = linux("ppc64le", POWER_9, auxv=POWER_9_HWCAPS, libc_text="glibc 2.28")
    assert {
        "altivec",
        "vsx",
        "power8-vector",
        "power9-vector",
        "crypto",
        "isa-v30-instructions",
    } <= facts.features
    assert {"mma", "power10-vector", "prefix-instrs", "spe", "htm"}.isdisjoint(facts.features)
    assert (facts.identity.cpu, facts.identity.vendor, facts.triple) == (
        "pwr9",
        "IBM",
        "powerpc64le-unknown-linux-gnu",
    )
    target, _ = host_target(facts)
    assert "power9-vector" in target.features


def test_power_without_bits_states_no_features():
    """The text alone names the processor; that AltiVec is supported is one of many things."""
    facts = linux("ppc64le", POWER_9)
    assert (facts.identity.cpu, facts.features) == ("pwr9", frozenset())
    assert any(note.startswith("HWCAP was not read") for note in facts.notes)


def test_power_takes_what_the_kernel_takes():
    """A POWER9 kernel that keeps VSX off leaves no vector instructions of VSX."""
    facts = linux("ppc64le", POWER_9, auxv={**POWER_9_HWCAPS, HWCAP: 0xDC06_5D42})
    assert {"vsx", "power8-vector", "power9-vector", "direct-move"}.isdisjoint(facts.features)
    assert "altivec" in facts.features


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("POWER7 (architected), altivec supported", "pwr7"),
        ("POWER8NVL (raw), altivec supported", "pwr8"),
        ("POWER10, altivec supported", "pwr10"),
        ("POWER5+ (gs)", "pwr5x"),
        ("PPC970MP, altivec supported", "970"),
        ("7447A, altivec supported", "7450"),
        ("POWER99", None),
        ("", None),
    ],
)
def test_power_names(line, name):
    """The first word of the `cpu` line is the processor."""
    assert name == power.power_cpu_name(line)


# --- IBM Z ---


@pytest.mark.parametrize(
    ("machine", "with_vectors", "without"),
    [
        (9175, "z17", "zEC12"),
        (3931, "z16", "zEC12"),
        (8561, "z15", "zEC12"),
        (3906, "z14", "zEC12"),
        (2964, "z13", "zEC12"),
        (2827, "zEC12", "zEC12"),
        (2817, "z196", "z196"),
        (2097, "z10", "z10"),
        (2064, None, None),
        (None, None, None),
    ],
)
def test_z_names_need_the_kernels_vectors(machine, with_vectors, without):
    """A newer machine under a kernel or hypervisor without vectors is no more than zEC12, as LLVM has it."""
    assert with_vectors == s390x.s390x_cpu_name(machine, vectors=True)
    assert without == s390x.s390x_cpu_name(machine, vectors=False)


def test_z_features():
    """HWCAP's names say what needs the kernel, the facility list what does not."""
    facts = linux("s390x", Z_13, byte_order="big", libc_text="glibc 2.31")
    assert {"vector", "transactional-execution", "distinct-ops", "fp-extension"} <= facts.features
    assert {"vector-enhancements-1", "miscellaneous-extensions-2"}.isdisjoint(facts.features)
    assert (facts.identity.cpu, facts.num_threads, facts.triple) == ("z13", 2, "s390x-unknown-linux-gnu")


def test_z_bits_decide_over_the_line():
    """Bit 11 of HWCAP is `vx`: without it a program has no vectors, whatever the line says."""
    facts = linux("s390x", Z_13, auxv={HWCAP: 0x7FF})
    assert "vector" not in facts.features
    assert facts.identity.cpu == "zEC12"
    assert "vector" in linux("s390x", Z_13, auxv={HWCAP: 0xFFF}).features


# --- RISC-V ---


@pytest.mark.parametrize(
    ("isa", "names"),
    [
        ("rv64imafdc", "a c d f i m"),
        ("rv64imafdcsu", "a c d f i m"),
        ("rv64i2p0m2p0a2p0f2p0d2p0c2p0xv5-0p0", "a c d f i m"),
        ("rv64imafdcvh_zba_zbb", "a c d f h i m v zba zbb"),
        ("rv64gc_zba1p0", "a c d f i m zba zicsr zifencei"),
        ("rv64imacsstc", "a c i m sstc"),
        ("rv64imafdcbvh", "a b c d f h i m v"),
        ("RV32IMAC_Zicsr", "a c i m zicsr"),
        ("rv64imac_zicsr_zmade_up_xunheard", "a c i m zicsr"),
        ("", ""),
        ("sv39", ""),
    ],
)
def test_isa_strings_of_kernels(isa, names):
    """Versions and modes are no extensions, and what LLVM does not know falls away."""
    assert set(names.split()) == riscv.isa_extensions(isa)


def test_harts_share_what_all_have():
    """One hart without Zbs takes it from all, and a note says so; a set is closed over what it implies."""
    facts = linux("riscv64", X60, libc_text="glibc 2.38")
    assert {"i", "m", "a", "f", "d", "c", "v", "zba", "zbb", "zve64d", "zvl128b", "64bit"} <= facts.features
    assert "zbs" not in facts.features
    assert "harts with different extensions: the features are those common to all" in facts.notes
    assert (facts.identity.cpu, facts.identity.vendor) == ("spacemit-x60", "SpacemiT")


def test_hwprobe_is_asked_first():
    """The kernel's answer for all harts stands before the text; fast misaligned access is a feature."""
    bits = 1 << 0 | 1 << 1 | 1 << 3 | 1 << 4 | 1 << 5
    answers = {riscv.BASE: 1, riscv.EXTENSIONS: bits, riscv.MISALIGNED_SCALAR: 3}
    facts = linux("riscv64", X60, hwprobe=answers)
    assert {"i", "m", "a", "f", "d", "c", "zba", "zbb", "zbs", "unaligned-scalar-mem"} <= facts.features
    assert "v" not in facts.features
    assert "unaligned-vector-mem" not in facts.features


def test_models_by_their_numbers():
    """Vendor and architecture numbers name the core where no `uarch` does."""
    answers = {riscv.VENDOR: 0x710, riscv.ARCH: 0x8000_0000_5800_0001, riscv.BASE: 1}
    assert linux("riscv64", "", hwprobe=answers).identity.cpu == "spacemit-x60"


def test_a_kernel_may_leave_the_vector_unit_off():
    """Without V among the letters of HWCAP no vector extension is usable."""
    letters = sum(1 << ord(letter) - ord("a") for letter in "imafdc")
    facts = linux("riscv64", X60, auxv={HWCAP: letters})
    assert {"v", "zve64d", "zve32x"}.isdisjoint(facts.features)
    assert "zba" in facts.features


def test_extensions_that_exclude_each_other():
    """No set can hold F and Zfinx: the machine is stated without features, and a note says why."""
    target, notes = host_target(
        linux("riscv64", "processor : 0\nisa : rv64imaf_zfinx\n", libc_text="glibc 2.38")
    )
    assert str(target.triple) == "riscv64-unknown-linux-gnu"
    assert any(note.startswith("no features are stated: ") for note in notes)


def test_letters_of_hwcap_alone():
    """Under emulation of RISC-V on x86, HWCAP is what there is."""
    letters = sum(1 << ord(letter) - ord("a") for letter in "imafdcv")
    facts = linux("riscv64", "processor\t: 0\nflags\t: fpu sse2\n", auxv={HWCAP: letters})
    assert {"i", "m", "v"} <= facts.features
    assert "emulated: /proc/cpuinfo describes an x86 machine, so it was not used" in facts.notes


# --- LoongArch ---


def test_loongarch_features():
    """The kernel lists vectors; what it lists nowhere comes with the core that the chip's name tells."""
    facts = linux("loongarch64", LOONGSON, libc_text="glibc 2.38")
    assert {"64bit", "d", "f", "lasx", "lbt", "lsx", "lvz", "ual"} == facts.features
    target, _ = host_target(facts)
    assert (target.cpu, "frecipe" in target.features) == ("la664", True)


def test_loongarch_bits_decide_over_the_line():
    """A kernel without LASX (bit 5) is a machine without it."""
    facts = linux("loongarch64", LOONGSON, auxv={HWCAP: 0b1_1111})
    assert {"lsx", "d"} <= facts.features
    assert "lasx" not in facts.features


@pytest.mark.parametrize(
    ("model", "name"),
    [("Loongson-3A5000LL", "la464"), ("Loongson-3C6000/S", "la664"), ("Loongson-2K2000", None), ("", None)],
)
def test_loongarch_names(model, name):
    """The generation of a chip tells its cores, where LLVM has them."""
    assert name == loongarch.loongarch_cpu_name(model)


# --- MIPS ---


def test_mips_revisions_are_the_processs():
    """A 32-bit process has the 32-bit revisions; its byte order is in the triple."""
    facts = linux("mips", BAIKAL, 32, libc_text="glibc 2.24", multiarch="mipsel-linux-gnu")
    assert {"mips1", "mips2", "mips32", "mips32r2", "msa", "eva", "virt"} == facts.features
    assert (facts.identity.cpu, facts.triple) == ("p5600", "mipsel-unknown-linux-gnu")
    wide = BAIKAL.replace("mips32r2", "mips32r2 mips64r1 mips64r2")
    assert "mips64r2" in linux("mips64", wide).features
    assert "mips64r2" not in linux("mips64", wide, 32).features
    assert linux(
        "mips64", wide, byte_order="big", libc_text="glibc 2.24", multiarch="mips64-linux-gnuabi64"
    ).triple == ("mips64-unknown-linux-gnuabi64")


def test_mips_names():
    """The model line names the core."""
    assert mips.mips_cpu_name("Cavium Octeon+ V0.2") == "octeon+"
    assert mips.mips_cpu_name("MIPS 24Kc V0.0  FPU V0.0") is None


# --- all ---


@pytest.mark.parametrize(
    ("family", "cpus", "features"),
    [
        (
            "powerpc",
            power._CPUS.values(),
            {name for _, _, names in power._BITS for name in names.split()}
            | {name for _, names in power._VECTORS for name in names.split()},
        ),
        (
            "systemz",
            s390x._MACHINES,
            {*s390x._FEATURES.values()}
            | {name for names in s390x._FACILITIES.values() for name in names.split()},
        ),
        (
            "riscv",
            {*riscv._UARCHS.values(), *riscv._MODELS.values()},
            {"unaligned-scalar-mem", "unaligned-vector-mem"},
        ),
        ("loongarch", {name for _, name in loongarch._CORES}, loongarch._FEATURES),
        ("mips", {name for _, name in mips._CPUS}, {*mips._EXTENSIONS.values(), *mips._REVISIONS.values()}),
    ],
)
def test_every_name_is_in_the_tables(family, cpus, features):
    """The tables know each CPU and feature that detection can state."""
    held = table(family)
    assert set(cpus) <= held.cpus.keys() | held.cpu_aliases.keys()
    assert set(features) <= held.features.keys()


def test_bits_of_hwprobe_are_the_tables_names():
    """LLVM knows all but what came after it."""
    names = {name for names in riscv._EXTENSION_BITS for name in names.split()}
    assert names <= table("riscv").bit.keys()


@pytest.mark.parametrize(
    ("machine", "bits", "order", "arch"),
    [
        ("ppc64le", 64, "little", "powerpc64le"),
        ("ppc64", 32, "big", "powerpc"),
        ("s390x", 64, "big", "s390x"),
        ("riscv64", 64, "little", "riscv64"),
        ("loongarch64", 64, "little", "loongarch64"),
        ("mips64", 64, "little", "mips64el"),
        ("mips64", 32, "big", "mips"),
        ("sparc64", 64, "big", "sparc64"),
    ],
)
def test_architectures_of_processes(machine, bits, order, arch):
    """Width and byte order are the process's."""
    assert arch == read_facts(Capture(machine=machine, pointer_bits=bits, byte_order=order)).arch


def test_an_architecture_without_a_reader_is_stated_as_such():
    """Its triple is known, and a note says that nothing else is."""
    target, notes = host_target(linux("sparc64", "cpu : UltraSparc T5", libc_text="glibc 2.31"))
    assert str(target.triple) == "sparcv9-unknown-linux-gnu"
    assert "the processors of sparc64 are not read" in notes


def test_llvm_names_the_same_z_machines():
    """No name of a machine here is one that LLVM lacks."""
    pytest.importorskip("llvmlite")
    script = (
        "import llvmlite.binding as llvm; llvm.initialize_all_targets(); llvm.initialize_all_asmprinters();"
        "llvm.Target.from_triple('s390x-linux-gnu').create_target_machine(cpu='help')"
    )
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stderr
    cpus = set(re.findall(r"^\s+(\S+)\s+- ", said.partition("Available features")[0], re.MULTILINE))
    assert s390x._MACHINES.keys() <= cpus
