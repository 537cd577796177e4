"""The commands on files and on several texts: `validate`, `check`, `convert`, `show`, `schema`, and the hook."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import targetspec
from targetspec import parse, registry, tags
from targetspec.cli import main
from targetspec.schemas import NAMES

X86 = "x86_64-linux-gnu"
GOOD = '{"kind": "cpu", "triple": "x86_64-unknown-linux-gnu"}'
BAD = '{"kind": "cpu", "num_cores": -4, "x": 1}'


def run(*arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run the command as a process of its own."""
    command = [sys.executable, "-m", "targetspec", *arguments]
    return subprocess.run(command, input=given, capture_output=True, timeout=60, check=False)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with a good file, a bad one, one of lines, and bytes that are no text."""
    (tmp_path / "good.json").write_text(GOOD, encoding="utf-8")
    (tmp_path / "bad.json").write_text(BAD, encoding="utf-8")
    (tmp_path / "many.jsonl").write_text(f"{GOOD}\n\n{BAD}\r\n{GOOD}", encoding="utf-8")
    (tmp_path / "bytes.json").write_bytes(b'{"kind": "\xff"}')
    return tmp_path


def test_good_files_are_passed_over_in_silence(capsys, files):
    """With --json each file has an empty list of problems."""
    good = str(files / "good.json")
    assert 0 == main(["validate", good])
    assert ("", "") == capsys.readouterr()
    assert 0 == main(["validate", "--json", good])
    assert [{"file": good, "line": None, "problems": []}] == json.loads(capsys.readouterr().out)


def test_each_fault_of_a_file_is_a_line_with_its_place(capsys, files):
    """File, line in a file of lines, JSON path; then one line on standard error, and status 2."""
    assert 2 == main(["validate", *(str(files / name) for name in ("good.json", "bad.json", "many.jsonl"))])
    out, err = capsys.readouterr()
    lines = [line.removeprefix(str(files)) for line in out.splitlines()]
    places = ["/bad.json: $.num_cores", "/bad.json: $.x", "/many.jsonl:3: $.num_cores", "/many.jsonl:3: $.x"]
    assert places == [": ".join(line.split(": ")[:2]) for line in lines]
    assert err.startswith("targetspec: 2 of 5 documents are no targets; the first: ")
    assert 1 == err.count("\n")
    assert 2 == main(["validate", "--json", str(files / "many.jsonl")])
    documents = json.loads(capsys.readouterr().out)
    assert [1, 3, 4] == [one["line"] for one in documents]
    assert ["$.num_cores", "$.x"] == [problem["path"] for problem in documents[1]["problems"]]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("none.json", "No such file"),
        ("", "directory"),
        ("bytes.json", "utf-8"),
        ("a\0b", "null"),
    ],
)
def test_what_cannot_be_read_is_a_fault_of_its_file(capsys, files, name, words):
    """A missing file, a folder, bytes that are no text: the other files are checked all the same."""
    assert 2 == main(["validate", str(files / name), str(files / "bad.json")])
    out, err = capsys.readouterr()
    assert words in out.splitlines()[0]
    assert "bad.json: $.num_cores" in out
    assert 1 == err.count("\n")


@pytest.mark.parametrize("content", ["", " \n"])
def test_an_empty_file_is_said_to_be_empty(capsys, tmp_path, content):
    """One of lines holds no target then, and that is fine."""
    (tmp_path / "empty.json").write_text(content, encoding="utf-8")
    (tmp_path / "empty.jsonl").write_text(content, encoding="utf-8")
    assert 2 == main(["validate", str(tmp_path / "empty.json")])
    assert ": $: is empty (" in capsys.readouterr().out
    assert 0 == main(["validate", str(tmp_path / "empty.jsonl")])


@pytest.mark.parametrize("command", ["validate", "check --lines"])
def test_a_kind_that_cannot_be_loaded_is_no_fault_of_the_file(monkeypatch, capsys, tmp_path, command):
    """Another package's entry point is at fault, and is named."""

    def failing() -> None:
        raise ImportError("no such module")

    point = SimpleNamespace(name="npu", value="npu_targets:Npu", load=failing)
    monkeypatch.setattr(registry, "_entry_points_on", lambda what, path: {"npu": point})
    file = tmp_path / "npu.json"
    file.write_text('{"kind": "npu"}', encoding="utf-8")
    assert 2 == main([*command.split(), str(file)])
    out, err = capsys.readouterr()
    assert "npu_targets:Npu cannot be loaded" in err
    assert "cannot be read" not in out + err
    assert "name a file" not in out + err


def test_standard_input_is_a_file_too():
    """One document, or one a line; bytes that are no text are a fault."""
    assert 0 == run("validate", "-", given=GOOD.encode()).returncode
    assert 0 == run("validate", "--lines", "-", given=f"{GOOD}\n{GOOD}\n".encode()).returncode
    done = run("validate", "-", given=b"\xff")
    assert 2 == done.returncode
    assert b"Traceback" not in done.stderr


def test_check_shows_each_fault_with_a_caret(capsys):
    """Under the part that is at fault; a good text is said to be fine."""
    assert 0 == main(["check", X86])
    assert (f"{X86}: fine\n", "") == capsys.readouterr()
    assert 2 == main(["check", X86, f"{X86} -mcpu=haswel -mattr=+avx9"])
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert (f"{X86}: fine", "  " + " " * 23 + "^" * 6, "  " + " " * 37 + "^" * 5) == (
        lines[0],
        lines[3],
        lines[6],
    )
    assert "targetspec: 1 of 2 texts are no targets; the first: unknown CPU 'haswel'" in err
    assert 1 == err.count("\n")
    assert 2 == main(["check", "--json", "cpu foo=3"])
    (document,) = json.loads(capsys.readouterr().out)
    assert ("cpu foo=3", [[4, 7]]) == (document["text"], [one["span"] for one in document["problems"]])


