"""What an Arm machine can use: capabilities, versions, cores and known mistakes of kernels."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host_machines import BIG_LITTLE, OLD_PHONE, ZEN_4_GUEST, arm
from targetspec.host.arm_features import (
    AARCH64_BITS,
    ARM_BITS,
    aarch64_features,
    arm_features,
    capabilities,
)
from targetspec.host.arm_parts import machine_name, part_name
from targetspec.host.auxv import HWCAP, HWCAP2
from targetspec.host.detection import read_facts
from targetspec.host.facts import Capture
from targetspec.host.sysfs import CPU_ROOT

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


def old_block(parts: str, features: str, more: str = "") -> str:
    """Return a text of one block for all cores, as old kernels print it."""
    return f"processor : 0\n\nFeatures : {features}\nCPU implementer : 0x41\n{more}CPU part : {parts}\n"


def test_two_kinds_of_cores_in_one_block():
    """A kernel that joins the fields of both with "&" names both, each with its own variant."""
    text = old_block("0xc07 & 0xc0f", "neon vfpv4", "CPU variant : 0x0 & 0x3\nCPU revision : 5 & 3\n")
    facts = arm(text, pointer_bits=32)
    assert (0x410FC075, 0x413FC0F3) == facts.identity.midrs
    assert ("cortex-a15", "cortex-a7") == facts.identity.parts


@pytest.mark.parametrize(
    ("part", "variant", "listed", "found"),
    [
        ("0xd0b", "0x1", "fp asimd atomics fphp asimdhp", {"rdm", "dotprod"}),
        ("0xd05", "0x1", "fp asimd atomics fphp asimdhp", {"rdm", "dotprod"}),
        ("0xd05", "0x0", "fp asimd atomics fphp asimdhp", {"rdm"}),
        ("0xd0b", "0x1", "fp asimd atomics fphp asimdhp cpuid", set()),
        ("0xd0b", "0x1", "fp asimd", set()),
    ],
)
def test_what_old_kernels_have_no_name_for(part, variant, listed, found):
    """Cores of Armv8.2 round-and-double and have dot products, though kernel 4.9 cannot say so; the first A55 has none."""
    facts = arm(old_block(part, listed, f"CPU variant : {variant}\n"))
    assert found == facts.features & {"rdm", "dotprod"}


def test_the_first_kraits_vectors_are_wrong():
    """Its Advanced SIMD computes wrongly, so it is not stated; the later one's is."""
    text = old_block("0x04d", "swp half thumb neon vfpv4", "CPU variant : 0x1\nCPU revision : 0\n").replace(
        "0x41", "0x51"
    )
    first = arm(text, pointer_bits=32)
    later = arm(text.replace("0x04d", "0x06f"), pointer_bits=32)
    assert "neon" not in first.features
    assert {"neon", "hwdiv"} <= later.features
