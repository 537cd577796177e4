"""rustc's names, flags and target specifications."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies_dialects import CPU_TARGETS, OPTION_TARGETS
from targetspec import (
    CpuTarget,
    CudaTarget,
    FeatureConflictError,
    NotRepresentableError,
    TargetSyntaxError,
    parse,
    parse_full,
)
from targetspec.dialects import rust
from targetspec.dialects.rust_names import VARIANTS, rust_names

X86 = "x86_64-unknown-linux-gnu"
NAMES = st.sampled_from(rust_names())


def read(text):
    """Return the target of a text in this dialect."""
    return parse(text, "rust")


@pytest.mark.parametrize("name", rust_names())
def test_each_name_is_written_as_it_was_read(name):
    """Every name comes back, and none states a leftover."""
    parsed = parse_full(name, "rust")
    assert (name, ()) == (parsed.target.format("rust"), parsed.leftovers)


def test_no_two_names_are_one_target():
    """Every triple of rustc's keeps what sets it apart."""
    assert len(rust_names()) == len({read(name) for name in rust_names()})


def test_the_sanitizer_variant_is_another_name_with_an_option():
    """gnuasan is gnu, with the flag that makes it one among the leftovers."""
    parsed = parse_full("x86_64-unknown-linux-gnuasan", "rust")
    assert {"x86_64-unknown-linux-gnuasan"} == set(VARIANTS)
    assert (read(X86), ("-Zsanitizer=address",)) == (parsed.target, parsed.leftovers)
    assert parsed == parse_full(parsed.format(), "rust")


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        (X86, {"triple": X86, "cpu": "x86-64", "libc": "glibc", "static": False}),
        ("x86_64-unknown-linux-musl", {"libc": "musl", "static": True}),
        ("aarch64-apple-darwin", {"triple": "arm64-apple-macosx", "cpu": "apple-a14"}),
        ("x86_64-apple-ios", {"triple": "x86_64-apple-ios-simulator", "cpu": "penryn"}),
        ("riscv64gc-unknown-linux-gnu", {"triple": "riscv64-unknown-linux-gnu", "abi": "lp64d"}),
        ("riscv32emc-unknown-none-elf", {"triple": "riscv32-unknown-none-elf", "abi": "ilp32e"}),
        ("powerpc64-unknown-linux-gnu", {"abi": "elfv1", "cpu": "ppc64"}),
        ("powerpc64le-unknown-linux-gnu", {"abi": "elfv2"}),
        ("thumbv7em-none-eabihf", {"float_abi": "hard", "triple": "thumbv7em-none-eabihf"}),
        ("thumbv7em-none-eabi", {"float_abi": "soft"}),
        ("aarch64-unknown-none-softfloat", {"restrictions": {"strict-align"}}),
        ("aarch64-apple-visionos", {"tuning": {"+apple-a16"}}),
        ("x86_64-unknown-none", {"float_abi": "soft"}),
        ("wasm32v1-none", {"triple": "wasm32-unknown-none", "cpu": "mvp"}),
    ],
)
def test_what_a_name_says(name, fields):
    """The facts that rustc states of its targets are fields."""
    target = read(name)
    wanted = CpuTarget(triple=fields.pop("triple", target.triple), cpu=fields.get("cpu"))
    assert wanted.triple == target.triple
    for field, value in fields.items():
        assert value == getattr(target, field), field


def test_features_of_names():
    """The list of a name changes the set of its CPU, or of the architecture."""
    assert {"m", "a", "f", "d", "c"} <= set(read("riscv64gc-unknown-linux-gnu").features)
    assert {"e", "m", "c"} <= set(read("riscv32emc-unknown-none-elf").features)
    assert "i" not in read("riscv32emc-unknown-none-elf").features
    assert "vfp4d16sp" in read("thumbv7em-none-eabihf").features
    assert "vfp2sp" not in read("thumbv7em-none-eabi").features
    assert "vfp2" not in read("thumbv8m.main-none-eabihf").features
    assert "neon" not in read("armv7-unknown-linux-gnueabihf").features
    assert "sse" not in read("x86_64-unknown-none").features
    assert "avx2" in read("x86_64h-apple-darwin").features


