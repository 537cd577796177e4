"""Feature sets: laws of closing, changing and comparing, and the facts that users will try first."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from strategies_cpu import any_feature_set, families, feature_sets, features, held_features
from targetspec import cpu
from targetspec.errors import FeatureConflictError, FeatureRoleError, UnknownNameError
from targetspec.features import FeatureSet

FLAT = ("amdgpu", "nvptx", "powerpc", "x86")
"""Families whose tables cover nothing: what is listed is all there is."""


@given(any_feature_set())
def test_closing_is_idempotent(found):
    """A set closed again is the same set, whatever was added and removed before."""
    assert found == FeatureSet.closed(found.family, found)
    assert found == found.reclosed()


@given(st.data())
def test_order_and_duplicates_do_not_matter(data):
    """The names of a set in any order, some twice, give the set."""
    found = data.draw(any_feature_set())
    names = data.draw(st.permutations(list(found)))
    assert found == FeatureSet.closed(found.family, [*names, *names[:3]])


@given(st.data())
def test_closing_is_monotone(data):
    """More names give a set that holds the one of fewer."""
    family = data.draw(families())
    names = data.draw(st.lists(features(family), max_size=6))
    more = [*names, *data.draw(st.lists(features(family), max_size=3))]
    try:
        larger = FeatureSet.closed(family, more)
        smaller = FeatureSet.closed(family, names)
    except FeatureConflictError:
        assume(condition=False)
    assert smaller <= larger


@given(st.data())
def test_what_is_removed_is_gone_with_its_dependents(data):
    """After a removal neither the feature nor anything that implies it is there."""
    found = data.draw(any_feature_set())
    assume(len(found))
    name = data.draw(st.sampled_from(list(found)))
    try:
        less = found.with_changes(remove=[name])
    except FeatureConflictError:
        assume(condition=False)
    assert name not in less
    assert not cpu.dependents(found.family, name) & less.names
    assert less <= found


@given(st.data())
def test_what_is_added_is_there_with_all_it_implies(data):
    """After an addition the feature and all it implies are there, and nothing is lost."""
    found = data.draw(any_feature_set())
    name = data.draw(features(found.family))
    try:
        more = found.with_changes(add=[name])
    except FeatureConflictError:
        assume(condition=False)
    assert all(one in more for one in cpu.implied(found.family, name))
    assert found <= more


@given(st.data())
def test_a_feature_added_and_removed_again_is_gone(data):
    """Adding and then removing leaves at most what adding gave."""
    found = data.draw(any_feature_set())
    name = data.draw(features(found.family))
    try:
        more = found.with_changes(add=[name])
        back = more.with_changes(remove=[name])
    except FeatureConflictError:
        assume(condition=False)
    assert name not in back
    assert back <= more


@given(st.data())
def test_a_redundant_addition_changes_nothing(data):
    """What is there already changes nothing when asked for; what a version covers is listed, and counts no more.

    Arm's crypto is there with two of its parts, and asks for two more from Armv8.4 on.
    """
    found = data.draw(any_feature_set())
    there = [name for name in held_features(found.family) if name in found and name != "crypto"]
    assume(there)
    name = data.draw(st.sampled_from(there))
    again = found.with_changes(add=[name])
    assert found <= again <= found
    assert (found == again) == (name in found.names)


@given(st.data())
def test_asking_for_what_implies_a_refused_feature_is_an_error(data):
    """A contradiction is refused, and names both sides."""
    family = data.draw(families())
    name = data.draw(features(family))
    other = data.draw(st.sampled_from(sorted(cpu.implied(family, name))))
    with pytest.raises(FeatureConflictError) as caught:
        cpu.resolve(family, cpu.cpu_names(family)[0], add=[name], remove=[other])
    assert (family, f"+{name}", f"-{other}") == (caught.value.arch, caught.value.first, caught.value.second)


@given(st.data())
def test_subset_is_that_of_the_names_where_nothing_is_covered(data):
    """On the families that cover nothing, `<=` and `-` are those of frozensets of the names."""
    family = data.draw(st.sampled_from(FLAT))
    one, other = data.draw(feature_sets(family)), data.draw(feature_sets(family))
    assert (one.names <= other.names) == (one <= other)
    assert tuple(sorted(one.names - other.names)) == one - other


@given(st.data())
def test_subset_is_a_preorder_that_holds_the_order_of_the_names(data):
    """`<=` is reflexive and transitive, follows from the names, and its difference is empty exactly where it holds."""
    family = data.draw(families())
    a, b, c = (data.draw(feature_sets(family)) for _ in range(3))
    assert a <= a  # noqa: PLR0124
    assert (a <= c) or not (a <= b <= c)
    assert (a <= b) or not a.names <= b.names
    assert (a <= b) == (not a - b)


@given(any_feature_set())
def test_pickle_and_copy_give_an_equal_set(found):
    """A copy of any kind is equal, has the same hash, and keeps the version of the tables."""
    for other in (pickle.loads(pickle.dumps(found)), copy.copy(found), copy.deepcopy(found)):
        assert (found, hash(found), found.tables) == (other, hash(other), other.tables)


def test_a_pickle_does_not_lean_on_the_readers_tables():
    """A fresh process reads a pickled set, compares and lists it, and reads no table."""
    found = FeatureSet.verbatim("x86", ["sse2", "not-yet"], "99.0")
    program = (
        "import pickle, sys; from targetspec import cpu_tables; found = pickle.loads(sys.stdin.buffer.read());"
        "print(*found, found.tables, hash(found) == hash(pickle.loads(pickle.dumps(found))),"
        "cpu_tables.table.cache_info().currsize)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], input=pickle.dumps(found), capture_output=True, check=True
    )
    assert "not-yet sse2 99.0 True 0" == done.stdout.decode().strip()


def test_a_set_is_immutable_and_not_made_by_hand():
    """No attribute can be set or deleted, and the class is not called."""
    found = FeatureSet.closed("x86", ["avx"])
    with pytest.raises(AttributeError, match="immutable"):
        found.names = frozenset()
    with pytest.raises(AttributeError, match="immutable"):
        del found.family
    with pytest.raises(TypeError, match="closed"):
        FeatureSet()


def test_sets_of_other_versions_keep_what_they_say():
    """A verbatim set keeps unknown names and its version, closes nothing, and closes today on demand."""
    old = FeatureSet.verbatim("x86", ["avx2", "made-up"], "19.1")
    assert (["avx2", "made-up"], "19.1") == (list(old), old.tables)
    assert "made-up" in old
    closed = old.reclosed()
    assert ({"avx2", "avx", "sse2", "made-up"}, cpu.TABLES_VERSION) == (
        closed.names & {"avx2", "avx", "sse2", "made-up"},
        closed.tables,
    )
    assert old <= closed
    assert ("made-up",) == closed - cpu.resolve("x86", "haswell")
    assert not closed <= cpu.resolve("x86", "haswell")


def test_the_version_of_the_tables_is_no_part_of_equality():
    """Two sets of the same names are equal whatever they were closed with."""
    today = cpu.resolve("x86", "x86-64")
    old = FeatureSet.verbatim("x86", today, "19.1")
    assert today == old
    assert hash(today) == hash(old)


def test_sets_of_two_families_are_unrelated():
    """The same names in two families are neither equal nor a subset."""
    one, other = FeatureSet.closed("aarch64", ["crc"]), FeatureSet.closed("arm", ["crc"])
    assert one != other
    assert not one <= other
    assert not FeatureSet.closed("x86", []) <= FeatureSet.closed("arm", [])
    everything = FeatureSet.closed("aarch64", held_features("aarch64"))
    assert tuple(cpu.resolve("x86", "znver5")) == cpu.resolve("x86", "znver5") - everything
    assert NotImplemented is one.__eq__("crc")
    assert NotImplemented is one.__le__(frozenset())


def test_a_misspelt_name_is_an_error_with_the_nearest():
    """Looking up, adding and closing refuse unknown names and offer the nearest; aliases are understood."""
    haswell = cpu.resolve("x86", "haswell")
    with pytest.raises(UnknownNameError, match=r"unknown feature 'sse4.3' for x86; did you mean") as caught:
        "sse4.3" in haswell  # noqa: B015
    assert "sse4.1" in caught.value.near
    with pytest.raises(UnknownNameError, match="avx22"):
        haswell.with_changes(add=["avx22"])
    with pytest.raises(UnknownNameError, match="did you mean 'haswell'"):
        cpu.resolve("x86", "hasswell")
    assert "sse4_1" in haswell
    assert "abm" in haswell
    assert "avx512f" not in haswell


def test_tuning_features_are_no_part_of_a_set():
    """A tuning or an inverse feature is known, is in no set, and cannot be put there."""
    with pytest.raises(FeatureRoleError, match="role tuning"):
        cpu.resolve("x86", "haswell", add=["slow-3ops-lea"])
    with pytest.raises(FeatureRoleError, match="role inverse"):
        FeatureSet.closed("aarch64", ["strict-align"])
    assert "slow-3ops-lea" not in cpu.resolve("x86", "haswell")
    assert "slow-3ops-lea" in cpu.tuning_of("x86", "haswell")


def test_names_that_repeat_the_triple_are_checked_and_left_out():
    """LLVM's host strings hold `64bit`; the triple states it, so the set does not."""
    assert FeatureSet.closed("x86", ["sse2"]) == FeatureSet.closed("x86", ["64bit", "sse2"])


