"""The commands around the records' file: what they print and keep, and that looking makes nothing."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tuner
from record_examples import A72, EXAMPLE, FINGERPRINT, TOOLCHAIN, ZEN3, numbered
from tuner.cli import main
from tuner.database import Database
from tuner.errors import DatabaseError
from tuner.record import Outcome, Record
from tuner.session import Result
from tuner.values import Values

HERE = Path(__file__).parent
BEST = [
    "best",
    "sgemm",
    "--problem",
    "m=512,n=512,k=512",
    "--target",
    "x86_64-unknown-linux-gnu -mcpu=znver4",
]


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Run the command here: exit status, output, errors."""
    status = main([str(argument) for argument in arguments])
    return status, *capsys.readouterr()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with a few records."""
    place = tmp_path / "tuner.sqlite"
    with Database(place) as db:
        db.add_all(
            [numbered(0), numbered(1, cost=None, outcome=Outcome("signal", "run", "SIGSEGV")), numbered(2)]
        )
        task = ("sgemm", FINGERPRINT, EXAMPLE.problem.text, ZEN3.tuning_key, TOOLCHAIN)
        db.begin_run("20260131-1", task, {"strategy": "default", "seed": 0})
        db.leave_run("20260131-1")
    return place


@pytest.mark.parametrize(
    "command",
    [["records"], ["records", "--json"], ["report"], ["report", "--json"], ["runs"], ["vacuum"], ["check"], ["prune", "--keep", "1"], ["export", "-"], BEST,
     [*BEST, "--deploy"]],
    ids=" ".join,
)  # fmt: skip
@pytest.mark.parametrize("default", [True, False])
def test_looking_makes_no_file(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: list[str],
    default: bool,
):
    """Where there is none: exit status 1, its path, and nothing made, neither file nor folder."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    file = [] if default else ["--database", tmp_path / "none" / "a.sqlite"]
    status, output, errors = run(capsys, *command, *file)
    assert (1, "") == (status, output)
    assert "there is no file" in errors
    assert str(tmp_path) in errors
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "command",
    [["records"], ["report"], ["runs"], ["vacuum"], ["check"], ["prune", "--keep", "1"], ["prune", "--outcome", "wrong"], ["export", "-"], BEST],
    ids=" ".join,
)  # fmt: skip
def test_an_empty_file_stays_empty(capsys: pytest.CaptureFixture[str], tmp_path: Path, command: list[str]):
    """No command but those that add records makes a store of it: status 2, and one line that says so."""
    file = tmp_path / "empty"
    file.touch()
    status, output, errors = run(capsys, *command, "--database", file)
    assert (2, "", 1) == (status, output, errors.count("\n"))
    assert f"tuner: {file}: holds no records yet" in errors
    assert ([file], b"") == (list(tmp_path.iterdir()), file.read_bytes())


@pytest.mark.parametrize("command", ["import", "merge"])
def test_nothing_is_made_for_files_that_are_not_there(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str
):
    """No store, and no folder: status 2, and a line for each."""
    missing = [tmp_path / "none", tmp_path / ("n" * 300)]
    status, output, errors = run(capsys, command, *missing, "--database", tmp_path / "new" / "a.sqlite")
    assert (2, "", 2) == (status, output, errors.count("\n"))
    assert f"tuner: {missing[0]}: cannot be read: there is no such file\n" in errors
    assert f"tuner: {missing[1]}: cannot be read: File name too long\n" in errors
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize("command", ["import", "merge"])
def test_one_file_that_cannot_be_read_keeps_no_other_from_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, path: Path, command: str
):
    """Whichever it is of several, and whatever is wrong with it: the status is 2, and a line tells."""
    good = path
    if command == "import":
        good = tmp_path / "good.jsonl"
        assert 3 == tuner.export_records(Database(path, read_only=True).records(), good)
    bad = tmp_path / "bad"
    bad.write_bytes(b"SQLite format 3\0" if command == "import" else b"something else")
    for number, files in enumerate([(tmp_path / "none", good), (bad, good), (good, bad), (tmp_path, good)]):
        place = tmp_path / f"{number}.sqlite"
        status, output, errors = run(capsys, command, *files, "--database", place)
        assert (2, 1, 1) == (status, output.count("3 new records"), errors.count("\n"))
        with Database(place, create=False) as database:
            assert 3 == len(list(database.records()))


@pytest.mark.parametrize("command", ["import", "merge"])
def test_what_is_wrong_with_the_store_is_told_once(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    path: Path,
    command: str,
):
    """It is no fault of the files to read, so the first of them ends it."""

    def full(database: Database, _: object) -> int:
        raise DatabaseError(database.path, "has no room left")

    (tmp_path / "lines").write_text(EXAMPLE.dumps())
    read = [path if command == "merge" else tmp_path / "lines"] * 2
    monkeypatch.setattr(Database, "add_all", full)
    assert (2, "", f"tuner: {tmp_path / 'full'}: has no room left\n") == run(
        capsys, command, *read, "--database", tmp_path / "full"
    )


