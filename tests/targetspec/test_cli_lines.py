"""`targetspec check --lines`: files with a target's text in each line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from targetspec.cli import main
from targetspec.commands import files, lists

X86 = "x86_64-linux-gnu"


def write(folder: Path, content: bytes) -> str:
    """Write a file of texts, and return its name."""
    file = folder / "targets.txt"
    file.write_bytes(content)
    return str(file)


def places(out: str, file: str) -> list[str]:
    """Return the places that lines of output begin with, in the one file."""
    assert all(line.startswith(f"{file}:") for line in out.splitlines())
    return [line.removeprefix(f"{file}:").partition(": ")[0] for line in out.splitlines()]


def test_good_lines_are_passed_over_in_silence(capsys, tmp_path):
    """Blank lines and remarks say nothing; any dialect, either ending of a line, and none on the last."""
    file = write(tmp_path, f"# ours\n\n  # set in\n{X86}\r\nsm_90a\n\t-march=haswell\nlinux/arm64".encode())
    assert 0 == main(["check", "--lines", file])
    assert ("", "") == capsys.readouterr()
    assert 0 == main(["check", "--json", "--lines", file])
    documents = json.loads(capsys.readouterr().out)
    assert [4, 5, 6, 7] == [one["line"] for one in documents]
    assert [X86, "sm_90a", "\t-march=haswell", "linux/arm64"] == [one["text"] for one in documents]


def test_each_fault_is_a_line_with_file_line_and_column(capsys, tmp_path):
    """Columns are counted from 1 in characters of the line as it stands in the file."""
    lines = (
        f"  {X86} -mcpu=haswel -mattr=+avx9",
        X86,
        "é",
        '\t{"kind": "cpu", "x": 1}',
        f"{X86} # no remark",
        "cuda num_cores=3 arch=sm_9999",
    )
    file = write(tmp_path, "\n".join(lines).encode())
    assert 2 == main(["check", file, "--lines"])
    out, err = capsys.readouterr()
    assert ["1:26", "1:40", "3:1", "4:18", "5:18"] == places(out, file)[:5]
    assert places(out, file)[5].startswith("6:")
    assert f"{file}:1:26: unknown CPU 'haswel' for x86 (did you mean 'haswell'?)" == out.splitlines()[0]
    assert err.startswith(f"targetspec: 5 of 6 lines are no targets; the first: {file}:1:26: ")
    assert 1 == err.count("\n")
    assert 2 == main(["check", "--json", "--lines", file])
    document = json.loads(capsys.readouterr().out)[0]
    assert [[25, 31], [39, 44]] == [one["span"] for one in document["problems"]]


def test_the_dialect_holds_for_every_line(capsys, tmp_path):
    """What another dialect reads is a fault then; a dialect that is not there is no fault of a line."""
    file = write(tmp_path, f"{X86}\nsm_90a\n".encode())
    assert 2 == main(["check", "--lines", "--from", "llvm", file])
    assert ["2:1"] == places(capsys.readouterr().out, file)
    assert 2 == main(["check", "--lines", "--from", "lvm", file])
    out, err = capsys.readouterr()
    assert "" == out
    assert "unknown dialect 'lvm'" in err


@pytest.mark.parametrize(
    ("content", "place", "words"),
    [
        (f"{X86}\n{X86} \xff\n".encode("latin-1"), "2:18", "byte 0xff"),
        (f"é {X86}".encode() + b"\x80", "1:19", "byte 0x80"),
        (b"\xff\xfex\0\n\0", "1:1", "byte order mark"),
        (b"\xef\xbb\xbfsm_90a\n", "1:1", "byte order mark"),
        (b"sm_90a\nsm_\x0090a\n", "2:4", "NUL"),
        (b"\nsm_90\rsm_80", "2:", "sm_90"),
    ],
)
def test_odd_bytes_are_told_by_their_place(capsys, tmp_path, content, place, words):
    """No byte ends the command otherwise than with a place."""
    file = write(tmp_path, content)
    assert 2 == main(["check", "--lines", file])
    out, _ = capsys.readouterr()
    (line,) = out.splitlines()
    assert line.removeprefix(f"{file}:").startswith(place)
    assert words in line


@pytest.mark.parametrize(("most", "what"), [("MOST_BYTES", "line"), ("MANY_BYTES", "file")])
def test_too_long_files_and_lines_are_left_unread(capsys, monkeypatch, tmp_path, most, what):
    """The lines before are checked all the same."""
    monkeypatch.setattr(files if what == "line" else lists, most, 40)
    good = f"{X86}\n{X86} \n"
    file = write(tmp_path, f"{good if what == 'file' else ''}sm_\n{'x' * 100}\n{'y' * 100}\n".encode())
    assert 2 == main(["check", "--lines", file])
    out, _ = capsys.readouterr()
    assert 2 == len(out.splitlines()) or what == "file"
    assert f"the {what} is longer than 40 bytes" in out.splitlines()[-1]


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no device here that never ends")
def test_a_device_without_end_ends():
    """Nothing but the limit ends its first line."""
    command = [sys.executable, "-m", "targetspec", "check", "--lines", "/dev/zero"]
    done = subprocess.run(command, capture_output=True, timeout=60, check=False)
    assert (2, 1) == (done.returncode, done.stdout.count(b"longer than"))


def test_files_that_cannot_be_read_are_faults_beside_the_others(capsys, tmp_path):
    """A missing file, a folder, a name that is none."""
    file = write(tmp_path, b"sm_\n")
    assert 2 == main(["check", "--lines", str(tmp_path / "none"), str(tmp_path), "a\0b", file])
    out, err = capsys.readouterr()
    assert 3 == out.count("cannot be read")
    assert f"{file}:1:1: " in out.splitlines()[-1]
    assert "4 of 4" in err


def test_a_dash_is_standard_input():
    """Read once; lines that begin with a dash need nothing else."""
    command = [sys.executable, "-m", "targetspec", "check", "--lines", "-"]
    given = b"-march=haswell\n-march=haswel\n"
    done = subprocess.run(command, input=given, capture_output=True, timeout=60, check=False)
    assert 2 == done.returncode
    assert done.stdout.startswith(b"-:2:8: ")
    twice = subprocess.run([*command, "-"], input=given, capture_output=True, timeout=60, check=False)
    assert (2, b"") == (twice.returncode, twice.stdout)


def test_an_overlong_line_of_documents_is_one_fault(capsys, monkeypatch, tmp_path):
    """`validate` tells it once, and numbers no part of it as a line."""
    monkeypatch.setattr(files, "MOST_BYTES", 40)
    file = write(tmp_path, b'{"kind": "cpu"}\n' + b" " * 100 + b"x\n{}\n")
    assert 2 == main(["validate", "--lines", file])
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith(f"{file}:2: the line is longer than 40 bytes")
