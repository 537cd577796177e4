"""Host detection: readers that never raise, facts of real machines, and this machine against independent tools."""

from __future__ import annotations

import json
import os
import pickle
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from targetspec.host import cpuid
from targetspec.host.arm_features import (
    AARCH64_BITS,
    ARM_BITS,
    aarch64_features,
    arm_features,
    capabilities,
)
from targetspec.host.arm_parts import machine_name, part_name
from targetspec.host.auxv import HWCAP, HWCAP2, read_auxv
from targetspec.host.cpuid_caches import cache_descriptors, cache_levels, read_cpuid_caches
from targetspec.host.cpuinfo import read_cpuinfo, read_number
from targetspec.host.detection import detect_facts, process_arch, process_triple, read_facts
from targetspec.host.facts import Caches, Capture, HostFacts
from targetspec.host.libc import musl_loader, read_libc
from targetspec.host.linux import capture
from targetspec.host.machine_code import run_cpuid
from targetspec.host.sysfs import CPU_ROOT, count_cores, read_caches, read_cpu_list, read_size
from targetspec.host.x86 import flags_to_features, x86_level
from targetspec.host.x86_models import x86_cpu_name

on_x86_linux = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="asks an x86-64 Linux machine"
)

ZEN_4_GUEST = """\
processor\t: 0
vendor_id\t: AuthenticAMD
cpu family\t: 25
model\t\t: 17
model name\t: AMD EPYC
stepping\t: 1
physical id\t: 0
core id\t\t: 0
flags\t\t: fpu cx8 cmov mmx fxsr sse sse2 ht syscall lm pni pclmulqdq ssse3 fma cx16 sse4_1 sse4_2 movbe popcnt aes \
xsave avx f16c rdrand hypervisor lahf_lm abm sse4a 3dnowprefetch fsgsbase bmi1 avx2 bmi2 avx512f avx512dq avx512cd \
avx512bw avx512vl avx512_bf16 avx512_vnni
clflush size\t: 64

processor\t: 1
vendor_id\t: AuthenticAMD
cpu family\t: 25
model\t\t: 17
physical id\t: 0
core id\t\t: 1
flags\t\t: fpu cx8 cmov mmx fxsr sse sse2 ht syscall lm pni pclmulqdq ssse3 fma cx16 sse4_1 sse4_2 movbe popcnt aes \
xsave avx f16c rdrand hypervisor lahf_lm abm sse4a 3dnowprefetch fsgsbase bmi1 avx2 bmi2 avx512f avx512dq avx512cd \
avx512bw avx512vl avx512_bf16 avx512_vnni
"""
BIG_LITTLE = """\
processor\t: 0
Features\t: fp asimd evtstrm aes pmull sha1 sha2 crc32
CPU implementer\t: 0x41
CPU architecture: 8
CPU variant\t: 0x0
CPU part\t: 0xd03
CPU revision\t: 4

processor\t: 1
Features\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics
CPU implementer\t: 0x41
CPU architecture: 8
CPU variant\t: 0x0
CPU part\t: 0xd09
CPU revision\t: 2
"""
OLD_PHONE = """\
Processor\t: ARMv7 Processor rev 4 (v7l)
processor\t: 0
BogoMIPS\t: 13.53

processor\t: 1
BogoMIPS\t: 13.53

Features\t: swp half thumb fastmult vfp edsp neon vfpv3 tls vfpv4
CPU implementer\t: 0x51
CPU architecture: 7
CPU variant\t: 0x1
CPU part\t: 0x06f
CPU revision\t: 0

Hardware\t: SAMSUNG JF
"""
TEXTS = (ZEN_4_GUEST, BIG_LITTLE, OLD_PHONE, "", "processor\t: 0\n")


def x86(text: str = ZEN_4_GUEST, **more: object) -> HostFacts:
    """Return the facts of an x86-64 Linux machine with this /proc/cpuinfo."""
    return read_facts(
        Capture(machine="x86_64", **{"pointer_bits": 64, "files": {"/proc/cpuinfo": text}, **more})
    )


def arm(text: str = BIG_LITTLE, **more: object) -> HostFacts:
    """Return the facts of an AArch64 Linux machine with this /proc/cpuinfo."""
    return read_facts(
        Capture(machine="aarch64", **{"pointer_bits": 64, "files": {"/proc/cpuinfo": text}, **more})
    )


# --- readers take anything ---


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """Draw a real text with pieces cut, doubled, swapped or replaced by anything."""
    text = draw(st.sampled_from(TEXTS))
    for _ in range(draw(st.integers(0, 4))):
        first, second = sorted(draw(st.tuples(*(st.integers(0, len(text)),) * 2)))
        piece = draw(
            st.sampled_from(("", text[first:second] * 2, "\n\n", ":", "\0", "0x", "-1"))
            | st.text(max_size=20)
        )
        text = text[:first] + piece + text[second:]
    return text


