"""Targets for other tools: what LLVM is told, that it knows every name of it, and what compilers are."""

from __future__ import annotations

import contextlib
import random
import re
import subprocess
import sys
from collections.abc import Iterator

import attrs
import pytest
from hypothesis import given

from strategies_dialects import OPTION_TARGETS, TRIPLES
from targetspec import (
    CompositeTarget,
    CpuTarget,
    CudaTarget,
    FeatureConflictError,
    FeatureSet,
    FieldError,
    NotRepresentableError,
    TargetspecError,
    TargetSyntaxError,
    UnknownNameError,
    cpu,
    parse,
)
from targetspec.interop import (
    LlvmTarget,
    clang_flags,
    from_llvmlite,
    numba_environment,
    nvcc_flags,
    rustc_flags,
    to_llvmlite,
    zig_flags,
)

X86 = "x86_64-unknown-linux-gnu"
MACHINES = """
import ast, sys
import llvmlite.binding as llvm
llvm.initialize_all_targets()
for line in sys.stdin:
    triple, cpu, features, abi = ast.literal_eval(line)
    llvm.Target.from_triple(triple).create_target_machine(cpu=cpu, features=features, abiname=abi)
print("done")
"""


def _llvm_says(cases: list[LlvmTarget]) -> str:
    """Return what LLVM prints while it makes the machines: nothing, unless it does not know a name."""
    lines = "\n".join(repr((one.triple, one.cpu, one.features, one.abi)) for one in cases)
    command = [sys.executable, "-c", MACHINES]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=90, check=False)
    assert "done\n" == done.stdout
    return done.stderr


def test_features_state_the_whole_set():
    """What the target has comes with a plus, after a minus for what only the CPU's name would bring."""
    target = CpuTarget(triple=X86, cpu="haswell", tuning=["+slow-lea"], restrictions=["retpoline"])
    changed = target.evolve(features=target.request_features(["sha"], ["avx2"]))
    signs = to_llvmlite(changed).features.split(",")
    assert {"+sha", "+avx", "-avx2", "+slow-lea", "+retpoline"} <= set(signs)
    assert {f"+{name}" for name in changed.features} <= set(signs)
    assert signs.index("-avx2") < signs.index("+avx")
    assert {"-avx2"} == {sign for sign in signs if sign[0] == "-"}


def test_the_strings_are_those_that_llvm_takes():
    """Triple and CPU are canonical, the baseline stands in for an unstated CPU, and soft float is a feature."""
    got = to_llvmlite(CpuTarget(triple="x86_64-linux-gnu", tune="core-avx2", float_abi="soft"))
    assert (X86, "x86-64", "", "haswell") == (got.triple, got.cpu, got.abi, got.tune)
    assert got.features.endswith("+soft-float")


@pytest.mark.parametrize("target", [CpuTarget(cpu="haswell"), CpuTarget(triple="lanai")])
def test_what_llvm_would_guess_is_an_error(target):
    """A target without triple or without a table is refused, with what to do."""
    with pytest.raises(FieldError) as caught:
        to_llvmlite(target)
    assert ("triple", True) == (caught.value.field, bool(caught.value.hint))


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"cpu": "i686"}, "cpu"),
        ({"abi": "sysv"}, "abi"),
        ({"float_abi": "softfp"}, "float_abi"),
    ],
)
def test_what_llvm_exits_on_or_passes_over_is_an_error(fields, field):
    """A CPU of another width makes LLVM exit; an ABI or a float ABI that it does not know changes nothing."""
    with pytest.raises(FieldError) as caught:
        to_llvmlite(CpuTarget(triple=X86, **fields))
    assert field == caught.value.field


def test_a_feature_that_the_tables_lack_is_an_error():
    """LLVM would go on without it."""
    foreign = FeatureSet.verbatim("x86", ["sse", "from-the-future"], "99.0.0")
    with pytest.raises(UnknownNameError, match="from-the-future"):
        to_llvmlite(CpuTarget(triple=X86, features=foreign))


