"""Machines under macOS, Windows, FreeBSD, Haiku and Solaris: readers of what these systems say."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host_machines import leaf_tables
from targetspec.cpu_tables import table
from targetspec.host import apple_features, linux, macos, unix, windows, windows_features
from targetspec.host.arm_features import AARCH64_BITS
from targetspec.host.detected import host_target
from targetspec.host.detection import read_facts
from targetspec.host.facts import Caches, Capture, HostFacts
from targetspec.host.process_triples import macos_version
from targetspec.host.sysctl import read_sysctl, sysctl_leaves
from targetspec.host.x86 import x86_level

M2 = """\
hw.cpufamily: -634136515
hw.perflevel0.l1dcachesize: 131072
hw.perflevel0.l2cachesize: 16777216
hw.perflevel1.l1dcachesize: 65536
hw.perflevel1.l2cachesize: 4194304
hw.nperflevels: 2
hw.physicalcpu_max: 8
hw.logicalcpu_max: 8
hw.cachelinesize: 128
hw.l1dcachesize: 65536
hw.l3cachesize: 0
hw.optional.arm.FEAT_CRC32: 1
hw.optional.arm.FEAT_LSE: 1
hw.optional.arm.FEAT_RDM: 1
hw.optional.arm.FEAT_BF16: 1
hw.optional.arm.FEAT_SME: 0
hw.optional.floatingpoint: 1
hw.optional.neon: 1
machdep.cpu.brand_string: Apple M2
"""
HASWELL_MAC = """\
machdep.cpu.vendor: GenuineIntel
machdep.cpu.brand_string: Intel(R) Core(TM) i5-4308U CPU @ 2.80GHz
machdep.cpu.family: 6
machdep.cpu.model: 69
machdep.cpu.stepping: 1
machdep.cpu.signature: 263761
machdep.cpu.feature_bits: 9221960262849657855
machdep.cpu.leaf7_feature_bits: 10155 0
machdep.cpu.extfeature_bits: 142473169152
machdep.cpu.xsave.extended_state: 7 832 832 0
machdep.cpu.core_count: 2
machdep.cpu.thread_count: 4
"""
ROSETTA = """\
sysctl.proc_translated: 1
hw.cputype: 7
hw.physicalcpu: 8
machdep.cpu.brand_string: Apple M1
machdep.cpu.family: 6
machdep.cpu.features: FPU CX8 CMOV MMX FXSR SSE SSE2 SSE3 PCLMULQDQ SSSE3 CX16 SSE4.1 SSE4.2 AES SEGLIM64
"""
DMESG = """\
FreeBSD 14.0-RELEASE #0 releng/14.0-n265380-f9716eee8ab4
CPU: AMD Ryzen 7 2700X Eight-Core Processor          (3693.15-MHz K8-class CPU)
  Origin="AuthenticAMD"  Id=0x800f82  Family=0x17  Model=0x8  Stepping=2
  Features=0x178bfbff<FPU,VME,DE,PSE,TSC,MSR,PAE,MCE,CX8,APIC,SEP,MTRR,PGE,MCA,CMOV,PAT,PSE36,CLFLUSH,MMX,FXSR,SSE,SSE2,HTT>
  Features2=0x7ed8320b<SSE3,PCLMULQDQ,MON,SSSE3,FMA,CX16,SSE4.1,SSE4.2,MOVBE,POPCNT,AESNI,XSAVE,OSXSAVE,AVX,F16C,RDRAND>
  AMD Features=0x2e500800<SYSCALL,NX,MMX+,FFXSR,Page1GB,RDTSCP,LM>
  AMD Features2=0x35c233ff<LAHF,CMP,SVM,ExtAPIC,CR8,ABM,SSE4A,MAS,Prefetch,OSVW,SKINIT,WDT,TCE,Topology,MWAITX>
  Structured Extended Features=0x209c01a9<FSGSBASE,BMI1,AVX2,SMEP,BMI2,RDSEED,ADX,SMAP,CLFLUSHOPT,SHA>
FreeBSD/SMP: Multiprocessor System Detected: 16 CPUs
"""


def mac(text: str, machine: str = "arm64", **more: object) -> HostFacts:
    """Return the facts of a Mac that sysctl describes."""
    return read_facts(
        Capture(
            **{
                "machine": machine,
                "pointer_bits": 64,
                "system": "darwin",
                "outputs": {"sysctl": text},
                **more,
            }
        )
    )


# --- macOS ---


def test_a_mac_with_two_kinds_of_cores():
    """Features are common to all by the system's word; the smallest caches are stated, and a note says so."""
    facts = mac(M2, system_version="14.5")
    assert (facts.identity.cpu, facts.identity.vendor, facts.num_cores) == ("apple-m2", "Apple", 8)
    assert Caches(l1d=65536, l2=4194304, line=128) == facts.caches
    assert facts.notes[0].startswith("l1d caches differ between cores (65536, 131072 bytes)")
    assert {"neon", "crc", "lse", "rdm", "bf16"} <= facts.features
    assert "sme" not in facts.features
    target, _ = host_target(facts)
    assert str(target.triple) == "aarch64-apple-macosx14.5"