words32 = st.integers(0, 2**32 - 1)
leaf_names = st.sampled_from(
    [(leaf, sub) for leaf in (0, 1, 2, 4, 7, 0xD, 0x14, 0x1E, 0x24) for sub in (0, 1, 2)]
    + [(0x8000_0000 + leaf, sub) for leaf in (0, 1, 2, 5, 6, 8, 0x1D) for sub in (0, 1)]
)
leaf_tables = st.dictionaries(leaf_names, st.tuples(words32, words32, words32, words32), max_size=12)
paths = st.sampled_from(
    [f"{CPU_ROOT}/{name}" for name in ("present", "possible", "cpu0/topology/thread_siblings_list")]
    + [
        f"{CPU_ROOT}/cpu{cpu}/cache/index{i}/{name}"
        for cpu in (0, 4)
        for i in (0, 1)
        for name in ("level", "type", "size", "coherency_line_size")
    ]
    + [f"{CPU_ROOT}/cpu0/regs/identification/midr_el1"]
)
sys_texts = st.text(max_size=20) | st.sampled_from(
    ("0-7", "32K", "1", "Data", "64", "0x410fd034", "0-999999999999", "-1K")
)


@given(
    machine=st.sampled_from(("x86_64", "i686", "aarch64", "armv7l", "armv8l", "riscv64", ""))
    | st.text(max_size=8),
    bits=st.sampled_from((32, 64)),
    cpuinfo=mutated() | st.text(),
    files=st.dictionaries(paths, sys_texts, max_size=8),
    auxv=st.dictionaries(st.sampled_from((16, 26, 29)), st.integers(0, 2**64 - 1)),
    leaves=leaf_tables,
    xcr0=st.none() | st.integers(0, 2**64 - 1),
    libc=st.text(max_size=40),
    multiarch=st.text(max_size=20),
)
def test_no_machine_is_too_strange(*, machine, bits, cpuinfo, files, auxv, leaves, xcr0, libc, multiarch):
    """Whatever is captured, the readers give facts, and facts are values that travel."""
    strange = Capture(
        machine=machine,
        pointer_bits=bits,
        files={**files, "/proc/cpuinfo": cpuinfo},
        auxv=auxv,
        leaves=leaves,
        xcr0=xcr0,
        libc_text=libc,
        multiarch=multiarch,
    )
    facts = read_facts(strange)
    assert facts == pickle.loads(pickle.dumps(facts))  # noqa: S301
    assert facts == read_facts(pickle.loads(pickle.dumps(strange)))  # noqa: S301
    assert hash(facts) == hash(attrs.evolve(facts))


@given(st.binary(max_size=200), st.sampled_from((32, 64)))
def test_any_bytes_are_an_auxiliary_vector(data, bits):
    """A cut or foreign vector reads as what whole entries it has."""
    assert all(number for number in read_auxv(data, pointer_bits=bits))


# --- x86 ---


def test_flags_become_llvm_features():
    """The kernel's names are LLVM's aliases, and the features of the highest psABI level are all found."""
    facts = x86()
    assert {
        "x87",
        "sse3",
        "sse4.2",
        "crc32",
        "lzcnt",
        "prfchw",
        "bmi",
        "rdrnd",
        "sahf",
        "avx512bf16",
    } <= facts.features
    assert {"pni", "abm", "hypervisor", "ht", "bmi1"}.isdisjoint(facts.features)
    assert x86_level(facts.features) == "x86-64-v4"


def test_the_model_is_a_fact_beside_the_features():
    """A Zen 4 guest without AVX-512 is still znver4, and states no AVX-512."""
    facts = x86(re.sub(r" avx512\w*", "", ZEN_4_GUEST))
    assert facts.identity.cpu == "znver4"
    assert x86_level(facts.features) == "x86-64-v3"
    assert not any(name.startswith("avx512") for name in facts.features)


def test_an_unknown_model_has_no_name():
    """LLVM would guess from features; here the name is absent, and a note says which level they reach."""
    facts = x86(ZEN_4_GUEST.replace(": 17\n", ": 200\n"))
    assert facts.identity.cpu is None
    assert (
        "LLVM has no name for AuthenticAMD family 25 model 200; the features reach x86-64-v4" in facts.notes
    )


@given(
    st.sets(st.sampled_from(sorted(set(ZEN_4_GUEST.split())))),
    st.sampled_from(sorted(set(ZEN_4_GUEST.split()))),
)
def test_a_flag_more_is_never_a_feature_less(flags, more):
    """Flags map to features monotonically."""
    assert flags_to_features(frozenset(flags)) <= flags_to_features(frozenset(flags) | {more})


