"""GCC's options."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies_dialects import CPU_TARGETS, OPTION_TARGETS
from targetspec import (
    CpuTarget,
    CudaTarget,
    NotRepresentableError,
    TargetSyntaxError,
    cpu,
    parse,
    parse_full,
)
from targetspec.dialects import arm_extensions as arm
from targetspec.dialects import gcc_names as names

X86 = "x86_64-unknown-linux-gnu"
PIECES = (
    "x86_64-linux-gnu-gcc",
    "aarch64-linux-gnu",
    "-march=haswell",
    "-march=armv8.2-a+sve",
    "-march=rv64gc_zba",
    "-mcpu=power9",
    "-mcpu=cortex-a53+crypto",
    "-mtune=generic",
    "-mavx2",
    "-mno-fma",
    "-m32",
    "-mabi=lp64d",
    "-mfpu=neon",
    "-mthumb",
    "-mbig-endian",
    "-O2",
    "=",
    "+",
    "-",
    "-m",
    "-mno-",
    "-march=",
)


def _outcome(text: str) -> CpuTarget | tuple[int, int]:
    """Return the target of a text, or the span of its fault."""
    try:
        target: Any = parse(text, "gcc")
    except TargetSyntaxError as error:
        return error.span
    return target


@given(OPTION_TARGETS | CPU_TARGETS)
def test_what_options_say_is_read_back(target):
    """A target that GCC's options can say comes back equal; for others the fields that do not fit are named."""
    try:
        text = target.format("gcc")
    except NotRepresentableError as error:
        unfit = {name for name, _ in error.fields}
    else:
        unfit = set()
        assert target == parse(text, "gcc")
    assert unfit <= {*target.specs()}


@given(st.lists(st.sampled_from(PIECES), max_size=7).map(" ".join) | st.text(max_size=60))
def test_any_text_is_a_target_or_a_fault(text):
    """Nothing but a target or a TargetSyntaxError."""
    got = _outcome(text)
    assert isinstance(got, CpuTarget) or 0 <= got[0] <= got[1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "x86_64-linux-gnu-gcc -march=haswell -mtune=generic -mavx2 -mno-fma",
            f"{X86} -mcpu=haswell -mtune=generic -mattr=-fma",
        ),
        ("/usr/bin/x86_64-linux-gnu-g++-12 -march=core-avx2", f"{X86} -mcpu=haswell"),
        ("gcc -march=znver3", "-mcpu=znver3"),
        (f"--target={X86} -march=x86-64-v3", f"{X86} -mcpu=x86-64-v3"),
        (f"{X86} -m32 -march=i686", "i386-unknown-linux-gnu -mcpu=i686"),
        (f"{X86} -mx32", "x86_64-unknown-linux-gnux32"),
        (f"{X86} -msse4 -mabm", f"{X86} -mattr=+lzcnt,+sse4.2"),
        (f"{X86} -march=haswell -mno-sse4", f"{X86} -mcpu=haswell -mattr=-sse4.1"),
        (f"{X86} -mno-80387 -msoft-float", f"{X86} -mfloat-abi=soft -mattr=-x87"),
        ("-mcpu=power9", "-mcpu=pwr9"),
        (
            "powerpc64le-linux-gnu-gcc -mcpu=power9 -mtune=power10",
            "powerpc64le-unknown-linux-gnu -mcpu=pwr9 -mtune=pwr10",
        ),
        ("powerpc64-linux-gnu-gcc -mlittle-endian", "powerpc64le-unknown-linux-gnu"),
        ("s390x-linux-gnu-gcc -march=z14 -mno-vx", "s390x-unknown-linux-gnu -mcpu=z14 -mattr=-vector"),
        (
            "riscv64-linux-gnu-gcc -march=rv64gc_zba -mabi=lp64d",
            "riscv64-unknown-linux-gnu -mabi=lp64d -mattr=+zba,+zifencei",
        ),
        (
            "loongarch64-linux-gnu-gcc -march=la464 -mno-lasx",
            "loongarch64-unknown-linux-gnu -mcpu=la464 -mattr=-lasx",
        ),
        (
            "mips-linux-gnu-gcc -march=mips32r2 -mabi=32 -EL",
            "mipsel-unknown-linux-gnu -mcpu=mips32r2 -mabi=o32",
        ),
        (
            "arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -mfpu=fpv4-sp-d16",
            "thumb-unknown-none-eabi -mcpu=cortex-m4",
        ),
        ("arm-linux-gnueabihf-gcc -march=armv7-a -mfpu=neon", "armv7-unknown-linux-gnueabihf"),
        ("arm-linux-gnueabi-gcc -march=armv7-a+fp", "armv7-unknown-linux-gnueabi -mattr=-d32,-neon"),
        (
            "aarch64-linux-gnu-gcc -march=armv8.2-a+crypto+fp16 -mstrict-align",
            "aarch64-unknown-linux-gnu -mattr=+crypto,+fullfp16,+v8.2a,+strict-align",
        ),
        (
            "aarch64-linux-gnu-gcc -mgeneral-regs-only -mabi=lp64",
            "aarch64-unknown-linux-gnu -mattr=-fp-armv8",
        ),
    ],
)
def test_what_gcc_calls_it(text, expected):
    """GCC's names mean what LLVM has under its own, and the target is written for GCC and read back."""
    target = parse(text, "gcc")
    assert parse(expected, "llvm") == target
    assert target == parse(target.format("gcc"), "gcc")


