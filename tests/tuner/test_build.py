"""Object code says what it holds, bad IR says what is wrong with it, and a fingerprint tells kernels apart."""

from __future__ import annotations

import itertools
import os
import re
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import attrs
import pytest
from llvmlite import ir

import machines
from machines import AVX2, DOUBLING, HOST, NEON, map_arguments, no_stage
from tuner.build import (
    compile_candidate,
    compile_plain,
    compile_text,
    emit_text,
    fingerprint,
    read_label,
    toolchain,
    tuned_text,
)
from tuner.errors import KernelError
from tuner.kernel import Kernel
from tuner.kernels import sgemm
from tuner.space import Space

SPACE = Space({"unroll": [1, 2, 4]})
EM_AARCH64 = 183


def make(emit: Any, **more: Any) -> Kernel:
    return Kernel("k", more.pop("space", SPACE), emit, entry="f", arguments=map_arguments, **more)


def commented(config: Any, target: Any, problem: Any) -> str:
    del target
    return f"; {config} {problem}\n{DOUBLING}"


def test_an_object_tells_its_triple_and_type() -> None:
    """What compile_candidate gives can be read before it is linked."""
    stages: list[str] = []
    code = compile_candidate(stages.append, make(commented), SPACE[0], HOST, {})
    assert stages == ["emit", "compile"]
    assert (str(HOST.triple), "void (ptr, i64, ptr)", ()) == read_label(code)
    calling = f"declare void @llvm.trap()\ndeclare i32 @puts(ptr)\n{DOUBLING}"
    assert read_label(compile_text(calling, HOST, entry="f", passes="none")).undefined == ("puts",)


def test_inline_assembly_compiles() -> None:
    """LLVM has an assembly parser for this machine, in a process that does nothing but compile."""
    command = (
        "from machines import HOST; from tuner.build import compile_text\n"
        'text = \'define void @f() { call void asm sideeffect "nop", ""() ret void }\'\n'
        "print(len(compile_text(text, HOST, entry='f', passes='O3')) > 100)"
    )
    path = os.pathsep.join((str(Path(machines.__file__).parent), os.environ.get("PYTHONPATH", "")))
    done = subprocess.run(
        [sys.executable, "-c", command],
        check=False,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert (0, "True\n") == (done.returncode, done.stdout), done.stderr


@pytest.mark.parametrize("passes", ["none", "O1", "O2", "O3"])
def test_every_pass_pipeline_compiles(passes: str) -> None:
    """Each named pipeline gives an object that defines the entry."""
    assert read_label(compile_text(DOUBLING, HOST, entry="f", passes=passes))[1] == "void (ptr, i64, ptr)"


def test_o3_vectorises_where_none_does_not() -> None:
    """The pipeline is the one asked for: a loop that may be vectorised is longer code at O3."""
    # Without unwinding tables, which the pipeline finds out to be unneeded and which would count.
    text = DOUBLING.replace("(ptr %x, i64 %n, ptr %y)", "(ptr noalias %x, i64 %n, ptr noalias %y) nounwind")
    plain, optimised = (compile_text(text, HOST, entry="f", passes=passes) for passes in ("none", "O3"))
    assert len(plain) + 100 < len(optimised)


def test_another_architecture_compiles() -> None:
    """An ELF object for AArch64 says so in its header."""
    code = compile_text(DOUBLING, NEON, entry="f", passes="O3")
    assert struct.unpack_from("<H", code, 18) == (EM_AARCH64,)
    assert read_label(code)[0] == "aarch64-unknown-linux-gnu"


def test_a_cpu_to_schedule_for_reaches_every_function() -> None:
    """The target's `tune` changes the order of instructions and nothing else that the object tells."""
    text = "define void @g(ptr byval(i32) %x) nounwind memory(argmem: read) { ret void }\n" + DOUBLING
    assert tuned_text(text, "znver4").count(') "tune-cpu"="znver4"') == 2
    product = sgemm.emit(sgemm.space[0], AVX2, {"m": 64, "n": 64, "k": 64})
    objects = {
        compile_text(product, target, entry="sgemm", passes="none")
        for target in (AVX2, AVX2.evolve(tune="atom"), AVX2.evolve(tune="znver4"))
    }
    assert len(objects) == 3


def test_the_target_wins_over_what_a_module_says() -> None:
    """A triple and a data layout written into the IR make no difference to the object."""
    foreign = f'target triple = "armv7-unknown-linux-gnueabihf"\ntarget datalayout = "e-p:32:32"\n{DOUBLING}'
    assert compile_text(foreign, HOST, entry="f", passes="none") == compile_text(
        DOUBLING, HOST, entry="f", passes="none"
    )


def test_an_llvmlite_module_is_as_good_as_text() -> None:
    """emit may build its module with llvmlite.ir."""

    def emit(*_: Any) -> ir.Module:
        module = ir.Module()
        kind = ir.FunctionType(ir.VoidType(), [ir.PointerType(), ir.IntType(64), ir.PointerType()])
        ir.IRBuilder(ir.Function(module, kind, "f").append_basic_block()).ret_void()
        return module

    code = compile_candidate(no_stage, make(emit), SPACE[0], HOST, {})
    assert read_label(code)[1] == "void (ptr, i64, ptr)"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("define void @g() { ret void }", "no function 'f'; it defines g"),
        ("", "it defines none"),
        ("declare void @f()", "declares 'f' but does not define it"),
        ("define internal void @f() { ret void }", "internal linkage"),
        ("define fastcc void @f() { ret void }", "calling convention"),
        ("define i32 @f() { ret i32 0 }", "must return void"),
        ("define void @f() { ret void }\0 garbage", "zero character"),
    ],
)
def test_an_entry_that_cannot_be_called_is_refused(text: str, message: str) -> None:
    """Each way for the entry to be missing or uncallable has a message of its own."""
    with pytest.raises(KernelError, match=re.escape(message)):
        compile_text(text, HOST, entry="f", passes="none")


