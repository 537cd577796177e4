"""The generated tables: what they hold."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from targetspec import CpuTarget, Triple, cpu, cpu_tables
from targetspec.errors import UnknownNameError
from targetspec.feature_aliases import WORLDS, from_llvm, to_llvm
from targetspec.features import FeatureSet
from targetspec.triple_archs import ARCHS

DATA = Path(cpu_tables.__file__).with_name("data")
FAMILIES = cpu.family_names()


@pytest.mark.parametrize("family", FAMILIES)
def test_every_cpu_has_a_closed_set(family):
    """The set of a CPU is closed, holds known names only, and an alias has the set of its CPU."""
    for name in cpu.cpu_names(family, aliases=True):
        found = cpu.resolve(family, name)
        assert found == FeatureSet.closed(family, found), name
        assert found == cpu.resolve(family, cpu.canonical_cpu(family, name)), name


@pytest.mark.parametrize("family", FAMILIES)
def test_every_feature_has_a_role_and_a_description(family):
    """All roles are among the four; all features are described; tuning implies no isa."""
    for name in cpu.feature_names(family):
        assert cpu.role(family, name) in {"isa", "tuning", "inverse", "abi"}
        assert cpu.describe(family, name)
        assert "TODO" not in cpu.describe(family, name)
        assert name in cpu.implied(family, name)
        assert name in cpu.dependents(family, name)


@pytest.mark.parametrize("family", FAMILIES)
def test_what_comes_with_a_name_has_the_role_it_is_listed_under(family):
    """A CPU's set, its tuning and its restrictions are told apart by role."""
    for name in cpu.cpu_names(family):
        assert all(cpu.is_listed(family, one) for one in cpu.resolve(family, name))
        assert all(cpu.role(family, one) == "tuning" for one in cpu.tuning_of(family, name))
        assert all(cpu.role(family, one) == "inverse" for one in cpu.inverse_of(family, name))


@pytest.mark.parametrize("family", FAMILIES)
def test_all_files_are_of_one_version(family):
    """Each table says which LLVM it was made from."""
    assert cpu.TABLES_VERSION == json.loads((DATA / f"{family}.json").read_text("utf-8"))["llvm"]


def test_the_index_knows_all_names():
    """The index of CPU names agrees with the tables; some names are in two."""
    expected = {(name, family) for family in FAMILIES for name in cpu.cpu_names(family, aliases=True)}
    assert expected == {(name, one) for name, families in cpu_tables.cpu_index().items() for one in families}
    assert ("aarch64", "arm") == cpu.families_of_cpu("cortex-a53")
    assert ("x86",) == cpu.families_of_cpu("core-avx2")
    assert () == cpu.families_of_cpu("cortex-a530")