def test_the_first_arm_macs_have_an_m1():
    """macOS 11 has no FEAT_ names; what it runs on has what every M1 has."""
    facts = mac(
        "hw.optional.arm64: 1\nhw.optional.neon: 1\nhw.optional.floatingpoint: 1\nhw.optional.armv8_crc32: 1\n"
    )
    assert facts.identity.cpu == "apple-m1"
    assert {"dotprod", "rdm", "crc"} <= facts.features


def test_an_intel_macs_numbers_are_cpuids():
    """The bits are read as registers, and the state that XSAVE saves decides on vectors."""
    facts = mac(HASWELL_MAC, "x86_64")
    assert (facts.identity.cpu, facts.identity.family, facts.identity.model) == ("haswell", 6, 69)
    assert {"avx2", "fma", "bmi2", "lzcnt", "sahf", "64bit"} <= facts.features
    without = mac(HASWELL_MAC.replace("extended_state: 7 ", "extended_state: 3 "), "x86_64")
    assert "avx" not in without.features
    assert x86_level(without.features) == "x86-64-v2"
    assert (facts.num_cores, facts.num_threads) == (2, 4)


def test_bits_of_older_systems_stand_apart():
    """Two numbers, EDX and ECX, are what one number of 64 bits is."""
    values = read_sysctl(HASWELL_MAC)
    number = int(values["machdep.cpu.feature_bits"])
    apart = {**values, "machdep.cpu.feature_bits": f"{number & 0xFFFF_FFFF} {number >> 32}"}
    assert sysctl_leaves(values) == sysctl_leaves(apart)


def test_names_alone_need_osxsave():
    """Where only names were printed, vectors count if the system turned XSAVE on."""
    names = "machdep.cpu.vendor: GenuineIntel\nmachdep.cpu.model: 94\nmachdep.cpu.features: SSE2 FMA XSAVE{} AVX1.0 F16C\n"
    assert {"avx", "fma", "xsave"} <= mac(names.format(" OSXSAVE"), "x86_64").features
    assert {"avx", "fma", "xsave"}.isdisjoint(mac(names.format(""), "x86_64").features)
    assert mac(names, "x86_64").identity.cpu == "skylake"


def test_rosetta_is_named():
    """A translated process sees what Rosetta offers, and no AVX; the chip below is in the note."""
    facts = mac(ROSETTA, "x86_64")
    assert facts.triple == "x86_64-apple-macosx"
    assert "sse4.2" in facts.features
    assert "avx" not in facts.features
    assert "emulated: Rosetta runs this process on Apple M1" in facts.notes


@pytest.mark.parametrize(
    ("darwin", "version"),
    [
        ("18.7.0", "10.14"),
        ("20.6.0", "11"),
        ("23.5.0", "14"),
        ("24.0.0", "15"),
        ("25.1.0", "26"),
        ("x", ""),
        ("", ""),
    ],
)
def test_versions_of_macos(darwin, version):
    """The kernel's release tells the version where the system's own is not at hand."""
    assert version == macos_version(darwin)


def test_sysctl_values_are_decoded():
    """Integers of four and eight bytes, lists of either, and texts."""
    assert macos._decoded("hw.cpufamily", b"\xb3\x8b\x58\x1b") == "458787763"
    assert macos._decoded("machdep.cpu.brand_string", b"Apple M1\0") == "Apple M1"
    assert macos._decoded("machdep.cpu.leaf7_feature_bits", bytes(15) + b"\x01") == f"0 {1 << 56}"
    assert macos._decoded("machdep.cpu.xsave.extended_state", b"\7\0\0\0\x40\3\0\0") == "7 832"
    assert macos._decoded("hw.l3cachesize", b"") == ""


# --- Windows ---

ZEN_2 = {"VendorIdentifier": "AuthenticAMD", "Identifier": "AMD64 Family 23 Model 113 Stepping 0"}


def windows_machine(**more: object) -> HostFacts:
    """Return the facts of a Windows machine."""
    return read_facts(Capture(**{"machine": "AMD64", "pointer_bits": 64, "system": "windows", **more}))


def test_windows_by_its_registry_and_its_features():
    """Without CPUID the numbers that Windows knows are all that is stated."""
    facts = windows_machine(registry=ZEN_2, present=frozenset({2, 3, 6, 10, 13, 36, 37, 38, 39, 40}))
    assert (facts.identity.cpu, facts.triple) == ("znver2", "x86_64-pc-windows-msvc")
    assert {"cx8", "mmx", "sse", "sse2", "sse3", "ssse3", "sse4.1", "sse4.2", "avx", "avx2"} == facts.features
    assert "CPUID was not run: features that Windows does not list are not stated" in facts.notes


