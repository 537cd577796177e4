"""zig's queries and CPUs: what they say, and that they are written as they were read."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.zig import FILES
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
        ("spirv64-opencl.2.0", {"triple": "spirv64-unknown-unknown-opencl2.0"}),
        ("sparc64-linux-gnu", {"triple": "sparcv9-unknown-linux-gnu"}),
        ("arm-3ds", {"triple": "arm-unknown-horizon"}),
        ("aarch64-switch", {"triple": "aarch64-unknown-horizon"}),
        ("powerpc64-ps3", {"triple": "powerpc64-unknown-lv2"}),
        (
            "nvptx64-cuda -mcpu=sm_80",
            {"triple": "nvptx64-nvidia-cuda", "cpu": "sm_80", "features": {"sm_80"}},
        ),
        (
            "thumb-freestanding-eabihf -mcpu cortex_m4",
            {
                "triple": "thumb-unknown-none-eabihf",
                "cpu": "cortex-m4",
                "features": {"armv7e-m", "dsp", "hwdiv"},
            },
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
    for text in (
        "riscv32-freestanding-eabi -mcpu=baseline_rv32",
        "mips-freestanding-eabi -mcpu=allegrex",
        "riscv64-linux-gnu -mcpu=spacemit_x100+zacas",
        "x86-linux-gnu -mcpu=i86+cx8",
    ):
        assert text == read(text).format("zig")
    assert read("riscv32-freestanding -mcpu=baseline") == read("riscv32-freestanding -mcpu=baseline_rv32")


@pytest.mark.parametrize(
    ("triple", "cpu", "model", "changes"),
    [
        ("x86_64-unknown-linux-gnu", "tigerlake", "tigerlake", "+widekl"),
        ("x86_64-unknown-linux-gnu", "k8-sse3", "k8_sse3", "-cx16"),
        ("arm-unknown-linux-gnueabihf", "cortex-a76", "cortex_a76", "+read_tp_tpidruro-fullfp16"),
        ("thumb-unknown-none-eabihf", "cortex-m7", "cortex_m7", "+vfp4d16"),
        ("loongarch64-unknown-linux-gnu", "la664", "la664", "-lvz"),
    ],
)
def test_a_model_has_the_set_that_zig_gives_it(triple, cpu, model, changes):
    """That of clang's CPU of the name is another, and is written as a change of the model's."""
    theirs = CpuTarget(triple=triple, cpu=cpu)
    query = theirs.format("zig").split()[0]
    ours = read(f"{query} -mcpu={model}")
    assert cpu == ours.cpu
    assert theirs.features != ours.features
    assert f"{query} -mcpu={model}" == ours.format("zig")
    assert theirs == read(theirs.format("zig"))
    assert ours != read(f"{query} -mcpu={model}{changes}")


def test_a_model_with_soft_float_says_so():
    """It is a field of its own, and clang's CPU of the name, which states none, is not what zig takes it for."""
    assert "soft" == read("x86-linux -mcpu=lakemont").float_abi
    assert "hard" == read("x86-linux -mcpu=lakemont-soft_float").float_abi
    with pytest.raises(NotRepresentableError, match="float_abi"):
        CpuTarget(triple="i386-unknown-linux", cpu="lakemont").format("zig")


def test_a_feature_brings_what_zigs_compiler_adds():
    """Not all that clang's driver does."""
    plain = set(read("x86_64-linux -mcpu=x86_64").features)
    assert plain | {"sse3", "ssse3", "sse4.1", "sse4.2", "crc32"} == set(
        read("x86_64-linux -mcpu=x86_64+sse4_2").features
    )
    assert {"avx"} <= set(read("x86_64-linux -mcpu=x86_64+avx").features)
    assert "popcnt" not in read("x86_64-linux -mcpu=x86_64+avx").features
    assert "sve" in read("aarch64-linux -mcpu=cortex_a53+v9a").features


def test_what_is_refused_goes_last():
    """As to zig's compiler, whatever the order; what needs it goes with it."""
    texts = ("haswell-avx2", "haswell+avx2-avx2", "haswell-avx2+avx2")
    assert 1 == len({read(f"x86_64-linux -mcpu={text}") for text in texts})
    assert "avx2" not in read("x86_64-linux -mcpu=haswell-avx").features
    assert "crc32" not in read("x86_64-linux -mcpu=x86_64+sse4_2-crc32").features
    profile = "riscv64-linux -mcpu=generic_rv64+rva22u64"
    assert read(profile) == read("riscv64-linux -mcpu=generic_rv64+rva22u64-rva20u64")