@pytest.mark.parametrize(
    "flags",
    [
        "-C target-cpu=haswell -C target-feature=+sha,-avx2",
        "-Ctarget-cpu=haswell -Ctarget-feature=-avx2 -Ctarget-feature=+sha",
        "--codegen target-cpu=haswell --codegen=target-feature=+sha,-avx2",
        "-C target_cpu=core-avx2 -C target_feature=-avx2,+sha,+bmi1",
        "-C target-cpu=haswell -C target-cpu=haswell -C target-feature=+sha,+sha,-avx2",
    ],
)
def test_spellings_of_flags(flags):
    """Joined or apart, with - or _, once or again: the flags say the same, and are written in one way."""
    wanted = CpuTarget(triple=X86, cpu="haswell").request_features(["sha"], ["avx2"])
    for text in (f"{X86} {flags}", f"{flags} --target {X86}", f"--target={X86} {flags}"):
        assert wanted == read(text).features
        assert f"{X86} -C target-cpu=haswell -C target-feature=+sha,-avx2" == read(text).format("rust")


def test_flags_change_what_the_name_gives():
    """A flag wins over rustc's own list for the target."""
    name = "armv7-unknown-linux-gnueabihf"
    assert "neon" in read(f"{name} -C target-feature=+neon").features
    assert f"{name} -C target-feature=+neon" == read(f"{name} -Ctarget-feature=+neon").format("rust")
    strict = "aarch64-unknown-none"
    assert frozenset() == read(f"{strict} -C target-feature=-strict-align").restrictions
    assert {"vfp4d16sp"} < set(read("thumbv7em-none-eabihf -C target-cpu=cortex-m7").features)


def test_static_linking_is_a_field():
    """crt-static is a flag to rustc, and a field here."""
    assert read(f"{X86} -C target-feature=+crt-static").static
    assert not read("x86_64-unknown-linux-musl -C target-feature=-crt-static").static
    dynamic = CpuTarget(triple="aarch64-unknown-linux-musl")
    text = dynamic.evolve(tuning={"+outline-atomics"}).format("rust")
    assert "aarch64-unknown-linux-musl -C target-feature=-crt-static" == text


@pytest.mark.parametrize(
    ("feature", "names"),
    [
        ("rdrand", {"rdrnd"}),
        ("cmpxchg16b", {"cx16"}),
        ("lahfsahf", {"sahf"}),
        ("pclmulqdq", {"pclmul"}),
        ("apxf", {"egpr", "ppx", "zu", "ndd", "ccmp", "cf", "nf"}),
    ],
)
def test_aliases_of_x86(feature, names):
    """rustc's own names are read, and written again where LLVM's differ."""
    target = read(f"{X86} -C target-feature=+{feature}")
    assert names <= set(target.features)
    assert target == read(target.format("rust"))
    if len(names) == 1:
        assert f"{X86} -C target-feature=+{feature}" == target.format("rust")


def test_tied_features_are_written_together():
    """rustc refuses paca without pacg."""
    name = "aarch64-unknown-linux-gnu"
    assert f"{name} -C target-feature=+paca,+pacg" == read(f"{name} -Ctarget-feature=+paca").format("rust")


def test_leftovers():
    """What says nothing about the machine comes back, in its order."""
    text = f"-O {X86} -C opt-level=3 --edition 2021 -Clto main.rs -Z threads=8 -C target-cpu=znver3"
    parsed = parse_full(text, "rust")
    wanted = ("-O", "-C", "opt-level=3", "--edition", "2021", "-Clto", "main.rs", "-Z", "threads=8")
    assert wanted == parsed.leftovers
    assert parsed == parse_full(parsed.format(), "rust")


