"""The command `tuner`: what it prints, its exit statuses, and one clear line for bad input."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

import small_kernels
import targetspec
from small_kernels import DOUBLE
from tuner.cli import main
from tuner.database import Database
from tuner.record import Record

TUNE = ["tune", "small_kernels:DOUBLE", "--problem", "n=64"]


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run the command here: exit status, output, errors."""
    status = main(arguments)
    return status, *capsys.readouterr()


def test_tuning_again_finds_the_record(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    """The first run tunes, the second one finds its record, --fresh tunes anew, best and records show it."""
    path = tmp_path / "data" / "records.sqlite"
    file = ["--database", str(path)]
    status, first, errors = run(capsys, *TUNE, *file, "--budget", "4")
    assert (0, "") == (status, errors)
    for label in ("target:", "first of all:", "FMA peak", "trials:", "4 ok", "separated:", str(path)):
        assert label in first
    status, second, _ = run(capsys, *TUNE, *file)
    assert (0, True) == (status, "found the record for this very target" in second)
    status, third, _ = run(capsys, *TUNE, *file, "--fresh", "--budget", "2")
    assert (0, True) == (status, "2 ok" in third)
    status, best, _ = run(capsys, "best", *TUNE[1:], *file, "--json")
    record = Record.from_dict(json.loads(best)["record"])
    assert (0, "double", targetspec.detect_host()) == (status, record.kernel, record.target)
    status, records, _ = run(capsys, "records", *file)
    assert 4 + 2 <= records.count(" trial ") == 6
    assert records.count(" baseline ") == 2


def test_a_fresh_run_that_is_complete_takes_the_place_of_an_interrupted_one(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    """Its record is found; where the interrupted one came later, that one goes on."""
    path = tmp_path / "records.sqlite"
    file = ["--database", str(path)]
    assert 0 == run(capsys, *TUNE, *file, "--budget", "2")[0]
    with Database(path) as database:
        (info,) = filter(None, map(database.run, database.runs()))
        task = (info.kernel, info.fingerprint, info.problem.text, info.tuning_key, info.toolchain)
        early, late = "2000-01-01T00:00:00.000000Z", "2100-01-01T00:00:00.000000Z"
        for started, found in ((early, True), (late, False)):
            with closing(sqlite3.connect(path)) as connection, connection:
                connection.execute("DELETE FROM runs WHERE ended IS NULL")
            database.begin_run(started, task, dict(info.settings))
            database.leave_run(started)
            with closing(sqlite3.connect(path)) as connection, connection:
                connection.execute("UPDATE runs SET started = name WHERE name = ?", (started,))
            _, text, errors = run(capsys, *TUNE, *file, "--budget", "2")
            assert found == ("found the record for this very target" in text)
            assert found != (f"going on with run {started}, interrupted after 0 trials" in errors)


def test_why_all_trials_failed_is_shown(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    """Where a lookup finds nothing because nothing succeeded."""
    task = ["small_kernels:ALL_FAULTY", "--problem", "n=64", "--database", str(tmp_path / "a.sqlite")]
    assert 1 == run(capsys, "tune", *task, "--budget", "2")[0]
    status, _, errors = run(capsys, "best", *task)
    assert 1 == status
    assert "it was tried, and no trial has succeeded: 1 error (" in errors
    assert "1 wrong (" in errors


def test_json_has_the_record_and_the_comparison(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    """What the texts say is there for programs too."""
    status, text, _ = run(capsys, *TUNE, "--database", str(tmp_path / "a.sqlite"), "--budget", "2", "--json")
    document = json.loads(text)
    assert (0, False) == (status, document["found"])
    assert {"ok": 2} == document["trials"]
    assert {"best", "first"} == set(document["comparison"]["seconds"])
    assert 0 < document["comparison"]["gflops"]["best"] < document["comparison"]["fma_peak_gflops"]
    assert Record.from_dict(document["record"]).config["step"] in DOUBLE.space.parameters["step"]


def test_kernels_lists_the_bundled_ones(capsys: pytest.CaptureFixture[str]):
    """The list has sgemm with its default problem."""
    status, text, _ = run(capsys, "kernels")
    assert (0, True) == (status, "sgemm: " in text and "m=512,n=512,k=512" in text)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["tune", "sgem"], "unknown kernel 'sgem'; did you mean sgemm?"),
        (["tune", "no.such.module:KERNEL"], "cannot load the kernel 'no.such.module:KERNEL'"),
        (["tune", "small_kernels:NOTHING"], "NOTHING"),
        (["tune", "small_kernels:PROBLEM"], "is no tuner.Kernel"),
        (["tune", "small_kernels:DOUBLE"], "state the problem"),
        (["tune", "kernel_that_fails:KERNEL"], "ZeroDivisionError: division by zero"),
        (["tune", "kernel_that_exits:KERNEL"], "SystemExit: 4"),
        (["tune", "..:KERNEL"], "cannot load the kernel '..:KERNEL'"),
        (
            ["tune", "small_kernels:WORK_FAILS", "--problem", "n=64"],
            "work raised RuntimeError: first line; second line",
        ),
        (
            ["tune", "small_kernels:NEEDS_FAIL", "--problem", "n=64", "--fresh"],
            "needs raised RuntimeError: first line",
        ),
        (
            ["tune", "small_kernels:NEEDS_NOTHING", "--problem", "n=64", "--fresh"],
            "needs gave None, not a mapping",
        ),
        (["tune", "small_kernels:UNSTABLE", "--problem", "n=64"], "emit gave two different texts"),
        (["tune", "sgemm", "--problem", "m=0,n=1,k=1"], "m is 0, not an int from 1"),
        (["tune", "sgemm", "--problem", "m=8,n=8"], "k is missing"),
        (["tune", "sgemm", "--problem", "m=8,n=8,k=8,z=1"], "'z' is unknown"),
        (["tune", "sgemm", "--problem", "512"], "must be name=value pairs"),
        (["tune", "sgemm", "--problem", "m=8,m=8"], "twice"),
        (["tune", "sgemm", "--target", "x86_64-linux-gnu -mcpu=haswel"], "haswell"),
        (["tune", "sgemm", "--target", "x86_64-linux-gnu -mattr=+avx22"], "avx2"),
        (["tune", "sgemm", "--target", "aarch64-linux-gnu -mcpu=cortex-a72"], "this machine cannot run"),
        (["tune", "sgemm", "--database", "/proc/no/such.sqlite"], "/proc/no"),
        pytest.param(
            ["prune", "--keep", "9" * 5000],
            "must be a whole number from 0 of at most 18 digits, got '999",
            id="prune --keep 999",
        ),
        (["tune", "sgemm", "--budget", "0"], "must be a whole number from 1, got '0'"),
        (["tune", "sgemm", "--budget", "many"], "'many'"),
        (["tune", "sgemm", "--start-method", "spwan"], "'spwan'"),
        (["tune", "sgemm", "--strategy", "no such"], "no such"),
        (["tune", "sgemm", "--time-limit", "nan"], "seconds above 0"),
        (["tune", "sgemm", "--no-such-option"], "--no-such-option"),
        (["best", "sgem"], "did you mean sgemm?"),
        (["best", "sgemm", "--problem", "m=a,n=1,k=1"], "m is 'a'"),
        (["retune"], "retune"),
        ([], "COMMAND"),
    ],
    ids=lambda value: " ".join(value[:4]) if isinstance(value, list) else "",
)
def test_bad_input_gets_one_clear_line(
    arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):  # fmt: skip
    """Exit status 2, one line on standard error that says what is wrong, nothing on standard output."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.chdir(Path(__file__).parents[1])
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "kernel_that_fails.py").write_text("1 / 0\n")
    (tmp_path / "kernel_that_exits.py").write_text("import sys\nsys.exit(4)\n")
    status, output, errors = run(capsys, *arguments)
    assert (2, "") == (status, output)
    assert 1 == errors.count("\n")
    assert errors.startswith("tuner: ")
    assert expected in errors


def test_the_emit_of_another_kernel_does_not_run_in_the_command(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
):
    """What it prints does not mix with the output, and its death is an outcome."""
    status = main(
        ["tune", "small_kernels:RUDE", *TUNE[2:], "--database", str(tmp_path / "a.sqlite"), "--json"]
    )
    document = json.loads(capfd.readouterr().out)
    assert (0, {"ok": 3, "exit": 1}) == (status, document["trials"])


def test_a_first_configuration_at_fault_does_not_hide_the_best(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    """Where the baseline fails, the best is told all the same, and why there is nothing beside it."""
    file = ["--database", str(tmp_path / "a.sqlite")]
    status, text, errors = run(capsys, "tune", "small_kernels:FIRST_FAULTY", *TUNE[2:], *file)
    assert (0, "") == (status, errors)
    assert "1 ok, 1 signal" in text
    assert "first of all:   signal in check: SIGSEGV\n" in text


def test_trials_that_all_fail_are_told_on_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    """Each kind of failure with its cause, whatever lines the cause has."""
    file = ["--database", str(tmp_path / "a.sqlite")]
    status, text, errors = run(capsys, "tune", "small_kernels:ALL_FAULTY", *TUNE[2:], *file)
    assert (1, "", 1) == (status, text, errors.count("\n"))
    assert "none of 2 trials succeeded" in errors
    assert "error in compile: RuntimeError: LLVM IR parsing error" in errors
    assert "wrong in check: y: 64 of 64" in errors


def test_a_module_beside_a_kernel_hides_none_that_workers_need(tmp_path: Path):
    """Files in the working directory named as modules of the standard library, or as ours, do no harm."""
    for name in ("random", "socket", "tuner", "numpy"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('shadowed')\n")
    (tmp_path / "mine.py").write_text(
        f"import sys\nsys.path.append({str(Path(small_kernels.__file__).parent)!r})\n"
        "from small_kernels import DOUBLE\n"
    )
    command = "import sys; from tuner.cli import main; sys.exit(main(sys.argv[1:]))"
    words = ["tune", "mine:DOUBLE", *TUNE[2:], "--budget", "1", "--database", str(tmp_path / "a.sqlite")]
    ran = subprocess.run(
        [sys.executable, "-P", "-c", command, *words],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (0, "") == (ran.returncode, ran.stderr)


def test_a_missing_record_is_no_bad_input(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    """`best` exits with 1 and says where it looked."""
    path = str(tmp_path / "none.sqlite")
    status, output, errors = run(capsys, "best", "sgemm", "--database", path)
    assert (1, "") == (status, output)
    assert errors.startswith("tuner: no record of sgemm m=512,n=512,k=512 for")
    assert path in errors


def test_a_file_that_is_no_database_is_told(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    """A file of something else is left alone and named."""
    path = tmp_path / "notes.txt"
    path.write_text("not a database, but longer than the header of one would be; " * 40)
    status, _, errors = run(capsys, "records", "--database", str(path))
    assert (2, 1) == (status, errors.count("\n"))
    assert str(path) in errors


def test_the_module_is_the_command():
    """`python -m tuner` exits as the command does."""
    ran = subprocess.run(
        [sys.executable, "-m", "tuner", "tune", "sgem"], capture_output=True, text=True, check=False
    )
    assert (2, "") == (ran.returncode, ran.stdout)
    assert "tuner: unknown kernel 'sgem'; did you mean sgemm? (or give module:attribute)\n" == ran.stderr


def test_a_store_that_fails_ends_the_command_or_not(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    """One line; with --keep-going the result comes all the same, and says that it is not kept."""
    path = tmp_path / "a.sqlite"
    path.write_text("no database at all")
    command = [*TUNE, "--database", str(path), "--budget", "2"]
    status, text, errors = run(capsys, *command)
    assert (2, "", 1) == (status, text, errors.count("\n"))
    status, text, errors = run(capsys, *command, "--keep-going")
    assert (0, 1) == (status, errors.count("\n"))
    assert f"tuner: {path}: is no database but some other file; give another path; the run goes on" in errors
    assert "record:         not kept" in text
    # One that opens, and fails at the first question.
    path.unlink()
    assert 0 == run(capsys, *command)[0]
    damaged = sqlite3.connect(path, isolation_level=None)
    damaged.execute("UPDATE records SET config = '['")
    damaged.close()
    assert (2, "") == run(capsys, *command)[:2]
    status, text, errors = run(capsys, *command, "--keep-going")
    assert (0, 1, True) == (status, errors.count("\n"), "record:         not kept" in text)
    assert "cannot read record" in errors