def test_llvm_knows_every_name_that_the_tables_have():
    """No CPU, feature, tuning or restriction makes LLVM complain; a made-up one does, so that silence means something."""
    cases = [to_llvmlite(target) for family in sorted(TRIPLES) for target in _one_of_each(family)]
    assert len(cases) > 200
    assert "" == _llvm_says(cases)
    assert "made-up" in _llvm_says([LlvmTarget(X86, "x86-64", "+made-up")])


def _one_of_each(family: str) -> Iterator[CpuTarget]:
    triple = TRIPLES[family][0]
    for name in cpu.cpu_names(family, aliases=True):
        if CpuTarget(triple=triple).triple.pointer_bits in cpu.cpu_widths(family, name):
            yield CpuTarget(triple=triple, cpu=name)
    for name in cpu.feature_names(family):
        role = cpu.role(family, name)
        if role == "tuning":
            yield CpuTarget(triple=triple, tuning=[f"-{name}"])
            continue
        # A mode of another width than the triple's is refused.
        with contextlib.suppress(FeatureConflictError):
            yield CpuTarget(triple=triple, **{"restrictions" if role == "inverse" else "features": [name]})


def test_what_llvm_exits_on_in_32_bit_code_is_refused():
    """LLVM ends the process for load hardening outside of 64-bit code."""
    with pytest.raises(FieldError, match="64-bit code"):
        to_llvmlite(CpuTarget(triple="i686-linux-gnu", restrictions={"lvi-load-hardening"}))
    assert (
        "+lvi-load-hardening"
        in to_llvmlite(CpuTarget(triple=X86, restrictions={"lvi-load-hardening"})).features
    )


# -- many targets -------------------------------------------------------------------------------------

EVERYWHERE = {
    "aarch64": (
        "aarch64-unknown-linux-gnu",
        "arm64-apple-macosx14.0",
        "aarch64-pc-windows-msvc",
        "arm64_32-apple-watchos",
    ),
    "amdgpu": ("amdgcn-amd-amdhsa",),
    "arm": (
        "armv7-unknown-linux-gnueabihf",
        "thumbv7em-unknown-none-eabi",
        "armeb-unknown-linux-gnueabi",
        "armv6k-linux",
    ),
    "hexagon": ("hexagon-unknown-linux-musl",),
    "loongarch": ("loongarch64-unknown-linux-gnu", "loongarch32-unknown-linux-gnu"),
    "mips": ("mips-unknown-linux-gnu", "mips64el-unknown-linux-gnuabi64", "mipsisa32r6el-unknown-linux-gnu"),
    "nvptx": ("nvptx64-nvidia-cuda", "nvptx-nvidia-cuda"),
    "powerpc": ("powerpc64le-unknown-linux-gnu", "powerpc-unknown-linux-gnu", "powerpc64-ibm-aix"),
    "riscv": ("riscv64-unknown-linux-gnu", "riscv32-unknown-none-elf"),
    "systemz": ("s390x-unknown-linux-gnu",),
    "webassembly": ("wasm32-unknown-unknown", "wasm64-unknown-unknown"),
    "x86": (
        "x86_64-unknown-linux-gnu",
        "i686-pc-windows-msvc",
        "x86_64-unknown-linux-gnux32",
        "x86_64-apple-macosx11",
    ),
}
"""Triples of every table, of more than one width, byte order and system where there are."""


def _drawn(draw: random.Random) -> LlvmTarget | None:
    """Return the strings of a random target; None where it cannot be made, or is refused."""
    family = draw.choice(sorted(EVERYWHERE))
    names: dict[str, list[str]] = {role: [] for role in ("isa", "abi", "tuning", "inverse")}
    for name in cpu.feature_names(family):
        names[cpu.role(family, name)].append(name)
    fields = {
        "triple": draw.choice(EVERYWHERE[family]),
        "cpu": draw.choice([None, *cpu.cpu_names(family, aliases=True)]),
        "tuning": [draw.choice("+-") + name for name in _some(draw, names["tuning"])],
        "restrictions": _some(draw, names["inverse"]),
        "float_abi": draw.choice([None, None, None, "soft", "hard"]),
        "abi": draw.choice([None] * 5 + ["aapcs", "aapcs-soft", "lp64d"]),
    }
    try:
        target = CpuTarget(**fields)
        changed = target.request_features(_some(draw, names["isa"] + names["abi"]), _some(draw, names["isa"]))
        return to_llvmlite(target.evolve(features=changed))
    except TargetspecError:
        return None


