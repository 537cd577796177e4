"""zig's queries and CPUs: what they say, and that they are written as they were read."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies_dialects import CPU_TARGETS, OPTION_TARGETS
from targetspec import CpuTarget, CudaTarget, NotRepresentableError, TargetSyntaxError, cpu, parse, testing
from targetspec.dialects import zig, zig_cpus
from targetspec.dialects.zig_names import ABI_NAMES, ARCH_NAMES, OS_NAMES, windows_name, windows_version

TARGETS = testing.targets() | OPTION_TARGETS | CPU_TARGETS


def read(text):
    return zig.parse(text).target


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("x86_64-linux", {"triple": "x86_64-unknown-linux"}),
        ("x86_64-linux-none", {"triple": "x86_64-unknown-linux-none"}),
        ("x86_64-linux-gnu.2.17", {"triple": "x86_64-unknown-linux-gnu", "libc_version": "2.17"}),
        ("x86_64-linux.5.10-musl", {"triple": "x86_64-unknown-linux5.10-musl"}),
        ("x86_64-linux.-musl", {"triple": "x86_64-unknown-linux-musl"}),
        ("aarch64-linux.4.19-android.29", {"triple": "aarch64-unknown-linux4.19-android29"}),
        ("arm-linux-androideabi", {"triple": "arm-unknown-linux-android"}),
        ("aarch64-macos.13.0-none", {"triple": "aarch64-apple-macosx13.0"}),
        ("aarch64-maccatalyst", {"triple": "aarch64-apple-ios-macabi"}),
        ("aarch64-visionos-simulator", {"triple": "aarch64-apple-xros-simulator"}),
        ("x86-windows", {"triple": "i386-unknown-windows-gnu"}),
        ("x86_64-windows.win10_rs5-msvc", {"triple": "x86_64-unknown-windows10.0.17763-msvc"}),
        ("x86_64-windows.0x06010000", {"triple": "x86_64-unknown-windows6.1-gnu"}),
        ("sparc64-linux-gnu", {"triple": "sparcv9-unknown-linux-gnu"}),
        ("arm-3ds", {"triple": "arm-unknown-horizon"}),
        ("aarch64-switch", {"triple": "aarch64-unknown-horizon"}),
        ("powerpc64-ps3", {"triple": "powerpc64-unknown-lv2"}),
        ("nvptx64-cuda -mcpu=sm_80", {"triple": "nvptx64-nvidia-cuda", "cpu": "sm_80"}),
        (
            "thumb-freestanding-eabihf -mcpu cortex_m4",
            {"triple": "thumb-unknown-none-eabihf", "cpu": "cortex-m4"},
        ),
        ("x86_64-native", {"triple": "x86_64-unknown-unknown"}),
        ("x86_64-linux-gnu -mcpu=baseline", {"triple": "x86_64-unknown-linux-gnu", "cpu": "x86-64"}),
        ("aarch64-macos -mcpu=baseline", {"triple": "aarch64-apple-macosx", "cpu": "apple-a14"}),
        ("avr-freestanding -mcpu=atmega328p", {"triple": "avr-unknown-none", "cpu": "atmega328p"}),
        ("x86_64-linux-musl -ofmt=coff", {"triple": "x86_64-unknown-linux-musl-coff"}),
        ("-target x86_64-linux -Dcpu=znver3", {"triple": "x86_64-unknown-linux", "cpu": "znver3"}),
    ],
)
def test_what_a_query_says(text, fields):
    """What is not said is None, and the vendor is that of zig's system."""
    assert CpuTarget(**fields) == read(text)


def test_features_change_the_set_of_the_model():
    """Each goes to the field of its role, under LLVM's name."""
    target = read("x86_64-linux-gnu -mcpu=haswell+avx512f-bmi2+slow_lea+retpoline+soft_float")
    assert {"avx512f"} <= set(target.features)
    assert "bmi2" not in target.features
    assert ({"+slow-lea"}, {"retpoline"}, "soft") == (target.tuning, target.restrictions, target.float_abi)
    assert "sse4.1" in read("x86_64-linux -mcpu=x86_64+sse4_1").features
    assert "armv8-a" in read("arm-linux-gnueabihf -mcpu=generic+v8a").features
    assert "v8" in read("arm-linux-gnueabihf -mcpu=generic+has_v8").features


def test_models_of_zigs_own_are_their_features():
    """LLVM has no such CPU, so that only the set is kept, and it is written as the model again."""
    target = read("riscv64-linux-gnu -mcpu=spacemit_x100")
    assert None is target.cpu
    assert {"v", "zvl256b"} <= set(target.features)
    for text in ("riscv32-freestanding-eabi -mcpu=baseline_rv32", "mips-freestanding-eabi -mcpu=allegrex"):
        assert text == read(text).format("zig")
    assert read("riscv32-freestanding -mcpu=baseline") == read("riscv32-freestanding -mcpu=baseline_rv32")


