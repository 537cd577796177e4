"""What version 1 wrote, and every version since: records and their files are read for ever, and newer ones refused."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given

import tuner
from record_examples import A72, EXAMPLE, ZEN3, numbered, records
from tuner import store_schema
from tuner.database import Database
from tuner.errors import DatabaseError, RecordError
from tuner.interchange.files import import_records
from tuner.record import Record

GOLDEN = Path(__file__).parent / "golden"
LINES = (GOLDEN / "records_v1.jsonl").read_text(encoding="ascii").splitlines()
FILES = sorted(GOLDEN.glob("records_v*.sqlite"))
VALIDATOR = jsonschema.Draft202012Validator(tuner.record_schema())


def test_lines_of_version_1():
    """Each line reads, and is written again byte by byte; digests of then are those of today."""
    read = [Record.loads(line) for line in LINES]
    assert LINES == [record.dumps() for record in read]
    assert EXAMPLE == read[0]
    assert read[6].target == A72
    assert "1.0" == json.loads(LINES[8])["target"]["tables"] == read[8].target.to_dict()["tables"]
    assert IDENTITIES == [record.identity.hex()[:16] for record in read]


IDENTITIES = [
    "a8ccfb36f6073b9d",
    "1b0cb53d03a44be8",
    "1a1c95d88c75a398",
    "157d40de5b323039",
    "1733af502d076414",
    "e0832f6509b3a0ec",
    "4fafaacb1d2d7114",
    "05cab49af2e42d56",
    "415cbd91b4464ccb",
]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_files_of_every_version(path: Path, tmp_path: Path):
    """A file of any version has the records that went into it, read as it is or brought up to date."""
    copy = Path(shutil.copy(path, tmp_path))
    before = copy.read_bytes()
    with Database(copy, read_only=True) as db:
        assert LINES == [record.dumps() for record in db.records()]
        assert numbered(0, role="final", cost=2.25e-3, times=(2.25e-3,)) == db.best("sgemm", target=ZEN3)
    assert before == copy.read_bytes()
    with Database(copy) as db:
        assert LINES == [record.dumps() for record in db.records()]
        assert [] == list(db.check())
        db.begin_run("new", ("sgemm", "0" * 64, "{}", "1" * 64, "LLVM"), {"seed": 0})
    connection = sqlite3.connect(copy)
    assert (store_schema.VERSION,) == connection.execute("PRAGMA user_version").fetchone()
    connection.close()


def test_there_is_a_file_of_each_version():
    """A version that is published without a file of its own here could change unseen."""
    assert [f"records_v{number}.sqlite" for number in range(1, store_schema.VERSION + 1)] == [
        path.name for path in FILES
    ]


def test_an_old_file_is_brought_up_to_date_by_many_at_once(tmp_path: Path):
    """Processes that open a file of version 1 at the same moment all find it sound."""
    copy = shutil.copy(FILES[0], tmp_path)
    code = "import sys; from tuner.database import Database; print(sum(1 for _ in Database(sys.argv[1]).records()))"
    openers = [
        subprocess.Popen([sys.executable, "-c", code, copy], stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    assert [f"{len(LINES)}\n"] * 4 == [opener.communicate()[0] for opener in openers]


def test_reading_alone_writes_nothing(tmp_path: Path):
    """A file that is opened for reading takes no record, and an empty one is said to hold none."""
    copy = Path(shutil.copy(FILES[0], tmp_path / "a b?.sqlite"))
    with Database(copy, read_only=True) as db:
        assert db.run("20260131-1") is None
        for change in (lambda: db.add(EXAMPLE), db.vacuum, lambda: db.prune(keep=1)):
            with pytest.raises(DatabaseError, match="read_only=True"):
                change()
    assert [copy] == list(tmp_path.iterdir())
    (tmp_path / "empty").touch()
    with pytest.raises(DatabaseError, match="holds no records yet"):
        Database(tmp_path / "empty", read_only=True)


def test_a_record_of_a_newer_version_is_refused_by_name(tmp_path: Path):
    """Its version and what to do are said; it is not misread as one of today's."""
    newer = json.dumps(EXAMPLE.to_dict() | {"version": 2, "watts": 3})
    with pytest.raises(RecordError, match=r"record version 2 is newer than 1, .*; upgrade the tuner"):
        Record.loads(newer)
    path = tmp_path / "newer.jsonl"
    path.write_text(f"{newer}\n{EXAMPLE.dumps()}\n")
    with Database(tmp_path / "a.sqlite") as db:
        found = import_records(db, path)
        assert (1, 1) == (found.added, found.refused)
        assert "record version 2 is newer than 1" in str(found.faults[0])


# --- the schema --------------------------------------------------------------------------------------------


def test_the_published_schema_is_the_one_of_the_declarations(pytestconfig: pytest.Config):
    """The file beside the sources is what `tuner schema --write schemas` writes today, and a valid schema."""
    published = json.loads((pytestconfig.rootpath / "schemas" / "record.schema.json").read_text("utf-8"))
    assert published == tuner.record_schema()
    assert "urn:targetspec:schema:record:1" == published["$id"]
    jsonschema.Draft202012Validator.check_schema(published)


@given(record=records())
def test_the_schema_accepts_every_record(record: Record):
    """What a record writes is valid."""
    VALIDATOR.validate(record.to_dict())


@pytest.mark.parametrize("line", LINES)
def test_the_schema_accepts_what_was_ever_written(line: str):
    """Version 1 too."""
    VALIDATOR.validate(json.loads(line))


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"version": 2}, "$.version"),
        ({"extra": 1}, "$"),
        ({"cost": None}, "$.cost"),
        ({"cost": 0.0}, "$.cost"),
        ({"outcome": {"kind": "signal", "stage": "run"}}, "$.cost"),
        ({"outcome": {"kind": "signal"}, "cost": None}, "$.outcome"),
        ({"outcome": {"kind": "ok", "cause": "x"}}, "$.outcome.cause"),
        ({"target": {"kind": "cpu", "cpu": 7}}, "$.target.cpu"),
        ({"target": "native"}, "$.target"),
        ({"problem": {"n": [1]}}, "$.problem.n"),
        ({"number": -1}, "$.number"),
        ({"times": [-1.0]}, "$.times[0]"),
        ({"clock": "sun"}, "$.clock"),
        ({"created": "yesterday"}, "$.created"),
        ({"fingerprint": "abc"}, "$.fingerprint"),
        ({"role": "king"}, "$.role"),
    ],
)
def test_the_schema_refuses_where_the_reader_does(changes: dict[str, object], path: str):
    """What is wrong has the same place for both."""
    document = EXAMPLE.to_dict() | changes
    assert path in {error.json_path for error in VALIDATOR.iter_errors(document)}
    with pytest.raises(RecordError):
        Record.from_dict(document)


def test_every_field_is_described():
    """An editor can explain each."""
    schema = tuner.record_schema()
    parts = [schema["properties"], schema["$defs"]["outcome"]["properties"]]
    assert all(one["description"] for part in parts for one in part.values())
