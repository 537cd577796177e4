"""A triple and the options of LLVM's tools."""

from __future__ import annotations

import re

import pytest
from hypothesis import given

from strategies_dialects import CPU_TARGETS, OPTION_TARGETS
from targetspec import CpuTarget, NotRepresentableError, TargetSyntaxError, parse, parse_full

X86 = "x86_64-unknown-linux-gnu"


@given(OPTION_TARGETS)
def test_what_options_say_is_read_back(target):
    """A target that the options can say comes back equal."""
    if (error := _lost(target)) is not None:
        # A set without a version of its architecture, say: no change of the CPU's set gives it.
        assert ["features"] == [name for name, _ in error.fields]
        return
    assert target == parse(target.format("llvm"), "llvm")


def _lost(target: CpuTarget) -> NotRepresentableError | None:
    try:
        target.format("llvm")
    except NotRepresentableError as error:
        return error
    return None


@given(CPU_TARGETS)
def test_lossy_text_says_all_that_strict_text_does(target):
    """Lossy writing never fails on a target with a triple, is readable, and is the strict text where it loses nothing."""
    lossy = target.format("llvm", lossy=True)
    assert target.triple == parse(lossy, "llvm").triple
    unfit = target != parse(lossy, "llvm")
    if unfit:
        with pytest.raises(NotRepresentableError):
            target.format("llvm")
    else:
        assert lossy == target.format("llvm")


@pytest.mark.parametrize(
    "text",
    [
        f"{X86} -mcpu=haswell -mattr=-avx2,+sha",
        f"-mattr=+sha -mcpu=haswell {X86} -mattr=-avx2",
        f"--mtriple={X86} --mcpu=haswell --mattr=-avx2,+sha",
        f"-mtriple {X86} -mcpu haswell -mattr +sha,-avx2",
        f"--target={X86} -march=haswell -mattr=-avx2,+sha",
        f"-target {X86} -march=core-avx2 -mattr=-avx2,+sha",
        f"-triple {X86} -mcpu=haswell -mtune=haswell -mattr=-avx2,+sha,+avx",
    ],
)
def test_spellings_of_one_target(text):
    """Order, dashes, and the names of options make no difference."""
    assert (
        CpuTarget(triple=X86, cpu="haswell").request_features(["sha"], ["avx2"])
        == parse(text, "llvm").features
    )
    assert f"{X86} -mcpu=haswell -mattr=+sha,-avx2" == parse(text, "llvm").format("llvm")


def test_one_list_of_llvm_is_four_fields():
    """-mattr holds features, tuning, restrictions and soft float, which are fields of their own."""
    got = parse(f"{X86} -mattr=+avx,-slow-incdec,+retpoline,+soft-float")
    assert frozenset({"-slow-incdec"}) == got.tuning
    assert frozenset({"retpoline"}) == got.restrictions
    assert "soft" == got.float_abi
    assert CpuTarget(triple=X86).request_features(["avx"], []) == got.features


def test_options_that_say_nothing_of_the_target_are_kept_in_order():
    """Leftovers come back as they were, arguments included."""
    parsed = parse_full(f"-O3 {X86} -relocation-model=pic -mcpu=haswell -Xclang fast -o")
    assert ("-O3", "-relocation-model=pic", "-Xclang", "fast", "-o") == parsed.leftovers
    assert f"{X86} -mcpu=haswell -O3 -relocation-model=pic -Xclang fast -o" == parsed.format()


def test_a_triple_may_be_missing():
    """A CPU that one architecture has brings its features; the triple stays unstated."""
    got = parse("-mcpu=haswell")
    assert (None, True) == (got.triple, "avx2" in got.features)
    assert "-mcpu=haswell" == got.format("llvm")


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"num_cores": 4, "l2_cache_bytes": 1 << 20}, ("num_cores", "l2_cache_bytes")),
        ({"libc_version": "2.17"}, ("libc_version",)),
        ({"static": True}, ("static",)),
        ({"libs": ["mkl"], "host": CpuTarget(triple=X86)}, ("libs", "host")),
        ({"vector_bits": 256}, ("vector_bits",)),
    ],
)
def test_what_has_no_option_is_listed(fields, names):
    """An error names every stated field without an option, and lossy writing leaves them out."""
    target = CpuTarget(triple=X86, **fields)
    with pytest.raises(NotRepresentableError) as caught:
        target.format("llvm")
    assert names == tuple(name for name, _ in caught.value.fields)
    assert X86 == target.format("llvm", lossy=True)


def test_a_target_that_states_nothing_has_no_options():
    """The empty text is no target, and so it is not written, lossy or not."""
    with pytest.raises(NotRepresentableError):
        CpuTarget().format("llvm", lossy=True)