def test_a_feature_of_one_processor_only_is_not_usable():
    """Features are those that every listed processor has."""
    first, second = ZEN_4_GUEST.split("\n\n")
    assert "avx2" not in x86(f"{first}\n\n{second.replace(' avx2', '')}").features


@pytest.mark.parametrize(
    ("vendor", "family", "model", "features", "name"),
    [
        ("GenuineIntel", 6, 0x55, {"avx512f"}, "skylake-avx512"),
        ("GenuineIntel", 6, 0x55, {"avx512vnni"}, "cascadelake"),
        ("GenuineIntel", 6, 0x55, {"avx512vnni", "avx512bf16"}, "cooperlake"),
        ("GenuineIntel", 6, 0xD5, (), "wildcatlake"),
        ("GenuineIntel", 6, 0xD7, {"avx2"}, None),
        ("GenuineIntel", 15, 4, {"64bit", "sse3"}, "nocona"),
        ("GenuineIntel", 15, 4, {"sse3"}, "prescott"),
        ("GenuineIntel", 18, 3, (), "novalake"),
        ("GenuineIntel", 18, 4, (), None),
        ("GenuineIntel", 19, 1, (), "diamondrapids"),
        ("AuthenticAMD", 6, 8, {"sse"}, "athlon-xp"),
        ("AuthenticAMD", 15, 0x6B, {"sse3"}, "k8-sse3"),
        ("AuthenticAMD", 21, 0x02, (), "bdver2"),
        ("AuthenticAMD", 21, 0x01, (), "bdver1"),
        ("AuthenticAMD", 23, 0x71, (), "znver2"),
        ("AuthenticAMD", 25, 0x21, (), "znver3"),
        ("AuthenticAMD", 25, 0x11, (), "znver4"),
        ("AuthenticAMD", 25, 0x80, (), None),
        ("AuthenticAMD", 26, 0x77, (), "znver5"),
        ("AuthenticAMD", 26, 0x78, (), None),
        ("HygonGenuine", 24, 1, (), "znver1"),
        ("CentaurHauls", 6, 15, {"avx"}, None),
    ],
)
def test_models_have_llvms_names(vendor, family, model, features, name):
    """Family and model select LLVM 22's name, features only what shares a number."""
    assert name == x86_cpu_name(vendor, family, model, features)


# --- CPUID ---

ALDER_LAKE = {
    (0, 0): (0x20, 0x756E6547, 0x6C65746E, 0x49656E69),
    (1, 0): (0x000906A4, 0, 0x7FFAFBBF, 0xBFEBFBFF),
    (7, 0): (1, 0x239CA7EB, 0x984007AC, 0xFC18C410),
    (7, 1): (0x00400810, 0, 0, 0),
}


def test_saved_state_decides_on_vectors():
    """Without OSXSAVE, or without the bits of XCR0, CPUID's AVX bits count for nothing."""
    assert {"avx", "avx2", "fma", "avxvnni"} <= cpuid.usable_features(ALDER_LAKE, 0x7)
    assert {"avx", "avx2", "fma", "avxvnni", "xsave"}.isdisjoint(cpuid.usable_features(ALDER_LAKE, 0x3))
    no_osxsave = {**ALDER_LAKE, (1, 0): (0x000906A4, 0, 0x7FFAFBBF & ~(1 << 27), 0xBFEBFBFF)}
    assert "avx" not in cpuid.usable_features(no_osxsave, 0xE7)
    assert "sse4.2" in cpuid.usable_features(no_osxsave, 0xE7)


@pytest.mark.parametrize(
    ("feature", "leaf", "bit", "xcr0"),
    [("avx512f", (7, 1), 16, 0xE7), ("amx-tile", (7, 3), 24, 0x60007), ("egpr", (7, 3), 21, 0x80007)],
)
def test_each_kind_of_state_has_its_bits(feature, leaf, bit, xcr0):
    """AVX-512 needs bits 5 to 7, AMX 17 and 18, APX 19; all but one of them is not enough."""
    number, register = leaf
    key = (number, 1 if feature == "egpr" else 0)
    words = list(ALDER_LAKE[key])
    words[register] |= 1 << bit
    leaves = {**ALDER_LAKE, key: tuple(words)}
    assert feature in cpuid.usable_features(leaves, xcr0)
    highest = 1 << (xcr0.bit_length() - 1)
    assert feature not in cpuid.usable_features(leaves, xcr0 ^ highest)


@given(leaf_tables, words32, words32)
def test_more_saved_state_is_never_a_feature_less(leaves, xcr0, more):
    """The usable features grow with XCR0, and none needs state where it is zero."""
    fewer, all_of_them = cpuid.usable_features(leaves, xcr0), cpuid.usable_features(leaves, xcr0 | more)
    assert fewer <= all_of_them
    assert not any(cpuid.needs_state(name) for name in cpuid.usable_features(leaves, 0))