def _some(draw: random.Random, names: list[str]) -> list[str]:
    return draw.sample(names, min(len(names), draw.choice([0, 0, 1, 1, 2, 4])))


def _many(count: int) -> list[LlvmTarget]:
    draw = random.Random(count)
    found: list[LlvmTarget] = []
    while len(found) < count:
        found.extend(filter(None, [_drawn(draw)]))
    return found


def _complaints(cases: list[LlvmTarget]) -> list[str]:
    """Return what LLVM prints, but for its warnings of MIPS extensions on revisions that have them no more or not yet."""
    said = _llvm_says(cases).splitlines()
    return [
        line for line in said if not re.match(r"warning: (?:the '\w+' ASE requires|MIPS-I support)", line)
    ]


def test_llvm_takes_targets_of_every_kind():
    """No random target makes LLVM end the process or complain."""
    cases = _many(200)
    assert {"aarch64", "amdgcn", "hexagon", "s390x", "wasm32", "x86_64"} <= {
        one.triple.split("-")[0] for one in cases
    }
    assert [] == _complaints(cases)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_llvm_takes_ten_thousand_targets():
    """In twenty processes of five hundred, for LLVM keeps what it makes."""
    cases = _many(10_000)
    said = [_complaints(cases[start : start + 500]) for start in range(0, len(cases), 500)]
    assert [[]] * 20 == said


# -- and back -----------------------------------------------------------------------------------------


@given(OPTION_TARGETS)
def test_the_strings_are_read_back(target):
    """What LLVM is told says the whole target, but for facts that its machines have no place for."""
    try:
        strings = to_llvmlite(target)
    except FieldError:
        return
    got = from_llvmlite(*attrs.astuple(strings))
    # LLVM is always told a CPU: the baseline, where none is stated, which then schedules for itself.
    tune = None if target.tune == got.cpu else target.tune
    assert (target.triple, tune, target.tuning, target.restrictions) == (
        got.triple,
        got.tune,
        got.tuning,
        got.restrictions,
    )
    assert target.features == got.features
    assert strings == to_llvmlite(got)


def test_signs_are_read_from_left_to_right():
    """A later sign wins; what is removed takes along what needs it, and no default comes with what is added."""
    base = from_llvmlite(X86, "haswell")
    assert base == from_llvmlite(X86, "haswell", "-avx2,+avx2")
    assert "avx512f" not in from_llvmlite(X86, "skylake-avx512", "-avx2").features
    assert "crc32" not in from_llvmlite(X86, "x86-64", "-crc32,+sse4.2").features
    got = from_llvmlite(X86, "haswell", "+64bit,+slow-lea,+retpoline,+soft-float,,")
    assert (base.features, {"+slow-lea"}, {"retpoline"}, "soft") == (
        got.features,
        got.tuning,
        got.restrictions,
        got.float_abi,
    )


def test_this_machine_as_llvm_has_it():
    """Its own name and features are a target, which says the same again."""
    binding = pytest.importorskip("llvmlite.binding")
    name, features = binding.get_host_cpu_name(), binding.get_host_cpu_features()
    target = from_llvmlite(binding.get_process_triple(), name, features.flatten())
    assert set() == {name for name in target.features if not features.get(name, True)}
    assert name in cpu.cpu_names(target.family, aliases=True)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((X86, "haswell", "avx2"), FieldError, "must be [+]name or -name"),
        ((X86, "haswell", "+avx,+"), FieldError, "must be [+]name or -name"),
        ((X86, "haswell", "+made-up"), UnknownNameError, "made-up"),
        ((X86, "made-up"), UnknownNameError, "made-up"),
        ((X86, "native"), FieldError, "another one on each machine"),
        (("lanai", "", "+x"), FieldError, "no table"),
        (("",), TargetSyntaxError, "begins with an architecture"),
    ],
)
def test_strings_that_name_nothing(arguments, error, words):
    """Each is refused with what is allowed."""
    with pytest.raises(error, match=words):
        from_llvmlite(*arguments)