@pytest.mark.parametrize(
    ("text", "fault", "words"),
    [
        (f"{X86} -mcpu=haswel", "haswel", "haswell"),
        (f"{X86} -mtune=haswel", "haswel", "haswell"),
        (f"{X86} -mcpu=native", "native", "this machine"),
        (f"{X86} -march=native", "native", "this machine"),
        (f"{X86} -mattr=+avx,+avx9", "avx9", "avx"),
        (f"{X86} -mattr=avx", "avx", "+avx"),
        (f"{X86} -mattr=+", "+", "+name"),
        (f"{X86} -mattr=+avx2,-avx", "-avx", "implies"),
        (f"{X86} -mattr=+slow-lea,-slow-lea", "-slow-lea", "at once"),
        (f"{X86} -mattr=+soft-float -mfloat-abi=hard", "+soft-float", "at once"),
        (f"{X86} -mcpu=haswell -mcpu=znver3", "znver3", "twice"),
        (f"{X86} -mcpu=haswell -march=znver3", "znver3", "two CPUs"),
        (f"{X86} {X86}", X86, "twice"),
        (f"{X86} -mcpu=", "", "value"),
        (f"{X86} -mcpu", "-mcpu", "value"),
        (f"{X86} -mfloat-abi=fast", "fast", "softfp"),
        ("powerpc64le-linux-gnu -march=pwr9", "pwr9", "-mcpu="),
        ("-march=nothing", "nothing", "architecture"),
        ("-mattr=+avx", "+avx", "architecture"),
        ("x86_64-lnux-gnu", "lnux", "linux"),
        ("x86-64 mcpu=haswell", "mcpu=haswell", "begins with -"),
    ],
)
def test_faults_point_at_the_words_that_cause_them(text, fault, words):
    """An error has the span of the part at fault, and says what is allowed or what to do."""
    with pytest.raises(TargetSyntaxError) as caught:
        parse(text, "llvm")
    start, end = caught.value.span
    assert fault.lstrip("+-") == text[start:end].lstrip("+-")
    assert words in f"{caught.value.message} {caught.value.hint}"
    assert "llvm" == caught.value.dialect


@pytest.mark.parametrize("text", ["-O3", "-foo bar", "--targetx=i686", "-relocation-model=pic -O2"])
def test_options_that_say_nothing_of_a_target_are_none(text):
    """What could not be written again is not read: leftovers alone are no target."""
    with pytest.raises(TargetSyntaxError, match="nothing here says"):
        parse(text, "llvm")


def test_what_a_version_only_covered_is_removed_by_name():
    """AArch64's v8a covers el3 and el2vmsa unlisted: a set with one of them and no version is a change too."""
    target = CpuTarget(triple="aarch64-linux-gnu", features=["el3", "neon"])
    assert target == parse(target.format("llvm"), "llvm")
    assert target == parse(str(target))


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("-mcpus=haswell", "mcpu="),
        ("-mattrs=+vaes", "mattr="),
        ("-mavx521f", "avx512f"),
        ("-mno-avx22", "avx2"),
    ],
)
def test_an_option_about_the_machine_is_never_left_over(option: str, words: str):
    """A misspelt option that would change the target is refused with the nearest one, not passed by."""
    with pytest.raises(TargetSyntaxError, match=re.escape(words)):
        parse_full(f"x86_64-linux-gnu {option}", "llvm")


def test_clang_options_of_single_features_change_the_set():
    """`-mFEATURE` and `-mno-FEATURE` are items of `-mattr`; options of the code generator stay leftovers."""
    long = parse_full("x86_64-linux-gnu -mcpu=haswell -mattr=+vaes,-fma", "llvm")
    short = parse_full("x86_64-linux-gnu -mcpu=haswell -mvaes -mno-fma -mno-red-zone -O3", "llvm")
    assert (long.target, ("-mno-red-zone", "-O3")) == (short.target, short.leftovers)


@pytest.mark.parametrize(
    ("options", "features"),
    [
        ("x86_64-linux-gnu -msahf -mcrc32", "+sahf,+crc32"),
        ("x86_64-linux-gnu -mcpu=haswell -mno-sse4", "-sse4.1"),
        ("x86_64-linux-gnu -mapxf", "+egpr,+push2pop2,+ppx,+ndd,+ccmp,+nf,+zu"),
        ("x86_64-linux-gnu -mgeneral-regs-only", "-x87,-mmx,-sse"),
        ("x86_64-linux-gnu -mno-gather", "+prefer-no-gather"),
        ("aarch64-linux-gnu -mcrc", "+crc"),
        ("aarch64-linux-gnu -mno-unaligned-access", "+strict-align"),
        ("armv7a-linux-gnueabihf -mno-movt", "+no-movt"),
        ("mips-linux-gnu -mno-madd4", "+nomadd4"),
        ("mips-linux-gnu -mips16", "+mips16"),
        ("loongarch64-linux-gnu -mfrecipe", "+frecipe"),
        ("riscv64-linux-gnu -mno-strict-align", "+unaligned-scalar-mem,+unaligned-vector-mem"),
        ("powerpc64-linux-gnu -mcpu=power8 -mno-htm", "-htm"),
    ],
)
def test_clangs_options_say_features(options, features):
    """`-mNAME` and `-mno-NAME` are the features that clang takes them for, under whatever name."""
    plain = " ".join(word for word in options.split() if not word.startswith("-m") or "=" in word)
    assert parse(f"{plain} -mattr={features}", "llvm") == parse(options, "llvm")


def test_an_option_of_mips_names_a_cpu():
    """`-mips32r2` is `-march=mips32r2`."""
    assert parse("mips-linux-gnu -mips64r2", "llvm") == parse("mips-linux-gnu -march=mips64r2", "llvm")


def test_an_option_that_is_nearly_known_is_refused_where_it_stands():
    """And so is a feature that no architecture has."""
    for text, span in (("x86_64-linux-gnu -mtripl", (17, 24)), ("x86_64-linux-gnu -mno-cmovv", (22, 27))):
        with pytest.raises(TargetSyntaxError) as caught:
            parse(text, "llvm")
        assert span == caught.value.span