def test_avx10_has_its_version():
    """Version 2 is both versions, and takes AVX-512's state."""
    leaves = {
        **ALDER_LAKE,
        (0, 0): (0x24, 0x756E6547, 0x6C65746E, 0x49656E69),
        (7, 1): (0, 0, 0, 1 << 19),
        (0x24, 0): (0, 2, 0, 0),
    }
    assert {"avx10.1", "avx10.2"} <= cpuid.usable_features(leaves, 0xE7)
    assert "avx10.1" not in cpuid.usable_features(leaves, 0x7)


def test_leaves_beyond_the_last_do_not_count():
    """Some processors repeat their last leaf where they have none."""
    leaves = {**ALDER_LAKE, (0, 0): (1, 0x756E6547, 0x6C65746E, 0x49656E69)}
    assert "bmi" in cpuid.usable_features(ALDER_LAKE, 0)
    assert "bmi" not in cpuid.usable_features(leaves, 0)


def test_cpuid_adds_what_linux_does_not_list():
    """`cmpccxadd` and `ptwrite` have no flag in /proc/cpuinfo, so CPUID's word is taken."""
    leaves = {
        (0, 0): (0x14, 0x68747541, 0x444D4163, 0x69746E65),
        (1, 0): (0x00A10F11, 0, 0x7FFAFBBF, 0xBFEBFBFF),
        (7, 0): (1, 0, 0, 0),
        (7, 1): (1 << 7, 0, 0, 0),
        (0x14, 0): (0, 1 << 4, 0, 0),
    }
    facts = x86(leaves=leaves, xcr0=0xE7)
    assert {"cmpccxadd", "ptwrite"} <= facts.features
    assert {"cmpccxadd", "ptwrite"}.isdisjoint(x86().features)


def test_what_either_denies_is_not_usable():
    """A flag that CPUID denies is gone (an emulator), and so is a bit that the kernel does not list."""
    leaves = {
        (0, 0): (7, 0x68747541, 0x444D4163, 0x69746E65),
        (1, 0): (0x00A10F11, 0, 0x7FFAFBBF & ~(1 << 23), 0xBFEBFBFF),
        (7, 0): (0, 0x21 | 1 << 19, 0, 0),
    }
    facts = x86(leaves=leaves, xcr0=0xE7)
    assert {"sse2", "avx2"} <= facts.features
    assert "popcnt" not in facts.features
    assert "adx" not in facts.features


def test_another_processor_in_cpuid_is_emulation():
    """User-mode emulation shows the real machine's /proc/cpuinfo: CPUID alone is believed, and a note says so."""
    facts = x86(leaves=ALDER_LAKE, xcr0=0x7)
    assert (facts.identity.vendor, facts.identity.cpu) == ("GenuineIntel", "alderlake")
    assert "avx512f" not in facts.features
    assert any(note.startswith("emulated") for note in facts.notes)


def test_fsgsbase_needs_the_kernels_word():
    """Kernels before 5.9 list the flag and leave the instructions off; AT_HWCAP2 bit 1 says which."""
    assert "fsgsbase" in x86(auxv={HWCAP2: 2}).features
    assert "fsgsbase" not in x86(auxv={HWCAP: 0x178BFBFF}).features


def test_shadow_stacks_need_the_kernels_word():
    """CPUID has the bit wherever the CPU does; a program can use it only under `user_shstk`."""
    leaves = {**ALDER_LAKE, (7, 0): (0, 0, 1 << 7, 0)}
    assert "shstk" not in cpuid.usable_features(leaves, 0xE7)
    assert "shstk" in flags_to_features(frozenset({"user_shstk"}))
    assert "shstk" not in flags_to_features(frozenset({"shstk"}))


def test_caches_of_every_generation():
    """Leaf 4 of a Haswell, 0x80000005 and 6 of a K8, the descriptors of a Pentium 4."""
    haswell = {
        (0, 0): (0x16, 0, 0, 0),
        (4, 0): (0x1C004121, 0x01C0003F, 0x3F, 0),
        (4, 1): (0x1C004122, 0x01C0003F, 0x3F, 0),
        (4, 2): (0x1C004143, 0x01C0003F, 0x1FF, 0),
        (4, 3): (0x1C03C163, 0x02C0003F, 0x1FFF, 6),
    }
    assert Caches(l1d=32 << 10, l2=256 << 10, l3=6 << 20, line=64) == read_cpuid_caches(haswell)
    k8 = {
        (0x8000_0000, 0): (0x80000018, 0, 0, 0),
        (0x8000_0005, 0): (0xFF08FF08, 0xFF20FF20, 0x40020140, 0x40020140),
        (0x8000_0006, 0): (0, 0x42004200, 0x02008140, 0),
    }
    assert Caches(l1d=64 << 10, l2=512 << 10, line=64) == read_cpuid_caches(k8)
    pentium4 = {(0, 0): (2, 0, 0, 0), (2, 0): (0x665B5001, 0, 0, 0x007A7000)}
    assert cache_descriptors(pentium4) == (0x50, 0x5B, 0x66, 0x70, 0x7A)
    assert cache_levels(pentium4) == ((1, "Data", 8 << 10, 64), (2, "Unified", 256 << 10, 64))