def test_records_as_json_are_lines_that_import_reads(
    capsys: pytest.CaptureFixture[str], path: Path, tmp_path: Path
):
    """Each line is a record, whole; filters choose."""
    status, output, _ = run(capsys, "records", "--json", "--database", path)
    with Database(path) as db:
        assert (0, list(db.records())) == (status, [Record.loads(line) for line in output.splitlines()])
    (tmp_path / "lines").write_text(output)
    status, output, _ = run(capsys, "import", tmp_path / "lines", "--database", tmp_path / "b.sqlite")
    assert (0, True) == (status, "3 new records, 0 known ones (records)" in output)
    _, failed, _ = run(capsys, "records", "--outcome", "signal", "--database", path)
    assert (1, True) == (failed.count("\n"), "signal in run" in failed)
    _, none, _ = run(capsys, "records", "--target", str(A72), "--kernel", "sgemm", "--database", path)
    assert "" == none


def test_best_says_why_there_is_nothing(capsys: pytest.CaptureFixture[str], path: Path):
    """The nearest record and the fields in which it differs, as text and for programs."""
    status, output, errors = run(capsys, *BEST, "--database", path)
    assert (1, "") == (status, output)
    assert errors.startswith("tuner: no record of sgemm m=512,n=512,k=512 for cpu")
    for part in (
        "nearest record: run 20260131-1, number",
        "cpu: asked for znver4, the record has znver3",
        "features:",
    ):
        assert part in errors
    status, output, _ = run(capsys, *BEST, "--json", "--database", path)
    document = json.loads(output)
    assert (1, False) == (status, document["found"])
    assert {"cpu", "features"} <= set(document["fields"])


def test_best_for_deployment(capsys: pytest.CaptureFixture[str], path: Path):
    """The ground, the configuration, and what to compile for; the records are of another kernel of this name."""
    status, output, _ = run(capsys, *BEST, "--deploy", "--json", "--database", path)
    document = json.loads(output)
    assert (0, "default") == (status, document["ground"])
    assert dict(tuner.kernels.sgemm.space[0]) == document["config"]
    status, output, _ = run(capsys, *BEST, "--deploy", "--database", path)
    assert (0, True) == (status, output.startswith("ground:         default\n"))


def test_runs_are_listed(capsys: pytest.CaptureFixture[str], path: Path):
    """With what they are about and whether they are complete."""
    with Database(path) as db:
        db.add(numbered(0, run="imported"))
    _, output, _ = run(capsys, "runs", "--database", path)
    first, second = output.splitlines()
    assert "20260131-1  sgemm m=512,n=512,k=512  3 trials  interrupted" in first
    assert "imported  of another file or program" == second