@pytest.mark.parametrize(
    ("text", "fpu"),
    [
        ("arm-linux-gnueabi -march=armv7-a", None),
        ("arm-linux-gnueabi -march=armv7-a+fp", "vfpv3-d16"),
        ("arm-linux-gnueabi -march=armv7-a+simd", "neon"),
        ("arm-linux-gnueabi -march=armv7-a+neon-vfpv4", "neon-vfpv4"),
        ("arm-linux-gnueabi -march=armv7ve+simd", "neon-vfpv4"),
        ("arm-linux-gnueabi -march=armv8-a+simd", "neon-fp-armv8"),
        ("arm-linux-gnueabi -march=armv8-a+crypto", "crypto-neon-fp-armv8"),
        ("arm-none-eabi -march=armv7e-m+fp", "fpv4-sp-d16"),
        ("arm-none-eabi -march=armv7e-m+fp.dp", "fpv5-d16"),
        ("arm-none-eabi -march=armv8-m.main+dsp+fp+nofp", None),
        ("arm-linux-gnueabi -march=armv7-a -mfpu=vfpv4-d16", "vfpv4-d16"),
    ],
)
def test_the_fpu_of_an_architecture_is_what_is_asked_for(text, fpu):
    """In GCC an architecture of 32-bit Arm has no FPU by itself, and `fp` and `simd` are each architecture's own."""
    target = parse(text, "gcc")
    assert (arm.fpu_features(fpu) if fpu else frozenset()) == arm.fpu_in(target.features)
    assert target == parse(target.format("gcc"), "gcc")


def test_isa_strings_are_written_short():
    """Older compilers know the extensions, and not what they consist of."""
    target = parse("riscv64-linux-gnu -march=rv64gc_zba_zvl256b_v", "gcc")
    assert "riscv64-unknown-linux-gnu -march=rv64imafdcv_zifencei_zba_zvl256b" == target.format("gcc")


def test_fields_of_their_own():
    """The format of long double and the length of vectors are no features."""
    assert "ieee128" == parse("powerpc64le-linux-gnu -mabi=ieeelongdouble", "gcc").long_double
    assert "64" == parse(f"{X86} -mlong-double-64", "gcc").long_double
    assert 256 == parse("aarch64-linux-gnu -march=armv8-a+sve -msve-vector-bits=256", "gcc").vector_bits
    assert "hard" == parse("arm-none-eabi -mcpu=cortex-m7 -mfloat-abi=hard", "gcc").float_abi


def test_other_words_are_kept_in_order():
    """Leftovers come back as they were: options of the optimiser, of the linker, and files."""
    parsed = parse_full(
        "x86_64-linux-gnu-gcc -O3 -march=haswell -fPIC -mno-red-zone -mcmodel=large -c f.c -o f.o", "gcc"
    )
    assert ("-O3", "-fPIC", "-mno-red-zone", "-mcmodel=large", "-c", "f.c", "-o", "f.o") == parsed.leftovers
    assert f"{X86} -march=haswell -O3 -fPIC -mno-red-zone -mcmodel=large -c f.c -o f.o" == parsed.format()
    assert parsed == parse_full(parsed.format(), "gcc")