# --- Arm ---


def test_big_little_has_what_all_cores_have():
    """The features are common, the parts are all named, LLVM's name is the last core's, and a note says so."""
    facts = arm()
    assert facts.identity.parts == ("cortex-a53", "cortex-a73")
    assert facts.identity.cpu == "cortex-a73"
    assert {"neon", "aes", "sha2", "crc"} <= facts.features
    assert "lse" not in facts.features
    assert (
        "cores of several designs (cortex-a53, cortex-a73): the features are those common to all"
        in facts.notes
    )


def test_hwcap_is_heard_before_the_text():
    """The auxiliary vector is the process's own; the text may be another machine's."""
    facts = arm(ZEN_4_GUEST, auxv={HWCAP: 0b11 | 1 << 8})
    assert {"fp-armv8", "neon", "lse", "v8a"} == facts.features
    assert "emulated: /proc/cpuinfo describes an x86 machine, so only HWCAP was used" in facts.notes


@given(st.sets(st.sampled_from(AARCH64_BITS[HWCAP] + AARCH64_BITS[HWCAP2])))
def test_bits_and_names_of_capabilities_agree(names):
    """What the auxiliary vector says in bits, the Features line says in words."""
    auxv = {
        entry: sum(1 << bit for bit, name in enumerate(table) if name in names)
        for entry, table in AARCH64_BITS.items()
    }
    assert frozenset(names) == capabilities(auxv, AARCH64_BITS)


@given(
    st.sets(st.sampled_from(AARCH64_BITS[HWCAP] + AARCH64_BITS[HWCAP2])), st.sampled_from(AARCH64_BITS[HWCAP])
)
def test_a_capability_more_is_never_a_feature_less(names, more):
    """Features and architecture versions grow with the capabilities."""
    assert aarch64_features(frozenset(names)) <= aarch64_features(frozenset(names) | {more})


def test_capability_bits_stand_where_linux_has_them():
    """Positions typed in from the kernel's uapi headers."""
    first, second = AARCH64_BITS[HWCAP], AARCH64_BITS[HWCAP2]
    assert (first[22], first[28], first[31], first[47]) == ("sve", "ssbs", "pacg", "smesmop4")
    assert (*(second[bit] for bit in (0, 13, 17, 23, 34, 43, 63)),) == (
        "dcpodp",
        "i8mm",
        "bti",
        "sme",
        "cssc",
        "mops",
        "poe",
    )
    assert (*(ARM_BITS[HWCAP][bit] for bit in (12, 17, 20)),) == ("neon", "idiva", "lpae")


NEOVERSE_N1 = "fp asimd aes pmull sha1 sha2 crc32 atomics fphp asimdhp asimdrdm lrcpc dcpop asimddp ssbs"
NEOVERSE_V2 = (
    f"{NEOVERSE_N1} jscvt fcma sha3 sm3 sm4 sha512 sve asimdfhm dit uscat ilrcpc flagm sb paca pacg dcpodp sve2"
    " flagm2 frint i8mm bf16 rng bti"
)


@pytest.mark.parametrize(
    ("names", "versions"),
    [
        ("fp asimd", {"v8a"}),
        (NEOVERSE_N1, {"v8a", "v8.1a", "v8.2a"}),
        (NEOVERSE_V2, {"v8a", "v8.1a", "v8.2a", "v8.3a", "v8.4a", "v8.5a", "v9a"}),
        (f"{NEOVERSE_V2} ecv", {"v8a", "v8.1a", "v8.2a", "v8.3a", "v8.4a", "v8.5a", "v8.6a", "v9a", "v9.1a"}),
        (NEOVERSE_V2.replace(" paca pacg", ""), {"v8a", "v8.1a", "v8.2a"}),
    ],
)
def test_a_version_is_the_sum_of_its_demands(names, versions):
    """A version is stated where all that a program could notice of it is there; without keys, no v8.3."""
    found = aarch64_features(frozenset(names.split()))
    assert versions == {name for name in found if re.fullmatch(r"v[89](\.\d)?a", name)}