def test_a_feature_brings_its_defaults_unless_they_are_refused():
    """clang gives crc32 with sse4.2, lets it be refused, and keeps sse4.2 where it is taken away later."""
    base = cpu.resolve("x86", "x86-64")
    assert {"crc32", "popcnt"} == set(base.with_changes(add=["sse4.2"])) & {"crc32", "popcnt"}
    assert {"popcnt"} == set(base.with_changes(add=["sse4.2"], remove=["crc32"])) & {"crc32", "popcnt"}
    without = cpu.resolve("x86", "haswell", remove=["crc32"])
    assert ("crc32",) == cpu.resolve("x86", "haswell") - without
    assert without == FeatureSet.closed("x86", without)


def test_removing_avx_takes_what_needs_it():
    """-march=haswell -mno-avx drops avx2, fma and f16c too, as clang does."""
    less = cpu.resolve("x86", "haswell", remove=["avx"])
    assert ("avx", "avx2", "f16c", "fma") == cpu.resolve("x86", "haswell") - less


@pytest.mark.parametrize(
    ("low", "high", "more"),
    [
        ("x86-64", "x86-64-v2", "crc32 cx16 popcnt sahf sse3 sse4.1 sse4.2 ssse3"),
        ("x86-64-v2", "x86-64-v3", "avx avx2 bmi bmi2 f16c fma lzcnt movbe xsave"),
        ("x86-64-v3", "x86-64-v4", "avx512bw avx512cd avx512dq avx512f avx512vl"),
    ],
)
def test_the_psabi_levels_are_exact(low, high, more):
    """Each level is the one below and what the psABI adds."""
    below, above = cpu.resolve("x86", low), cpu.resolve("x86", high)
    assert below <= above
    assert more.split() == list(above - below)