def test_import_tells_each_fault(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    """With file and line on standard error; the good ones are kept, and the exit status is 1."""
    lines = tmp_path / "lines"
    lines.write_text(f"{EXAMPLE.dumps()}\n\nnonsense\n")
    status, output, errors = run(capsys, "import", lines, "--database", tmp_path / "new" / "a.sqlite")
    assert (1, f"{lines}: 1 new records, 0 known ones, 1 that could not be read, 1 blank lines (records)\n") == (
        status, output,
    )  # fmt: skip
    assert f"tuner: {lines}: line 3: $: must be JSON" in errors
    lines.write_text("x\n" * 300)
    _, _, errors = run(capsys, "import", lines, "--database", tmp_path / "a.sqlite")
    assert (101, True) == (errors.count("\n"), "--all-faults lists them" in errors)
    _, _, errors = run(capsys, "import", lines, "--all-faults", "--database", tmp_path / "a.sqlite")
    assert 300 == errors.count("\n")


def test_files_of_other_tuners_need_what_they_do_not_say(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    """The target, kernel and problem are stated; without them there is one clear line."""
    file = ["--database", tmp_path / "a.sqlite"]
    status, _, errors = run(capsys, "import", HERE / "foreign" / "t4.json", *file)
    assert (2, 1) == (status, errors.count("\n"))
    words = ["--target", "cuda arch=sm_86", "--kernel", "saxpy", "--problem", "n=1024"]
    status, output, _ = run(capsys, "import", HERE / "foreign" / "t4.json", *words, *file)
    assert (1, True) == (status, "4 new records" in output)
    status, _, _ = run(capsys, "export", tmp_path / "out.json", "--format", "t4", "--kernel", "saxpy", *file)
    assert (0, 4) == (status, len(json.loads((tmp_path / "out.json").read_text())["results"]))


@pytest.mark.parametrize("form", ["records", "t4"])
def test_to_export_nothing_leaves_the_file(
    capsys: pytest.CaptureFixture[str], path: Path, tmp_path: Path, form: str
):
    """Where no record is chosen: exit status 1, the file as it was, and none made."""
    kept = tmp_path / "kept"
    kept.write_text("old")
    for file in (kept, tmp_path / "new", "-"):
        words = ["export", file, "--kernel", "saxpy", "--format", form, "--database", path]
        assert (1, "", "tuner: no records are chosen\n") == run(capsys, *words)
    assert ("old", False) == (kept.read_text(), (tmp_path / "new").exists())


def test_t4_counts_what_is_written(capsys: pytest.CaptureFixture[str], path: Path, tmp_path: Path):
    """No baselines, and of a trial and a final of one configuration in one run the final; what is left out is told."""
    other = {"mc": 32, "pack_a": True, "passes": "O3", "share": 0.5}
    with Database(tmp_path / "a.sqlite") as db:
        db.add_all(
            [
                numbered(0, role="baseline"),
                numbered(1),
                numbered(2, config=other),
                numbered(3, run="another"),
                numbered(1, role="final", cost=2.25e-3),
            ]
        )
    words = ["--format", "t4", "--database", tmp_path / "a.sqlite"]

    def export(*more: object) -> tuple[int, str, list[float]]:
        status, _, errors = run(capsys, "export", tmp_path / "out", *words, *more)
        results = json.loads((tmp_path / "out").read_text())["results"]
        return status, errors, [one["measurements"][0]["value"] for one in results]

    left = "tuner: 3 records written; left out: 1 baselines, which have no place in T4 and 1 trials timed again as finals\n"
    assert (0, left, [2.5, 2.5, 2.25]) == export()
    assert (0, "tuner: 3 records written\n", [2.5, 2.5, 2.5]) == export("--role", "trial")
    assert (0, "tuner: 1 records written\n", [2.25]) == export("--role", "final")
    left = "tuner: 0 records written; left out: 1 baselines, which have no place in T4\n"
    assert (1, left, [2.25]) == export("--role", "baseline")


def test_merge_prune_vacuum_check(capsys: pytest.CaptureFixture[str], path: Path, tmp_path: Path):
    """Each says what it did; a file with a fault is found."""
    other = ["--database", tmp_path / "b.sqlite"]
    golden = shutil.copy(HERE / "golden" / "records_v1.sqlite", tmp_path)
    assert (0, f"{path}: 3 new records\n{golden}: 8 new records\n", "") == run(
        capsys, "merge", path, golden, *other
    )
    assert (0, f"{path}: 0 new records\n", "") == run(capsys, "merge", path, *other)
    assert (0, "1 records deleted\n", "") == run(capsys, "prune", "--outcome", "wrong", *other)
    status, _, errors = run(capsys, "prune", "--before", "yesterday", *other)
    assert (2, True) == (
        status,
        'before: must be the text of a day or a time in UTC, such as "2026-01-31"' in errors,
    )
    status, _, errors = run(capsys, "prune", *other)
    assert (2, True) == (status, "choose which records to delete" in errors)
    status, output, _ = run(capsys, "vacuum", *other)
    assert (0, True) == (status, " bytes before, " in output)
    status, output, errors = run(capsys, "check", *other)
    assert (0, "", True) == (status, output, errors.endswith(": sound\n"))
    with Database(tmp_path / "b.sqlite") as db:
        db._store.write(lambda connection: connection.execute("UPDATE records SET cost = 9.0 WHERE id = 1"))
    status, output, errors = run(capsys, "check", *other)
    assert (1, True, True) == (status, output.startswith("record 1: "), errors.endswith(": 1 faults\n"))


def test_the_schema_is_printed_and_written(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    """The same both ways."""
    _, printed, _ = run(capsys, "schema")
    assert 0 == run(capsys, "schema", "--write", tmp_path)[0]
    assert tuner.record_schema() == json.loads(printed)
    assert tuner.record_schema() == json.loads((tmp_path / "record.schema.json").read_text())


def test_a_reader_that_leaves_is_no_error(path: Path):
    """`tuner records | head` ends quietly."""
    with Database(path) as db:
        db.add_all(numbered(number, run="many") for number in range(2000))
    command = f"{sys.executable} -m tuner records --json --database {path} | head -n 1"
    ran = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert (1, "") == (ran.stdout.count("\n"), ran.stderr)


# --- what a prompt shows -----------------------------------------------------------------------------------


def test_what_is_printed_is_short():
    """A record, a result and values say what they are on one line, however many readings they hold."""
    long = numbered(7, times=(1e-3,) * 1000, quality={"note": "x" * 1000})
    assert "<Record sgemm {'mc': 64, 'pack_a': True, 'passes': 'O3', 'share': 0.5}: 0.0025 s, trial 7 of run 20260131-1>" == (
        repr(long)
    )  # fmt: skip
    failed = numbered(1, cost=None, outcome=Outcome("signal", "run", "SIGSEGV"))
    assert "signal in run, trial 1" in repr(failed)
    assert "{'m': 1}" == repr(Values({"m": 1}))
    result = Result(ZEN3, long, (long,) * 500, True, numbered(0, cost=5e-3), None, b"\0" * 5000)  # type: ignore[arg-type]
    assert repr(result).startswith(
        "<Result of 500 trials for cpu triple=x86_64-unknown-linux-gnu cpu=znver3: best <Record"
    )
    assert repr(result).endswith("2.00 times as fast as the baseline>")
    assert len(repr(result)) < 300


def test_report_sums_up_each_task(capsys: pytest.CaptureFixture[str], path: Path):
    """Trials by how they ended, the commonest failures, the best with its baseline; the filters choose."""
    died = {"cost": None, "times": (), "outcome": Outcome("signal", "run", "SIGSEGV")}
    with Database(path) as db:
        db.add_all(
            [
                numbered(3, role="baseline", cost=0.25),
                numbered(4, cost=0.001),
                numbered(5, **died),
                numbered(6, cost=None, times=(), outcome=Outcome("wrong", "check", "c\nd")),
                numbered(7, target=A72, run="other", **died),
            ]
        )
    status, text, errors = run(capsys, "report", "--database", path)
    assert (0, "") == (status, errors)
    first, second = text.split("\n\n")
    for part in (
        "sgemm m=512,n=512,k=512",
        f"target:         {ZEN3}",
        f"toolchain:      {TOOLCHAIN}, kernel {FINGERPRINT[:12]}",
        "trials:         6: 3 ok, 2 signal, 1 wrong, in run 20260131-1",
        "failed:         2 x signal in run: SIGSEGV",
        "failed:         1 x wrong in check: c d",
        "best:           268.4 GFLOP/s (1 ms), 250.00 times as fast as the baseline",
        "configuration:  mc=64,pack_a=true,passes=O3,share=0.5",
        "trial 4 of run 20260131-1",
    ):
        assert part in first.splitlines() or part in first, part
    assert second.splitlines()[-1] == "best:           none"
    assert "cortex-a72" in second
    status, text, _ = run(capsys, "report", "--database", path, "--json")
    document = json.loads(text)
    assert (0, [250.0, None]) == (status, [task["speedup"] for task in document])
    assert {"ok": 3, "signal": 2, "wrong": 1} == document[0]["outcomes"]
    assert numbered(4, cost=0.001) == Record.from_dict(document[0]["best"])
    assert [{"failure": "signal in run: SIGSEGV", "count": 1}] == document[1]["failures"]
    status, text, _ = run(capsys, "report", "--database", path, "--outcome", "wrong", "--json")
    assert (0, [None]) == (status, [task["best"] for task in json.loads(text)])
    status, text, errors = run(capsys, "report", "--database", path, "--kernel", "saxpy")
    assert (1, "", "tuner: no records are chosen\n") == (status, text, errors)


@pytest.mark.skipif(
    not Path("/dev/full").is_char_device(), reason="no device here refuses what is written to it"
)
@pytest.mark.parametrize(
    "command", [["records"], ["report", "--json"], ["export", "-"], ["export", "/dev/full"]], ids=" ".join
)
def test_output_that_takes_no_more_is_one_line(path: Path, command: list[str]):
    """Status 2 and no traceback; the device is one afterwards."""
    with Path("/dev/full").open("w") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "tuner", *command, "--database", str(path)],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert (2, 1) == (ran.returncode, ran.stderr.count("\n"))
    assert "No space left on device" in ran.stderr
    assert Path("/dev/full").is_char_device()


def test_what_cannot_be_written_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    """The schema's folder is not there."""
    status, text, errors = run(capsys, "schema", "--write", tmp_path / "no")
    assert (2, "", 1) == (status, text, errors.count("\n"))
    assert str(tmp_path / "no" / "record.schema.json") in errors


def test_a_default_that_cannot_be_asked_for(capsys: pytest.CaptureFixture[str], path: Path):
    """Needs that another kind of target does not know: the kernel is named."""
    status, _, errors = run(
        capsys, "best", "sgemm", "--database", path, "--target", "cuda -arch=sm_80", "--deploy"
    )
    assert (2, True) == (status, "sgemm: needs gave what a target cannot be asked" in errors)