# -- flags --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"triple": "mips-linux-gnu", "cpu": "mips5"}, "MIPS V"),
        ({"triple": "mips-linux-gnu", "cpu": "mips32r6", "features": ["mips32r6", "dsp"]}, "revision 6"),
        ({"triple": "mips64el-linux-gnuabi64", "features": ["mips64r2", "fpxx"]}, "O32"),
        (
            {"triple": "mips-linux-gnu", "cpu": "mips32", "tuning": ["+use-indirect-jump-hazard"]},
            "revision 2",
        ),
        ({"triple": "hexagon-linux-musl", "cpu": "hexagonv66", "features": ["hvxv66"]}, "one length"),
        ({"triple": "nvptx64-nvidia-cuda", "cpu": "sm_80", "features": ["sm_80", "sm_90"]}, "another CPU"),
        ({"triple": "nvptx64-nvidia-cuda", "cpu": "sm_90", "features": ["sm_90", "ptx70"]}, "too old"),
        ({"triple": "loongarch32-linux-gnu"}, "just-in-time"),
    ],
)
def test_what_llvm_cannot_have_together_is_an_error(fields, words):
    """LLVM knows each of the names, and ends the process."""
    with pytest.raises(FieldError, match=words):
        to_llvmlite(CpuTarget(**fields))


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ("x86_64-linux-gnu -mcpu=haswell", "--target=x86_64-unknown-linux-gnu -march=haswell"),
        (
            "x86_64-linux-gnu -mattr=+sse4.1,-cmov",
            "--target=x86_64-unknown-linux-gnu -msse4.1 -Xclang -target-feature -Xclang -cmov",
        ),
        (
            "aarch64-linux-gnu -mcpu=cortex-a53 -mtune=cortex-a72 -mattr=+lse",
            "--target=aarch64-unknown-linux-gnu -mcpu=cortex-a53 -mtune=cortex-a72 -Xclang -target-feature -Xclang +lse",
        ),
        ("arm-linux-gnueabi -mfloat-abi=softfp", "--target=arm-unknown-linux-gnueabi -mfloat-abi=softfp"),
        ("riscv64-linux-gnu -mabi=lp64d", "--target=riscv64-unknown-linux-gnu -mabi=lp64d"),
    ],
)
def test_flags_for_clang(text, flags):
    """The triple, the CPU by the option of its architecture, and each feature."""
    assert tuple(flags.split()) == clang_flags(parse(text, "llvm"))


def test_flags_for_rustc_and_zig():
    """As their dialects write them, one word an argument; zig is told what a variant means, and no vendor."""
    target = parse("x86_64-linux-gnu -mcpu=haswell -mattr=-avx2", "llvm")
    flags = ("--target", "x86_64-unknown-linux-gnu", "-C", "target-cpu=haswell", "-C", "target-feature=-avx2")
    assert flags == rustc_flags(target)
    assert ("-target", "x86_64-linux-gnu", "-mcpu=haswell-avx2") == zig_flags(target)
    assert ("-target", "x86_64-windows-msvc") == zig_flags(
        CpuTarget(triple="x86_64-pc-windows-msvc", num_cores=4)
    )
    assert ("-target", "aarch64-macos.13.0") == zig_flags(CpuTarget(triple="arm64-apple-macosx13"))
    assert ("-target", "x86-linux-gnu", "-mcpu=pentium4") == zig_flags(CpuTarget(triple="i686-linux-gnu"))