def test_looking_for_the_family_of_a_cpu_reads_no_table():
    """A target without a triple finds its table by the small index."""
    program = (
        "from targetspec import cpu, cpu_tables; cpu.families_of_cpu('haswell'); cpu.family_names();"
        "print(cpu_tables.table.cache_info().currsize)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "0" == done.stdout.strip()


@pytest.mark.parametrize(
    ("family", "alias", "name"),
    [
        ("x86", "core-avx2", "haswell"),
        ("x86", "skx", "skylake-avx512"),
        ("x86", "corei7", "nehalem"),
        ("x86", "atom", "bonnell"),
        ("x86", "opteron", "k8"),
        ("x86", "core_aes_pclmulqdq", "westmere"),
        ("aarch64", "apple-m1", "apple-a14"),
        ("aarch64", "cyclone", "apple-a7"),
        ("aarch64", "cobalt-100", "neoverse-n2"),
        ("systemz", "arch13", "z15"),
        ("amdgpu", "fiji", "gfx803"),
    ],
)
def test_aliases_resolve(family, alias, name):
    """A CPU goes by one name, whatever it was called."""
    assert name == cpu.canonical_cpu(family, alias)
    assert alias not in cpu.cpu_names(family)


@pytest.mark.parametrize(
    ("family", "one", "other"),
    [
        ("x86", "alderlake", "raptorlake"),
        ("x86", "sapphirerapids", "emeraldrapids"),
        ("x86", "i686", "pentiumpro"),
        ("x86", "goldmont", "atom_sse4_2_movbe"),
        ("aarch64", "cortex-a35", "cortex-a53"),
    ],
)
def test_lookalikes_stay_apart(family, one, other):
    """Two CPUs that LLVM declares apart stay two, equal sets or not: their tuning and schedules differ."""
    assert {one, other} <= set(cpu.cpu_names(family))


def test_unknown_names_are_errors_with_the_nearest():
    """Families, CPUs, features and worlds: an unknown one is refused with what is near."""
    with pytest.raises(UnknownNameError, match="did you mean 'aarch64'"):
        cpu.cpu_names("aarch46")
    with pytest.raises(UnknownNameError, match=r"unknown CPU 'cortex-a530' for aarch64.*'cortex-a53'"):
        cpu.canonical_cpu("aarch64", "cortex-a530")
    with pytest.raises(UnknownNameError, match=r"unknown feature 'dot-prod' for aarch64.*'dotprod'"):
        cpu.role("aarch64", "dot-prod")
    with pytest.raises(UnknownNameError, match="did you mean 'linux'"):
        cpu.feature_alias("x86", "abm", "linus")


@pytest.mark.parametrize(
    ("family", "world", "alias", "name"),
    [
        ("x86", "linux", "rdrand", "rdrnd"),
        ("x86", "linux", "pclmulqdq", "pclmul"),
        ("x86", "linux", "bmi1", "bmi"),
        ("x86", "linux", "abm", "lzcnt"),
        ("x86", "linux", "pni", "sse3"),
        ("x86", "linux", "avx512_vnni", "avx512vnni"),
        ("x86", "linux", "cx16", "cx16"),
        ("x86", "rust", "cmpxchg16b", "cx16"),
        ("x86", "rust", "sse4.1", "sse4.1"),
        ("aarch64", "linux", "asimd", "neon"),
        ("aarch64", "linux", "atomics", "lse"),
        ("aarch64", "linux", "paca", "pauth"),
        ("aarch64", "rust", "fp16", "fullfp16"),
        ("aarch64", "gcc", "memtag", "mte"),
    ],
)
def test_other_worlds_names_go_both_ways(family, world, alias, name):
    """A world's name gives LLVM's, and LLVM's the world's."""
    assert name == cpu.feature_alias(family, alias, world)
    assert alias == cpu.feature_spelling(family, name, world)


def test_worlds_name_only_features_that_llvm_has():
    """Every alias leads to a feature of the table; the way back leads to a name that leads there again."""
    for family in FAMILIES:
        for world in WORLDS:
            for alias, name in to_llvm(family, world).items():
                assert name in cpu.feature_names(family), alias
            for name, alias in from_llvm(family, world).items():
                assert name == to_llvm(family, world)[alias]
    assert cpu.feature_alias("x86", "vme", "linux") is None


def test_bits_of_cpus():
    """A CPU says which widths of code it runs."""
    assert (32,) == cpu.cpu_widths("x86", "i686")
    assert (32, 64) == cpu.cpu_widths("x86", "haswell")
    assert (32,) == cpu.cpu_widths("riscv", "sifive-e31")
    assert (64,) == cpu.cpu_widths("systemz", "z15")


def test_patches_have_reasons():
    """What departs from clang is marked in the table, with the reason."""
    assert "cmov" in cpu.patches("x86")["cpu znver3"]
    assert "Enclaves" in cpu.patches("x86")["cpu skylake"]
    assert "za128rs" in cpu.resolve("riscv", "sifive-p450")
    assert cpu.patches("riscv")["feature za64rs"]


@pytest.mark.parametrize("arch", sorted(arch for arch, facts in ARCHS.items() if facts.family))
def test_every_architecture_with_a_table_has_a_baseline(arch):
    """A triple alone stands for a CPU of its family; a device architecture stands for none."""
    family = ARCHS[arch].family
    name = cpu.baseline_cpu(arch)
    if family in {"amdgpu", "nvptx"}:
        assert name is None
        return
    bits = ARCHS[arch].bits
    found = cpu.resolve(family, name, add=cpu.baseline_features(arch, os="linux"), bits=bits)
    assert bits in cpu.cpu_widths(family, name)
    assert found.family == family


@pytest.mark.parametrize(
    ("triple", "name", "feature"),
    [
        ("arm-none-eabi", "arm7tdmi", "armv4t"),
        ("arm-linux-gnueabihf", "arm1176jzf-s", "vfp2"),
        ("arm-linux-musleabihf", "arm1176jzf-s", "armv6kz"),
        ("armv7-linux-gnueabihf", "generic", "neon"),
        ("armv6-unknown-freebsd", "arm1176jzf-s", "armv6kz"),
        ("thumbv7-unknown-netbsd-eabihf", "cortex-a8", "armv7-a"),
        ("arm--openbsd", "cortex-a8", "armv7-a"),
        ("arm-unknown-netbsd", "strongarm", "armv4"),
        ("arm-unknown-netbsd-eabi", "arm926ej-s", "armv5tej"),
        ("armv7-pc-windows-msvc", "cortex-a9", "fp16"),
        ("armv6-apple-ios", "mpcore", "armv6k"),
        ("arm-unknown-fuchsia", "generic", "armv8-a"),
        ("xscaleeb-none-eabi", "xscale", "xscale"),
    ],
)
def test_what_an_arm_triple_stands_for_depends_on_its_system(triple, name, feature):
    """The CPU that clang takes is the oldest that the system and its convention of calls have."""
    triple = Triple.parse(triple)
    assert name == cpu.baseline_cpu(triple.arch, triple.sub_arch, triple.os, triple.environment)
    assert feature in CpuTarget(triple=triple).features


def test_each_cpu_stands_on_a_line_of_its_own():
    """The files are made to be compared by line."""
    lines = (DATA / "x86.json").read_text("utf-8").splitlines()
    assert len(cpu.cpu_names("x86")) == sum(bool(re.match(r'"[^"]+": {"has"', line)) for line in lines)
