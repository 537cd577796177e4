"""sgemm computes c += a @ b for any shape with every configuration, for every target, from the same text each time."""

from __future__ import annotations

import re
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from machines import AVX2, AVX512, BASELINE, HOST, NEON, no_stage, runs_here
from tuner.arguments import make_arguments
from tuner.build import compile_candidate, compile_plain, read_label
from tuner.checking import describe_errors, find_fault, prepare_trial
from tuner.errors import ProblemError
from tuner.kernels import sgemm
from tuner.kernels.sgemm import MAX_ELEMENTS, MAX_SIZE, emit, emit_plain, needs, reference, tolerance
from tuner.loading import load
from tuner.measure import measure_candidate
from tuner.record import Outcome

TARGETS = {"baseline": BASELINE, "avx2": AVX2, "avx512": AVX512, "neon": NEON, "host": HOST}
SHAPES = [
    (1, 1, 1),
    (1, 1, 1000),
    (1, 100, 1),
    (100, 1, 1),
    (2, 3, 1),
    (7, 13, 5),
    (13, 31, 513),
    (14, 32, 64),
    (15, 33, 257),
    (16, 16, 16),
    (64, 1, 64),
    (97, 89, 83),
    (130, 1040, 65),
    (1000, 17, 3),
]

configurations = st.integers(0, len(sgemm.space) - 1).map(sgemm.space.__getitem__)


def problem_of(shape: tuple[int, int, int]) -> dict[str, int]:
    return dict(zip("mnk", shape, strict=True))


def fault_of(config: Any, target: Any, problem: Any) -> str | None:
    code = compile_candidate(no_stage, sgemm, config, target, problem)
    trial = prepare_trial(sgemm, problem, 1)
    return find_fault(trial, load(code, sgemm.entry, trial.arguments))


def fits(config: Any, registers: int) -> bool:
    return needs(config, {})["vector_registers"] <= registers


@pytest.mark.parametrize("name", ["host", "baseline", "avx2"])
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: "x".join(map(str, shape)))
def test_every_shape_is_computed(shape: tuple[int, int, int], name: str) -> None:
    """Edges narrower than a tile, a vector or a block are right, for three widths of vectors, in four configurations."""
    target = TARGETS[name]
    if not runs_here(target):
        pytest.skip(f"this machine does not run {target.cpu}")
    problem = problem_of(shape)
    places = np.random.default_rng(sum(shape)).integers(0, len(sgemm.space), 4)
    for config in map(sgemm.space.__getitem__, places.tolist()):
        assert fault_of(config, target, problem) is None, config


@settings(max_examples=20)
@given(configurations, st.tuples(st.integers(1, 70), st.integers(1, 150), st.integers(1, 150)))
@example(sgemm.space[0], (69, 149, 139))
@example(sgemm.space[-1], (69, 149, 139))
def test_any_configuration_is_right_for_any_shape(config: Any, shape: tuple[int, int, int]) -> None:
    """No pair of a valid configuration and a small shape gives a wrong result, a stray write or a changed input."""
    assert fault_of(config, HOST, problem_of(shape)) is None


def test_large_blocks_are_crossed() -> None:
    """A shape that is larger than every block, and no multiple of any, goes through each loop more than once."""
    config = {"mr": 5, "nr": 3, "kc": 64, "nc": 192, "mc": 60, "unroll": 4, "passes": "none"}
    for packing in ({"pack_a": a, "pack_b": b} for a in (False, True) for b in (False, True)):
        valid = config | packing | ({} if packing["pack_a"] else {"mc": 5})
        assert valid in sgemm.space
        assert fault_of(valid, HOST, problem_of((133, 391, 203))) is None


def test_the_plain_version_is_right_and_no_fused_guess() -> None:
    """The baseline computes the same, is accumulated in order, and is compiled without reassociation."""
    for shape in SHAPES:
        problem = problem_of(shape)
        measured = measure_candidate(
            no_stage, sgemm, problem, HOST, compile_plain(no_stage, sgemm, HOST, problem)
        )
        assert measured.outcome == Outcome("ok")
    assert "fast" not in emit_plain(HOST, problem_of((2, 2, 2)))


def test_calling_twice_adds_twice() -> None:
    """The product is added to what c holds, as often as the function is called."""
    problem = problem_of((33, 65, 17))
    a, b, c = make_arguments(sgemm, problem, 5)
    expected = c + 2 * (a.astype(np.float64) @ b)
    code = compile_candidate(no_stage, sgemm, sgemm.space[7], HOST, problem)
    load(code, "sgemm", (a, b, c)).bind((a, b, c))(2)
    assert describe_errors(c, expected, 1e-4) is None