def test_convert_writes_another_dialect_and_names_what_does_not_fit(capsys):
    """What does not fit is an error, or with --lossy a remark; leftovers stay with their own dialect."""
    assert 0 == main(["convert", f"{X86} -mcpu=haswell -O3", "--from", "llvm", "--to", "targetspec"])
    out, err = capsys.readouterr()
    assert parse(f"{X86} -mcpu=haswell") == parse(out.strip())
    assert "-O3" in err
    assert 0 == main(["convert", f"{X86} -O3", "--from", "llvm", "--to", "llvm"])
    assert ("x86_64-unknown-linux-gnu -O3\n", "") == capsys.readouterr()
    text = f"cpu triple={X86} num_cores=3"
    assert 2 == main(["convert", text, "--to", "llvm"])
    out, err = capsys.readouterr()
    assert "" == out
    assert "num_cores" in err
    assert "--lossy" in err
    assert 0 == main(["convert", text, "--to", "llvm", "--lossy", "--json"])
    out, err = capsys.readouterr()
    assert ["num_cores"] == [one["field"] for one in json.loads(out)["left_out"]]
    assert "num_cores" in err


def test_show_tells_every_fact_with_its_unit(capsys):
    """What follows from others too, and hosts and members set in."""
    text = f"composite members=[cuda arch=sm_90a num_cores=132][cpu cpu=cortex-a53] host=[cpu triple={X86}]"
    assert 0 == main(["show", text])
    out = capsys.readouterr().out
    lines = [" ".join(line.split()) for line in out.splitlines()]
    target = parse(text)
    assert {f"digest {target.digest}", f"tuning_key {target.tuning_key}", "num_cores 132 core"} <= set(lines)
    assert ["members:", "members:", "host:"] == [line for line in lines if line.endswith(":")]
    assert "libc glibc" in lines
    assert all(len(line) <= 110 for line in out.splitlines())
    assert 0 == main(["show", "--json", text])
    assert target == targetspec.from_dict(json.loads(capsys.readouterr().out)["target"])


def test_schema_prints_one_and_writes_all(capsys, tmp_path):
    """To a folder that it makes, as the published files are."""
    assert 0 == main(["schema"])
    assert targetspec.json_schema() == json.loads(capsys.readouterr().out)
    assert 0 == main(["schema", "--write", str(tmp_path / "new")])
    assert sorted(f"{name}.schema.json" for name in NAMES) == sorted(
        p.name for p in (tmp_path / "new").iterdir()
    )
    written = (tmp_path / "new" / "target-string.schema.json").read_text("utf-8")
    assert targetspec.json_schema("target-string") == json.loads(written)
    capsys.readouterr()
    (tmp_path / "file").touch()
    assert 2 == main(["schema", "target", "--write", str(tmp_path / "file")])
    assert "" == capsys.readouterr().out


def test_tags_are_listed(capsys):
    """One a line, as `tag` takes them."""
    assert 0 == main(["list", "tags"])
    assert list(tags.tag_names()) == capsys.readouterr().out.splitlines()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device here that is always full")
def test_a_full_disk_is_one_line_and_status_2():
    """And no second complaint when the interpreter ends."""
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "targetspec", "list", "kinds"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, timeout=60, check=False)
    assert 2 == done.returncode
    assert 1 == done.stderr.count(b"\n")
    assert done.stderr.startswith(b"targetspec: ")


def test_arguments_that_are_no_text_are_shown_with_escapes():
    """A leftover of undecodable bytes does not stop the output."""
    done = run("parse", "--from", "llvm", f"{X86} -O\udcff")
    assert (0, b"") == (done.returncode, done.stderr)
    assert b"left over: -O\\udcff" in done.stdout


@pytest.mark.parametrize(
    ("name", "file", "good", "bad"),
    [
        ("targetspec-validate", "a/one.target.json", GOOD, BAD),
        ("targetspec-validate", "many.target.jsonl", f"{GOOD}\n{GOOD}\n", f"{GOOD}\n{BAD}\n"),
        ("targetspec-check", "ci.targets.txt", f"# all\n{X86}\n", f"{X86} -mcpu=haswel\n"),
    ],
)
def test_each_hook_runs_its_command_on_its_files(pytestconfig, tmp_path, name, file, good, bad):
    """The definitions are flat, so that they are read here without a YAML reader; an entry checks the files it is given."""
    text = (pytestconfig.rootpath / ".pre-commit-hooks.yaml").read_text("utf-8")
    hooks = [
        {key.strip(): value for key, _, value in (line.partition(": ") for line in entry.splitlines())}
        for entry in text.split("- id: ")[1:]
    ]
    (hook,) = [one for one in hooks if name in one]
    assert {"name", "description", "entry", "language", "files", "types"} == set(hook) - {name}
    assert ("python", "[file]") == (hook["language"], hook["types"])
    assert re.search(hook["files"], file)
    assert not re.search(hook["files"], f"{file}.bak")
    program, *arguments = shlex.split(hook["entry"])
    assert "targetspec" == program
    for content, status in ((good, 0), (bad, 2)):
        path = tmp_path / Path(file).name
        path.write_text(content, encoding="utf-8")
        assert status == run(*arguments, str(path)).returncode