@pytest.mark.parametrize("level", ["x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"])
def test_knights_landing_stops_short_of_the_fourth_level(level):
    """Knights Landing has AVX-512 without bw, dq and vl."""
    assert (level != "x86-64-v4") == (cpu.resolve("x86", level) <= cpu.resolve("x86", "knl"))


CHAINS = {
    "x86": [
        "k8 k8-sse3 amdfam10",
        "x86-64 znver1 znver2 znver3 znver4 znver5",
        "core2 penryn nehalem westmere sandybridge ivybridge haswell broadwell skylake skylake-avx512 cascadelake",
        "skylake-avx512 icelake-server",
        "icelake-client icelake-server",
        "x86-64-v3 haswell",
        "x86-64-v4 znver4",
    ],
    "aarch64": [
        "generic cortex-a53 cortex-a72",
        "apple-a7 apple-a10 apple-a11 apple-a12 apple-a13 apple-m1 apple-m2 apple-m3 apple-m4 apple-m5",
        "generic cortex-a710",
    ],
    "systemz": [
        "z10 z196 zEC12 z13 z14 z15 z16 z17",
        "arch8 arch9 arch10 arch11 arch12 arch13 arch14 arch15",
    ],
    "loongarch": ["generic-la64 loongarch64 la464 la664"],
    "hexagon": [
        "hexagonv5 hexagonv55 hexagonv60 hexagonv62 hexagonv65 hexagonv66 hexagonv67 hexagonv68 hexagonv69"
    ],
    "mips": ["mips1 mips2 mips32 mips32r2 mips64r2 octeon octeon+", "mips2 mips3 mips4 mips64"],
    "arm": [
        "arm7tdmi arm926ej-s arm1176jzf-s cortex-a7 cortex-a53 cortex-a55",
        "cortex-m0 cortex-m3 cortex-m4 cortex-m33",
    ],
    "webassembly": ["mvp generic bleeding-edge", "mvp lime1 bleeding-edge"],
    "powerpc": ["pwr4 pwr5 pwr5x pwr6 pwr7 pwr8 pwr9", "ppc64le pwr8"],
}