@pytest.mark.parametrize(
    ("text", "target", "leftovers"),
    [
        ("x86_64-linux -mcpu=haswell+smap-bmi2", "x86_64-linux -mcpu=haswell-bmi2", ("+smap",)),
        ("x86_64-linux -mcpu=x86_64+avx512er", "x86_64-linux -mcpu=x86_64+avx512f", ("+avx512er",)),
        (
            "x86_64-linux -mcpu=x86_64+avx512er-avx512f",
            "x86_64-linux -mcpu=x86_64+avx2+f16c+fma",
            ("+avx512er",),
        ),
        ("avr-freestanding -mcpu=avr2+mul-des", "avr-freestanding -mcpu=avr2", ("+mul", "-des")),
        ("spirv64-vulkan -mcpu=generic+int64", "spirv64-vulkan -mcpu=generic", ("+int64",)),
    ],
)
def test_features_that_no_table_has_are_leftovers(text, target, leftovers):
    """zig takes them, so that they are neither refused nor lost."""
    parsed = zig.parse(text)
    assert (read(target), leftovers) == (parsed.target, parsed.leftovers)
    assert parsed == zig.parse(parsed.format())


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
        ("spirv64-opencl.2.0-musl", (15, 18), "beside an ABI"),
        ("x86_64-linux -mcpu=haswell+avx2-avx", (31, 35), "avx2 implies avx"),
        ("x86_64-linux -mcpu=core_avx2", (19, 28), "unknown CPU 'core_avx2'"),
        ("aarch64-linux -mcpu=generic+a55", (27, 31), "unknown CPU feature 'a55'"),
        ("avr-freestanding -mcpu=avr2+mull", (27, 32), "did you mean mul?"),
        ("avr-freestanding -mcpu=avr99", (23, 28), "unknown CPU 'avr99'"),
        ("loongarch64-linux -mcpu=la32v1_0", (24, 32), "64-bit code"),
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


QUERIES = (
    st.tuples(
        st.sampled_from(sorted(ARCH_NAMES)),
        st.sampled_from(
            [*sorted(OS_NAMES - {"native"}), "opencl.2.0", "linux.5.10", "macos.13.0", "windows.win7"]
        ),
        st.sampled_from(["", *(f"-{abi}" for abi in sorted(ABI_NAMES))]),
    )
    .map("{0[0]}-{0[1]}{0[2]}".format)
    .filter(lambda query: "opencl.2.0-" not in query)
)


@given(QUERIES)
def test_every_query_that_is_read_is_written(query):
    """As a query that is read as the same target."""
    target = read(query)
    assert target == read(zig.format(target))


@given(st.sampled_from(["x86", "aarch64", "arm", "riscv", "amdgpu"]), st.data())
def test_each_feature_has_one_name_in_each_world(family, data):
    """The table is read both ways."""
    name = data.draw(st.sampled_from(sorted(zig_cpus.written_features(family))))
    assert name in cpu.feature_names(family)
    assert name == zig_cpus.features(family)[zig_cpus.written_features(family)[name]]


@st.composite
def commands(draw):
    """Draw an architecture with a model of it and changes of its features."""
    arch = draw(st.sampled_from(sorted(ARCH_NAMES)))
    models, features = (
        sorted(names(ARCH_NAMES[arch])) for names in (zig_cpus.cpu_names, zig_cpus.feature_names)
    )
    items = st.tuples(st.sampled_from("+-"), st.sampled_from(features)).map("".join)
    changes = draw(st.lists(items, max_size=4)) if features else []
    return f"{arch}-freestanding -mcpu={draw(st.sampled_from(models))}{''.join(changes)}"


@pytest.mark.parametrize(
    "text",
    [
        "riscv64-linux -mcpu=sifive_p670-zve32x",  # names that need each other go by one of them
        "aarch64-linux -mcpu=neoverse_v3ae+f16mm-amvs",  # what else the version covered stays
        "thumb-freestanding-eabihf -mcpu=cortex_m7+vfp4d16",
    ],
)
def test_few_changes_say_a_set(text):
    """A command without a needless word is written as it was."""
    assert text == read(text).format("zig")


@given(commands())
def test_every_command_that_is_read_is_written(text):
    """All that it states of the target, and all that it leaves over."""
    try:
        parsed = zig.parse(text)
    except TargetSyntaxError:
        return
    assert parsed.target == read(parsed.target.format("zig"))
    assert parsed == zig.parse(parsed.format())


def test_every_model_of_zigs_is_read():
    """But for those whose name holds a sign, and those that run no code of the architecture's width."""
    refused = {}
    for arch in ARCH_NAMES:
        for name in zig_cpus.cpu_names(ARCH_NAMES[arch]):
            found = outcome(f"{arch}-freestanding -mcpu={name}")
            if isinstance(found, TargetSyntaxError) and not name.endswith("+"):
                refused[f"{arch} {name}"] = found.message
    assert {} == {name: why for name, why in refused.items() if "-bit" not in why}
    assert {"x86_64 i86", "x86_64 i686", "loongarch64 la32v1_0", "riscv64 sifive_e20"} <= refused.keys()


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