def test_v8_6_is_within_v9_1_only():
    """v9.1a takes v8.6a and SVE2: the one without the other is not it."""
    assert "v9.1a" not in aarch64_features(frozenset(f"{NEOVERSE_V2} ecv".replace(" sve2", "").split()))


def test_old_32_bit_phones():
    """A Krait divides though its kernel does not list it; vfpd32 comes with Advanced SIMD."""
    facts = read_facts(Capture(machine="armv7l", pointer_bits=32, files={"/proc/cpuinfo": OLD_PHONE}))
    assert facts.arch == "armv7"
    assert (facts.identity.cpu, facts.identity.vendor, facts.identity.architecture) == (
        "krait",
        "Qualcomm",
        7,
    )
    assert {"neon", "d32", "vfp4", "hwdiv", "hwdiv-arm", "dsp"} <= facts.features
    assert facts.num_cores == 2
    assert "d32" not in arm_features(frozenset({"vfp", "vfpv3", "vfpv3d16"}))


@pytest.mark.parametrize(
    ("midrs", "hardware", "name"),
    [
        ((0x410FD034,), "", "cortex-a53"),
        ((0x410FD850, 0x410FD870), "", "cortex-x925"),
        ((0x410FD870, 0x410FD850), "", "cortex-x925"),
        ((0x411FD070,), "Qualcomm Technologies, Inc MSM8994", "cortex-a53"),
        ((0x51AF8014,), "", "cortex-a73"),
        ((0x531F0020,), "", "exynos-m3"),
        ((0x534F0010,), "", None),
        ((0x610F0220,), "", "apple-m1"),
        ((0x4E0F0000,), "", None),
        ((0x400FD030,), "", None),
        ((), "", None),
    ],
)
def test_cores_have_llvms_names(midrs, hardware, name):
    """The last core names the machine, with LLVM's exceptions; an unknown design has no name."""
    assert name == machine_name(midrs, hardware)


def test_design_and_llvm_name_are_two_things():
    """Kryo's small core is a Cortex-A53, which LLVM tunes as an A73."""
    assert part_name(0x51AF8014) == "cortex-a53"


def test_one_block_may_stand_for_other_cores():
    """An old kernel prints one core's block for all; the chip says what else is on it."""
    text = BIG_LITTLE.split("\n\n", maxsplit=1)[0] + "\n\nHardware\t: Qualcomm Technologies, Inc MSM8992\n"
    assert arm(text).identity.parts == ("cortex-a53", "cortex-a57")


def test_kernels_that_claim_too_much():
    """The Exynos 9810 lists what only its small cores have; an Exynos M3 has no Armv8.1 atomics."""
    text = BIG_LITTLE.replace("crc32 atomics", "crc32").replace("crc32", "crc32 atomics fphp asimdhp")
    m3 = text.replace(
        "0x41\nCPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: 0xd09",
        "0x53\nCPU architecture: 8\nCPU variant\t: 0x1\nCPU part\t: 0x002",
    )
    assert {"lse", "fullfp16"} <= arm(text).features
    assert {"lse", "fullfp16"}.isdisjoint(arm(m3).features)


def test_midr_from_sys_where_the_text_has_none():
    """Newer kernels have the whole register under /sys."""
    files = {f"{CPU_ROOT}/cpu0/regs/identification/midr_el1": "0x00000000410fd0c0\n"}
    assert arm(files=files).identity.cpu == "neoverse-n1"


# --- topology, caches, libc, triple ---


@given(st.sets(st.integers(0, 300)))
def test_cpu_lists_read_back(numbers):
    """A list of single numbers and a list of ranges are the same set."""
    singles = ",".join(map(str, sorted(numbers)))
    ranges = ",".join(f"{number}-{number}" for number in sorted(numbers))
    assert tuple(sorted(numbers)) == read_cpu_list(singles) == read_cpu_list(ranges)


@pytest.mark.parametrize(
    ("text", "size"),
    [("32K\n", 32 << 10), ("8M", 8 << 20), ("512", 512), ("0K", None), ("", None), ("K", None)],
)
def test_sizes(text, size):
    """Sizes come in units of 1024; none and zero are not stated."""
    assert size == read_size(text)


@pytest.mark.parametrize(
    ("text", "number"), [("0x1f", 31), ("7 x", 7), ("1_0", None), ("\u0663", None), ("", None), (None, None)]
)
def test_numbers_are_the_kernels(text, number):
    """Decimal and 0x, ASCII only."""
    assert number == read_number(text)


def test_cores_are_sibling_sets():
    """Two threads of one core are one core."""
    files = {
        f"{CPU_ROOT}/cpu{cpu}/topology/thread_siblings_list": siblings
        for cpu, siblings in enumerate(("0,2", "1,3", "0,2", "1,3"))
    }
    assert count_cores(files) == 2
    assert count_cores({}) is None