@pytest.mark.parametrize(
    ("family", "low", "high"),
    [
        (family, *pair)
        for family, chains in CHAINS.items()
        for chain in chains
        for pair in zip(chain.split(), chain.split()[1:], strict=False)
    ],
)
def test_each_design_runs_the_code_of_the_one_before(family, low, high):
    """Along these lines of designs the features only grow."""
    assert () == cpu.resolve(family, low) - cpu.resolve(family, high)


@pytest.mark.parametrize(
    ("family", "newer", "older"),
    [
        ("aarch64", "apple-m4", "apple-m1"),
        ("aarch64", "cortex-a55", "cortex-a53"),
        ("arm", "cortex-a7", "cortex-m4"),
        ("arm", "cortex-m4", "cortex-a7"),
        ("hexagon", "hexagonv60", "hexagonv55"),
        ("mips", "mips32r2", "mips32"),
        ("systemz", "z196", "z10"),
        ("systemz", "z13", "zEC12"),
        ("x86", "haswell", "ivybridge"),
    ],
)
def test_these_do_not_run_the_code_of_those(family, newer, older):
    """Newer code and code of another profile do not fit."""
    assert not cpu.resolve(family, newer) <= cpu.resolve(family, older)


def test_power9_code_runs_on_power10_unless_it_was_built_with_htm():
    """POWER10 has no transactions, which compilers use only where they are asked for."""
    old, new = (cpu.resolve("powerpc", name) for name in ("pwr9", "pwr10"))
    assert old <= new
    assert not old.with_changes(["htm"]) <= new


def test_avx512vbmi2_implies_down_to_sse2():
    """A feature brings all it implies, transitively."""
    down = (
        "avx512bw",
        "avx512f",
        "avx2",
        "fma",
        "f16c",
        "avx",
        "sse4.2",
        "sse4.1",
        "ssse3",
        "sse3",
        "sse2",
        "sse",
    )
    assert sorted((*down, "avx512vbmi2")) == list(FeatureSet.closed("x86", ["avx512vbmi2"]))


def test_avx10_is_the_fourth_level_and_more():
    """avx10.1 holds the 13 AVX-512 features up to fp16 and bf16, avx10.2 holds avx10.1, v3 with avx10.1 holds v4."""
    ten = FeatureSet.closed("x86", ["avx10.1"])
    assert 13 == sum(name.startswith("avx512") for name in ten)
    assert ten <= FeatureSet.closed("x86", ["avx10.2"])
    assert cpu.resolve("x86", "x86-64-v4") <= cpu.resolve("x86", "x86-64-v3", add=["avx10.1"])


@pytest.mark.parametrize(
    ("low", "high", "fits"),
    [
        ("v8.5a", "v9a", True),
        ("v8.6a", "v9a", False),
        ("v8.6a", "v9.1a", True),
        ("v9a", "v8.9a", False),
        ("v8a", "v8.9a", True),
    ],
)
def test_the_arm_versions_are_a_lattice(low, high, fits):
    """v9.x holds v8.(x+5) and is not ordered against v8.(x+6)."""
    below, above = (cpu.resolve("aarch64", "generic", add=[name]) for name in (low, high))
    assert fits == (below <= above)


def test_what_a_version_covers_is_there_and_not_listed():
    """clang lists hcx for apple-m3 and not for apple-m4, whose Armv8.7 has it."""
    m4 = cpu.resolve("aarch64", "apple-m4")
    assert "hcx" in m4
    assert "hcx" not in set(m4)
    less = m4.with_changes(remove=["hcx"])
    assert "hcx" not in less
    assert "xs" in less


def test_crypto_depends_on_the_version():
    """crypto is aes and sha2 before Armv8.4, and sha3 and sm4 as well from there."""
    old = cpu.resolve("aarch64", "generic", add=["crypto"])
    new = cpu.resolve("aarch64", "generic", add=["v8.4a", "crypto"])
    assert ({"aes", "sha2"}, {"aes", "sha2", "sha3", "sm4"}) == tuple(
        {"aes", "sha2", "sha3", "sm4"} & set(found) for found in (old, new)
    )


