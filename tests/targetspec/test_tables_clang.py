"""The tables against clang of the same LLVM: the sets, what closes them, the baselines, and the generator."""

from __future__ import annotations

import functools
import os
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from targetspec import cpu, cpu_tables, parse
from targetspec.errors import FeatureConflictError
from targetspec.triple import Triple
from targetspec.triple_archs import ARCHS

TOOLS = Path(__file__).resolve().parents[2] / "tools"
FAMILIES = cpu.family_names()
TRIPLES = {
    "x86": {64: "x86_64-linux-gnu", 32: "i686-linux-gnu"},
    "aarch64": {64: "aarch64-linux-gnu"},
    "amdgpu": {64: "amdgcn-amd-amdhsa"},
    "arm": {32: "arm-none-eabihf"},
    "hexagon": {32: "hexagon-unknown-elf"},
    "loongarch": {64: "loongarch64-linux-gnu", 32: "loongarch32-unknown-elf"},
    "mips": {64: "mips64el-linux-gnu", 32: "mipsel-linux-gnu"},
    "nvptx": {64: "nvptx64-nvidia-cuda"},
    "powerpc": {64: "powerpc64le-linux-gnu", 32: "powerpc-linux-gnu"},
    "riscv": {64: "riscv64-linux-gnu", 32: "riscv32-unknown-elf"},
    "systemz": {64: "s390x-linux-gnu"},
    "webassembly": {32: "wasm32-unknown-unknown"},
}
OPTION = {"x86": "-march=", **dict.fromkeys(("loongarch", "mips", "nvptx", "systemz"), "-march=")}
_SILENT = "clang 22 takes the name, and lists it for no processor and no request"
ACCEPTED = {
    ("amdgpu", "gws"): _SILENT,
    ("amdgpu", "image-insts"): _SILENT,
    ("amdgpu", "vmem-to-lds-load-insts"): _SILENT,
    (
        "mips",
        "nan2008",
    ): "LLVM defines it for release 6, and objects must agree on it; clang leaves it unsaid",
    ("riscv", "za128rs"): "LLVM has it unrelated to za64rs, which implies it",
}
"""Where clang's answer and the table's differ for a feature, on every CPU, and why."""

OWN = {
    (
        "arm",
        "generic",
    ): "clang takes the name for what the triple's environment needs; here it is LLVM's own definition",
    (
        "powerpc",
        "generic",
    ): "clang takes the name for POWER8 on little-endian Linux; here it is what every part has",
}
"""The CPUs whose set is not clang's for the name, and why."""

ARM_VERSIONS = ["8", *(f"8.{n}" for n in range(1, 10)), "9", *(f"9.{n}" for n in range(1, 8))]
ARM_VERSION = r"(?:arm)?v[89]|armv|iwmmxt|xscale"
CLOSED_BY_LLVM = ("arm", "loongarch")
"""The families whose features clang passes on as they are; what closes them are LLVM's own definitions."""


def _oracle() -> Any:
    sys.path.insert(0, str(TOOLS))
    try:
        import llvm_oracle  # noqa: PLC0415 - a script of this repository, not of the package
    finally:
        sys.path.remove(str(TOOLS))
    if not llvm_oracle.available():
        pytest.skip("ziglang, which brings clang, is not installed")
    if cpu.TABLES_VERSION != llvm_oracle.version():
        pytest.skip(f"the tables are of LLVM {cpu.TABLES_VERSION}, this clang is {llvm_oracle.version()}")
    return llvm_oracle


Change = tuple[str, int, str, str]
"""A CPU, the width of the code, a sign, and a feature."""


def _aarch64(oracle: Any, change: Change) -> Any:
    name, _, sign, feature = change
    option = cpu.feature_spelling("aarch64", feature, "gcc")
    return oracle.driver(TRIPLES["aarch64"][64], f"-mcpu={name}+{'no' if sign == '-' else ''}{option}")


def _stated(family: str, oracle: Any, change: Change) -> Any:
    name, bits, sign, feature = change
    plain = _plain(family, name, bits)
    stated = [f"+{one}" for one in plain.on]
    return oracle.cc1(TRIPLES[family][bits], name if plain.known else "", *stated, sign + feature)


def _defined(family: str, oracle: Any, change: Change) -> Any:
    """Return clang's list for the CPU with the change closed as LLVM defines."""
    name, bits, sign, feature = change
    before, implies = _plain(family, name, bits).on, _implies(family)
    if sign == "+" and feature in cpu.resolve(family, name, bits=bits):
        # An older architecture than the CPU's own brings nothing.
        return oracle.Answer(before | {feature}, frozenset(), name, "")
    if sign == "+":
        return oracle.Answer(before | _reach(implies, feature), frozenset(), name, "")
    kept = (one for one in before if feature not in _reach(implies, one) or _only_comes_with(one, feature))
    return oracle.Answer(frozenset(kept), frozenset(), name, "")


def _only_comes_with(version: str, feature: str) -> bool:
    """Say whether clang's driver takes away a feature and leaves the Arm architecture that it comes with."""
    return bool(re.match(ARM_VERSION, version)) and not re.match(ARM_VERSION, feature)