@pytest.mark.parametrize(
    ("arch", "code"),
    [
        ("sm_80", "arch=compute_80,code=sm_80"),
        ("compute_90a", "arch=compute_90a,code=compute_90a"),
        ("9.0+PTX", "arch=compute_90,code=[sm_90,compute_90]"),
        ("lto_90", "arch=compute_90,code=lto_90"),
    ],
)
def test_flags_for_nvcc(arch, code):
    """The code's form decides between machine code, PTX, both, and an intermediate."""
    assert ("-gencode", code) == nvcc_flags(CudaTarget(arch=arch))


def test_flags_for_several_gpus():
    """A composite has one pair of flags for each member."""
    both = CompositeTarget(members=[CudaTarget(arch="sm_80"), CudaTarget(arch="sm_90")])
    expected = ("-gencode", "arch=compute_80,code=sm_80", "-gencode", "arch=compute_90,code=sm_90")
    assert expected == nvcc_flags(both)


def test_the_environment_of_numba():
    """The CPU and the whole set; the triple is the process's own."""
    target = CpuTarget(triple=X86, cpu="haswell")
    strings = to_llvmlite(target)
    expected = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": strings.features}
    assert expected == numba_environment(target)


@pytest.mark.parametrize(
    ("call", "target", "field"),
    [
        (clang_flags, CpuTarget(cpu="haswell"), "triple"),
        (clang_flags, CudaTarget(arch="sm_80"), "kind"),
        (clang_flags, CpuTarget(triple=X86, vector_bits=256), "vector_bits"),
        (clang_flags, CpuTarget(triple=X86, float_abi="softfp"), "float_abi"),
        (zig_flags, CpuTarget(triple=X86, tune="haswell"), "tune"),
        (rustc_flags, CpuTarget(triple="lanai-unknown-linux-gnu"), "triple"),
        (nvcc_flags, CpuTarget(triple=X86), "kind"),
        (nvcc_flags, CudaTarget(), "arch"),
        (nvcc_flags, CudaTarget(arch="compute_80", ptx_isa="8.0"), "ptx_isa"),
        (numba_environment, CpuTarget(triple=X86, tune="haswell"), "tune"),
    ],
)
def test_what_no_flag_says(call, target, field):
    """Every field that does not fit is named."""
    with pytest.raises(NotRepresentableError) as caught:
        call(target)
    assert field in [name for name, _ in caught.value.fields]


@pytest.mark.oracle
@pytest.mark.parametrize(
    "text",
    [
        "x86_64-linux-gnu -mcpu=haswell -mattr=-avx2,+sha,-cmov",
        "i686-windows-msvc -mcpu=pentium3",
        "aarch64-linux-gnu -mcpu=neoverse-n1 -mattr=+sve2,-aes",
        "riscv64-linux-gnu -mcpu=sifive-u74 -mattr=+v",
        "powerpc64le-linux-gnu -mcpu=pwr9 -mattr=-vsx",
        "wasm32-unknown-unknown -mattr=+simd128",
    ],
)
def test_clang_understands_its_flags(text):
    """With them its front end has the target's features, and warns of nothing."""
    pytest.importorskip("ziglang", reason="clang comes with zig, which is not installed")
    target = parse(text, "llvm")
    command = [
        sys.executable,
        "-m",
        "ziglang",
        "clang",
        *clang_flags(target),
        "-nogpulib",
        "-S",
        "-emit-llvm",
    ]
    source = "void f(void) {}\n"
    done = subprocess.run(
        [*command, "-o-", "-xc", "-"], input=source, capture_output=True, text=True, timeout=60, check=False
    )
    assert (0, "") == (done.returncode, done.stderr)
    listed = re.search(r'"target-features"="([^"]*)"', done.stdout)
    assert listed is not None
    had = {name[1:] for name in listed[1].split(",") if name[0] == "+"}
    assert set(target.features) <= had
    added = {name for name in had if cpu.is_listed(target.family, name)} - set(target.features)
    assert set() == added
