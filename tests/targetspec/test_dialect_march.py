"""Clang's -march, -mfpu, -mthumb and the modifiers of -mcpu, where they say more than a CPU."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from targetspec import FeatureSet, TargetSyntaxError, parse
from targetspec.dialects import arm_extensions as arm

A64 = "aarch64-unknown-linux-gnu"
VERSIONS = [
    *(f"armv8.{n}-a" for n in range(1, 10)),
    "armv8-a",
    "armv8-r",
    "armv9-a",
    "armv9.2-a",
    "armv9.7-a",
]
MODIFIERS = st.lists(
    st.builds(str.__add__, st.sampled_from(["", "no"]), st.sampled_from(sorted(arm.extensions("aarch64")))),
    max_size=4,
)


def _set(text: str) -> FeatureSet:
    return parse(text, "llvm").features


@given(st.sampled_from(VERSIONS), MODIFIERS)
def test_architectures_are_read_back(version, modifiers):
    """What an architecture and its extensions mean can be written as features, and is read back."""
    target = parse("+".join([f"{A64} -march={version}", *modifiers]), "llvm")
    assert target == parse(target.format("llvm"), "llvm")


@given(st.sampled_from(VERSIONS), MODIFIERS, st.sampled_from(sorted(arm.extensions("aarch64"))))
def test_the_last_modifier_wins(version, modifiers, name):
    """An extension refused last is not there, nor is what needs it; asked for last, it is, with all it needs."""
    base = "+".join([f"{A64} -march={version}", *modifiers])
    feature = arm.extensions("aarch64")[name]
    assert feature in _set(f"{base}+{name}")
    assume(
        feature not in FeatureSet.closed("aarch64", ()).with_changes([arm.architecture("aarch64", version)])
    )
    assert feature not in _set(f"{base}+no{name}")


def test_crypto_depends_on_the_version():
    """AES and SHA2 up to v8.3, SHA3 and SM4 as well from v8.4; refused, all four go."""
    for version in VERSIONS[:3]:
        assert {"aes", "sha2"} <= _set(f"{A64} -march={version}+crypto").names
        assert not {"sha3", "sm4"} & _set(f"{A64} -march={version}+crypto").names
    for version in ("armv8.4-a", "armv8.7a", "armv9-a"):
        assert {"aes", "sha2", "sha3", "sm4"} <= _set(f"{A64} -march={version}+crypto").names
    assert not {"aes", "sha2", "sha3", "sm4"} & _set(f"{A64} -march=armv8.4-a+crypto+nocrypto").names


def test_negatives_close_downward():
    """Without SVE there is nothing that needs it."""
    assert "sve2-aes" in _set(f"{A64} -march=armv9-a+sve2-aes")
    assert not {"sve2-aes", "sve2", "sve"} & _set(f"{A64} -march=armv9-a+sve2-aes+nosve").names
    assert not {"sve2", "sve"} & _set("-mcpu=cortex-a710+nosve").names
    assert "neoverse-v1" == parse(f"{A64} -mcpu=Neoverse-V1+norng", "llvm").cpu


def test_versions_are_a_lattice():
    """v9.x holds v8.(x+5), and no more."""
    assert _set(f"{A64} -march=armv8.5-a") <= _set(f"{A64} -march=armv9-a")
    assert not _set(f"{A64} -march=armv8.6-a") <= _set(f"{A64} -march=armv9-a")
    assert _set(f"{A64} -march=armv8.6-a") <= _set(f"{A64} -march=armv9.1-a")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{A64} -march=armv8-a", A64),
        ("-march=armv8.2-a+sve", "aarch64-unknown-unknown -mattr=+sve,+v8.2a"),
        ("-mcpu=cortex-a710+nosve", "aarch64-unknown-unknown -mcpu=cortex-a710 -mattr=-sve,-sve-bitperm"),
        ("-march=armv7-a", "armv7-unknown-unknown"),
        ("arm-linux-gnueabihf -march=armv7-a", "armv7-unknown-linux-gnueabihf"),
        ("arm-none-eabi -march=armv7e-m", "thumbv7em-unknown-none-eabi"),
        ("armeb-none-eabi -march=armv7-a -mthumb", "thumbebv7-unknown-none-eabi"),
        ("armv7-linux-gnueabihf -march=armv8-a", "armv8-unknown-linux-gnueabihf"),
        (
            "arm-none-eabi -mcpu=cortex-m4 -mfpu=none",
            "arm-unknown-none-eabi -mcpu=cortex-m4 -mattr=-fp16,-fpregs",
        ),
        ("arm-none-eabi -mcpu=cortex-m4 -mfpu=fpv4-sp-d16", "arm-unknown-none-eabi -mcpu=cortex-m4"),
        ("arm-none-eabi -mcpu=cortex-m55+nomve.fp", "arm-unknown-none-eabi -mcpu=cortex-m55 -mattr=-mve.fp"),
        ("-march=rv64gc", "riscv64-unknown-unknown -mattr=+zcd,+zifencei"),
        ("riscv64-linux-gnu -march=rv64gc -mcpu=sifive-u74", "riscv64-unknown-linux-gnu -mcpu=sifive-u74"),
        ("riscv32 -march=rv32imac -mabi=ilp32", "riscv32-unknown-unknown -mabi=ilp32"),
        ("s390x-linux-gnu -march=z14", "s390x-unknown-linux-gnu -mcpu=z14"),
        ("-march=la464", "-mcpu=la464"),
        (
            "loongarch64-linux-gnu -march=la464 -mattr=-lasx",
            "loongarch64-unknown-linux-gnu -mcpu=la464 -mattr=-lasx",
        ),
    ],
)
def test_what_the_options_mean(text, expected):
    """Architectures of 32-bit Arm go into the triple, ISA strings into the features, CPUs into the CPU."""
    assert expected == parse(text, "llvm").format("llvm")
    assert parse(text, "llvm") == parse(expected, "llvm")


def test_features_change_what_march_says():
    """-mattr departs from the architecture, as it does from a CPU."""
    assert _set(f"{A64} -march=armv8.2-a+sve2") == _set(f"{A64} -march=armv8.2-a -mattr=+sve2")


@pytest.mark.parametrize(
    ("text", "fault", "words"),
    [
        ("-march=armv8-a", "armv8-a", "aarch64 and of arm"),
        ("-mcpu=cortex-a53+crypto", "cortex-a53+crypto", "state the triple"),
        (f"{A64} -march=armv8.2-b", "armv8.2-b", "armv8.2-a"),
        (f"{A64} -march=armv7-a", "armv7-a", "no architecture of aarch64"),
        (f"{A64} -march=armv8-a+svee", "svee", "+sve"),
        (f"{A64} -march=armv8-a+nomve", "nomve", "unknown extension"),
        (f"{A64} -march=armv8-a+", "", "unknown extension"),
        (f"{A64} -mcpu=cortex-a53+nosvx2", "nosvx2", "+sve2"),
        (f"{A64} -mcpu=cortex-a53x+crc", "cortex-a53x", "cortex-a53"),
        (f"{A64} -march=armv9-a -mcpu=cortex-a53", "cortex-a53", "has not the architecture"),
        (f"{A64} -mfpu=neon", "neon", "32-bit Arm"),
        ("x86_64-linux-gnu -mthumb", "-mthumb", "32-bit Arm"),
        ("armv7-linux-gnueabi -march=armv6", "armv6", "not within"),
        ("arm-none-eabi -mfpu=neonn", "neonn", "neon"),
        ("thumbv7m-none-eabi -marm", "-marm", "otherwise"),
        ("arm-none-eabi -marm -mthumb", "-marm", "exclude"),
        ("riscv32-linux-gnu -march=rv64gc", "rv64gc", "64 bits"),
        ("riscv64-linux-gnu -march=rv64gcx", "x", "missing"),
        ("m68k-linux-gnu -march=68020", "68020", "-mcpu="),
    ],
)
def test_faults_point_at_the_part(text, fault, words):
    """An error has the span of the modifier, architecture or option at fault."""
    with pytest.raises(TargetSyntaxError) as caught:
        parse(text, "llvm")
    start, end = caught.value.span
    assert fault == text[start:end]
    assert words in f"{caught.value.message} {caught.value.hint}"
    assert "llvm" == caught.value.dialect


@pytest.mark.parametrize("tail", ["+sve" * 2500, "+nosve" * 1500, "+" * 9000, "+x" * 4000])
def test_long_lists_of_modifiers_end(tail):
    """Ten kilobytes of modifiers are a target or a fault."""
    try:
        got = parse(f"{A64} -march=armv8-a{tail}", "llvm").kind
    except TargetSyntaxError as error:
        got = error.dialect
    assert got == ("cpu" if tail.strip("+") and "x" not in tail else "llvm")


def test_every_fpu_can_be_asked_for():
    """What an FPU has is there, and the registers of double precision only where it has them."""
    for name in arm.fpu_names():
        found = _set(f"armv7-linux-gnueabi -mfpu={name}")
        wanted = arm.fpu_features(name)
        assert wanted <= found.names
        assert ("fp64" in wanted) == ("fp64" in found.names)