@pytest.mark.parametrize(
    ("text", "span", "words"),
    [
        ("x86_64-unknown-linux-gnuu", (0, 25), "did you mean x86_64-unknown-linux-gnu"),
        (f"{X86} -C target-cpu=haswel", (39, 45), "haswell"),
        (f"{X86} -C target-cpu=native", (39, 45), "native"),
        (f"{X86} -C target-cpu=", (39, 39), "no value"),
        (f"{X86} -C target-cpu=haswell -C target-cpu=znver3", (61, 67), "stated twice"),
        (f"{X86} -C target-feature=avx2", (43, 47), "+avx2"),
        (f"{X86} -C target-feature=+avx2,-avx2", (49, 54), "at once"),
        (f"{X86} -C target-feature=+avx3", (43, 48), "unknown feature"),
        (f"{X86} -C", (25, 27), "no value"),
        ("m68k-unknown-linux-gnu -C target-feature=+isa-68040", (41, 51), "no table"),
        ("thumbv7em-none-eabihf -C target-feature=+soft-float", (40, 51), "passes floating point hard"),
        ("-O -C lto", (0, 9), "nothing here names a target"),
        ("i686-unknown-linux-gnu -C target-cpu=cortex-a53", (37, 47), "unknown CPU"),
    ],
)
def test_faults(text, span, words):
    """Each fault says where it is, and what to do."""
    with pytest.raises(TargetSyntaxError) as caught:
        read(text)
    assert (span, "rust") == (caught.value.span, caught.value.dialect)
    assert words in str(caught.value)


@given(OPTION_TARGETS | CPU_TARGETS)
def test_what_is_written_without_loss_is_read_back(target):
    """A target that rustc can say comes back equal, and of others every field that does not fit is named."""
    try:
        text = target.format("rust")
    except NotRepresentableError as error:
        if all(name != "triple" for name, _ in error.fields):
            assert target != read(target.format("rust", lossy=True))
    else:
        assert target == read(text)


@given(NAMES, st.data())
def test_changed_targets_of_names(name, data):
    """A name's target with some features flipped is written so that it is read back."""
    target = read(name)
    if not target.features:
        return
    gone = data.draw(st.sets(st.sampled_from(sorted(target.features)), max_size=2))
    try:
        changed = target.evolve(features=target.features.with_changes(remove=gone))
    except FeatureConflictError:
        return
    text = changed.format("rust", lossy=True)
    if read(text) != changed:
        with pytest.raises(NotRepresentableError, match="features"):
            changed.format("rust")


@pytest.mark.parametrize(
    ("target", "fields"),
    [
        (CudaTarget(arch="sm_90a"), {"kind"}),
        (CpuTarget(cpu="haswell"), {"triple"}),
        (CpuTarget(triple=X86), {"cpu"}),
        (CpuTarget(triple="x86_64-pc-linux-gnu", cpu="haswell"), {"triple"}),
        (CpuTarget(triple="aarch64-apple-macosx14.0", cpu="apple-m2"), {"triple"}),
        (
            read(X86).evolve(libc_version="2.17", num_cores=8, libs={"mkl"}),
            {"libc_version", "num_cores", "libs"},
        ),
        (read("powerpc64-unknown-linux-gnu").evolve(abi="elfv2"), {"abi"}),
        (read("thumbv7em-none-eabi").evolve(float_abi="softfp"), {"float_abi"}),
    ],
)
def test_what_rustc_cannot_say(target, fields):
    """Every field without a flag is named; what fits is written where loss is allowed."""
    with pytest.raises(NotRepresentableError) as caught:
        target.format("rust")
    assert fields == {name for name, _ in caught.value.fields}