def test_windows_denies_what_it_does_not_save():
    """AVX that CPUID has and IsProcessorFeaturePresent denies is not usable."""
    leaves = {
        (0, 0): (7, 0x756E6547, 0x6C65746E, 0x49656E69),
        (1, 0): (0x000306C3, 0, 0x7FFAFBBF, 0xBFEBFBFF),
        (7, 0): (0, 1 << 5, 0, 0),
    }
    having = windows_machine(leaves=leaves, xcr0=7, present=frozenset({10, 39, 40}))
    lacking = windows_machine(leaves=leaves, xcr0=7, present=frozenset({10}))
    assert {"avx", "avx2"} <= having.features
    assert {"avx", "avx2"}.isdisjoint(lacking.features)
    assert having.identity.cpu == "haswell"


def test_windows_on_arm():
    """The main ID register is in the registry, and few features have a number: the model tells the rest."""
    facts = windows_machine(
        machine="ARM64",
        registry={"CP 4000": str(0x410FD4C0), "ProcessorNameString": "Snapdragon(TM) 8cx Gen 3 "},
        present=frozenset({18, 19, 29, 30, 31, 34, 43, 45}),
    )
    assert (facts.identity.cpu, facts.identity.brand) == ("cortex-x1c", "Snapdragon(TM) 8cx Gen 3")
    assert {"neon", "aes", "sha2", "crc", "lse", "dotprod", "rcpc"} <= facts.features
    target, _ = host_target(facts)
    assert "rdm" in target.features
    assert "sve" not in target.features


def test_an_emulated_windows_process_says_so():
    """x64 code on an Arm machine is x64 by its own target."""
    facts = windows_machine(registry=ZEN_2, emulated_on="ARM64")
    assert facts.arch == "x86_64"
    assert "emulated: Windows runs this process on ARM64" in facts.notes


def test_wow64_is_a_32_bit_process():
    """A 32-bit process on 64-bit Windows is i686."""
    facts = windows_machine(pointer_bits=32, registry=ZEN_2, present=frozenset({10}))
    assert facts.triple == "i686-pc-windows-msvc"
    assert "a 32-bit process on a 64-bit kernel (AMD64): the target is the process's" in facts.notes


def test_the_compiler_of_the_interpreter_decides_the_abi():
    """A MinGW interpreter is a process of that ABI."""
    assert windows_machine(multiarch="mingw").triple == "x86_64-w64-windows-gnu"


@pytest.mark.parametrize(
    ("version", "machine"),
    [("3.12.4 [MSC v.1940 64 bit (AMD64)]", "AMD64"), ("3.12.4 [MSC v.1940 64 bit (ARM64)]", "ARM64")],
)
def test_the_interpreter_names_its_machine(version, machine):
    """An emulated interpreter is of the machine that it was compiled for."""
    assert machine == windows.process_machine(version)


# --- the other Unix systems ---


def test_freebsds_numbers_are_cpuids():
    """The registers are printed as numbers; XCR0 is not, so vectors are not stated, and a note says so."""
    facts = read_facts(
        Capture(
            machine="amd64",
            pointer_bits=64,
            system="freebsd",
            release="14.0-RELEASE",
            outputs={"dmesg": DMESG},
        )
    )
    assert (facts.identity.cpu, facts.num_threads, facts.triple) == (
        "znver1",
        16,
        "x86_64-unknown-freebsd14.0",
    )
    assert {"sse4.2", "bmi", "rdseed", "sha", "sse4a", "lzcnt", "clflushopt"} <= facts.features
    assert {"avx", "avx2", "fma"}.isdisjoint(facts.features)
    assert "XCR0 was not read: features that need saved vector state are not stated" in facts.notes


def test_haiku_prints_two_forms():
    """Older and newer listings state the same registers."""
    old = 'CPU #0: "Intel(R) Core(TM) i7"\n\tType 0, family 6, model 30, stepping 5, features 0x178bfbbf\n\tExtended Intel: 0x00000201\n'
    new = (
        'CPU #0: "Intel(R) Core(TM) i7"\n\tSignature: 0x0106e5; Type 0, family 6, model 30, stepping 5\n'
        "\tFeatures: 0x178bfbbf\n\tExtended Features (0x00000001): 0x00000201\n"
    )
    facts = [
        read_facts(Capture(machine="BePC", pointer_bits=32, system="haiku", outputs={"sysinfo": text}))
        for text in (old, new)
    ]
    assert facts[0] == facts[1]
    assert (facts[0].identity.cpu, facts[0].triple) == ("nehalem", "i686-unknown-haiku")
    assert {"sse2", "ssse3"} <= facts[0].features


