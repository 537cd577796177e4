"""What an x86 machine can use: flags, models, CPUID and saved state."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host_machines import ZEN_4_GUEST, leaf_tables, words32, x86
from targetspec.host import cpuid
from targetspec.host.auxv import HWCAP, HWCAP2
from targetspec.host.cpuid_caches import cache_descriptors, cache_levels, read_cpuid_caches
from targetspec.host.facts import Caches
from targetspec.host.x86 import flags_to_features, x86_level
from targetspec.host.x86_models import x86_cpu_name

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


def test_descriptors_that_are_none():
    """A register with its top bit set holds none, zero is none, and 0xFF points to leaf 4."""
    leaves = {(0, 0): (2, 0, 0, 0), (2, 0): (0x76036301, 0x00F0B5FF, 0x80002C2C, 0x00C10000)}
    assert cache_descriptors(leaves) == (0x63, 0x03, 0x76, 0xB5, 0xF0, 0xC1)
