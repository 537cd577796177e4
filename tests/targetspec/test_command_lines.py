"""Command lines of compilers, and names of files, as people paste them: read, or refused for the reason."""

from __future__ import annotations

import pytest

from targetspec import CpuTarget, CudaTarget, TargetSyntaxError, parse, parse_full
from targetspec.interop.compilers import nvcc_flags


@pytest.mark.parametrize(
    ("text", "dialect", "leftovers", "fields"),
    [
        (
            "clang --target=aarch64-linux-gnu -mcpu=cortex-a53 a.c -c",
            "llvm",
            ("clang", "a.c", "-c"),
            {"triple": "aarch64-linux-gnu", "cpu": "cortex-a53"},
        ),
        (
            "/usr/bin/clang++-17 -target x86_64-linux-gnu -march=haswell",
            "llvm",
            ("clang++-17",),
            {"triple": "x86_64-linux-gnu", "cpu": "haswell"},
        ),
        (
            "aarch64-linux-gnu-clang -mcpu=a64fx -msve-vector-bits=512",
            "llvm",
            ("clang",),
            {"triple": "aarch64-linux-gnu", "cpu": "a64fx", "vector_bits": 512},
        ),
        (
            "llc -mtriple=x86_64-linux-gnu -mcpu=znver2 x.ll",
            "llvm",
            ("llc", "x.ll"),
            {"triple": "x86_64-linux-gnu", "cpu": "znver2"},
        ),
        (
            "clang -march=haswell -mprefer-vector-width=256 -mno-branch-protection",
            "llvm",
            ("clang", "-mprefer-vector-width=256", "-mno-branch-protection"),
            {"cpu": "haswell"},
        ),
        (
            "zig cc -target aarch64-linux-musl -mcpu=cortex_a72 a.c",
            "zig",
            ("a.c",),
            {"triple": "aarch64-linux-musl", "cpu": "cortex-a72"},
        ),
        (
            "zig build-exe a.zig -target aarch64-linux-musl -mcpu=cortex_a72",
            "zig",
            ("a.zig",),
            {"triple": "aarch64-linux-musl", "cpu": "cortex-a72"},
        ),
        (
            "rustc a.rs --target x86_64-unknown-linux-gnu -C target-cpu=haswell -O",
            "rust",
            ("a.rs", "-O"),
            {"triple": "x86_64-unknown-linux-gnu", "cpu": "haswell"},
        ),
        (
            "numpy-2.1.0-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
            "wheel",
            ("numpy-2.1.0-cp311-cp311",),
            {"triple": "x86_64-unknown-linux-gnu", "libc_version": "2.17"},
        ),
    ],
)
def test_a_command_line_is_read_by_the_dialect_of_its_program(
    text: str, dialect: str, leftovers: tuple[str, ...], fields: dict[str, object]
) -> None:
    """With files as leftovers, and what is written again is read as the same."""
    found = parse_full(text)
    assert (dialect, leftovers) == (found.dialect, found.leftovers)
    assert CpuTarget(**fields) == found.target
    assert found == parse_full(found.format(), dialect)


@pytest.mark.parametrize(
    ("text", "arch", "form", "leftovers"),
    [
        ("nvcc -arch=sm_90", "sm_90", "fat", ()),
        ("nvcc -O3 -arch sm_90a a.cu", "sm_90a", "fat", ("-O3", "a.cu")),
        ("-arch=compute_80", "sm_80", "ptx", ()),
        ("--gpu-architecture=compute_80 --gpu-code=sm_80,compute_80", "sm_80", "fat", ()),
        ("-gencode arch=compute_80,code=sm_80", "sm_80", "cubin", ()),
        ("-gencode=arch=compute_100f,code=compute_100f", "sm_100f", "ptx", ()),
        ("-gencode arch=compute_80,code=[sm_80,compute_80]", "sm_80", "fat", ()),
        (
            "-gencode arch=compute_80,code=sm_80 -gencode arch=compute_80,code=compute_80",
            "sm_80",
            "fat",
            (),
        ),
        ("arch=compute_90a,code=lto_90a", "sm_90a", "lto", ()),
    ],
)
def test_options_of_nvcc_choose_an_architecture_and_a_form(
    text: str, arch: str, form: str, leftovers: tuple[str, ...]
) -> None:
    """As nvcc's manual has them, and as they are written for nvcc."""
    found = parse_full(text)
    assert (CudaTarget(arch=arch, code_form=form), leftovers) == (found.target, found.leftovers)
    assert found == parse_full(found.format(), "cuda")
    assert found.target == parse(" ".join(nvcc_flags(found.target)))


@pytest.mark.parametrize(
    ("text", "fault", "words"),
    [
        ("haswell", "haswell", "-mcpu=haswell"),
        ("x86-64-v3", "x86-64-v3", "-mcpu=x86-64-v3"),
        ("cortex_a72", "cortex_a72", "-mcpu=cortex-a72"),
        ("clang --target=haswell", "haswell", "-mcpu=haswell"),
        ("nvcc -arch=native", "native", "no one architecture"),
        ("nvcc -O3", "nvcc -O3", "-arch=sm_90"),
        ("-gencode arch=compute_80,code=sm_86", "sm_86", "one architecture"),
        (
            "-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90",
            "sm_90",
            "one architecture",
        ),
        ("-gencode arch=compute_80", "arch=compute_80", "code="),
        ("-arch=sm_999", "999", "CUDA architecture"),
        ("numpy-2.1.0-py3-none-any.whl", "any", "no platform"),
        (
            "a-1-cp311-abi3-macosx_11_0_arm64.macosx_10_9_x86_64.whl",
            "macosx_11_0_arm64.macosx_10_9_x86_64",
            "set",
        ),
        ("aarch64-linux-gnu -msve-vector-bits=256+", "256+", "number of bits"),
    ],
)
def test_what_is_no_target_is_refused_for_its_reason(text: str, fault: str, words: str) -> None:
    """The error points at the part at fault, and says what is allowed or what to do."""
    with pytest.raises(TargetSyntaxError) as caught:
        parse(text)
    start, end = caught.value.span
    assert fault == text[start:end]
    assert words in str(caught.value) + caught.value.hint


def test_options_of_the_front_end_are_those_of_the_machine() -> None:
    """`-Xclang -target-feature -Xclang -avx2` is not lost."""
    text = "clang -target x86_64-linux-gnu -Xclang -target-cpu -Xclang haswell -Xclang -target-feature -Xclang -avx2"
    found = parse(text)
    assert (
        CpuTarget(triple="x86_64-linux-gnu", cpu="haswell").features.with_changes((), ["avx2"])
        == found.features
    )