def test_the_greatest_version_is_a_leftover():
    """The triple holds the floor; what is written again is read as the same."""
    parsed = zig.parse("x86_64-linux.5.10...6.1-gnu.2.38 -O ReleaseFast -lc")
    assert CpuTarget(triple="x86_64-unknown-linux5.10-gnu", libc_version="2.38") == parsed.target
    assert ("...6.1", "-O", "ReleaseFast", "-lc") == parsed.leftovers
    assert "x86_64-linux.5.10-gnu.2.38 ...6.1 -O ReleaseFast -lc" == parsed.format()
    assert parsed == zig.parse(parsed.format())


@pytest.mark.parametrize(
    ("text", "leftovers"),
    [
        ("-O ReleaseFast x86_64-linux", ("-O", "ReleaseFast")),
        ("-target x86_64-linux main.zig -ofmt=c", ("main.zig", "-ofmt=c")),
        ("x86_64-linux -mcpu=x86_64 -fPIC", ("-fPIC",)),
    ],
)
def test_other_words_are_leftovers(text, leftovers):
    """In their order."""
    assert leftovers == zig.parse(text).leftovers


@pytest.mark.parametrize(
    ("text", "span", "words"),
    [
        ("amd64-linux-gnu", (0, 5), "unknown architecture 'amd64'"),
        ("X86_64-linux-gnu", (0, 6), "unknown architecture"),
        ("x86_64", (0, 6), "has an operating system"),
        ("x86_64-unknown-linux-gnu", (7, 14), "unknown operating system 'unknown'"),
        ("x86_64-linux-gnu-elf", (17, 20), "three parts"),
        ("x86_64--gnu", (7, 8), "unknown operating system ''"),
        ("x86_64-linux.5-gnu", (13, 14), "invalid version '5'"),
        ("x86_64-linux.5.10...6-gnu", (20, 21), "invalid version '6'"),
        ("x86_64-haiku.1.0", (13, 16), "zig's haiku has none"),
        ("x86_64-windows.10.0", (15, 19), "invalid version '10.0'"),
        ("x86_64-linux-gnu.2", (17, 18), "invalid version '2' of the ABI gnu"),
        ("x86_64-linux-musl.1.2", (18, 21), "invalid version '1.2' of the ABI musl"),
        ("aarch64-linux-android.2.1", (22, 25), "API level"),
        ("x86_64-windows-gnu.2.38", (19, 23), "no glibc"),
        ("x86_64-linux-glibc", (13, 18), "unknown ABI 'glibc'"),
        ("native", (0, 6), "'native'"),
        ("native-linux-gnu", (0, 6), "'native'"),
        ("x86_64-linux -mcpu=native", (19, 25), "'native'"),
        ("x86_64-linux -mcpu=+avx2", (19, 20), "unknown CPU ''"),
        ("x86_64-linux -mcpu=x86_64-v3", (25, 28), "unknown CPU feature 'v3'"),
        ("x86_64-linux -mcpu=x86_64+", (25, 26), "unknown CPU feature ''"),
        ("x86_64-linux -mcpu=nosuch", (19, 25), "unknown CPU 'nosuch'"),
        ("x86_64-linux -mcpu=x86_64+smap", (25, 30), "zig's own"),
        ("x86_64-linux -mcpu=haswell+avx2-avx2", (31, 36), "at once"),
        ("avr-freestanding -mcpu=avr2+mul", (27, 31), "no table"),
        ("ez80-freestanding", (0, 4), "no triple has the architecture"),
        ("x86_64-linux -target x86_64-macos", (21, 33), "stated twice"),
        ("x86_64-linux -mcpu", (13, 18), "no value"),
        ("x86_64-linux -mcpu=", (19, 19), "no value"),
        ("x86_64-linux -mcpu=i686", (19, 23), "32-bit code"),
        ("-O2", (0, 3), "nothing here is a target query"),
        ("", (0, 0), "nothing here is a target query"),
    ],
)
def test_faults(text, span, words):
    """Each says what is wrong, and where."""
    with pytest.raises(TargetSyntaxError) as caught:
        zig.parse(text)
    assert words in f"{caught.value.message} {caught.value.hint}"
    assert (text, span, "zig") == (caught.value.text, caught.value.span, caught.value.dialect)