def test_bad_ir_gives_llvms_message() -> None:
    """Text that does not parse, and a module that is not well-formed, raise with what LLVM says."""
    with pytest.raises(RuntimeError, match="expected top-level entity"):
        compile_text("this is no IR", HOST, entry="f", passes="none")
    undominated = "define void @f(ptr %p) {\n  store i32 %x, ptr %p\n  %x = add i32 1, 1\n  ret void\n}"
    with pytest.raises(RuntimeError, match="does not dominate"):
        compile_text(undominated, HOST, entry="f", passes="none")


@pytest.mark.parametrize("emitted", [None, 3, b"define", ["text"]])
def test_emit_gives_text_or_a_module(emitted: Any) -> None:
    """Anything else is the kernel's fault and named by its type."""
    with pytest.raises(KernelError, match=type(emitted).__name__):
        emit_text(make(lambda *_: emitted), SPACE[0], HOST, {})


def test_emit_cannot_change_the_configuration() -> None:
    """The dict that emit is given is its own."""
    config = SPACE[0]

    def emit(config: Any, *_: Any) -> str:
        config.clear()
        return DOUBLING

    emit_text(make(emit), config, HOST, {})
    assert SPACE[0] == config


def test_the_baseline_is_plain_or_the_first_configuration() -> None:
    """Without a plain version the space's first configuration stands in."""
    stages: list[str] = []
    plain = make(commented, plain=lambda target, problem: DOUBLING)
    assert compile_text(DOUBLING, HOST, entry="f", passes="O3") == compile_plain(
        stages.append, plain, HOST, {}
    )
    assert stages == ["emit", "compile"]
    first = compile_candidate(no_stage, make(commented), SPACE[0], HOST, {})
    assert first == compile_plain(no_stage, make(commented), HOST, {})


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"tuner object 1: x86_64"])
def test_other_bytes_have_no_label(data: bytes) -> None:
    """Bytes that are no object of ours are refused."""
    with pytest.raises(KernelError, match="no object code"):
        read_label(data)


def test_the_toolchain_names_llvmlite_and_llvm() -> None:
    """The text has both versions."""
    assert re.fullmatch(r"llvmlite \d+\.\d+\.\d+\S*, LLVM \d+\.\d+\.\d+", toolchain())


def test_fingerprints_agree_on_equal_kernels_only() -> None:
    """The name, the entry, the IR and the problem each tell kernels apart; what was not changed does not."""
    kernel = make(commented)
    others = [
        make(lambda *_: DOUBLING + "; edited"),
        Kernel("other", SPACE, commented, entry="f", arguments=map_arguments),
        Kernel("k", SPACE, commented, entry="g", arguments=map_arguments),
        make(commented, space=Space({"unroll": [1, 2, 8]})),
    ]
    prints = [fingerprint(known, HOST, {"n": 1}) for known in (kernel, *others)] + [
        fingerprint(kernel, HOST, {})
    ]
    assert fingerprint(make(commented), HOST, {"n": 1}) == prints[0]
    assert len(prints) == len(set(prints))


def test_an_edit_in_the_middle_of_a_large_space_is_seen() -> None:
    """A fingerprint looks at configurations all over the space, with every parity of a small last parameter."""
    space = Space({"a": list(range(100)), "b": [0, 1]})

    def emit_with(value: int) -> Kernel:
        return make(
            lambda config, *_: f"; {value if config['b'] and 20 < config['a'] < 80 else 0}", space=space
        )

    assert fingerprint(emit_with(1), HOST, {}) != fingerprint(emit_with(2), HOST, {})


def test_a_kernel_whose_ir_changes_is_found_out() -> None:
    """Two emissions that differ name the kernel, the configuration and the line."""
    numbers = itertools.count()
    kernel = make(lambda *_: f"{DOUBLING}; {next(numbers)}")
    with pytest.raises(KernelError, match=r"two different texts.*'unroll': 1"):
        fingerprint(kernel, HOST, {})


def test_a_configuration_that_cannot_be_emitted_has_a_place_in_the_fingerprint() -> None:
    """An emit that raises for some configurations does so each time, and the kernel still has an identity."""

    def emit(config: Any, *_: Any) -> str:
        if config["unroll"] == 2:
            raise ValueError(object())
        return DOUBLING

    kernel = make(emit)
    assert fingerprint(kernel, HOST, {}) == fingerprint(kernel, HOST, {})


def test_a_fingerprint_is_the_same_in_every_process() -> None:
    """Other hash seeds change nothing about the bundled kernel's identity."""
    program = (
        "import machines; from tuner.build import fingerprint; from tuner.kernels import sgemm\n"
        "print(fingerprint(sgemm, machines.AVX512, {'m': 100, 'n': 100, 'k': 100}))"
    )
    prints = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(machines.__file__).parent)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(prints) == 1


def test_other_passes_make_another_fingerprint() -> None:
    """A kernel that is compiled with other passes is another kernel to the records."""
    problem = {"m": 8, "n": 8, "k": 8}
    assert fingerprint(sgemm, HOST, problem) != fingerprint(attrs.evolve(sgemm, passes="O1"), HOST, problem)
