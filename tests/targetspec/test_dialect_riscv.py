"""ISA strings of RISC-V."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from targetspec import CpuTarget, CudaTarget, FeatureSet, NotRepresentableError, TargetSyntaxError, parse
from targetspec.dialects.riscv_names import PROFILES, features, place_of, version_of

RATIFIED = sorted(name for name, feature in features().items() if name == feature and name not in ("i", "e"))
EVERY = sorted(features())
GC = "rv64i2p1_m2p0_a2p1_f2p2_d2p2_c2p0_zicsr2p0_zifencei2p0_zmmul1p0_zaamo1p0_zalrsc1p0_zca1p0_zcd1p0"


def _joined(base: str, names: list[str]) -> str:
    return "_".join([base, *(f"{name}{version_of(name)}" for name in names)])


ISA_STRINGS = st.builds(
    _joined,
    st.sampled_from(["rv32i", "rv64i", "rv32e", "rv64g", "rv64gc", *PROFILES]),
    st.lists(st.sampled_from(RATIFIED + EVERY), max_size=6, unique=True),
)


@given(ISA_STRINGS)
def test_canonical_strings_are_read_back(text):
    """What an ISA string means is written in one form, which means the same."""
    try:
        target = parse(text, "riscv")
    except TargetSyntaxError:
        assume(False)
    written = target.format("riscv", lossy=True)
    try:
        target.format("riscv")
    except NotRepresentableError:
        assert target != parse(written, "riscv")
        return
    assert target == parse(written, "riscv")
    assert written == parse(written, "riscv").format("riscv")


@given(st.permutations(["m", "a", "f", "d", "c", "zba", "zbb", "zicsr", "svinval", "xtheadba"]))
def test_order_makes_no_difference(names):
    """Extensions may come in any order, single letters joined or not."""
    assert parse("rv64imafdc_zba_zbb_svinval_xtheadba") == parse("_".join(["rv64i", *names]), "riscv")


@given(st.text(alphabet="rv3264iegmafdcvzsxbp_0123456789 hk\u0660", max_size=60) | st.text(max_size=40))
def test_any_text_is_a_target_or_a_fault(text):
    """Nothing but a target or a TargetSyntaxError, whose span lies in the text."""
    try:
        target = parse(text, "riscv")
    except TargetSyntaxError as error:
        start, end = error.span
        assert 0 <= start <= end <= max(len(text), start + 1)
    else:
        assert "riscv" == target.family


@pytest.mark.parametrize(
    "text",
    [
        "rv64i" + "m" * 9000,
        "rv64i" + "_" * 9000,
        "rv64iz" + "9" * 9000,
        "rv64i" + "9" * 9000,
        "rv64izba" + "9p" * 4500,
        "rv64izbap" + "0" * 9000,
    ],
)
def test_long_texts_are_refused(text):
    """Ten kilobytes of one letter end in a fault, whatever the letter."""
    with pytest.raises(TargetSyntaxError):
        parse(text, "riscv")


def test_general_is_a_list():
    """g stands for imafd with the control registers and the fence of instructions, in one frozen order."""
    assert GC == parse("rv64gc", "riscv").format("riscv")
    assert parse("rv64gc", "riscv") == parse("rv64imafdc_zicsr_zifencei", "riscv")
    assert "riscv64-unknown-unknown" == str(parse("rv64gc", "riscv").triple)
    assert 32 == parse("rv32imac", "riscv").triple.pointer_bits


def test_a_plain_cpu_target_is_written_as_an_isa_string():
    """The baseline of a triple, and a set stated by name, have their strings."""
    assert "rv64i2p1_m2p0_a2p1_c2p0_zmmul1p0_zaamo1p0_zalrsc1p0_zca1p0" == CpuTarget(triple="riscv64").format(
        "riscv"
    )
    target = CpuTarget(triple="riscv32", features=FeatureSet.closed("riscv", ["32bit", "i", "zba"]))
    assert "rv32i2p1_zba1p0" == target.format("riscv")


def test_profiles_are_sets():
    """Later profiles hold the earlier ones; rv64gc is in none of 2020, for its fence."""
    sets = {name: parse(name, "riscv").features for name in ("rva20u64", "rva22u64", "rva23u64", "rvb23u64")}
    assert sets["rva20u64"] <= sets["rva22u64"] <= sets["rva23u64"]
    assert sets["rvb23u64"] <= sets["rva23u64"]
    assert not parse("rv64gc", "riscv").features <= sets["rva20u64"]
    assert sets["rva23u64"] <= parse("rva23u64_zfh", "riscv").features


def test_the_canonical_order():
    """Base, single letters, z by its second letter, s, then x: the order never changes, as files hold it."""
    letters, zs = (
        ["i", "m", "a", "f", "d", "c", "b", "v", "h"],
        ["zicsr", "zifencei", "zmmul", "za64rs", "zfa"],
    )
    names = [*letters, *zs, "zca", "zba", "zkt", "ztso", "zvbb", "zhinx", "sstc", "svinval", "xtheadba"]
    assert names == sorted(sorted(names), key=place_of)
    places = [place_of(name) for name in EVERY]
    assert len(places) == len(set(places))


@pytest.mark.parametrize(
    ("text", "fault", "words"),
    [
        ("rv64imm", "m", "duplicated"),
        ("rv64gc_zicntr_zicntr", "zicntr", "duplicated"),
        ("rva20u64_zicntr", "zicntr", "duplicated"),
        ("rv64ie", "e", "invalid"),
        ("rv32ifzfinx", "zfinx", "incompatible"),
        ("rv64if_zcf", "zcf", "'rv32'"),
        ("rv64idc_zcmp", "zcmp", "incompatible with 'c'"),
        ("rv64gc_zcmt", "zcmt", "incompatible with 'c'"),
        ("rv64gc_zce", "zce", "incompatible with 'c'"),
        ("rv64i_zvl256b", "zvl256b", "'zve*'"),
        ("rv64i_zbc2p0", "2p0", "zbc1p0"),
        ("rv64i_zbx", "zbx", "zbs"),
        ("rv64i_zibi", "zibi", "zibi0p1"),
        ("rv64i__m", "_", "missing"),
        ("rv64", "", "begin"),
        ("rv63i", "rv63i", "rv64"),
        ("rva21u64", "rva21u64", "rva22u64"),
        ("rva22u64zba", "zba", "rva22u64_zba"),
        ("RV64GC", "R", "a-z"),
        ("rv64gc rv64gc", "rv64gc", "one word"),
        ("rv32i_xqci_c_d", "xqci", "incompatible"),
    ],
)
def test_faults_point_at_the_extension(text, fault, words):
    """An error has the span of the part at fault, and says why or what to write."""
    with pytest.raises(TargetSyntaxError) as caught:
        parse(text, "riscv")
    start, end = caught.value.span
    assert fault == text[start:end]
    assert words in f"{caught.value.message} {caught.value.hint}"
    assert "riscv" == caught.value.dialect


@pytest.mark.parametrize(
    ("target", "names"),
    [
        (CpuTarget(triple="riscv64-linux-gnu"), ("triple",)),
        (CpuTarget(triple="riscv64", cpu="sifive-u74", abi="lp64d"), ("cpu", "abi")),
        (CpuTarget(triple="riscv64", num_cores=4), ("num_cores",)),
        (CpuTarget(triple="x86_64-linux-gnu"), ("features",)),
        (CudaTarget(arch="sm_90"), ("kind",)),
    ],
)
def test_what_has_no_place_is_named(target, names):
    """An ISA string says a width and extensions; all else is listed."""
    with pytest.raises(NotRepresentableError) as caught:
        target.format("riscv")
    assert set(names) <= {name for name, _ in caught.value.fields}


def test_lossy_writing_keeps_the_extensions():
    """With lossy=True the extensions are written, and read back."""
    target = CpuTarget(triple="riscv64-linux-gnu", cpu="sifive-u74")
    assert target.features == parse(target.format("riscv", lossy=True), "riscv").features


def test_every_extension_can_be_written():
    """No name of the tables is left out: each alone, on the width that has it, comes back."""
    for name, bits in itertools.product(EVERY, (32, 64)):
        try:
            target = parse(f"rv{bits}i_{name}{version_of(name)}", "riscv")
        except TargetSyntaxError:
            continue
        assert features()[name] in target.features
        assert f"{name}{version_of(name)}" in target.format("riscv")