def ask(tmp_path, text):
    """Return zig's answer to a command as a row of its queries."""
    query, _, cpu = text.partition(" -mcpu=")
    command = [
        sys.executable,
        "-m",
        "ziglang",
        "build-obj",
        "--show-builtin",
        "-target",
        query,
        f"-mcpu={cpu}",
    ]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False)
    row = {"target": query, "mcpu": cpu, "valid": done.returncode == 0}
    if row["valid"]:
        (listed,) = re.findall(r"\.features = \S*?featureSet\(&\.\{(.*?)\}\)", done.stdout, re.DOTALL)
        row["features"] = re.findall(r"\w+", listed)
        for name, field in {"arch": "arch", "model": "model", "os": "tag", "abi": "abi"}.items():
            said = re.findall(rf"{field}(?:: \S+)? = \S*?\.(?:cpu\.)?@?\"?(\w+)\"?[,;]", done.stdout)
            row[name] = said[0]
    return row


@pytest.mark.oracle
@pytest.mark.parametrize(
    "text",
    [
        "x86_64-linux-gnu -mcpu=tigerlake+sse4a-bmi2",
        "x86_64-linux-gnu -mcpu=x86_64+avx+avx2-crc32",
        "x86_64-linux-gnu -mcpu=x86_64+avx512er",
        "x86_64-linux-gnu -mcpu=x86_64+avx512er-avx512f",
        "x86_64-linux-gnu -mcpu=haswell+avx2-avx2",
        "x86_64-linux-gnu -mcpu=core_avx2",
        "x86-linux-musl -mcpu=lakemont",
        "aarch64-linux-gnu -mcpu=cortex_a53+v8_4a-dotprod",
        "aarch64-linux-gnu -mcpu=neoverse_v1+a76",
        "arm-linux-gnueabihf -mcpu=cortex_a76+fp16fml",
        "thumb-freestanding-eabihf -mcpu=cortex_m7+vfp4d16",
        "powerpc64le-linux-gnu -mcpu=ppc64le+mma",
        "riscv64-linux-musl -mcpu=spacemit_x100+zacas",
        "loongarch64-linux-gnu -mcpu=la664",
        "wasm32-freestanding-none -mcpu=mvp+reference_types",
        "avr-freestanding-none -mcpu=avr2+mul",
        "avr-freestanding-none -mcpu=avr99",
        "s390x-linux-gnu -mcpu=z14-vector",
        "s390x-linux-gnu -mcpu=arch11+miscellaneous_extensions_4",
        "aarch64-macos -mcpu=apple_m2+sve2p3",
    ],
)
def test_zigs_compiler_says_the_same(tmp_path, text):
    """Which features a model with changes has, or that it has no such model or feature."""
    pytest.importorskip("ziglang", reason="zig is not installed")
    assert [] == list(FILES["zig_queries"].faults(ask(tmp_path, text)))


def rows_of_cpus(text):
    """Return a row for each CPU of an answer of `zig targets`, with the features that it is listed with."""
    section = text[text.index("\n    .cpus = .{") : text.index("\n    .cpu_features = .{")]
    arch, rows = "", []
    for spaces, name in re.findall(r'^( {8,16})\.?@?"?([^",}]+?)"?(?: = .*|,)$', section, re.MULTILINE):
        if len(spaces) == 8:
            arch = name
        elif len(spaces) == 12:
            rows.append({"arch": arch, "cpu": name, "features": []})
        else:
            rows[-1]["features"].append(name)
    return rows


@pytest.mark.oracle
def test_every_model_has_what_zig_lists():
    """No more and no less, whatever the tables say of LLVM's CPU of the name; the corpora hold some of them."""
    pytest.importorskip("ziglang", reason="zig is not installed")
    command = [sys.executable, "-m", "ziglang", "targets"]
    text = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True).stdout
    rows = rows_of_cpus(text)
    faults = {f"{row['arch']} {row['cpu']}": list(FILES["zig_cpus"].faults(row)) for row in rows}
    assert len(rows) > 2000
    reviewed = {"aarch64 generic", "aarch64_be generic", "ez80 generic", "spork8 generic"}
    assert reviewed == {name for name, found in faults.items() if found}


@pytest.mark.oracle
def test_the_names_are_those_of_zig():
    """The file of names is as zig's own tables make it."""
    pytest.importorskip("ziglang", reason="zig is not installed")
    command = [sys.executable, Path(__file__).parents[2] / "tools" / "zig_names.py", "--check"]
    assert 0 == subprocess.run(command, timeout=100, check=False).returncode


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