def test_the_smallest_cache_is_stated_where_cores_differ():
    """A hybrid machine states what every core has, and a note says what it found."""

    def level(cpu: int, index: int, number: str, kind: str, size: str) -> dict[str, str]:
        folder = f"{CPU_ROOT}/cpu{cpu}/cache/index{index}"
        line = f"{folder}/coherency_line_size"
        return {f"{folder}/level": number, f"{folder}/type": kind, f"{folder}/size": size, line: "64\n"}

    files = (
        level(0, 0, "1", "Data", "48K")
        | level(0, 1, "1", "Instruction", "32K")
        | level(0, 2, "2", "Unified", "1280K")
        | level(8, 0, "1", "Data", "32K")
        | level(8, 2, "2", "Unified", "2048K")
    )
    caches, notes = read_caches(files)
    assert Caches(l1d=32 << 10, l2=1280 << 10, line=64) == caches
    assert notes[0].startswith("L1 caches differ between cores (32768, 49152 bytes)")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("glibc 2.36", ("glibc", "2.36")),
        ("ldd (Debian GLIBC 2.36-9+deb12u14) 2.36\nCopyright", ("glibc", "2.36")),
        ("musl libc (aarch64)\nVersion 1.2.5_git20240512\nDynamic Program Loader", ("musl", "1.2.5")),
        ("", (None, None)),
        ("uClibc 1.0", (None, None)),
    ],
)
def test_libc_from_its_own_words(text, found):
    """glibc by confstr or ldd, musl by its loader, others not at all."""
    assert found == read_libc(text)


def test_musl_is_found_among_the_mapped_files():
    """The loader that the process runs on is mapped."""
    maps = "7f00-7f10 r-xp 00000000 08:01 12   /usr/lib/libz.so.1\n7f20-7f30 r-xp 0 08:01 13   /lib/ld-musl-x86_64.so.1\n"
    assert musl_loader(maps) == "/lib/ld-musl-x86_64.so.1"
    assert musl_loader("7f20-7f30 r-xp 0 08:01 13 /lib/ld-linux-x86-64.so.2\n") is None


@pytest.mark.parametrize(
    ("machine", "bits", "order", "multiarch", "triple"),
    [
        ("x86_64", 64, "little", "x86_64-linux-gnu", "x86_64-unknown-linux-gnu"),
        ("i686", 64, "little", "", "x86_64-unknown-linux-gnu"),
        ("x86_64", 32, "little", "i386-linux-gnu", "i686-unknown-linux-gnu"),
        ("x86_64", 32, "little", "x86_64-linux-gnux32", "x86_64-unknown-linux-gnux32"),
        ("aarch64", 64, "little", "aarch64-linux-gnu", "aarch64-unknown-linux-gnu"),
        ("aarch64", 64, "big", "", "aarch64_be-unknown-linux-gnu"),
        ("aarch64", 32, "little", "arm-linux-gnueabihf", "armv7-unknown-linux-gnueabihf"),
        ("armv8l", 64, "little", "", "aarch64-unknown-linux-gnu"),
        ("armv6l", 32, "little", "arm-linux-gnueabihf", "armv6-unknown-linux-gnueabihf"),
        ("armv5tel", 32, "little", "arm-linux-gnueabi", "armv5te-unknown-linux-gnueabi"),
        ("riscv64", 64, "little", "riscv64-linux-gnu", "riscv64-unknown-linux-gnu"),
    ],
)
def test_the_process_decides_the_triple(machine, bits, order, multiarch, triple):
    """The kernel names the machine, the process's width and byte order decide what it runs."""
    arch = process_arch(Capture(machine=machine, pointer_bits=bits, byte_order=order, multiarch=multiarch))
    assert triple == process_triple(arch, "glibc", multiarch)


def test_a_triple_without_libc_names_no_environment():
    """What is not known is left out, and a note says so."""
    facts = x86()
    assert facts.triple == "x86_64-unknown-linux"
    assert "the C library does not say what it is" in facts.notes
    assert process_triple("aarch64", "musl") == "aarch64-unknown-linux-musl"


def test_a_32_bit_process_says_so():
    """The target is the process's; 64-bit mode is no feature of it."""
    facts = x86(pointer_bits=32, libc_text="glibc 2.36")
    assert facts.triple == "i686-unknown-linux-gnu"
    assert "64bit" not in facts.features
    assert any(note.startswith("a 32-bit process on a 64-bit kernel") for note in facts.notes)


def test_what_is_missing_is_noted():
    """An empty capture states no number, no feature and no cache, and says what it did not find."""
    facts = read_facts(Capture(machine="aarch64", pointer_bits=64))
    assert (facts.num_cores, facts.num_threads, facts.caches) == (None, None, Caches())
    assert {
        "neither HWCAP nor a Features line: no features are stated",
        "no cache sizes in /sys or CPUID",
    } <= {*facts.notes}