@functools.cache
def _implies(family: str) -> dict[str, tuple[str, ...]]:
    return dict(_oracle().zig_table(family).implies)


def _reach(implies: dict[str, tuple[str, ...]], name: str) -> frozenset[str]:
    """Return what a feature implies in LLVM's definitions, itself included."""
    return frozenset((name, *(one for direct in implies.get(name, ()) for one in _reach(implies, direct))))


def _ask(family: str, oracle: Any, change: Change) -> Any:
    if family == "aarch64":
        return _aarch64(oracle, change)
    return (_defined if family in CLOSED_BY_LLVM else _stated)(family, oracle, change)


class Plain(NamedTuple):
    """What clang lists for a CPU alone; for one that it does not know the table's set, and what it adds to any set."""

    on: frozenset[str]
    known: bool
    bare: frozenset[str] = frozenset()


@functools.cache
def _plain(family: str, name: str, bits: int) -> Plain:
    answer = _oracle().driver(TRIPLES[family][bits], OPTION.get(family, "-mcpu=") + name)
    mine = frozenset(cpu.resolve(family, name, bits=bits))
    if answer.error or (family, name) in OWN:
        bare = _oracle().cc1(TRIPLES[family][bits], "").on - mine
        return Plain(mine, known=False, bare=frozenset(one for one in bare if cpu.is_listed(family, one)))
    on = frozenset(one for one in answer.on if cpu.is_listed(family, one))
    # Where the table's set is another one, the reason is written down.
    reviewed = f"cpu {name}" in cpu.patches(family) or {(family, one) for one in on ^ mine} <= ACCEPTED.keys()
    assert on == mine or reviewed, (name, sorted(on ^ mine))
    return Plain(on, known=True)


def _cpus(family: str) -> list[tuple[str, int]]:
    """Return each CPU with a width of code that it runs, the widest that clang is asked for."""
    found = []
    for name in cpu.cpu_names(family):
        widths = [bits for bits in cpu.cpu_widths(family, name) if bits in TRIPLES[family]]
        assert widths, name
        found.append((name, max(widths)))
    return found


def _draws(family: str, seed: int) -> list[list[Change]]:
    """Draw, for each CPU and sign, a few features in turn: clang refuses some."""
    draw = random.Random(seed)
    features = [name for name in cpu.feature_names(family) if cpu.is_listed(family, name)]
    return [
        [(name, bits, sign, feature) for feature in draw.sample(features, min(12, len(features)))]
        for name, bits in _cpus(family)
        for sign in "+-"
    ]


def _apart(family: str, change: Change, listed: frozenset[str]) -> tuple[str, ...]:
    """Return in what the set differs from clang's, beyond what is reviewed."""
    name, bits, sign, feature = change
    held = cpu_tables.table(family)
    plain = _plain(family, name, bits)
    found = cpu.resolve(family, name, **{"add" if sign == "+" else "remove": [feature]}, bits=bits)
    # What is covered counts as there, for clang leaves it unsaid.
    mine, theirs, before, clangs = (
        held.widen(held.mask(one)) for one in (found, listed, cpu.resolve(family, name, bits=bits), plain.on)
    )
    if sign == "-":
        assert not mine & held.bit[feature], change
        # clang takes away names that it lists; here what is refused goes with all that needs it, listed or covered.
        theirs &= ~held.gone(feature)
        mine &= ~held.widen(held.gone(feature)) | theirs
    apart = held.unmask((mine ^ theirs) & ~(before ^ clangs) & ~held.widen(held.mask(plain.bare)))
    return tuple(one for one in apart if (family, one) not in ACCEPTED)


def _check_closure(family: str, seed: int) -> None:
    oracle = _oracle()
    todo, different, silent = _draws(family, seed), [], []
    while todo:
        answers = oracle.ask_all(lambda change: _ask(family, oracle, change), [draws[0] for draws in todo])
        again = [draws[1:] for draws in todo if answers[draws[0]].error]
        for change, answer in answers.items():
            if answer.error:
                continue
            listed = frozenset(one for one in answer.on if cpu.is_listed(family, one))
            try:
                apart = _apart(family, change, listed)
            except FeatureConflictError:
                # Of the combinations that are refused here LLVM takes some, and aborts on others; clang lets one refuse
                # what 64-bit code has.
                assert family == "riscv" or change[2:] == ("-", "32s"), change
                continue
            if apart:
                different.append((*change, *apart))
        silent += [draws for draws in again if not draws]
        todo = [draws for draws in again if draws]
    assert [] == different
    assert [] == silent


@pytest.mark.oracle
@pytest.mark.parametrize("family", FAMILIES)
def test_clang_closes_alike(family):
    """Every CPU with one feature added, and with one removed: the set is clang's, patches aside."""
    _check_closure(family, 20)


@pytest.mark.oracle
@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("family", FAMILIES)
def test_clang_closes_alike_everywhere(family):
    """As above with other features: ten for each CPU and sign, and in the long run random ones."""
    first = (
        random.SystemRandom().randrange(1 << 32) if os.environ.get("HYPOTHESIS_PROFILE") == "nightly" else 21
    )
    for seed in range(first, first + 10):
        _check_closure(family, seed)