def test_lossy_text_is_the_nearest_name():
    """Versions, darwin and vendors give way where loss is allowed."""
    mac = CpuTarget(triple="aarch64-apple-darwin23", cpu="apple-m1")
    assert "aarch64-apple-darwin" == mac.format("rust", lossy=True)
    pc = CpuTarget(triple="x86_64-pc-linux-gnu", cpu="x86-64")
    assert X86 == pc.format("rust", lossy=True)
    with pytest.raises(NotRepresentableError):
        CpuTarget(triple="x86_64-scei-ps5").format("rust", lossy=True)


# -- target specifications ------------------------------------------------------------------------------

BARE = {
    "llvm-target": "x86_64-unknown-none",
    "arch": "x86_64",
    "target-pointer-width": 64,
    "data-layout": "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128",
    "features": "-mmx,-sse,+soft-float",
    "os": "none",
    "disable-redzone": True,
    "linker": "rust lld",
}


def test_a_custom_specification():
    """What is about the machine is the target, and all else comes back as a leftover without white space."""
    parsed = parse_full(json.dumps(BARE, indent=2), "rust")
    assert ("x86_64-unknown-none", "soft", None) == (
        str(parsed.target.triple),
        parsed.target.float_abi,
        parsed.target.cpu,
    )
    assert "sse" not in parsed.target.features
    assert ("disable-redzone=true", 'linker="rust\\u0020lld"') == parsed.leftovers


@pytest.mark.parametrize(
    ("changes", "place", "words"),
    [
        ({"llvm-target": None}, None, "llvm-target"),
        ({"llvm-target": "x86_65-unknown-none"}, "x86_65", "unknown architecture"),
        ({"arch": "aarch64"}, "aarch64", "llvm-target says x86_64"),
        ({"target-pointer-width": 32}, "32", "pointers of 64 bits"),
        ({"target-pointer-width": "32"}, "32", "pointers of 64 bits"),
        ({"target-pointer-width": True}, None, "pointers of 64 bits"),
        ({"target-endian": "big"}, "big", "little-endian"),
        ({"data-layout": "E-m:e-i64:64"}, "E-m:e-i64:64", "little-endian"),
        ({"data-layout": "e-m:e-p:32:32-i64:64"}, "e-m:e-p:32:32-i64:64", "pointers of 64 bits"),
        ({"cpu": "haswel"}, "haswel", "unknown CPU"),
        ({"cpu": 7}, "7", "a string"),
        ({"features": "+avx3"}, "+avx3", "unknown feature"),
        ({"features": "avx2"}, "avx2", "+avx2"),
        ({"crt-static-default": "yes"}, None, "true or false"),
        ({"os": "lnux"}, "lnux", "unknown operating system"),
    ],
)
def test_faults_of_specifications(changes, place, words):
    """What does not fit, or contradicts the triple, is refused where it stands."""
    document = {key: value for key, value in {**BARE, **changes}.items() if value is not None}
    text = json.dumps(document)
    with pytest.raises(TargetSyntaxError) as caught:
        read(text)
    assert words in str(caught.value)
    if place is not None:
        start, end = caught.value.span
        assert place in text[start:end]


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "{}",
        '{"a": 1, "a": 2}',
        '{"llvm-target": NaN}',
        "{" * 3000,
        '{"a":' * 3000,
        '{"a": ' + "1" * 5000 + "}",
    ],
)
def test_no_documents(text):
    """Text that is no object, says something twice, or nests too deeply is a fault of the text."""
    with pytest.raises(TargetSyntaxError):
        read(text)


@given(
    st.text(max_size=200)
    | st.lists(st.sampled_from([X86, "-C", "target-cpu=", "{", "}", "+", "-Z", "="])).map("".join)
)
def test_any_text_ends_in_a_target_or_a_fault(text):
    """No text raises anything but TargetSyntaxError."""
    try:
        found = rust.parse(text).dialect
    except TargetSyntaxError as error:
        found = error.dialect
    assert found == "rust"
