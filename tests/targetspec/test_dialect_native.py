"""Our own one-line form."""

from __future__ import annotations

import pytest
from hypothesis import given

from strategies_dialects import CPU_TARGETS
from targetspec import CpuTarget, TargetSyntaxError, parse
from targetspec.features import FeatureSet

X86 = "x86_64-unknown-linux-gnu"


@given(CPU_TARGETS)
def test_the_text_of_a_target_gives_it_back(target):
    """Parsing what a target writes gives an equal one."""
    assert target == parse(str(target), "targetspec")


@given(CPU_TARGETS, CPU_TARGETS)
def test_equal_targets_are_those_with_equal_texts(first, second):
    """Two targets are equal iff they write the same text."""
    assert (first == second) == (str(first) == str(second))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cpu", "cpu"),
        ("  cpu\tcpu=haswell \n", "cpu cpu=haswell"),
        ("cpu num_cores=8 triple=x86_64-linux-gnu", f"cpu triple={X86} num_cores=8"),
        (f"cpu triple={X86} cpu=haswell tune=haswell", f"cpu triple={X86} cpu=haswell"),
        (f"cpu triple={X86} cpu=haswell features=+avx2", f"cpu triple={X86} cpu=haswell"),
        (
            f"cpu triple={X86} cpu=core-avx2 features=-avx2,-fma",
            f"cpu triple={X86} cpu=haswell features=-avx2,-fma",
        ),
        (f"cpu triple={X86} features=+avx2", f"cpu triple={X86} features=+avx2"),
        (f"cpu triple={X86} libc=glibc libc_version=2.17.0", f"cpu triple={X86} libc_version=2.17"),
        (f"cpu triple={X86} static=false libs=b,a", f"cpu triple={X86} libs=a,b"),
        ("cpu host=[ cpu cpu=haswell ] static=true", "cpu static=true host=[cpu cpu=haswell]"),
    ],
)
def test_texts_are_written_in_one_way(text, expected):
    """Order, white space, aliases, and what follows from the rest leave no trace in the written form."""
    assert expected == str(parse(text))


def test_signed_features_change_the_set_of_the_cpu_whatever_their_order():
    """A change is one request: what is added and what is removed do not depend on the order of the names."""
    text = f"cpu triple={X86} cpu=haswell features="
    got = parse(f"{text}+sha,-avx")
    assert got == parse(f"{text}-avx,+sha")
    assert (True, False, False) == ("sha" in got.features, "avx" in got.features, "avx2" in got.features)


def test_plain_features_are_the_whole_set():
    """Names without a sign replace the CPU's set, and are closed."""
    got = parse(f"cpu triple={X86} cpu=haswell features=sse3")
    assert ["sse", "sse2", "sse3"] == list(got.features)


def test_no_features_at_all_is_a_set_too():
    """The empty set is stated by an empty value, or by what takes everything away."""
    bare = CpuTarget(triple=X86, features=FeatureSet.closed("x86", []))
    assert bare == parse(str(bare)) == parse(f"cpu triple={X86} features=")


def test_a_set_of_other_tables_is_written_whole():
    """What today's tables would close otherwise is no change of today's set."""
    foreign = FeatureSet.verbatim("x86", ["sse2"], "21.0.0")
    assert f"cpu triple={X86} features=sse2" == str(CpuTarget(triple=X86, features=foreign))


@pytest.mark.parametrize(
    ("text", "fault", "words"),
    [
        ("gpu num_cores=1", "gpu", "unknown kind"),
        ("cpu num_cors=1", "num_cors", "num_cores"),
        ("cpu num_cores=1 num_cores=1", "num_cores", "twice"),
        ("cpu num_cores=1.0", "1.0", "whole number"),
        ("cpu num_cores=0", "0", "from 1"),
        ("cpu num_cores", "num_cores", "key=value"),
        ("cpu static=True", "True", "true or false"),
        ("cpu cpu=haswel", "haswel", "haswell"),
        (f"cpu triple={X86} features=+avx,sse", "sse", "sign"),
        (f"cpu triple={X86} features=+avx,", "", "sign"),
        (f"cpu triple={X86} features=avx,avx9", "avx9", "avx"),
        (f"cpu triple={X86} features=+avx2,-avx", "-avx", "implies"),
        (f"cpu triple={X86} features=prefer-256-bit", "prefer-256-bit", "tuning"),
        ("cpu features=+avx", "+avx", "triple"),
        ("cpu features=avx", "avx", "triple"),
        ("cpu triple=x86_64-lnux-gnu", "lnux", "linux"),
        (f"cpu triple={X86} libc=musl", "musl", "glibc"),
        ("cpu host=cpu", "cpu", "brackets"),
        ("cpu host=[]", "", "kind"),
        ("cpu host=[cpu num_cores=0]", "0", "from 1"),
        ("cpu host=[cpu host=[cpu]]", "host=[cpu", "host"),
        ("cpu host=[cpu", "host=[cpu", "closed"),
        ("cpu libs=[a]", "[a]", "brackets"),
        ("cpu num_cores=8]", "num_cores=8]", "key=value"),
    ],
)
def test_faults_point_at_the_words_that_cause_them(text, fault, words):
    """An error has the span of the part at fault, and says what is allowed or what to do."""
    with pytest.raises(TargetSyntaxError) as caught:
        parse(text, "targetspec")
    start, end = caught.value.span
    assert fault == text[start:end].strip("]") or fault == text[start:end]
    assert words in f"{caught.value.message} {caught.value.hint}"
    assert "targetspec" == caught.value.dialect
