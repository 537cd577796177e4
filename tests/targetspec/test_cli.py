"""The command `targetspec`."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from types import SimpleNamespace

import pytest

from targetspec import CpuTarget, cpu, detect_host, from_dict, registry
from targetspec.cli import main

X86 = "x86_64-unknown-linux-gnu"


def test_host_prints_this_machine(capsys):
    """As text, and as a document that reads back."""
    assert 0 == main(["host"])
    assert f"{detect_host()}\n" == capsys.readouterr().out
    assert 0 == main(["host", "--json"])
    assert detect_host() == from_dict(json.loads(capsys.readouterr().out))


def test_parse_prints_our_own_form_and_what_is_left_over(capsys):
    """Any dialect goes in; leftovers are shown, never dropped."""
    assert 0 == main(["parse", f"{X86} -mcpu=haswell -O3"])
    assert f"cpu triple={X86} cpu=haswell\nleft over: -O3\n" == capsys.readouterr().out
    assert 0 == main(["parse", "--json", "--from", "llvm", f"{X86} -mcpu=haswell -O3"])
    document = json.loads(capsys.readouterr().out)
    assert ("llvm", ["-O3"]) == (document["dialect"], document["leftovers"])
    assert CpuTarget(triple=X86, cpu="haswell") == from_dict(document["target"])


def test_a_dash_reads_standard_input(capsys, monkeypatch):
    """For each command that takes a text."""
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{X86}\n"))
    assert 0 == main(["parse", "-"])
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"{X86}\n"))
    assert 0 == main(["compare", "-", X86])
    assert f"cpu triple={X86}" == capsys.readouterr().out.splitlines()[0]


@pytest.mark.parametrize(
    ("arguments", "status", "answer"),
    [
        ([X86, X86], 0, "yes"),
        ([f"{X86} -mcpu=haswell", X86], 1, "no"),
        ([X86, "-mcpu=haswell"], 3, "unknown"),
        (["--purpose", "schedule", X86, X86], 0, "yes"),
        (["--bridge", "compat32", "i686-linux-gnu", "x86_64-linux-gnu"], 0, "yes"),
        (["i686-linux-gnu", "x86_64-linux-gnu"], 3, "unknown"),
        (["aarch64-linux-gnu", X86], 1, "no"),
    ],
)
def test_compare_answers_by_its_exit_status(capsys, arguments, status, answer):
    """0 yes, 1 no, 3 unknown; the verdict with its reasons on standard output, or as JSON."""
    command = ["compare", *arguments[:-2], "--", *arguments[-2:]]
    assert status == main(command)
    assert capsys.readouterr().out.startswith(answer)
    assert status == main(["compare", "--json", *command[1:]])
    document = json.loads(capsys.readouterr().out)
    assert answer == document["answer"]
    assert (status != 0) <= bool(document["reasons"])


def test_a_text_may_begin_with_a_dash(capsys):
    """Of one word, too, wherever it stands among the options; as A and B."""
    assert 0 == main(["parse", "--json", "-march=haswell", "--from", "gcc"])
    assert "haswell" == json.loads(capsys.readouterr().out)["target"]["cpu"]
    assert 0 == main(["parse", f"--target={X86}"])
    assert f"cpu triple={X86}\n" == capsys.readouterr().out
    for text in (f"-triple {X86}", f"--target {X86}", f"--target={X86} -O2"):
        main(["parse", text])
        assert "--help" not in capsys.readouterr().err
    assert 0 == main(["compare", "-mcpu=nehalem", "--purpose=code", "-mcpu=haswell"])
    assert 1 == main(["compare", "-mcpu=haswell", "--", "-mcpu=nehalem"])
    capsys.readouterr()
    assert 2 == main(["check", "--json", X86, "-march=haswel"])
    documents = json.loads(capsys.readouterr().out)
    assert [X86, "-march=haswel"] == [one["text"] for one in documents]
    assert [[7, 13]] == [one["span"] for one in documents[1]["problems"]]


OPTIONS = (
    "mcpu march mtune mabi mattr mfpu mfloat-abi m32 m64 mx32 marm mthumb msse4.2 mavx2 mno-avx C arch target"
)


@pytest.mark.parametrize("command", ["parse", "show", "check", "convert --to llvm"])
def test_options_of_compilers_are_none_of_ours(capsys, command):
    """Whether they are targets or not, they are read as texts."""
    name, *more = command.split()
    for option in (
        *(f"-{word}" for word in OPTIONS.split()),
        "--target=",
        "--offload-arch=",
        "--cuda-gpu-arch=",
    ):
        main([name, f"{option}x", *more])
        assert "--help" not in capsys.readouterr().err


def test_lists(capsys):
    """Each list has its names, by architecture where there are tables."""
    expected = {
        ("kinds",): list(registry.kind_names()),
        ("dialects",): list(registry.dialect_names()),
        ("cpus", "--arch", "x86"): list(cpu.cpu_names("x86")),
        ("features", "--arch", "i686"): list(cpu.feature_names("x86")),
    }
    for arguments, names in expected.items():
        assert 0 == main(["list", *arguments, "--json"])
        assert names == json.loads(capsys.readouterr().out)
        assert 0 == main(["list", *arguments])
        assert names == capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "COMMAND"),
        (["hots"], "host"),
        (["host", "--nothing"], "--nothing"),
        (["host", "--jsno"], "did you mean '--json'"),
        (["parse", "--jsno", X86], "did you mean '--json'"),
        (["parse", "-json", X86], "did you mean '--json'"),
        (["parse", "--form=llvm", X86], "did you mean '--from'"),
        (["parse", X86, "--nothing"], "unknown option '--nothing'"),
        (["parse", X86, "-m64"], "arguments: -m64"),
        (["parse", "--from", "-m64", X86], "--from: expected one argument"),
        (["list", "-m64"], "unknown option '-m64'"),
        (["parse", f"\0{X86}"], "NUL"),
        (["parse", "--", f"\0{X86}"], "NUL"),
        (["parse", "-march=haswel"], "at column 8: 'haswel'"),
        (["parse", "--", "-march=haswel"], "at column 8: 'haswel'"),
        (["parse"], "TEXT"),
        (["parse", ""], "empty"),
        (["parse", "x86_64-lnux"], "column 8: 'lnux'"),
        (["parse", f"{X86} -mcpu=haswel"], "did you mean 'haswell'"),
        (["parse", f"{X86} -mattr=+avx9"], "did you mean 'avx"),
        (["parse", "arm\x1b[1m-\n"], "letters"),
        (["parse", "--from", "lvm", X86], "llvm"),
        (["compare", X86], "B"),
        (["compare", "-", "-"], "standard input"),
        (["compare", "--purpose", "fun", X86, X86], "fun"),
        (["compare", "--bridge", "qemu", X86, X86], "qemu"),
        (["list", "gpus"], "cpus"),
        (["list", "kinds", "--arch", "x86"], "--arch"),
        (["list", "cpus", "--arch", "lanai"], "no table"),
        (["list", "cpus", "--arch", "x87"], "x87"),
    ],
)
def test_bad_input_is_one_line_and_status_2(capsys, arguments, words):
    """Whatever is wrong: one clear line on standard error, nothing on standard output, no traceback."""
    assert 2 == main(arguments)
    captured = capsys.readouterr()
    assert "" == captured.out
    assert 1 == len(captured.err.splitlines())
    assert captured.err.startswith("targetspec: ")
    assert captured.err[:-1].isprintable()
    assert words in captured.err


def test_help_is_no_error(capsys):
    """--help prints the commands and ends well."""
    with pytest.raises(SystemExit) as caught:
        main(["--help"])
    assert 0 == caught.value.code
    assert "compare" in capsys.readouterr().out


def test_a_reader_that_goes_away_is_no_error():
    """`targetspec list features | head` ends without a word on standard error."""
    command = [sys.executable, "-m", "targetspec", "list", "features"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert b"" == process.stderr.read()
    assert 0 == process.returncode


def test_bytes_that_are_no_text_on_standard_input():
    """They are bad input like any other."""
    command = [sys.executable, "-X", "utf8", "-m", "targetspec", "parse", "-"]
    done = subprocess.run(command, input=b"\xff\xfe", capture_output=True, timeout=60, check=False)
    assert (2, b"") == (done.returncode, done.stdout)
    assert done.stderr.startswith(b"targetspec: ")
    assert 1 == len(done.stderr.splitlines())


@pytest.mark.parametrize(
    ("words", "closed", "expected"),
    [
        ("list kinds", "stdout", "output is closed"),
        ("parse -", "stdin", "input is closed"),
        ("parse foo", "stderr", ""),
    ],
)
def test_closed_streams_are_bad_input(words: str, closed: str, expected: str) -> None:
    """A stream that the caller closed gives status 2 and one line, where there is a place for it."""
    number = {"stdin": 0, "stdout": 1, "stderr": 2}[closed]
    script = f"import os, sys; os.close({number}); os.execv(sys.executable, [sys.executable, '-m', 'targetspec', *sys.argv[1:]])"
    done = subprocess.run(
        [sys.executable, "-c", script, *words.split()],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (2, "") == (done.returncode, done.stdout)
    assert expected in done.stderr
    assert done.stderr.count("\n") <= 1


def test_an_interrupt_is_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C gives the shell's status for it."""

    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sys.stdin", SimpleNamespace(read=interrupted))
    assert 130 == main(["parse", "-"])


def test_an_unknown_bridge_is_told_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    """The message lists what is allowed."""
    assert 2 == main(["compare", X86, X86, "--bridge", "bochs"])
    assert "compat32" in capsys.readouterr().err