@pytest.mark.oracle
@pytest.mark.parametrize(
    ("arch", "triple"),
    [
        ("x86_64", "x86_64-linux-gnu"),
        ("i386", "i386-linux-gnu"),
        ("aarch64", "aarch64-linux-gnu"),
        ("riscv64", "riscv64-linux-gnu"),
        ("arm v7", "armv7a-none-eabihf"),
        ("powerpc64le", "powerpc64le-linux-gnu"),
        ("loongarch64", "loongarch64-linux-gnu"),
    ],
)
def test_baselines_are_clangs(arch, triple):
    """What a triple alone stands for is what clang compiles for when it is given nothing else."""
    oracle = _oracle()
    name, _, sub = arch.partition(" ")
    family = ARCHS[name].family
    found = cpu.resolve(
        family,
        cpu.baseline_cpu(name, sub),
        add=cpu.baseline_features(name, sub, "linux"),
        bits=ARCHS[name].bits,
    )
    # What is patched in the table of every CPU.
    apart = {"loongarch": {"32s"}, "powerpc": {"htm"}}.get(family, set())
    listed = {one for one in oracle.driver(triple).on if cpu.is_listed(family, one)}
    assert listed - apart == set(found) - apart


MARCHES = {
    "aarch64-linux-gnu": ["armv8-r", *(f"armv{n}-a" for n in ARM_VERSIONS)],
    "arm-none-eabihf": [
        *(
            "armv4",
            "armv4t",
            "armv5t",
            "armv5te",
            "armv5tej",
            "armv6",
            "armv6k",
            "armv6kz",
            "armv6t2",
            "armv6-m",
        ),
        *("armv7-a", "armv7ve", "armv7-r", "armv7-m", "armv7e-m", "armv8-r", "armv8-m.base", "armv8-m.main"),
        *("armv8.1-m.main", "iwmmxt", "xscale"),
        *(f"armv{n}-a" for n in ARM_VERSIONS),
    ],
}


@pytest.mark.oracle
@pytest.mark.parametrize("triple", MARCHES)
def test_the_architectures_of_arm_are_clangs(triple):
    """What -march names, by itself, and where it is the triple's: the features that clang lists."""
    answers = _oracle().ask_all(lambda name: _oracle().driver(triple, f"-march={name}"), MARCHES[triple])
    different = {}
    for name, answer in answers.items():
        found = parse(f"{triple} -march={name}", "llvm").features
        listed = {one for one in answer.on if cpu.is_listed(found.family, one)}
        assert not answer.error
        # From Armv9.4 on clang's driver leaves out, on 32 bits, the versions that LLVM defines as implied.
        apart = {one for one in listed ^ found.names if not re.fullmatch(r"v[89](\.\d)?a", one)}
        if apart:
            different[name] = sorted(apart)
    assert {} == different


ARM_SYSTEMS = (
    *("none", "linux", "freebsd", "netbsd", "openbsd", "haiku", "windows", "fuchsia", "hurd", "rtems"),
    *("apple-ios", "apple-macosx"),
)
ARM_ENVIRONMENTS = (
    "",
    "-eabi",
    "-eabihf",
    "-gnu",
    "-gnueabi",
    "-gnueabihf",
    "-gnueabihft64",
    "-musleabihf",
    "-msvc",
)


@pytest.mark.oracle
@pytest.mark.parametrize("arch", ["arm", "armv5te", "armv6", "armv7"])
def test_the_cpu_of_an_arm_triple_is_clangs(arch):
    """On every system, with every convention of calls: what clang takes where no CPU is stated."""
    systems = [os if "-" in os else f"unknown-{os}" for os in ARM_SYSTEMS]
    triples = [
        f"{arch}-{os}{env}" for os in systems for env in (ARM_ENVIRONMENTS if "apple" not in os else ("",))
    ]
    answers = _oracle().ask_all(_oracle().driver, triples)
    different = {}
    for text, answer in answers.items():
        triple = Triple.parse(text)
        found = cpu.baseline_cpu(triple.arch, triple.sub_arch, triple.os, triple.environment)
        if not answer.error and answer.cpu != found and not _is_shortened(triple):
            different[text] = (answer.cpu, found)
    assert {} == different


def _is_shortened(triple: Triple) -> bool:
    """Whether clang's driver has lost the J of Armv5TEJ, which LLVM's own parser takes there."""
    return triple.os == "netbsd" and "eabi" in triple.environment and not triple.sub_arch


@pytest.mark.oracle
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "family",
    [
        pytest.param(family, marks=() if family in {"systemz", "webassembly"} else [pytest.mark.slow])
        for family in FAMILIES
    ],
)
def test_the_generator_makes_the_tables_again(family):
    """The files that are checked in are those that the generator writes."""
    _oracle()
    pytest.importorskip("llvmlite", reason="llvmlite, which lists LLVM's features, is not installed")
    command = [sys.executable, str(TOOLS / "generate_tables.py"), "--check", family]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (0, "") == (done.returncode, done.stdout + done.stderr)
