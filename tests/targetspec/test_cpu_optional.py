"""Features that machines of one name do not all have: the reviewed list, and when it casts doubt."""

from __future__ import annotations

import pytest

from targetspec import CompositeTarget, CpuTarget, CudaTarget, cpu
from targetspec.compatibility import Verdict
from targetspec.kinds.cpu_optional import HIDDEN, OPTIONAL_FEATURES, hidden_by, known_optional


@pytest.mark.parametrize("row", HIDDEN)
def test_every_row_says_something_of_each_cpu(row):
    """A row names CPUs of its family, features that each of its sets knows, and who hides them."""
    assert row.by
    for feature in row.features.split():
        assert cpu.is_listed(row.family, feature)
    known = {*cpu.cpu_names(row.family, aliases=True)}
    assert set() == set(row.cpus.split()) - known
    for name in row.cpus.split():
        if name in cpu.cpu_names(row.family):
            assert known_optional(row.family, name), name


@pytest.mark.parametrize(
    ("family", "name", "features"),
    [
        ("x86", "znver3", {"pku", "mwaitx", "rdpru", "vaes", "vpclmulqdq"}),
        ("x86", "znver4", {"mwaitx", "rdpru", "shstk"}),
        ("x86", "icelake-server", {"avx512ifma", "sha"}),
        ("x86", "bdver1", {"fma4", "xop"}),
        ("aarch64", "cortex-a710", {"sve", "sve2", "sve-bitperm"}),
        ("aarch64", "cortex-a510", {"sve", "sve2"}),
        ("aarch64", "cortex-x2", {"sve", "sve2"}),
        ("aarch64", "cortex-a72", {"aes", "sha2"}),
        ("systemz", "arch11", {"transactional-execution"}),
    ],
)
def test_what_is_hidden_takes_along_what_needs_it(family, name, features):
    """The known cases, with all that depends on them, and with a source."""
    found = known_optional(family, name)
    assert set() == features - found
    for feature in found:
        assert found >= cpu.dependents(family, feature) & cpu.resolve(family, name).names
        assert hidden_by(family, name, feature)


def test_alder_lake_has_no_avx512_in_the_table():
    """LLVM leaves out what Intel turned off, so that there is nothing to doubt; levels hide nothing."""
    assert "avx512f" not in cpu.resolve("x86", "alderlake")
    assert frozenset() == known_optional("x86", "x86-64-v3")


def _doubt(code: CpuTarget, machine: CpuTarget) -> str:
    """Return what the rule is careful about."""
    need, have = OPTIONAL_FEATURES.demand(code), OPTIONAL_FEATURES.promise(machine)
    return "" if OPTIONAL_FEATURES.decide(need, have) == "yes" else OPTIONAL_FEATURES.say(need, have)[0]


def test_doubt_needs_a_bare_name_and_code_that_uses_the_feature():
    """A stated set of features is taken at its word; code without such features gives no doubt."""
    zen = CpuTarget(triple="x86_64-linux-gnu", cpu="znver3")
    guest = zen.evolve(features=cpu.resolve("x86", "znver3", remove=["pku", "mwaitx"]))
    plain = CpuTarget(triple="x86_64-linux-gnu", cpu="x86-64-v3")
    assert "pku" in _doubt(zen, zen)
    assert "" == _doubt(plain, zen)
    assert "" == _doubt(guest, guest)
    assert "no" == zen.compatible(guest).answer
    assert "yes" == guest.compatible(zen).answer


ZEN = CpuTarget(triple="x86_64-linux-gnu", cpu="znver3")


def _cautions(verdict: Verdict) -> list[tuple[str, str]]:
    return [(one.field, one.needed) for one in verdict.reasons if one.weight == "caution"]


def test_a_yes_that_rests_on_a_name_carries_a_caution():
    """It names the features, says to detect the machine, and goes with the answer yes, the set being stated or not."""
    for machine in (ZEN, ZEN.evolve(features=ZEN.features), ZEN.evolve(num_cores=4)):
        verdict = ZEN.compatible(machine)
        assert verdict
        ((field, needed),) = _cautions(verdict)
        assert "features" == field
        assert known_optional("x86", "znver3") == set(needed.split(", "))
        assert "detect the machine" in str(verdict)