@pytest.mark.parametrize(
    ("names", "first", "second"),
    [
        (["i", "e"], "e", "i"),
        (["f", "zfinx"], "f", "zfinx"),
        (["64bit", "zcf"], "64bit", "zcf"),
        (["zcmp", "c", "d"], "zcd", "zcmp"),
        (["zvl128b"], "+zvl32b", "-zve32x"),
    ],
)
def test_riscv_extensions_that_exclude_each_other_are_refused(names, first, second):
    """LLVM aborts on these, so that they must not get there."""
    with pytest.raises(FeatureConflictError) as caught:
        FeatureSet.closed("riscv", names)
    assert (first, second) == (caught.value.first, caught.value.second)


def test_riscv_profiles_stand_for_their_extensions():
    """A profile is replaced by what it means; the profiles are ordered; rv64gc is not within rva20u64."""
    profiles = [FeatureSet.closed("riscv", [name]) for name in ("rva20u64", "rva22u64", "rva23u64")]
    assert profiles[0] <= profiles[1] <= profiles[2]
    assert FeatureSet.closed("riscv", ["rvb23u64"]) <= profiles[2]
    assert "rva20u64" not in set(profiles[0])
    gc = FeatureSet.closed("riscv", ["64bit", "i", "m", "a", "f", "d", "c", "zicsr", "zifencei"])
    assert ("zifencei",) == gc - profiles[0]


def test_riscv_vector_lengths_are_lower_bounds():
    """Code for 128 bits runs on 256; code for plain v runs on any length; za64rs is za128rs."""
    assert FeatureSet.closed("riscv", ["v"]) <= FeatureSet.closed("riscv", ["v", "zvl256b"])
    assert FeatureSet.closed("riscv", ["za128rs"]) <= FeatureSet.closed("riscv", ["za64rs"])
    assert "b" in FeatureSet.closed("riscv", ["zba", "zbb", "zbs"])
    assert "zba" not in FeatureSet.closed("riscv", ["b"]).with_changes(remove=["b"])


@pytest.mark.parametrize(
    ("family", "name", "parts"),
    [
        ("aarch64", "crypto", ["aes", "sha2"]),
        ("aarch64", "sve2-bitperm", ["sve2", "sve-bitperm"]),
        ("arm", "crypto", ["aes", "sha2"]),
    ],
)
def test_a_name_for_several_features_is_there_where_they_all_are(family, name, parts):
    """Code that was asked for by the one name runs where the parts are there, and is refused where one is not."""
    short, long = FeatureSet.closed(family, [name]), FeatureSet.closed(family, parts)
    assert short <= long <= short
    assert name in short.names
    assert name not in long.names
    assert name in long
    for part in parts:
        assert name not in long.with_changes(remove=[part])
        assert not short <= long.with_changes(remove=[part])
    assert name not in short.with_changes(remove=[name])


def test_crypto_is_what_the_version_makes_of_it():
    """Up to Armv8.3 it is aes and sha2, from Armv8.4 on sha3 and sm4 as well, whether the parts were there or not."""
    old, new = (FeatureSet.closed("aarch64", ["neon"]).with_changes([v]) for v in ("v8.3a", "v8.4a"))
    assert {"sha3", "sm4"}.isdisjoint(old.with_changes(["crypto"]).names)
    assert {"aes", "sha2", "sha3", "sm4"} <= new.with_changes(["crypto"]).names
    assert {"sha3", "sm4"} <= new.with_changes(["aes", "sha2"]).with_changes(["crypto"]).names


@pytest.mark.parametrize(
    ("family", "whole", "part"),
    [
        ("webassembly", "bulk-memory", "bulk-memory-opt"),
        ("webassembly", "reference-types", "call-indirect-overlong"),
        ("arm", "v8.5a", "sb"),
        ("arm", "armv9-a", "sb"),
        ("arm", "armv9.5-a", "clrbhb"),
        ("aarch64", "v8.7a", "hcx"),
    ],
)
def test_what_is_covered_counts_as_there(family, whole, part):
    """Code that needs the part runs where the whole is, which is no more without it."""
    machine = FeatureSet.closed(family, [whole])
    assert FeatureSet.closed(family, [part]) <= machine
    assert part in machine
    assert part not in machine.names
    assert whole not in machine.with_changes(remove=[part])