@given(TARGETS)
def test_what_is_written_without_loss_is_read_back(target):
    """With losses allowed, what is written is read at least."""
    try:
        text = zig.format(target)
    except NotRepresentableError:
        try:
            text = zig.format(target, lossy=True)
        except NotRepresentableError:
            return
        assert read(text).triple.arch == target.triple.arch
        return
    assert target == read(text)


QUERIES = st.tuples(
    st.sampled_from(sorted(ARCH_NAMES)),
    st.sampled_from(sorted(OS_NAMES - {"native"})),
    st.sampled_from(["", *(f"-{abi}" for abi in sorted(ABI_NAMES))]),
).map("{0[0]}-{0[1]}{0[2]}".format)


@given(QUERIES)
def test_every_query_that_is_read_is_written(query):
    """As a query that is read as the same target."""
    target = read(query)
    assert target == read(zig.format(target))


@given(st.sampled_from(["x86", "aarch64", "arm", "riscv", "amdgpu"]), st.data())
def test_each_feature_has_one_name_in_each_world(family, data):
    """The table is read both ways."""
    name = data.draw(st.sampled_from(cpu.feature_names(family)))
    assert name == zig_cpus.features(family)[zig_cpus.written_features(family)[name]]


@pytest.mark.parametrize("name", ["nt4", "win7", "win8_1", "win10", "win10_rs5", "win11_kr"])
def test_versions_of_windows(name):
    """A name and its version are told from each other."""
    assert name == windows_name(windows_version(name))
    assert windows_version("0x0A000006") == windows_version("win10_rs5") == windows_version("167772166")
    assert None is windows_version("win12")


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (CudaTarget(arch="sm_80"), "cpu"),
        (CpuTarget(cpu="haswell"), "not stated"),
        (CpuTarget(triple="x86_64-pc-linux-gnu"), "no vendors"),
        (CpuTarget(triple="armv7-unknown-linux-gnueabihf"), "by the CPU and its features"),
        (CpuTarget(triple="aarch64-apple-macosx13"), "as in 13.0"),
        (CpuTarget(triple="x86_64-unknown-openbsd", num_cores=4), "no option"),
        (CpuTarget(triple="mips64-unknown-linux-gnuabi64", cpu="octeon+"), "for a CPU and features"),
        (CpuTarget(triple="x86_64-unknown-zos"), "no such operating system"),
    ],
)
def test_what_zig_cannot_say(target, words):
    """Each field that does not fit is named, with the reason."""
    with pytest.raises(NotRepresentableError) as caught:
        zig.format(target)
    assert words in str(caught.value).lower() or words in str(caught.value)


def test_the_dialect_is_registered():
    """It is read by its name."""
    assert CpuTarget(triple="x86_64-unknown-linux-gnu") == parse("x86_64-linux-gnu", "zig")


PIECES = [
    "x86_64",
    "-linux",
    ".5.10",
    "...",
    "-gnu",
    ".2.38",
    " -mcpu=",
    "haswell",
    "+avx2",
    "-",
    "+",
    " ",
    "=",
    "é",
    "0" * 5000,
]


@given(st.text(max_size=80) | st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_any_text_ends_in_a_target_or_a_fault(text):
    """The fault is of this text, and its span is within it."""
    found = outcome(text)
    if isinstance(found, TargetSyntaxError):
        assert (text, "zig") == (found.text, found.dialect)
        assert 0 <= found.span[0] <= found.span[1] <= len(text)
    else:
        assert "zig" == found.dialect


def outcome(text):
    """Return what reading a text gives: a Parsed, or the fault."""
    try:
        return zig.parse(text)
    except TargetSyntaxError as fault:
        return fault


@pytest.mark.oracle
@pytest.mark.slow
def test_zig_takes_what_is_written(tmp_path):
    """zig builds for each of these targets as they are written."""
    pytest.importorskip("ziglang", reason="zig is not installed")
    (tmp_path / "a.zig").write_text("export fn f() void {}\n")
    for target in (
        CpuTarget(triple="x86_64-unknown-linux5.10-gnu", libc_version="2.31", cpu="haswell"),
        CpuTarget(triple="aarch64-apple-macosx13.0", cpu="apple-m1"),
        CpuTarget(triple="x86_64-unknown-windows10.0.17763-msvc", cpu="x86-64-v3"),
        CpuTarget(triple="riscv64-unknown-linux-musl", cpu="sifive-u74"),
    ):
        query, *options = target.format("zig").split()
        command = [
            sys.executable,
            "-m",
            "ziglang",
            "build-obj",
            "-fno-emit-bin",
            "-target",
            query,
            *options,
            "a.zig",
        ]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False)
        assert (0, "") == (done.returncode, done.stderr)
