"""What a dialect writes it reads again, as the same target; and it writes what it reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import SHARED
from mutations import corpus_lines
from targetspec import (
    CpuTarget,
    CudaTarget,
    NotRepresentableError,
    RocmTarget,
    Target,
    TargetSyntaxError,
    parse,
    parse_full,
    registry,
)
from targetspec.dialects import tvm, tvm_plain
from targetspec.dialects.words import Source
from targetspec.parsing import Parsed
from targetspec.testing import targets

FOLDER: Path | None = SHARED / "corpora" if SHARED.is_dir() else None
LINUX = "x86_64-unknown-linux-gnu"
HASWELL = CpuTarget(triple=LINUX, cpu="haswell")
WRITTEN: tuple[tuple[str, Target, str], ...] = (
    ("targetspec", HASWELL.evolve(num_cores=4), f"cpu triple={LINUX} cpu=haswell num_cores=4"),
    ("llvm", HASWELL, f"{LINUX} -mcpu=haswell"),
    ("llvm", HASWELL.evolve(tuning={"+prefer-256-bit"}), f"{LINUX} -mcpu=haswell -mattr=+prefer-256-bit"),
    ("gcc", HASWELL, f"{LINUX} -march=haswell"),
    (
        "gcc",
        CpuTarget(triple="aarch64-linux-gnu", cpu="cortex-a72"),
        "aarch64-unknown-linux-gnu -mcpu=cortex-a72",
    ),
    ("gnu", CpuTarget(triple="x86_64-pc-linux-gnu"), "x86_64-pc-linux-gnu"),
    ("gnu", CpuTarget(triple="aarch64-unknown-freebsd"), "aarch64-unknown-freebsd"),
    ("zig", HASWELL.evolve(libc_version="2.17"), "x86_64-linux-gnu.2.17 -mcpu=haswell"),
    ("rust", HASWELL, f"{LINUX} -C target-cpu=haswell"),
    ("rust", CpuTarget(triple="wasm32-wasip1", static=True), "wasm32-wasip1"),
    ("halide", CpuTarget(triple=LINUX), "x86-64-linux"),
    (
        "halide",
        CudaTarget(arch="sm_80", host=CpuTarget(triple=LINUX)),
        "x86-64-linux-cuda-cuda_capability_80",
    ),
    ("tvm", HASWELL, '{"kind": "llvm", "mtriple": "x86_64-unknown-linux-gnu", "mcpu": "haswell"}'),
    ("tvm", CudaTarget(arch="sm_90a"), '{"kind": "cuda", "arch": "sm_90a"}'),
    ("riscv", CpuTarget(triple="riscv64", features={"64bit", "i", "m"}), "rv64i2p1_m2p0_zmmul1p0"),
    ("oci", CpuTarget(triple="aarch64-unknown-linux"), "linux/arm64"),
    ("oci", CpuTarget(triple="x86_64-unknown-linux", cpu="x86-64-v3"), "linux/amd64/v3"),
    ("go", CpuTarget(triple="x86_64-unknown-linux"), "linux/amd64"),
    ("wheel", CpuTarget(triple=LINUX, libc_version="2.17"), "manylinux_2_17_x86_64"),
    ("wheel", CpuTarget(triple="aarch64-apple-macosx11.0"), "macosx_11_0_arm64"),
    ("cuda", CudaTarget(arch="sm_90a"), "sm_90a"),
    ("cuda", CudaTarget(arch="9.0+PTX"), "9.0+PTX"),
    ("amdgpu", RocmTarget(target_id="gfx90a:xnack+"), "gfx90a:xnack+"),
)
# Names of GNU config that are read, and whose target has none that is written.
ONE_WAY = {"thumbv7--windows-msvc19.11.0", "thumbv7em-none-unknown-eabi"}


@pytest.mark.parametrize(("dialect", "target", "text"), WRITTEN)
def test_what_each_dialect_says(dialect: str, target: Target, text: str) -> None:
    """A target that a dialect has words for is written in them, by the module and by the target alike."""
    assert text == registry.dialect(dialect).format(target) == target.format(dialect)
    assert target == parse(text, dialect)


def test_each_dialect_has_a_target_that_it_says() -> None:
    """None is left out of the list."""
    assert set(registry.DIALECTS) == {dialect for dialect, _, _ in WRITTEN}


def _text(target: Target, dialect: str, *, lossy: bool = False) -> str | None:
    """What the dialect's own writer says, past the check of the target's method; None where it refuses."""
    try:
        return str(registry.dialect(dialect).format(target, lossy=lossy))
    except NotRepresentableError:
        return None


@given(targets(), st.sampled_from(sorted(registry.DIALECTS)))
def test_any_target_is_read_back_or_refused(target: Target, dialect: str) -> None:
    """A dialect's own writer refuses, as our own form never does, or writes what reads as an equal target."""
    text = _text(target, dialect)
    assert text is not None or dialect != "targetspec"
    if text is not None:
        assert target == parse(text, dialect)
        assert text == target.format(dialect)