def test_solaris_prints_names():
    """isainfo's names become features, and its first line is none of them."""
    text = "64-bit amd64 applications\n\tavx2 avx xsave aes sse4.2 amd_lzcnt ahf sse3 sse2 sse\n"
    facts = read_facts(
        Capture(machine="i86pc", pointer_bits=64, system="sunos", release="5.11", outputs={"isainfo": text})
    )
    assert facts.triple == "x86_64-pc-solaris2.11"
    assert {"avx2", "aes", "sse4.2", "lzcnt", "sahf", "64bit"} <= facts.features


# --- all ---

SYSTEMS = ("darwin", "windows", "freebsd", "haiku", "sunos", "linux", "plan9", "")
MACHINES = (
    "x86_64",
    "arm64",
    "AMD64",
    "ARM64",
    "i86pc",
    "BePC",
    "ppc64le",
    "s390x",
    "riscv64",
    "mips",
    "loongarch64",
)
words64 = st.integers(0, 2**64 - 1)


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """Draw a real text with pieces cut, doubled or replaced by anything."""
    text = draw(st.sampled_from((M2, HASWELL_MAC, ROSETTA, DMESG)))
    for _ in range(draw(st.integers(0, 4))):
        first, second = sorted(draw(st.tuples(*(st.integers(0, len(text)),) * 2)))
        piece = draw(
            st.sampled_from(("", text[first:second] * 2, "\n", ":", "0x", "-1", "9" * 30))
            | st.text(max_size=9)
        )
        text = text[:first] + piece + text[second:]
    return text


@given(
    machine=st.sampled_from(MACHINES) | st.text(max_size=8),
    system=st.sampled_from(SYSTEMS),
    bits=st.sampled_from((32, 64)),
    order=st.sampled_from(("little", "big")),
    release=st.text(max_size=8) | st.sampled_from(("5.11", "23.5.0", "14.0-RELEASE")),
    texts=st.dictionaries(
        st.sampled_from(("sysctl", "dmesg", "isainfo", "kstat", "sysinfo")), mutated(), max_size=5
    ),
    cpuinfo=mutated(),
    auxv=st.dictionaries(st.sampled_from((16, 26, 29)), words64),
    hwprobe=st.dictionaries(st.integers(0, 11), words64),
    leaves=leaf_tables,
    registry=st.dictionaries(
        st.sampled_from(("Identifier", "CP 4000", "VendorIdentifier")), st.text(max_size=40)
    ),
    present=st.frozensets(st.integers(0, 99)),
)
def test_no_system_is_too_strange(
    *, machine, system, bits, order, release, texts, cpuinfo, auxv, hwprobe, leaves, registry, present
):
    """Whatever is captured there are facts that travel, and a target of them."""
    strange = Capture(
        machine=machine,
        pointer_bits=bits,
        byte_order=order,
        system=system,
        system_version=release,
        release=release,
        files={"/proc/cpuinfo": cpuinfo},
        outputs=texts,
        auxv=auxv,
        hwprobe=hwprobe,
        leaves=leaves,
        registry=registry,
        present=present,
    )
    facts = read_facts(strange)
    assert facts == pickle.loads(pickle.dumps(facts))
    assert hash(facts) == hash(read_facts(strange))
    target, notes = host_target(facts)
    assert target == pickle.loads(pickle.dumps(target))
    assert all(type(note) is str for note in notes)


def test_a_triple_that_no_one_knows_is_not_stated():
    """An architecture or system of the future is a machine without a triple, and a note says so."""
    target, notes = host_target(read_facts(Capture(machine="q128", pointer_bits=64, system="plan9")))
    assert target.triple is None
    assert "the triple of q128 under plan9 is not known: it is not stated" in notes


def test_names_of_capabilities_are_linuxs():
    """macOS and Windows are read through the names that Linux has for capabilities, so each must be one."""
    names = {name for names in AARCH64_BITS.values() for name in names}
    said = {name for names in windows_features._ARM_PRESENT.values() for name in names.split()}
    assert apple_features._CAPABILITIES.keys() | said <= names
    assert set(windows_features._X86_PRESENT.values()) <= table("x86").bit.keys()
    held = table("aarch64")
    assert set(apple_features._FAMILIES.values()) <= held.cpus.keys() | held.cpu_aliases.keys()


def test_other_systems_capture_where_they_are_not():
    """On this machine the captures of other systems are poor, and raise nothing."""
    assert macos._values is not None
    assert dict(macos._values()) == {} or macos.capture().outputs["sysctl"]
    captured = unix.capture()
    assert read_facts(captured).arch
    assert linux.cpu_quota("max 100000") is None
    assert linux.cpu_quota("50000 100000") == 0.5