def test_hosts_and_members_carry_the_caution_too():
    """Code for a host, or a member, that rests on a name is doubted as it is alone, an equal one as well."""
    doubted = ", ".join(sorted(known_optional("x86", "znver3")))
    detected = ZEN.evolve(features=ZEN.features.with_changes(add=["avx512f"]))
    device, there = CudaTarget(host=ZEN), CudaTarget(host=detected)
    assert [("host", doubted)] == _cautions(device.compatible(device))
    assert [("host", doubted)] == _cautions(device.compatible(device.evolve(num_cores=4)))
    assert [] == _cautions(device.compatible(there))
    one, other = CompositeTarget(members=[ZEN]), CompositeTarget(members=[detected, CudaTarget()])
    assert [("members", doubted)] == _cautions(one.compatible(one))
    assert [("members", doubted)] == _cautions(ZEN.compatible(one))
    assert [] == _cautions(one.compatible(other))
    # One machine that is known to have it all is enough.
    assert [] == _cautions(one.compatible(CompositeTarget(members=[ZEN, detected])))
    for purpose in ("link", "schedule"):
        assert [] == _cautions(one.compatible(one, purpose=purpose)) + _cautions(
            device.compatible(device, purpose=purpose)
        )


def test_no_caution_without_a_yes_or_without_doubt():
    """None beside a no or an unknown, for a detected set, for code without such features, and for other purposes."""
    plain = CpuTarget(triple="x86_64-linux-gnu", cpu="x86-64-v2")
    for code, machine, purpose in (
        (ZEN.evolve(libs={"mkl"}), ZEN, "code"),
        (ZEN.evolve(libc_version="2.36"), ZEN, "code"),
        (ZEN, ZEN.evolve(features=ZEN.features.with_changes(add=["avx512f"])), "code"),
        (plain, ZEN, "code"),
        (ZEN, ZEN, "link"),
        (ZEN, ZEN, "schedule"),
        (CpuTarget(cpu="znver3").evolve(features=None), CpuTarget(), "code"),
    ):
        assert [] == _cautions(code.compatible(machine, purpose=purpose))


def test_what_a_bridge_runs_is_not_doubted():
    """A layer that has the instruction set makes no use of the machine's; its own caution names it alone."""
    phone = CpuTarget(triple="aarch64-linux-gnu", cpu="cortex-a72")
    code = CpuTarget(triple="armv7-linux-gnueabihf", cpu="cortex-a15")
    verdict = code.compatible(phone, bridges=("compat32",))
    assert verdict
    assert {"compat32"} == {one.bridge for one in verdict.reasons if one.weight == "caution"}


def test_the_source_of_a_doubt_is_told():
    """Each hidden feature has who hides it, and what nobody hides has nobody."""
    assert "phones" in hidden_by("aarch64", "cortex-a710", "sve2")
    assert "" == hidden_by("aarch64", "cortex-a710", "neon")
    assert "" == hidden_by("x86", "haswell", "avx2")
    assert frozenset() == known_optional("x86", "haswell")


@pytest.mark.parametrize(
    ("code", "there", "field"),
    [
        (CudaTarget(host=ZEN), CudaTarget(host=ZEN, model="other"), "host"),
        (CudaTarget(host=ZEN), CudaTarget(host=ZEN, libs={"mkl"}), "host"),
        (CompositeTarget(members=[ZEN]), CompositeTarget(members=[ZEN], host=ZEN), "members"),
    ],
)
def test_what_two_targets_have_alike_is_doubted_all_the_same(code, there, field):
    """A host, or a member, that both have is doubted for its CPU's name, whatever else they differ in."""
    ((named, needed),) = _cautions(code.compatible(there))
    assert (field, True) == (named, "pku" in needed)