def test_names_of_cpus_are_used_both_ways():
    """Every name of GCC's that differs is read, and written again."""
    for name, llvm in names.CPUS.items():
        assert llvm == parse(f"gcc -mcpu={name}", "gcc").cpu
        assert f"-mcpu={name}" == CpuTarget(cpu=llvm).format("gcc")


def test_names_of_features_are_used_both_ways():
    """Every feature of x86 that GCC has an option for is asked for and refused by it."""
    lacking = names.LLVM_ONLY_FEATURES["x86"]
    for feature in cpu.feature_names("x86"):
        if cpu.role("x86", feature) != "isa" or feature in lacking or not cpu.is_listed("x86", feature):
            continue
        for added, removed in (([feature], []), ([], [feature])):
            changed = CpuTarget(triple=X86, cpu="sapphirerapids").request_features(added, removed)
            target = CpuTarget(triple=X86, cpu="sapphirerapids", features=changed)
            assert target == parse(target.format("gcc"), "gcc")


@pytest.mark.parametrize(
    ("text", "fault", "words"),
    [
        (f"{X86} -march=haswel", "haswel", "haswell"),
        (f"{X86} -march=eden-x2", "eden-x2", "nearest that it has is x86-64"),
        (f"{X86} -march=native", "native", "this machine"),
        (f"{X86} -march=haswell -march=skylake", "skylake", "twice"),
        (f"{X86} -march=", "", "no value"),
        (f"{X86} -march", "-march", "VALUE"),
        (f"{X86} -marchh=haswell", "-marchh=haswell", "-march="),
        (f"{X86} -mcpu=haswell", "haswell", "-mtune="),
        (f"{X86} -mavx22", "-mavx22", "-mavx2"),
        (f"{X86} -mavx512er", "-mavx512er", "avx512f"),
        (f"{X86} -m3dnow", "-m3dnow", "LLVM has no feature"),
        (f"{X86} -mavx2 -mno-avx", "-avx", "implies"),
        ("gcc -mavx2", "-mavx2", "architecture"),
        ("gcc -m32", "-m32", "triple"),
        ("aarch64-linux-gnu -m32", "-m32", "aarch64 has no"),
        ("aarch64-linux-gnu -mabi=ilp32", "ilp32", "gnu_ilp32"),
        ("aarch64-linux-gnu -mcpu=cortex-a57.cortex-a53", "cortex-a57.cortex-a53", "cortex-a57"),
        ("aarch64-linux-gnu -msve-vector-bits=many", "many", "number"),
        ("x86_64-lnux-gnu -march=haswell", "lnux", "linux"),
        ("gcc -O2", "gcc -O2", "nothing here"),
    ],
)
def test_faults_point_at_the_words_that_cause_them(text, fault, words):
    """An error has the span of the part at fault, and says what is allowed or what to do."""
    with pytest.raises(TargetSyntaxError) as caught:
        parse(text, "gcc")
    start, end = caught.value.span
    assert fault == text[start:end]
    assert words in f"{caught.value.message} {caught.value.hint}"
    assert "gcc" == caught.value.dialect


@pytest.mark.parametrize(
    ("target", "field"),
    [
        (CpuTarget(triple=X86, cpu="penryn"), "cpu"),
        (CpuTarget(triple=X86, num_cores=4), "num_cores"),
        (CpuTarget(triple=X86, restrictions=["retpoline"]), "restrictions"),
        (CpuTarget(triple="wasm32", features=["simd128"]), "features"),
        (CpuTarget(), "triple"),
        (CudaTarget(arch="sm_90"), "kind"),
    ],
)
def test_what_gcc_has_no_option_for_is_named(target, field):
    """GCC has no option for some CPUs, restrictions and facts of the machine."""
    with pytest.raises(NotRepresentableError) as caught:
        target.format("gcc")
    assert field in {name for name, _ in caught.value.fields}


@pytest.mark.parametrize(
    "text", [f"{X86} " + "-mavx2 " * 1400, f"{X86} -m" + "a" * 9000, "-" * 9000, "gcc-" * 2500]
)
def test_long_texts_end(text):
    """Ten kilobytes are a target or a fault."""
    got = _outcome(text)
    assert isinstance(got, CpuTarget) or got[0] < len(text)