@pytest.mark.parametrize("name", ["baseline", "avx2", "avx512", "neon"])
def test_every_target_compiles(name: str) -> None:
    """An object for each target needs no function but malloc and free: no fma in software, nothing else from libm."""
    target = TARGETS[name]
    for place in range(0, len(sgemm.space), len(sgemm.space) // 5):
        config = sgemm.space[place]
        code = compile_candidate(no_stage, sgemm, config, target, problem_of((50, 70, 90)))
        assert read_label(code).triple == str(target.triple)
        assert not re.search(rb"fmaf|memcpy|memset|_Znwm", code)
    machine = {"neon": 183}.get(name, 62)
    assert struct.unpack_from("<H", code, 18) == (machine,)


@pytest.mark.parametrize(
    ("name", "vector"), [("baseline", "<4 x "), ("avx2", "<8 x "), ("avx512", "<16 x "), ("neon", "<4 x ")]
)
def test_vectors_are_as_wide_as_the_targets(name: str, vector: str) -> None:
    """The text multiplies vectors of the target's native width and no other."""
    text = emit(sgemm.space[0], TARGETS[name], problem_of((50, 70, 90)))
    assert set(re.findall(r"call (<\d+ x )float> @llvm.fmuladd", text)) == {vector}


def test_text_is_deterministic_and_compact() -> None:
    """The same arguments give the same text, and no configuration gives more than 2,000 lines for 512^3."""
    problem = problem_of((512, 512, 512))
    for place in range(0, len(sgemm.space), len(sgemm.space) // 40):
        config = sgemm.space[place]
        text = emit(config, AVX512, problem)
        assert text == emit(dict(reversed(config.items())), AVX512, dict(reversed(problem.items())))
        assert text.count("\n") < 2000


def test_the_space_has_room_for_both_register_files() -> None:
    """Thousands of configurations fit into 16 registers, more into 32, and all of them into 32."""
    configs = list(sgemm.space)
    assert sum(fits(config, 16) for config in configs) > 5000
    assert all(fits(config, 32) for config in configs)
    assert not all(fits(config, 16) for config in configs)


def test_every_configuration_keeps_its_tile_whole() -> None:
    """Blocks are multiples of the tile for vectors of any width, and panels stay within a MiB."""
    config: Any
    for config in sgemm.space:
        assert config["mc"] % config["mr"] == 0
        assert all(config["nc"] % (config["nr"] * lanes) == 0 for lanes in (1, 2, 4, 8, 16))
        assert 4 * config["kc"] * (config["mc"] + config["nc"]) <= 2**20


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        ({}, "m is missing; n is missing; k is missing"),
        ({"m": 1, "n": 1}, "k is missing"),
        ({"m": 1, "n": 1, "k": 1, "p": 1}, "'p' is unknown"),
        ({"m": 0, "n": 1, "k": 1}, "m is 0, not an int from 1 to"),
        ({"m": 1, "n": -5, "k": 1}, "n is -5"),
        ({"m": 1, "n": 1, "k": True}, "k is True"),
        ({"m": 1.0, "n": 1, "k": 1}, "m is 1.0"),
        ({"m": "512", "n": 1, "k": 1}, "m is '512'"),
        ({"m": None, "n": 1, "k": 1}, "m is None"),
        ({"m": MAX_SIZE + 1, "n": 1, "k": 1}, "m is 1048577"),
        ({"m": 10**30, "n": 1, "k": 1}, "m is 10{30}"),
        ({"m": 8192, "n": 8192, "k": 8192}, f"more than {MAX_ELEMENTS} elements"),
        ([512, 512, 512], "a mapping"),
        ("512", "a mapping"),
        (None, "a mapping"),
    ],
)
def test_a_bad_problem_is_one_clear_line(problem: Any, message: str) -> None:
    """Whatever is wrong with a problem is said at once, by each function that is given one."""
    for use in (
        lambda: make_arguments(sgemm, problem, 0),
        lambda: emit(sgemm.space[0], HOST, problem),
        lambda: sgemm.work_of(problem),
        lambda: emit_plain(HOST, problem),
    ):
        with pytest.raises(ProblemError, match=message) as caught:
            use()
        assert "\n" not in str(caught.value)


def test_the_largest_problems_are_taken() -> None:
    """The bounds themselves are allowed."""
    assert sgemm.work_of({"m": MAX_SIZE, "n": 1, "k": 1})
    assert sgemm.work_of({"m": 4096, "n": 4096, "k": 4096})


def test_work_counts_both_operations_and_all_traffic() -> None:
    """2 m n k operations; a and b read once, c read and written."""
    assert sgemm.work_of({"m": 2, "n": 3, "k": 5}) == (60, 4 * (10 + 15 + 12))


def test_arguments_are_float32_and_contiguous() -> None:
    """a is m x k, b is k x n, c is m x n, none of them zeros, each seed its own."""
    a, b, c = make_arguments(sgemm, problem_of((2, 3, 5)), 0)
    assert [array.shape for array in (a, b, c)] == [(2, 5), (5, 3), (2, 3)]
    assert {array.dtype.str for array in (a, b, c)} == {"<f4"}
    assert all(array.any() and np.abs(array).max() <= 1 for array in (a, b, c))


def test_the_tolerance_finds_one_product_left_out() -> None:
    """numpy's own float32 product is within it, and one without the last of 1,000 steps is not."""
    a, b, c = make_arguments(sgemm, problem_of((40, 40, 1000)), 3)
    expected = reference(a, b, c)[2]
    bound = tolerance(a, b, c)[2]
    assert describe_errors(c + a @ b, expected, bound) is None
    short = c + a[:, :-1] @ b[:-1]
    assert int(str(describe_errors(short, expected, bound)).split()[0]) > 1400


def test_the_peer_multiplies_into_c() -> None:
    """numpy gives the product alone, in place."""
    a, b, c = make_arguments(sgemm, problem_of((4, 5, 6)), 3)
    sgemm.peer("numpy")(a, b, c)
    assert describe_errors(c, a.astype(np.float64) @ b, 1e-5) is None