@given(targets(), st.sampled_from(sorted(registry.DIALECTS)))
def test_what_is_written_with_loss_can_be_read(target: Target, dialect: str) -> None:
    """With what does not fit left out: it reads, and then nothing more is lost."""
    text = _text(target, dialect, lossy=True)
    if text is not None:
        again = parse(text, dialect)
        assert again == parse(again.format(dialect), dialect)


def _read(dialect: str) -> list[Parsed]:
    found = []
    for line in corpus_lines(FOLDER):
        try:
            found.append(parse_full(line, dialect))
        except TargetSyntaxError:
            continue
    return found


@pytest.mark.parametrize("dialect", sorted(registry.DIALECTS))
def test_real_texts_are_written_with_all_they_hold(dialect: str) -> None:
    """Each text that a dialect reads it writes, and the text with its leftovers reads as the same, word for word."""
    for parsed in _read(dialect):
        # "host" is this machine, which has more facts than Halide has flags; a specification may say what no flag does.
        if parsed.text.startswith(("host", "{")) or parsed.text in ONE_WAY:
            continue
        assert parsed.target == parse(registry.dialect(dialect).format(parsed.target), dialect), parsed.text
        again = parse_full(parsed.format(), dialect)
        assert parsed.target == again.target, parsed.text
        assert parsed.format() == again.format(), parsed.text
        assert _words(parsed) == _words(again), parsed.text


def _words(parsed: Any) -> list[str]:
    """The leftovers; TVM's are attributes, whose form the document gives."""
    return [] if parsed.dialect == "tvm" else sorted(parsed.leftovers)


@pytest.mark.parametrize(
    ("dialect", "text", "leftovers"),
    [
        ("llvm", f"{LINUX} -mcpu=haswell -O3 -relocation-model=pic", ("-O3", "-relocation-model=pic")),
        ("gcc", f"{LINUX} -march=haswell -O2 -fPIC", ("-O2", "-fPIC")),
        ("rust", f"{LINUX} -C opt-level=3", ("-C", "opt-level=3")),
        ("zig", "x86_64-linux-gnu -OReleaseFast", ("-OReleaseFast",)),
        ("halide", "x86-64-linux-no_asserts", ("no_asserts",)),
        ("tvm", "cuda -arch=sm_80 -libs=cudnn -system-lib=1", ("-system-lib=1",)),
        ("go", "linux/amd64 GOAMD64=v3 CGO_ENABLED=0", ("CGO_ENABLED=0",)),
        ("oci", "linux(+gpu)/amd64", ("+gpu",)),
        ("amdgpu", "hip-amdgcn-amd-amdhsa--gfx90a", ("hip",)),
    ],
)
def test_leftovers_stay(dialect: str, text: str, leftovers: tuple[str, ...]) -> None:
    """What says nothing of the machine is kept, and written again."""
    parsed = parse_full(text, dialect)
    assert leftovers == parsed.leftovers
    again = parse_full(parsed.format(), dialect)
    assert (parsed.target, leftovers) == (again.target, again.leftovers)


def test_tvm_reads_plain_texts_by_word_as_it_reads_them_whole() -> None:
    """Its shorter way gives the same target and leftovers as its readers that know the places of words."""
    read = 0
    for line in corpus_lines(FOLDER):
        found = tvm_plain.read_plain(line)
        if found is not None:
            read += 1
            assert found == tvm.read_config(tvm._config(Source(line, "tvm"))), line
    assert read > 5