def test_blocks_begin_where_processors_do():
    """Processors without blank lines between them, and text after the last, are blocks of their own."""
    blocks = read_cpuinfo("processor: 0\nprocessor: 1\nFeatures: fp\nno colon\n\nHardware: x : y\n")
    assert blocks == ({"processor": "0"}, {"processor": "1", "Features": "fp"}, {"Hardware": "x : y"})


# --- this machine ---


@on_x86_linux
def test_this_machine_agrees_with_llvm():
    """The features are LLVM's but for two: it does not list x87, and takes shstk and key locker from CPUID alone."""
    binding = pytest.importorskip("llvmlite.binding")
    theirs = {name for name, usable in binding.get_host_cpu_features().items() if usable}
    facts = detect_facts()
    assert facts.features - theirs == {"x87"}
    assert theirs - facts.features <= {"shstk", "kl", "widekl", "uintr"}
    assert facts.identity.cpu in {binding.get_host_cpu_name(), None}
    assert facts.triple == binding.get_process_triple()


@on_x86_linux
def test_this_machine_agrees_with_its_loader():
    """ld.so names the same x86-64 level."""
    loader = Path("/lib64/ld-linux-x86-64.so.2")
    if not loader.exists():
        pytest.skip("no glibc loader here")
    text = subprocess.run([loader, "--help"], capture_output=True, text=True, check=False).stdout
    levels = re.findall(r"(x86-64-v\d) \(supported", text)
    if not levels:
        pytest.skip("this loader does not print levels")
    assert max(levels) == x86_level(detect_facts().features)


@pytest.mark.skipif(sys.platform != "linux", reason="asks a Linux machine")
def test_this_machine_agrees_with_lscpu():
    """Cores, processors and the caches of one instance are lscpu's."""
    if shutil.which("lscpu") is None:
        pytest.skip("lscpu is not installed")

    def lscpu(*options: str) -> list[dict[str, str]]:
        return next(iter(json.loads(subprocess.check_output(["lscpu", "-J", *options], text=True)).values()))  # noqa: S607

    facts = detect_facts()
    cpus = lscpu("-e=cpu,core,socket")
    assert len(cpus) == facts.num_threads
    assert len({(cpu["core"], cpu["socket"]) for cpu in cpus}) == facts.num_cores
    sizes = {row["name"]: int(row["one-size"]) for row in lscpu("-B", "-C")}
    assert sizes.get("L1d") == facts.caches.l1d
    assert sizes.get("L2") == facts.caches.l2
    assert sizes.get("L3") == facts.caches.l3


@pytest.mark.skipif(sys.platform != "linux", reason="asks a Linux machine")
def test_this_machine_agrees_with_ldd():
    """The C library and its version are ldd's."""
    if shutil.which("ldd") is None:
        pytest.skip("ldd is not installed")
    said = subprocess.run(["ldd", "--version"], capture_output=True, text=True, check=False)  # noqa: S607
    facts = detect_facts()
    assert read_libc(said.stdout or said.stderr) == (facts.libc, facts.libc_version)


@on_x86_linux
def test_cpuid_runs_twice_and_says_the_same():
    """The page is made and given back each time; the identity does not change."""
    first, second = run_cpuid(), run_cpuid()
    assert cpuid.signature(first[0]) == cpuid.signature(second[0]) != (0, 0, 0)
    assert first[1] == second[1]


@on_x86_linux
@pytest.mark.parametrize(("model", "name"), [("Nehalem", "nehalem"), ("Haswell", "haswell")])
def test_an_emulated_process_tells_the_truth(model, name):
    """Under user-mode emulation the emulated processor is detected, not the machine below it."""
    emulator = shutil.which("qemu-x86_64-static")
    if emulator is None:
        pytest.skip("qemu-user-static is not installed")
    script = (
        "from targetspec.host.detection import detect_facts; f = detect_facts();"
        "print(f.identity.cpu, 'avx2' in f.features, 'avx512f' in f.features, f.notes[0][:8])"
    )
    command = [emulator, "-cpu", model, sys.executable, "-c", script]
    said = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ})
    assert said.stdout.split() == [name, str(model == "Haswell"), "False", "emulated"]


@pytest.mark.skipif(sys.platform != "linux", reason="asks a Linux machine")
def test_capture_survives_a_closed_system(monkeypatch):
    """Where nothing can be read, little is captured, and nothing raises."""

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "no")

    monkeypatch.setattr("builtins.open", refuse)
    monkeypatch.setattr("os.confstr", refuse)
    captured = capture()
    monkeypatch.undo()
    assert (captured.files, captured.auxv, captured.libc_text) == ({}, {}, "")
    assert read_facts(captured).libc is None
